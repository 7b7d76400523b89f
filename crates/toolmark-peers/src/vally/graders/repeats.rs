//! Detection of repeated actions for `max-repeat` and `loop-outcome`.

use super::observed::{is_vally, observed};
use super::tool_filter::ToolFilter;
use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_config::Spanned;
use toolmark_match::Building;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{IndexedCall, Missing, TrajectoryView};
use toolmark_outcome::{NumberRules, equal};
use toolmark_trace::Fact;

/// Criterion for the same action. Calls of different tools are never the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Same {
    /// The same tool with the same result.
    Observation,
    /// The same tool.
    Name,
    /// The same tool with the same arguments.
    NameArgs,
}

impl Same {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Name => "name",
            Self::NameArgs => "name-args",
        }
    }
}

/// Maximum configurable cycle length.
const LONGEST_PERIOD: u64 = 10;

/// Maximum number of calls of a repetition that are shown.
const SHOWN: usize = 10;

/// Settings for finding repetitions.
pub(super) struct Repeats {
    pub(super) same: Same,
    pub(super) tools: ToolFilter,
    pub(super) longest_period: usize,
}

/// The longest repetition found: number of repetitions, and length of the cycle.
pub(super) struct RepeatRun {
    pub(super) times: usize,
    pub(super) period: usize,
    /// First call, and number of calls, among those inspected.
    first: usize,
    length: usize,
}

impl Repeats {
    pub(super) fn build(
        same: Same,
        tools: Option<&Spanned<Vec<Spanned<String>>>>,
        max_cycle_period: Option<Spanned<u64>>,
        building: &mut Building<'_>,
    ) -> Option<Self> {
        let tools = ToolFilter::build(tools, building);
        let longest_period = match max_cycle_period {
            None => 1,
            Some(period) if (1..=LONGEST_PERIOD).contains(&period.value) => period.value as usize,
            Some(period) => {
                let message = format!("a cycle has between 1 and {LONGEST_PERIOD} actions");
                building.reject(period.span, "out-of-range", message);
                return None;
            }
        };
        Some(Self { same, tools: tools?, longest_period })
    }

    /// Returns the inspected calls.
    pub(super) fn looked_at<'a>(
        &self,
        view: &TrajectoryView<'a>,
    ) -> Result<Vec<IndexedCall<'a>>, Missing> {
        let lacks = |fact| !is_vally(view) && view.trajectory().fidelity.lacks(fact);
        match self.same {
            Same::Observation if lacks(Fact::Results) => {
                return Err(Missing::new("the trace does not record results of calls"));
            }
            Same::NameArgs if lacks(Fact::Arguments) => {
                return Err(Missing::new("the trace does not record arguments of calls"));
            }
            _ => {}
        }
        let mut calls = Vec::new();
        for seen in view.calls() {
            if self.tools.takes(&seen.call.name.full())? {
                calls.push(*seen);
            }
        }
        Ok(calls)
    }

    /// Returns the repetition with the highest count; of several, the first with the shortest
    /// cycle.
    pub(super) fn longest(
        &self,
        view: &TrajectoryView<'_>,
        calls: &[IndexedCall<'_>],
    ) -> RepeatRun {
        let mut longest =
            RepeatRun { times: usize::from(!calls.is_empty()), period: 1, first: 0, length: 1 };
        for period in 1..=self.longest_period {
            let mut matched = 0;
            for at in period..calls.len() {
                if !self.is_same(view, &calls[at - period], &calls[at]) {
                    matched = 0;
                    continue;
                }
                matched += 1;
                let length = matched + period;
                if length / period > longest.times {
                    let first = at + 1 - length;
                    longest = RepeatRun { times: length / period, period, first, length };
                } else if longest.period == period && longest.first == at + 1 - length {
                    longest.length = length;
                }
            }
        }
        longest
    }

    fn is_same(&self, view: &TrajectoryView<'_>, a: &IndexedCall<'_>, b: &IndexedCall<'_>) -> bool {
        if a.call.name.full() != b.call.name.full() {
            return false;
        }
        match self.same {
            Same::Name => true,
            // A call that was never answered gave nothing that could be the same.
            Same::Observation => match (observed(view, a.call), observed(view, b.call)) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
            Same::NameArgs => match (&a.call.args, &b.call.args) {
                (None, None) => true,
                (Some(a), Some(b)) => match (a.parsed(), b.parsed()) {
                    (Some(a), Some(b)) => equal(a, b, NumberRules::Json),
                    (None, None) => a.raw() == b.raw(),
                    _ => false,
                },
                _ => false,
            },
        }
    }
}

impl RepeatRun {
    /// Returns evidence for the first calls of the repetition.
    pub(super) fn evidence(
        &self,
        view: &TrajectoryView<'_>,
        calls: &[IndexedCall<'_>],
        role: EvidenceRole,
    ) -> Vec<Evidence> {
        let shown = calls.iter().skip(self.first).take(self.length.min(SHOWN));
        shown.map(|seen| view.evidence(role, "repeated", *seen)).collect()
    }

    /// Describes the repetition: `bash 4 times in a row`.
    pub(super) fn words(&self, calls: &[IndexedCall<'_>]) -> String {
        let cycle = calls.iter().skip(self.first).take(self.period);
        let names: Vec<_> = cycle.map(|seen| seen.call.name.full().into_owned()).collect();
        let names = names.join(", ");
        match (self.period, self.times) {
            (_, 0) => "no calls".to_owned(),
            (1, 1) => "no action twice in a row".to_owned(),
            (1, times) => format!("{names} {times} times in a row"),
            (_, times) => format!("the cycle {names} {times} times in a row"),
        }
    }
}
