//! What a grader answers.

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::profile::Profile;
use serde::Serialize;
use serde_json::{Map, Value};
use toolmark_redact::{Json, Printable, Redactor, Untrusted};

/// The three answers. Unknown always says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// What was expected happened.
    Pass,
    /// It did not.
    Fail,
    /// It cannot be told.
    Unknown(Cause),
}

/// Why a verdict is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Only a judge could decide.
    NeedsJudge,
    /// No trajectory belongs to the case.
    NoTrajectory,
    /// The case has no graders.
    NoGraders,
    /// The trace does not record what the grader needs.
    MissingEvidence,
    /// The grader's configuration cannot be applied to this trajectory.
    Configuration,
    /// A program the grader runs failed, or may not be run.
    Program,
    /// The question was too large or took too many steps.
    Limit,
    /// A judge was asked and gave no answer that can be used.
    Judge,
    /// A judge answered and did not prove it: what it quotes is not in the trace.
    Unproven,
    /// The budget for judges was spent before.
    Budget,
    /// The judge does not agree with people often enough, or nobody measured it.
    Calibration,
    /// The agent has no key that its provider takes.
    Credentials,
    /// Its provider does not have the model.
    Model,
    /// Its provider could not be reached.
    Network,
    /// Its provider is out of order.
    Server,
    /// Its provider refused more requests for now.
    RateLimit,
    /// The agent's time was up before the model had answered once.
    Timeout,
    /// The agent could not be started, or gave up before it began.
    Start,
    /// Somebody else killed the agent.
    Signal,
    /// What prepares the workspace failed.
    Setup,
    /// The agent left no trace that could be read.
    NoTrace,
    /// The trial was not run: the budget was spent, or somebody stopped the run.
    NotRun,
    /// Such an agent cannot be run.
    Unsupported,
}

impl Cause {
    /// The word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NeedsJudge => "needs_judge",
            Self::NoTrajectory => "no_trajectory",
            Self::NoGraders => "no_graders",
            Self::MissingEvidence => "missing_evidence",
            Self::Configuration => "configuration",
            Self::Program => "program",
            Self::Limit => "limit",
            Self::Judge => "judge",
            Self::Unproven => "unproven",
            Self::Budget => "budget",
            Self::Calibration => "calibration",
            Self::Credentials => "credentials",
            Self::Model => "model",
            Self::Network => "network",
            Self::Server => "server",
            Self::RateLimit => "rate_limit",
            Self::Timeout => "timeout",
            Self::Start => "start",
            Self::Signal => "signal",
            Self::Setup => "setup",
            Self::NoTrace => "no_trace",
            Self::NotRun => "not_run",
            Self::Unsupported => "unsupported",
        }
    }

    /// Every cause.
    pub const ALL: &[Self] = &[
        Self::NeedsJudge,
        Self::NoTrajectory,
        Self::NoGraders,
        Self::MissingEvidence,
        Self::Configuration,
        Self::Program,
        Self::Limit,
        Self::Judge,
        Self::Unproven,
        Self::Budget,
        Self::Calibration,
        Self::Credentials,
        Self::Model,
        Self::Network,
        Self::Server,
        Self::RateLimit,
        Self::Timeout,
        Self::Start,
        Self::Signal,
        Self::Setup,
        Self::NoTrace,
        Self::NotRun,
        Self::Unsupported,
    ];

    /// The cause with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.word() == word)
    }

    /// Was nothing graded, since no run of the agent could be looked at?
    #[must_use]
    pub fn is_ungraded(self) -> bool {
        matches!(
            self,
            Self::NoTrajectory
                | Self::Credentials
                | Self::Model
                | Self::Network
                | Self::Server
                | Self::RateLimit
                | Self::Timeout
                | Self::Start
                | Self::Signal
                | Self::Setup
                | Self::NoTrace
                | Self::NotRun
                | Self::Unsupported
        )
    }
}

impl Verdict {
    /// The word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Pass where the condition holds, fail where it does not.
    #[must_use]
    pub fn of(holds: bool) -> Self {
        if holds { Self::Pass } else { Self::Fail }
    }

    /// Why it is unknown.
    #[must_use]
    pub fn cause(self) -> Option<Cause> {
        match self {
            Self::Unknown(cause) => Some(cause),
            _ => None,
        }
    }

    /// Both must hold: a failure decides, then what is unknown.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fail, _) | (_, Self::Fail) => Self::Fail,
            (Self::Unknown(cause), _) | (_, Self::Unknown(cause)) => Self::Unknown(cause),
            _ => Self::Pass,
        }
    }

    /// The opposite; what is unknown stays so.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Pass => Self::Fail,
            Self::Fail => Self::Pass,
            unknown @ Self::Unknown(_) => unknown,
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Named numbers and words of a grader, in the order it gives them.
pub type Metrics<T = Untrusted> = Json<Map<String, Value>, T>;

/// One named check among several a grader makes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part<T = Untrusted> {
    /// What was asked.
    pub text: T,
    /// The answer.
    pub verdict: Verdict,
    /// Its own score, where it has one that is not 0 or 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<T>,
}

impl Part {
    /// A check with its answer.
    #[must_use]
    pub fn new(text: impl Into<Untrusted>, verdict: Verdict) -> Self {
        Self { text: text.into(), verdict, score: None, reason: None }
    }

    fn redact(self, redactor: Redactor) -> Part<Printable> {
        Part {
            text: redactor.apply(self.text),
            verdict: self.verdict,
            score: self.score,
            reason: self.reason.map(|reason| redactor.apply(reason)),
        }
    }
}

/// What another reading of the same question gives, where it differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast<T = Untrusted> {
    /// Whose reading.
    pub profile: Profile,
    /// Its verdict.
    pub verdict: Verdict,
    /// Its score.
    pub score: Option<f64>,
    /// Where the difference comes from.
    pub reason: T,
}

impl Contrast {
    fn redact(self, redactor: Redactor) -> Contrast<Printable> {
        Contrast {
            profile: self.profile,
            verdict: self.verdict,
            score: self.score,
            reason: redactor.apply(self.reason),
        }
    }
}

/// What a grader answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<T = Untrusted> {
    /// Pass, fail or unknown.
    pub verdict: Verdict,
    /// Between 0 and 1 where the grader defines one; none where it is unknown.
    pub score: Option<f64>,
    /// One sentence for people.
    pub reason: T,
    /// The calls, steps and texts that decided.
    pub evidence: Vec<Evidence<T>>,
    /// The grader's own named outputs.
    pub metrics: Metrics<T>,
    /// The checks it is made of, where it is made of several.
    pub parts: Vec<Part<T>>,
    /// How expectations and calls were aligned, where they were.
    pub explanation: Option<Explanation<T>>,
    /// Another reading that gives another answer.
    pub contrast: Option<Contrast<T>>,
    /// What a reader of the verdict should know besides.
    pub notes: Vec<T>,
}

impl Outcome {
    /// A verdict with a score of its own.
    #[must_use]
    pub fn scored(verdict: Verdict, score: f64, reason: impl Into<Untrusted>) -> Self {
        Self {
            verdict,
            score: Some(score),
            reason: reason.into(),
            evidence: Vec::new(),
            metrics: Metrics::new(),
            parts: Vec::new(),
            explanation: None,
            contrast: None,
            notes: Vec::new(),
        }
    }

    /// Pass with 1 or fail with 0.
    #[must_use]
    pub fn binary(holds: bool, reason: impl Into<Untrusted>) -> Self {
        Self::scored(Verdict::of(holds), if holds { 1.0 } else { 0.0 }, reason)
    }

    /// It cannot be told, and this is why.
    #[must_use]
    pub fn unknown(cause: Cause, reason: impl Into<Untrusted>) -> Self {
        Self { score: None, ..Self::scored(Verdict::Unknown(cause), 0.0, reason) }
    }

    /// With this evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// With a named output.
    #[must_use]
    pub fn with_metric(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metrics.insert(name.to_owned(), value.into());
        self
    }

    /// With a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<Untrusted>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The opposite answer: the verdict is turned, the score taken from 1, and
    /// the parts with it.
    #[must_use]
    pub fn negated(mut self) -> Self {
        self.verdict = self.verdict.negated();
        self.score = self.score.map(|score| 1.0 - score);
        self.reason = format!("negated: {}", self.reason.raw()).into();
        for part in &mut self.parts {
            part.verdict = part.verdict.negated();
            part.score = part.score.map(|score| 1.0 - score);
        }
        self
    }

    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Outcome<Printable> {
        Outcome {
            verdict: self.verdict,
            score: self.score,
            reason: redactor.apply(self.reason),
            evidence: self.evidence.into_iter().map(|one| one.redact(redactor)).collect(),
            metrics: redactor.object(self.metrics),
            parts: self.parts.into_iter().map(|part| part.redact(redactor)).collect(),
            explanation: self.explanation.map(|explanation| explanation.redact(redactor)),
            contrast: self.contrast.map(|contrast| contrast.redact(redactor)),
            notes: redactor.apply_all(self.notes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_decides_before_what_is_unknown() {
        let unknown = Verdict::Unknown(Cause::NeedsJudge);
        for (a, b, both) in [
            (Verdict::Pass, Verdict::Pass, Verdict::Pass),
            (Verdict::Pass, Verdict::Fail, Verdict::Fail),
            (unknown, Verdict::Fail, Verdict::Fail),
            (Verdict::Fail, unknown, Verdict::Fail),
            (unknown, Verdict::Pass, unknown),
        ] {
            assert_eq!(a.and(b), both, "{a:?} {b:?}");
        }
        assert_eq!(unknown.negated(), unknown);
    }

    #[test]
    fn unknown_has_no_score() {
        let outcome = Outcome::unknown(Cause::NeedsJudge, "x");
        assert_eq!(outcome.score, None);
        assert_eq!(outcome.negated().score, None);
    }
}
