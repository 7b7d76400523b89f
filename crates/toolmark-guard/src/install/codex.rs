//! Codex: `hooks.json`, or `config.toml` where that already holds hooks.

use super::{Entry, Installer, Place, Scope, Switch, TIMEOUT, toml};
use serde_json::json;
use std::path::PathBuf;

pub(super) struct Codex;

impl Installer for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn directory(&self, place: &Place) -> PathBuf {
        place.config("CODEX_HOME", ".codex")
    }

    fn program(&self) -> &'static str {
        "codex"
    }

    /// Codex reads both files and complains if both hold hooks.
    fn file(&self, place: &Place, scope: Scope) -> PathBuf {
        let directory = match scope {
            Scope::User => self.directory(place),
            Scope::Project => place.project.join(".codex"),
        };
        let (json, toml) = (directory.join("hooks.json"), directory.join("config.toml"));
        if !json.exists() && toml::holds_hooks(&toml) { toml } else { json }
    }

    fn entries(&self, command: &str, _: Scope) -> Vec<Entry> {
        let entry = |event| {
            let hook = json!({"type": "command", "command": command, "timeout": TIMEOUT});
            let item = json!({"matcher": "*", "hooks": [hook]});
            Entry { event, item, command: command.to_owned() }
        };
        vec![entry("PreToolUse"), entry("PostToolUse")]
    }

    fn note(&self, scope: Scope) -> Option<&'static str> {
        Some(match scope {
            Scope::User => {
                "Codex runs a new hook only after you have trusted it: open codex, type /hooks. \
                 Until then it is skipped without a word, by `codex exec` too"
            }
            Scope::Project => {
                "Codex reads the hooks of a project only if the project is trusted, and runs a new \
                 hook only after you have trusted it: open codex here, type /hooks. Until then it \
                 is skipped without a word, by `codex exec` too"
            }
        })
    }

    fn switches(&self, place: &Place) -> Vec<Switch> {
        let file = self.directory(place).join("config.toml");
        // The second is what it was called before.
        let names: [&[&str]; 2] = [&["features", "hooks"], &["features", "codex_hooks"]];
        names.map(|keys| Switch { file: file.clone(), keys, off: false }).into()
    }
}
