//! `run-command`: checks the exit code and output of a command run in the workspace.
//!
//! Typical commands are tests, builds and linters. All configured conditions must
//! hold. A command that exceeds its timeout fails the check,
//! because it has not done what was expected. A command that cannot be started, or
//! may not be run, makes the verdict unknown.

use crate::vally::graders::workspace::{Untold, Workspace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, Spanned};
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use toolmark_match::Building;
use toolmark_match::units::Duration;
use toolmark_outcome::Profile;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Environment, Subject};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_pattern::Pattern;
use toolmark_process::{Finished, ProcessProgram, run, variables};

/// Default timeout of a command.
const TIMEOUT: Duration = Duration { millis: 30_000.0 };

/// A command and its expected result.
#[derive(Debug, Deserialize, JsonSchema)]
struct RunCommandConfig {
    /// Command. Without `args` it is a shell command line.
    command: Spanned<String>,
    /// Arguments of the command. If given, even if empty, no shell is used.
    #[serde(default)]
    args: Option<Vec<String>>,
    /// Expected exit code.
    #[serde(default)]
    expected_exit_code: i32,
    /// Texts that its standard output must contain: one or a list.
    #[serde(default)]
    stdout_contains: Option<OneOrMore>,
    /// Texts that its standard error must contain: one or a list.
    #[serde(default)]
    stderr_contains: Option<OneOrMore>,
    /// Regular expressions that its standard output must match: one or a list.
    #[serde(default)]
    stdout_matches: Option<OneOrMore>,
    /// Regular expressions that its standard output must not match: one or a list.
    #[serde(default)]
    stdout_not_matches: Option<OneOrMore>,
    /// Regular expressions that its standard error must match: one or a list.
    #[serde(default)]
    stderr_matches: Option<OneOrMore>,
    /// Working directory in the workspace.
    #[serde(default)]
    sub_path: Option<Spanned<String>>,
    /// Timeout, with a unit; 30s by default.
    #[serde(default)]
    timeout: Option<Duration>,
    /// Environment variables in addition to inherited ones.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    env: SortedMap<String, String>,
}

/// One text or a list of texts.
#[derive(Debug)]
struct OneOrMore(Vec<Spanned<String>>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let text = |node: &Node| {
            let value = node.as_str()?.to_owned();
            Some(Spanned { value, span: node.span })
        };
        let texts = match node.as_list() {
            Some([]) => return Err(D::Error::custom("an empty list would check nothing")),
            Some(items) => items.iter().map(text).collect(),
            None => text(&node).map(|text| vec![text]),
        };
        texts.map(Self).ok_or_else(|| D::Error::custom("expected text or a list of texts"))
    }
}

impl JsonSchema for OneOrMore {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOrMore".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1}
            ]
        })
    }
}

/// Check of an output stream.
enum StreamCheck {
    Contains(Pipe, String),
    Matches(Pipe, Pattern),
    NotMatches(Pipe, Pattern),
}

#[derive(Debug, Clone, Copy)]
enum Pipe {
    Stdout,
    Stderr,
}

struct RunCommand {
    command: String,
    args: Option<Vec<String>>,
    code: i32,
    checks: Vec<StreamCheck>,
    sub_path: Option<String>,
    timeout: Duration,
    env: SortedMap<String, String>,
}

pub(super) const TAXONOMY: Taxonomy = Taxonomy {
    determinism: Determinism::Environment,
    cost: AnswerCost::Medium,
    reference: Reference::Free,
    scope: GradeScope::End,
};

pub(crate) static RUN_COMMAND: GraderInfo = GraderInfo {
    id: "run-command",
    aliases: &[],
    origin: "vally",
    summary: "runs a command in the workspace and checks its exit code and output",
    docs: "Runs `command` in the workspace and looks at its exit code and at what it writes. All \
           that is configured must hold; `parts` says what did.\n\n\
           Without `args`, `command` is a line for the shell. With `args`, even an empty list, \
           it is a program and no shell is involved. `sub_path` is a directory of the workspace \
           to run it in; paths and links that lead out of the workspace are refused.\n\n\
           A command that does not end within `timeout` (30s) fails, and all of its processes \
           are killed. A command that cannot be started is unknown, and so is every command \
           where programs may not be run. Of each pipe the first megabyte is kept: what could \
           only be decided by the rest is unknown.",
    example: "type: run-command\nconfig:\n  command: npm test\n  stdout_not_matches: '[1-9]\\d* failing'\n  timeout: 2m",
    taxonomy: TAXONOMY,
    profiles: &[Profile::Vally],
    schema: schema_of::<RunCommandConfig>,
    build,
};

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let config = building.read::<RunCommandConfig>()?;
    let mut good = true;
    if config.command.value.trim().is_empty() {
        building.reject(config.command.span, "empty-text", "the command is empty");
        good = false;
    }
    if let Some(path) = &config.sub_path {
        good &= path_is_inside(path, building);
    }
    let mut checks = Vec::new();
    for (texts, pipe) in
        [(config.stdout_contains, Pipe::Stdout), (config.stderr_contains, Pipe::Stderr)]
    {
        let texts = texts.into_iter().flat_map(|texts| texts.0);
        checks.extend(texts.map(|text| StreamCheck::Contains(pipe, text.value)));
    }
    let check_match: fn(Pipe, Pattern) -> StreamCheck = StreamCheck::Matches;
    for (sources, pipe, check) in [
        (config.stdout_matches, Pipe::Stdout, check_match),
        (config.stderr_matches, Pipe::Stderr, check_match),
        (config.stdout_not_matches, Pipe::Stdout, StreamCheck::NotMatches),
    ] {
        let Some(sources) = sources else { continue };
        match building.patterns(&sources.0) {
            Some(patterns) => checks.extend(patterns.into_iter().map(|p| check(pipe, p))),
            None => good = false,
        }
    }
    good.then(|| -> Arc<dyn Grader> {
        Arc::new(RunCommand {
            command: config.command.value,
            args: config.args,
            code: config.expected_exit_code,
            checks,
            sub_path: config.sub_path.map(|path| path.value),
            timeout: config.timeout.unwrap_or(TIMEOUT),
            env: config.env,
        })
    })
}

/// Whether `sub_path` stays in the workspace, judging by its components.
pub(super) fn path_is_inside(path: &Spanned<String>, building: &mut Building<'_>) -> bool {
    match toolmark_pattern::stays_inside(&path.value) {
        Ok(()) => true,
        Err(why) => {
            building.reject(path.span, "invalid-path", why.to_string());
            false
        }
    }
}

/// Returns an error if programs may not be run.
pub(super) fn allowed(environment: &Environment) -> Result<(), Untold> {
    match environment.may_run {
        true => Ok(()),
        false => Err(Untold::program("programs may not be run")),
    }
}

/// Returns the working directory of a program.
pub(super) fn directory(
    workspace: &Workspace,
    sub_path: Option<&String>,
) -> Result<PathBuf, Untold> {
    match sub_path {
        None => Ok(workspace.root().to_owned()),
        Some(path) => {
            workspace.below(path).map_err(|why| Untold::missing(format!("sub_path {why}")))
        }
    }
}

/// Converts a timeout to the standard library's type.
pub(super) fn std_duration(duration: Duration) -> std::time::Duration {
    // A day is more than any grader should take, and what a deadline can hold.
    std::time::Duration::from_secs_f64((duration.millis / 1000.0).clamp(0.0, 86_400.0))
}

impl Grader for RunCommand {
    fn reads_trace(&self) -> bool {
        false
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        match self.start(subject) {
            Ok(finished) => self.judge(&finished),
            Err(untold) => untold.into(),
        }
    }
}

impl RunCommand {
    fn start(&self, subject: &Subject<'_>) -> Result<Finished, Untold> {
        allowed(subject.environment)?;
        let workspace = Workspace::of(subject)?;
        let cwd = directory(&workspace, self.sub_path.as_ref())?;
        let mut program = ProcessProgram::new(&self.command, cwd);
        program.shell = self.args.is_none();
        program.args = self.args.clone().unwrap_or_default();
        program.env = variables(&self.env);
        program.timeout = std_duration(self.timeout);
        run(program).map_err(|error| Untold::program(error.to_string()))
    }

    fn judge(&self, finished: &Finished) -> Outcome {
        let mut parts = vec![self.ended(finished)];
        if !finished.timed_out {
            parts.extend(self.checks.iter().map(|check| check.part(finished)));
        }
        let verdict = parts.iter().fold(Verdict::Pass, |sum, part| sum.and(part.verdict));
        let said = |part: &OutcomePart| part.reason.clone().unwrap_or_else(|| part.text.clone());
        let reason = match parts.iter().find(|part| part.verdict == verdict) {
            Some(part) if verdict != Verdict::Pass => said(part),
            _ => format!("{} did all that was expected", excerpt(&self.command)).into(),
        };
        let mut outcome = match verdict {
            Verdict::Unknown(cause) => Outcome::unknown(cause, reason),
            decided => Outcome::binary(decided == Verdict::Pass, reason),
        };
        if let Some(code) = finished.code {
            outcome = outcome.with_metric("exit_code", code);
        }
        let role =
            if verdict == Verdict::Pass { EvidenceRole::Context } else { EvidenceRole::Violation };
        for (name, text) in
            [("standard output", &finished.stdout), ("standard error", &finished.stderr)]
        {
            if !text.trim().is_empty() {
                // The end of it: that is where commands say what went wrong.
                outcome.evidence.push(Evidence::words(role, name).with_excerpt(end_of(text)));
            }
        }
        outcome.parts = parts;
        outcome
    }

    /// Checks how the command ended.
    fn ended(&self, finished: &Finished) -> OutcomePart {
        let mut part = OutcomePart::new(
            format!("exits with {}", self.code),
            Verdict::of(finished.code == Some(self.code)),
        );
        part.reason = match finished.code {
            _ if finished.timed_out => {
                Some(format!("did not end within {} ms", self.timeout.millis).into())
            }
            Some(code) if code != self.code => {
                Some(format!("exited with {code}, expected {}", self.code).into())
            }
            Some(_) => None,
            None => Some("was ended by a signal".into()),
        };
        part
    }
}

/// Returns the last line or lines of a text.
pub(super) fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.char_indices().rev().take(150).last().map_or(0, |(at, _)| at);
    text.get(start..).unwrap_or(text)
}

impl StreamCheck {
    fn part(&self, finished: &Finished) -> OutcomePart {
        let (pipe, sure, found) = match self {
            Self::Contains(pipe, text) => (*pipe, true, Ok(pipe.of(finished).contains(text))),
            Self::Matches(pipe, pattern) => (*pipe, true, pattern.is_match(pipe.of(finished))),
            Self::NotMatches(pipe, pattern) => (*pipe, false, pattern.is_match(pipe.of(finished))),
        };
        let text = self.to_string();
        let Ok(found) = found else {
            let mut part = OutcomePart::new(text, Verdict::Unknown(Cause::Limit));
            part.reason = Some(format!("{self}: the pattern took too many steps").into());
            return part;
        };
        // Text that was not found may be in the part that was not kept.
        if !found && finished.truncated {
            let mut part = OutcomePart::new(text, Verdict::Unknown(Cause::Limit));
            part.reason = Some(format!("{self}: only the beginning of {pipe} was kept").into());
            return part;
        }
        let mut part = OutcomePart::new(text, Verdict::of(found == sure));
        if found != sure {
            part.reason = Some(format!("{pipe} does not hold to: {self}").into());
        }
        part
    }
}

impl fmt::Display for StreamCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(pipe, text) => write!(f, "{pipe} contains \"{}\"", excerpt(text)),
            Self::Matches(pipe, pattern) => write!(f, "{pipe} matches /{pattern}/"),
            Self::NotMatches(pipe, pattern) => write!(f, "{pipe} does not match /{pattern}/"),
        }
    }
}

impl Pipe {
    fn of(self, finished: &Finished) -> &str {
        match self {
            Self::Stdout => &finished.stdout,
            Self::Stderr => &finished.stderr,
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::testing::complaints;
    use crate::vally::graders::testing::{Files, grade_in};
    use serde_json::json;

    #[test]
    fn verdicts() {
        let files = Files::new(&[("a.txt", "hello"), ("sub/b.txt", "there")]);
        for (config, verdict, reason) in [
            (json!({"command": "cat a.txt"}), Verdict::Pass, "did all"),
            (json!({"command": "exit 2"}), Verdict::Fail, "exited with 2, expected 0"),
            (json!({"command": "exit 2", "expected_exit_code": 2}), Verdict::Pass, "did all"),
            (json!({"command": "kill -9 $$"}), Verdict::Fail, "signal"),
            (json!({"command": "cat", "args": ["a.txt"]}), Verdict::Pass, "did all"),
            (
                json!({"command": "cat a.txt", "args": []}),
                Verdict::Unknown(Cause::Program),
                "start",
            ),
            (json!({"command": "cat a.txt", "stdout_contains": "hell"}), Verdict::Pass, "did all"),
            (
                json!({"command": "cat a.txt", "stdout_contains": ["hell", "Hell"]}),
                Verdict::Fail,
                "stdout contains \"Hell\"",
            ),
            (
                json!({"command": "echo x >&2", "stderr_contains": "x", "stderr_matches": "^x"}),
                Verdict::Pass,
                "did all",
            ),
            (
                json!({"command": "echo 12", "stdout_matches": ["^\\d+", "x"]}),
                Verdict::Fail,
                "stdout matches /x/",
            ),
            (
                json!({"command": "echo 12", "stdout_not_matches": "\\d"}),
                Verdict::Fail,
                "stdout does not match /\\d/",
            ),
            (json!({"command": "echo 1", "stdout_not_matches": ["x"]}), Verdict::Pass, "did all"),
            (json!({"command": "cat b.txt", "sub_path": "sub"}), Verdict::Pass, "did all"),
            (
                json!({"command": "true", "sub_path": "gone"}),
                Verdict::Unknown(Cause::MissingEvidence),
                "sub_path gone",
            ),
            (
                json!({"command": "test \"$A\" = 'b c'", "env": {"A": "b c"}}),
                Verdict::Pass,
                "did all",
            ),
            (json!({"command": "sleep 20", "timeout": "200ms"}), Verdict::Fail, "within 200 ms"),
            (
                json!({"command": "head -c 2000000 /dev/zero", "stdout_not_matches": "x"}),
                Verdict::Unknown(Cause::Limit),
                "beginning of stdout",
            ),
        ] {
            let outcome = grade_in("run-command", config.clone(), &files.environment());
            assert_eq!(outcome.verdict, verdict, "{config} {outcome:?}");
            assert!(outcome.reason.raw().contains(reason), "{config} {}", outcome.reason.raw());
        }
    }

    #[test]
    fn all_that_is_checked_is_told() {
        let files = Files::new(&[]);
        let config = json!({
            "command": "echo good; exit 1", "stdout_contains": "good", "stdout_matches": "bad"
        });
        let outcome = grade_in("run-command", config, &files.environment());
        let verdicts: Vec<Verdict> = outcome.parts.iter().map(|part| part.verdict).collect();
        assert_eq!(verdicts, [Verdict::Fail, Verdict::Pass, Verdict::Fail]);
        assert_eq!(outcome.metrics["exit_code"], 1);
        assert_eq!(outcome.evidence[0].excerpt.as_ref().map(|text| text.raw()), Some("good"));
    }

    #[test]
    fn without_leave_nothing_is_run() {
        let files = Files::new(&[]);
        let environment = Environment { may_run: false, ..files.environment() };
        let outcome = grade_in("run-command", json!({"command": "touch ran"}), &environment);
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::Program));
        assert!(!files.root().join("ran").exists());
        let nowhere = grade_in("run-command", json!({"command": "true"}), &Environment::default());
        assert_eq!(nowhere.verdict, Verdict::Unknown(Cause::MissingEvidence));
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "command"),
            (json!({"command": " "}), "empty"),
            (json!({"command": "a", "sub_path": "../b"}), "leave the workspace"),
            (json!({"command": "a", "sub_path": "/b"}), "relative"),
            (json!({"command": "a", "stdout_matches": []}), "check nothing"),
            (json!({"command": "a", "stdout_matches": ["("]}), "regular expression"),
            (json!({"command": "a", "timeout": 3}), "text"),
            (json!({"command": "a", "stdout": "x"}), "unknown key"),
        ] {
            let said = complaints("run-command", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
