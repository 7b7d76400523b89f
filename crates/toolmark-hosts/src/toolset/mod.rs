//! Toolsets: what a host's tools are.
//!
//! A toolset is data: for every tool its role, where its path, content and
//! command stand among the arguments, the JSON Schema of its arguments, and
//! which tools are easily taken for each other. Those of known hosts are written
//! in `<host>/toolset.yaml` and are part of the program as the table that a test
//! makes of it (`tables.rs`): nothing is read or parsed when one is needed. Users
//! add their own. A tool definition that the trace records wins over both.

mod choose;
mod keys;
mod schema;
#[cfg(test)]
mod tables;

pub use choose::{Chosen, Toolsets};
pub use keys::Keys;
pub use schema::Schema;

use crate::{HOSTS, by_id, generic as other_hosts};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The ids of the toolsets of known hosts, in the order they are tried.
pub fn ids() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().filter(|host| host.toolset.is_some()).map(|host| host.id)
}

/// The toolset with this id.
#[must_use]
pub fn builtin(id: &str) -> Option<&'static Toolset> {
    by_id(id)?.toolset
}

/// Tools that many agents and MCP servers have under the same names.
#[must_use]
pub fn generic() -> &'static Toolset {
    &other_hosts::TOOLSET
}

/// A name: borrowed in the tables of known hosts, owned in a user's toolset.
pub type Name = Cow<'static, str>;

/// A list: likewise.
pub type List<T> = Cow<'static, [T]>;

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
    /// Its name.
    #[serde(skip)]
    pub name: Name,
    /// What it is for.
    pub role: ToolRole,
    /// Other names of it, from other versions.
    pub aliases: List<Name>,
    /// Do only some versions or set-ups of the host offer it?
    pub optional: bool,
    /// The version of the host since which only some set-ups of it offer the tool.
    pub optional_since: Option<Name>,
    /// The argument that tells which of several things it does.
    pub selector: Option<Name>,
    /// Its role by the value of the selector.
    #[serde(deserialize_with = "read_roles")]
    pub roles: List<(Name, ToolRole)>,
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
    pub line_marks: List<Name>,
    /// The JSON Schema of its arguments.
    #[schemars(with = "Option<Value>", extend("type" = ["object", "boolean", "null"]))]
    pub schema: Option<Schema>,
}

impl Tool {
    /// One about which nothing is said.
    pub const NONE: Self = Self {
        name: Cow::Borrowed(""),
        role: ToolRole::Other,
        aliases: Cow::Borrowed(&[]),
        optional: false,
        optional_since: None,
        selector: None,
        roles: Cow::Borrowed(&[]),
        path: Keys(Cow::Borrowed(&[])),
        content: Keys(Cow::Borrowed(&[])),
        old: Keys(Cow::Borrowed(&[])),
        new: Keys(Cow::Borrowed(&[])),
        all: Keys(Cow::Borrowed(&[])),
        count: Keys(Cow::Borrowed(&[])),
        edits: Keys(Cow::Borrowed(&[])),
        patch: Keys(Cow::Borrowed(&[])),
        command: Keys(Cow::Borrowed(&[])),
        directory: Keys(Cow::Borrowed(&[])),
        pattern: Keys(Cow::Borrowed(&[])),
        offset: Keys(Cow::Borrowed(&[])),
        limit: Keys(Cow::Borrowed(&[])),
        range: Keys(Cow::Borrowed(&[])),
        line_marks: Cow::Borrowed(&[]),
        schema: None,
    };

    /// Does every set-up of this version of the host offer it? One of which the version is not
    /// known is taken to be old.
    #[must_use]
    pub fn is_usual(&self, version: Option<&str>) -> bool {
        let is_later = self
            .optional_since
            .as_ref()
            .zip(version)
            .is_some_and(|(since, version)| numbers(version) >= numbers(since));
        !self.optional && !is_later
    }

    /// What a call with these arguments is for.
    #[must_use]
    pub fn role_of(&self, args: Option<&Value>) -> ToolRole {
        let chosen = self.selector.as_ref().and_then(|key| args?.get(&**key)?.as_str());
        let of_word = self.roles.iter().find(|(word, _)| chosen == Some(word));
        of_word.map_or(self.role, |(_, role)| *role)
    }
}

/// The numbers of a version; what follows them, as in `2.1.0-beta`, does not count.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.trim_start_matches('v').split(|c: char| !c.is_ascii_digit());
    parts.map_while(|part| part.parse().ok()).collect()
}

/// The tools of one host.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["id"]))]
pub struct Toolset {
    /// Its id, such as `claude-code`.
    pub id: Name,
    /// What people call the host.
    pub title: Name,
    /// The formats of traces it is meant for.
    pub formats: List<Name>,
    /// The names agents give themselves in traces it is meant for.
    pub agents: List<Name>,
    /// The tools, ordered by name.
    #[serde(deserialize_with = "read_tools")]
    #[schemars(with = "BTreeMap<String, Tool>")]
    pub tools: List<Tool>,
    /// Pairs that are easily taken for each other.
    pub confusable: List<[Name; 2]>,
}

impl Toolset {
    /// The tool with this name or alias.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let mut tools = self.tools.iter();
        tools.find(|tool| tool.name == name).or_else(|| {
            self.tools.iter().find(|tool| tool.aliases.iter().any(|alias| alias == name))
        })
    }
}

/// Tools are written by name.
fn read_tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<Tool>, D::Error> {
    let tools = BTreeMap::<String, Tool>::deserialize(deserializer)?;
    Ok(tools.into_iter().map(|(name, tool)| Tool { name: name.into(), ..tool }).collect())
}

fn read_roles<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<List<(Name, ToolRole)>, D::Error> {
    let roles = BTreeMap::<Name, ToolRole>::deserialize(deserializer)?;
    Ok(roles.into_iter().collect())
}
