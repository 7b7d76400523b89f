//! `program`: runs a program of the user.
//!
//! The program is run in the workspace and gets the location of its inputs in two
//! variables: `EVALUATE_WORKSPACE`, and `EVALUATE_GRADER_INPUT`, a JSON file
//! with the trajectory, the stimulus and the grader's configuration. It answers
//! with one JSON object on its standard output, or only with its exit
//! code.

use super::run_command::{TAXONOMY, allowed, directory, end_of, path_is_inside, std_duration};
use crate::vally::graders::workspace::{Untold, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolmark_base::SortedMap;
use toolmark_config::Spanned;
use toolmark_grade::{Grader, GraderInfo, schema_of};
use toolmark_match::Building;
use toolmark_match::units::Duration;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_process::{Finished, ProcessProgram, run, variables};
use toolmark_trace::exporter_by_id;

/// Default timeout of a program.
const TIMEOUT: Duration = Duration { millis: 60_000.0 };

/// Variable with the path of the workspace.
const WORKSPACE: &str = "EVALUATE_WORKSPACE";

/// Variable with the path of the input file.
const INPUT: &str = "EVALUATE_GRADER_INPUT";

/// Maximum number of parts of an answer that are kept.
const PARTS: usize = 1000;

/// A program and its options.
#[derive(Debug, Deserialize, JsonSchema)]
struct ProgramConfig {
    /// Program: a name, or a path relative to its working directory; a path that
    /// does not exist is looked up beside the spec.
    program: Spanned<String>,
    /// Arguments of the program.
    #[serde(default)]
    args: Vec<String>,
    /// Whether it is a shell command line.
    #[serde(default)]
    shell: bool,
    /// Working directory in the workspace.
    #[serde(default)]
    sub_path: Option<Spanned<String>>,
    /// Timeout, with a unit; 60s by default.
    #[serde(default)]
    timeout: Option<Duration>,
    /// Environment variables in addition to inherited ones. `EVALUATE_WORKSPACE` and
    /// `EVALUATE_GRADER_INPUT` are reserved.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    env: SortedMap<String, String>,
}

struct ProgramGrader {
    config: ProgramConfig,
    /// Configuration as written in the spec, for the program.
    value: Value,
    beside: PathBuf,
}

pub(crate) static PROGRAM: GraderInfo = GraderInfo {
    id: "program",
    aliases: &[],
    origin: "vally",
    summary: "scores the run with your own program",
    docs: "Runs `program` in the workspace and takes its answer.\n\n\
           It finds the workspace in the variable `EVALUATE_WORKSPACE`, and in \
           `EVALUATE_GRADER_INPUT` the path of a JSON file with `trajectory` (in Vally's form, with \
           `workDir` and, where there is one, `diff`), `stimulus`, `config`, and `turn` where the grader is restricted to one. The file is \
           removed when the program has ended.\n\n\
           It answers by its exit code (0 is a pass, anything else a failure), or prints one \
           JSON object: `passed` (true or false), and if it likes `score` (0 to 1), `evidence` \
           (a text: the reason), `metadata` (an object: the metrics), `details` (a list of such \
           objects: the parts) and `status: error` where it cannot tell. A printed answer \
           counts before the exit code, but a program that says `passed: true` and then fails \
           is not believed.\n\n\
           The answer is unknown where the program cannot be started or may not be, does not \
           end within `timeout` (60s; all of its processes are then killed), is ended by a \
           signal, or prints an object that is not such an answer.",
    example: "type: program\nconfig:\n  program: node\n  args: [graders/check.mjs]\n  timeout: 30s",
    taxonomy: TAXONOMY,
    profiles: &[Profile::Vally],
    schema: schema_of::<ProgramConfig>,
    build,
};

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let config = building.read::<ProgramConfig>()?;
    let before = building.problems.len();
    if config.program.value.trim().is_empty() {
        building.reject(config.program.span, "empty-text", "the program is empty");
    }
    if let Some(path) = &config.sub_path {
        path_is_inside(path, building);
    }
    for name in config.env.keys() {
        if [WORKSPACE, INPUT].iter().any(|taken| taken.eq_ignore_ascii_case(name)) {
            let entry = building.config.get("env").and_then(|env| env.entry(name));
            let span = entry.map_or(building.config.span, |entry| entry.key_span);
            let message = format!("the variable {name} is reserved");
            building.reject(span, "reserved-name", message);
        }
    }
    (building.problems.len() == before).then(|| -> Arc<dyn Grader> {
        let beside = building.directory.to_owned();
        Arc::new(ProgramGrader { config, value: building.config.to_json(), beside })
    })
}

impl Grader for ProgramGrader {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        match self.start(subject) {
            Ok(finished) => self.judge(&finished),
            Err(untold) => untold.into(),
        }
    }
}

impl ProgramGrader {
    fn start(&self, subject: &Subject<'_>) -> Result<Finished, Untold> {
        allowed(subject.environment)?;
        let workspace = Workspace::of(subject)?;
        let cwd = directory(&workspace, self.config.sub_path.as_ref().map(|path| &path.value))?;
        let input = self.input(subject, workspace.root());
        let input = input.map_err(|error| Untold::program(error.to_string()))?;
        let input = TemporaryFile::new(&input)
            .map_err(|error| Untold::program(format!("failed to write the input: {error}")))?;
        let mut program = ProcessProgram::new(self.located(&cwd), cwd);
        program.args.clone_from(&self.config.args);
        program.shell = self.config.shell;
        program.env = variables(&self.config.env);
        program.env.push((WORKSPACE.into(), workspace.root().as_os_str().to_owned()));
        program.env.push((INPUT.into(), input.path.as_os_str().to_owned()));
        program.timeout = std_duration(self.timeout());
        run(program).map_err(|error| Untold::program(error.to_string()))
    }

    fn timeout(&self) -> Duration {
        self.config.timeout.unwrap_or(TIMEOUT)
    }

    /// Returns the path of the program, beside the spec if it is not in its working directory.
    fn located(&self, cwd: &Path) -> String {
        let program = &self.config.program.value;
        let beside = self.beside.join(program);
        if self.config.shell || !program.contains('/') || cwd.join(program).exists() {
            return program.clone();
        }
        match beside.canonicalize() {
            Ok(beside) => beside.to_string_lossy().into_owned(),
            Err(_) => program.clone(),
        }
    }

    /// Returns the input of the program.
    fn input(&self, subject: &Subject<'_>, workspace: &Path) -> Result<Vec<u8>, ExportError> {
        let trajectory = trajectory_json(subject, workspace)?;
        let context = subject.context;
        let stimulus = match &context.spec {
            Some(spec) => (**spec).clone(),
            None => json!({
                "name": context.case,
                "prompt": context.prompts.first(),
                "rubric": context.rubric,
            }),
        };
        let mut input = Vec::with_capacity(trajectory.len() + 1024);
        let mut write = |key: &str, value: &str| {
            input.extend_from_slice(if input.is_empty() { b"{\"" } else { b",\"" });
            input.extend_from_slice(key.as_bytes());
            input.extend_from_slice(b"\":");
            input.extend_from_slice(value.as_bytes());
        };
        write("trajectory", &trajectory);
        write("stimulus", &stimulus.to_string());
        write("config", &self.value.to_string());
        if let Some(turn) = subject.view.turn_index() {
            write("turn", &turn.to_string());
        }
        input.push(b'}');
        Ok(input)
    }

    fn judge(&self, finished: &Finished) -> Outcome {
        let outcome = self.verdict(finished);
        let role = if outcome.verdict == Verdict::Pass {
            EvidenceRole::Context
        } else {
            EvidenceRole::Violation
        };
        match finished.stderr.trim() {
            "" => outcome,
            text => outcome.with_evidence([
                Evidence::words(role, "standard error").with_excerpt(end_of(text))
            ]),
        }
    }

    fn verdict(&self, finished: &Finished) -> Outcome {
        let broken = |why: String| Outcome::unknown(Cause::Program, why);
        if finished.timed_out {
            let timeout = self.timeout().millis;
            return broken(format!("the program did not end within {timeout} ms"));
        }
        let Some(code) = finished.code else {
            return broken("the program was ended by a signal".into());
        };
        let printed = finished.stdout.trim();
        if let Some(answer) = printed_object(printed) {
            let answer = serde_json::from_str::<Map<String, Value>>(answer);
            return match answer.map_err(AnswerError::from).and_then(|a| answered(&a)) {
                Err(error) => broken(format!("the program printed no answer: {error}")),
                Ok(outcome) if outcome.verdict == Verdict::Pass && code != 0 => {
                    broken(format!("the program said it passed, but exited with {code}"))
                }
                Ok(outcome) => outcome,
            };
        }
        let outcome = Outcome::binary(code == 0, format!("the program exited with {code}"))
            .with_metric("exit_code", code);
        match printed {
            "" => outcome,
            text => outcome
                .with_evidence([Evidence::words(EvidenceRole::Context, "standard output")
                    .with_excerpt(end_of(text))])
                .with_note("the program printed no JSON object: its exit code decides"),
        }
    }
}

/// Returns the object that a program printed: its whole output, or the last line
/// after other output.
fn printed_object(printed: &str) -> Option<&str> {
    if printed.starts_with('{') {
        return Some(printed);
    }
    let last = printed.lines().last()?.trim();
    last.starts_with('{').then_some(last)
}

/// Reason why a printed object is not an answer.
#[derive(Debug, thiserror::Error)]
enum AnswerError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("{0} is no object")]
    NotAnObject(&'static str),
    #[error("details is no list")]
    Details,
    #[error("passed is neither true nor false")]
    Passed,
    #[error("it does not say whether it passed")]
    NotPassed,
    #[error("the score is no number")]
    Score,
    #[error("the score {0} is not between 0 and 1")]
    ScoreRange(f64),
}

/// Reason why a trajectory cannot be written for the program.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("trajectories cannot be written for Vally")]
    NoExporter,
    #[error(transparent)]
    Write(#[from] std::io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Converts a printed answer to an outcome.
fn answered(answer: &Map<String, Value>) -> Result<Outcome, AnswerError> {
    let evidence = match answer.get("evidence") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    if answer.get("status").and_then(Value::as_str) == Some("error") {
        let reason = evidence.unwrap_or_else(|| "the program could not tell".into());
        return Ok(Outcome::unknown(Cause::Program, reason));
    }
    let (passed, score) = passed_and_score(answer)?;
    let word = if passed { "passed" } else { "failed" };
    let reason = evidence.unwrap_or_else(|| format!("the program says it {word}"));
    let mut outcome = Outcome::scored(Verdict::of(passed), score, reason);
    match answer.get("metadata") {
        None | Some(Value::Null) => {}
        Some(Value::Object(metadata)) => outcome.metrics = metadata.clone().into(),
        Some(_) => return Err(AnswerError::NotAnObject("metadata")),
    }
    if let Some(label) = answer.get("label").filter(|label| !label.is_null()) {
        outcome.metrics.entry("label").or_insert_with(|| label.clone());
    }
    match answer.get("details") {
        None | Some(Value::Null) => {}
        Some(Value::Array(details)) => {
            outcome.parts = details.iter().take(PARTS).map(part).collect::<Result<_, _>>()?;
        }
        Some(_) => return Err(AnswerError::Details),
    }
    Ok(outcome)
}

fn passed_and_score(answer: &Map<String, Value>) -> Result<(bool, f64), AnswerError> {
    let passed = match answer.get("passed") {
        Some(Value::Bool(passed)) => *passed,
        Some(_) => return Err(AnswerError::Passed),
        None => return Err(AnswerError::NotPassed),
    };
    let score = match answer.get("score") {
        None | Some(Value::Null) => f64::from(u8::from(passed)),
        Some(score) => score.as_f64().ok_or(AnswerError::Score)?,
    };
    if !(0.0..=1.0).contains(&score) {
        return Err(AnswerError::ScoreRange(score));
    }
    Ok((passed, score))
}

fn part(detail: &Value) -> Result<OutcomePart, AnswerError> {
    let detail = detail.as_object().ok_or(AnswerError::NotAnObject("a detail"))?;
    let text = |key: &str| detail.get(key).and_then(Value::as_str);
    let name = text("name").or_else(|| text("graderType")).unwrap_or("part");
    let mut part = if text("status") == Some("error") {
        OutcomePart::new(name, Verdict::Unknown(Cause::Program))
    } else {
        let (passed, score) = passed_and_score(detail)?;
        let mut part = OutcomePart::new(name, Verdict::of(passed));
        part.score = (score != 0.0 && score != 1.0).then_some(score);
        part
    };
    part.reason = text("evidence").map(str::to_owned).map(Into::into);
    Ok(part)
}

/// Returns a trajectory in Vally's format, with the workspace, diff and
/// artifacts that the caller provides.
fn trajectory_json(subject: &Subject<'_>, workspace: &Path) -> Result<String, ExportError> {
    #[derive(Deserialize)]
    struct Exported {
        trajectory: SortedMap<String, Box<RawValue>>,
    }
    let run = subject.view.trajectory();
    let exporter = exporter_by_id("vally").ok_or(ExportError::NoExporter)?;
    let mut line = Vec::new();
    exporter.export(run, &mut line)?;
    let mut trajectory = serde_json::from_slice::<Exported>(&line)?.trajectory;
    let stated = &run.stated;
    let diff = match (&subject.environment.diff, &stated.diff) {
        (Some(diff), _) => Some(diff.to_string()),
        (None, stated) => stated.as_ref().map(|diff| diff.plain().into_owned()),
    };
    let artifacts = match (&subject.environment.artifacts, &stated.artifacts) {
        (Some(given), _) => Some(given.to_string_lossy().into_owned()),
        (None, stated) => stated.as_ref().map(|stated| stated.get().into_owned()),
    };
    let workspace = Some(workspace.to_string_lossy().into_owned());
    for (key, text) in [("workDir", workspace), ("diff", diff), ("artifactDir", artifacts)] {
        if let Some(text) = text {
            trajectory.insert(key.to_owned(), serde_json::value::to_raw_value(&text)?);
        }
    }
    Ok(serde_json::to_string(&trajectory)?)
}

/// A file for one program to read, removed when dropped.
struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    fn new(content: &[u8]) -> std::io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut options = std::fs::OpenOptions::new();
        // Fail if the file exists: an existing file may be an attack.
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let process = std::process::id();
        let mut attempts = 0;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("toolmark-grader-input-{process}-{number}.json");
            let path = std::env::temp_dir().join(name);
            match options.open(&path) {
                Ok(mut file) => {
                    let made = Self { path };
                    file.write_all(content)?;
                    return Ok(made);
                }
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && attempts < 1000 =>
                {
                    attempts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::testing::complaints;
    use crate::vally::graders::testing::{Files, grade_in};
    use toolmark_outcome::Environment;

    const BROKEN: Verdict = Verdict::Unknown(Cause::Program);

    fn shell(line: &str) -> Value {
        json!({"program": line, "shell": true})
    }

    #[test]
    fn answers() {
        let files = Files::new(&[("a.txt", "hello")]);
        for (line, verdict, score, reason) in [
            ("true", Verdict::Pass, Some(1.0), "exited with 0"),
            ("exit 4", Verdict::Fail, Some(0.0), "exited with 4"),
            ("echo all fine", Verdict::Pass, Some(1.0), "exited with 0"),
            (r#"echo '{"passed": true}'"#, Verdict::Pass, Some(1.0), "says it passed"),
            (r#"echo '{"passed": false}'"#, Verdict::Fail, Some(0.0), "says it failed"),
            (
                r#"echo '{"passed": false, "score": 0.4, "evidence": "two of five"}'; exit 1"#,
                Verdict::Fail,
                Some(0.4),
                "two of five",
            ),
            (
                r#"echo '{"passed": true}'; exit 1"#,
                BROKEN,
                None,
                "said it passed, but exited with 1",
            ),
            (
                r#"echo checking; echo '{"passed": false}'"#,
                Verdict::Fail,
                Some(0.0),
                "says it failed",
            ),
            (r#"echo '{"status": "error", "evidence": "no net"}'"#, BROKEN, None, "no net"),
            (r#"echo '{"passed": true, "score": 2}'"#, BROKEN, None, "not between 0 and 1"),
            (r#"echo '{"passed": "yes"}'"#, BROKEN, None, "neither true nor false"),
            (r#"echo '{"score": 1}'"#, BROKEN, None, "whether it passed"),
            (r#"echo '{"passed": true,'"#, BROKEN, None, "printed no answer"),
            ("kill -9 $$", BROKEN, None, "signal"),
            ("test \"$EVALUATE_WORKSPACE\" = \"$PWD\"", Verdict::Pass, Some(1.0), "0"),
        ] {
            let outcome = grade_in("program", shell(line), &files.environment());
            assert_eq!((outcome.verdict, outcome.score), (verdict, score), "{line} {outcome:?}");
            assert!(outcome.reason.raw().contains(reason), "{line} {}", outcome.reason.raw());
        }
    }

    #[test]
    fn the_answer_may_have_metrics_and_parts() {
        let files = Files::new(&[]);
        let line = r#"echo '{"passed": true, "label": "correct", "metadata": {"n": 3},
            "details": [{"name": "a", "passed": false, "score": 0.5, "evidence": "why"},
                        {"name": "b", "status": "error"}]}'; echo oops >&2"#;
        let outcome = grade_in("program", shell(line), &files.environment());
        assert_eq!(Value::Object((*outcome.metrics).clone()), json!({"n": 3, "label": "correct"}));
        assert_eq!(outcome.parts[0].verdict, Verdict::Fail);
        assert_eq!(outcome.parts[0].score, Some(0.5));
        assert_eq!(outcome.parts[0].reason.as_ref().map(|text| text.raw()), Some("why"));
        assert_eq!(outcome.parts[1].verdict, BROKEN);
        assert_eq!(outcome.evidence[0].excerpt.as_ref().map(|text| text.raw()), Some("oops"));
    }

    #[test]
    fn the_input_is_a_file_that_goes_away() {
        let files = Files::new(&[]);
        let line = "cp \"$EVALUATE_GRADER_INPUT\" kept; echo $EVALUATE_GRADER_INPUT > where";
        let mut config = shell(line);
        config["env"] = json!({"X": "y"});
        let environment = Environment {
            diff: Some("+a".into()),
            artifacts: Some("/made".into()),
            ..files.environment()
        };
        let outcome = grade_in("program", config.clone(), &environment);
        assert_eq!(outcome.verdict, Verdict::Pass);
        let kept = std::fs::read_to_string(files.root().join("kept")).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let keys: Vec<&String> = kept.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["trajectory", "stimulus", "config"]);
        assert_eq!(kept["config"], config);
        assert_eq!(kept["stimulus"]["name"], "s");
        let root = files.root().canonicalize().unwrap();
        assert_eq!(kept["trajectory"]["workDir"], root.to_str().unwrap());
        assert_eq!(kept["trajectory"]["diff"], "+a");
        assert_eq!(kept["trajectory"]["artifactDir"], "/made");
        let events = kept["trajectory"]["events"].as_array().unwrap();
        assert!(events.iter().any(|e| e["type"] == "tool_call" && e["data"]["toolName"] == "bash"));
        let path = std::fs::read_to_string(files.root().join("where")).unwrap();
        assert!(!Path::new(path.trim()).exists());
    }

    #[test]
    fn words_are_arguments_without_a_shell() {
        let files = Files::new(&[]);
        let config = json!({"program": "test", "args": ["$HOME", "=", "$HOME"]});
        let outcome = grade_in("program", config, &files.environment());
        assert_eq!(outcome.verdict, Verdict::Pass);
        let config = json!({"program": "toolmark-no-such-program"});
        assert_eq!(grade_in("program", config, &files.environment()).verdict, BROKEN);
    }

    #[test]
    fn time_and_leave() {
        let files = Files::new(&[]);
        let config = json!({"program": "sleep", "args": ["20"], "timeout": "200ms"});
        let outcome = grade_in("program", config, &files.environment());
        assert_eq!(outcome.verdict, BROKEN);
        assert!(outcome.reason.raw().contains("within 200 ms"), "{}", outcome.reason.raw());
        let environment = Environment { may_run: false, ..files.environment() };
        assert_eq!(grade_in("program", shell("touch ran"), &environment).verdict, BROKEN);
        assert!(!files.root().join("ran").exists());
        let nowhere = grade_in("program", shell("true"), &Environment::default());
        assert_eq!(nowhere.verdict, Verdict::Unknown(Cause::MissingEvidence));
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "program"),
            (json!({"program": ""}), "empty"),
            (json!({"program": "a", "env": {"evaluate_workspace": "x"}}), "reserved"),
            (json!({"program": "a", "env": {"EVALUATE_GRADER_INPUT": "x"}}), "reserved"),
            (json!({"program": "a", "sub_path": ".."}), "leave the workspace"),
            (json!({"program": "a", "timeout": "5"}), "not a duration"),
            (json!({"program": "a", "cwd": "x"}), "unknown key"),
        ] {
            let said = complaints("program", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
