//! Installation of the guard in the hooks of Cursor.

use crate::install::{HookEntry, Installer, SettingsScope, TIMEOUT};
use serde_json::json;

/// Matcher for all tools except commands, for which `beforeShellExecution` can ask.
const NO_SHELL: &str = "^(?!Shell$)";

pub(super) static INSTALLER: Installer =
    Installer { program: "cursor-agent", entries, version: Some(1), ..Installer::PLAIN };

fn entries(command: &str, scope: SettingsScope) -> Vec<HookEntry> {
    let entry = |event, matcher: Option<&str>, may_stop: bool| {
        let mut item = json!({"command": command, "timeout": TIMEOUT});
        if let Some(matcher) = matcher {
            item["matcher"] = json!(matcher);
        }
        if may_stop && scope == SettingsScope::User {
            item["failClosed"] = json!(true);
        }
        HookEntry { event, item, command: command.to_owned() }
    };
    vec![
        entry("beforeShellExecution", None, true),
        entry("preToolUse", Some(NO_SHELL), true),
        entry("postToolUse", None, false),
        entry("postToolUseFailure", None, false),
    ]
}
