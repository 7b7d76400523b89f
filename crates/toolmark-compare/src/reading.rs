//! Reads reports: one JSON object, or JSON Lines.

use crate::checked::{CheckReport, CheckShape};
use crate::run::{ComparedRun, ComparedTrial, ComparedTrials, GraderAnswer, Measures};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use toolmark_outcome::{Cause, Printable, Redactor, Verdict};

/// Error: the text is not a valid report.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct ReportReadError {
    /// Line number, from 1.
    pub line: Option<usize>,
    /// Description of the error.
    pub message: String,
    /// Suggested fix.
    pub help: &'static str,
}

/// Suggested fix for a text that is not a report.
const WRITE_ONE: &str =
    "`toolmark grade` and `toolmark check` write reports with --report json=FILE";
/// Suggested fix for a damaged report.
const WRITE_AGAIN: &str = "write the report again; it may have been cut off or edited";
/// Suggested fix for a report of a newer version.
const UPDATE: &str = "update toolmark, or write the report again with this version";

impl ReportReadError {
    fn new(line: Option<usize>, message: impl Into<String>, help: &'static str) -> Self {
        Self { line, message: message.into(), help }
    }

    /// Returns the error of a line of JSON Lines, or of a whole file.
    fn json(error: &serde_json::Error, line: Option<usize>) -> Self {
        let text = error.to_string();
        // The place is said apart, and that of a line is the line of the file.
        let words = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Self::new(line.or(Some(error.line()).filter(|line| *line > 0)), words, WRITE_AGAIN)
    }
}

/// The three verdicts, as written in reports.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VerdictWord {
    Pass,
    Fail,
    Unknown,
}

impl From<VerdictWord> for Verdict {
    fn from(word: VerdictWord) -> Self {
        match word {
            VerdictWord::Pass => Self::Pass,
            VerdictWord::Fail => Self::Fail,
            // The exact cause does not matter here: the reason describes it.
            VerdictWord::Unknown => Self::Unknown(Cause::MissingEvidence),
        }
    }
}

#[derive(Deserialize)]
struct OutcomeShape {
    case: String,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    trajectory: Option<SourceShape>,
    #[serde(default)]
    trial: u32,
    verdict: VerdictWord,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    graders: Vec<GraderShape>,
}

#[derive(Deserialize)]
struct SourceShape {
    #[serde(default)]
    calls: Option<f64>,
    #[serde(default)]
    tokens: Option<f64>,
    #[serde(default)]
    duration_ms: Option<f64>,
    #[serde(default)]
    cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct GraderShape {
    name: String,
    verdict: VerdictWord,
    #[serde(default)]
    score: Option<f64>,
}

/// Combined result of the trials of a case; without a verdict, it is computed from the trials.
#[derive(Deserialize)]
struct CaseShape {
    case: String,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    verdict: Option<VerdictWord>,
    #[serde(default)]
    planned: Option<u64>,
}

/// A grading report as a single object.
#[derive(Deserialize)]
struct GradedShape {
    outcomes: Vec<OutcomeShape>,
    #[serde(default)]
    cases: Vec<CaseShape>,
}

/// A line of `results.jsonl` in a run directory: one trial, with its resource usage.
#[derive(Deserialize)]
struct RecordShape {
    version: u32,
    #[serde(default)]
    target: Option<String>,
    trial: u32,
    #[serde(default)]
    used: UsedShape,
    #[serde(default)]
    duration_ms: Option<f64>,
    outcome: OutcomeShape,
}

#[derive(Default, Deserialize)]
struct UsedShape {
    #[serde(default)]
    calls: Option<f64>,
    #[serde(default)]
    tokens: Option<f64>,
    #[serde(default)]
    usd: Option<f64>,
}

impl RecordShape {
    /// The supported version of run files.
    const VERSION: u32 = 1;

    fn read(self, redactor: Redactor) -> ComparedTrial {
        let has_trace = self.outcome.trajectory.is_some();
        let mut trial = self.outcome.read(redactor);
        trial.trial = self.trial;
        trial.target = trial.target.or_else(|| self.target.map(|target| redactor.apply(target)));
        trial.measures = Measures {
            // Without a trace the number of calls is unknown.
            calls: self.used.calls.filter(|_| has_trace),
            tokens: self.used.tokens,
            duration_ms: self.duration_ms,
            cost_usd: self.used.usd,
        };
        trial
    }
}

/// The summary of a run, in `summary.json` of its directory.
#[derive(Deserialize)]
struct RunSummary {
    #[serde(default)]
    cases: Vec<CaseShape>,
}

/// Members that identify the kind of an object.
#[derive(Deserialize)]
struct ReportProbe<'t> {
    #[serde(default)]
    toolmark: Option<String>,
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    outcomes: Option<IgnoredAny>,
    /// Member of a trial of a run.
    #[serde(default)]
    outcome: Option<IgnoredAny>,
    #[serde(default)]
    findings: Option<IgnoredAny>,
    /// Check results in a grading report.
    #[serde(borrow, default)]
    check: Option<&'t RawValue>,
    /// Member of the last line of a grading report: the cases with several trials.
    #[serde(default)]
    trials: Option<Vec<CaseShape>>,
}

impl ComparedRun {
    /// Reads a report of `toolmark grade` or `toolmark check` in the formats `json` and `jsonl`.
    pub fn parse(name: Printable, text: &str, redactor: Redactor) -> Result<Self, ReportReadError> {
        let mut run =
            Self { name, graded: None, checked: None, may_be_cut_off: false, notes: Vec::new() };
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(ReportReadError::new(None, "the file is empty", WRITE_ONE));
        }
        // A first line that is a complete object with a type means JSON Lines.
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let probe: Option<ReportProbe<'_>> = serde_json::from_str(first).ok();
        if probe.is_some_and(|probe| probe.r#type.is_some() || probe.outcome.is_some()) {
            run.read_lines(text, redactor)?;
        } else {
            run.read_object(text, redactor)?;
        }
        Ok(run)
    }

    /// Reads the verdicts of the cases from `summary.json` of a run, because a case may pass
    /// although some of its trials do not.
    pub fn take_summary(&mut self, text: &str, redactor: Redactor) -> Result<(), ReportReadError> {
        let summary: RunSummary =
            serde_json::from_str(text).map_err(|error| ReportReadError::json(&error, None))?;
        if let Some(graded) = &mut self.graded {
            graded.take_verdicts(summary.cases, redactor);
        }
        Ok(())
    }

    fn read_object(&mut self, text: &str, redactor: Redactor) -> Result<(), ReportReadError> {
        if !text.trim_start().starts_with('{') {
            return Err(ReportReadError::new(Some(1), "not a report of toolmark", WRITE_ONE));
        }
        let probe: ReportProbe<'_> =
            serde_json::from_str(text).map_err(|error| ReportReadError::json(&error, None))?;
        check_version(probe.toolmark.as_deref(), None)?;
        if probe.outcomes.is_some() {
            let shape: GradedShape =
                serde_json::from_str(text).map_err(|error| ReportReadError::json(&error, None))?;
            let graded = self.graded.insert(ComparedTrials::default());
            graded.take_verdicts(shape.cases, redactor);
            graded.trials =
                shape.outcomes.into_iter().map(|outcome| outcome.read(redactor)).collect();
        }
        let check = match (probe.check, probe.findings) {
            (Some(check), _) => Some(check.get()),
            (None, Some(_)) => Some(text),
            (None, None) => None,
        };
        if let Some(check) = check {
            let failed = |error: &serde_json::Error| ReportReadError::json(error, None);
            let shape: CheckShape = serde_json::from_str(check).map_err(|error| failed(&error))?;
            self.checked =
                Some(CheckReport::new(shape, check, redactor).map_err(|e| broken(e.to_string()))?);
        }
        if self.graded.is_none() && self.checked.is_none() {
            return Err(ReportReadError::new(None, "not a report of toolmark", WRITE_ONE));
        }
        Ok(())
    }

    fn read_lines(&mut self, text: &str, redactor: Redactor) -> Result<(), ReportReadError> {
        let mut graded = ComparedTrials::default();
        // The lines of a check, put together as the one object would have them.
        let mut findings: Vec<&str> = Vec::new();
        let mut gates: Vec<&str> = Vec::new();
        let mut card = None;
        let mut has_summary = false;
        for (at, line) in text.lines().enumerate() {
            let number = Some(at + 1);
            if line.trim().is_empty() {
                continue;
            }
            let failed = |error: serde_json::Error| ReportReadError::json(&error, number);
            let probe: ReportProbe<'_> = serde_json::from_str(line).map_err(failed)?;
            check_version(probe.toolmark.as_deref(), number)?;
            match probe.r#type.as_deref() {
                Some("outcome") => {
                    let outcome: OutcomeShape = serde_json::from_str(line).map_err(failed)?;
                    graded.trials.push(outcome.read(redactor));
                }
                Some("summary") => {
                    has_summary = true;
                    graded.take_verdicts(probe.trials.unwrap_or_default(), redactor);
                }
                Some("finding") => findings.push(line),
                Some("gate") => gates.push(line),
                Some("scorecard") => card = Some(line),
                Some("selection" | "judged" | "comparison") => {}
                None if probe.outcome.is_some() => {
                    let record: RecordShape = serde_json::from_str(line).map_err(failed)?;
                    if record.version != RecordShape::VERSION {
                        let message = format!("trials of version {} of runs", record.version);
                        return Err(ReportReadError::new(number, message, UPDATE));
                    }
                    // The sums of a run are in a file of their own.
                    has_summary = true;
                    graded.trials.push(record.read(redactor));
                }
                other => {
                    let kind = other.map(|kind| format!(": a line of type {kind}"));
                    let message = format!("not a report of toolmark{}", kind.unwrap_or_default());
                    return Err(ReportReadError::new(number, message, WRITE_ONE));
                }
            }
        }
        if !graded.trials.is_empty() || has_summary {
            self.may_be_cut_off = !has_summary;
            self.graded = Some(graded);
        }
        match card {
            Some(card) => {
                let (findings, gates) = (findings.join(","), gates.join(","));
                let object = format!(
                    "{{\"findings\":[{findings}],\"gates\":[{gates}],\"trajectories\":[],\
                     \"scorecard\":{card},\"overview\":null}}"
                );
                let shape: CheckShape = serde_json::from_str(&object)
                    .map_err(|error| ReportReadError::json(&error, Some(1)))?;
                let report = CheckReport::new(shape, &object, redactor)
                    .map_err(|e| broken(e.to_string()))?;
                self.checked = Some(report.of_lines(card));
            }
            None if !findings.is_empty() => {
                let message = "the last line, of type scorecard, is missing";
                return Err(ReportReadError::new(None, message, WRITE_AGAIN));
            }
            None => {}
        }
        Ok(())
    }
}

fn broken(message: String) -> ReportReadError {
    ReportReadError::new(None, message, WRITE_AGAIN)
}

/// Rejects reports of versions in which the same names may have another meaning.
fn check_version(version: Option<&str>, line: Option<usize>) -> Result<(), ReportReadError> {
    let minor = |version: &str| {
        let mut numbers = version.split('.').map(|part| part.parse::<u64>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    let ours = env!("CARGO_PKG_VERSION");
    match version {
        Some(theirs) if minor(theirs).is_none() || minor(theirs) > minor(ours) => {
            let message = format!("written by toolmark {theirs}, this is {ours}");
            Err(ReportReadError::new(line, message, UPDATE))
        }
        _ => Ok(()),
    }
}

impl ComparedTrials {
    fn take_verdicts(&mut self, cases: Vec<CaseShape>, redactor: Redactor) {
        for CaseShape { case, target, verdict, planned } in cases {
            let key = (redactor.apply(case), target.map(|target| redactor.apply(target)));
            if let Some(planned) = planned {
                self.planned.insert(key.clone(), planned);
            }
            if let Some(verdict) = verdict {
                self.verdicts.insert(key, verdict.into());
            }
        }
    }
}

impl OutcomeShape {
    fn read(self, redactor: Redactor) -> ComparedTrial {
        let measures = self.trajectory.map(|source| Measures {
            calls: source.calls,
            tokens: source.tokens,
            duration_ms: source.duration_ms,
            cost_usd: source.cost_usd,
        });
        let answers = self.graders.into_iter().map(|grader| GraderAnswer {
            grader: redactor.apply(grader.name),
            verdict: grader.verdict.into(),
            score: grader.score,
        });
        ComparedTrial {
            case: redactor.apply(self.case),
            target: self.target.map(|target| redactor.apply(target)),
            trial: self.trial,
            verdict: self.verdict.into(),
            score: self.score,
            reason: redactor.apply(self.reason),
            measures: measures.unwrap_or_default(),
            answers: answers.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ComparedRun, ReportReadError> {
        ComparedRun::parse("run".into(), text, Redactor::new(true))
    }

    const OUTCOME: &str = r#"{"type":"outcome","case":"a","trial":0,"verdict":"pass","score":1.0}"#;
    const SUMMARY: &str = r#"{"type":"summary","spec":"s","verdict":"pass"}"#;

    #[test]
    fn both_formats_are_the_same() {
        let object = read(&format!(r#"{{"toolmark":"0.1.0","outcomes":[{OUTCOME}]}}"#)).unwrap();
        let lines = read(&format!("{OUTCOME}\n\n{SUMMARY}\n")).unwrap();
        for run in [object, lines] {
            let trials = run.graded.unwrap().trials;
            assert_eq!((trials.len(), trials[0].score), (1, Some(1.0)));
            assert!(!run.may_be_cut_off);
        }
        assert!(read(OUTCOME).unwrap().may_be_cut_off);
    }

    #[test]
    fn trials_of_a_run_have_what_they_used() {
        let line = |version: u32, trajectory: &str| {
            format!(
                "{{\"version\":{version},\"target\":\"t\",\"case\":\"a\",\"trial\":2,\
                 \"used\":{{\"turns\":1,\"calls\":3,\"tokens\":70,\"usd\":0.5}},\"duration_ms\":9,\
                 \"outcome\":{{\"case\":\"a\",\"verdict\":\"fail\",\"trajectory\":{trajectory}}}}}"
            )
        };
        let mut run = read(&line(1, "{}")).unwrap();
        assert!(!run.may_be_cut_off);
        let trial = &run.graded.as_ref().unwrap().trials[0];
        assert_eq!((trial.trial, trial.target.as_deref()), (2, Some("t")));
        assert_eq!(trial.measures.all(), [Some(3.0), Some(70.0), Some(9.0), Some(0.5)]);
        let without = read(&line(1, "null")).unwrap();
        assert_eq!(without.graded.unwrap().trials[0].measures.calls, None);
        let cases = r#"{"cases":[{"case":"a","target":"t","verdict":"pass"}]}"#;
        run.take_summary(cases, Redactor::new(true)).unwrap();
        let verdicts: Vec<_> = run.graded.unwrap().verdicts.into_values().collect();
        assert_eq!(verdicts, [Verdict::Pass]);
        let error = read(&line(2, "{}")).unwrap_err().to_string();
        assert!(error.contains("line 1: trials of version 2"), "{error}");
    }

    #[test]
    fn anything_else_says_where_and_what_to_do() {
        let newer = r#"{"toolmark":"99.1.0","outcomes":[]}"#;
        let odd = OUTCOME.replace("pass", "maybe");
        let cases = [
            (String::new(), "the file is empty"),
            ("hello".into(), "line 1: not a report of toolmark"),
            ("{}".into(), "not a report of toolmark"),
            ("[1]".into(), "line 1: not a report of toolmark"),
            (newer.into(), "written by toolmark 99.1.0, this is"),
            (format!("{OUTCOME}\n{{\"type\":"), "line 2: EOF while parsing"),
            (format!("{OUTCOME}\n{odd}"), "line 2: unknown variant `maybe`"),
            (format!("{{\n\"outcomes\": [\n{odd}]}}"), "line 3: unknown variant `maybe`"),
            (r#"{"type":"outcome","verdict":"pass"}"#.into(), "line 1: missing field `case`"),
            (
                r#"{"type":"trial-result"}"#.into(),
                "line 1: not a report of toolmark: a line of type trial-result",
            ),
            (r#"{"type":"finding"}"#.into(), "the last line, of type scorecard, is missing"),
            (r#"{"findings":[{}]}"#.into(), "missing field `code`"),
        ];
        for (text, want) in cases {
            let error = read(&text).unwrap_err();
            assert!(error.to_string().contains(want), "{text}: {error}");
            assert!(!error.help.is_empty());
        }
    }
}
