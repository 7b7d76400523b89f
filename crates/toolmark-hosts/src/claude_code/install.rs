//! Installation of the guard in the settings of Claude Code.

use crate::install::{HookEntry, Installer, SettingsScope, Switch, TIMEOUT};
use serde_json::{Value, json};

const fn switch(scope: SettingsScope, file: &'static str) -> Switch {
    Switch { scope, file, keys: &["disableAllHooks"], off: true }
}

pub(super) static INSTALLER: Installer = Installer {
    program: "claude",
    entries,
    switches: &[
        switch(SettingsScope::User, "settings.json"),
        switch(SettingsScope::Project, ".claude/settings.json"),
        switch(SettingsScope::Project, ".claude/settings.local.json"),
    ],
    refuses,
    managed: Some(MANAGED),
    ..Installer::PLAIN
};

/// Settings that apply to all users and survive `disableAllHooks` of users and projects.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else if cfg!(windows) {
    "C:\\Program Files\\ClaudeCode\\managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};

/// Types of hooks that Claude Code knows.
const TYPES: &[&str] = &["command", "http", "prompt", "agent", "mcp_tool"];

/// Checks the type of a key's value.
type IsFine<'a> = &'a dyn Fn(&Value) -> bool;

/// Returns why Claude Code would ignore the settings: it reads strict JSON, and ignores a
/// whole file if a known key has a value of the wrong type.
fn refuses(text: &str) -> Option<String> {
    let root: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(root) => root,
        Err(_) if text.trim().is_empty() => return None,
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            return Some(format!("it is not strict JSON at {line}:{column} (comments are not)"));
        }
    };
    let is_texts =
        |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    let is_text_map =
        |value: &Value| value.as_object().is_some_and(|map| map.values().all(Value::is_string));
    let is_hook = |hook: &Value| {
        let on_failure = hook.get("onFailure").map(Value::as_str);
        hook["type"].as_str().is_some_and(|kind| TYPES.contains(&kind))
            && matches!(on_failure, None | Some(Some("block" | "continue")))
            && hook.get("timeout").is_none_or(Value::is_number)
            && (hook["type"] != "command" || hook.get("command").is_some_and(Value::is_string))
    };
    let is_group = |group: &Value| {
        group.get("matcher").is_none_or(Value::is_string)
            && group["hooks"].as_array().is_some_and(|hooks| hooks.iter().all(is_hook))
    };
    let is_event =
        |groups: &Value| groups.as_array().is_some_and(|groups| groups.iter().all(is_group));
    let checks: [(&str, IsFine<'_>); 20] = [
        ("/cleanupPeriodDays", &Value::is_number),
        ("/includeCoAuthoredBy", &Value::is_boolean),
        ("/statusLine", &Value::is_object),
        ("/apiKeyHelper", &Value::is_string),
        ("/outputStyle", &Value::is_string),
        ("/alwaysThinkingEnabled", &Value::is_boolean),
        ("/enableAllProjectMcpServers", &Value::is_boolean),
        ("/enabledMcpjsonServers", &is_texts),
        ("/disabledMcpjsonServers", &is_texts),
        ("/enabledPlugins", &Value::is_object),
        ("/permissions/defaultMode", &Value::is_string),
        ("/permissions/additionalDirectories", &is_texts),
        ("/model", &Value::is_string),
        ("/env", &is_text_map),
        ("/permissions", &Value::is_object),
        ("/permissions/allow", &is_texts),
        ("/permissions/ask", &is_texts),
        ("/permissions/deny", &is_texts),
        ("/disableAllHooks", &Value::is_boolean),
        ("/hooks", &|hooks| hooks.as_object().is_some_and(|hooks| hooks.values().all(is_event))),
    ];
    let wrong = checks.iter().find(|(at, is_fine)| root.pointer(at).is_some_and(|v| !is_fine(v)));
    wrong.map(|(at, _)| format!("`{}` has a value of the wrong type", at[1..].replace('/', ".")))
}

fn entries(command: &str, scope: SettingsScope) -> Vec<HookEntry> {
    let entry = |event, may_stop: bool| {
        let mut hook = json!({"type": "command", "command": command, "timeout": TIMEOUT});
        if may_stop {
            // Blocks calls if the guard cannot start. Not in a shared file, because other
            // people may not have the guard.
            hook["onFailure"] = json!("block");
        }
        let item = json!({"matcher": "*", "hooks": [hook]});
        HookEntry { event, item, command: command.to_owned() }
    };
    vec![
        entry("PreToolUse", scope != SettingsScope::Project),
        entry("PostToolUse", false),
        entry("PostToolUseFailure", false),
        // It names what the repository brings along.
        entry("SessionStart", false),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_not_accepted() {
        for fine in [
            "",
            "{}",
            r#"{"model": "opus", "env": {"A": "1"}, "permissions": {"allow": ["Bash(ls)"]}}"#,
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#,
        ] {
            assert_eq!(refuses(fine), None, "{fine}");
        }
        for (bad, words) in [
            ("{\n  // my model\n}", "2:3"),
            (r#"{"a": 1,}"#, "strict JSON"),
            (r#"{"permissions": {"allow": "Bash"}}"#, "permissions.allow"),
            (r#"{"env": {"A": 1}}"#, "env"),
            (r#"{"cleanupPeriodDays": "x"}"#, "cleanupPeriodDays"),
            (
                r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x",
                    "onFailure": "deny"}]}]}}"#,
                "hooks",
            ),
            (r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "shell"}]}]}}"#, "hooks"),
            (r#"{"hooks": {"PreToolUse": {}}}"#, "hooks"),
            (r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}"#, "hooks"),
        ] {
            assert!(
                refuses(bad).is_some_and(|why| why.contains(words)),
                "{bad}: {:?}",
                refuses(bad)
            );
        }
    }
}
