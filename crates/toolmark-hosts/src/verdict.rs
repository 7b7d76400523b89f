//! What the guard says about a call.

use serde::Serialize;
use toolmark_redact::Redactor;
use toolmark_shell::{Analysis, Decision, Effect, Left};

/// A decision and everything that explains it.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// What to do with the call.
    pub decision: Decision,
    /// What decided: `effect`, `tools.deny`, the name of a rule, `error`.
    pub rule: String,
    /// Why, in one line.
    pub reason: String,
    /// What would make it allowed, or do the same with less harm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Words for the agent that are no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What would have been decided where the policy only observes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Decision>,
    /// What to do where the decision is to ask and nobody is asked.
    #[serde(skip)]
    pub unattended: Decision,
    /// Should the host be told to go ahead without asking its user? Otherwise an
    /// `allow` means that the guard does not object.
    #[serde(skip)]
    pub approves: bool,
    /// What the call would do.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Effects>,
}

/// The part of an analysis that explains a verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Effects {
    /// What the call would do.
    pub effects: Vec<Effect>,
    /// How much of the command was understood.
    pub coverage: toolmark_shell::Coverage,
    /// What it would leave behind for later calls.
    #[serde(skip)]
    pub left: Left,
}

impl From<Analysis> for Effects {
    fn from(analysis: Analysis) -> Self {
        Self { effects: analysis.effects, coverage: analysis.coverage, left: analysis.left }
    }
}

impl Verdict {
    /// A decision by a rule, for a reason.
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

    /// Nothing speaks against it.
    #[must_use]
    pub fn allow() -> Self {
        Self::new(Decision::Allow, "default", "nothing speaks against it")
    }

    /// What comes of a question that nobody is asked, and why nobody is.
    #[must_use]
    pub fn unasked(mut self, why: &str) -> Self {
        if self.decision != Decision::Ask || self.unattended == Decision::Ask {
            return self;
        }
        self.decision = self.unattended;
        self.reason = match self.unattended {
            Decision::Allow => format!("{}; {why}, and the policy allows it then", self.reason),
            _ => format!(
                "{}; {why}, so it was stopped: a person has to run it, or to allow it in the policy",
                self.reason
            ),
        };
        self
    }

    /// It as it may be printed.
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
            left: Left::default(),
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

    /// The reason and what to do instead, as one text for people and agents.
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
