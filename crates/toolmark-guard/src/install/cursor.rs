//! Cursor: `hooks.json`.

use super::{Entry, Installer, Place, Scope, Switch, TIMEOUT};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) struct Cursor;

/// Everything but commands, which `beforeShellExecution` can ask about.
const NO_SHELL: &str = "^(?!Shell$)";

impl Installer for Cursor {
    fn id(&self) -> &'static str {
        "cursor"
    }

    fn directory(&self, place: &Place) -> PathBuf {
        place.home.join(".cursor")
    }

    fn program(&self) -> &'static str {
        "cursor-agent"
    }

    fn file(&self, place: &Place, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.directory(place).join("hooks.json"),
            Scope::Project => place.project.join(".cursor/hooks.json"),
        }
    }

    fn entries(&self, command: &str, scope: Scope) -> Vec<Entry> {
        let entry = |event, matcher: Option<&str>, may_stop: bool| {
            let mut item = json!({"command": command, "timeout": TIMEOUT});
            if let Some(matcher) = matcher {
                item["matcher"] = json!(matcher);
            }
            if may_stop && scope == Scope::User {
                item["failClosed"] = json!(true);
            }
            Entry { event, item, command: command.to_owned() }
        };
        vec![
            entry("beforeShellExecution", None, true),
            entry("preToolUse", Some(NO_SHELL), true),
            entry("postToolUse", None, false),
            entry("postToolUseFailure", None, false),
        ]
    }

    fn preset(&self) -> Vec<(&'static str, Value)> {
        vec![("version", json!(1))]
    }

    fn note(&self, _: Scope) -> Option<&'static str> {
        None
    }

    fn switches(&self, _: &Place) -> Vec<Switch> {
        Vec::new()
    }
}
