//! The budget of a run: reservations of trials, and the amounts spent.

use crate::usage::Used;
use std::collections::BTreeMap;
use std::sync::Mutex;
use toolmark_grade::run_plan::{RunBudget, TrialLimits};

/// Amounts spent by the finished trials of a run, and reserved by running ones.
#[derive(Debug)]
pub struct Ledger {
    budget: RunBudget,
    state: Mutex<RunBudgetState>,
}

#[derive(Debug, Default)]
struct RunBudgetState {
    spent: Used,
    /// Usage of the most expensive trial so far.
    most: Used,
    /// Usage and reservation of each running trial.
    running: BTreeMap<u64, (Used, Used)>,
    next: u64,
}

/// Permission to start a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation(u64);

impl Ledger {
    /// Returns a ledger with the usage of earlier trials.
    #[must_use]
    pub fn new(budget: RunBudget, before: &[Used]) -> Self {
        let mut state = RunBudgetState::default();
        for used in before {
            state.book(used);
        }
        Self { budget, state: Mutex::new(state) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RunBudgetState> {
        toolmark_base::lock(&self.state)
    }

    /// Reserves the limits of a trial, or the usage of the most expensive one. `None` if the
    /// remaining budget is too small.
    #[must_use]
    pub fn reserve(&self, limits: &TrialLimits) -> Option<Reservation> {
        let mut state = self.lock();
        let wanted = Used {
            usd: limits.usd.or(state.most.usd),
            tokens: limits.tokens.or(state.most.tokens),
            ..Used::default()
        };
        let (mut usd, mut tokens) =
            (state.spent.usd.unwrap_or(0.0), state.spent.tokens.unwrap_or(0));
        for (used, reserved) in state.running.values() {
            usd += used.usd.unwrap_or(0.0).max(reserved.usd.unwrap_or(0.0));
            tokens += used.tokens.unwrap_or(0).max(reserved.tokens.unwrap_or(0));
        }
        let is_over = |spent: f64, wanted: f64, budget: f64| {
            spent >= budget || spent + wanted > budget + 1e-9
        };
        let over_usd = self.budget.usd.is_some_and(|b| is_over(usd, wanted.usd.unwrap_or(0.0), b));
        let over_tokens = self.budget.tokens.is_some_and(|budget| {
            is_over(tokens as f64, wanted.tokens.unwrap_or(0) as f64, budget as f64)
        });
        if over_usd || over_tokens {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.running.insert(number, (Used::default(), wanted));
        Some(Reservation(number))
    }

    /// Updates the usage of a running trial. Returns whether the budget is spent.
    #[must_use]
    pub fn update(&self, reservation: Reservation, used: &Used) -> bool {
        let mut state = self.lock();
        if let Some((now, _)) = state.running.get_mut(&reservation.0) {
            *now = used.clone();
        }
        self.is_spent(&state)
    }

    /// Books the final usage of a trial and releases its reservation.
    pub fn settle(&self, reservation: Reservation, used: &Used) {
        let mut state = self.lock();
        state.running.remove(&reservation.0);
        state.book(used);
    }

    /// Amounts spent so far.
    #[must_use]
    pub fn spent(&self) -> Used {
        let state = self.lock();
        let mut spent = state.spent.clone();
        state.running.values().for_each(|(used, _)| spent.add(used));
        spent
    }

    fn is_spent(&self, state: &RunBudgetState) -> bool {
        let mut spent = state.spent.clone();
        state.running.values().for_each(|(used, _)| spent.add(used));
        let over = |spent: Option<f64>, budget: Option<f64>| {
            budget.is_some_and(|budget| spent.unwrap_or(0.0) > budget)
        };
        over(spent.usd, self.budget.usd)
            || over(spent.tokens.map(|n| n as f64), self.budget.tokens.map(|n| n as f64))
    }
}

impl RunBudgetState {
    fn book(&mut self, used: &Used) {
        self.spent.add(used);
        self.most.tokens = self.most.tokens.max(used.tokens);
        if used.usd > self.most.usd {
            self.most.usd = used.usd;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(usd: f64) -> Used {
        Used { usd: Some(usd), ..Used::default() }
    }

    #[test]
    fn what_is_reserved_is_not_given_twice() {
        let ledger = Ledger::new(RunBudget { usd: Some(1.0), tokens: None }, &[]);
        let limits = TrialLimits { usd: Some(0.4), ..TrialLimits::default() };
        let first = ledger.reserve(&limits).unwrap();
        let second = ledger.reserve(&limits).unwrap();
        assert_eq!(ledger.reserve(&limits), None);
        ledger.settle(first, &usd(0.1));
        let third = ledger.reserve(&limits).unwrap();
        ledger.settle(second, &usd(0.4));
        assert!(!ledger.update(third, &usd(0.5)));
        assert!(ledger.update(third, &usd(0.51)));
    }

    #[test]
    fn without_limits_the_dearest_counts() {
        let ledger = Ledger::new(RunBudget { usd: Some(1.0), tokens: None }, &[usd(0.3), usd(0.5)]);
        assert_eq!(ledger.reserve(&TrialLimits::default()), None);
        let ledger = Ledger::new(RunBudget { usd: Some(1.0), tokens: None }, &[usd(0.4)]);
        assert!(ledger.reserve(&TrialLimits::default()).is_some());
        assert_eq!(ledger.reserve(&TrialLimits::default()), None);
    }

    #[test]
    fn tokens_are_a_budget_too() {
        let tokens = |n| Used { tokens: Some(n), ..Used::default() };
        let ledger = Ledger::new(RunBudget { usd: None, tokens: Some(100) }, &[tokens(90)]);
        assert_eq!(ledger.reserve(&TrialLimits::default()), None);
        let limits = TrialLimits { tokens: Some(10), ..TrialLimits::default() };
        let one = ledger.reserve(&limits).unwrap();
        assert!(ledger.update(one, &tokens(11)));
    }
}
