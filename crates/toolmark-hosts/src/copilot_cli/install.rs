//! Installation of the guard in Copilot CLI: a separate hook file.

use crate::install::{HookEntry, Installer, SettingsScope, Switch, TIMEOUT};
use serde_json::json;

pub(super) static INSTALLER: Installer = Installer {
    program: "copilot",
    entries,
    version: Some(1),
    note,
    switches: &[Switch {
        scope: SettingsScope::User,
        file: "settings.json",
        keys: &["disableAllHooks"],
        off: true,
    }],
    ..Installer::PLAIN
};

fn entries(command: &str, _: SettingsScope) -> Vec<HookEntry> {
    let (key, command) = match cfg!(windows) {
        true => ("powershell", format!("& {command}")),
        false => ("bash", command.to_owned()),
    };
    let entry = |event| {
        let item = json!({"type": "command", key: command, "timeoutSec": TIMEOUT});
        HookEntry { event, item, command: command.clone() }
    };
    vec![entry("preToolUse"), entry("postToolUse"), entry("postToolUseFailure")]
}

fn note(scope: SettingsScope) -> Option<&'static str> {
    let words = "Copilot CLI reads the hooks of a folder only if the folder is trusted; with -p an \
                 untrusted folder's hooks are skipped silently";
    (scope == SettingsScope::Project).then_some(words)
}
