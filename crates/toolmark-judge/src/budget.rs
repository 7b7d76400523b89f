//! The budget of a run. Every attempt reserves its maximum cost, so that concurrent questions do
//! not exceed the budget together. The reservation is rarely used up: an attempt that does not fit
//! waits for those in progress to release the rest.

use crate::config::{BudgetLimits, Model, Price};
use crate::providers::AttemptTokens;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use toolmark_outcome::judging::AnswerUsage;

/// Amounts spent, and amounts reserved for attempts in progress.
#[derive(Debug, Default)]
pub(crate) struct JudgeBudget {
    limits: BudgetLimits,
    state: Mutex<JudgeBudgetState>,
    released: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct JudgeBudgetState {
    tokens: u64,
    micro_usd: u64,
    is_priced: bool,
    reserved_tokens: u64,
    reserved_micro_usd: u64,
    /// Number of attempts in progress.
    in_progress: u64,
}

/// The reservation of one attempt, until it is settled or dropped.
#[derive(Debug)]
pub(crate) struct Reserved<'b> {
    budget: &'b JudgeBudget,
    most: AttemptTokens,
    micro_usd: u64,
}

/// Estimates the number of tokens of a text: four bytes each.
pub(crate) fn estimate(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// Returns the cost of tokens in millionths of a dollar, rounded up.
pub(crate) fn cost(price: Price, tokens: AttemptTokens) -> u64 {
    let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
    let total = of(tokens.input, price.input) + of(tokens.output, price.output);
    u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Returns the cost of an answer as reported in results.
pub(crate) fn spent(model: &Model, tokens: AttemptTokens) -> AnswerUsage {
    AnswerUsage {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        micro_usd: model.price.map(|price| cost(price, tokens)),
    }
}

impl JudgeBudget {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        Self { limits, state: Mutex::default(), released: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, JudgeBudgetState> {
        toolmark_base::lock(&self.state)
    }

    /// Reserves the maximum cost of an attempt: a cautious three bytes per token for the prompt,
    /// and the maximum number of tokens of the answer. If that exceeds the limits only together
    /// with attempts in progress, it waits; `None` if it exceeds them alone.
    pub(crate) fn reserve(&self, model: &Model, prompt_bytes: usize) -> Option<Reserved<'_>> {
        let most = AttemptTokens {
            input: prompt_bytes as u64 / 3 + 1,
            output: u64::from(model.max_tokens),
        };
        let tokens = most.input + most.output;
        let micro_usd = model.price.map_or(0, |price| cost(price, most));
        let exceeds = |max: Option<u64>, spent: u64, reserved: u64, more: u64| {
            max.is_some_and(|max| spent.saturating_add(reserved).saturating_add(more) > max)
        };
        let mut state = self.lock();
        while exceeds(self.limits.tokens, state.tokens, state.reserved_tokens, tokens)
            || exceeds(self.limits.micro_usd, state.micro_usd, state.reserved_micro_usd, micro_usd)
        {
            if state.in_progress == 0 {
                return None;
            }
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.reserved_tokens += tokens;
        state.reserved_micro_usd += micro_usd;
        state.in_progress += 1;
        Some(Reserved { budget: self, most, micro_usd })
    }

    /// Returns the tokens spent, and millionths of a dollar if a price is known.
    pub(crate) fn spent(&self) -> (u64, Option<u64>) {
        let state = self.lock();
        (state.tokens, state.is_priced.then_some(state.micro_usd))
    }
}

impl Reserved<'_> {
    /// Returns the maximum number of tokens the attempt may have used.
    pub(crate) fn most(&self) -> AttemptTokens {
        self.most
    }

    /// Records the tokens that an attempt used, and releases the rest.
    pub(crate) fn settle(self, model: &Model, tokens: AttemptTokens) {
        let mut state = self.budget.lock();
        state.tokens += tokens.input + tokens.output;
        if let Some(price) = model.price {
            state.micro_usd += cost(price, tokens);
            state.is_priced = true;
        }
        drop(state);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        let tokens = self.most.input + self.most.output;
        state.reserved_tokens = state.reserved_tokens.saturating_sub(tokens);
        state.reserved_micro_usd = state.reserved_micro_usd.saturating_sub(self.micro_usd);
        state.in_progress = state.in_progress.saturating_sub(1);
        drop(state);
        self.budget.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::JudgeSettings;

    fn model(price: Option<Price>) -> Model {
        Model { price, max_tokens: 100, ..JudgeSettings::default().model("claude-x").unwrap() }
    }

    #[test]
    fn a_budget_holds_for_attempts_at_once() {
        let budget = JudgeBudget::new(BudgetLimits { tokens: Some(300), micro_usd: None });
        let model = model(None);
        let first = budget.reserve(&model, 30).unwrap();
        let second = budget.reserve(&model, 30).unwrap();
        assert_eq!(budget.lock().reserved_tokens, 222);
        first.settle(&model, AttemptTokens { input: 10, output: 5 });
        let third = budget.reserve(&model, 30).unwrap();
        second.settle(&model, AttemptTokens { input: 10, output: 5 });
        drop(third);
        assert_eq!(budget.spent(), (30, None));
        let last = budget.reserve(&model, 30).unwrap();
        last.settle(&model, AttemptTokens { input: 100, output: 100 });
        assert!(budget.reserve(&model, 30).is_none(), "70 are left, and 111 may be needed");
    }

    #[test]
    fn whoever_does_not_fit_waits_for_those_in_progress() {
        let budget = JudgeBudget::new(BudgetLimits { tokens: Some(1000), micro_usd: None });
        let model = model(None);
        let answered = std::sync::atomic::AtomicU64::new(0);
        // Each reserves 111 of the 1000 and uses 15: they fit one after the other.
        std::thread::scope(|scope| {
            for _ in 0..40 {
                scope.spawn(|| {
                    if let Some(reserved) = budget.reserve(&model, 30) {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                        reserved.settle(&model, AttemptTokens { input: 10, output: 5 });
                        answered.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(answered.into_inner(), 40);
        assert_eq!(budget.spent(), (600, None));
    }

    #[test]
    fn money_is_counted_in_millionths_and_rounded_up() {
        let price = Price { input: 3_000_000, output: 15_000_000 };
        assert_eq!(cost(price, AttemptTokens { input: 1000, output: 100 }), 4500);
        assert_eq!(cost(price, AttemptTokens { input: 0, output: 1 }), 15);
        assert_eq!(cost(Price { input: 1, output: 0 }, AttemptTokens { input: 1, output: 0 }), 1);
        let budget = JudgeBudget::new(BudgetLimits { tokens: None, micro_usd: Some(1600) });
        let model = model(Some(price));
        let one = budget.reserve(&model, 30).unwrap();
        one.settle(&model, AttemptTokens { input: 100, output: 0 });
        assert!(budget.reserve(&model, 30).is_none());
    }
}
