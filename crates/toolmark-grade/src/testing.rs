//! Help for the tests beside the graders.

use crate::config::{Node, Problem};
use crate::grader::{Building, Grader};
use crate::graders::grader_by_id;
use crate::outcome::Outcome;
use crate::profile::Profile;
use crate::subject::{Context, Environment, Subject};
use crate::view::View;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use toolmark_trace::{Options, Trajectory, read};

/// Builds a grader of this type; what is wrong with the configuration otherwise.
pub(crate) fn build(
    id: &str,
    profile: Profile,
    config: &Value,
) -> Result<Arc<dyn Grader>, Vec<Problem>> {
    let info = grader_by_id(id).expect("a grader with this type");
    let mut problems = Vec::new();
    let config = Node::from_json(config).expect("a configuration");
    let grader = (info.build)(&mut Building {
        config: &config,
        profile,
        contrast: None,
        directory: Path::new("."),
        problems: &mut problems,
    });
    match grader {
        Some(grader) if !problems.iter().any(Problem::is_error) => Ok(grader),
        _ => Err(problems),
    }
}

/// The messages of what is wrong with a configuration.
pub(crate) fn complaints(id: &str, config: &Value) -> Vec<String> {
    match build(id, Profile::Toolmark, config) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_iter().map(|problem| problem.message).collect(),
    }
}

/// Reads the trajectories of a text of any format.
pub(crate) fn runs(trace: &str) -> Vec<Trajectory> {
    let stream = std::io::Cursor::new(trace.as_bytes().to_vec());
    read(stream, "trace", &Options::default()).expect("a trace").collect()
}

/// Asks a grader about one trajectory.
pub(crate) fn ask(grader: &dyn Grader, run: &Trajectory) -> Outcome {
    grader.grade(&Subject {
        view: View::whole(run),
        context: &Context::default(),
        environment: &Environment::default(),
    })
}

/// Builds a grader and asks it about the first trajectory of a trace.
pub(crate) fn grade(id: &str, config: Value, trace: &str) -> Outcome {
    let grader = build(id, Profile::Toolmark, &config).expect("a good configuration");
    ask(&*grader, &runs(trace)[0])
}

/// A Vally trajectory with these events, each `(type, data)`, a second apart.
pub(crate) fn vally(events: &[(&str, Value)]) -> String {
    vally_with(events, json!({}))
}

/// The same with more keys at the top.
pub(crate) fn vally_with(events: &[(&str, Value)], more: Value) -> String {
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

/// A row of AgentV's with these calls, and with more keys at the top.
pub(crate) fn agentv_with(calls: Value, more: Value) -> String {
    let message = json!({"role": "assistant", "content": "done", "tool_calls": calls});
    let mut row = json!({"id": "t1", "output_messages": [message]});
    if let (Some(all), Value::Object(more)) = (row.as_object_mut(), more) {
        all.extend(more);
    }
    row.to_string()
}

/// The same without more keys.
pub(crate) fn agentv(calls: Value) -> String {
    agentv_with(calls, json!({}))
}

/// Builds a grader under a reading and asks it about the first trajectory of a trace.
pub(crate) fn grade_as(id: &str, profile: Profile, config: Value, trace: &str) -> Outcome {
    let grader = build(id, profile, &config).expect("a good configuration");
    ask(&*grader, &runs(trace)[0])
}
