//! Microsoft Vally: the trajectory of one trial, alone, in the lines of
//! `results.jsonl`, or as the bare `events.jsonl` of a trial's directory.
//!
//! A line is a typed record (`trial-result`, `run-summary`, `comparison`) or, up
//! to version 0.5, an untyped outcome with `status`, `trajectory` and
//! `gradeResult`. Only lines with a trajectory hold a run; a trial that failed to
//! execute has `null` there, and says why in `error`.
//!
//! Events are flat and in order. `turn_start` opens a model response, usage is
//! told before the message it belongs to. The text of a skill is put before the
//! model as another `user_message`; the format does not tell it from a typed one.
//! A call id may come again in one run, so a result belongs to the first
//! unanswered call with its id.

use super::shared::{copilot, exit_code};
use crate::builder::{Answer, Builder, NewCall};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Text, ToolName, Trajectory, Usage, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Vally trajectories and results.
pub(crate) struct Vally;

static INFO: FormatInfo = FormatInfo {
    id: "vally",
    title: "Vally trajectory or results",
    origin: "Microsoft Vally: results.jsonl of a run, events.jsonl of a trial, a single outcome or trajectory",
    versions: "0.3 to 0.19",
    looks_for: "records of type trial-result or run-summary, a trajectory with stimulus and events, or bare tool_call events with toolName and toolCallId",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for Vally {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
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

/// An event outside a trajectory; a call or a result, so that no other log of
/// `type`, `timestamp` and `data` is taken for it.
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
    /// The run of a file of bare events.
    bare: Option<Run>,
}

impl Reader for ResultsReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json().filter(|v| v.is_object()) else {
            out.skip(&record.at(), "not a Vally record: an object was expected");
            return;
        };
        let kind = value.get("type").and_then(Value::inner).unwrap_or("");
        let trajectory = value.get("trajectory").filter(|t| t.is_object());
        if trajectory.is_none() && value.get("timestamp").is_some() && value.get("data").is_some() {
            let new = || Run::new(out.builder(&Vally).with_repeating_ids());
            self.bare.get_or_insert_with(new).event(record, value);
            return;
        }
        match (kind, trajectory) {
            ("" | "trial-result", Some(trajectory)) => {
                let mut b = read(record, trajectory, out);
                trial(&mut b, record, value);
                out.push(finish(b));
            }
            ("", None) if value.get("events").is_some() => {
                let b = read(record, value, out);
                out.push(finish(b));
            }
            ("" | "trial-result", None) => {
                let why = value.get_str("error").unwrap_or_default();
                let status = value.get_str("status").unwrap_or_default();
                out.note(&record.at(), format!("a trial without a trajectory ({status}): {why}"));
            }
            (other, _) => out.note(&record.at(), format!("a {other} record, which holds no run")),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.bare.take() {
            out.push(finish(run.b));
        }
    }
}

fn read(record: &Record<'_>, trajectory: Value<'_>, out: &Out) -> Builder {
    let mut b = out.builder(&Vally).with_repeating_ids();
    let mut events = None;
    for (key, value) in trajectory.fields() {
        match key.inner().unwrap_or("") {
            "id" => b.run.id = record.text(value),
            "stimulus" => {
                b.run.name = record.text(value).or_else(|| record.text_at(value, "name"));
            }
            "workDir" => b.run.cwd = record.text(value),
            "endReason" => b.run.outcome = record.text(value),
            "metadata" => metadata(&mut b, record, value),
            "metrics" => metrics(&mut b, value),
            "events" => events = Some(value),
            _ => {}
        }
    }
    let mut run = Run::new(b);
    for event in events.into_iter().flat_map(Value::items) {
        run.event(record, event);
    }
    run.b
}

fn finish(mut b: Builder) -> Trajectory {
    if b.run.usage.is_none() {
        // Without metrics, the calls of the model add up to the run.
        b.add_usage_of_steps();
    }
    b.finish()
}

/// What the line around a trajectory says about it.
fn trial(b: &mut Builder, record: &Record<'_>, line: Value<'_>) {
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
    if let Some(error) = line.get("error") {
        b.event(EventKind::Error, Some(record.payload(error)), None, None, record.at_value(error));
    }
}

fn metadata(b: &mut Builder, record: &Record<'_>, metadata: Value<'_>) {
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

fn metrics(b: &mut Builder, metrics: Value<'_>) {
    let Some(usage) = metrics.get("tokenUsage").filter(|u| u.get("inputTokens").is_some()) else {
        return;
    };
    // A converter writes -1 for a count it does not know: that reads as none.
    let mut total = Usage::new(copilot::tokens(usage), Convention::INCLUSIVE);
    total.stated_total = usage.get("totalTokens").and_then(Value::as_u64);
    b.run.usage = Some(total);
}

/// A trajectory while its events are read.
struct Run {
    b: Builder,
    /// The open model response, with the id of its turn.
    turn: Option<u32>,
    /// Usage whose message is still to come.
    usage: Option<(Usage, Option<Text>)>,
}

impl Run {
    fn new(b: Builder) -> Self {
        Self { b, turn: None, usage: None }
    }

    fn event(&mut self, record: &Record<'_>, event: Value<'_>) {
        let (mut kind, mut time, mut data) = (None, None, None);
        for (key, value) in event.fields() {
            match key.inner().unwrap_or("") {
                "type" => kind = Some(value),
                "timestamp" => time = time::from_value(value),
                "data" => data = Some(value),
                _ => {}
            }
        }
        let at = record.at_value(event);
        let name = kind.and_then(Value::inner).unwrap_or("");
        let data = data.unwrap_or(event);
        let text = |key| record.payload_at(data, key);
        match name {
            "user_message" => {
                self.turn = None;
                self.b.user(text("content"), time, at);
            }
            "turn_start" => {
                let step = self.b.step(None, time, at);
                self.b.run.steps[step as usize].id = record.text_at(data, "turnId");
                self.turn = Some(step);
            }
            "turn_end" => {
                self.turn = None;
                self.note(record, kind, time, event);
            }
            "assistant_message" => {
                let step = self.step(time, record, event);
                if let Some(content) = data.get("content").filter(|c| c.inner() != Some("")) {
                    self.b.message(step, record.payload(content), time, at);
                }
            }
            "reasoning" => {
                let step = self.step(time, record, event);
                self.b.reasoning(step, text("content"), time, at);
            }
            "token_usage" => self.usage(record, data, kind, time, event),
            "tool_call" => self.call(record, data, time, event),
            "tool_result" => self.result(record, data, time, event),
            "skill_activation" => {
                self.b.event(EventKind::Skill, text("name"), self.turn, time, at);
            }
            "error" => self.b.event(EventKind::Error, text("message"), self.turn, time, at),
            "system" => {
                // Converters name the event; where they do not, its words have to do.
                let is_compaction = match data.get("eventType").and_then(Value::inner) {
                    Some(kind) => kind.contains("compact"),
                    None => data.raw().contains("compact"),
                };
                let kind = if is_compaction { EventKind::Compaction } else { EventKind::Context };
                self.b.event(kind, text("content"), None, time, at);
            }
            "custom" => self.note(record, kind, time, event),
            other => self.b.unknown(other, at),
        }
    }

    fn note(
        &mut self,
        record: &Record<'_>,
        kind: Option<Value<'_>>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let kind = kind.and_then(|k| record.text(k)).unwrap_or_else(|| Text::owned(""));
        self.b.event(EventKind::Note(kind), None, None, time, record.at_value(event));
    }

    /// The open response; converters without turns get one per message.
    fn step(&mut self, time: Option<Timestamp>, record: &Record<'_>, event: Value<'_>) -> u32 {
        let step = match self.turn {
            Some(step) => step,
            None => self.b.step(None, time, record.at_value(event)),
        };
        self.turn = Some(step);
        if let Some((usage, model)) = self.usage.take() {
            self.give_usage(step, usage, model);
        }
        step
    }

    fn give_usage(&mut self, step: u32, usage: Usage, model: Option<Text>) {
        let step = &mut self.b.run.steps[step as usize];
        match &mut step.usage {
            Some(sum) => sum.add(&usage),
            None => step.usage = Some(usage),
        }
        step.model = model.or(step.model.take());
    }

    fn usage(
        &mut self,
        record: &Record<'_>,
        data: Value<'_>,
        kind: Option<Value<'_>>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let usage = Usage::new(copilot::tokens(data), Convention::INCLUSIVE);
        let model = record.text_at(data, "model");
        match self.turn {
            Some(step) => self.give_usage(step, usage, model),
            None => self.usage = Some((usage, model)),
        }
        self.note(record, kind, time, event);
    }

    fn call(
        &mut self,
        record: &Record<'_>,
        data: Value<'_>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let name = record.text_at(data, "toolName");
        self.b.call(NewCall {
            id: record.text_at(data, "toolCallId"),
            name: ToolName::new(name.unwrap_or_else(|| Text::owned(""))),
            args: record.payload_at(data, "arguments"),
            step: self.turn,
            time,
            at: record.at_value(event),
        });
        if self.turn.is_none() {
            self.b.run.fidelity.lose(Fact::Parallel);
        }
    }

    fn result(
        &mut self,
        record: &Record<'_>,
        data: Value<'_>,
        time: Option<Timestamp>,
        event: Value<'_>,
    ) {
        let result = data.get("result").or_else(|| data.get("error"));
        let content = result.and_then(|r| r.get("content")).filter(|c| c.is_string());
        let payload = content.or(result).map(|r| record.payload(r));
        let answer = Answer::new(payload, record.at_value(event)).time(time);
        let answer = match data.get("success").and_then(Value::as_bool) {
            Some(success) => answer.protocol(!success),
            None => answer,
        };
        let text = content.or(result).and_then(Value::inner);
        let answer = answer.exit_code(text.and_then(exit_code::in_last_line));
        match data.get("toolCallId").and_then(Value::str) {
            Some(id) => {
                self.b.answer(&id, answer);
            }
            None => self.b.orphan(answer),
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
}
