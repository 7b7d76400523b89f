//! Verdict of the guard on a call.

use serde::Serialize;
use toolmark_redact::Redactor;
use toolmark_shell::{Analysis, Decision, Effect, LeftState};

/// A decision and its explanation.
#[derive(Debug, Clone, Serialize)]
pub struct GuardAnswer {
    /// Decision on the call.
    pub decision: Decision,
    /// Source of the decision: `effect`, `tools.deny`, the name of a rule, `error`.
    pub rule: String,
    /// Reason on one line.
    pub reason: String,
    /// A way to get the call allowed, or a less harmful alternative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Additional text for the agent that is not a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Decision that would have applied if the policy did not only observe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Decision>,
    /// Decision that applies if the decision is to ask and no user can be asked.
    #[serde(skip)]
    pub unattended: Decision,
    /// Whether the host should proceed without asking its user. Otherwise `allow` only means
    /// that the guard does not object.
    #[serde(skip)]
    pub approves: bool,
    /// Effects of the call.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Effects>,
}

/// Part of an analysis that explains a verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Effects {
    /// Effects of the call.
    pub effects: Vec<Effect>,
    /// Share of the command that was understood.
    pub coverage: toolmark_shell::Coverage,
    /// State that the call leaves behind for later calls.
    #[serde(skip)]
    pub left: LeftState,
}

impl From<Analysis> for Effects {
    fn from(analysis: Analysis) -> Self {
        Self { effects: analysis.effects, coverage: analysis.coverage, left: analysis.left }
    }
}

impl GuardAnswer {
    /// Creates a verdict with a decision, a rule and a reason.
    #[must_use]
    pub fn new(decision: Decision, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            decision,
            rule: rule.into(),
            reason: reason.into(),
            suggestion: None,
            context: None,
            observed: None,
            unattended: Decision::Deny,
            approves: false,
            analysis: None,
        }
    }

    /// Creates a verdict without objections.
    #[must_use]
    pub fn allow() -> Self {
        Self::new(Decision::Allow, "default", "nothing speaks against it")
    }

    /// Replaces an `ask` that cannot reach a user with the unattended decision, and adds the
    /// reason.
    #[must_use]
    pub fn unasked(mut self, why: &str) -> Self {
        if self.decision != Decision::Ask || self.unattended == Decision::Ask {
            return self;
        }
        self.decision = self.unattended;
        self.reason = match self.unattended {
            Decision::Allow => format!("{}; {why}, and the policy allows it then", self.reason),
            _ => format!(
                "{}; blocked because {why}: run it yourself or allow it in the policy",
                self.reason
            ),
        };
        self
    }

    /// Returns the redacted verdict.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Self {
        let apply = |text: String| String::from(redactor.apply(text));
        let effect = |effect: Effect| Effect {
            target: apply(effect.target),
            program: apply(effect.program),
            ..effect
        };
        let effects = |Effects { effects, coverage, .. }| Effects {
            effects: Vec::into_iter(effects).map(effect).collect(),
            coverage,
            left: LeftState::default(),
        };
        Self {
            decision: self.decision,
            rule: apply(self.rule),
            reason: apply(self.reason),
            suggestion: self.suggestion.map(apply),
            context: self.context.map(apply),
            observed: self.observed,
            unattended: self.unattended,
            approves: self.approves,
            analysis: self.analysis.map(effects),
        }
    }

    /// Returns the reason and the suggestion as one text for people and agents.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = format!("toolmark guard ({}): {}", self.rule, self.reason);
        if let Some(suggestion) = &self.suggestion {
            words.push_str(". ");
            words.push_str(suggestion);
        }
        words
    }
}
