//! Gemini CLI: `settings.json`.

use super::{Entry, Installer, Place, Scope, Switch, TIMEOUT};
use serde_json::json;
use std::path::PathBuf;

pub(super) struct GeminiCli;

impl Installer for GeminiCli {
    fn id(&self) -> &'static str {
        "gemini-cli"
    }

    /// The variable moves the home, not the directory.
    fn directory(&self, place: &Place) -> PathBuf {
        place.config("GEMINI_CLI_HOME", "").join(".gemini")
    }

    fn program(&self) -> &'static str {
        "gemini"
    }

    fn file(&self, place: &Place, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.directory(place).join("settings.json"),
            Scope::Project => place.project.join(".gemini/settings.json"),
        }
    }

    fn entries(&self, command: &str, _: Scope) -> Vec<Entry> {
        let entry = |event| {
            // Milliseconds, here.
            let hook = json!({
                "name": "toolmark", "type": "command", "command": command, "timeout": TIMEOUT * 1000,
            });
            let item = json!({"matcher": "*", "hooks": [hook]});
            Entry { event, item, command: command.to_owned() }
        };
        vec![entry("BeforeTool"), entry("AfterTool")]
    }

    fn note(&self, _: Scope) -> Option<&'static str> {
        Some("Gemini CLI runs no hooks, those of the user neither, in a folder that is not trusted")
    }

    fn switches(&self, place: &Place) -> Vec<Switch> {
        let files = [Scope::User, Scope::Project].map(|scope| self.file(place, scope));
        files.map(|file| Switch { file, keys: &["hooksConfig", "enabled"], off: false }).into()
    }
}
