//! Converts a trajectory to the steps that the `trajectory:*` assertions inspect.
//!
//! A call is a `tool` step; a call of a shell with a command in its arguments
//! is a `command` step instead. Messages, reasoning and the results of calls
//! (`span`) are steps too. Steps with a time are sorted by it,
//! all others keep their positions.

use super::reading::{follows, is_agentv};
use jiff::Timestamp;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use toolmark_config::{Node, NodeKind, Problem, did_you_mean, quoted};
use toolmark_outcome::Profile;
use toolmark_outcome::TrajectoryView;
use toolmark_pattern::is_agentv_match;
use toolmark_trace::{Call, EventKind};

/// Kinds of steps, as named in specs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Tool,
    Command,
    Message,
    Reasoning,
    Search,
    Span,
}

/// Names of the [`Type`]s.
pub(super) const TYPES: &[(&str, Type)] = &[
    ("tool", Type::Tool),
    ("command", Type::Command),
    ("message", Type::Message),
    ("reasoning", Type::Reasoning),
    ("search", Type::Search),
    ("span", Type::Span),
];

impl Type {
    fn from_word(word: &str) -> Option<Self> {
        TYPES.iter().find(|(w, _)| *w == word).map(|(_, kind)| *kind)
    }

    pub(super) fn word(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// One step.
pub(super) struct AgentvStep {
    /// Kind of step.
    pub(super) kind: Type,
    /// Names under which the step is matched.
    names: Vec<String>,
    /// Index of the call in the view.
    pub(super) call: Option<usize>,
    /// Whether the call failed.
    pub(super) failed: bool,
    time: Option<Timestamp>,
}

impl AgentvStep {
    /// Describes the step.
    pub(super) fn text(&self) -> String {
        let name = self.names.first().map_or("", String::as_str);
        format!("{}:{}", self.kind.word(), toolmark_outcome::excerpt(name))
    }
}

/// Tools that run commands.
const SHELLS: &[&str] = &["exec_command", "local_shell", "shell"];

/// Returns the steps of a view under a reading.
///
/// AgentV counts the final answer as an additional message although it already is the
/// last message. In promptfoo, a call and its result are one step, and a response
/// without text is not a step.
pub(super) fn steps(view: &TrajectoryView<'_>, profile: Profile) -> Vec<AgentvStep> {
    let trajectory = view.trajectory();
    let mut steps = Vec::new();
    let plain = |kind: Type, name: &str, time| AgentvStep {
        kind,
        names: vec![name.to_owned(), kind.word().to_owned()],
        call: None,
        failed: false,
        time,
    };
    // Calls are known by their place in the view.
    let mut places = vec![None; trajectory.calls.len()];
    for (at, seen) in view.calls().iter().enumerate() {
        places[seen.index] = Some(at);
    }
    let mut response = None;
    for event in view.events() {
        // A response is one message, whatever it is made of.
        let is_response = event.step.is_some() && response_of(&event.kind);
        if is_response && event.step != response && profile != Profile::Promptfoo {
            response = event.step;
            let time = event.step.and_then(|step| trajectory.steps.get(step as usize)?.time);
            steps.push(plain(Type::Message, "message", time));
        }
        match &event.kind {
            EventKind::User => steps.push(plain(Type::Message, "message", event.time)),
            EventKind::Message if event.step.is_none() || profile == Profile::Promptfoo => {
                steps.push(plain(Type::Message, "message", event.time));
            }
            EventKind::Reasoning => steps.push(plain(Type::Reasoning, "message", event.time)),
            EventKind::Call(index) => {
                let place = places.get(*index as usize).copied().flatten();
                if let (Some(at), Some(call)) = (place, trajectory.calls.get(*index as usize)) {
                    steps.push(of_call(call, at));
                }
            }
            EventKind::Result(index) => {
                let call = trajectory.calls.get(*index as usize);
                let has_payload = call
                    .and_then(|call| call.result.as_ref())
                    .is_some_and(|result| result.payload.is_some());
                if has_payload && profile != Profile::Promptfoo {
                    steps.push(plain(Type::Span, "tool_result", event.time));
                }
            }
            _ => {}
        }
    }
    // To AgentV the last message of the agent is its answer, whatever is in it.
    let answers =
        !view.steps().is_empty() || view.events().iter().any(|event| response_of(&event.kind));
    if is_agentv(profile) && answers {
        steps.push(plain(Type::Message, "final_response", None));
    }
    by_time(steps)
}

fn response_of(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Message | EventKind::Reasoning | EventKind::Call(_))
}

fn of_call(call: &Call, at: usize) -> AgentvStep {
    let tool = call.name.full().into_owned();
    let failed = call.status.is_error();
    let is_shell = SHELLS.contains(&tool.to_lowercase().as_str());
    let command = if is_shell { arguments(call).as_ref().and_then(command) } else { None };
    let (kind, names) = match command {
        None => (Type::Tool, vec![tool]),
        Some(command) => {
            let program = command.split_whitespace().next().unwrap_or("").to_owned();
            (Type::Command, vec![command, tool, program])
        }
    };
    AgentvStep { kind, names, call: Some(at), failed, time: call.started }
}

/// Returns the arguments of a call; text that contains JSON is decoded, null is treated as missing.
pub(super) fn arguments(call: &Call) -> Option<Value> {
    let value = call.args.as_ref()?.to_value();
    match value {
        Value::Null => None,
        Value::String(text) => {
            let text = text.trim();
            if text.is_empty() {
                return None;
            }
            Some(serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
        }
        other => Some(other),
    }
}

fn command(args: &Value) -> Option<String> {
    let keys = ["cmd", "command", "commands"];
    let (key, value) =
        keys.iter().find_map(|key| Some((*key, args.get(key).filter(|v| !v.is_null())?)))?;
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => {
            let word = |part: &Value| match part {
                Value::String(text) => text.trim().to_owned(),
                other => other.to_string(),
            };
            let words: Vec<String> = parts.iter().map(word).filter(|w| !w.is_empty()).collect();
            words.join(if key == "commands" { "; " } else { " " })
        }
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Sorts the steps with a time among themselves; steps without a time keep their
/// positions.
fn by_time(steps: Vec<AgentvStep>) -> Vec<AgentvStep> {
    let places: Vec<usize> =
        steps.iter().enumerate().filter(|(_, s)| s.time.is_some()).map(|(at, _)| at).collect();
    let mut order: Vec<usize> = (0..steps.len()).collect();
    let mut timed = places.clone();
    timed.sort_by_key(|at| steps[*at].time);
    for (place, at) in places.iter().zip(timed) {
        order[*place] = at;
    }
    let mut steps: Vec<Option<AgentvStep>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| steps.get_mut(at)?.take()).collect()
}

/// Selects steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Matcher {
    /// Name pattern with `*` and `?`.
    pub(super) name: Option<String>,
    /// Accepted kinds of steps; all if empty.
    pub(super) types: Vec<Type>,
}

impl Matcher {
    /// Creates a matcher for a tool name.
    pub(super) fn tool(name: &str) -> Self {
        Self { name: Some(name.to_owned()), types: Vec::new() }
    }

    /// Describes the matcher.
    pub(super) fn text(&self) -> &str {
        self.name.as_deref().unwrap_or("*")
    }

    /// Whether a tool step matches. AgentV does not match a command as the tool that runs it.
    pub(super) fn is_tool(&self, step: &AgentvStep, profile: Profile) -> bool {
        let is_tool = match step.kind {
            Type::Tool => true,
            Type::Command => !follows(profile),
            _ => false,
        };
        is_tool && self.fits(step, profile, &[Type::Tool])
    }

    /// Whether a step of any kind matches.
    pub(super) fn is_step(&self, step: &AgentvStep, profile: Profile) -> bool {
        self.fits(step, profile, &[])
    }

    fn fits(&self, step: &AgentvStep, profile: Profile, otherwise: &[Type]) -> bool {
        let types = if self.types.is_empty() { otherwise } else { &self.types };
        let is_type = types.contains(&step.kind)
            // To toolmark a command is a call of a tool as well.
            || (!follows(profile) && step.kind == Type::Command && types.contains(&Type::Tool));
        (types.is_empty() || is_type)
            && self
                .name
                .as_ref()
                .is_none_or(|name| step.names.iter().any(|known| is_agentv_match(name, known)))
    }
}

/// Keys of a matcher.
pub(super) const MATCHER_KEYS: &[&str] = &["name", "pattern", "type"];

/// Reads a matcher: a name, or a map with `name` or `pattern` and `type`.
pub(super) fn matcher(node: &Node, problems: &mut Vec<Problem>) -> Option<Matcher> {
    if let Some(name) = node.as_str() {
        return Some(Matcher::tool(name));
    }
    if node.as_map().is_none() {
        let message = format!("expected a name or a map, found {}", node.word());
        problems.push(Problem::error("invalid-value", message).at(node.span));
        return None;
    }
    let mut text = |key: &str| {
        let value = node.get(key).filter(|value| !value.is_null())?;
        if value.as_str().is_none() {
            let message = format!("{key} must be text, found {}", value.word());
            problems.push(Problem::error("ignored-value", message).at(value.span));
        }
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (pattern, name) = (text("pattern"), text("name"));
    let mut types = Vec::new();
    let type_node = node.get("type").filter(|value| !value.is_null());
    let words = match type_node {
        Some(Node { kind: NodeKind::List(items), .. }) => items.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    for word in words {
        match word.as_str().and_then(Type::from_word) {
            Some(kind) => types.push(kind),
            None => {
                let found = word.as_str().map_or_else(|| word.word().to_owned(), quoted);
                let message = format!("unknown type of step {found}");
                let near = did_you_mean(word.as_str().unwrap_or(""), TYPES.iter().map(|t| t.0));
                let help = match near {
                    Some(near) => format!("did you mean {}?", quoted(near)),
                    None => "use tool, command, message, reasoning, search or span".into(),
                };
                problems.push(Problem::error("unknown-type", message).at(word.span).help(help));
            }
        }
    }
    Some(Matcher { name: pattern.or(name), types })
}

/// Returns the schema of a matcher with additional properties.
pub(super) fn matcher_schema(more: &Value) -> Schema {
    let words: Vec<&str> = TYPES.iter().map(|(word, _)| *word).collect();
    let mut properties = serde_json::json!({
        "name": {"type": "string", "description": "The name; * and ? stand for any characters and one."},
        "pattern": {"type": "string", "description": "The same; taken before name."},
        "type": {"anyOf": [{"enum": words}, {"type": "array", "items": {"enum": words}}]},
    });
    if let (Some(all), Some(more)) = (properties.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// Returns the schema of a list of steps.
pub(super) fn step_schema(_: &mut SchemaGenerator) -> Schema {
    let map = matcher_schema(&serde_json::json!({}));
    json_schema!({"anyOf": [{"type": "string", "minLength": 1}, map]})
}
