//! Runs for the tests of this crate.

use crate::mine::sample::MinedRun;
use serde_json::{Value, json};
use toolmark_outcome::testing::{runs, vally_with};
use toolmark_redact::Redactor;
use toolmark_trace::Trajectory;

/// Builds a run that makes these calls, one per response.
pub(crate) fn run(calls: &[(&str, Value)]) -> Trajectory {
    run_with(calls, json!({}))
}

/// Builds such a run with additional top-level keys in the trace.
pub(crate) fn run_with(calls: &[(&str, Value)], more: Value) -> Trajectory {
    let mut events = vec![("user_message", json!({"content": "go"}))];
    for (n, (tool, args)) in calls.iter().enumerate() {
        let id = format!("c{n}");
        events.extend([
            ("turn_start", json!({"turnId": id})),
            ("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": args})),
            ("tool_result", json!({"toolCallId": id, "success": true, "result": "ok"})),
            ("turn_end", json!({"turnId": id})),
        ]);
    }
    runs(&vally_with(&events, more)).remove(0)
}

/// Returns the sample of a run.
pub(crate) fn sample(run: &Trajectory) -> MinedRun<'_> {
    MinedRun::new(run, Redactor::new(true))
}
