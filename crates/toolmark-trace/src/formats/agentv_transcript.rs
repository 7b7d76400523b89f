//! AgentV transcripts: one message per line, with the lines of a test grouped together.
//!
//! Every line repeats the metadata of its run (`test_id`, `target`, `source`, the totals). A
//! new run starts where the test, the target or the session changes, or where
//! `message_index` starts again. Files older than `agentv.transcript.v1` have the same lines
//! without a schema version.

use super::shared::agentv;
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// AgentV transcripts.
pub(crate) struct AgentvTranscript;

static INFO: FormatInfo = FormatInfo {
    id: "agentv-transcript",
    title: "AgentV transcript",
    origin: "AgentV: `agentv import`, transcript.jsonl of a run",
    versions: "4 and 5, with or without agentv.transcript.v1",
    looks_for: "lines with test_id, message_index and role",
    fidelity: Fidelity::lacking(&[Fact::Status, Fact::SubAgents, Fact::ToolDefinitions]),
};

impl Format for AgentvTranscript {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| agentv::schema(r).starts_with("agentv.transcript")) {
            return 100;
        }
        let is_row = |r: Value<'_>| {
            r.get("test_id").is_some()
                && r.get("message_index").is_some()
                && r.get("role").is_some()
        };
        if probe.any(is_row) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<TranscriptReader>::default()
    }
}

#[derive(Default)]
struct TranscriptReader {
    open: Option<OpenRun>,
}

/// Reader state of the current run.
struct OpenRun {
    b: TrajectoryBuilder,
    test: String,
    target: String,
    session: String,
    index: i64,
}

impl Reader for TranscriptReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(row) = out.object(record, "a transcript line") else { return };
        let word =
            |value: Option<Value<'_>>| value.and_then(Value::str).unwrap_or_default().into_owned();
        let (test, target) = (word(row.get("test_id")), word(row.get("target")));
        let session = word(row.at(&["source", "session_id"]));
        let index = row.get("message_index").and_then(Value::as_i64).unwrap_or(i64::MAX);
        let is_same = self.open.as_ref().is_some_and(|open| {
            open.test == test
                && open.target == target
                && open.session == session
                && (index > open.index || index == i64::MAX)
        });
        if !is_same {
            self.finish(out);
            let mut b = out.builder(&AgentvTranscript).with_distinct_calls();
            header(&mut b, record, row);
            self.open = Some(OpenRun { b, test, target, session, index });
        }
        if let Some(open) = &mut self.open {
            open.index = index;
            agentv::message(&mut open.b, record, row);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(open) = self.open.take() {
            out.push(open.b.finish());
        }
    }
}

/// Reads the metadata of the run that every line repeats.
fn header(b: &mut TrajectoryBuilder, record: &Record<'_>, row: Value<'_>) {
    b.run.name = agentv::text(record, row, &["test_id"]);
    b.run.agent.name = agentv::text(record, row, &["target"]);
    for (key, value) in row.fields() {
        match key.inner().unwrap_or("") {
            "source" => agentv::source(b, record, value),
            "transcript_token_usage" => agentv::usage(b, value),
            "transcript_cost_usd" => agentv::cost(b, value),
            "transcript_duration_ms" => agentv::duration(b, value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn lines_of_a_test_are_one_run() {
        let read = read_fixture("agentv-transcript.jsonl");
        assert_eq!(read.format, "agentv-transcript");
        assert_eq!(read.runs.len(), 3);
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix\n\
             0 call Read {\"path\":\"a\"} -> unknown(absent): x\n\
             0 call Bash  -> failed(protocol): {\"e\":1}\n\
             0 call Grep  -> unknown(absent): late\n\
             unknown call without a tool\n\
             orphanresult: whose\n"
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 12);
        assert_eq!(run.usage.unwrap().recorded.cache_read, 4);
        assert_eq!(run.cost.unwrap().nano_usd, 500_000_000);
        assert_eq!(run.stated.duration.unwrap().as_millis(), 1500);
        assert_eq!(run.name.as_ref().unwrap(), "t1");
        assert_eq!(sketch(&read.runs[1]), "user: again\n");
        assert_eq!(sketch(&read.runs[2]), "unknown message/moderator\n");
    }
}
