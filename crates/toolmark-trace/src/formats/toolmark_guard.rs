//! The audit log of `toolmark guard`: one decision per line.
//!
//! Sessions are interleaved, with one trajectory each. The same call may have several
//! records: before it ran, when the user was to be prompted, and after it ran. The guard
//! knows its decision; it knows the outcome of a call only if the host reported it, and a
//! denied call never ran. The log does not contain calls made while the guard was off, or
//! calls that the host did not submit to it. Arguments and results are as in the log: masked
//! and truncated.

use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{EventKind, Fact, Fidelity, Status, StatusLevel, Text, ToolName, time};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// The guard's audit log.
pub(crate) struct ToolmarkGuard;

/// Key that identifies the format, and its version.
const KEY: &str = "toolmark_guard";

static INFO: FormatInfo = FormatInfo {
    id: "toolmark-guard",
    title: "toolmark guard's audit log",
    origin: "~/.local/state/toolmark/guard.jsonl and the rotated guard.jsonl.1",
    versions: "1",
    looks_for: "objects with toolmark_guard and decision",
    fidelity: Fidelity::lacking(&[
        Fact::Calls,
        Fact::ExitCodes,
        Fact::Parallel,
        Fact::Steps,
        Fact::UserTurns,
        Fact::Messages,
        Fact::Reasoning,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::ToolDefinitions,
    ]),
};

impl Format for ToolmarkGuard {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |r: Value<'_>| is_record(r) && r.has("decision");
        if probe.any(is_own) { 99 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<LogReader>::default()
    }
}

fn is_record(record: Value<'_>) -> bool {
    record.get(KEY).and_then(Value::as_f64).is_some()
}

/// Sessions of a log, in order of appearance.
#[derive(Default)]
struct LogReader {
    sessions: Vec<TrajectoryBuilder>,
    by_id: HashMap<String, usize>,
}

impl Reader for LogReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(line) = record.json().filter(|line| line.is_object() && is_record(*line)) else {
            out.skip(&record.at(), format!("not a decision: expected an object with {KEY}"));
            return;
        };
        let builder = self.session(record, line, out);
        let stamp = line.get("time").and_then(time::from_value);
        if line.get("tool").is_none() {
            // The payload could not be read: it is unknown which call it was.
            let words = record.payload_at(line, "reason");
            builder.event(EventKind::Error, words, None, stamp, record.at());
            builder.run.fidelity.lose(Fact::Calls);
            return;
        }
        match line.get("moment").and_then(Value::inner) {
            Some("after") => after(builder, record, line, stamp),
            _ => decided(builder, record, line, stamp),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        for mut session in self.sessions.drain(..) {
            // An allowed call may or may not have run: the log does not record it.
            for call in session.run.calls.iter_mut().filter(|call| call.result.is_none()) {
                call.status = Status::Unknown;
            }
            out.push(session.finish());
        }
    }
}

impl LogReader {
    /// Returns the session of a record: by its ID, or otherwise its host's session without an ID.
    fn session(
        &mut self,
        record: &Record<'_>,
        line: Value<'_>,
        out: &Out,
    ) -> &mut TrajectoryBuilder {
        let part = |key| line.get_str(key).unwrap_or_default();
        let id = part("session");
        let key = if id.is_empty() { format!("\0{}", part("host")) } else { id.into_owned() };
        let next = self.sessions.len();
        let index = *self.by_id.entry(key).or_insert(next);
        if index == next {
            let mut builder = out.builder(&ToolmarkGuard);
            builder.run.id = record.text_at(line, "session");
            builder.run.agent.name = record.text_at(line, "host");
            self.sessions.push(builder);
        }
        let builder = &mut self.sessions[index];
        if builder.run.cwd.is_none() {
            builder.run.cwd = record.text_at(line, "cwd");
        }
        builder
    }
}

/// Returns the call of a record. Without an ID, a repeated record before the call ran, or a
/// record of its result, refers to the same call.
fn call(
    builder: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    stamp: Option<Timestamp>,
) -> u32 {
    let id = record.text_at(line, "call_id");
    let name = ToolName::or_empty(record.text_at(line, "tool"));
    let args = record.payload_at(line, "args");
    let known = match &id {
        Some(id) => builder.find(&id.get()),
        None => builder.first_open(|c| c.id.is_none() && c.name == name && c.args == args),
    };
    if let Some(known) = known {
        return known;
    }
    let index = builder.call(NewCall { id, name, args, step: None, time: stamp, at: record.at() });
    if let Some(call) = builder.run.calls.get_mut(index as usize) {
        call.agent = record.text_at(line, "agent");
    }
    index
}

/// Reads the record of a call before it runs.
fn decided(
    builder: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    stamp: Option<Timestamp>,
) {
    let index = call(builder, record, line, stamp);
    let decision = line.get_str("decision").unwrap_or_default();
    let part = |key| line.get_str(key).unwrap_or_default();
    match &*decision {
        "allow" if line.get("observed").is_none() => {}
        "deny" => {
            let answer = ReaderResult::new(record.payload_at(line, "reason"), record.at());
            // Without a time: what never ran took none.
            let answer = answer.status(Status::Denied, StatusLevel::Denial);
            if builder.run.calls.get(index as usize).is_some_and(|call| call.result.is_none()) {
                builder.answer_call(index, answer);
            }
        }
        _ => {
            let observed = match part("observed") {
                word if word.is_empty() => String::new(),
                word => format!(", would {word}"),
            };
            let words =
                format!("guard: {decision}{observed} ({}): {}", part("rule"), part("reason"));
            let kind = EventKind::Note(Text::owned(&words));
            builder.event(kind, None, None, stamp, record.at());
        }
    }
}

/// Reads the record of a call after it ran.
fn after(
    builder: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    stamp: Option<Timestamp>,
) {
    let index = call(builder, record, line, None);
    let answer = ReaderResult::new(record.payload_at(line, "result"), record.at()).time(stamp);
    let answer = match line.get("status").and_then(Value::inner) {
        Some("failed") => answer.protocol(true),
        Some("succeeded") => answer.protocol(false),
        _ => answer,
    };
    builder.answer_call(index, answer);
    let rule = line.get_str("rule").unwrap_or_default();
    if rule != "default" {
        let words = format!("guard ({rule}): {}", line.get_str("reason").unwrap_or_default());
        builder.event(EventKind::Note(Text::owned(&words)), None, None, stamp, record.at());
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Fact, Status};
    use crate::testing::{read_text, sketch};

    /// Returns a record with these fields added to the usual ones.
    fn record(fields: &str) -> String {
        format!(r#"{{"toolmark_guard":1,"time":"2026-01-01T00:00:00.5Z","host":"codex",{fields}}}"#)
            + "\n"
    }

    fn decided(session: &str, id: &str, command: &str, decision: &str) -> String {
        record(&format!(
            r#""session":"{session}","cwd":"/w","event":"PreToolUse","moment":"before","call_id":"{id}","tool":"shell","args":{{"command":"{command}"}},"decision":"{decision}","rule":"effect","reason":"because","duration_us":90,"pid":7"#
        ))
    }

    fn ran(id: &str, status: &str) -> String {
        record(&format!(
            r#""session":"s","moment":"after","call_id":"{id}","tool":"shell","args":{{"command":"x"}},"decision":"allow","rule":"default","reason":"",{status}"result":"out""#
        ))
    }

    #[test]
    fn what_was_decided_and_what_became_of_it() {
        let text = [
            decided("s", "1", "a", "allow"),
            decided("s", "2", "b", "deny"),
            decided("s", "3", "c", "ask"),
            decided("s", "4", "d", "allow"),
            decided("s", "5", "e", "ask"),
            decided("s", "6", "f", "allow"),
            ran("4", r#""status":"succeeded","#),
            ran("5", r#""status":"failed","#),
            ran("6", ""),
            ran("7", r#""status":"succeeded","#),
        ];
        let read = read_text(&text.concat());
        assert_eq!((read.format, read.runs.len(), read.skipped), ("toolmark-guard", 1, 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "call shell {\"command\":\"a\"} -> unknown(absent): \n\
             call shell {\"command\":\"b\"} -> denied(denial): because\n\
             call shell {\"command\":\"c\"} -> unknown(absent): \n\
             note guard: ask (effect): because\n\
             call shell {\"command\":\"d\"} -> succeeded(protocol): out\n\
             call shell {\"command\":\"e\"} -> failed(protocol): out\n\
             note guard: ask (effect): because\n\
             call shell {\"command\":\"f\"} -> unknown(absent): out\n\
             call shell {\"command\":\"x\"} -> succeeded(protocol): out\n"
        );
        assert_eq!(run.calls[1].duration, None);
        assert_eq!(run.agent.name.as_ref().unwrap(), "codex");
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
        assert_eq!(run.started.unwrap().to_string(), "2026-01-01T00:00:00.5Z");
        assert!(run.fidelity.lacks(Fact::Steps) && !run.fidelity.lacks(Fact::Results));
    }

    #[test]
    fn sessions_in_order_of_appearance() {
        let text = [
            decided("b", "1", "x", "allow"),
            decided("a", "1", "x", "deny"),
            decided("b", "2", "y", "allow"),
            record(r#""decision":"ask","rule":"error","reason":"no JSON""#),
            record(
                r#""moment":"before","tool":"t","agent":"helper","decision":"allow","rule":"default","reason":"""#,
            ),
        ];
        let read = read_text(&text.concat());
        let ids: Vec<_> =
            read.runs.iter().map(|run| run.id.as_ref().map(ToString::to_string)).collect();
        assert_eq!(ids, [Some("b".into()), Some("a".into()), None]);
        assert_eq!(read.runs[0].calls.len(), 2);
        assert_eq!(sketch(&read.runs[2]), "error: no JSON\ncall t  -> unknown(absent): \n");
        assert_eq!(read.runs[2].calls[0].agent.as_ref().unwrap(), "helper");
    }

    #[test]
    fn a_call_told_of_twice_is_one() {
        let before = |moment: &str, decision: &str| {
            record(&format!(
                r#""session":"s","moment":"{moment}","tool":"shell","args":"ls","decision":"{decision}","rule":"r","reason":"w""#
            ))
        };
        let read = read_text(&[before("before", "ask"), before("permission", "deny")].concat());
        assert_eq!(
            sketch(&read.runs[0]),
            "call shell ls -> denied(denial): w\nnote guard: ask (r): w\n"
        );
        // Once it is answered, the same again is another call.
        let again = [before("before", "deny"), before("before", "deny")].concat();
        assert_eq!(read_text(&again).runs[0].calls.len(), 2);
        // The decision that the guard would have made is kept beside the actual one.
        let observed =
            decided("s", "1", "x", "allow").replace("\"rule\"", "\"observed\":\"deny\",\"rule\"");
        let read = read_text(&observed);
        assert_eq!(read.runs[0].calls[0].status, Status::Unknown);
        assert!(sketch(&read.runs[0]).contains("note guard: allow, would deny (effect): because"));
    }

    #[test]
    fn torn_lines_and_wrong_types_are_harmless() {
        let whole = decided("s", "1", "x", "allow");
        let torn = &whole[..whole.len() / 2];
        let typed = r#"{"toolmark_guard":1,"tool":5,"decision":[],"moment":{},"time":true}"#;
        let text = format!("{whole}{torn}\n{whole}{typed}\n[]\n");
        let read = read_text(&text);
        assert_eq!((read.runs.len(), read.skipped), (2, 2));
        assert_eq!(read.runs[0].calls.len(), 1);
    }
}
