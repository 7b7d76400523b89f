//! One policy file: its content, read with all its errors at once.

use super::bounds;
use super::limits::{LogLocation, McpLimits, WrittenLog, WrittenMcp};
use super::places::{Base, Paths, Roots};
use super::rule::{self, PolicyRule};
use super::table::{self, PolicyTable};
use super::tools::{self, Tools};
use super::words::{Preset, WordRead};
use crate::permissions::PermissionRules;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, Spanned, quoted, read};
use toolmark_hosts::tool_policy::ToolPolicy;
use toolmark_match::call_match::SchemaCompiler;
use toolmark_shell::Decision;

/// Owner of a policy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whose {
    /// The user, whose policy may set anything.
    #[default]
    User,
    /// A project, whose policy may only make things stricter.
    Project,
}

/// Origin of a policy.
#[derive(Debug, Clone, Default)]
pub struct PolicyOrigin {
    /// Owner.
    pub whose: Whose,
    /// Absolute path of the file.
    pub file: String,
    /// Base of its paths.
    pub base: Base,
}

/// Rules of other programs that a policy imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GuardImport")]
pub enum Import {
    /// The permission rules in the settings of Claude Code.
    ClaudeCode,
}

/// Calls that `toolmark guard` allows, asks about and denies.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Guard", extend("minProperties" = 1))]
struct GuardSection {
    /// Strictness of the guard; `standard` by default.
    preset: Option<Preset>,
    /// Decision when the guard itself fails; `ask` by default.
    on_error: Option<WordRead<Decision>>,
    /// Whether the host is instructed to run calls that can lose nothing without asking; false by
    /// default.
    approve: Option<bool>,
    /// Whether a copy of what a call deletes or overwrites is kept; true by default.
    keep: Option<bool>,
    /// Time limit of the guard, in milliseconds; 1000 by default.
    #[schemars(range(min = 1, max = MAX_TIMEOUT_MS))]
    timeout_ms: Option<Spanned<u64>>,
    /// Tools that may be called.
    tools: tools::ToolsEntry,
    /// Tools that single agents or hosts may call, by name or glob.
    agents: BTreeMap<String, Spanned<AgentPermissions>>,
    /// Rules of your own.
    rules: Vec<Spanned<rule::RuleEntry>>,
    /// Decisions about effects; the first matching entry decides.
    effects: Vec<Spanned<table::EffectEntry>>,
    /// Directories that may be written to besides the work tree.
    writable: Vec<Spanned<String>>,
    /// Patterns of paths that may not be changed.
    protected: Vec<Spanned<String>>,
    /// Patterns of paths that may not be read.
    protected_reads: Vec<Spanned<String>>,
    /// Directories in which anything may be deleted.
    delete_roots: Vec<Spanned<String>>,
    /// Directories for temporary files.
    temp: Vec<Spanned<String>>,
    /// Programs that only run the command given as their arguments.
    wrappers: Vec<Spanned<String>>,
    /// Other programs whose rules also apply.
    import: Vec<Import>,
    /// Limits for MCP servers.
    mcp: WrittenMcp,
    /// Location of the decision log.
    log: WrittenLog,
}

/// Permissions of one agent.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "GuardAgent")]
struct AgentPermissions {
    /// Tools that the agent may call.
    tools: tools::ToolsEntry,
}

/// Returns the JSON Schema of the part.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<GuardSection>()
}

/// Content of one policy file.
#[derive(Debug, Default)]
pub struct Layer {
    pub(super) origin: PolicyOrigin,
    pub(super) preset: Option<Preset>,
    pub(super) on_error: Option<Decision>,
    pub(super) approve: Option<bool>,
    pub(super) keep: Option<bool>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) tools: Tools,
    pub(super) agents: BTreeMap<String, Tools>,
    pub(super) rules: Vec<PolicyRule>,
    pub(super) table: PolicyTable,
    pub(super) writable: Roots,
    pub(super) protected: Paths,
    pub(super) protected_reads: Paths,
    pub(super) delete_roots: Roots,
    pub(super) temp: Roots,
    pub(super) wrappers: Vec<String>,
    pub(super) imports: Vec<Import>,
    pub(super) permissions: PermissionRules,
    pub(super) mcp: McpLimits,
    pub(super) log: LogLocation,
    /// The `tools:` and `order:` sections beside the part.
    pub(super) conditions: ToolPolicy,
    /// Positions of the keys.
    pub(super) keys: BTreeMap<String, NodeSpan>,
}

impl Layer {
    /// Whether the file sets the preset.
    pub(crate) fn has_preset(&self) -> bool {
        self.preset.is_some()
    }

    /// Whether the file requires copies of what calls destroy.
    pub(crate) fn wants_copies(&self) -> bool {
        self.keep == Some(true)
    }

    /// Reads the `guard:` part of a file; every error is reported with its position. The conditions
    /// of rules are checked when they are first needed, or by [`Layer::check`].
    #[must_use]
    pub fn read(
        node: &Node,
        origin: PolicyOrigin,
        schemas: SchemaCompiler,
        problems: &mut Vec<Problem>,
    ) -> Self {
        if node.is_null() || node.as_map().is_some_and(<[_]>::is_empty) {
            let problem = Problem::error("empty-guard", "the guard section is empty");
            let help = "add a key, such as `preset: standard`, or remove the section";
            problems.push(problem.at(node.span).help(help));
        }
        let keys: BTreeMap<String, NodeSpan> =
            node.entries().map(|entry| (entry.key.to_string(), entry.key_span)).collect();
        if node.is_null() {
            return Self { origin, ..Self::default() };
        }
        if origin.whose == Whose::Project
            && let Some(problem) = bounds::exceeded(node)
        {
            problems.push(problem);
            return Self { origin, keys, ..Self::default() };
        }
        let Some(written) = read_what_can_be(node, problems) else {
            return Self { origin, keys, ..Self::default() };
        };
        let base = origin.base.clone();
        let agents = written.agents.into_iter().map(|(name, agent)| {
            if agent.value.tools.is_empty() {
                let message = format!("the section of the agent {} is empty", quoted(&name));
                problems.push(Problem::warning("empty-list", message).at(agent.span));
            }
            (name, Tools::read(agent.value.tools, problems))
        });
        let agents = agents.collect();
        let rules = written.rules.into_iter();
        let layer = Self {
            preset: written.preset,
            on_error: written.on_error.map(|word| word.0),
            approve: written.approve,
            keep: written.keep,
            timeout_ms: written.timeout_ms.as_ref().and_then(|time| timeout(time, problems)),
            tools: Tools::read(written.tools, problems),
            agents,
            rules: rules
                .filter_map(|rule| PolicyRule::read(rule, &base, schemas, problems))
                .collect(),
            table: PolicyTable::read(written.effects, problems),
            writable: Roots::read(written.writable, problems),
            protected: Paths::read(written.protected, problems),
            protected_reads: Paths::read(written.protected_reads, problems),
            delete_roots: Roots::read(written.delete_roots, problems),
            temp: Roots::read(written.temp, problems),
            wrappers: wrappers(written.wrappers, problems),
            imports: written.import,
            permissions: PermissionRules::default(),
            mcp: McpLimits::read(written.mcp, problems),
            log: LogLocation::read(written.log, problems),
            conditions: ToolPolicy::default(),
            origin,
            keys,
        };
        layer.unique_names(problems);
        layer
    }

    /// Creates the layer of a file that only has conditions on tools.
    #[must_use]
    pub fn without_guard(origin: PolicyOrigin) -> Self {
        Self { origin, ..Self::default() }
    }

    /// Adds the conditions on calls of named tools.
    #[must_use]
    pub fn with_conditions(mut self, conditions: ToolPolicy) -> Self {
        self.conditions = conditions;
        self
    }

    /// Returns the origin of the layer.
    #[must_use]
    pub fn origin(&self) -> &PolicyOrigin {
        &self.origin
    }

    /// Whether the layer imports the rules of another program.
    #[must_use]
    pub fn imports(&self, import: Import) -> bool {
        self.imports.contains(&import)
    }

    /// Adds the permission rules of another program.
    #[must_use]
    pub fn with_permissions(mut self, permissions: PermissionRules) -> Self {
        self.permissions = permissions;
        self
    }

    /// Returns the problems of the rules: in conditions and examples, and rules that can never
    /// apply.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for rule in &self.rules {
            problems.extend(rule.problems());
            problems.extend(rule.examples.check(rule, &self.origin.base));
            problems.extend(self.shadowed(rule));
        }
        problems.extend(self.table.check());
        problems
    }

    /// Reports a rule about tools that may not be called anyway.
    fn shadowed(&self, rule: &PolicyRule) -> Option<Problem> {
        use toolmark_match::call_match::NamePattern::{Exact, Glob};
        let Some(Exact(word) | Glob(word)) = rule.named() else { return None };
        let why = self.tools.shut_out(word)?;
        let message = format!("the rule {} never applies: {why}", quoted(&rule.name));
        Some(Problem::warning("never-applies", message).at(rule.span))
    }

    fn unique_names(&self, problems: &mut Vec<Problem>) {
        let mut seen = BTreeSet::new();
        for rule in &self.rules {
            if !seen.insert(&rule.name) {
                let message = format!("two rules have the name {}", quoted(&rule.name));
                problems.push(Problem::error("duplicate-rule", message).at(rule.span));
            }
        }
    }
}

/// Reads the part without the keys and list entries that cannot be read, so that the others are
/// checked and applied.
fn read_what_can_be(node: &Node, problems: &mut Vec<Problem>) -> Option<GuardSection> {
    let known = problems.len();
    if let Some(written) = read::<GuardSection>(node, problems) {
        return Some(written);
    }
    let wrong = problems.get(known..).unwrap_or_default();
    let places: Vec<NodeSpan> = wrong.iter().filter_map(|problem| problem.span).collect();
    let holds = |whole: NodeSpan| {
        places.iter().any(|place| whole.start <= place.start && place.end <= whole.end)
    };
    let bad = |entry: &NodeEntry| holds(entry.key_span.to(entry.value.span));
    let mut left = Vec::new();
    for entry in node.entries() {
        match (bad(entry), entry.value.as_list()) {
            (false, _) => left.push(entry.clone()),
            (true, Some(items)) if !holds(entry.key_span) => {
                let items: Vec<Node> = items.iter().filter(|i| !holds(i.span)).cloned().collect();
                let value = Node::new(NodeKind::List(items), entry.value.span);
                left.push(NodeEntry { value, ..entry.clone() });
            }
            (true, _) => {}
        }
    }
    read(&Node::new(NodeKind::Map(left), node.span), &mut Vec::new())
}

/// Maximum time limit of the guard, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 60_000;

fn timeout(time: &Spanned<u64>, problems: &mut Vec<Problem>) -> Option<u64> {
    if !(1..=MAX_TIMEOUT_MS).contains(&time.value) {
        let message = format!("expected 1 to {MAX_TIMEOUT_MS} milliseconds, found {}", time.value);
        problems.push(Problem::error("invalid-value", message).at(time.span));
        return None;
    }
    Some(time.value)
}

fn wrappers(written: Vec<Spanned<String>>, problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names = Vec::new();
    for word in written {
        if word.value.is_empty() || word.value.contains(|c: char| c.is_whitespace() || c == '/') {
            let message = format!("{} is not the name of a program", quoted(&word.value));
            let help = "write the name alone, without a path and arguments";
            problems.push(Problem::error("invalid-wrapper", message).at(word.span).help(help));
        } else {
            names.push(word.value);
        }
    }
    names
}
