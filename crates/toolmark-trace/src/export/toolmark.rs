//! toolmark's own JSON: the complete content of a [`Trajectory`], one per line.
//!
//! Documented in `docs/formats/toolmark.md` and by the JSON Schema
//! `schemas/toolmark.trajectory.v1.schema.json`; read by `formats/toolmark.rs`. Absent values
//! are omitted. Writing, reading and writing again gives the same bytes, including source
//! positions, which still refer to the file the trajectory was first read from.

use super::json::{JsonMembers, portable};
use super::{ExportInfo, Exporter, Losses, TrajectoryPart};
use crate::formats::TOOLMARK_SCHEMA;
use crate::model::{
    At, Call, CallResult, Completeness, Event, EventKind, Form, MAX_DEPTH, Payload, Stated, Step,
    TaskExpectation, Text, Trajectory, Usage,
};
use std::io;

/// toolmark's own JSON.
pub(super) struct ToolmarkExporter;

static INFO: ExportInfo =
    ExportInfo { id: "toolmark", title: "toolmark trajectory", extension: "jsonl", lacks: &[] };

impl Exporter for ToolmarkExporter {
    fn info(&self) -> &'static ExportInfo {
        &INFO
    }

    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses> {
        let mut writer = ToolmarkWriter { losses: Losses::default() };
        JsonMembers::line(out, |w| {
            w.put("schema", TOOLMARK_SCHEMA)?;
            writer.trajectory(w, run, 0)
        })?;
        Ok(writer.losses)
    }
}

struct ToolmarkWriter {
    losses: Losses,
}

impl ToolmarkWriter {
    fn trajectory(
        &mut self,
        w: &mut JsonMembers<'_>,
        run: &Trajectory,
        depth: usize,
    ) -> io::Result<()> {
        w.put("format", run.format)?;
        w.put("file", &*run.file)?;
        w.opt("id", run.id.as_ref())?;
        w.opt("name", run.name.as_ref())?;
        w.object("agent", |w| {
            w.opt("name", run.agent.name.as_ref())?;
            w.opt("version", run.agent.version.as_ref())?;
            w.opt("model", run.agent.model.as_ref())
        })?;
        if let Some(parent) = &run.parent {
            w.object("parent", |w| {
                w.opt("trajectory", parent.trajectory.as_ref())?;
                w.opt("call", parent.call.as_ref())
            })?;
        }
        w.opt("cwd", run.cwd.as_ref())?;
        if run.moves_recorded || !run.moves.is_empty() {
            w.array("moves", &run.moves, |w, moved| {
                w.put("call", &moved.call)?;
                w.put("to", &moved.to)
            })?;
        }
        w.time("started", run.started)?;
        w.time("ended", run.ended)?;
        w.opt("outcome", run.outcome.as_ref())?;
        if let Some(declared) = &run.declared {
            w.object("declared", |w| {
                w.put("outcome", declared.outcome.word())?;
                w.put("says", &declared.says)?;
                self.at(w, run, &declared.at)
            })?;
        }
        w.put("user_turns", &run.user_turns)?;
        w.put("orphans", &run.orphans)?;
        if run.failed_orphans > 0 {
            w.put("failed_orphans", &run.failed_orphans)?;
        }
        w.put("repeated_results", &run.repeated_results)?;
        if run.relayed {
            w.put("relayed", &true)?;
        }
        usage(w, run.usage.as_ref())?;
        w.opt("cost", run.cost)?;
        stated(w, &run.stated)?;
        w.put("fidelity_gaps", &run.fidelity)?;
        completeness(w, &run.completeness)?;
        if let Some(tools) = &run.tools {
            w.array("tools", tools, |w, tool| {
                w.put("name", &tool.name)?;
                w.opt("description", tool.description.as_ref())?;
                payload(w, "schema", tool.schema.as_ref())
            })?;
        }
        w.array("steps", &run.steps, |w, step| self.step(w, run, step))?;
        w.array("calls", &run.calls, |w, call| self.call(w, run, call))?;
        w.array("events", &run.events, |w, event| self.event(w, run, event))?;
        let children = if depth < MAX_DEPTH { &run.children[..] } else { &[] };
        if children.is_empty() {
            self.losses.add(TrajectoryPart::SubAgents, run.flatten().len() - 1);
        }
        w.array("children", children, |w, child| self.trajectory(w, child, depth + 1))
    }

    fn step(&mut self, w: &mut JsonMembers<'_>, run: &Trajectory, step: &Step) -> io::Result<()> {
        w.opt("id", step.id.as_ref())?;
        w.opt("model", step.model.as_ref())?;
        w.time("time", step.time)?;
        usage(w, step.usage.as_ref())?;
        w.put("turn", &step.turn)?;
        if !step.complete {
            w.put("complete", &false)?;
        }
        self.at(w, run, &step.at)
    }

    fn call(&mut self, w: &mut JsonMembers<'_>, run: &Trajectory, call: &Call) -> io::Result<()> {
        w.opt("id", call.id.as_ref())?;
        w.put("name", &call.name.original)?;
        w.opt("namespace", call.name.namespace.as_ref())?;
        payload(w, "args", call.args.as_ref())?;
        if let Some(result) = &call.result {
            w.object("result", |w| self.result(w, run, result))?;
        }
        w.put("status", call.status.word())?;
        w.put("level", call.level.word())?;
        w.opt("exit_code", call.exit_code)?;
        w.time("started", call.started)?;
        w.opt("duration_ns", call.duration.map(|d| d.as_nanos()))?;
        if call.duration_stated {
            w.put("duration_stated", &true)?;
        }
        w.opt("step", call.step)?;
        w.put("actor", call.actor.word())?;
        w.opt("agent", call.agent.as_ref())?;
        w.opt("spawned", call.spawned.as_ref())?;
        self.at(w, run, &call.at)
    }

    fn result(
        &mut self,
        w: &mut JsonMembers<'_>,
        run: &Trajectory,
        result: &CallResult,
    ) -> io::Result<()> {
        payload(w, "payload", result.payload.as_ref())?;
        w.time("time", result.time)?;
        self.at(w, run, &result.at)
    }

    fn event(
        &mut self,
        w: &mut JsonMembers<'_>,
        run: &Trajectory,
        event: &Event,
    ) -> io::Result<()> {
        w.put("kind", event.kind.word())?;
        match &event.kind {
            EventKind::Call(index) | EventKind::Result(index) => w.put("call", index)?,
            EventKind::Unknown(record) | EventKind::Note(record) => w.put("record", record)?,
            _ => {}
        }
        payload(w, "text", event.text.as_ref())?;
        w.opt("label", event.label.as_ref())?;
        w.time("time", event.time)?;
        w.opt("step", event.step)?;
        self.at(w, run, &event.at)
    }

    /// Writes a position; the file is omitted if it is the trajectory's own.
    fn at(&mut self, w: &mut JsonMembers<'_>, run: &Trajectory, at: &At) -> io::Result<()> {
        let place = at.location();
        w.object("at", |w| {
            w.opt("file", (place.file != run.file).then_some(&*place.file))?;
            w.put("line", &place.line)?;
            w.put("column", &place.column)?;
            w.put("byte", &place.byte)
        })
    }
}

/// Writes what the source states about the run as a whole; omitted if there is nothing.
fn stated(w: &mut JsonMembers<'_>, stated: &Stated) -> io::Result<()> {
    if stated.is_empty() {
        return Ok(());
    }
    w.object("stated", |w| {
        payload(w, "output", stated.output.as_ref())?;
        w.opt("calls", stated.calls)?;
        w.opt("responses", stated.responses)?;
        w.opt("errors", stated.errors)?;
        w.opt("duration_ns", stated.duration.map(|d| d.as_nanos()))?;
        w.opt("workspace", stated.workspace.as_ref())?;
        w.opt("artifacts", stated.artifacts.as_ref())?;
        payload(w, "diff", stated.diff.as_ref())?;
        payload(w, "row", stated.row.as_ref())?;
        match &stated.expected {
            Some(expected) => w.object("expected", |w| expected_of_task(w, expected)),
            None => Ok(()),
        }
    })
}

fn expected_of_task(w: &mut JsonMembers<'_>, expected: &TaskExpectation) -> io::Result<()> {
    let texts =
        |all: &[Text]| -> Vec<String> { all.iter().map(|it| it.get().into_owned()).collect() };
    w.array("calls", &expected.calls, |w, call| {
        w.put("name", &call.name)?;
        payload(w, "args", Some(&call.args))?;
        w.opt("compared", call.compared.as_deref().map(texts))?;
        let place = call.at.location();
        w.object("at", |w| {
            w.put("line", &place.line)?;
            w.put("column", &place.column)?;
            w.put("byte", &place.byte)
        })
    })?;
    w.put("answers", &texts(&expected.answers))
}

/// Writes what is missing from the run; nothing if it is complete.
fn completeness(w: &mut JsonMembers<'_>, run: &Completeness) -> io::Result<()> {
    let Completeness { truncated, skipped_records, declared_error, shared_ids } = run;
    if !truncated && *skipped_records + *shared_ids == 0 && declared_error.is_none() {
        return Ok(());
    }
    w.object("completeness", |w| {
        if *truncated {
            w.put("truncated", truncated)?;
        }
        if *skipped_records > 0 {
            w.put("skipped_records", skipped_records)?;
        }
        if *shared_ids > 0 {
            w.put("shared_ids", shared_ids)?;
        }
        w.opt("declared_error", declared_error.as_ref())
    })
}

fn usage(w: &mut JsonMembers<'_>, usage: Option<&Usage>) -> io::Result<()> {
    let Some(usage) = usage else { return Ok(()) };
    w.object("usage", |w| {
        w.put("input", &usage.recorded.input)?;
        w.put("output", &usage.recorded.output)?;
        w.put("cache_read", &usage.recorded.cache_read)?;
        w.put("cache_write", &usage.recorded.cache_write)?;
        if usage.recorded.cache_write_1h > 0 {
            w.put("cache_write_1h", &usage.recorded.cache_write_1h)?;
        }
        w.put("reasoning", &usage.recorded.reasoning)?;
        w.opt("stated_total", usage.stated_total)?;
        w.put("input_includes_cache", &usage.convention.input_includes_cache)?;
        w.put("output_includes_reasoning", &usage.convention.output_includes_reasoning)
    })
}

/// Writes a payload under a key for its form: `text`, `json`, or `raw` for JSON that other
/// parsers would reject.
fn payload(w: &mut JsonMembers<'_>, key: &str, payload: Option<&Payload>) -> io::Result<()> {
    let Some(payload) = payload else { return Ok(()) };
    let raw = payload.raw();
    w.object(key, |w| match (payload.form(), portable(&raw)) {
        (Form::Text, _) => w.put("text", &raw),
        (Form::Json, Some(json)) => w.raw("json", &json),
        (Form::Json, None) => w.put("raw", &raw),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::{everything, export, lines};
    use serde_json::Value;

    #[test]
    fn the_form_of_a_payload_is_its_key() {
        let (text, _) = export(&ToolmarkExporter, &everything());
        let run = &lines(&text)[0];
        assert_eq!(run["schema"], "toolmark.trajectory.v1");
        let args = |i: usize| &run["calls"][i]["args"];
        assert_eq!(args(0)["json"]["command"], "ls");
        assert_eq!(args(1)["text"], "{\"path\":\"a\"}");
        assert_eq!(args(2)["raw"], "{\"n\":NaN}");
        assert!(args(3).is_null());
        assert!(
            text.contains(r#""json":{"command":"ls","n":1.0}"#),
            "JSON stays as it was written"
        );
    }

    #[test]
    fn places_name_their_file_only_where_it_is_another() {
        let (text, _) = export(&ToolmarkExporter, &everything());
        let run = &lines(&text)[0];
        assert_eq!(run["events"][0]["at"].get("file"), None);
        assert_eq!(run["events"][0]["at"]["line"], 4);
        assert_eq!(run["events"][1]["at"]["file"], "");
    }

    const SCHEMA: &str = include_str!("../../../../schemas/toolmark.trajectory.v1.schema.json");

    /// Checks `value` against the schema keywords in use; reports where it is invalid.
    fn check(value: &Value, schema: &Value, root: &Value, path: &str) {
        if let Some(name) = schema["$ref"].as_str() {
            let target = root.pointer(&name[1..]).unwrap();
            return check(value, target, root, path);
        }
        if let Some(allowed) = schema["enum"].as_array() {
            assert!(allowed.contains(value), "{path}: {value} is not allowed");
        }
        if let Some(forms) = schema["oneOf"].as_array() {
            let fits = |form: &&Value| value.get(form["required"][0].as_str().unwrap()).is_some();
            let form = forms.iter().find(fits).unwrap();
            return check(value, form, root, path);
        }
        match schema["type"].as_str() {
            Some("object") => {
                let members = value.as_object().unwrap();
                for name in schema["required"].as_array().unwrap() {
                    assert!(members.contains_key(name.as_str().unwrap()), "{path} lacks {name}");
                }
                for (name, member) in members {
                    let path = format!("{path}.{name}");
                    let schema = schema["properties"].get(name);
                    check(member, schema.unwrap_or_else(|| panic!("{path} is new")), root, &path);
                }
            }
            Some("array") => {
                let items = value.as_array().unwrap();
                items.iter().for_each(|item| check(item, &schema["items"], root, path));
            }
            Some("string") => assert!(value.is_string(), "{path}"),
            Some("integer") => assert!(value.is_i64() || value.is_u64(), "{path}"),
            Some("boolean") => assert!(value.is_boolean(), "{path}"),
            _ => {}
        }
    }

    #[test]
    fn what_is_written_is_what_the_schema_says() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(schema["properties"]["schema"]["const"], TOOLMARK_SCHEMA);
        let (text, _) = export(&ToolmarkExporter, &everything());
        check(&lines(&text)[0], &schema, &schema, "trajectory");
        let gaps = schema["properties"]["fidelity_gaps"]["items"]["enum"].as_array().unwrap();
        let facts: Vec<&str> = crate::Fact::ALL.iter().map(|f| f.word()).collect();
        assert_eq!(gaps.iter().map(|g| g.as_str().unwrap()).collect::<Vec<_>>(), facts);
    }

    #[test]
    fn sub_agents_nested_beyond_reason_are_counted_as_lost() {
        let mut run = everything();
        run.children.clear();
        for _ in 0..MAX_DEPTH + 3 {
            let mut outer = everything();
            outer.children = vec![run];
            run = outer;
        }
        let (text, losses) = export(&ToolmarkExporter, &run);
        assert_eq!(losses.count(TrajectoryPart::SubAgents), 3);
        lines(&text);
    }
}
