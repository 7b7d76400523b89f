//! The old test files of Google's Agent Development Kit: a list of queries, each with the
//! *expected* calls and answer. One file is one conversation.

use super::shared::adk;
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Old test files of the Agent Development Kit.
pub(crate) struct AdkTest;

static INFO: FormatInfo = FormatInfo {
    id: "adk-test",
    title: "Google ADK test file (old)",
    origin: "*.test.json of Google's Agent Development Kit before eval sets",
    versions: "query with expected_tool_use and reference",
    looks_for: "records with query and expected_tool_use",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Results,
        Fact::Status,
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::Parallel,
        Fact::Steps,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::ToolDefinitions,
    ]),
};

impl Format for AdkTest {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let has = |r: Value<'_>, key| r.get("query").is_some() && r.has(key);
        if probe.any(|r| has(r, "expected_tool_use")) {
            return 95;
        }
        let is_old = |r| has(r, "expected_intermediate_agent_responses") || has(r, "reference");
        if probe.any(is_old) { 40 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<TestReader>::default()
    }
}

#[derive(Default)]
struct TestReader {
    run: Option<TrajectoryBuilder>,
}

impl Reader for TestReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(turn) = out.object(record, "a query") else { return };
        let b = self.run.get_or_insert_with(|| out.builder(&AdkTest));
        if turn.get("query").is_some() {
            adk::old_turn(b, record, turn);
        } else {
            b.unknown("record without query", record.at());
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(b) = self.run.take() {
            out.push(b.finish());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn queries_are_turns() {
        let read = read_fixture("adk-test.json");
        assert_eq!(read.format, "adk-test");
        assert_eq!(read.skipped, 1);
        assert_eq!(read.runs.len(), 1);
        assert_eq!(
            sketch(&read.runs[0]),
            "user: go\n\
             0 call ls {\"p\":1} -> unanswered(absent): \n\
             0 call   -> unanswered(absent): \n\
             0 message: wait\n\
             0 message: done\n\
             user: more\n\
             unknown record without query\n"
        );
    }
}
