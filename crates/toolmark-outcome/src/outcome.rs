//! Outcome of a grader.

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::profile::Profile;
use serde::Serialize;
use serde_json::{Map, Value};
use toolmark_redact::{Json, Printable, Redactor, Untrusted};

/// Verdict of a grader. An unknown verdict always has a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The expectation is met.
    Pass,
    /// The expectation is not met.
    Fail,
    /// The verdict cannot be determined.
    Unknown(Cause),
}

/// Cause of an unknown verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Only a judge can decide.
    NeedsJudge,
    /// No trajectory belongs to the case.
    NoTrajectory,
    /// The case has no graders.
    NoGraders,
    /// The trace does not record what the grader needs.
    MissingEvidence,
    /// The grader's configuration cannot be applied to this trajectory.
    Configuration,
    /// A program that the grader runs failed, or must not be run.
    Program,
    /// The input was too large or evaluation took too many steps.
    Limit,
    /// A judge was asked and gave no usable answer.
    Judge,
    /// A judge gave an answer without proof: its quotes are not in the trace.
    Unproven,
    /// The judge budget was already spent.
    Budget,
    /// The judge does not agree with human labels often enough, or the agreement was not
    /// measured.
    Calibration,
    /// The agent has no valid API key.
    Credentials,
    /// The provider does not have the model.
    Model,
    /// The provider could not be reached.
    Network,
    /// The provider had a server error.
    Server,
    /// The provider rejected the request because of a rate limit.
    RateLimit,
    /// The agent timed out before the model's first response.
    Timeout,
    /// The agent could not be started, or exited before it began.
    Start,
    /// The agent was killed by another process.
    Signal,
    /// The preparation of the workspace failed.
    Setup,
    /// The agent left no readable trace.
    NoTrace,
    /// The trial was not run: the budget was spent, or the run was stopped.
    NotRun,
    /// Agents of this kind cannot be run.
    Unsupported,
}

impl Cause {
    /// Returns the word used in every output.
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

    /// All causes.
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

    /// Returns the cause with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.word() == word)
    }

    /// Whether nothing was graded because there was no run of the agent to grade.
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
    /// Returns the word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Returns pass if the condition holds and fail otherwise.
    #[must_use]
    pub fn of(holds: bool) -> Self {
        if holds { Self::Pass } else { Self::Fail }
    }

    /// Returns the cause of an unknown verdict.
    #[must_use]
    pub fn cause(self) -> Option<Cause> {
        match self {
            Self::Unknown(cause) => Some(cause),
            _ => None,
        }
    }

    /// Combines two verdicts that must both pass: a failure takes precedence, then an unknown
    /// verdict.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fail, _) | (_, Self::Fail) => Self::Fail,
            (Self::Unknown(cause), _) | (_, Self::Unknown(cause)) => Self::Unknown(cause),
            _ => Self::Pass,
        }
    }

    /// Returns the opposite verdict; unknown remains unknown.
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

/// Named numbers and strings of a grader, in its order.
pub type GraderMetrics<T = Untrusted> = Json<Map<String, Value>, T>;

/// One of several named checks of a grader.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomePart<T = Untrusted> {
    /// Description of the check.
    pub text: T,
    /// Verdict of the check.
    pub verdict: Verdict,
    /// Score of the check, if it is not simply 0 or 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Reason for the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<T>,
}

impl OutcomePart {
    /// Creates a check with its verdict.
    #[must_use]
    pub fn new(text: impl Into<Untrusted>, verdict: Verdict) -> Self {
        Self { text: text.into(), verdict, score: None, reason: None }
    }

    fn redact(self, redactor: Redactor) -> OutcomePart<Printable> {
        OutcomePart {
            text: redactor.apply(self.text),
            verdict: self.verdict,
            score: self.score,
            reason: self.reason.map(|reason| redactor.apply(reason)),
        }
    }
}

/// Result under another profile, if it differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast<T = Untrusted> {
    /// The other profile.
    pub profile: Profile,
    /// Verdict under the other profile.
    pub verdict: Verdict,
    /// Score under the other profile.
    pub score: Option<f64>,
    /// Explanation of the difference.
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

/// Result of a grader.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<T = Untrusted> {
    /// Pass, fail or unknown.
    pub verdict: Verdict,
    /// Score from 0 to 1 if the grader defines one; `None` if it is unknown.
    pub score: Option<f64>,
    /// Reason in one sentence.
    pub reason: T,
    /// Calls, steps and texts that decided the verdict.
    pub evidence: Vec<Evidence<T>>,
    /// Named outputs of the grader.
    pub metrics: GraderMetrics<T>,
    /// Individual checks, if the grader has several.
    pub parts: Vec<OutcomePart<T>>,
    /// Alignment of expectations and calls, if the grader made one.
    pub explanation: Option<Explanation<T>>,
    /// Different result under another profile.
    pub contrast: Option<Contrast<T>>,
    /// Additional notes for the reader of the verdict.
    pub notes: Vec<T>,
}

impl Outcome {
    /// Creates an outcome with its own score.
    #[must_use]
    pub fn scored(verdict: Verdict, score: f64, reason: impl Into<Untrusted>) -> Self {
        Self {
            verdict,
            score: Some(score),
            reason: reason.into(),
            evidence: Vec::new(),
            metrics: GraderMetrics::new(),
            parts: Vec::new(),
            explanation: None,
            contrast: None,
            notes: Vec::new(),
        }
    }

    /// Creates a pass with score 1 or a failure with score 0.
    #[must_use]
    pub fn binary(holds: bool, reason: impl Into<Untrusted>) -> Self {
        Self::scored(Verdict::of(holds), if holds { 1.0 } else { 0.0 }, reason)
    }

    /// Creates an unknown outcome with its cause.
    #[must_use]
    pub fn unknown(cause: Cause, reason: impl Into<Untrusted>) -> Self {
        Self { score: None, ..Self::scored(Verdict::Unknown(cause), 0.0, reason) }
    }

    /// Adds evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// Adds a named output.
    #[must_use]
    pub fn with_metric(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metrics.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<Untrusted>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Returns the opposite outcome: the verdict is inverted, the score is subtracted from 1,
    /// and the parts are negated too.
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

    /// Returns the printable outcome.
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
