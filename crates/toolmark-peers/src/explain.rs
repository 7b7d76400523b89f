//! Shows expectations and calls side by side.

use crate::reading::count;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Explanation, ExplanationRow, RowState};
use toolmark_outcome::{IndexedCall, TrajectoryView};

/// Maximum amount of evidence per grader.
const MAX_EVIDENCE: usize = 20;

/// Maximum number of rows of an explanation.
const MAX_ROWS: usize = 400;

/// Result of an expectation.
#[derive(Debug, Clone)]
pub(crate) enum ExpectationState {
    /// Met by this call.
    Met(usize),
    /// Not met: this call uses the right tool, but something else is wrong.
    Wrong(usize, String),
    /// Not met by any call.
    Missing,
}

impl ExpectationState {
    pub(crate) fn is_met(&self) -> bool {
        matches!(self, Self::Met(_))
    }

    fn call(&self) -> Option<usize> {
        match self {
            Self::Met(at) | Self::Wrong(at, _) => Some(*at),
            Self::Missing => None,
        }
    }
}

/// Explains expectations beside the calls that were made. The calls of
/// the states must be in order.
pub(crate) fn explain(
    view: &TrajectoryView<'_>,
    expected: &[String],
    states: &[ExpectationState],
) -> Explanation {
    let calls = view.calls();
    let mut explanation = Explanation::default();
    let mut next = 0;
    let push = |explanation: &mut Explanation, row: ExplanationRow, decides: bool| {
        if decides && explanation.divergence.is_none() {
            explanation.divergence = Some(explanation.rows.len());
        }
        explanation.rows.push(row);
    };
    let extra = |explanation: &mut Explanation, seen: IndexedCall<'_>| {
        if explanation.rows.len() >= MAX_ROWS {
            explanation.elided += 1;
            return;
        }
        let call = Some(view.call_ref(seen));
        push(
            explanation,
            ExplanationRow { expected: None, call, state: RowState::Extra, why: None },
            false,
        );
    };
    for (text, state) in expected.iter().zip(states) {
        if let Some(at) = state.call() {
            for seen in calls.get(next..at).unwrap_or_default() {
                extra(&mut explanation, *seen);
            }
            next = next.max(at + 1);
        }
        if explanation.rows.len() >= 2 * MAX_ROWS {
            continue;
        }
        let call = state.call().and_then(|at| calls.get(at)).map(|seen| view.call_ref(*seen));
        let (row_state, why) = match state {
            ExpectationState::Met(_) => (RowState::Matched, None),
            ExpectationState::Wrong(_, why) => (RowState::Mismatched, Some(why.into())),
            ExpectationState::Missing => (RowState::Missing, None),
        };
        match state {
            ExpectationState::Met(_) => {}
            ExpectationState::Wrong(_, why) => {
                explanation.repair.push(format!("{text}: {why}").into())
            }
            ExpectationState::Missing => explanation.repair.push(format!("call {text}").into()),
        }
        let row = ExplanationRow { expected: Some(text.into()), call, state: row_state, why };
        push(&mut explanation, row, !state.is_met());
    }
    for seen in calls.get(next..).unwrap_or_default() {
        extra(&mut explanation, *seen);
    }
    explanation.repair.truncate(MAX_EVIDENCE);
    explanation
}

/// Evidence for a verdict, with violations first.
#[derive(Default)]
pub(crate) struct VerdictEvidence {
    against: Vec<Evidence>,
    matched: Vec<Evidence>,
    left: usize,
}

impl VerdictEvidence {
    /// Adds a call that meets an expectation.
    pub(crate) fn matched(&mut self, view: &TrajectoryView<'_>, text: &str, at: usize) {
        if self.matched.len() < MAX_EVIDENCE
            && let Some(seen) = view.calls().get(at)
        {
            self.matched.push(view.evidence(EvidenceRole::Matched, text, *seen));
        }
    }

    /// Adds a call that counts against the run.
    pub(crate) fn against(
        &mut self,
        view: &TrajectoryView<'_>,
        role: EvidenceRole,
        text: String,
        at: usize,
    ) {
        match view.calls().get(at) {
            Some(seen) if self.against.len() < MAX_EVIDENCE => {
                self.against.push(view.evidence(role, text, *seen));
            }
            _ => self.left += 1,
        }
    }

    /// Adds something that is missing.
    pub(crate) fn missing(&mut self, text: String) {
        if self.against.len() < MAX_EVIDENCE {
            self.against.push(Evidence::absence(text));
        } else {
            self.left += 1;
        }
    }

    /// Adds the results of expectations.
    pub(crate) fn states(
        &mut self,
        view: &TrajectoryView<'_>,
        expected: &[String],
        states: &[ExpectationState],
    ) {
        for (text, state) in expected.iter().zip(states) {
            match state {
                ExpectationState::Met(at) => self.matched(view, text, *at),
                ExpectationState::Wrong(at, why) => {
                    self.against(view, EvidenceRole::Mismatch, format!("{text}: {why}"), *at);
                }
                ExpectationState::Missing => self.missing(format!("{text} was not called")),
            }
        }
    }

    /// Returns the evidence, and a note about omitted evidence.
    pub(crate) fn finish(self) -> (Vec<Evidence>, Option<String>) {
        let mut evidence = self.against;
        let room = MAX_EVIDENCE.saturating_sub(evidence.len());
        evidence.extend(self.matched.into_iter().take(room));
        let note = (self.left > 0).then(|| {
            format!("{} that speak against are not listed", count(self.left, "more thing"))
        });
        (evidence, note)
    }
}
