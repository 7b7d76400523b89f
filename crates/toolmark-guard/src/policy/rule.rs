//! The user's own rules: conditions on a call in the language of graders, and the decision if they
//! hold.
//!
//! A rule is matched against every command of a command line, including the inner ones of compounds
//! and wrappers. A rule that asks or denies applies if one of them matches; a rule that allows, if
//! all of them match and nothing is redirected into a file. Rules are compiled when the first call
//! of their tool arrives.

use super::call::PolicySubject;
use super::examples::{self, Examples};
use super::places::{Base, Paths};
use super::words::{OneOrMany, WordRead};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, Spanned, quoted, read};
use toolmark_hosts::toolset::ToolClass;
use toolmark_match::Building;
use toolmark_match::call_match::config::{CallFields, Name, name_of};
use toolmark_match::call_match::{
    ArgsMatch, CallPattern, Conditions, NamePattern, Operators, SchemaCompiler, Truth,
};
use toolmark_outcome::Profile;
use toolmark_pattern::is_wildcard_match;
use toolmark_shell::{Coverage, Decision};

/// Conditions on a call, and the decision about the calls that meet all of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GuardRule", extend("anyOf" = [
    {"required": ["tool"]}, {"required": ["command"]}, {"required": ["path"]}
]))]
pub(super) struct RuleEntry {
    /// Name of the rule.
    #[schemars(regex(pattern = r"^\S+$"))]
    name: Spanned<String>,
    /// Name of the tool.
    #[serde(default)]
    tool: Option<Spanned<Name>>,
    /// Words of a command, with `*` for any text; or conditions on it.
    #[serde(default)]
    #[schemars(schema_with = "command_schema")]
    command: Option<Spanned<Node>>,
    /// Patterns of the paths that the call changes or reads.
    #[serde(default)]
    path: Option<Spanned<OneOrMany<String>>>,
    /// Arguments with the required values.
    #[serde(default)]
    #[schemars(with = "Option<BTreeMap<String, Node>>")]
    args: Option<Spanned<Node>>,
    /// Comparison mode of `args`.
    #[serde(default)]
    args_match: Option<Spanned<ArgsMatch>>,
    /// Arguments that are not compared.
    #[serde(default)]
    ignore: Option<Spanned<Vec<Spanned<String>>>>,
    /// Conditions on arguments.
    #[serde(default, rename = "where")]
    conditions: Option<Spanned<Conditions>>,
    /// Decision about the calls.
    decision: WordRead<Decision>,
    /// Decision instead of `ask` in headless use; `deny` by default. Only in the user's policy.
    #[serde(default)]
    unattended: Option<Spanned<WordRead<Decision>>>,
    /// Reason, shown to the agent.
    #[serde(default)]
    reason: Option<String>,
    /// Alternative, as text or as a command.
    #[serde(default)]
    #[schemars(schema_with = "suggest_schema")]
    suggest: Option<Spanned<Node>>,
    /// Calls that test what the rule matches.
    examples: Spanned<examples::ExamplesEntry>,
}

fn command_schema(generator: &mut SchemaGenerator) -> Schema {
    let operators = generator.subschema_for::<Operators>();
    json_schema!({ "anyOf": [{"type": "string"}, operators, {"type": "null"}] })
}

fn suggest_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {"type": ["string", "null"]},
            {
                "type": "object",
                "required": ["command"],
                "additionalProperties": false,
                "properties": {"command": {"type": "string"}}
            }
        ]
    })
}

/// Suggested alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Suggest {
    /// Text.
    Text(String),
    /// A command.
    Command(String),
}

/// A compiled rule of a policy.
#[derive(Debug)]
pub(super) struct PolicyRule {
    /// Name of the rule.
    pub(super) name: String,
    /// Position in the file.
    pub(super) span: NodeSpan,
    /// Decision about matching calls.
    pub(super) decision: Decision,
    /// Decision for headless use, if the rule has one.
    pub(super) unattended: Option<Spanned<Decision>>,
    /// Reason.
    pub(super) reason: Option<String>,
    /// Suggested alternative.
    pub(super) suggest: Option<Suggest>,
    /// Calls that the rule must and must not match.
    pub(super) examples: Examples,
    tool: Option<Spanned<Name>>,
    named: OnceLock<Option<NamePattern>>,
    paths: Option<Paths>,
    command: Option<Spanned<Node>>,
    fields: Option<CallFields>,
    schemas: SchemaCompiler,
    compiled: OnceLock<Result<Compiled, Vec<Problem>>>,
}

/// Compiled conditions.
#[derive(Debug)]
struct Compiled {
    args: Option<CallPattern>,
    command: Option<CommandTest>,
}

#[derive(Debug)]
enum CommandTest {
    /// Words of a command, with `*` for any text.
    Words(String),
    /// Conditions on the text of the command.
    Condition(Box<CallPattern>),
}

/// Error: a rule cannot be applied.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rule {name} is invalid: {why}")]
pub(super) struct BrokenRule {
    name: String,
    why: String,
}

impl PolicyRule {
    /// Reads a rule; errors in its conditions are found when it is compiled.
    pub(super) fn read(
        written: Spanned<RuleEntry>,
        base: &Base,
        schemas: SchemaCompiler,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let span = written.span;
        let written = written.value;
        let name = written.name;
        if name.value.is_empty() || name.value.contains(char::is_whitespace) {
            let message = format!("{} is not a valid name for a rule", quoted(&name.value));
            let help = "write one word, such as `no-force-push`";
            problems.push(Problem::error("invalid-name", message).at(name.span).help(help));
        }
        let compares = written.args.is_some() || written.conditions.is_some();
        if written.tool.is_none() && written.command.is_none() && written.path.is_none() {
            let message = "the rule has no `tool`, `command` or `path`";
            let problem = Problem::error("empty-condition", message).at(span);
            problems.push(problem.help("add one of them; `tool: \"*\"` matches every tool"));
            return None;
        }
        let unattended =
            written.unattended.map(|word| Spanned { value: word.value.0, span: word.span });
        if let Some(word) = unattended.as_ref().filter(|_| written.decision.0 != Decision::Ask) {
            let message = "`unattended` has no effect: the rule does not ask";
            problems.push(Problem::warning("never-applies", message).at(word.span));
        }
        let fields = compares.then(|| CallFields {
            args: written.args,
            args_match: written.args_match,
            ignore: written.ignore,
            conditions: written.conditions,
            ..CallFields::named(any_tool())
        });
        Some(Self {
            span: name.span,
            name: name.value,
            decision: written.decision.0,
            unattended,
            reason: written.reason,
            suggest: written.suggest.and_then(|node| suggest(&node, problems)),
            examples: Examples::read(written.examples, base, problems),
            tool: written.tool,
            named: OnceLock::new(),
            paths: written.path.map(|paths| {
                let span = paths.span;
                let each = paths.value.0.into_iter().map(|value| Spanned { value, span });
                Paths::read(each.collect(), problems)
            }),
            command: written.command,
            fields,
            schemas,
            compiled: OnceLock::new(),
        })
    }

    /// Returns the compiled name of the tool; `None` if the rule matches any tool.
    pub(super) fn named(&self) -> Option<&NamePattern> {
        let named = self.named.get_or_init(|| {
            let tool = self.tool.as_ref()?;
            tool.compile(tool.span, &mut building(self.schemas, &mut Vec::new()))
        });
        named.as_ref()
    }

    /// Whether the rule is about the tool of this call.
    fn is_about(&self, call: &PolicySubject<'_>) -> Truth {
        match self.named() {
            None => Truth::of(self.tool.is_none()),
            Some(pattern) => name_fits(pattern, call),
        }
    }

    /// Returns the problems of its conditions.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(tool) = &self.tool {
            let _ = tool.compile(tool.span, &mut building(self.schemas, &mut problems));
        }
        match self.compiled() {
            Ok(_) => {}
            Err(found) => problems.extend_from_slice(found),
        }
        problems
    }

    fn compiled(&self) -> Result<&Compiled, &Vec<Problem>> {
        self.compiled
            .get_or_init(|| {
                let mut problems = Vec::new();
                let args = self.fields.as_ref().and_then(|fields| {
                    let building = &mut building(self.schemas, &mut problems);
                    fields.call(&fields.tool).literally().compile(self.span, building)
                });
                let command = self.command.as_ref();
                let command =
                    command.and_then(|node| command_test(node, self.schemas, &mut problems));
                problems.retain(Problem::is_error);
                match problems.is_empty() {
                    true => Ok(Compiled { args, command }),
                    false => Err(problems),
                }
            })
            .as_ref()
    }

    /// Whether the rule applies to a call; an error if the rule is broken.
    pub(super) fn applies(
        &self,
        call: &PolicySubject<'_>,
        base: &Base,
    ) -> Result<Truth, BrokenRule> {
        let about = self.is_about(call);
        if about == Truth::No {
            return Ok(Truth::No);
        }
        let broken = |problems: &Vec<Problem>| {
            let first = problems.first().map(|problem| problem.message.as_str());
            BrokenRule {
                name: self.name.to_string(),
                why: first.unwrap_or("it cannot be read").to_owned(),
            }
        };
        let compiled = self.compiled().map_err(broken)?;
        let touches = self.touches(call, base);
        if touches == Truth::No {
            return Ok(Truth::No);
        }
        Ok(about.and(touches).and(self.fits(compiled, call)))
    }

    fn fits(&self, compiled: &Compiled, call: &PolicySubject<'_>) -> Truth {
        let Compiled { args, command } = compiled;
        if args.is_none() && command.is_none() {
            return Truth::Yes;
        }
        let whole = call.args();
        let Some(text) = call.command() else {
            return match (command, args) {
                (Some(_), _) | (_, None) => Truth::No,
                (None, Some(args)) => args.accepts(&whole),
            };
        };
        let holds = |line: &str| {
            let by_command = command.as_ref().map_or(Truth::Yes, |test| test.holds(line));
            let by_args = args
                .as_ref()
                .map_or(Truth::Yes, |args| args.accepts(&with_command(call, &whole, line)));
            by_command.and(by_args)
        };
        let lines = call.lines();
        match self.decision {
            Decision::Allow => {
                let complete = call.analysis.is_some_and(|j| j.coverage == Coverage::Complete);
                if !complete || lines.is_empty() || call.redirects() {
                    return Truth::No;
                }
                Truth::all(lines.iter().map(|line| holds(line)))
            }
            Decision::Ask | Decision::Deny => {
                let whole = std::iter::once(Cow::Borrowed(text.as_ref()));
                any(whole.chain(call.spellings()).map(|line| holds(&line)))
            }
        }
    }

    fn touches(&self, call: &PolicySubject<'_>, base: &Base) -> Truth {
        let Some(paths) = &self.paths else { return Truth::Yes };
        let session = call.event.cwd.as_deref();
        let written = call.written();
        let read = call.read();
        let by_write = written.iter().map(|touched| paths.stop(touched, base, session).is_some());
        let by_read = read.iter().map(|path| paths.hold(path, base, session).is_some());
        let mut all = by_write.chain(by_read);
        Truth::of(match self.decision {
            Decision::Allow => !(written.is_empty() && read.is_empty()) && all.all(|hit| hit),
            Decision::Ask | Decision::Deny => all.any(|hit| hit),
        })
    }
}

impl CommandTest {
    fn holds(&self, line: &str) -> Truth {
        match self {
            Self::Words(words) => Truth::of(words_fit(words, line)),
            Self::Condition(pattern) => pattern.accepts(&json!({ "command": line })),
        }
    }
}

/// Whether the words of a command match a pattern. Blanks count once, and a star after a blank at
/// the end may match nothing.
pub(crate) fn words_fit(pattern: &str, line: &str) -> bool {
    let once = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = once(line);
    let pattern = once(pattern);
    is_wildcard_match(&pattern, &line) || pattern.strip_suffix(" *") == Some(line.as_str())
}

fn command_test(
    node: &Spanned<Node>,
    schemas: SchemaCompiler,
    problems: &mut Vec<Problem>,
) -> Option<CommandTest> {
    if let Some(words) = node.value.as_str() {
        if words.trim().is_empty() {
            let problem = Problem::error("empty-condition", "the command is empty");
            problems.push(problem.at(node.span));
            return None;
        }
        return Some(CommandTest::Words(words.to_owned()));
    }
    if node.value.as_map().is_none() {
        let message = format!("expected a command or a map of conditions, found {}", node.word());
        problems.push(Problem::error("wrong-type", message).at(node.span));
        return None;
    }
    let entry = NodeEntry { key: "command".into(), key_span: node.span, value: node.value.clone() };
    let map = Node::new(NodeKind::Map(vec![entry]), node.span);
    let conditions = read::<Conditions>(&map, problems)?;
    let fields = CallFields {
        conditions: Some(Spanned { value: conditions, span: node.span }),
        ..CallFields::named(any_tool())
    };
    let pattern = fields
        .call(&fields.tool)
        .literally()
        .compile(node.span, &mut building(schemas, problems))?;
    Some(CommandTest::Condition(Box::new(pattern)))
}

fn any_tool() -> Spanned<Name> {
    Spanned::from(name_of("*"))
}

fn building(schemas: SchemaCompiler, problems: &mut Vec<Problem>) -> Building<'_> {
    static NOTHING: OnceLock<Node> = OnceLock::new();
    Building {
        config: NOTHING.get_or_init(|| Node::from(NodeKind::Null)),
        profile: Profile::Toolmark,
        contrast: None,
        directory: Path::new("."),
        schemas,
        problems,
    }
}

/// Returns the arguments with another command line in them.
fn with_command(call: &PolicySubject<'_>, args: &Value, line: &str) -> Value {
    let mut args = args.clone();
    let mut names = call.tool.iter().flat_map(|tool| tool.command.names());
    let key = names.find(|name| args.get(name).is_some());
    if let Some(slot) = key.and_then(|key| args.get_mut(key)) {
        *slot = Value::String(line.to_owned());
    }
    args
}

/// Combines truths: yes if one holds, otherwise unknown if one is unknown, otherwise no.
fn any(truths: impl Iterator<Item = Truth>) -> Truth {
    let mut sum = Truth::No;
    for truth in truths {
        match truth {
            Truth::Yes => return Truth::Yes,
            Truth::Unknown(_) => sum = truth,
            Truth::No => {}
        }
    }
    sum
}

pub(super) fn name_fits(pattern: &NamePattern, call: &PolicySubject<'_>) -> Truth {
    let names = call.names();
    match pattern {
        NamePattern::Exact(word) => Truth::of(names.iter().any(|name| name == word)),
        NamePattern::Glob(glob) => {
            Truth::of(names.iter().any(|name| is_wildcard_match(glob, name)))
        }
        NamePattern::Regex(pattern) => match pattern.is_match(&call.event.tool) {
            Ok(found) => Truth::of(found),
            Err(_) => Truth::Unknown(toolmark_match::call_match::Lack::Pattern),
        },
        NamePattern::Class(class) => match call.tool {
            Some(_) => Truth::of(ToolClass::of(call.role()) == Some(*class)),
            None if class.may_be(&call.args()) => {
                Truth::Unknown(toolmark_match::call_match::Lack::Class)
            }
            None => Truth::No,
        },
        // Only expectations are made of several names.
        NamePattern::AnyOf(_) => Truth::No,
    }
}

fn suggest(node: &Spanned<Node>, problems: &mut Vec<Problem>) -> Option<Suggest> {
    let map = node.value.as_map();
    match (node.value.as_str(), map) {
        (Some(text), _) if !text.trim().is_empty() => Some(Suggest::Text(text.to_owned())),
        (None, Some([entry])) if entry.key == "command" && entry.value.as_str().is_some() => {
            entry.value.as_str().map(|command| Suggest::Command(command.to_owned()))
        }
        _ => {
            let message = "expected text or a map with a `command`";
            problems.push(Problem::error("wrong-type", message).at(node.span));
            None
        }
    }
}

impl Suggest {
    /// Returns the suggestion as text.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Command(command) => format!("use `{command}` instead"),
        }
    }
}
