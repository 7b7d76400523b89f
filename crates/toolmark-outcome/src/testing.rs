//! Traces for the tests of graders and of their input.

use serde_json::{Value, json};
use toolmark_trace::{ReadOptions, Trajectory, read};

/// Reads the trajectories of a text in any format.
#[must_use]
pub fn runs(trace: &str) -> Vec<Trajectory> {
    let stream = std::io::Cursor::new(trace.as_bytes().to_vec());
    read(stream, "trace", &ReadOptions::default()).into_iter().flatten().collect()
}

/// Creates a Vally trajectory with these events, each `(type, data)`, one second apart.
#[must_use]
pub fn vally(events: &[(&str, Value)]) -> String {
    vally_with(events, json!({}))
}

/// Creates a Vally trajectory with additional top-level keys.
#[must_use]
pub fn vally_with(events: &[(&str, Value)], more: Value) -> String {
    let events: Vec<Value> = events
        .iter()
        .enumerate()
        .map(|(second, (kind, data))| {
            let timestamp = format!("2026-01-01T00:00:{second:02}Z");
            json!({"type": kind, "timestamp": timestamp, "data": data})
        })
        .collect();
    let mut trajectory = json!({"id": "t1", "stimulus": {"name": "s"}, "events": events});
    if let (Some(all), Value::Object(more)) = (trajectory.as_object_mut(), more) {
        all.extend(more);
    }
    trajectory.to_string()
}

/// Creates an AgentV row with these calls and additional top-level keys.
#[must_use]
pub fn agentv_with(calls: Value, more: Value) -> String {
    let message = json!({"role": "assistant", "content": "done", "tool_calls": calls});
    let mut row = json!({"id": "t1", "output_messages": [message]});
    if let (Some(all), Value::Object(more)) = (row.as_object_mut(), more) {
        all.extend(more);
    }
    row.to_string()
}

/// Creates an AgentV row with these calls.
#[must_use]
pub fn agentv(calls: Value) -> String {
    agentv_with(calls, json!({}))
}
