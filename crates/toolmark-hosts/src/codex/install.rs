//! Installation of the guard in the hooks of Codex, in `hooks.json` or in `config.toml`.

use crate::install::{HookEntry, Installer, SettingsScope, Switch, TIMEOUT, toml};
use serde_json::json;
use std::path::PathBuf;

const fn switch(keys: &'static [&'static str]) -> Switch {
    Switch { scope: SettingsScope::User, file: "config.toml", keys, off: false }
}

pub(super) static INSTALLER: Installer = Installer {
    program: "codex",
    file,
    entries,
    note,
    // The second key is the former name.
    switches: &[switch(&["features", "hooks"]), switch(&["features", "codex_hooks"])],
    ..Installer::PLAIN
};

/// Returns the file that contains the hooks. Codex reads both files and complains if both
/// contain hooks.
fn file(json: PathBuf) -> PathBuf {
    let toml = json.with_file_name("config.toml");
    if !json.exists() && toml::holds_hooks(&toml) { toml } else { json }
}

fn entries(command: &str, _: SettingsScope) -> Vec<HookEntry> {
    let entry = |event| {
        let hook = json!({"type": "command", "command": command, "timeout": TIMEOUT});
        let item = json!({"matcher": "*", "hooks": [hook]});
        HookEntry { event, item, command: command.to_owned() }
    };
    vec![entry("PreToolUse"), entry("PostToolUse")]
}

fn note(scope: SettingsScope) -> Option<&'static str> {
    Some(match scope {
        SettingsScope::User | SettingsScope::Managed => {
            "Codex runs a new hook only after you have trusted it: open codex, type /hooks. \
             Until then it is skipped silently, by `codex exec` too"
        }
        SettingsScope::Project => {
            "Codex reads the hooks of a project only if the project is trusted, and runs a new \
             hook only after you have trusted it: open codex here, type /hooks. Until then it \
             is skipped silently, by `codex exec` too"
        }
    })
}
