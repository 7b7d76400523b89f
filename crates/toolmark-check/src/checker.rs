//! Runs rules over trajectories and merges the results.

use crate::call_rows::CallRow;
use crate::decisions::CallDecisions;
use crate::declared_runs::DeclaredRuns;
use crate::destructive_calls::DestructiveCall;
use crate::doubts::{self, Doubt};
use crate::gold::{Gold, GoldPair, SelectionScore};
use crate::profile::{Assessed, SessionProfile};
use crate::recorder::{Gathered, Recorder};
use crate::rule::Rule;
use crate::rules::default_rules;
use crate::scorecard::Scorecard;
use crate::second_opinion::Refined;
use crate::session_card::SessionCard;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::{Confidence, Finding, Printable, Redactor, Severity, Untrusted};
use toolmark_session::session::Session;
use toolmark_trace::{RecordedCalls, Trajectory};

/// Selected rules and their settings.
pub struct Checker {
    rules: Vec<&'static Rule>,
    least: Confidence,
    toolsets: Toolsets,
    gold: Option<Arc<Gold>>,
    severities: SortedMap<&'static str, Severity>,
    keeps_sessions: bool,
    keeps_calls: bool,
    has_doubts: bool,
}

/// Result of checking.
#[derive(Debug)]
pub struct CheckedTraces<T: Ord = Untrusted> {
    /// Findings; [`CheckedTraces::sort`] puts the worst first.
    pub findings: Vec<Finding<T>>,
    /// Scorecard by axis and tool.
    pub scorecard: Scorecard<T>,
    /// Number of findings that were counted but not kept.
    pub left_out: u64,
    /// Choices of tools for which there are gold labels.
    pub pairs: Vec<GoldPair>,
    /// Scores of the pairs, computed once all pairs are known.
    pub selection: Option<SelectionScore<T>>,
    /// Scorecards of the sessions, if they are kept.
    pub sessions: Vec<SessionCard<T>>,
    /// Profile and cost of each session, in the order in which they were read.
    pub profiles: Vec<SessionProfile<T>>,
    /// Calls with irreversible effects.
    pub destructive: Vec<DestructiveCall<T>>,
    /// All calls, if they are kept.
    pub calls: Vec<CallRow<T>>,
    /// Decisions that the guard would have made.
    pub decisions: CallDecisions<T>,
    /// Outcomes that the runs declare.
    pub declared: DeclaredRuns<T>,
    /// Calls for which the rules are unsure, if requested.
    pub doubts: Vec<Doubt>,
    /// Number of doubts that were counted but not kept, by rubric.
    pub not_asked: SortedMap<&'static str, u64>,
    /// Answers of a judge to the doubts, once it was asked.
    pub judged: Option<Vec<Refined<T>>>,
}

impl<T: Ord> Default for CheckedTraces<T> {
    fn default() -> Self {
        Self {
            findings: Vec::new(),
            scorecard: Scorecard::default(),
            left_out: 0,
            pairs: Vec::new(),
            selection: None,
            sessions: Vec::new(),
            profiles: Vec::new(),
            destructive: Vec::new(),
            calls: Vec::new(),
            decisions: CallDecisions::default(),
            declared: DeclaredRuns::default(),
            doubts: Vec::new(),
            not_asked: SortedMap::new(),
            judged: None,
        }
    }
}

impl CheckedTraces {
    /// Returns the printable result, without pairs and doubts, which are only needed before.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CheckedTraces<Printable> {
        let refined = |all: Vec<Refined>| all.into_iter().map(|one| one.redact(redactor)).collect();
        CheckedTraces {
            findings: self.findings.into_iter().map(|one| one.redact(redactor)).collect(),
            scorecard: self.scorecard.redact(redactor),
            left_out: self.left_out,
            pairs: Vec::new(),
            selection: self.selection.map(|selection| selection.redact(redactor)),
            sessions: self.sessions.into_iter().map(|one| one.redact(redactor)).collect(),
            profiles: self.profiles.into_iter().map(|one| one.redact(redactor)).collect(),
            destructive: self.destructive.into_iter().map(|one| one.redact(redactor)).collect(),
            calls: self.calls.into_iter().map(|one| one.redact(redactor)).collect(),
            decisions: self.decisions.redact(redactor),
            declared: self.declared.redact(redactor),
            doubts: Vec::new(),
            not_asked: self.not_asked,
            judged: self.judged.map(refined),
        }
    }

    /// Adds another result.
    pub fn merge(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.scorecard.merge(other.scorecard);
        self.left_out += other.left_out;
        self.pairs.extend(other.pairs);
        self.sessions.extend(other.sessions);
        self.profiles.extend(other.profiles);
        self.destructive.extend(other.destructive);
        self.calls.extend(other.calls);
        self.decisions.merge(other.decisions);
        self.declared.merge(other.declared);
        self.doubts.extend(other.doubts);
        for (rubric, count) in other.not_asked {
            *self.not_asked.entry(rubric).or_default() += count;
        }
        if let Some(judged) = other.judged {
            self.judged.get_or_insert_default().extend(judged);
        }
    }

    /// Sorts findings, worst first, and doubts in the order of rubrics.
    pub fn sort(&mut self) {
        self.findings.sort_by(Finding::order);
        self.doubts.sort_by(Doubt::order);
    }
}

impl Default for Checker {
    fn default() -> Self {
        Self::new(default_rules().collect(), Confidence::Medium, Toolsets::default())
    }
}

impl Checker {
    /// Creates a checker with these rules that omits findings below a confidence.
    #[must_use]
    pub fn new(rules: Vec<&'static Rule>, least: Confidence, toolsets: Toolsets) -> Self {
        Self {
            rules,
            least,
            toolsets,
            gold: None,
            severities: SortedMap::new(),
            keeps_sessions: false,
            keeps_calls: false,
            has_doubts: false,
        }
    }

    /// Also compares choices of tools with gold labels.
    #[must_use]
    pub fn with_gold(self, gold: Option<Arc<Gold>>) -> Self {
        Self { gold, ..self }
    }

    /// Sets user-defined severities, by the code of the rule.
    #[must_use]
    pub fn severities(mut self, severities: SortedMap<&'static str, Severity>) -> Self {
        self.severities = severities;
        self
    }

    /// Keeps the scorecard of every session in addition to the total, and every call that the
    /// guard would have stopped.
    #[must_use]
    pub fn keep_sessions(mut self) -> Self {
        self.keeps_sessions = true;
        self
    }

    /// Keeps a row for every call.
    #[must_use]
    pub fn keep_calls(mut self) -> Self {
        self.keeps_calls = true;
        self
    }

    /// Keeps the calls for which the rules are unsure, as questions for a judge.
    #[must_use]
    pub fn with_doubts(mut self) -> Self {
        self.has_doubts = true;
        self
    }

    /// Returns the toolsets of trajectories.
    #[must_use]
    pub fn toolsets(&self) -> &Toolsets {
        &self.toolsets
    }

    /// Returns the rules of the checker.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Checks a trajectory and its sub-agents, each as a separate session.
    #[must_use]
    pub fn check(&self, run: &Trajectory) -> CheckedTraces {
        let mut all = CheckedTraces::default();
        for (n, one) in run.flatten().into_iter().enumerate() {
            let mut checked = self.check_alone(one);
            let card = &mut checked.scorecard;
            (card.sessions, card.sub_agents) = if n == 0 { (1, 0) } else { (0, 1) };
            match one.calls_recorded() {
                RecordedCalls::Fully => {}
                RecordedCalls::Partly => card.partly_recorded += 1,
                RecordedCalls::Not => card.unrecorded += 1,
            }
            all.merge(checked);
        }
        // A session is one row, including its sub-agents.
        let sub_agents = all.profiles.split_off(1.min(all.profiles.len()));
        if let Some(profile) = all.profiles.first_mut() {
            sub_agents.iter().for_each(|sub_agent| profile.absorb(sub_agent));
        }
        all.declared = DeclaredRuns::of(run);
        if let Some(gold) = &self.gold {
            all.pairs = gold.pair(run, &self.toolsets);
        }
        let id = run.id.as_ref().map(|id| id.get().into_owned());
        all.doubts.iter_mut().for_each(|doubt| doubt.run.clone_from(&id));
        if self.keeps_sessions {
            all.sessions.push(SessionCard::new(id.map(Into::into), &all.scorecard));
        }
        all
    }

    /// Checks one trajectory without its sub-agents.
    #[must_use]
    pub fn check_alone(&self, run: &Trajectory) -> CheckedTraces {
        self.check_session(&Session::new(run, &self.toolsets))
    }

    /// Checks a session that is already prepared.
    #[must_use]
    pub fn check_session(&self, session: &Session<'_>) -> CheckedTraces {
        let mut gathered = Gathered::new(session);
        gathered.unsure = self.has_doubts.then(Vec::new);
        for rule in &self.rules {
            let mut recorder = Recorder {
                rule,
                session,
                least: self.least,
                gathered: &mut gathered,
                severity: self.severities.get(rule.code).copied(),
                found: 0,
                measured: None,
            };
            (rule.check)(session, &mut recorder);
            gathered.end_rule(rule);
        }
        let (doubts, not_asked) = match &gathered.unsure {
            Some(unsure) => doubts::collect(session, &self.rules, unsure, &gathered.findings),
            None => Default::default(),
        };
        let mut profile = SessionProfile::new(session, gathered.faults);
        let (scorecard, findings, left_out) = gathered.finish(session);
        profile.assessed = Assessed::of(&scorecard);
        let decisions = CallDecisions::of(session, self.keeps_sessions);
        let calls = match self.keeps_calls {
            true => CallRow::all(session, &findings),
            false => Vec::new(),
        };
        CheckedTraces {
            findings,
            scorecard,
            left_out,
            profiles: vec![profile],
            destructive: DestructiveCall::all(session),
            calls,
            decisions,
            doubts,
            not_asked,
            ..CheckedTraces::default()
        }
    }
}
