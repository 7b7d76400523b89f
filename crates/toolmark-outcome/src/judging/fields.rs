//! Named parts of a trajectory that a question can refer to.

use super::elide::shortened;
use super::transcript::fit;
use super::{Material, TextPiece, steps, transcript};
use crate::subject::Subject;
use crate::view::{IndexedCall, Missing};
use serde_json::Value;
use toolmark_trace::{Event, EventKind, Fact, Payload};

/// Maximum length of one value.
const VALUE: usize = 48 << 10;
/// Maximum length of each call around the call in question.
const NEAR: usize = 4 << 10;
/// Maximum number of calls before and after it.
const CALLS: usize = 5;

/// A part of a trajectory or of its case that can be shown to a judge.
pub struct Field {
    /// Name of the field; a suffix after a dot selects a path in its value.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Description on one line.
    pub summary: &'static str,
    /// Whether the field belongs to a single call.
    pub of_call: bool,
}

const fn field(
    name: &'static str,
    aliases: &'static [&'static str],
    of_call: bool,
    summary: &'static str,
) -> Field {
    Field { name, aliases, summary, of_call }
}

/// All fields.
pub static FIELDS: &[Field] = &[
    field(
        "user_request",
        &["user_input", "request"],
        false,
        "what the user asked last before the call; without a call, first",
    ),
    field("tool_name", &[], true, "the tool"),
    field("tool_input", &["tool_args"], true, "its arguments; tool_input.file_path is one of them"),
    field("tool_output", &["tool_result"], true, "what came back"),
    field("error_message", &["error"], true, "what came back, where the call failed"),
    field("status", &["tool_status"], true, "how the call ended"),
    field("exit_code", &[], true, "the exit code of its command"),
    field(
        "pre_tool_call_turn",
        &["assistant_turn"],
        true,
        "what the agent said before the call, in the same response or last in the turn",
    ),
    field("post_tool_call_turn", &["next_turn"], true, "what the agent said after the call"),
    field("previous_calls", &[], true, "the five calls before it, with their results"),
    field("next_calls", &[], true, "the five calls after it, with their results"),
    field("available_tools", &["tools"], false, "the tools the run had, where the trace says so"),
    field("output", &["final_answer", "answer"], false, "the final answer"),
    field("transcript", &["trajectory"], false, "everything that happened"),
    field("steps", &[], false, "a line per call and message"),
    field("tool_calls", &[], false, "every call with its arguments and its result"),
    field("case.prompt", &["input"], false, "what the spec asked the agent"),
    field("case.criteria", &["criteria"], false, "what the spec says success is"),
    field("case.expected_output", &["expected_output"], false, "the reference answer of the spec"),
    field("diff", &["file_changes"], false, "what changed in the workspace"),
];

/// Source of the fields: a subject and the call in question.
#[derive(Clone, Copy)]
pub struct Focus<'a> {
    /// The trajectory and its case.
    pub subject: &'a Subject<'a>,
    /// The call, if the question is about one.
    pub call: Option<IndexedCall<'a>>,
}

/// Returns the field that a path names, and the remaining path into its value.
fn named(path: &str) -> Option<(&'static Field, &str)> {
    let found = FIELDS.iter().flat_map(|field| {
        let names = std::iter::once(&field.name).chain(field.aliases);
        names.map(move |name| (field, *name))
    });
    found
        .filter_map(|(field, name)| {
            let rest = path.strip_prefix(name)?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('.')? };
            Some((field, rest, name.len()))
        })
        .max_by_key(|(_, _, length)| *length)
        .map(|(field, rest, _)| (field, rest))
}

impl Field {
    /// Returns the field at the start of a path.
    #[must_use]
    pub fn of(path: &str) -> Option<&'static Self> {
        named(path).map(|(field, _)| field)
    }
}

/// Returns the material for a path of a mapping, under the name in the mapping.
pub fn material_of(name: &str, path: &str, focus: Focus<'_>) -> Result<Material, Missing> {
    let (field, rest) = named(path).ok_or_else(|| Missing::new(format!("unknown field {path}")))?;
    let mut material = match (field.of_call, focus.call) {
        (true, None) => {
            return Err(Missing::new(format!("{path} needs a selected call")));
        }
        (true, Some(seen)) => of_call(field.name, rest, seen, focus)?,
        (false, _) => of_run(field.name, focus)?,
    };
    if !rest.is_empty() && !matches!(field.name, "tool_input" | "tool_output") {
        return Err(Missing::new(format!("{} has no parts: {path}", field.name)));
    }
    name.clone_into(&mut material.name);
    material.keys = rest.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    material.keys.push(name.to_owned());
    for piece in &mut material.pieces {
        if let Some(short) = shortened(&piece.text, VALUE) {
            piece.text = short;
            material.left_out = Some("a long text was shortened".to_owned());
        }
    }
    Ok(material)
}

fn of_run(field: &str, focus: Focus<'_>) -> Result<Material, Missing> {
    let Subject { view, context, environment } = focus.subject;
    let spec = |text: Option<String>, what: &str| {
        let text = text.filter(|text| !text.trim().is_empty());
        text.map(|text| Material::of_spec(field, text))
            .ok_or_else(|| Missing::new(format!("the case has no {what}")))
    };
    match field {
        "user_request" => request(focus),
        "available_tools" => {
            let tools = view.trajectory().tools.as_ref();
            let tools = tools.ok_or_else(|| Missing::new("the trace does not record the tools"))?;
            let line = |tool: &toolmark_trace::ToolDefinition| match &tool.description {
                Some(words) => TextPiece::new(format!("{}: {}", tool.name, words.get())),
                None => TextPiece::new(tool.name.get()),
            };
            Ok(Material::of_trace(field, tools.iter().map(line).collect()))
        }
        "output" => {
            let place = view.messages().last().map(|(event, _)| view.place(&event.at));
            let text = view.output()?.into_owned();
            Ok(Material::of_trace(field, vec![TextPiece { place, ..TextPiece::new(text) }]))
        }
        "transcript" => Ok(transcript(view)),
        "steps" => Ok(steps(view)),
        "tool_calls" => Ok(all_calls(field, focus)),
        "case.prompt" => {
            let prompts = (!context.prompts.is_empty()).then(|| context.prompts.join("\n\n"));
            let input = || context.input.as_ref().map(as_text);
            spec(prompts.or_else(input), "prompt")
        }
        "case.criteria" => spec(context.criteria.clone(), "criteria"),
        "case.expected_output" => {
            spec(context.expected_output.as_ref().map(as_text), "expected output")
        }
        "diff" => {
            let stated = || view.trajectory().stated.diff.as_ref().map(|diff| diff.plain().into());
            let diff: Option<String> = environment.diff.as_deref().map(Into::into).or_else(stated);
            let diff = diff.ok_or_else(|| {
                Missing::new("there is no diff of the workspace: --diff-file gives one")
            })?;
            Ok(Material::of_trace(field, vec![TextPiece::new(diff)]))
        }
        _ => Err(Missing::new(format!("unknown field {field}"))),
    }
}

fn of_call(
    field: &str,
    rest: &str,
    seen: IndexedCall<'_>,
    focus: Focus<'_>,
) -> Result<Material, Missing> {
    let view = &focus.subject.view;
    let call = seen.call;
    let of_trace = |text: String| {
        let piece = TextPiece { call: Some(view.call_ref(seen)), ..TextPiece::new(text) };
        Ok(Material::of_trace(field, vec![piece]))
    };
    let result = || call.result.as_ref().and_then(|result| result.payload.as_ref());
    let number = seen.number();
    match field {
        "tool_name" => of_trace(call.name.full().into_owned()),
        "tool_input" => {
            let args = call.args.as_ref();
            let args =
                args.ok_or_else(|| Missing::new(format!("call {number} has no arguments")))?;
            of_trace(part(args, rest, "arguments", number)?)
        }
        "tool_output" => {
            let none = || Missing::new(format!("the trace has no result of call {number}"));
            of_trace(part(result().ok_or_else(none)?, rest, "result", number)?)
        }
        "error_message" if !call.status.is_error() => {
            Err(Missing::new(format!("call {number} did not fail")))
        }
        "error_message" => {
            let text = result().map(|payload| payload.plain().into_owned());
            of_trace(text.unwrap_or_else(|| call.status.word().to_owned()))
        }
        "status" => of_trace(call.status.word().to_owned()),
        "exit_code" => match call.exit_code {
            Some(code) => of_trace(code.to_string()),
            None => Err(Missing::new(format!("the trace has no exit code of call {number}"))),
        },
        "pre_tool_call_turn" => said(field, before(seen, focus)?, focus, "before this call"),
        "post_tool_call_turn" => said(field, after(seen, focus)?, focus, "after this call"),
        "previous_calls" => Ok(near(field, focus, false)),
        "next_calls" => Ok(near(field, focus, true)),
        _ => Err(Missing::new(format!("unknown field {field}"))),
    }
}

/// Returns a value, or the part of it at a path.
fn part(payload: &Payload, path: &str, what: &str, number: usize) -> Result<String, Missing> {
    if path.is_empty() {
        return Ok(if what == "result" { payload.plain() } else { payload.raw() }.into_owned());
    }
    let none = || Missing::new(format!("the {what} of call {number} have no {path}"));
    let mut value = payload.parsed().ok_or_else(none)?;
    for key in path.split('.') {
        let inner = match value {
            Value::Object(map) => map.get(key),
            Value::Array(items) => key.parse::<usize>().ok().and_then(|n| items.get(n)),
            _ => None,
        };
        value = inner.ok_or_else(none)?;
    }
    Ok(as_text(value))
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the index of the event of a call, if there is one.
fn event_of(seen: IndexedCall<'_>, events: &[Event]) -> Option<usize> {
    events.iter().position(|event| event.kind == EventKind::Call(seen.index as u32))
}

fn request(focus: Focus<'_>) -> Result<Material, Missing> {
    let Subject { view, context, .. } = focus.subject;
    let events = &view.trajectory().events;
    let asked = |event: &&Event| event.starts_turn() && event.text.is_some();
    let found = match focus.call.and_then(|seen| event_of(seen, events)) {
        Some(at) => events.get(..at).unwrap_or_default().iter().rev().find(asked),
        None => view.events().iter().find(asked),
    };
    if let Some(event) = found {
        let text = event.text.as_ref().map(Payload::plain).unwrap_or_default().into_owned();
        let piece = TextPiece { place: Some(view.place(&event.at)), ..TextPiece::new(text) };
        return Ok(Material::of_trace("user_request", vec![piece]));
    }
    match context.prompts.as_slice() {
        [] => Err(Missing::new("neither the trace nor the case says what the user asked")),
        prompts => Ok(Material::of_spec("user_request", prompts.join("\n\n"))),
    }
}

/// Returns the agent's last text before a call: in the same response, otherwise in the user's
/// turn.
fn before<'a>(seen: IndexedCall<'a>, focus: Focus<'a>) -> Result<Vec<&'a Event>, Missing> {
    let (at, events) = around(seen, focus)?;
    let earlier = events.get(..at).unwrap_or_default();
    let in_turn = || earlier.iter().rev().take_while(|event| !event.starts_turn());
    let messages = || in_turn().filter(|event| event.kind == EventKind::Message);
    let step = seen.call.step;
    let mut said: Vec<_> =
        messages().filter(|event| step.is_some() && event.step == step).collect();
    if said.is_empty() {
        said.extend(messages().next());
    }
    said.reverse();
    Ok(said)
}

/// Returns the agent's next two texts after a call, up to the next user message.
fn after<'a>(seen: IndexedCall<'a>, focus: Focus<'a>) -> Result<Vec<&'a Event>, Missing> {
    let (at, events) = around(seen, focus)?;
    let later = events.get(at + 1..).unwrap_or_default();
    let in_turn = later.iter().take_while(|event| !event.starts_turn());
    Ok(in_turn.filter(|event| event.kind == EventKind::Message).take(2).collect())
}

fn around<'a>(seen: IndexedCall<'a>, focus: Focus<'a>) -> Result<(usize, &'a [Event]), Missing> {
    let run = focus.subject.view.trajectory();
    if run.fidelity.lacks(Fact::Messages) {
        return Err(Missing::new("the trace does not record what the model said"));
    }
    let at = event_of(seen, &run.events);
    let at = at.ok_or_else(|| Missing::new("the trace does not say when the call was made"))?;
    Ok((at, &run.events))
}

fn said(
    field: &str,
    events: Vec<&Event>,
    focus: Focus<'_>,
    when: &str,
) -> Result<Material, Missing> {
    let view = &focus.subject.view;
    let piece = |event: &Event| TextPiece {
        text: event.text.as_ref().map(Payload::plain).unwrap_or_default().into_owned(),
        place: Some(view.place(&event.at)),
        ..TextPiece::default()
    };
    let pieces: Vec<TextPiece> =
        events.into_iter().map(piece).filter(|piece| !piece.text.trim().is_empty()).collect();
    // Silence is a fact of the trace, but cannot be quoted.
    Ok(match pieces.is_empty() {
        true => Material::of_spec(field, format!("(the agent said nothing {when})")),
        false => Material::of_trace(field, pieces),
    })
}

/// Returns the calls around the one in question, with their results.
fn near(field: &str, focus: Focus<'_>, later: bool) -> Material {
    let view = &focus.subject.view;
    let index = focus.call.map_or(0, |seen| seen.index);
    let calls = view.calls();
    let at = calls.partition_point(|seen| seen.index < index);
    let chosen = match later {
        true => calls.iter().skip(at + 1).take(CALLS).copied().collect::<Vec<_>>(),
        false => calls[at.saturating_sub(CALLS)..at].to_vec(),
    };
    let pieces: Vec<TextPiece> =
        chosen.into_iter().flat_map(|seen| near_call(seen, focus)).collect();
    match pieces.is_empty() {
        true => {
            let when = if later { "after" } else { "before" };
            Material::of_spec(field, format!("(there is no call {when} it)"))
        }
        false => Material::of_trace(field, pieces),
    }
}

/// Returns all calls of the run, with their results.
fn all_calls(field: &str, focus: Focus<'_>) -> Material {
    let calls = focus.subject.view.calls();
    let mut pieces: Vec<TextPiece> =
        calls.iter().flat_map(|seen| near_call(*seen, focus)).collect();
    if pieces.is_empty() {
        return Material::of_spec(field, "(the agent made no calls)");
    }
    let left_out = fit(&mut pieces);
    let mut material = Material::of_trace(field, pieces);
    let words = format!("{left_out} entries in the middle were left out");
    material.left_out = (left_out > 0).then_some(words);
    material
}

/// Returns a call and its result as separate entries, since only the call is written by the
/// agent.
fn near_call(seen: IndexedCall<'_>, focus: Focus<'_>) -> [TextPiece; 2] {
    let short = |text: &str| shortened(text, NEAR).unwrap_or_else(|| text.to_owned());
    let call = seen.call;
    let args = short(&call.args.as_ref().map(Payload::raw).unwrap_or_default());
    let result = call.result.as_ref().and_then(|result| result.payload.as_ref());
    let result = short(&result.map(Payload::plain).unwrap_or_default());
    let (number, tool, status) = (seen.number(), call.name.full(), call.status.word());
    let labelled = |label: String, text: String| TextPiece {
        call: Some(focus.subject.view.call_ref(seen)),
        ..TextPiece::labelled(label, text)
    };
    [
        labelled(format!("call {number}"), format!("{tool} {args}")),
        labelled(format!("result of call {number}: {status}"), result),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{CaseContext, Environment};
    use crate::testing::{runs, vally};
    use crate::view::TrajectoryView;
    use serde_json::json;

    fn trace() -> String {
        let call = |id: &str, tool: &str, args: Value| {
            ("tool_call", json!({"toolCallId": id, "toolName": tool, "arguments": args}))
        };
        let result = |id: &str, ok: bool, text: &str| {
            ("tool_result", json!({"toolCallId": id, "success": ok, "result": text}))
        };
        vally(&[
            ("user_message", json!({"content": "Fix the typo in a.txt"})),
            ("turn_start", json!({"turnId": "0"})),
            ("assistant_message", json!({"content": "I read it first."})),
            call("a", "Read", json!({"file_path": "a.txt"})),
            result("a", true, "teh cat"),
            ("turn_end", json!({"turnId": "0"})),
            ("turn_start", json!({"turnId": "1"})),
            call("b", "Edit", json!({"file_path": "a.txt", "edits": [{"old": "teh"}]})),
            result("b", false, "no match"),
            ("assistant_message", json!({"content": "It failed."})),
            ("turn_end", json!({"turnId": "1"})),
        ])
    }

    #[test]
    fn fields_of_a_call() {
        let trace = runs(&trace());
        let (context, environment) = (CaseContext::default(), Environment::default());
        let view = TrajectoryView::whole(&trace[0]);
        let subject = Subject { view, context: &context, environment: &environment };
        let call = subject.view.calls().get(1).copied();
        let focus = Focus { subject: &subject, call };
        for (path, want) in [
            ("user_input", Ok("Fix the typo in a.txt")),
            ("tool_name", Ok("Edit")),
            ("tool_input.file_path", Ok("a.txt")),
            ("tool_input.edits.0.old", Ok("teh")),
            ("tool_input.new", Err("the arguments of call 2 have no new")),
            ("error_message", Ok("no match")),
            ("pre_tool_call_turn", Ok("I read it first.")),
            ("next_turn", Ok("It failed.")),
            ("next_calls", Ok("(there is no call after it)")),
            ("previous_calls", Ok("Read {")),
            ("tool_calls", Ok("Read {")),
            ("exit_code", Err("the trace has no exit code of call 2")),
            ("output", Ok("It failed.")),
            ("expected_output", Err("the case has no expected output")),
            ("user_input.x", Err("user_request has no parts: user_input.x")),
            ("nonsense", Err("unknown field nonsense")),
        ] {
            let got = material_of("m", path, focus);
            let got = got.as_ref().map(|material| material.pieces[0].text.as_str());
            let got = got.map_err(|missing| missing.0.as_str());
            match (got, want) {
                (Ok(got), Ok(want)) => assert!(got.starts_with(want), "{path}: {got}"),
                (got, want) => assert_eq!(got, want, "{path}"),
            }
        }
        let alone = Focus { subject: &subject, call: None };
        assert!(material_of("m", "tool_name", alone).is_err());
        let silent = Focus { subject: &subject, call: subject.view.calls().first().copied() };
        assert!(material_of("m", "error_message", silent).is_err());
    }

    #[test]
    fn names_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for field in FIELDS {
            for name in std::iter::once(&field.name).chain(field.aliases) {
                assert!(seen.insert(*name), "two fields are called {name}");
            }
        }
    }
}
