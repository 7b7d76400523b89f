//! Sums of money: the cost of tokens by a price file, and the cost recorded in traces.

use super::prices::NoPrice;
use serde::{Serialize, Serializer};
use toolmark_base::SortedMap;
use toolmark_outcome::Redactor;
use toolmark_trace::{Cost, Trajectory};

/// An amount in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Usd(pub f64);

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // A millionth of a dollar is finer than any bill.
        to.serialize_f64((self.0 * 1e6).round() / 1e6)
    }
}

/// Cost of tokens by a price file, and the tokens without a price.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spend {
    /// Cost in 10⁻¹⁵ US dollars: integers have the same sum in any order.
    femto: u128,
    /// Whether there were prices, and tokens to be priced.
    is_priced: bool,
    /// Tokens without a price, by reason.
    unpriced: SortedMap<NoPrice, u64>,
}

impl Spend {
    /// Adds the cost of a number of tokens, or the reason why they have none.
    pub fn add(&mut self, cost: Result<u128, NoPrice>, tokens: u64) {
        match cost {
            Ok(femto) => {
                self.femto = self.femto.saturating_add(femto);
                self.is_priced = true;
            }
            Err(why) => *self.unpriced.entry(why).or_default() += tokens,
        }
    }

    /// Adds an equal share of the cost of one response.
    pub(super) fn add_share(&mut self, cost: Result<u128, NoPrice>, tokens: u64, of: u64) {
        let of = of.max(1);
        self.add(cost.map(|femto| femto / u128::from(of)), tokens / of);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.femto = self.femto.saturating_add(other.femto);
        self.is_priced |= other.is_priced;
        for (why, tokens) in &other.unpriced {
            *self.unpriced.entry(why.clone()).or_default() += tokens;
        }
    }

    /// Returns the cost if everything has a price.
    #[must_use]
    pub fn usd(&self) -> Option<Usd> {
        self.known_usd().filter(|_| self.unpriced.is_empty())
    }

    /// Returns the cost of the tokens with a price.
    #[must_use]
    pub fn known_usd(&self) -> Option<Usd> {
        self.is_priced.then_some(Usd(self.femto as f64 / 1e15))
    }

    /// Returns the spend in printable form, because model names come from traces.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Self {
        let mut unpriced = SortedMap::new();
        for (NoPrice { model, kind }, tokens) in self.unpriced {
            let model = model.map(|model| redactor.apply(model).to_string());
            *unpriced.entry(NoPrice { model, kind }).or_default() += tokens;
        }
        Self { unpriced, ..self }
    }

    /// Returns the tokens without a price, by reason.
    #[must_use]
    pub fn unpriced(&self) -> &SortedMap<NoPrice, u64> {
        &self.unpriced
    }
}

/// Cost recorded in the traces themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordedCost(Option<i64>);

impl RecordedCost {
    /// Returns the cost recorded by a run and its sub-agents.
    #[must_use]
    pub fn of(run: &Trajectory) -> Self {
        let mut sum = Self::default();
        for cost in run.flatten().iter().filter(|run| !run.relayed).filter_map(|run| run.cost) {
            sum.add(cost);
        }
        sum
    }

    fn add(&mut self, cost: Cost) {
        self.merge(Self(Some(cost.nano_usd)));
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        if let Some(more) = other.0 {
            self.0 = Some(self.0.unwrap_or(0).saturating_add(more));
        }
    }

    /// Returns the cost; `None` if none is recorded.
    #[must_use]
    pub fn usd(self) -> Option<Usd> {
        self.0.map(|nano| Usd(nano as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_known_when_all_of_it_is() {
        let mut spend = Spend::default();
        assert_eq!((spend.usd(), spend.known_usd()), (None, None));
        spend.add(Ok(2_000_000_000_000_000), 10);
        assert_eq!(spend.usd(), Some(Usd(2.0)));
        let mut other = Spend::default();
        other.add(Err(NoPrice { model: Some("m".into()), kind: None }), 7);
        spend.merge(&other);
        assert_eq!((spend.usd(), spend.known_usd()), (None, Some(Usd(2.0))));
        assert_eq!(spend.unpriced().values().sum::<u64>(), 7);
    }
}
