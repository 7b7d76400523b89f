//! Installation of the guard in the settings of Gemini CLI.

use crate::install::{HookEntry, Installer, SettingsScope, Switch, TIMEOUT};
use serde_json::json;

const fn switch(scope: SettingsScope, file: &'static str) -> Switch {
    Switch { scope, file, keys: &["hooksConfig", "enabled"], off: false }
}

pub(super) static INSTALLER: Installer = Installer {
    program: "gemini",
    entries,
    note: |_| {
        Some("Gemini CLI runs no hooks, those of the user neither, in a folder that is not trusted")
    },
    switches: &[
        switch(SettingsScope::User, "settings.json"),
        switch(SettingsScope::Project, ".gemini/settings.json"),
    ],
    ..Installer::PLAIN
};

fn entries(command: &str, _: SettingsScope) -> Vec<HookEntry> {
    let entry = |event| {
        // Gemini CLI expects milliseconds.
        let hook = json!({
            "name": "toolmark", "type": "command", "command": command, "timeout": TIMEOUT * 1000,
        });
        let item = json!({"matcher": "*", "hooks": [hook]});
        HookEntry { event, item, command: command.to_owned() }
    };
    vec![entry("BeforeTool"), entry("AfterTool")]
}
