//! Help for the tests beside the graders.

use crate::config::{Node, Problem};
use crate::grader::{Building, Grader};
use crate::graders::grader_by_id;
use crate::judging::{Answer, Judge, Mark, Question, Quote, Ruling, Spent, Unanswered, Vote};
use crate::outcome::{Cause, Outcome};
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

/// A judge that gives every criterion the mark its function says, and quotes the
/// first eight or more letters of the first material of the trace.
pub(crate) struct FakeJudge(pub(crate) fn(&Question) -> Option<f64>);

impl std::fmt::Debug for FakeJudge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeJudge")
    }
}

impl Judge for FakeJudge {
    fn judge(&self, questions: &[Question]) -> Vec<Ruling> {
        let vote = |question: &Question, model: String| Vote {
            model,
            answer: match (self.0)(question) {
                Some(mark) => {
                    let text = question.materials[0].pieces[0].text.clone();
                    let quotes = vec![Quote { text, material: 0, piece: 0 }];
                    let mark =
                        Mark { mark: Some(mark), quotes, reason: "r".into(), discarded: None };
                    let marks = question.rubric.criteria.iter().map(|_| mark.clone()).collect();
                    Ok(Answer { marks, summary: None, spent: Spent::default() })
                }
                None => Err(Unanswered { cause: Cause::Judge, reason: "it timed out".into() }),
            },
        };
        let ruling = |question: &Question| {
            let models = match question.panel.models.as_slice() {
                [] => vec!["usual".to_owned()],
                models => models.to_vec(),
            };
            Ruling { votes: models.into_iter().map(|model| vote(question, model)).collect() }
        };
        questions.iter().map(ruling).collect()
    }
}

/// Builds a grader and asks it with a judge about a case.
pub(crate) fn judged(
    id: &str,
    config: Value,
    trace: &str,
    context: &Context,
    judge: fn(&Question) -> Option<f64>,
) -> Outcome {
    let grader = build(id, Profile::Toolmark, &config).expect("a good configuration");
    let judge: Arc<dyn Judge> = Arc::new(FakeJudge(judge));
    let environment = Environment { judge: Some(judge), ..Environment::default() };
    let runs = runs(trace);
    grader.grade(&Subject { view: View::whole(&runs[0]), context, environment: &environment })
}
