//! The examples of a rule: calls it must match and calls it must not match. A rule that contradicts
//! its examples is not used.

use super::call::PolicySubject;
use super::places::Base;
use super::rule::{PolicyRule, name_fits};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};
use toolmark_config::{Node, NodeSpan, Problem, Spanned, quoted};
use toolmark_hosts::toolset::{ToolRole, Toolsets, builtin, ids};
use toolmark_hosts::{Args, HookEvent, Moment};
use toolmark_match::call_match::Truth;
use toolmark_session::effects::ToolInput;
use toolmark_shell::ShellContext;
use toolmark_trace::ToolName;

/// Directory in which examples run if the policy belongs to none.
const SOMEWHERE: &str = "/workspace/project";

/// Calls that test what a rule matches.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "GuardExamples", extend("required" = ["match"]))]
pub(super) struct ExamplesEntry {
    /// Calls the rule must match.
    #[schemars(schema_with = "calls_schema", length(min = 1))]
    r#match: Vec<Spanned<Node>>,
    /// Calls the rule must not match.
    #[schemars(schema_with = "calls_schema")]
    not_match: Vec<Spanned<Node>>,
}

fn calls_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "string", "description": "A command."},
                {
                    "type": "object",
                    "required": ["tool"],
                    "additionalProperties": false,
                    "properties": {"tool": {"type": "string"}, "args": {"type": "object"}}
                }
            ]
        }
    })
}

/// The examples of a rule.
#[derive(Debug, Default)]
pub(super) struct Examples(Vec<PolicyExample>);

#[derive(Debug)]
struct PolicyExample {
    call: ExampleCall,
    span: NodeSpan,
    fits: bool,
    cwd: String,
}

/// A call of an example.
#[derive(Debug)]
enum ExampleCall {
    /// A command for the tool that runs commands.
    Command(String),
    /// A call of a tool.
    Call { tool: String, args: Value },
}

impl Examples {
    pub(super) fn read(
        written: Spanned<ExamplesEntry>,
        base: &Base,
        problems: &mut Vec<Problem>,
    ) -> Self {
        if written.value.r#match.is_empty() {
            let message = "the rule has no example that it matches";
            let problem = Problem::error("no-example", message).at(written.span);
            problems
                .push(problem.help("add a command under `match`, preferably one you have seen"));
        }
        let cwd = base.directory.clone().unwrap_or_else(|| SOMEWHERE.to_owned());
        let mut all = Vec::new();
        let ExamplesEntry { r#match, not_match } = written.value;
        let fitting = r#match.into_iter().map(|node| (node, true));
        for (node, fits) in fitting.chain(not_match.into_iter().map(|node| (node, false))) {
            match shown(&node.value) {
                Some(call) => {
                    all.push(PolicyExample { call, span: node.span, fits, cwd: cwd.clone() })
                }
                None => {
                    let message = "expected a command or a map with `tool` and `args`";
                    problems.push(Problem::error("wrong-type", message).at(node.span));
                }
            }
        }
        Self(all)
    }

    /// Returns the calls that the rule must match.
    pub(super) fn fitting<'e>(&'e self, rule: &PolicyRule) -> Vec<HookEvent<'e>> {
        let fitting = self.0.iter().filter(|example| example.fits);
        fitting.filter_map(|example| example.event(rule)).collect()
    }

    /// Returns the examples that a rule contradicts.
    pub(super) fn check(&self, rule: &PolicyRule, base: &Base) -> Vec<Problem> {
        self.0.iter().filter_map(|example| example.check(rule, base)).collect()
    }
}

impl PolicyExample {
    /// Returns the call of the example; `None` if the rule is not about its tool.
    fn event(&self, rule: &PolicyRule) -> Option<HookEvent<'_>> {
        match &self.call {
            ExampleCall::Command(command) => shell_event(rule, command, &self.cwd),
            ExampleCall::Call { tool, args } => {
                let mut event = HookEvent::new(Moment::Before, "plain", tool.as_str());
                event.args = Args::Json(args.clone());
                event.cwd = Some(self.cwd.as_str().into());
                Some(event)
            }
        }
    }

    fn check(&self, rule: &PolicyRule, base: &Base) -> Option<Problem> {
        let Some(event) = self.event(rule) else {
            let ExampleCall::Command(command) = &self.call else { return None };
            let message = format!(
                "{} is a command, but the rule does not match a shell tool",
                quoted(command)
            );
            let problem = Problem::error("broken-example", message).at(self.span);
            return Some(problem.help("write the call: {tool: …, args: {…}}"));
        };
        let applies = with_call(&event, |call| rule.applies(call, base));
        let (words, help) = match (applies, self.fits) {
            (Ok(Truth::Yes), true) | (Ok(Truth::No), false) => return None,
            (Ok(Truth::Unknown(lack)), _) => {
                let words = format!("unknown whether the rule matches this: {}", lack.words());
                (words, "use an example that the rule can decide about")
            }
            (Ok(_), true) => (
                "the rule does not match this example of `match`".to_owned(),
                "change the rule, or move the example to `not_match`",
            ),
            (Ok(_), false) => (
                "the rule matches this example of `not_match`".to_owned(),
                "change the rule, or move the example to `match`",
            ),
            // Errors in the rule are reported elsewhere.
            (Err(_), _) => return None,
        };
        let problem = Problem::error("broken-example", words).at(self.span).help(help);
        Some(problem.note(rule.span, format!("the rule {}", quoted(&rule.name))))
    }
}

/// Builds a call of the shell tool that the rule is about.
fn shell_event<'a>(rule: &PolicyRule, command: &str, cwd: &'a str) -> Option<HookEvent<'a>> {
    let hosts = ids().filter_map(builtin);
    for host in hosts {
        for tool in &*host.tools {
            if tool.role != ToolRole::RunsShell {
                continue;
            }
            let event =
                command_event(&host.id, &tool.name, tool.command.names().next(), command, cwd);
            let call = PolicySubject::new(&event, Some(tool), None);
            if rule.named().is_none_or(|pattern| name_fits(pattern, &call) == Truth::Yes) {
                return Some(event);
            }
        }
    }
    None
}

fn command_event<'a>(
    host: &str,
    tool: &str,
    key: Option<&str>,
    command: &str,
    cwd: &'a str,
) -> HookEvent<'a> {
    let mut event = HookEvent::new(Moment::Before, host.to_owned(), tool.to_owned());
    let key = key.unwrap_or("command");
    event.args = Args::Json(json!({ key: command }));
    event.cwd = Some(cwd.into());
    event
}

/// Builds the call of the usual shell tool for a command.
pub(super) fn usual_command<'a>(command: &str, base: &'a Base) -> HookEvent<'a> {
    let cwd = base.directory.as_deref().unwrap_or(SOMEWHERE);
    command_event("claude-code", "Bash", None, command, cwd)
}

/// Passes a call with the known properties of its tool to a function.
pub(super) fn with_tool<T>(event: &HookEvent<'_>, look: impl FnOnce(&ToolInput<'_>) -> T) -> T {
    let toolsets = Toolsets::default();
    let name = ToolName::new(event.tool.as_ref());
    let tool = toolsets.tool_of(&event.host, &name);
    look(&ToolInput {
        name: event.tool.as_ref().into(),
        tool,
        args: (&event.args).into(),
        cwd: event.cwd.as_deref(),
    })
}

/// Passes a call with all known properties to a function.
pub(super) fn with_call<T>(event: &HookEvent<'_>, look: impl FnOnce(&PolicySubject<'_>) -> T) -> T {
    with_tool(event, |input| {
        let analysis = input.analyze(&ShellContext::default());
        look(&PolicySubject::new(event, input.tool, analysis.as_ref()))
    })
}

fn shown(node: &Node) -> Option<ExampleCall> {
    if let Some(command) = node.as_str() {
        return Some(ExampleCall::Command(command.to_owned()));
    }
    let known = |key: &str| matches!(key, "tool" | "args");
    if !node.as_map()?.iter().all(|entry| known(&entry.key)) {
        return None;
    }
    let args = node.get("args").map_or_else(|| json!({}), Node::to_json);
    Some(ExampleCall::Call { tool: node.get("tool")?.as_str()?.to_owned(), args })
}
