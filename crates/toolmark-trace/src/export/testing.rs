//! Helpers for tests of exporters.

use super::{Exporter, Losses};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Format, FormatInfo};
use crate::formats::FORMATS;
use crate::model::{
    Actor, At, Convention, Cost, DeclaredOutcome, EventKind, ExpectedCall, Fact, Location, Parent,
    Payload, RunDeclaration, Stated, Status, StatusLevel, TaskExpectation, Text, ToolDefinition,
    ToolName, Trajectory, Usage, UsageTokens,
};
use jiff::{SignedDuration, Timestamp};

/// Returns the output of an exporter for a trajectory.
pub(crate) fn export(exporter: &dyn Exporter, run: &Trajectory) -> (String, Losses) {
    let mut out = Vec::new();
    let losses = exporter.export(run, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), losses)
}

/// Parses the lines of an export, each of which must be a JSON object.
pub(crate) fn lines(text: &str) -> Vec<serde_json::Value> {
    let values: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(values.iter().all(serde_json::Value::is_object));
    values
}

fn info() -> &'static FormatInfo {
    let claude = FORMATS.iter().find(|f| f.info().id == "claude-code");
    claude.map(|f: &&dyn Format| f.info()).unwrap()
}

fn time(second: u8) -> Option<Timestamp> {
    format!("2026-03-04T05:06:{second:02}.250Z").parse().ok()
}

fn at(line: u32) -> At {
    At::recorded(&Location { file: "s.jsonl".into(), line, column: 7, byte: u64::from(line) * 100 })
}

fn text(words: &str) -> Option<Payload> {
    Some(Payload::text(Text::owned(words)))
}

fn json(json: &str) -> Option<Payload> {
    Some(Payload::json(Text::owned(json)))
}

fn new_call(id: &str, name: &str, args: Option<Payload>, step: Option<u32>, line: u32) -> NewCall {
    NewCall {
        id: (!id.is_empty()).then(|| Text::owned(id)),
        name: ToolName::new(name),
        args,
        step,
        time: time(line as u8),
        at: at(line),
    }
}

/// Returns a trajectory that contains every kind of event, every status, every form of
/// payload, and a sub-agent.
///
/// Calls: 0 `Bash` failed with exit code 2, 1 `Read` succeeded, 2 `search` (namespace
/// `mcp__web__`, by the provider) unknown, 3 `Task` denied, 4 and 5 `Bash` interrupted and
/// unanswered, by the user and without step.
pub(crate) fn everything() -> Trajectory {
    let mut b = TrajectoryBuilder::new(info(), "s.jsonl".into());
    b.run.id = Some("run \u{201c}1\u{201d}".into());
    b.run.name = Some("fix the build".into());
    b.run.agent.name = Some("claude-code".into());
    b.run.agent.version = Some("2.1.0".into());
    b.run.cwd = Some("/w".into());
    b.run.outcome = Some("success".into());
    let outcome = DeclaredOutcome::Passed;
    b.run.declare(RunDeclaration { outcome, says: "reward 1".into(), at: at(27) });
    b.run.parent = Some(Parent { trajectory: Some("outer".into()), call: Some("c0".into()) });
    b.run.cost = Cost::from_usd(0.123_456_789);
    b.run.fidelity.lose(Fact::ExitCodes);
    b.run.stated = Stated {
        output: text("Now."),
        calls: Some(6),
        responses: Some(2),
        errors: Some(1),
        duration: Some(SignedDuration::new(20, 5)),
        workspace: Some("local".into()),
        artifacts: Some("/a".into()),
        diff: text("--- a\n+++ b\n"),
        row: json(r#"{"n":1}"#),
        expected: Some(TaskExpectation {
            calls: vec![ExpectedCall {
                name: "book".into(),
                args: Payload::json(r#"{"id":"7"}"#.into()),
                compared: Some(vec!["id".into()]),
                at: at(2),
            }],
            answers: vec!["42".into()],
        }),
    };
    b.run.repeated_results = 1;
    b.run.completeness.skipped_records = 2;
    b.run.completeness.declared_error = Some("out of credit".into());
    b.run.tools = Some(vec![
        ToolDefinition {
            name: "Bash".into(),
            description: Some("Runs a command".into()),
            schema: json(r#"{"type":"object"}"#),
        },
        ToolDefinition { name: "Read".into(), description: None, schema: None },
    ]);
    b.event(EventKind::Note("mode".into()), text("plan"), None, time(4), at(4));
    b.event(EventKind::Context, text("Be careful."), None, None, Text::owned("").at());
    b.user(json(r#"[{"type":"text","text":"fix it"},{"type":"image"}]"#), time(5), at(5));
    first_step(&mut b);
    second_step(&mut b);
    b.orphan(ReaderResult::new(text("nobody asked"), at(20)).time(time(20)));
    b.event(EventKind::Compaction, text("summary"), None, time(21), at(21));
    b.label("context_compaction");
    b.event(EventKind::Error, text("overloaded"), None, time(22), at(22));
    b.event(EventKind::Unknown("brand-new".into()), json("{\"a\":[1]}"), None, time(23), at(23));
    b.user(text("thanks"), time(24), at(24));
    users_calls(&mut b);
    let mut run = b.finish();
    run.children.push(sub_agent());
    run
}

fn first_step(b: &mut TrajectoryBuilder) {
    let step = b.step(Some("m1".into()), time(6), at(6));
    let this = &mut b.run.steps[step as usize];
    this.model = Some("claude-x".into());
    let tokens = UsageTokens {
        input: 3,
        output: 20,
        cache_read: 100,
        cache_write: 50,
        cache_write_1h: 0,
        reasoning: 4,
    };
    this.usage = Some(Usage::new(tokens, Convention::ANTHROPIC));
    b.reasoning(step, text("Look first."), time(6), at(6));
    b.message(step, Payload::text("I will look.\n\u{1f600} \"quoted\"".into()), time(6), at(7));
    b.message(step, Payload::text("Now.".into()), time(6), at(7));
    b.call(new_call("c1", "Bash", json(r#"{"command":"ls","n":1.0}"#), Some(step), 8));
    b.call(new_call("c2", "Read", text(r#"{"path":"a"}"#), Some(step), 9));
    let search = b.call(new_call("c3", "search", json("{\"n\":NaN}"), Some(step), 10));
    b.run.calls[search as usize].name.namespace = Some("mcp__web__".into());
    b.run.calls[search as usize].actor = Actor::Provider;
    b.event(EventKind::Skill, text("builder"), Some(step), time(10), at(10));
    let failed =
        ReaderResult::new(text("Exit code 2\nno"), at(11)).protocol(true).exit_code(Some(2));
    b.answer("c1", failed.time(time(11)));
    let blocks =
        json("[{\"type\":\"text\",\n\"text\":\"line\"},{\"type\":\"text\",\"text\":\"two\"}]");
    b.answer("c2", ReaderResult::new(blocks, at(12)).protocol(false).time(time(12)));
    b.answer("c3", ReaderResult::new(None, at(13)).duration(SignedDuration::new(1, 5).into()));
    let usage = b.run.steps[step as usize].usage;
    b.run.usage = usage.map(|usage| Usage { stated_total: Some(177), ..usage });
}

fn second_step(b: &mut TrajectoryBuilder) {
    let step = b.step(None, time(14), at(14));
    let task = b.call(new_call("c4", "Task", None, Some(step), 15));
    b.run.calls[task as usize].spawned = Some("sub".into());
    b.run.calls[task as usize].agent = Some("planner".into());
    let denied = ReaderResult::new(json("{\"why\":\"no\"}"), at(16));
    b.answer("c4", denied.status(Status::Denied, StatusLevel::Denial).time(time(16)));
}

fn users_calls(b: &mut TrajectoryBuilder) {
    let first = b.call(new_call("", "Bash", text("make"), None, 25));
    let cut = ReaderResult::new(text(""), at(26)).status(Status::Interrupted, StatusLevel::Prose);
    b.answer_call(first, cut);
    let second = b.call(new_call("", "Bash", text("make test"), None, 27));
    for call in [first, second] {
        b.run.calls[call as usize].actor = Actor::User;
    }
}

fn sub_agent() -> Trajectory {
    let mut b = TrajectoryBuilder::new(info(), "sub.jsonl".into());
    b.run.id = Some("sub".into());
    b.run.parent = Some(Parent { trajectory: None, call: Some("c4".into()) });
    b.context(text("plan it"), time(15), at(1));
    let step = b.step(Some("s1".into()), time(15), at(2));
    b.call(new_call("d1", "Grep", json("{}"), Some(step), 15));
    b.answer("d1", ReaderResult::new(text("found"), at(3)).protocol(false).time(time(16)));
    b.message(step, Payload::text("Planned.".into()), time(16), at(4));
    b.finish()
}
