//! The guard in the settings of Claude Code.

use crate::install::{Entry, Installer, Scope, Switch, TIMEOUT};
use serde_json::json;

const fn switch(scope: Scope, file: &'static str) -> Switch {
    Switch { scope, file, keys: &["disableAllHooks"], off: true }
}

pub(super) static INSTALLER: Installer = Installer {
    program: "claude",
    entries,
    switches: &[
        switch(Scope::User, "settings.json"),
        switch(Scope::Project, ".claude/settings.json"),
        switch(Scope::Project, ".claude/settings.local.json"),
    ],
    ..Installer::PLAIN
};

fn entries(command: &str, scope: Scope) -> Vec<Entry> {
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
