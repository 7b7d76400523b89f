//! Microsoft Vally: the trajectory of one trial, on its own, in the lines of `results.jsonl`,
//! or as the bare `events.jsonl` of a trial's directory.
//!
//! A line is a typed record (`trial-result`, `run-summary`, `comparison`) or, up to version
//! 0.5, an untyped outcome with `status`, `trajectory` and `gradeResult`. Only lines with a
//! trajectory hold a run; a trial that failed to execute has a null `trajectory` and the
//! reason in `error`.
//!
//! Events are flat and in order. `turn_start` opens a model response, and usage is recorded
//! before the message it belongs to. A call ID may be reused in one run, so a result belongs
//! to the first unanswered call with its ID.
//!
//! Runs of several stimulus turns number them in the `turn` of each event (from 0). With such
//! numbers, a turn starts with its first event whether or not its `user_message` is present,
//! and a second `user_message` of a turn is text that the host gave to the model. Without
//! them, the text of a skill is still recognized by its `<skill-context` and labelled, but
//! counted: the format defines it as a user message.
//!
//! The sums under `metrics`, the `output` and the location of the workspace are kept as
//! stated: Vally's own graders read those and not the events.

mod run;

use super::shared::copilot;
use super::shared::declared;
use super::shared::events::declared_error;
use crate::builder::TrajectoryBuilder;
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{At, Convention, EventKind, Fact, Fidelity, Payload, Stated, Usage, time};
use jiff::SignedDuration;
use run::{MAX_TURNS, VallyRun};
use toolmark_scan::Value;

/// Vally trajectories and results.
pub(crate) struct VallyFormat;

static INFO: FormatInfo = FormatInfo {
    id: "vally",
    title: "Vally trajectory or results",
    origin: "Microsoft Vally: results.jsonl of a run, events.jsonl of a trial, a single outcome or trajectory",
    versions: "0.3 to 0.19",
    looks_for: "records of type trial-result or run-summary, a trajectory with stimulus and events, or bare tool_call events with toolName and toolCallId",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for VallyFormat {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_trajectory = |v: Value<'_>| {
            v.get("stimulus").is_some() && v.get("events").is_some_and(Value::is_array)
        };
        let is_record = |r: Value<'_>| {
            is_trajectory(r)
                || r.get("trajectory").is_some_and(is_trajectory)
                || (r.has("trajectory") && r.has("gradeResult"))
        };
        if probe.any(is_record) {
            return 100;
        }
        let is_summary = |r: Value<'_>| match r.get("type").and_then(Value::inner) {
            Some("run-summary") => r.get("evals").is_some(),
            Some("trial-result") => r.get("stimulus").is_some(),
            Some("comparison") => r.get("stimuli").is_some(),
            _ => false,
        };
        if probe.any(is_summary) {
            return 95;
        }
        if probe.any(is_bare_event) { 90 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<ResultsReader>::default()
    }
}

/// Returns whether the record is an event outside a trajectory. It must be a call or a result,
/// so that no other log of `type`, `timestamp` and `data` is mistaken for one.
fn is_bare_event(record: Value<'_>) -> bool {
    let data = record.get("data");
    let has = |key| data.is_some_and(|d| d.get(key).is_some());
    match record.get("type").and_then(Value::inner) {
        Some("tool_call") => has("toolName") && has("toolCallId"),
        Some("tool_result") => has("toolCallId") && has("success"),
        _ => false,
    }
}

#[derive(Default)]
struct ResultsReader {
    /// Run of a file of bare events.
    bare: Option<VallyRun>,
}

impl Reader for ResultsReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a Vally record") else { return };
        let kind = value.word("type");
        let trajectory = value.get("trajectory").filter(|t| t.is_object());
        if trajectory.is_none() && value.get("timestamp").is_some() && value.get("data").is_some() {
            let new = || VallyRun::new(out.builder(&VallyFormat).with_repeating_ids());
            self.bare.get_or_insert_with(new).event(record, value);
            return;
        }
        match (kind, trajectory) {
            ("" | "trial-result", Some(trajectory)) => {
                let mut run = read(record, trajectory, out);
                trial(&mut run.b, record, value);
                out.push(run.finish());
            }
            ("", None) if value.get("events").is_some() => {
                let run = read(record, value, out);
                out.push(run.finish());
            }
            ("" | "trial-result", None) => {
                let why = value.get_str("error").unwrap_or_default();
                let status = value.get_str("status").unwrap_or_default();
                out.note(&record.at(), format!("trial without a trajectory ({status}): {why}"));
            }
            (other, _) => out.note(&record.at(), format!("{other} record, which contains no run")),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.bare.take() {
            out.push(run.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.bare.is_some()
    }
}

fn read(record: &Record<'_>, trajectory: Value<'_>, out: &Out) -> VallyRun {
    let mut b = out.builder(&VallyFormat).with_repeating_ids();
    let mut events = None;
    let mut prompts = Vec::new();
    for (key, value) in trajectory.fields() {
        match key.inner().unwrap_or("") {
            "id" => b.run.id = record.text(value),
            "stimulus" => {
                b.run.name = record.text(value).or_else(|| record.text_at(value, "name"));
                prompts = asked(record, value);
            }
            "workDir" => b.run.cwd = record.text(value),
            "endReason" => b.run.outcome = record.text(value),
            "metadata" => metadata(&mut b, record, value),
            "metrics" => metrics(&mut b, value),
            "output" => b.run.stated.output = Some(record.payload(value)),
            "workspaceStatus" => b.run.stated.workspace = record.text(value),
            "artifactDir" => b.run.stated.artifacts = record.text(value),
            "events" => events = Some(value),
            key => stored_diff(&mut b.run.stated, record, key, value),
        }
    }
    if !events.is_some_and(Value::is_array) {
        b.run.fidelity.lose(Fact::Calls);
    }
    let mut run = VallyRun::new(b);
    run.prompts = prompts;
    for event in events.into_iter().flat_map(Value::items) {
        run.event(record, event);
    }
    run
}

/// Returns the prompts of the stimulus, one per turn.
fn asked(record: &Record<'_>, stimulus: Value<'_>) -> Vec<(Payload, At)> {
    let words = |value| (record.payload(value), record.at_value(value));
    match stimulus.get("turns").filter(|turns| turns.is_array()) {
        Some(turns) => turns
            .items()
            .take(MAX_TURNS as usize)
            .map(|turn| words(turn.get("prompt").unwrap_or(turn)))
            .collect(),
        None => stimulus.get("prompt").map(words).into_iter().collect(),
    }
}

/// Stores the diff of the workspace. It is documented that a diff is stored, but not under
/// which key: accepts text named a diff or a patch, on its own, as the content of an object,
/// or among the artifacts.
fn stored_diff(stated: &mut Stated, record: &Record<'_>, key: &str, value: Value<'_>) {
    let is_diff = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.contains("diff") || name.ends_with("patch")
    };
    let content = |value: Value<'_>| {
        let keys = ["content", "diff", "patch", "text"];
        let inside = keys.iter().find_map(|key| value.get(key).filter(|v| v.is_string()));
        Some(value).filter(|v| v.is_string()).or(inside).map(|text| record.payload(text))
    };
    let named = |value: Value<'_>| {
        let names = ["name", "kind", "type", "path"];
        names.iter().any(|key| value.get_str(key).is_some_and(|name| is_diff(&name)))
    };
    let found = match key {
        "artifacts" if value.is_array() => value.items().find(|v| named(*v)).and_then(content),
        "artifacts" => value
            .fields()
            .find(|(key, _)| key.inner().is_some_and(is_diff))
            .and_then(|(_, value)| content(value)),
        key if is_diff(key) => content(value),
        _ => None,
    };
    if found.is_some() {
        stated.diff = found;
    }
}

/// Reads the line that contains a trajectory.
fn trial(b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
    let run = &mut b.run;
    if run.name.is_none() {
        run.name = record.text_at(line, "stimulus");
    }
    if run.outcome.is_none() {
        run.outcome = record.text_at(line, "status");
    }
    if run.agent.model.is_none() {
        run.agent.model = record.text_at(line, "model");
    }
    let run = &mut b.run;
    let error = line.get("error");
    run.completeness.declared_error = error.and_then(|error| declared_error(record, error));
    if run.completeness.declared_error.is_none() && line.field_is("status", "error") {
        run.completeness.declared_error = record.text_at(line, "status");
    }
    let grade = line.get("gradeResult").filter(|grade| grade.is_object());
    grade.into_iter().for_each(|grade| declared::members(run, record, grade));
    if let Some(error) = error {
        b.event(EventKind::Error, Some(record.payload(error)), None, None, record.at_value(error));
    }
}

fn metadata(b: &mut TrajectoryBuilder, record: &Record<'_>, metadata: Value<'_>) {
    for (key, value) in metadata.fields() {
        match key.inner().unwrap_or("") {
            "model" => b.run.agent.model = record.text(value),
            "executor" => b.run.agent.name = record.text(value),
            "outcome" => b.run.outcome = record.text(value),
            "startedAt" | "completedAt" => b.seen(time::from_value(value)),
            _ => {}
        }
    }
}

fn metrics(b: &mut TrajectoryBuilder, metrics: Value<'_>) {
    let stated = &mut b.run.stated;
    for (key, value) in metrics.fields() {
        match key.inner().unwrap_or("") {
            "tokenUsage" if value.get("inputTokens").is_some() => {
                // A converter writes -1 for a count it does not know: that reads as none.
                let mut total = Usage::new(copilot::tokens(value), Convention::INCLUSIVE);
                total.stated_total = value.get("totalTokens").and_then(Value::as_u64);
                b.run.usage = Some(total);
            }
            "toolCallCount" => stated.calls = value.as_u64(),
            "turnCount" => stated.responses = value.as_u64(),
            "errorCount" => stated.errors = value.as_u64(),
            "wallTimeMs" => {
                let seconds = value.as_f64().filter(|ms| *ms >= 0.0).map(|ms| ms / 1000.0);
                stated.duration = seconds.and_then(|s| SignedDuration::try_from_secs_f64(s).ok());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    const EVENTS: &str = r#"[
{"type":"user_message","timestamp":"2026-01-01T00:00:00Z","data":{"content":"go"}},
{"type":"turn_start","data":{"turnId":"0"}},
{"type":"token_usage","data":{"inputTokens":9,"outputTokens":-1,"model":"m"}},
{"type":"assistant_message","data":{"content":""}},
{"type":"tool_call","timestamp":"2026-01-01T00:00:01Z","data":{"toolName":"view","toolCallId":"c1","arguments":{"p":1}}},
{"type":"tool_call","data":{"toolName":"bash","toolCallId":"c2","arguments":"raw"}},
{"type":"tool_result","timestamp":"2026-01-01T00:00:03Z","data":{"toolCallId":"c1","success":true,"result":{"content":"A","detailedContent":"AA"}}},
{"type":"tool_result","data":{"toolCallId":"c2","success":false,"error":{"message":"no"}}},
{"type":"turn_end","data":{"turnId":"0"}},
{"type":"turn_start","data":{"turnId":"0"}},
{"type":"tool_call","data":{"toolName":"view","toolCallId":"c1","arguments":{"p":1}}},
{"type":"tool_result","data":{"toolCallId":"c7","success":true,"result":7}},
{"type":"skill_activation","data":{"name":"pdf"}},
{"type":"error","data":{"message":"limit"}},
{"type":"reasoning","data":{"content":"hm"}},
{"type":"dream"},
4]"#;

    const SKETCH: &str = "user: go\n\
         note token_usage\n\
         note assistant_message\n\
         0 call view {\"p\":1} -> succeeded(protocol): A\n\
         0 call bash raw -> failed(protocol): {\"message\":\"no\"}\n\
         note turn_end\n\
         1 call view {\"p\":1} -> unanswered(absent): \n\
         orphanresult: 7\n\
         1 skill: pdf\n\
         1 error: limit\n\
         1 reasoning: hm\n\
         unknown dream\n\
         unknown \n";

    #[test]
    fn the_events_of_a_trial_are_a_run() {
        let read = read_text(
            r#"{"type":"user_message","timestamp":"2026-01-01T00:00:00Z","data":{"content":"hi"}}
{"type":"turn_start","timestamp":"2026-01-01T00:00:01Z","data":{}}
{"type":"tool_call","timestamp":"2026-01-01T00:00:01Z","data":{"toolName":"bash","toolCallId":"c1","arguments":{"command":"ls"}}}
{"type":"tool_result","timestamp":"2026-01-01T00:00:02Z","data":{"toolCallId":"c1","success":false,"error":"x"}}
"#,
        );
        assert_eq!(read.format, "vally");
        assert_eq!(
            sketch(&read.runs[0]),
            "user: hi\n0 call bash {\"command\":\"ls\"} -> failed(protocol): x\n"
        );
    }

    #[test]
    fn a_results_file_holds_a_run_per_trial() {
        let events = EVENTS.replace('\n', "");
        let text = format!(
            r#"{{"type":"trial-result","stimulus":"s1","status":"success","model":"m","trajectory":{{"id":"t","stimulus":{{"name":"s1"}},"workDir":"/w","metadata":{{"executor":"copilot-sdk"}},"metrics":{{"tokenUsage":{{"inputTokens":20,"outputTokens":3,"totalTokens":23}}}},"events":{events}}}}}
{{"status":"error","trajectory":null,"gradeResult":null,"error":"no agent"}}
{{"type":"run-summary","passed":true,"evals":[]}}
[1]
"#
        );
        let read = read_text(&text);
        assert_eq!((read.format, read.runs.len(), read.skipped), ("vally", 1, 1));
        let run = &read.runs[0];
        assert_eq!(sketch(run), SKETCH);
        assert_eq!(run.name.as_ref().unwrap(), "s1");
        assert_eq!(run.usage.unwrap().total(), 23);
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
        assert_eq!(run.steps[0].model.as_ref().unwrap(), "m");
    }

    #[test]
    fn a_trajectory_may_stand_alone() {
        let text = format!(r#"{{"id":"t","stimulus":"s1","events":{EVENTS}}}"#);
        let read = read_text(&text);
        let run = &read.runs[0];
        assert_eq!(sketch(run), SKETCH);
        assert_eq!(run.name.as_ref().unwrap(), "s1");
        assert_eq!(run.usage.unwrap().recorded.input, 9);
    }

    #[test]
    fn what_the_source_states_is_kept() {
        let read = read_text(
            r#"{"id":"t","stimulus":{"name":"s"},"events":[{"type":"turn_start","timestamp":"2026-01-01T00:00:00Z","data":{}}],
"output":"done","workspaceStatus":"remote","artifactDir":"/a","workspaceDiff":{"content":"--- a"},
"metrics":{"wallTimeMs":1500,"toolCallCount":3,"turnCount":2,"errorCount":1}}"#,
        );
        let stated = &read.runs[0].stated;
        assert_eq!(stated.output.as_ref().unwrap().plain(), "done");
        assert_eq!((stated.calls, stated.responses, stated.errors), (Some(3), Some(2), Some(1)));
        assert_eq!(stated.duration.unwrap().as_millis(), 1500);
        assert_eq!(stated.workspace.as_ref().unwrap(), "remote");
        assert_eq!(stated.artifacts.as_ref().unwrap(), "/a");
        assert_eq!(stated.diff.as_ref().unwrap().plain(), "--- a");
    }

    #[test]
    fn a_diff_is_found_wherever_it_is_stored() {
        for stored in [
            r#""diff":"--- a""#,
            r#""workspace_patch":"--- a""#,
            r#""artifacts":{"workspaceDiff":"--- a"}"#,
            r#""artifacts":[{"name":"log","content":"x"},{"kind":"diff","content":"--- a"}]"#,
        ] {
            let text = format!(r#"{{"stimulus":{{"name":"s"}},"events":[],{stored}}}"#);
            let diff = read_text(&text).runs[0].stated.diff.clone();
            assert_eq!(diff.unwrap().plain(), "--- a", "{stored}");
        }
    }
}
