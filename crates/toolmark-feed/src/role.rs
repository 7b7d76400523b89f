//! Roles of tools for issues: the tools of a role fail in the same ways, independent of their names
//! in a host.

use std::fmt;
use toolmark_hosts::toolset::{ToolRole, Toolsets, generic};
use toolmark_session::session::SessionCall;
use toolmark_trace::ToolName;

/// Part of a key that identifies the kind of tool that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRole {
    /// Edits, patches and writes files.
    Edit,
    /// Reads files.
    Read,
    /// Searches for files or for text in them, or lists files.
    Search,
    /// Runs commands.
    Shell,
    /// Any other tool, by its name.
    Tool(String),
    /// Any tool, if it is irrelevant.
    Any,
}

impl KeyRole {
    /// Returns the role of a tool from its `role` and its name.
    #[must_use]
    pub fn of(role: ToolRole, tool: &str) -> Self {
        match role {
            ToolRole::Edits | ToolRole::Patches | ToolRole::Writes => Self::Edit,
            ToolRole::Reads => Self::Read,
            ToolRole::SearchesNames | ToolRole::SearchesContent | ToolRole::Lists => Self::Search,
            ToolRole::RunsShell | ToolRole::TalksToShell => Self::Shell,
            _ => Self::Tool(tool.to_owned()),
        }
    }

    /// Returns the name used in output: a role, or the name of the tool.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Edit => "edit",
            Self::Read => "read",
            Self::Search => "search",
            Self::Shell => "shell",
            Self::Tool(name) => name,
            Self::Any => "any",
        }
    }
}

impl fmt::Display for KeyRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Returns the role of a call's tool: as defined by its host, or else by other hosts with a tool of
/// this name. A converted trace keeps the names of its tools.
#[must_use]
pub fn tool_role(call: &SessionCall<'_>, toolsets: &Toolsets) -> ToolRole {
    if call.spec.is_some() {
        return call.role;
    }
    role_of_name(&call.call.name, call.args(), toolsets)
}

/// Returns the role of tools with this name in any host.
#[must_use]
pub fn role_of_name(
    name: &ToolName,
    args: Option<&serde_json::Value>,
    toolsets: &Toolsets,
) -> ToolRole {
    let canonical = name.canonical();
    let known = match canonical.server {
        Some(_) => generic().tool(&canonical.tool),
        None => toolsets.tool_of("", name).or_else(|| generic().tool(&canonical.tool)),
    };
    known.map_or(ToolRole::Other, |tool| tool.role_of(args))
}

/// Returns the command of a shell call of any host. Some hosts write the arguments as text inside
/// the arguments.
#[must_use]
pub fn command_of(args: Option<&serde_json::Value>) -> Option<String> {
    const KEYS: &[&str] = &["command", "cmd", "script", "input"];
    let args = args?;
    let value = KEYS.iter().find_map(|key| args.get(key))?;
    let text = match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(|word| word.as_str()).collect();
            match words[..] {
                [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => {
                    command.to_owned()
                }
                _ => words.join(" "),
            }
        }
        _ => return None,
    };
    let is_nested = text.starts_with('{') && text.ends_with('}');
    let inner = is_nested.then(|| serde_json::from_str::<serde_json::Value>(&text).ok()).flatten();
    let inner = inner.as_ref().and_then(|inner| KEYS.iter().find_map(|key| inner.get(key)));
    match inner.and_then(serde_json::Value::as_str) {
        Some(inner) => Some(inner.to_owned()),
        None => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_however_they_are_written() {
        for (args, want) in [
            (json!({"command": "make"}), Some("make")),
            (json!({"cmd": ["bash", "-lc", "make x"]}), Some("make x")),
            (json!({"cmd": ["make", "x"]}), Some("make x")),
            (json!({"command": "{\"command\": \"make\"}"}), Some("make")),
            (json!({"command": "{ make; }"}), Some("{ make; }")),
            (json!({"path": "a"}), None),
            (json!({"command": 3}), None),
        ] {
            assert_eq!(command_of(Some(&args)).as_deref(), want, "{args}");
        }
    }

    #[test]
    fn names_of_other_hosts_are_known() {
        let toolsets = Toolsets::default();
        for (name, want) in [
            ("Bash", ToolRole::RunsShell),
            ("execute_bash", ToolRole::RunsShell),
            ("exec_command", ToolRole::RunsShell),
            ("str_replace", ToolRole::Edits),
            ("mcp__fs__read_file", ToolRole::Reads),
            ("book_reservation", ToolRole::Other),
        ] {
            let name = ToolName::new(name);
            assert_eq!(role_of_name(&name, None, &toolsets), want, "{name:?}");
        }
    }
}
