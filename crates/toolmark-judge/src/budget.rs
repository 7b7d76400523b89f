//! Keeps spending within its limits. Every attempt reserves what it may need, so
//! that questions asked at the same time do not exceed the budget together.

use crate::config::{BudgetLimits, Model, Price};
use crate::providers::Tokens;
use std::sync::{Mutex, PoisonError};
use toolmark_outcome::judging::Spent;

/// What has been spent, and what is reserved for attempts in progress.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    limits: BudgetLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone, Copy)]
struct State {
    tokens: u64,
    micro_usd: u64,
    is_priced: bool,
    reserved_tokens: u64,
    reserved_micro_usd: u64,
}

/// What one attempt has reserved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved {
    tokens: u64,
    micro_usd: u64,
}

/// The cost of tokens in millionths of a dollar, rounded up.
pub(crate) fn cost(price: Price, tokens: Tokens) -> u64 {
    let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
    let total = of(tokens.input, price.input) + of(tokens.output, price.output);
    u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The cost of an answer, as results report it.
pub(crate) fn spent(model: &Model, tokens: Tokens) -> Spent {
    Spent {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        micro_usd: model.price.map(|price| cost(price, tokens)),
    }
}

impl Budget {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Reserves what an attempt may need: a cautious three bytes per token for the
    /// prompt, and all the tokens the answer may have. `None` if that exceeds the
    /// limits.
    pub(crate) fn reserve(&self, model: &Model, prompt_bytes: usize) -> Option<Reserved> {
        let guess =
            Tokens { input: prompt_bytes as u64 / 3 + 1, output: u64::from(model.max_tokens) };
        let tokens = guess.input + guess.output;
        let micro_usd = model.price.map_or(0, |price| cost(price, guess));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let exceeds = |max: Option<u64>, spent: u64, reserved: u64, more: u64| {
            max.is_some_and(|max| spent.saturating_add(reserved).saturating_add(more) > max)
        };
        if exceeds(self.limits.tokens, state.tokens, state.reserved_tokens, tokens)
            || exceeds(self.limits.micro_usd, state.micro_usd, state.reserved_micro_usd, micro_usd)
        {
            return None;
        }
        state.reserved_tokens += tokens;
        state.reserved_micro_usd += micro_usd;
        Some(Reserved { tokens, micro_usd })
    }

    /// Records what an attempt really used, and releases the rest.
    pub(crate) fn settle(&self, reserved: Reserved, model: &Model, tokens: Tokens) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reserved_tokens = state.reserved_tokens.saturating_sub(reserved.tokens);
        state.reserved_micro_usd = state.reserved_micro_usd.saturating_sub(reserved.micro_usd);
        state.tokens += tokens.input + tokens.output;
        if let Some(price) = model.price {
            state.micro_usd += cost(price, tokens);
            state.is_priced = true;
        }
    }

    /// Tokens, and millionths of a dollar if a price is known.
    pub(crate) fn spent(&self) -> (u64, Option<u64>) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.tokens, state.is_priced.then_some(state.micro_usd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn model(price: Option<Price>) -> Model {
        Model { price, max_tokens: 100, ..Settings::default().model("claude-x").unwrap() }
    }

    #[test]
    fn a_budget_holds_for_attempts_at_once() {
        let budget = Budget::new(BudgetLimits { tokens: Some(300), micro_usd: None });
        let model = model(None);
        let first = budget.reserve(&model, 30).unwrap();
        let second = budget.reserve(&model, 30).unwrap();
        assert!(budget.reserve(&model, 30).is_none());
        budget.settle(first, &model, Tokens { input: 10, output: 5 });
        assert!(budget.reserve(&model, 30).is_some());
        budget.settle(second, &model, Tokens { input: 10, output: 5 });
        assert_eq!(budget.spent(), (30, None));
    }

    #[test]
    fn money_is_counted_in_millionths_and_rounded_up() {
        let price = Price { input: 3_000_000, output: 15_000_000 };
        assert_eq!(cost(price, Tokens { input: 1000, output: 100 }), 4500);
        assert_eq!(cost(price, Tokens { input: 0, output: 1 }), 15);
        assert_eq!(cost(Price { input: 1, output: 0 }, Tokens { input: 1, output: 0 }), 1);
        let budget = Budget::new(BudgetLimits { tokens: None, micro_usd: Some(1600) });
        let model = model(Some(price));
        let one = budget.reserve(&model, 30).unwrap();
        assert!(budget.reserve(&model, 30).is_none());
        budget.settle(one, &model, Tokens::default());
        assert!(budget.reserve(&model, 30).is_some());
    }
}
