//! Toolsets: what a host's tools are.
//!
//! A toolset is data: for every tool its role, where its path, content and
//! command stand among the arguments, the JSON Schema of its arguments, and
//! which tools are easily taken for each other. Those of known hosts are part
//! of the program (`toolsets/*.yaml`) and are parsed when one is first needed;
//! users add their own. A tool definition that the trace records wins over
//! both.

mod builtin;
mod choose;
mod keys;
mod yaml;

pub use builtin::{builtin, builtin_tool, generic, ids};
pub use choose::{Chosen, Toolsets};
pub use keys::Keys;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a tool is for.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Deserialize,
    Serialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ToolRole {
    /// Reads a file.
    Reads,
    /// Writes a whole file.
    Writes,
    /// Replaces a part of a file.
    Edits,
    /// Applies a patch to files.
    Patches,
    /// Finds files by name.
    SearchesNames,
    /// Finds text in files.
    SearchesContent,
    /// Lists a directory.
    Lists,
    /// Runs a shell command.
    RunsShell,
    /// Sends input to a shell that runs, or reads from it.
    TalksToShell,
    /// Starts a sub-agent.
    Dispatches,
    /// Asks the user.
    AsksUser,
    /// Keeps a plan.
    Plans,
    /// Reads or searches the web.
    FetchesWeb,
    /// Anything else, or unknown.
    #[default]
    Other,
}

impl ToolRole {
    /// Can a call of such a tool change no file?
    #[must_use]
    pub fn only_looks(self) -> bool {
        matches!(
            self,
            Self::Reads
                | Self::SearchesNames
                | Self::SearchesContent
                | Self::Lists
                | Self::AsksUser
                | Self::Plans
                | Self::FetchesWeb
        )
    }
}

/// One tool of a toolset.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tool {
    /// What it is for.
    pub role: ToolRole,
    /// Other names of it, from other versions.
    pub aliases: Vec<String>,
    /// Do only some versions or set-ups of the host offer it?
    pub optional: bool,
    /// The argument that tells which of several things it does.
    pub selector: Option<String>,
    /// Its role by the value of the selector.
    pub roles: BTreeMap<String, ToolRole>,
    /// The argument with the path.
    pub path: Keys,
    /// The argument with the content to write.
    pub content: Keys,
    /// The argument with the text to be replaced.
    pub old: Keys,
    /// The argument with the text to put there.
    pub new: Keys,
    /// The argument that says to replace every occurrence.
    pub all: Keys,
    /// The argument that says how many occurrences there are.
    pub count: Keys,
    /// The argument with a list of edits, each with `old` and `new`.
    pub edits: Keys,
    /// The argument with a patch; arguments that are text are one themselves.
    pub patch: Keys,
    /// The argument with the shell command.
    pub command: Keys,
    /// The argument with the directory to run it in.
    pub directory: Keys,
    /// The argument with a pattern to search for.
    pub pattern: Keys,
    /// The argument with the first line to read, from 1.
    pub offset: Keys,
    /// The argument with the number of lines to read.
    pub limit: Keys,
    /// The argument with the first and last line to read, from 1.
    pub range: Keys,
    /// What stands between the number and the text of a line it read; empty
    /// where lines are not numbered.
    pub line_marks: Vec<String>,
    /// The JSON Schema of its arguments.
    #[schemars(extend("type" = ["object", "boolean", "null"]))]
    pub schema: Option<Value>,
}

impl Tool {
    /// What a call with these arguments is for.
    #[must_use]
    pub fn role_of(&self, args: Option<&Value>) -> ToolRole {
        let chosen = self.selector.as_ref().and_then(|key| args?.get(key)?.as_str());
        chosen.and_then(|word| self.roles.get(word)).copied().unwrap_or(self.role)
    }
}

/// The tools of one host.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["id"]))]
pub struct Toolset {
    /// Its id, such as `claude-code`.
    pub id: String,
    /// What people call the host.
    pub title: String,
    /// The formats of traces it is meant for.
    pub formats: Vec<String>,
    /// The names agents give themselves in traces it is meant for.
    pub agents: Vec<String>,
    /// The tools, by name.
    pub tools: BTreeMap<String, Tool>,
    /// Pairs that are easily taken for each other.
    pub confusable: Vec<[String; 2]>,
}

impl Toolset {
    /// The tool with this name or alias.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).or_else(|| {
            self.tools.values().find(|tool| tool.aliases.iter().any(|alias| alias == name))
        })
    }

    /// The first tool with this role, for advice.
    #[must_use]
    pub fn with_role(&self, role: ToolRole) -> Option<&str> {
        self.tools.iter().find(|(_, tool)| tool.role == role).map(|(name, _)| name.as_str())
    }
}
