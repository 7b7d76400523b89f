//! `code-grader`: runs a program of the user, as AgentV does, with JSON as input and output.

use super::composite::zero;
use super::reading::{CheckLines, PROFILES, count};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeKind, Problem};
use toolmark_grade::{AnswerCost, Determinism, Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_process::{Finished, ProcessProgram, RunError, run};
use toolmark_trace::exporter_by_id;

/// A program and its input.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "keys that are not known are for the program, so it is read by hand")]
struct CodeGraderConfig {
    /// The program and its arguments, or a shell command line. Alias: `script`.
    #[schemars(schema_with = "command_schema")]
    command: Node,
    /// Working directory, relative to the directory of the spec, which is the default.
    #[schemars(default)]
    cwd: Option<String>,
    /// Passed to the program as `config`, with all unknown keys.
    #[schemars(default)]
    config: Option<Map<String, Value>>,
}

fn command_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ]
    })
}

pub(crate) static CODE_GRADER: GraderInfo = GraderInfo {
    id: "code-grader",
    aliases: &["code_grader", "code-judge", "code_judge", "script"],
    origin: "agentv",
    summary: "checks the run with your own program",
    docs: "Passes if a program accepts the run. `command` (older: `script`) is a list of the program and its arguments, or a line for the shell; it runs in `cwd`, or beside the spec.

It reads one JSON object: `criteria`, `input`, `expected_output`, `output` and `messages` (the run, as AgentV's messages), `answer`, `trace` and `trace_summary` (counts), `token_usage`, `cost_usd`, `duration_ms`, `start_time`, `end_time`, `file_changes`, `workspace_path`, `config`. It answers with one: `score` from 0 to 1, `assertions` (a list of `text` and `passed`) and `details`. Without a `score`, it is the share of assertions that passed. Plain text is an answer too: the exit code decides. 0.8 passes.

A program that fails, or that may not be run, is unknown; AgentV's readings give 0. The run is always handed over as it is, also where AgentV would write it to a file.",
    example: "type: code-grader\nconfig:\n  command: [python3, check.py]",
    taxonomy: Taxonomy {
        determinism: Determinism::Environment,
        cost: AnswerCost::Medium,
        ..Taxonomy::TRAJECTORY
    },
    profiles: PROFILES,
    schema: schema_of::<CodeGraderConfig>,
    build,
};

/// Reason why a program gave no text.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProgramError {
    #[error("programs may not be run")]
    NotAllowed,
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the program wrote no prompt")]
    NoPrompt,
    #[error("the program of the prompt failed: {0}")]
    Failed(String),
}

/// A command and its working directory.
pub(super) struct GraderCommand {
    program: String,
    args: Vec<String>,
    shell: bool,
    cwd: PathBuf,
}

impl GraderCommand {
    /// Creates a shell command.
    pub(super) fn line(line: &str, cwd: Option<&str>, directory: &Path) -> Self {
        let cwd = cwd.map_or_else(|| directory.to_owned(), |cwd| directory.join(cwd));
        Self { program: line.to_owned(), args: Vec::new(), shell: true, cwd }
    }

    /// Reads a shell command line, or a list of a program and its arguments.
    pub(super) fn read(node: &Node, cwd: Option<&str>, directory: &Path) -> Option<Self> {
        if let Some(line) = node.as_str().map(str::trim).filter(|line| !line.is_empty()) {
            return Some(Self::line(line, cwd, directory));
        }
        let words: Vec<String> = node.items().filter_map(Node::as_str).map(str::to_owned).collect();
        if words.len() != node.items().len() {
            return None;
        }
        let (program, args) = words.split_first()?;
        if program.trim().is_empty() {
            return None;
        }
        let here = Self::line(program, cwd, directory);
        Some(Self { args: args.to_vec(), shell: false, ..here })
    }

    /// Creates a command with arguments, which runs beside the spec.
    pub(super) fn program(program: &str, args: &[&str], directory: &Path) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { args, shell: false, ..Self::line(program, None, directory) }
    }

    /// Runs the program with a description of the run and returns its output.
    pub(super) fn text(&self, subject: &Subject<'_>) -> Result<String, ProgramError> {
        let finished = self.run(&input(subject, &Map::new()), subject)?;
        match (finished.code, finished.stdout.trim()) {
            (Some(0), text) if !text.is_empty() && !finished.truncated => Ok(text.to_owned()),
            (Some(0), _) => Err(ProgramError::NoPrompt),
            _ => Err(ProgramError::Failed(excerpt(&finished.stderr))),
        }
    }

    /// Runs the program with this input.
    pub(super) fn run(
        &self,
        input: &Value,
        subject: &Subject<'_>,
    ) -> Result<Finished, ProgramError> {
        if !subject.environment.may_run {
            return Err(ProgramError::NotAllowed);
        }
        Ok(run(self.prepared(input, subject))?)
    }

    fn prepared(&self, input: &Value, subject: &Subject<'_>) -> ProcessProgram {
        let mut program = ProcessProgram::new(self.program.clone(), self.cwd.clone());
        program.args.clone_from(&self.args);
        program.shell = self.shell;
        program.stdin = Some(input.to_string().into_bytes());
        if let Some(workspace) = workspace(subject) {
            program.env.push(("AGENTV_WORKSPACE_PATH".into(), workspace.into_os_string()));
        }
        program
    }

    /// Runs the program with this input and reads its answer.
    pub(super) fn ask(&self, input: &Value, subject: &Subject<'_>, profile: Profile) -> Outcome {
        if !subject.environment.may_run {
            return Outcome::unknown(Cause::Program, "programs may not be run");
        }
        let program = self.prepared(input, subject);
        let line = program.line();
        match run(program) {
            Err(error) => zero(profile, error.to_string()),
            Ok(finished) => answer(&finished, &line, profile),
        }
    }
}

fn answer(finished: &Finished, line: &str, profile: Profile) -> Outcome {
    let (stdout, stderr) = (finished.stdout.trim(), finished.stderr.trim());
    let shown = |outcome: Outcome| {
        let words = if stdout.is_empty() { stderr } else { stdout };
        let evidence =
            Evidence::words(EvidenceRole::Context, format!("what {} said", excerpt(line)));
        outcome.with_evidence([evidence.with_excerpt(words)])
    };
    if finished.timed_out {
        return shown(zero(profile, format!("{} took too long", excerpt(line))));
    }
    if finished.truncated {
        return shown(zero(profile, format!("{} said too much", excerpt(line))));
    }
    let ended = match finished.code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let passed = finished.code == Some(0);
    // A program that fails and has more to say than plain text has failed itself.
    if !passed && (finished.code.is_none() || stdout.starts_with(['{', '[']) || !stderr.is_empty())
    {
        let why = if stderr.is_empty() { ended } else { format!("{ended}: {}", excerpt(stderr)) };
        return shown(zero(profile, why));
    }
    let Ok(Value::Object(said)) = serde_json::from_str(stdout) else {
        let text = if stdout.is_empty() { ended } else { excerpt(stdout) };
        return shown(CheckLines::single(profile, passed, text));
    };
    let mut lines = CheckLines::default();
    for line in said.get("assertions").and_then(Value::as_array).into_iter().flatten() {
        if let Some(text) = line.get("text").and_then(Value::as_str) {
            let passed = line.get("passed").is_some_and(is_truthy);
            lines.add(passed, || excerpt(text));
        }
    }
    let checks = lines.hits + lines.misses;
    let mut note = None;
    let score = match (said.get("score").and_then(Value::as_f64), checks) {
        (Some(score), _) => {
            let within = score.clamp(0.0, 1.0);
            note = (within != score).then(|| format!("a score of {score} was taken for {within}"));
            within
        }
        (None, 0) => {
            let why = "the program gave neither a score nor assertions";
            return shown(zero(profile, why.into()));
        }
        (None, _) => lines.hits as f64 / checks as f64,
    };
    let reason = match said.get("reasoning").and_then(Value::as_str) {
        Some(words) => excerpt(words),
        None => format!("{} of {} passed", lines.hits, count(checks, "assertion")),
    };
    let mut outcome = lines.outcome(profile, score, checks.max(1), reason);
    if let Some(details) = said.get("details").filter(|details| details.is_object()) {
        outcome.metrics.insert("details".into(), details.clone());
    }
    outcome.notes.extend(note.map(Into::into));
    shown(outcome)
}

/// Whether JavaScript treats the value as true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn workspace(subject: &Subject<'_>) -> Option<PathBuf> {
    let given = subject.workspace().cloned();
    given.or_else(|| Some(PathBuf::from(subject.view.trajectory().cwd.as_ref()?.get().as_ref())))
}

struct CodeGrader {
    command: GraderCommand,
    config: Map<String, Value>,
    profile: Profile,
}

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let node = building.config;
    let Some(command) = node.get("command").or_else(|| node.get("script")) else {
        building.reject(node.span, "missing-key", "missing key \"command\"");
        return None;
    };
    let cwd = node.get("cwd").and_then(Node::as_str);
    let Some(command) = GraderCommand::read(command, cwd, building.directory) else {
        let message = "command must be a line, or a list of a program and its arguments";
        building.problems.push(Problem::error("invalid-command", message).at(command.span));
        return None;
    };
    // Keys that are not known are for the program.
    let mut config = match node.without(&["command", "script", "cwd", "target", "config"]).to_json()
    {
        Value::Object(config) => config,
        _ => Map::new(),
    };
    match node.get("config").map(|node| (node, &node.kind)) {
        None | Some((_, NodeKind::Null)) => {}
        Some((node, NodeKind::Map(_))) => {
            if let Value::Object(more) = node.to_json() {
                config.extend(more);
            }
        }
        Some((node, _)) => {
            building.reject(node.span, "invalid-config", "config must be a map");
            return None;
        }
    }
    Some(Arc::new(CodeGrader { command, config, profile: building.profile }))
}

impl Grader for CodeGrader {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        self.command.ask(&input(subject, &self.config), subject, self.profile)
    }
}

/// Returns the program's input that describes a run.
pub(super) fn input(subject: &Subject<'_>, config: &Map<String, Value>) -> Value {
    let (view, context) = (&subject.view, subject.context);
    let run = view.trajectory();
    let messages = messages(view);
    let answer = view.output().ok().map(|output| output.into_owned());
    let mut by_name: SortedMap<String, u64> = SortedMap::new();
    for seen in view.calls() {
        *by_name.entry(seen.call.name.full().into_owned()).or_default() += 1;
    }
    let errors = view.calls().iter().filter(|seen| seen.call.status.is_error()).count();
    let usage = run.usage.map(|usage| {
        let tokens = usage.recorded;
        json!({"input": tokens.input, "output": tokens.output, "cached": tokens.cache_read})
    });
    let duration = super::facts::duration(view, Profile::Toolmark).ok();
    let summary = json!({
        "event_count": view.calls().len(),
        "tool_names": by_name.keys().collect::<Vec<_>>(),
        "tool_calls": by_name,
        "tool_calls_by_name": by_name,
        "error_count": errors,
        "llm_call_count": view.steps().len(),
    });
    json!({
        "criteria": context.criteria,
        "expected_outcome": context.criteria,
        "question": context.prompts.first().cloned().or_else(|| view.prompt().map(Into::into)),
        "input": context.input,
        "expected_output": context.expected_output,
        "output": messages,
        "output_messages": messages,
        "messages": messages,
        "answer": answer,
        "candidate_answer": answer,
        "trace": summary,
        "trace_summary": summary,
        "token_usage": usage,
        "cost_usd": run.cost.map(|cost| cost.usd()),
        "duration_ms": duration,
        "start_time": run.started.map(|time| time.to_string()),
        "end_time": run.ended.map(|time| time.to_string()),
        "file_changes": run.stated.diff.as_ref().map(|diff| diff.raw()),
        "workspace_path": workspace(subject),
        "config": if config.is_empty() { Value::Null } else { Value::Object(config.clone()) },
    })
}

/// Returns the run as AgentV messages: the lines of a transcript, without the fields that every
/// line repeats.
fn messages(view: &TrajectoryView<'_>) -> Vec<Value> {
    let Some(exporter) = exporter_by_id("agentv") else { return Vec::new() };
    let mut lines = Vec::new();
    if exporter.export(view.trajectory(), &mut lines).is_err() {
        return Vec::new();
    }
    let repeated = |key: &str| {
        matches!(
            key,
            "schema_version" | "test_id" | "target" | "message_index" | "capture" | "source"
        ) || key.starts_with("transcript_")
    };
    lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| match serde_json::from_slice(line) {
            Ok(Value::Object(fields)) => {
                let kept = fields.into_iter().filter(|(key, _)| !repeated(key));
                Some(Value::Object(kept.collect()))
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use crate::testing::{agentv_with, build, complaints, grade, grade_as, runs};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile;
    use toolmark_outcome::TrajectoryView;
    use toolmark_outcome::{CaseContext, Environment, Subject};
    use toolmark_outcome::{Cause, Outcome, Verdict};

    fn made() -> String {
        agentv_with(
            json!([{"tool": "a", "input": {"q": 1}}]),
            json!({"duration_ms": 5, "cost_usd": 0.5}),
        )
    }

    fn says(line: &str) -> Value {
        json!({"command": ["sh", "-c", format!("cat > /dev/null; {line}")]})
    }

    #[test]
    fn answers() {
        use Verdict::{Fail, Pass};
        let program = Verdict::Unknown(Cause::Program);
        // (what it does, toolmark, AgentV)
        for (line, ours, theirs) in [
            ("echo '{\"score\": 0.9}'", (Pass, Some(0.9)), (Pass, Some(0.9))),
            ("echo '{\"score\": 7}'", (Pass, Some(1.0)), (Pass, Some(1.0))),
            (
                "echo '{\"assertions\": [{\"text\": \"a\", \"passed\": true}, {\"text\": \"b\"}]}'",
                (Fail, Some(0.5)),
                (Fail, Some(0.5)),
            ),
            ("echo fine", (Pass, Some(1.0)), (Pass, Some(1.0))),
            ("echo bad; exit 1", (Fail, Some(0.0)), (Fail, Some(0.0))),
            ("echo bad >&2; exit 1", (program, None), (Fail, Some(0.0))),
            ("echo '{\"score\": 1}'; exit 3", (program, None), (Fail, Some(0.0))),
            ("echo '{}'", (program, None), (Fail, Some(0.0))),
            ("kill -9 $$", (program, None), (Fail, Some(0.0))),
        ] {
            let outcome = grade("code-grader", says(line), &made());
            assert_eq!((outcome.verdict, outcome.score), ours, "{line}: {outcome:?}");
            let outcome = grade_as("code_judge", Profile::AgentV2, says(line), &made());
            assert_eq!((outcome.verdict, outcome.score), theirs, "{line}: {outcome:?}");
        }
    }

    fn told(environment: &Environment) -> Outcome {
        let config = json!({"command": "cat > seen.json; echo ok", "mine": 1, "config": {"k": 2}});
        let dir = tempfile::tempdir().unwrap();
        let mut config = config;
        config["cwd"] = json!(dir.path());
        let grader = build("script", Profile::Toolmark, &config).unwrap();
        let context = CaseContext { criteria: Some("be good".into()), ..CaseContext::default() };
        let run = &runs(&made())[0];
        let mut outcome = grader.grade(&Subject {
            view: TrajectoryView::whole(run),
            context: &context,
            environment,
        });
        if let Ok(seen) = std::fs::read_to_string(dir.path().join("seen.json")) {
            outcome.metrics.insert("seen".into(), serde_json::from_str(&seen).unwrap());
        }
        outcome
    }

    #[test]
    fn what_it_is_told() {
        let outcome = told(&Environment::default());
        assert_eq!(outcome.verdict, Verdict::Pass);
        let seen = &outcome.metrics["seen"];
        assert_eq!(seen["criteria"], "be good");
        assert_eq!(seen["output"][0]["tool_calls"][0]["tool"], "a");
        assert_eq!(seen["output"][0]["tool_calls"][0]["input"], json!({"q": 1}));
        assert_eq!(seen["answer"], "done");
        assert_eq!(seen["trace"]["tool_calls"], json!({"a": 1}));
        assert_eq!((&seen["duration_ms"], &seen["cost_usd"]), (&json!(5.0), &json!(0.5)));
        assert_eq!(seen["config"], json!({"mine": 1, "k": 2}));
    }

    #[test]
    fn programs_may_be_forbidden() {
        let outcome = told(&Environment { may_run: false, ..Environment::default() });
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::Program));
        assert!(!outcome.metrics.contains_key("seen"));
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "command"),
            (json!({"command": []}), "list of a program"),
            (json!({"command": " "}), "list of a program"),
            (json!({"command": ["a", 1]}), "list of a program"),
            (json!({"command": "a", "config": []}), "must be a map"),
        ] {
            let said = complaints("code-grader", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
        let outcome = grade("code-grader", json!({"command": ["no-such-program-here"]}), &made());
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::Program));
    }
}
