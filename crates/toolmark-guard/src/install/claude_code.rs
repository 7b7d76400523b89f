//! Claude Code: `settings.json`.

use super::{Entry, Installer, Place, Scope, Switch, TIMEOUT};
use serde_json::json;
use std::path::PathBuf;

pub(super) struct ClaudeCode;

impl Installer for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn directory(&self, place: &Place) -> PathBuf {
        place.config("CLAUDE_CONFIG_DIR", ".claude")
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn file(&self, place: &Place, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.directory(place).join("settings.json"),
            Scope::Project => place.project.join(".claude/settings.json"),
        }
    }

    fn entries(&self, command: &str, scope: Scope) -> Vec<Entry> {
        let entry = |event, may_stop: bool| {
            let mut hook = json!({"type": "command", "command": command, "timeout": TIMEOUT});
            if may_stop {
                // A guard that cannot start does not pass unseen. Not in a file that
                // is shared with people who may not have it.
                hook["onFailure"] = json!("block");
            }
            let item = json!({"matcher": "*", "hooks": [hook]});
            Entry { event, item, command: command.to_owned() }
        };
        vec![
            entry("PreToolUse", scope == Scope::User),
            entry("PostToolUse", false),
            entry("PostToolUseFailure", false),
        ]
    }

    fn note(&self, _: Scope) -> Option<&'static str> {
        None
    }

    fn switches(&self, place: &Place) -> Vec<Switch> {
        let local = place.project.join(".claude/settings.local.json");
        let files = [Scope::User, Scope::Project].map(|scope| self.file(place, scope));
        let switch = |file| Switch { file, keys: &["disableAllHooks"], off: true };
        files.into_iter().chain([local]).map(switch).collect()
    }
}
