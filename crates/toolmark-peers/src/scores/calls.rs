//! Expected calls and actual calls, as compared by scores.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::borrow::Cow;
use toolmark_config::{Node, Problem, did_you_mean, quoted};
use toolmark_outcome::{IndexedCall, Missing, TrajectoryView, excerpt};
use toolmark_trace::{Payload, calls_in};

/// An expected call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoredCall {
    /// Name of the tool.
    pub(crate) name: String,
    /// Expected arguments; any arguments match if there are none.
    pub(crate) args: Option<Value>,
    /// Expected output.
    pub(crate) output: Option<Value>,
    /// Turn; neighbours with the same turn belong together.
    pub(crate) turn: Option<i64>,
}

/// An actual call.
pub(crate) struct ActualCall<'a> {
    /// The call.
    pub(crate) seen: IndexedCall<'a>,
    /// Name of the tool.
    pub(crate) name: Cow<'a, str>,
    /// Arguments, if recorded.
    pub(crate) args: Option<Value>,
    /// Output of the call.
    pub(crate) output: Option<Value>,
    /// Turn of the user in which it was made, from 0.
    pub(crate) turn: usize,
    /// Whether the call failed.
    pub(crate) failed: bool,
}

impl ScoredCall {
    /// Creates an expected call of a tool with any arguments.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), args: None, output: None, turn: None }
    }

    /// Describes the expected call.
    pub(crate) fn text(&self) -> String {
        match &self.args {
            None => self.name.clone(),
            Some(args) => format!("{} {}", self.name, excerpt(&args.to_string())),
        }
    }
}

/// Returns the calls of a view.
pub(crate) fn made<'a>(view: &'a TrajectoryView<'_>) -> Vec<ActualCall<'a>> {
    // A call belongs to the turn that started last before it.
    let mut turns = vec![0; view.trajectory().calls.len()];
    let mut turn = 0usize;
    for event in view.events() {
        turn += usize::from(event.starts_turn());
        if let toolmark_trace::EventKind::Call(index) = event.kind
            && let Some(of_call) = turns.get_mut(index as usize)
        {
            *of_call = turn.saturating_sub(1);
        }
    }
    let one = |seen: &IndexedCall<'a>| ActualCall {
        seen: *seen,
        name: seen.call.name.full(),
        args: seen.call.args.as_ref().map(Payload::to_value).filter(|args| !args.is_null()),
        output: seen
            .call
            .result
            .as_ref()
            .and_then(|result| result.payload.as_ref())
            .map(Payload::to_value),
        turn: turns.get(seen.index).copied().unwrap_or(0),
        failed: seen.call.status.is_error(),
    };
    view.calls().iter().map(one).collect()
}

/// Returns the number of user turns of a view; 1 if there are no user messages.
pub(crate) fn turns(view: &TrajectoryView<'_>) -> usize {
    view.events().iter().filter(|event| event.starts_turn()).count().max(1)
}

/// Returns the arguments as an object; missing arguments become an empty one.
pub(crate) fn object(args: Option<&Value>) -> Option<Cow<'_, Map<String, Value>>> {
    match args {
        None | Some(Value::Null) => Some(Cow::Owned(Map::new())),
        Some(Value::Object(args)) => Some(Cow::Borrowed(args)),
        Some(_) => None,
    }
}

/// Returns the value at a dotted path.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.as_object()?.get(key))
}

const KEYS: &[&str] = &["name", "tool", "args", "arguments", "output", "turn"];

/// Reads one expected call: the name of a tool, or a map.
pub(crate) fn expected(node: &Node, problems: &mut Vec<Problem>) -> Option<ScoredCall> {
    if let Some(name) = node.as_str() {
        return Some(ScoredCall::named(name));
    }
    let mut reject = |code, node: &Node, message: String| {
        problems.push(Problem::error(code, message).at(node.span));
    };
    if node.as_map().is_none() {
        reject("wrong-type", node, format!("expected a tool or a map, found {}", node.word()));
        return None;
    }
    let name = node.get("name").or_else(|| node.get("tool"));
    let Some(name_text) = name.and_then(Node::as_str) else {
        reject("missing-key", node, "an expected call needs a \"name\"".to_owned());
        return None;
    };
    let turn = node.get("turn").filter(|turn| !turn.is_null());
    let number = turn.and_then(Node::as_f64);
    if let (Some(turn), None) = (turn, number) {
        reject("wrong-type", turn, format!("turn must be a number, found {}", turn.word()));
    }
    let args = node.get("args").or_else(|| node.get("arguments"));
    let call = ScoredCall {
        name: name_text.to_owned(),
        args: args.map(Node::to_json).filter(|args| !args.is_null()),
        output: node.get("output").map(Node::to_json).filter(|output| !output.is_null()),
        turn: number.map(|turn| turn as i64),
    };
    for entry in node.entries().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        let message = format!("unknown key {}", quoted(&entry.key));
        let problem = Problem::error("unknown-key", message).at(entry.key_span);
        problems.push(match did_you_mean(&entry.key, KEYS.iter().copied()) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(format!("known keys are {}", KEYS.join(", "))),
        });
    }
    Some(call)
}

/// Returns the schema of a list of expected calls.
pub(crate) fn list_schema(_: &mut SchemaGenerator) -> Schema {
    let call = serde_json::json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool."},
            "tool": {"type": "string", "description": "The same."},
            "args": {"description": "Its arguments. Without them any will do."},
            "arguments": {"description": "The same."},
            "output": {"description": "What it must give back."},
            "turn": {"type": "integer", "description": "Neighbours with the same turn belong together."},
        },
        "additionalProperties": false,
    });
    json_schema!({
        "type": "array",
        "items": {"anyOf": [{"type": "string", "minLength": 1}, call]},
    })
}

/// Parses the expected calls of a row: names, or calls in any format.
pub(crate) fn from_value(value: &Value) -> Result<Vec<ScoredCall>, Missing> {
    if let Value::Array(items) = value
        && let Some(names) = items.iter().map(Value::as_str).collect::<Option<Vec<_>>>()
    {
        return Ok(names.into_iter().map(ScoredCall::named).collect());
    }
    match calls_in(value) {
        Ok(calls) => Ok(calls
            .into_iter()
            .map(|call| ScoredCall { args: call.args, ..ScoredCall::named(&call.name) })
            .collect()),
        Err(_) => Err(Missing(format!("{} contains no call", excerpt(&value.to_string())))),
    }
}
