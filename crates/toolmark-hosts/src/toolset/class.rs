//! Classes of tools and of arguments: one word for what hosts call differently.

use super::{Tool, ToolRole, builtin, generic, ids};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

toolmark_base::word_enum! {
    /// Class of a tool: what its calls are for, whatever its host calls it.
    pub enum ToolClass {
        /// Runs a shell command.
        Shell = "shell",
        /// Reads a file.
        Read = "read",
        /// Writes, edits or patches a file.
        Edit = "edit",
        /// Finds or lists files, or finds text in them.
        Search = "search",
        /// Reads or searches the web.
        Web = "web",
        /// Starts a sub-agent.
        Agent = "agent",
        /// Maintains a plan.
        Plan = "plan",
        /// Asks the user.
        Ask = "ask",
    }
}

toolmark_base::word_enum! {
    /// Class of an argument: what its value is, whatever the tool calls it.
    pub enum ArgClass {
        /// The command line.
        Command = "command",
        /// A file or a directory.
        Path = "path",
        /// The text or pattern that is searched for.
        Query = "query",
        /// An address.
        Url = "url",
    }
}

/// Classes by the names that tools have in known hosts and most servers.
static CLASSES: LazyLock<HashMap<&'static str, Vec<ToolClass>>> = LazyLock::new(|| {
    let mut classes: HashMap<&str, Vec<ToolClass>> = HashMap::new();
    for tool in ids().filter_map(builtin).chain([generic()]).flat_map(|set| set.tools.iter()) {
        let roles = tool.roles.iter().map(|(_, role)| *role).chain([tool.role]);
        let own: Vec<ToolClass> = roles.filter_map(ToolClass::of).collect();
        let aliases = tool.aliases.iter().map(|alias| &**alias);
        for name in aliases.chain([&*tool.name]) {
            let known = classes.entry(name).or_default();
            for class in &own {
                if !known.contains(class) {
                    known.push(*class);
                }
            }
        }
    }
    classes.retain(|_, classes| !classes.is_empty());
    classes
});

/// Prefix of a class where a name of a tool is expected.
pub const CLASS_PREFIX: &str = "class:";

impl ToolClass {
    /// Returns the class of a role, if it has one.
    #[must_use]
    pub fn of(role: ToolRole) -> Option<Self> {
        Some(match role {
            ToolRole::RunsShell => Self::Shell,
            ToolRole::Reads => Self::Read,
            ToolRole::Writes | ToolRole::Edits | ToolRole::Patches => Self::Edit,
            ToolRole::SearchesNames | ToolRole::SearchesContent | ToolRole::Lists => Self::Search,
            ToolRole::FetchesWeb => Self::Web,
            ToolRole::Dispatches => Self::Agent,
            ToolRole::Plans => Self::Plan,
            ToolRole::AsksUser => Self::Ask,
            ToolRole::TalksToShell | ToolRole::Other => return None,
        })
    }

    /// Whether a known host, or most servers, have a tool of this name and class.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        CLASSES.get(name).is_some_and(|classes| classes.contains(&self))
    }

    /// Returns the class of the tool that known hosts or most servers have under this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        CLASSES.get(name)?.first().copied()
    }

    /// Whether a tool without a description may be of this class, judging by its arguments.
    #[must_use]
    pub fn may_be(self, args: &Value) -> bool {
        let has = |class: ArgClass| class.usual().iter().any(|name| args.get(name).is_some());
        match self {
            Self::Shell => has(ArgClass::Command),
            Self::Read | Self::Edit => has(ArgClass::Path),
            Self::Search => has(ArgClass::Query) || has(ArgClass::Path),
            Self::Web => has(ArgClass::Url) || has(ArgClass::Query),
            Self::Agent | Self::Plan | Self::Ask => false,
        }
    }
}

impl ArgClass {
    /// Names that tools without a description give to such an argument.
    #[must_use]
    pub fn usual(self) -> &'static [&'static str] {
        match self {
            Self::Command => &["command", "cmd", "commands", "script", "CommandLine"],
            Self::Path => &[
                "path",
                "file_path",
                "filePath",
                "filepath",
                "file",
                "filename",
                "absolute_path",
                "notebook_path",
                "target_file",
                "paths",
                "files",
                "dir_path",
                "directory",
            ],
            Self::Query => &["query", "pattern", "regex", "q", "search_term", "queries"],
            Self::Url => &["url", "urls", "uri", "link"],
        }
    }

    /// Returns the values of such arguments, under the names of the tool and the usual ones.
    pub fn values<'v>(self, tool: Option<&Tool>, args: &'v Value) -> Vec<Cow<'v, str>> {
        let own = tool.and_then(|tool| match self {
            Self::Command => Some(&tool.command),
            Self::Path => Some(&tool.path),
            Self::Query => Some(&tool.pattern),
            Self::Url => None,
        });
        let mut found: Vec<&Value> = own
            .into_iter()
            .flat_map(|keys| keys.names())
            .filter_map(|name| args.get(name))
            .collect();
        if found.is_empty() {
            found.extend(self.usual().iter().find_map(|name| args.get(name)));
        }
        found.into_iter().flat_map(|value| self.texts(value)).collect()
    }

    /// Returns the texts of a value. The words of a command belong together.
    fn texts(self, value: &Value) -> Vec<Cow<'_, str>> {
        match (self, value) {
            (_, Value::String(text)) => vec![Cow::Borrowed(text)],
            (Self::Command, Value::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                match words[..] {
                    // A shell that runs a line: the line is the command.
                    [shell, option, line]
                        if shell.ends_with("sh")
                            && option.starts_with('-')
                            && option.ends_with('c') =>
                    {
                        vec![Cow::Borrowed(line)]
                    }
                    [] => Vec::new(),
                    _ => vec![Cow::Owned(words.join(" "))],
                }
            }
            (_, Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(Cow::Borrowed).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::Toolset;
    use serde_json::json;

    #[test]
    fn hosts_have_tools_of_the_usual_classes() {
        let classes = |set: &Toolset, class: ToolClass| {
            let own = |tool: &&Tool| {
                let roles = tool.roles.iter().map(|(_, role)| *role).chain([tool.role]);
                roles.into_iter().any(|role| ToolClass::of(role) == Some(class))
            };
            set.tools.iter().filter(own).count()
        };
        for id in ["claude-code", "codex", "copilot-cli", "gemini-cli", "cursor", "opencode"] {
            let set =
                builtin(id).unwrap_or_else(|| panic!("{id} of {:?}", ids().collect::<Vec<_>>()));
            for class in [ToolClass::Shell, ToolClass::Read, ToolClass::Edit, ToolClass::Search] {
                assert!(classes(set, class) > 0, "{id} has no tool of class {class}");
            }
        }
    }

    #[test]
    fn values_have_the_names_of_the_host() {
        let codex = builtin("codex").unwrap();
        let tool = |name| codex.tool(name);
        for (class, name, args, want) in [
            (ArgClass::Command, "exec_command", json!({"cmd": "ls -l"}), vec!["ls -l"]),
            (
                ArgClass::Command,
                "shell",
                json!({"command": ["bash", "-lc", "ls | wc"]}),
                vec!["ls | wc"],
            ),
            (ArgClass::Command, "shell", json!({"command": ["ls", "-l"]}), vec!["ls -l"]),
            (ArgClass::Path, "read_file", json!({"file_path": "/a"}), vec!["/a"]),
            (ArgClass::Path, "unheard_of", json!({"paths": ["a", "b"]}), vec!["a", "b"]),
            (ArgClass::Query, "grep_files", json!({"pattern": "x", "path": "."}), vec!["x"]),
            (ArgClass::Url, "fetch", json!({"url": "https://a"}), vec!["https://a"]),
            (ArgClass::Url, "fetch", json!({"other": 1}), vec![]),
        ] {
            assert_eq!(class.values(tool(name), &args), want, "{name}");
        }
    }
}
