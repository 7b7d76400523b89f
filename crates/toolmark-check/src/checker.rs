//! Runs rules over trajectories and adds up what they find.

use crate::finding::{Confidence, Finding};
use crate::gold::{Gold, Pair, Selection};
use crate::report::{Gathered, Report};
use crate::rule::Rule;
use crate::rules::RULES;
use crate::scorecard::Scorecard;
use crate::session::Session;
use crate::toolset::Toolsets;
use std::sync::Arc;
use toolmark_trace::Trajectory;

/// Which rules to run, and how.
pub struct Checker {
    rules: Vec<&'static Rule>,
    least: Confidence,
    toolsets: Toolsets,
    gold: Option<Arc<Gold>>,
}

/// What checking came to.
#[derive(Debug, Default)]
pub struct Checked {
    /// The findings; [`Checked::sort`] puts the worst first.
    pub findings: Vec<Finding>,
    /// Axis × tool.
    pub scorecard: Scorecard,
    /// How many findings were counted but not kept.
    pub left_out: u64,
    /// What was chosen where gold labels speak.
    pub pairs: Vec<Pair>,
    /// What the pairs came to; made once all are there.
    pub selection: Option<Selection>,
}

impl Checked {
    /// Adds what checking something else came to.
    pub fn merge(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.scorecard.merge(other.scorecard);
        self.left_out += other.left_out;
        self.pairs.extend(other.pairs);
    }

    /// Puts the worst findings first.
    pub fn sort(&mut self) {
        self.findings.sort_by(Finding::order);
    }
}

impl Default for Checker {
    fn default() -> Self {
        Self::new(RULES.to_vec(), Confidence::Medium, Toolsets::default())
    }
}

impl Checker {
    /// Runs these rules, and leaves out findings that are less sure.
    #[must_use]
    pub fn new(rules: Vec<&'static Rule>, least: Confidence, toolsets: Toolsets) -> Self {
        Self { rules, least, toolsets, gold: None }
    }

    /// Holds choices of tools against gold labels too.
    #[must_use]
    pub fn with_gold(self, gold: Option<Arc<Gold>>) -> Self {
        Self { gold, ..self }
    }

    /// The rules it runs.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Checks a trajectory and its sub-agents, each as a session of its own.
    #[must_use]
    pub fn check(&self, run: &Trajectory) -> Checked {
        let mut all = Checked::default();
        for (n, one) in run.flatten().into_iter().enumerate() {
            let mut checked = self.check_one(one);
            let card = &mut checked.scorecard;
            (card.sessions, card.sub_agents) = if n == 0 { (1, 0) } else { (0, 1) };
            all.merge(checked);
        }
        if let Some(gold) = &self.gold {
            all.pairs = gold.pair(run, &self.toolsets);
        }
        all
    }

    fn check_one(&self, run: &Trajectory) -> Checked {
        let session = Session::new(run, &self.toolsets);
        let mut gathered = Gathered::new(&session);
        for rule in &self.rules {
            let (least, gathered) = (self.least, &mut gathered);
            let mut report = Report { rule, session: &session, least, gathered, found: 0 };
            (rule.check)(&session, &mut report);
        }
        let (scorecard, findings, left_out) = gathered.finish(&session);
        Checked { findings, scorecard, left_out, ..Checked::default() }
    }
}
