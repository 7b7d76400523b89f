//! Selection of the toolset of a trajectory.

use super::{Tool, Toolset, builtin, generic, ids};
use crate::HOSTS;
use crate::tool_policy::ToolPolicy;
use std::collections::HashMap;
use std::sync::LazyLock;
use toolmark_trace::{Canonical, ToolName, Trajectory};

/// Available toolsets: the user's and those of known hosts.
#[derive(Debug, Default)]
pub struct Toolsets {
    user: Vec<Toolset>,
    policy: ToolPolicy,
}

impl Toolsets {
    /// Adds toolsets of the user, which take precedence over the built-in ones.
    #[must_use]
    pub fn with(user: Vec<Toolset>) -> Self {
        Self { user, policy: ToolPolicy::default() }
    }

    /// Sets the effects and conditions that the user declares for named tools.
    #[must_use]
    pub fn with_policy(self, policy: ToolPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Returns the effects and conditions that the user declares for named tools.
    #[must_use]
    pub fn policy(&self) -> &ToolPolicy {
        &self.policy
    }

    /// Returns the toolset of a trajectory, by its format and agent, otherwise the one that
    /// contains most of the called tools.
    #[must_use]
    pub fn choose(&self, run: &Trajectory) -> ChosenToolset<'_> {
        let user = self.user.iter().filter(|set| is_general(set) || is_for(set, run)).collect();
        // Sub-agents are named after their role, but their format still identifies the host.
        match known().find(|set| is_for(set, run)) {
            Some(host) => ChosenToolset { user, host, is_guessed: false },
            None => {
                let host = most_alike(run).unwrap_or_else(generic);
                ChosenToolset { user, host, is_guessed: true }
            }
        }
    }

    /// Returns the description of a tool of a host, by the host's id. For an unknown host,
    /// the first host that has the tool is used.
    #[must_use]
    pub fn tool_of(&self, id: &str, name: &ToolName) -> Option<&Tool> {
        let original = name.original.get();
        let canonical = name.canonical();
        let names = [&*original, &canonical.tool];
        let in_set = |set: &'static Toolset| names.iter().find_map(|name| set.tool(name));
        let is_for = |set: &&Toolset| is_general(set) || set.agents.iter().any(|agent| agent == id);
        let mut users = self.user.iter().filter(is_for);
        let of_user = users.find_map(|set| names.iter().find_map(|name| set.tool(name)));
        of_user.or_else(|| match builtin(id) {
            _ if canonical.server.is_some() => in_set(generic()),
            Some(set) => in_set(set),
            None => ids().filter_map(builtin).find_map(in_set),
        })
    }
}

/// Whether the toolset applies to every trace.
fn is_general(set: &Toolset) -> bool {
    set.formats.is_empty() && set.agents.is_empty()
}

fn is_for(set: &Toolset, run: &Trajectory) -> bool {
    set.formats.iter().any(|format| format == run.format)
        || run.agent.name.as_ref().is_some_and(|name| set.agents.iter().any(|a| name.is(a)))
}

/// Returns the toolsets of known hosts, in order of precedence.
fn known() -> impl Iterator<Item = &'static Toolset> {
    HOSTS.iter().filter_map(|host| host.toolset)
}

/// Indexes into [`known`] of the toolsets that contain a tool, by tool name.
static SETS_OF: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut sets_of: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, set) in known().enumerate() {
        for tool in set.tools.iter() {
            let aliases = tool.aliases.iter().map(|alias| &**alias);
            for name in aliases.chain([&*tool.name]) {
                let sets = sets_of.entry(name).or_default();
                if sets.last() != Some(&at) {
                    sets.push(at);
                }
            }
        }
    }
    sets_of
});

/// Returns the first of the toolsets that contain most of the called tools.
fn most_alike(run: &Trajectory) -> Option<&'static Toolset> {
    /// Maximum number of calls to inspect, enough to recognize an agent by its tools.
    const MAX_CALLS: usize = 200;
    let mut names: Vec<String> = Vec::new();
    for call in run.calls.iter().take(MAX_CALLS) {
        let name = call.name.canonical().tool;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut best: Option<(usize, usize)> = None;
    let sets = names.iter().filter_map(|name| SETS_OF.get(&**name)).flatten();
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for at in sets {
        match counts.iter_mut().find(|(set, _)| set == at) {
            Some((_, count)) => *count += 1,
            None => counts.push((*at, 1)),
        }
    }
    for (at, count) in counts {
        if best.is_none_or(|(set, most)| count > most || count == most && at < set) {
            best = Some((at, count));
        }
    }
    // Names that no host shares say that the agent is none of them.
    let common = names.iter().filter(|name| generic().tool(name).is_some()).count();
    best.filter(|(_, most)| *most >= common).and_then(|(at, _)| known().nth(at))
}

/// Toolset of one trajectory.
#[derive(Debug, Clone)]
pub struct ChosenToolset<'t> {
    user: Vec<&'t Toolset>,
    host: &'static Toolset,
    is_guessed: bool,
}

/// A tool with the origin of its description.
#[derive(Debug, Clone, Copy)]
pub struct DescribedTool<'t> {
    /// The tool.
    pub tool: &'t Tool,
    /// Whether the user provided the description.
    pub by_user: bool,
}

impl<'t> ChosenToolset<'t> {
    /// Returns the host's toolset.
    #[must_use]
    pub fn host(&self) -> &'static Toolset {
        self.host
    }

    /// Whether the host is only guessed from the names of tools. Their roles are then likely
    /// right, but their arguments are unknown.
    #[must_use]
    pub fn is_guessed(&self) -> bool {
        self.is_guessed
    }

    /// Returns the description of a tool, from the user, the host or, for tools of servers,
    /// from the usual meaning of the name.
    #[must_use]
    pub fn describe(&self, name: &ToolName) -> Option<DescribedTool<'t>> {
        self.describe_split(name, &name.canonical())
    }

    /// Like `describe`, for a name that is already split.
    #[must_use]
    pub fn describe_split(
        &self,
        name: &ToolName,
        canonical: &Canonical,
    ) -> Option<DescribedTool<'t>> {
        let original = name.original.get();
        let names = [&*original, &canonical.tool];
        let of_user = self.user.iter().find_map(|set| names.iter().find_map(|n| set.tool(n)));
        if let Some(tool) = of_user {
            return Some(DescribedTool { tool, by_user: true });
        }
        let of_host = match canonical.server {
            Some(_) => None,
            None => names.iter().find_map(|n| self.host.tool(n)),
        };
        // Hosts rename their tools, and agents without a toolset mix the names of others.
        let tool = of_host.or_else(|| names.iter().find_map(|n| generic().tool(n)))?;
        Some(DescribedTool { tool, by_user: false })
    }
}
