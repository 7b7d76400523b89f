//! Copilot CLI: a file of its own among the files of hooks.

use super::{Entry, Installer, Place, Scope, Switch, TIMEOUT};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) struct CopilotCli;

impl Installer for CopilotCli {
    fn id(&self) -> &'static str {
        "copilot-cli"
    }

    fn directory(&self, place: &Place) -> PathBuf {
        place.config("COPILOT_HOME", ".copilot")
    }

    fn program(&self) -> &'static str {
        "copilot"
    }

    fn file(&self, place: &Place, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.directory(place).join("hooks/toolmark.json"),
            Scope::Project => place.project.join(".github/hooks/toolmark.json"),
        }
    }

    fn entries(&self, command: &str, _: Scope) -> Vec<Entry> {
        let (key, command) = match cfg!(windows) {
            true => ("powershell", format!("& {command}")),
            false => ("bash", command.to_owned()),
        };
        let entry = |event| {
            let item = json!({"type": "command", key: command, "timeoutSec": TIMEOUT});
            Entry { event, item, command: command.clone() }
        };
        vec![entry("preToolUse"), entry("postToolUse"), entry("postToolUseFailure")]
    }

    fn preset(&self) -> Vec<(&'static str, Value)> {
        vec![("version", json!(1))]
    }

    fn note(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::User => None,
            Scope::Project => Some(
                "Copilot CLI reads the hooks of a folder only if the folder is trusted; with -p an \
                 untrusted folder's hooks are skipped without a word",
            ),
        }
    }

    fn switches(&self, place: &Place) -> Vec<Switch> {
        let file = self.directory(place).join("settings.json");
        vec![Switch { file, keys: &["disableAllHooks"], off: true }]
    }
}
