//! Steps of the agents suite of Future AGI as a list, or one per line: `{"action", "tool_used",
//! "tool_args", "tool_result", "error"}`, each with at most one call. They are one run.

use super::call_rows::step;
use super::shared::readers::{OneRun, one_run};
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Steps of one run.
pub(crate) struct AgentSteps;

static INFO: FormatInfo = FormatInfo {
    id: "agent-steps",
    title: "Steps of an agent",
    origin: "lists of AgentStep of Future AGI's agents suite",
    versions: "any",
    looks_for: "objects with tool_used and action or thought",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::ExitCodes,
        Fact::Times,
        Fact::Durations,
        Fact::UserTurns,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for AgentSteps {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_step =
            |item: &Value<'_>| item.has("tool_used") && (item.has("action") || item.has("thought"));
        let records = probe.records();
        if !records.is_empty() && records.iter().all(is_step) { 80 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<Steps>(&AgentSteps, "agent", "a step")
    }
}

#[derive(Default)]
struct Steps;

impl OneRun for Steps {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        step(b, record, value);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn steps_of_a_run() {
        let read = read_fixture("agent-steps.json");
        assert_eq!((read.format, read.runs.len()), ("agent-steps", 1));
        assert_eq!(
            sketch(&read.runs[0]),
            "0 message: look at the tests\n\
             0 call Read {\"file_path\": \"t.py\"} -> succeeded(protocol): def test(): ...\n\
             1 message: run them\n\
             1 call Bash {\"command\": \"pytest\"} -> failed(protocol): exit 1\n\
             2 message: done\n"
        );
    }

    #[test]
    fn a_run_that_is_not_a_column() {
        let read = read_text(
            r#"{"trajectory":[{"action":"look","tool_used":"Read","tool_args":{"f":"a"},"tool_result":"ok","error":null}],"task":{"goal":"g","description":"mend it"},"final_result":"done"}"#,
        );
        assert_eq!(read.format, "call-rows");
        assert_eq!(
            sketch(&read.runs[0]),
            "user: mend it\n0 message: look\n0 call Read {\"f\":\"a\"} -> succeeded(protocol): ok\n"
        );
    }
}
