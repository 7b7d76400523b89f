//! Where rules put what they find, and what becomes of it: findings, and the
//! numbers of the scorecard.

use crate::fingerprint;
use crate::rule::Rule;
use crate::scorecard::{Measure, Scorecard};
use crate::session::{Ended, Session, SessionCall};
use std::collections::{BTreeMap, BTreeSet};
use toolmark_outcome::{Axis, Confidence, Finding, Severity};
use toolmark_outcome::{Evidence, Role};

/// So many findings of one rule are kept per session; the rest is counted.
const MOST: usize = 1000;

/// A finding on its way: the call at fault and what is wrong with it. What is
/// not said is taken from the rule.
pub struct Draft {
    index: usize,
    message: String,
    about: Option<String>,
    severity: Option<Severity>,
    confidence: Option<Confidence>,
    remedy: Option<String>,
    bucket: Option<String>,
    without_arguments: bool,
    evidence: Vec<Evidence>,
}

impl Draft {
    /// A call, and what is wrong with it in one line.
    #[must_use]
    pub fn new(call: &SessionCall<'_>, message: impl Into<String>) -> Self {
        Self {
            index: call.index,
            message: message.into(),
            about: None,
            severity: None,
            confidence: None,
            remedy: None,
            bucket: None,
            without_arguments: false,
            evidence: Vec::new(),
        }
    }

    /// What the call itself shows, in the words of evidence.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> Self {
        self.about = Some(text.into());
        self
    }

    /// Worse or better than usual.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// More or less sure than usual.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// What to do about this one.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// What kind of it this is.
    #[must_use]
    pub fn bucket(mut self, bucket: impl Into<String>) -> Self {
        self.bucket = Some(bucket.into());
        self
    }

    /// The call's arguments are not to be repeated.
    #[must_use]
    pub fn without_arguments(mut self) -> Self {
        self.without_arguments = true;
        self
    }

    /// With something that proves it, besides the call itself.
    #[must_use]
    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }
}

/// A finding that its rule is not sure of, whether or not it is kept.
pub(crate) struct Unsure {
    pub(crate) rule: &'static Rule,
    /// The call's place in the trajectory.
    pub(crate) index: usize,
    pub(crate) message: String,
    pub(crate) bucket: Option<String>,
    pub(crate) confidence: Confidence,
    /// Is it in the report?
    pub(crate) is_kept: bool,
}

/// What all rules found in one session.
pub(crate) struct Gathered {
    pub(crate) findings: Vec<Finding>,
    /// How many findings were not kept.
    pub(crate) left_out: u64,
    /// Findings that are less than sure, where somebody wants to know.
    pub(crate) unsure: Option<Vec<Unsure>>,
    /// By call index: the axes it counts on (low bits) and faulted on (high).
    marks: Vec<u8>,
    measures: BTreeMap<Measure, crate::scorecard::Tally>,
    /// The axes whose number is a measure, not the share of calls without a
    /// finding.
    measured: BTreeSet<Axis>,
}

impl Gathered {
    pub(crate) fn new(session: &Session<'_>) -> Self {
        Self {
            findings: Vec::new(),
            left_out: 0,
            unsure: None,
            marks: vec![0; session.trajectory().calls.len()],
            measures: BTreeMap::new(),
            measured: BTreeSet::new(),
        }
    }

    /// The session's card, and its findings.
    pub(crate) fn finish(self, session: &Session<'_>) -> (Scorecard, Vec<Finding>, u64) {
        let mut card = Scorecard { measures: self.measures, ..Scorecard::default() };
        for call in session.calls() {
            if !card.tools.contains_key(&*call.tool) {
                card.tools.insert(call.tool.to_string().into(), Default::default());
            }
            let Some(of_tool) = card.tools.get_mut(&*call.tool) else { continue };
            of_tool.calls += 1;
            of_tool.failed += u64::from(call.ended == Ended::Failed);
            let marks = self.marks.get(call.index).copied().unwrap_or(0);
            for axis in Axis::ALL.iter().filter(|axis| !self.measured.contains(axis)) {
                if marks & counted(*axis) != 0 {
                    let is_faulted = marks & faulted(*axis) != 0;
                    of_tool.axis_mut(*axis).add(if is_faulted { 0.0 } else { 1.0 });
                }
            }
        }
        let is_whole = |measure: &Measure| {
            measure.name == measure.axis.word() && self.measured.contains(&measure.axis)
        };
        for (measure, tally) in card.measures.iter().filter(|(measure, _)| is_whole(measure)) {
            if let Some(of_tool) = card.tools.get_mut(&measure.tool) {
                of_tool.axis_mut(measure.axis).merge(*tally);
            }
        }
        (card, self.findings, self.left_out)
    }
}

fn counted(axis: Axis) -> u8 {
    1 << axis as u8
}

fn faulted(axis: Axis) -> u8 {
    1 << (axis as u8 + 4)
}

/// Where one rule puts what it finds in one session.
pub struct Recorder<'r, 's> {
    pub(crate) rule: &'static Rule,
    pub(crate) session: &'r Session<'s>,
    pub(crate) least: Confidence,
    pub(crate) gathered: &'r mut Gathered,
    pub(crate) found: usize,
}

impl Recorder<'_, '_> {
    /// Counts a call the rule could decide about, on its axis. A call with a
    /// finding counts anyway; one that no rule could decide about is not part of
    /// any rate.
    pub fn count_opportunity(&mut self, call: &SessionCall<'_>) {
        if let Some(marks) = self.gathered.marks.get_mut(call.index) {
            *marks |= counted(self.rule.axis);
        }
    }

    /// The number of the rule's axis is its measure of the same name, in the table
    /// of the scorecard as for gates.
    pub fn measures_axis(&mut self) {
        self.gathered.measured.insert(self.rule.axis);
    }

    /// A score from 0 to 1 for a number that has a name of its own.
    pub fn measure(&mut self, name: &'static str, call: &SessionCall<'_>, score: f64) {
        self.measure_in(name, call, None, score);
    }

    /// The same for one bucket of it.
    pub fn measure_in(
        &mut self,
        name: &'static str,
        call: &SessionCall<'_>,
        bucket: Option<&str>,
        score: f64,
    ) {
        let axis = self.rule.axis;
        let (tool, bucket) = (call.tool.to_string().into(), bucket.map(Into::into));
        let measure = Measure { axis, name, tool, bucket };
        self.gathered.measures.entry(measure).or_default().add(score);
    }

    /// Something is wrong. Findings that are less sure than was asked for
    /// neither show nor count.
    pub fn find(&mut self, draft: Draft) {
        let Ok(at) = self.session.calls().binary_search_by_key(&draft.index, |call| call.index)
        else {
            return;
        };
        let Some(call) = self.session.calls().get(at) else { return };
        self.count_opportunity(call);
        let confidence = draft.confidence.unwrap_or(self.rule.confidence);
        let is_kept = confidence >= self.least;
        if let Some(unsure) = &mut self.gathered.unsure
            && confidence < Confidence::High
        {
            unsure.push(Unsure {
                rule: self.rule,
                index: draft.index,
                message: draft.message.clone(),
                bucket: draft.bucket.clone(),
                confidence,
                is_kept,
            });
        }
        if !is_kept {
            return;
        }
        if let Some(marks) = self.gathered.marks.get_mut(draft.index) {
            *marks |= faulted(self.rule.axis);
        }
        self.found += 1;
        if self.found > MOST {
            self.gathered.left_out += 1;
            return;
        }
        let about = draft.about.unwrap_or_else(|| draft.message.clone());
        let mut violation = self.session.evidence(Role::Violation, about, call);
        if draft.without_arguments {
            violation.call.iter_mut().for_each(|call| call.args = None);
        }
        let mut evidence = vec![violation];
        evidence.extend(draft.evidence);
        let args =
            evidence.first().and_then(|e| e.call.as_ref()?.args.as_ref().map(|text| text.raw()));
        let fingerprint = fingerprint::of_finding(
            self.session.trajectory().cwd.as_ref().map(|cwd| cwd.get()).as_deref(),
            &[self.rule.code, &call.tool, draft.bucket.as_deref().unwrap_or_default()],
            &[&draft.message, args.unwrap_or_default()],
        );
        self.gathered.findings.push(Finding {
            code: self.rule.code,
            name: self.rule.name,
            axis: self.rule.axis,
            severity: draft.severity.unwrap_or(self.rule.severity),
            confidence,
            tool: (&*call.tool).into(),
            bucket: draft.bucket.map(Into::into),
            message: draft.message.into(),
            remedy: draft.remedy.unwrap_or_else(|| self.rule.remedy.to_owned()).into(),
            session: self.session.trajectory().id.as_ref().map(|id| id.get().into()),
            place: self.session.place(&call.call.at),
            evidence,
            fingerprint,
            new: None,
            judge: None,
        });
    }
}
