//! Shows required and actual calls side by side, for evidence and
//! explanations.

use super::function_call_coverage::CoverageReading;
use super::required::Required;
use serde_json::Value;
use toolmark_base::SortedMap;
use toolmark_outcome::Outcome;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_outcome::{Explanation, ExplanationRow, RowState};
use toolmark_outcome::{NumberRules, equal};

/// Maximum amount of evidence, and of suggested changes, per outcome.
const SHOWN: usize = 20;

/// Maximum number of unexpected calls that get a row.
const EXTRA_ROWS: usize = 50;

/// A requirement, a call, or both.
#[derive(Clone, Copy)]
struct CoverageSide {
    item: Option<usize>,
    call: Option<usize>,
    state: RequirementState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequirementState {
    Made,
    OutOfOrder,
    OtherArguments,
    NotMade,
    Extra,
}

impl RequirementState {
    fn row(self) -> RowState {
        match self {
            Self::Made => RowState::Matched,
            Self::OutOfOrder | Self::OtherArguments => RowState::Mismatched,
            Self::NotMade => RowState::Missing,
            Self::Extra => RowState::Extra,
        }
    }
}

/// Requirements and calls side by side.
pub(super) struct Sides<'a> {
    required: &'a [Required],
    view: &'a TrajectoryView<'a>,
    sides: Vec<CoverageSide>,
}

impl<'a> Sides<'a> {
    /// Pairs the requirements, in order, with calls. If order counts, an unexpected call
    /// is placed before the first requirement that is met later.
    pub(super) fn new(
        required: &'a [Required],
        reading: &CoverageReading,
        view: &'a TrajectoryView<'a>,
    ) -> Self {
        let mut taken = vec![false; reading.calls];
        let placed = reading.ordered.as_ref().unwrap_or(&reading.of_item);
        for &call in placed.iter().flatten() {
            taken[call] = true;
        }
        let mut sides: Vec<CoverageSide> = Vec::with_capacity(required.len());
        for (item, (&met, &placed)) in reading.of_item.iter().zip(placed).enumerate() {
            let (call, state) = match (met, placed) {
                (_, Some(call)) => (Some(call), RequirementState::Made),
                (Some(call), None) => {
                    let free = !std::mem::replace(&mut taken[call], true);
                    (free.then_some(call), RequirementState::OutOfOrder)
                }
                (None, None) => (None, RequirementState::NotMade),
            };
            sides.push(CoverageSide { item: Some(item), call, state });
        }
        pair_with_near_misses(&mut sides, required, view, &mut taken);
        let extras = interleave(sides, &taken, reading.ordered.is_some());
        Self { required, view, sides: extras }
    }

    /// Adds evidence, notes and the explanation.
    pub(super) fn explain(&self, outcome: &mut Outcome) {
        let mut evidence: Vec<(u8, &CoverageSide)> = self
            .sides
            .iter()
            .map(|side| {
                let weight = match side.state {
                    RequirementState::NotMade
                    | RequirementState::OtherArguments
                    | RequirementState::OutOfOrder => 0,
                    RequirementState::Made => 1,
                    RequirementState::Extra => 2,
                };
                (weight, side)
            })
            .collect();
        evidence.sort_by_key(|(weight, _)| *weight);
        outcome.evidence =
            evidence.iter().take(SHOWN).map(|(_, side)| self.evidence(side)).collect();
        let left = evidence.len() - outcome.evidence.len();
        if left > 0 {
            outcome.notes.push(format!("{left} more pieces of evidence are left out").into());
        }
        outcome.notes.extend(self.failed().map(Into::into));
        outcome.explanation = Some(self.explanation());
    }

    fn words(&self, side: &CoverageSide) -> Option<String> {
        side.item.and_then(|item| Some(self.required.get(item)?.words()))
    }

    fn evidence(&self, side: &CoverageSide) -> Evidence {
        let words = self.words(side).unwrap_or_default();
        let (role, text) = match side.state {
            RequirementState::Made => (EvidenceRole::Matched, format!("required: {words}")),
            RequirementState::OutOfOrder => {
                (EvidenceRole::Mismatch, format!("required: {words}, made out of order"))
            }
            RequirementState::OtherArguments => (
                EvidenceRole::Mismatch,
                format!("required: {words}, {}", self.why(side).unwrap_or_default()),
            ),
            RequirementState::NotMade => {
                (EvidenceRole::Missing, format!("required and not made: {words}"))
            }
            RequirementState::Extra => (EvidenceRole::Extra, "not required".to_owned()),
        };
        match side.call.and_then(|call| self.view.calls().get(call)) {
            Some(seen) => self.view.evidence(role, text, *seen),
            None => Evidence { role, ..Evidence::absence(text) },
        }
    }

    /// Describes what is wrong.
    fn why(&self, side: &CoverageSide) -> Option<String> {
        match side.state {
            RequirementState::OutOfOrder => Some("made, but not in the required order".into()),
            RequirementState::OtherArguments => {
                let expected = self.required.get(side.item?)?.arguments.as_ref()?;
                let made = self.view.calls().get(side.call?)?.call.args.as_ref();
                Some(match made.map(|args| (args, args.parsed())) {
                    None => "made without arguments".into(),
                    Some((_, Some(made))) => difference(expected, made),
                    Some((args, None)) => {
                        format!("made with arguments that are no object: {}", excerpt(&args.raw()))
                    }
                })
            }
            RequirementState::Made | RequirementState::NotMade | RequirementState::Extra => None,
        }
    }

    /// Returns a note about required calls that were made but failed.
    fn failed(&self) -> Option<String> {
        let made = self.sides.iter().filter(|side| side.state == RequirementState::Made);
        let failed: Vec<String> = made
            .filter_map(|side| self.view.calls().get(side.call?))
            .filter(|seen| seen.call.status.is_error())
            .map(|seen| format!("call {} {}", seen.number(), seen.call.name.full()))
            .collect();
        let shown = failed.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if failed.len() > 5 { " and others" } else { "" };
        (!failed.is_empty()).then(|| format!("made, and failed: {shown}{more}"))
    }

    fn explanation(&self) -> Explanation {
        let mut explanation = Explanation::default();
        let mut extras = 0;
        for side in &self.sides {
            if side.state == RequirementState::Extra {
                extras += 1;
                if extras > EXTRA_ROWS {
                    explanation.elided += 1;
                    continue;
                }
            }
            let is_good = matches!(side.state, RequirementState::Made | RequirementState::Extra);
            if !is_good {
                explanation.divergence.get_or_insert(explanation.rows.len());
                if explanation.repair.len() < SHOWN {
                    explanation.repair.extend(self.repair(side).map(Into::into));
                }
            }
            let call = side.call.and_then(|call| self.view.calls().get(call));
            explanation.rows.push(ExplanationRow {
                expected: self.words(side).map(Into::into),
                call: call.map(|seen| self.view.call_ref(*seen)),
                state: side.state.row(),
                why: self.why(side).map(Into::into),
            });
        }
        explanation
    }

    fn repair(&self, side: &CoverageSide) -> Option<String> {
        let words = self.words(side)?;
        Some(match side.state {
            RequirementState::OutOfOrder => format!("make the call {words} in its place"),
            _ => format!("make the call {words}"),
        })
    }
}

/// Pairs unmet requirements that have arguments with unused calls of the same
/// function.
fn pair_with_near_misses(
    sides: &mut [CoverageSide],
    required: &[Required],
    view: &TrajectoryView<'_>,
    taken: &mut [bool],
) {
    let mut near: SortedMap<String, Vec<usize>> = SortedMap::new();
    for (call, seen) in view.calls().iter().enumerate().rev() {
        if !taken[call] {
            near.entry(seen.call.name.full().into_owned()).or_default().push(call);
        }
    }
    for side in sides.iter_mut().filter(|side| side.state == RequirementState::NotMade) {
        let Some(required) = side.item.and_then(|item| required.get(item)) else { continue };
        if required.arguments.is_none() {
            continue;
        }
        if let Some(call) = near.get_mut(&required.name).and_then(Vec::pop) {
            taken[call] = true;
            side.call = Some(call);
            side.state = RequirementState::OtherArguments;
        }
    }
}

/// Returns the sides with the unused calls between or after them.
fn interleave(sides: Vec<CoverageSide>, taken: &[bool], in_order: bool) -> Vec<CoverageSide> {
    let mut free = (0..taken.len()).filter(|call| !taken[*call]).peekable();
    let extra =
        |call| CoverageSide { item: None, call: Some(call), state: RequirementState::Extra };
    let mut all = Vec::with_capacity(sides.len());
    for side in sides {
        if let (true, RequirementState::Made, Some(made)) = (in_order, side.state, side.call) {
            while let Some(call) = free.next_if(|call| *call < made) {
                all.push(extra(call));
            }
        }
        all.push(side);
    }
    all.extend(free.map(extra));
    all
}

/// Describes the first argument that differs.
fn difference(expected: &Value, made: &Value) -> String {
    let (Value::Object(expected), Value::Object(made)) = (expected, made) else {
        return format!("made with arguments that are no object: {}", excerpt(&made.to_string()));
    };
    for (key, value) in expected {
        match made.get(key) {
            None => return format!("made without {key}"),
            Some(other) if !equal(value, other, NumberRules::Json) => {
                let (value, other) = (excerpt(&value.to_string()), excerpt(&other.to_string()));
                return format!("made with {key} {other} instead of {value}");
            }
            Some(_) => {}
        }
    }
    match made.keys().find(|key| !expected.contains_key(*key)) {
        Some(key) => format!("made with {key}, which is not expected"),
        None => "made with other arguments".into(),
    }
}
