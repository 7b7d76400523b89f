//! The data of one session that trends keep.

use crate::usage::{Prices, RecordedCost, SessionUsage, Spend, call_milliseconds};
use jiff::Timestamp;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_check::gate::Cells;
use toolmark_check::{Checker, ScoreTally};
use toolmark_outcome::Axis;
use toolmark_trace::{Fact, RecordedCalls, Text, Trajectory};

/// Calls of one tool in one session.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionToolCalls {
    /// Number of calls with a known outcome.
    pub(super) known: u64,
    /// Number of failed calls among them.
    pub(super) failed: u64,
    /// Known durations of the calls.
    pub(super) milliseconds: Vec<u32>,
}

/// One session, including its sub-agents.
#[derive(Debug, Clone)]
pub struct TrendSession {
    pub(super) session: Arc<str>,
    pub(super) file: Arc<str>,
    pub(super) started: Option<Timestamp>,
    /// Agent with its version; `None` if the version is not recorded.
    pub(super) version: Option<Arc<str>>,
    pub(super) model: Option<Arc<str>>,
    /// Number of calls; `None` if the trace has no record of calls.
    pub(super) calls: Option<u64>,
    /// Number of findings of the rules; `None` if they were not run.
    pub(super) faults: Option<u64>,
    pub(super) tools: SortedMap<Arc<str>, SessionToolCalls>,
    /// Columns of the scorecard and its measures, by name.
    pub(super) tallies: SortedMap<String, ScoreTally>,
    pub(super) tokens: Option<u64>,
    pub(super) spend: Spend,
    pub(super) recorded: RecordedCost,
}

impl TrendSession {
    /// Measures a run and its sub-agents. Without a checker, faults and the scorecard are unknown.
    #[must_use]
    pub fn of(run: &Trajectory, checker: Option<&Checker>, prices: &Prices) -> Self {
        let shared = |text: Option<&Text>| text.map(|text| Arc::<str>::from(text.get().as_ref()));
        let version = run.agent.version.as_ref().map(|version| {
            let name = run.agent.name.as_ref().map(|name| name.get().into_owned());
            let name = name.unwrap_or_else(|| run.format.to_owned());
            Arc::<str>::from(format!("{name} {}", version.get()))
        });
        let mut session = Self {
            session: shared(run.id.as_ref()).unwrap_or_else(|| run.file.clone()),
            file: run.file.clone(),
            started: run.started,
            version,
            model: shared(run.agent.model.as_ref()),
            calls: None,
            faults: None,
            tools: SortedMap::new(),
            tallies: SortedMap::new(),
            tokens: None,
            spend: Spend::default(),
            recorded: RecordedCost::of(run),
        };
        for one in run.flatten() {
            session.add_calls(one);
        }
        let usage = SessionUsage::of(run);
        for part in &usage.parts {
            let Some(tokens) = &part.usage else { continue };
            let total = tokens.total();
            session.tokens = Some(session.tokens.unwrap_or(0).saturating_add(total));
            session.spend.add(prices.cost(part.model.as_deref(), tokens), total);
        }
        if let Some(checker) = checker.filter(|_| session.calls.is_some()) {
            session.add_rules(run, checker);
        }
        session
    }

    fn add_calls(&mut self, run: &Trajectory) {
        if run.calls_recorded() == RecordedCalls::Not {
            return;
        }
        *self.calls.get_or_insert(0) += run.calls.len() as u64;
        let knows_status = !run.fidelity.lacks(Fact::Status);
        for call in &run.calls {
            let name = call.name.original.get();
            if !self.tools.contains_key(&*name) {
                self.tools.insert(name.as_ref().into(), SessionToolCalls::default());
            }
            let Some(tool) = self.tools.get_mut(&*name) else { continue };
            if knows_status && call.result.is_some() {
                tool.known += 1;
                tool.failed += u64::from(call.status.is_error());
            }
            let took = call_milliseconds(call).map(|ms| u32::try_from(ms).unwrap_or(u32::MAX));
            tool.milliseconds.extend(took);
        }
    }

    fn add_rules(&mut self, run: &Trajectory, checker: &Checker) {
        let checked = checker.check(run);
        self.faults = Some(checked.profiles.iter().map(|profile| profile.faults).sum());
        let total = checked.scorecard.total();
        for axis in Axis::ALL {
            self.tallies.insert(axis.word().to_owned(), total.axis(*axis));
        }
        for (name, tally) in Cells::from(&checked.scorecard).totals() {
            self.tallies.entry(name.to_owned()).or_insert(tally);
        }
        self.tallies.retain(|_, tally| tally.of > 0);
    }
}
