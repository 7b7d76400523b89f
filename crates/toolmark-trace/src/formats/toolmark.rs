//! toolmark's own JSON, written by `toolmark convert --to toolmark`: one trajectory per line,
//! with the complete model.
//!
//! Reading restores the trajectory that was written: `format`, `file` and all positions are
//! those of the trace it was first read from. Nothing is paired or derived again. Invalid
//! indexes and excessively nested sub-agents are reported and left out.

use super::shared::readers::each_record;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::formats::FORMATS;
use crate::model::MAX_DEPTH;
use crate::model::{
    Actor, Agent, At, Call, CallResult, Completeness, Convention, Cost, DeclaredOutcome, Event,
    EventKind, ExpectedCall, Fact, Fidelity, Location, Move, Parent, Payload, RunDeclaration,
    Stated, Status, StatusLevel, Step, TaskExpectation, Text, ToolDefinition, ToolName, Trajectory,
    Usage, UsageTokens, time,
};
use jiff::SignedDuration;
use std::sync::Arc;
use toolmark_scan::Value;

/// Schema version that this reader and the exporter use.
pub(crate) const SCHEMA: &str = "toolmark.trajectory.v1";

/// toolmark's own JSON.
pub(crate) struct ToolmarkFormat;

static INFO: FormatInfo = FormatInfo {
    id: "toolmark",
    title: "toolmark trajectory",
    origin: "toolmark convert --to toolmark",
    versions: "1",
    looks_for: "objects with schema toolmark.trajectory.v1",
    fidelity: Fidelity::FULL,
};

impl Format for ToolmarkFormat {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let schema = probe.first().and_then(|r| r.get("schema")).and_then(Value::inner);
        match schema {
            Some(SCHEMA) => 100,
            Some(other) if other.starts_with("toolmark.trajectory.") => 40,
            _ => 0,
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let value = record.json().filter(|v| v.field_is("schema", SCHEMA));
    match value {
        Some(value) => {
            let run = RecordContext { record, file: Arc::clone(record.file()) }.run(value, 0, out);
            out.push(run);
        }
        None => out.skip(&record.at(), format!("not an object with schema {SCHEMA}")),
    }
}

/// Context of a trajectory: its record, and the file its positions refer to.
struct RecordContext<'a> {
    record: &'a Record<'a>,
    file: Arc<str>,
}

impl RecordContext<'_> {
    fn run(mut self, value: Value<'_>, depth: usize, out: &mut Out) -> Trajectory {
        // Positions refer to the file, so it is read first, wherever the member is.
        if let Some(file) = value.get("file").and_then(Value::str) {
            self.file = Arc::from(&*file);
        }
        let record = self.record;
        let mut run = Trajectory { file: Arc::clone(&self.file), ..empty() };
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "format" => run.format = self.format(value, out),
                "id" => run.id = record.text(value),
                "name" => run.name = record.text(value),
                "agent" => run.agent = self.agent(value),
                "parent" if value.is_object() => run.parent = Some(self.parent(value)),
                "cwd" => run.cwd = record.text(value),
                "moves" => {
                    run.moves = value.items().filter_map(|v| self.moved(v)).collect();
                    run.moves_recorded = true;
                }
                "started" => run.started = time::from_value(value),
                "ended" => run.ended = time::from_value(value),
                "outcome" => run.outcome = record.text(value),
                "declared" => run.declared = self.declared(value),
                "user_turns" => run.user_turns = count(value).unwrap_or(0),
                "orphans" => run.orphans = count(value).unwrap_or(0),
                "failed_orphans" => run.failed_orphans = count(value).unwrap_or(0),
                "repeated_results" => run.repeated_results = count(value).unwrap_or(0),
                "relayed" => run.relayed = value.as_bool() == Some(true),
                "usage" => run.usage = usage(value),
                "cost" => run.cost = cost(value),
                "stated" => run.stated = self.stated(value),
                "fidelity_gaps" => run.fidelity = fidelity(value),
                "completeness" => run.completeness = self.completeness(value),
                "tools" if value.is_array() => {
                    run.tools = Some(value.items().map(|v| self.tool(v)).collect());
                }
                "steps" => run.steps = value.items().map(|v| self.step(v)).collect(),
                "calls" => run.calls = value.items().map(|v| self.call(v)).collect(),
                "events" => run.events = value.items().map(|v| self.event(v)).collect(),
                "children" => run.children = self.children(value, depth, out),
                _ => {}
            }
        }
        self.check_indexes(&mut run, out);
        run
    }

    fn children(&self, value: Value<'_>, depth: usize, out: &mut Out) -> Vec<Trajectory> {
        if depth >= MAX_DEPTH && value.items().next().is_some() {
            let message = format!("sub-agents nested more than {MAX_DEPTH} deep were left out");
            out.skip(&self.record.at_value(value), message);
            return Vec::new();
        }
        let child = |value| {
            let line = RecordContext { record: self.record, file: Arc::clone(self.record.file()) };
            line.run(value, depth + 1, out)
        };
        value.items().map(child).collect()
    }

    fn completeness(&self, value: Value<'_>) -> Completeness {
        Completeness {
            truncated: value.get("truncated").and_then(Value::as_bool) == Some(true),
            skipped_records: value.get("skipped_records").and_then(Value::as_u64).unwrap_or(0),
            declared_error: self.record.text_at(value, "declared_error"),
            shared_ids: value.get("shared_ids").and_then(Value::as_u64).unwrap_or(0),
        }
    }

    /// Returns the ID of a known format; toolmark's own for an unknown format.
    fn format(&self, value: Value<'_>, out: &mut Out) -> &'static str {
        if let Some(format) = FORMATS.iter().find(|f| value.is(f.info().id)) {
            return format.info().id;
        }
        out.note(&self.record.at_value(value), "first read from a format this version has not");
        INFO.id
    }

    fn agent(&self, value: Value<'_>) -> Agent {
        let text = |key| self.record.text_at(value, key);
        Agent { name: text("name"), version: text("version"), model: text("model") }
    }

    fn parent(&self, value: Value<'_>) -> Parent {
        let text = |key| self.record.text_at(value, key);
        Parent { trajectory: text("trajectory"), call: text("call") }
    }

    fn stated(&self, value: Value<'_>) -> Stated {
        let mut stated = Stated::default();
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "output" => stated.output = self.payload(value),
                "calls" => stated.calls = value.as_u64(),
                "responses" => stated.responses = value.as_u64(),
                "errors" => stated.errors = value.as_u64(),
                "duration_ns" => stated.duration = duration(value),
                "workspace" => stated.workspace = self.record.text(value),
                "artifacts" => stated.artifacts = self.record.text(value),
                "diff" => stated.diff = self.payload(value),
                "row" => stated.row = self.payload(value),
                "expected" => stated.expected = Some(self.expected(value)),
                _ => {}
            }
        }
        stated
    }

    fn expected(&self, value: Value<'_>) -> TaskExpectation {
        let texts =
            |value: Value<'_>| value.items().filter_map(|it| self.record.text(it)).collect();
        let call = |call: Value<'_>| {
            Some(ExpectedCall {
                name: self.record.text_at(call, "name")?,
                args: self.payload(call.get("args")?)?,
                compared: call.get("compared").map(texts),
                at: call.get("at").map_or_else(|| self.place(call), |at| self.at(at)),
            })
        };
        TaskExpectation {
            calls: value.items_at("calls").filter_map(call).collect(),
            answers: value.get("answers").map(texts).unwrap_or_default(),
        }
    }

    fn tool(&self, value: Value<'_>) -> ToolDefinition {
        ToolDefinition {
            name: self.record.text_at(value, "name").unwrap_or_else(|| Text::owned("")),
            description: self.record.text_at(value, "description"),
            schema: value.get("schema").and_then(|v| self.payload(v)),
        }
    }

    fn step(&self, value: Value<'_>) -> Step {
        let at = self.place(value);
        let mut step =
            Step { id: None, model: None, time: None, usage: None, turn: 0, complete: true, at };
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "id" => step.id = self.record.text(value),
                "model" => step.model = self.record.text(value),
                "time" => step.time = time::from_value(value),
                "usage" => step.usage = usage(value),
                "turn" => step.turn = count(value).unwrap_or(0),
                "complete" => step.complete = value.as_bool() != Some(false),
                "at" => step.at = self.at(value),
                _ => {}
            }
        }
        step
    }

    fn call(&self, value: Value<'_>) -> Call {
        let mut call = Call {
            id: None,
            name: ToolName::new(""),
            args: None,
            result: None,
            status: Status::Unknown,
            level: StatusLevel::Absent,
            exit_code: None,
            started: None,
            duration: None,
            duration_stated: false,
            step: None,
            actor: Actor::Agent,
            agent: None,
            spawned: None,
            at: self.place(value),
        };
        let record = self.record;
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "id" => call.id = record.text(value),
                "name" => {
                    call.name.original = record.text(value).unwrap_or_else(|| Text::owned(""));
                }
                "namespace" => call.name.namespace = record.text(value),
                "args" => call.args = self.payload(value),
                "result" if value.is_object() => call.result = Some(self.result(value)),
                "status" => {
                    call.status = value.inner().and_then(Status::from_word).unwrap_or(call.status)
                }
                "level" => {
                    call.level =
                        value.inner().and_then(StatusLevel::from_word).unwrap_or(call.level)
                }
                "exit_code" => call.exit_code = value.as_i64(),
                "started" => call.started = time::from_value(value),
                "duration_ns" => call.duration = duration(value),
                "duration_stated" => call.duration_stated = value.as_bool() == Some(true),
                "step" => call.step = count(value),
                "actor" => {
                    call.actor = value.inner().and_then(Actor::from_word).unwrap_or(call.actor)
                }
                "agent" => call.agent = record.text(value),
                "spawned" => call.spawned = record.text(value),
                "at" => call.at = self.at(value),
                _ => {}
            }
        }
        call
    }

    fn result(&self, value: Value<'_>) -> CallResult {
        CallResult {
            payload: value.get("payload").and_then(|v| self.payload(v)),
            time: value.get("time").and_then(time::from_value),
            at: value.get("at").map_or_else(|| self.place(value), |v| self.at(v)),
        }
    }

    fn event(&self, value: Value<'_>) -> Event {
        let (mut kind, mut call, mut name) = ("", None, None);
        let mut event = Event {
            kind: EventKind::Message,
            text: None,
            label: None,
            time: None,
            step: None,
            at: self.place(value),
        };
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "kind" => kind = value.inner().unwrap_or(""),
                "call" => call = count(value),
                "record" => name = self.record.text(value),
                "text" => event.text = self.payload(value),
                "label" => event.label = self.record.text(value),
                "time" => event.time = time::from_value(value),
                "step" => event.step = count(value),
                "at" => event.at = self.at(value),
                _ => {}
            }
        }
        let name = || name.unwrap_or_else(|| Text::owned(""));
        event.kind = match (kind, call) {
            ("user", _) => EventKind::User,
            ("context", _) => EventKind::Context,
            ("message", _) => EventKind::Message,
            ("reasoning", _) => EventKind::Reasoning,
            ("call", Some(call)) => EventKind::Call(call),
            ("result", Some(call)) => EventKind::Result(call),
            ("orphan_result", _) => EventKind::OrphanResult,
            ("skill", _) => EventKind::Skill,
            ("compaction", _) => EventKind::Compaction,
            ("error", _) => EventKind::Error,
            ("unknown", _) => EventKind::Unknown(name()),
            ("note", _) => EventKind::Note(name()),
            (other, _) => EventKind::Unknown(Text::owned(format!("event/{other}"))),
        };
        event
    }

    fn payload(&self, value: Value<'_>) -> Option<Payload> {
        value.fields().find_map(|(key, value)| match key.inner()? {
            "text" => Some(Payload::text(self.record.text(value)?)),
            "json" => Some(Payload::json(self.record.verbatim(value))),
            "raw" => Some(Payload::json(Text::owned(value.str()?))),
            _ => None,
        })
    }

    /// Returns the position of a value in the file being read, for values without a recorded
    /// location.
    fn place(&self, value: Value<'_>) -> At {
        self.record.at_value(value)
    }

    /// A recorded place.
    fn moved(&self, value: Value<'_>) -> Option<Move> {
        let call = usize::try_from(value.get("call")?.as_u64()?).ok()?;
        Some(Move { call, to: self.record.text_at(value, "to")? })
    }

    fn declared(&self, value: Value<'_>) -> Option<RunDeclaration> {
        let at = value.get("at").map(|at| self.at(at));
        Some(RunDeclaration {
            outcome: DeclaredOutcome::from_word(value.word("outcome"))?,
            says: self.record.text_at(value, "says")?,
            at: at.unwrap_or_else(|| self.record.at_value(value)),
        })
    }

    fn at(&self, value: Value<'_>) -> At {
        let mut place = Location { file: Arc::clone(&self.file), line: 0, column: 0, byte: 0 };
        for (key, value) in value.fields() {
            match key.inner().unwrap_or("") {
                "file" => place.file = value.str().map_or(place.file, |f| Arc::from(&*f)),
                "line" => place.line = count(value).unwrap_or(0),
                "column" => place.column = count(value).unwrap_or(0),
                "byte" => place.byte = value.as_u64().unwrap_or(0),
                _ => {}
            }
        }
        At::recorded(&place)
    }

    /// Validates the indexes, which other code uses without checks.
    fn check_indexes(&self, run: &mut Trajectory, out: &mut Out) {
        let (calls, steps) = (run.calls.len(), run.steps.len());
        let mut wrong = 0;
        let mut check = |step: &mut Option<u32>| {
            if step.is_some_and(|s| s as usize >= steps) {
                *step = None;
                wrong += 1;
            }
        };
        run.calls.iter_mut().for_each(|call| check(&mut call.step));
        run.events.iter_mut().for_each(|event| check(&mut event.step));
        for event in &mut run.events {
            let word = event.kind.word();
            if let EventKind::Call(index) | EventKind::Result(index) = event.kind
                && index as usize >= calls
            {
                event.kind = EventKind::Unknown(Text::owned(format!("event/{word}")));
                wrong += 1;
            }
        }
        if wrong > 0 {
            let message = format!("{wrong} indexes of calls or steps that do not exist");
            out.skip(&self.record.at(), message);
        }
    }
}

fn empty() -> Trajectory {
    Trajectory::empty(INFO.id, Arc::from(""), Fidelity::FULL)
}

fn count(value: Value<'_>) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}

fn duration(value: Value<'_>) -> Option<SignedDuration> {
    let nanos: i128 = value.raw().parse().ok()?;
    let seconds = i64::try_from(nanos / 1_000_000_000).ok()?;
    Some(SignedDuration::new(seconds, (nanos % 1_000_000_000) as i32))
}

fn usage(value: Value<'_>) -> Option<Usage> {
    if !value.is_object() {
        return None;
    }
    let mut usage = Usage::new(UsageTokens::default(), Convention::INCLUSIVE);
    for (key, value) in value.fields() {
        let tokens = &mut usage.recorded;
        let slot = match key.inner().unwrap_or("") {
            "input" => &mut tokens.input,
            "output" => &mut tokens.output,
            "cache_read" => &mut tokens.cache_read,
            "cache_write" => &mut tokens.cache_write,
            "cache_write_1h" => &mut tokens.cache_write_1h,
            "reasoning" => &mut tokens.reasoning,
            "stated_total" => {
                usage.stated_total = value.as_u64();
                continue;
            }
            "input_includes_cache" => {
                usage.convention.input_includes_cache = value.as_bool() == Some(true);
                continue;
            }
            "output_includes_reasoning" => {
                usage.convention.output_includes_reasoning = value.as_bool() == Some(true);
                continue;
            }
            _ => continue,
        };
        *slot = value.as_u64().unwrap_or(0);
    }
    Some(usage)
}

fn cost(value: Value<'_>) -> Option<Cost> {
    Some(Cost { nano_usd: value.get("nano_usd")?.as_i64()? })
}

fn fidelity(value: Value<'_>) -> Fidelity {
    let mut fidelity = Fidelity::FULL;
    for word in value.items() {
        if let Some(fact) = word.inner().and_then(Fact::from_word) {
            fidelity.lose(fact);
        }
    }
    fidelity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::exporter_by_id;
    use crate::export::testing::{everything, export};
    use crate::testing::{read_text, sketch};
    use proptest::prelude::*;

    fn written(run: &Trajectory) -> String {
        export(exporter_by_id("toolmark").unwrap(), run).0
    }

    #[test]
    fn what_was_written_is_read() {
        let before = everything();
        let text = written(&before);
        let read = read_text(&text);
        assert_eq!((read.format, read.skipped, read.runs.len()), ("toolmark", 0, 1));
        let after = &read.runs[0];
        assert_eq!(sketch(after), sketch(&before));
        assert_eq!(after.format, "claude-code");
        assert_eq!(after.calls[0].at.location(), before.calls[0].at.location());
        assert_eq!(after.calls[2].duration, before.calls[2].duration);
        assert_eq!(after.usage, before.usage);
        assert_eq!(after.fidelity, before.fidelity);
        assert_eq!(written(after), text);
    }

    #[test]
    fn several_trajectories_are_several_lines() {
        let text = written(&everything()).repeat(3);
        let read = read_text(&text);
        assert_eq!(read.runs.iter().map(written).collect::<String>(), text);
    }

    #[test]
    fn pretty_printed_reads_the_same() {
        let text = written(&everything());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(written(&read_text(&pretty).runs[0]), text);
    }

    #[test]
    fn wrong_types_and_indexes_do_no_harm() {
        let read = read_text(
            r#"{"schema":"toolmark.trajectory.v1","format":7,"file":[],"agent":3,"started":{},"usage":[],"cost":{"nano_usd":"x"},"fidelity_gaps":[1,"cost","new"],"tools":[4],"steps":[null],"calls":[{"name":5,"args":"x","result":{"payload":{"json":null}},"status":"odd","step":9,"at":1},"call"],"events":[{"kind":"call","call":0,"step":0},{"kind":"call","call":5},{"kind":"result"},{"kind":"dance","text":{"text":"!"}},{"kind":"note"},9],"children":[{"children":1}]}
{"schema":"toolmark.trajectory.v1"}
{"schema":"other"}
[]"#,
        );
        assert_eq!((read.runs.len(), read.skipped), (2, 3));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call   -> unknown(absent): null\nunknown event/call\nunknown event/result\n\
             unknown event/dance\nnote \nunknown event/\nsub-agent \n"
        );
        assert_eq!(run.fidelity, Fidelity::lacking(&[Fact::Cost]));
        assert_eq!(run.calls[0].step, None);
        assert_eq!((run.format, &*run.file), ("toolmark", "test"));
    }

    #[test]
    fn deep_nesting_ends() {
        let open = "{\"schema\":\"toolmark.trajectory.v1\",\"children\":[";
        let text = format!("{}{}", open.repeat(5000), "]}".repeat(5000));
        let read = read_text(&text);
        assert_eq!((read.runs.len(), read.skipped), (1, 1));
        assert_eq!(read.runs[0].flatten().len(), MAX_DEPTH + 1);
    }

    #[test]
    fn another_version_is_not_read_but_named() {
        let text = r#"{"schema":"toolmark.trajectory.v9"}"#;
        let error =
            crate::read(text.as_bytes(), "t", &crate::ReadOptions::default()).err().unwrap();
        let hint = crate::Diagnostic::from_error(&error).hint.unwrap();
        assert!(hint.contains("closest format is toolmark"), "{hint}");
    }

    proptest! {
        #[test]
        fn any_text_and_number_survives(
            words in "\\PC*|[\\x00-\\x1f\\\\\"]*",
            args in "\\PC*",
            tokens in any::<u64>(),
            exit in any::<Option<i64>>(),
            second in any::<u32>(),
            nanos in 0i32..1_000_000_000,
            line in any::<u32>(),
            byte in any::<u64>(),
        ) {
            let mut run = everything();
            run.events[0].text = Some(Payload::text(Text::owned(words.as_str())));
            run.events[0].time = jiff::Timestamp::new(i64::from(second) - 9_999_999, nanos).ok();
            let place = Location { file: "else".into(), line, column: 1, byte };
            run.events[0].at = At::recorded(&place);
            run.calls[0].args = Some(Payload::json(Text::owned(args.as_str())));
            run.calls[0].exit_code = exit;
            run.calls[0].duration = Some(SignedDuration::new(i64::from(line) * 1000, nanos));
            run.usage.as_mut().unwrap().recorded.input = tokens;
            run.cost = Some(Cost { nano_usd: byte as i64 });
            let text = written(&run);
            let read = read_text(&text);
            let back = &read.runs[0];
            prop_assert_eq!(&written(back), &text);
            prop_assert_eq!(back.events[0].text.as_ref().unwrap().raw(), words);
            prop_assert_eq!(back.calls[0].args.as_ref().unwrap().raw(), args);
            prop_assert_eq!(back.events[0].time, run.events[0].time);
            prop_assert_eq!(back.events[0].at.location(), place);
            prop_assert_eq!(back.calls[0].duration, run.calls[0].duration);
            prop_assert_eq!(back.usage, run.usage);
        }
    }
}
