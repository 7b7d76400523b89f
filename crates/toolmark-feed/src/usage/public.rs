//! List prices of the providers, from a table in the binary.

use super::prices::{ModelPrice, Rates};
use std::borrow::Cow;

/// A row per model, in the order of their names: the name, the prices of the kinds of tokens in US
/// dollars per million, and those from a number of input tokens. `prices/update.py` writes it.
const TABLE: &str = include_str!("../../prices/public.tsv");

/// List prices of the providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicPrices {
    /// Date of the prices.
    pub date: &'static str,
    /// Source of the prices.
    pub source: &'static str,
    models: Vec<(&'static str, ModelPrice)>,
}

impl PublicPrices {
    pub(super) fn new() -> Self {
        let mut prices = Self { date: "", source: "", models: Vec::new() };
        for line in TABLE.lines() {
            match line.split_once('\t') {
                Some(("# date", date)) => prices.date = date,
                Some(("# source", source)) => prices.source = source,
                Some((name, row)) => prices.models.push((name, read_row(row))),
                None => {}
            }
        }
        prices
    }

    /// Returns the models with their prices, in the order of their names.
    pub fn models(&self) -> impl Iterator<Item = (&str, &ModelPrice)> {
        self.models.iter().map(|(name, price)| (*name, price))
    }

    /// Returns the list price of a model, by the name that a trace records.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&ModelPrice> {
        let lower = model.to_ascii_lowercase();
        // Claude Code marks a model with a longer context.
        let mut name = lower.strip_suffix("[1m]").unwrap_or(&lower);
        loop {
            if let Some(price) = self.named(name).or_else(|| self.named(&spelled(name))) {
                return Some(price);
            }
            // A relay puts its name and that of the maker before the model.
            name = name.split_once('/')?.1;
        }
    }

    fn named(&self, name: &str) -> Option<&ModelPrice> {
        let found = |name: &str| {
            let at = self.models.binary_search_by(|(other, _)| (*other).cmp(name)).ok()?;
            self.models.get(at).map(|(_, price)| price)
        };
        found(name).or_else(|| found(without_date(name)?))
    }
}

/// Returns a name as its maker writes it: relays and clouds write versions with a dot, and dates
/// after an `@`.
fn spelled(name: &str) -> Cow<'_, str> {
    if name.starts_with("claude-") {
        Cow::Owned(name.replace(['.', '@'], "-"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Removes the date of a snapshot, which has the price of its model: `-2026-02-05` or `-20260205`.
fn without_date(name: &str) -> Option<&str> {
    let at = name.find("-20")?;
    let (start, date) = name.split_at_checked(at)?;
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    let dashes = date.bytes().filter(|byte| *byte == b'-').count();
    let is_date = digits == 8 && digits + dashes == date.len() && (dashes == 1 || dashes == 3);
    is_date.then_some(start)
}

fn read_row(row: &str) -> ModelPrice {
    let mut cells = row.split('\t');
    let rates = read_rates(&mut cells);
    let from = cells.next().and_then(|cell| cell.parse().ok());
    ModelPrice { rates, long: from.map(|from| (from, read_rates(&mut cells))) }
}

fn read_rates<'t>(cells: &mut impl Iterator<Item = &'t str>) -> Rates {
    let mut next = || {
        let usd: f64 = cells.next()?.parse().ok()?;
        Some((usd * 1e9).round() as u64)
    };
    Rates {
        input: next(),
        output: next(),
        cache_read: next(),
        cache_write: next(),
        cache_write_1h: next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_can_be_found() {
        let prices = PublicPrices::new();
        assert!(prices.date.starts_with("20") && prices.source.contains("MIT"), "{prices:?}");
        assert!(prices.models().count() > 500);
        assert!(prices.models.is_sorted_by(|one, next| one.0 < next.0), "not sorted by name");
        for (name, price) in prices.models() {
            assert_eq!(prices.of(name), Some(price), "{name}");
            assert!(price.rates.input.is_some(), "{name} has no price for input");
        }
    }

    #[test]
    fn names_of_relays_and_snapshots() {
        let prices = PublicPrices::new();
        let same = |name: &str, other: &str| {
            let price = prices.of(other);
            assert!(price.is_some(), "{other}");
            assert_eq!(prices.of(name), price, "{name}");
        };
        same("claude-opus-4-6[1m]", "claude-opus-4-6");
        same("openrouter/anthropic/claude-opus-4.6", "claude-opus-4-6");
        same("anthropic/claude-opus-4-6", "claude-opus-4-6");
        same("claude-opus-4-6@20260205", "claude-opus-4-6");
        same("Claude-Opus-4-6", "claude-opus-4-6");
        same("openai/gpt-5.2-codex", "gpt-5.2-codex");
        same("gpt-5.2-codex-2026-01-14", "gpt-5.2-codex");
        same("google/gemini-2.5-pro", "gemini-2.5-pro");
        for unknown in ["gpt-5.2-codex-large", "claude-opus", "opus", "", "/", "deepseek-chat:free"]
        {
            assert_eq!(prices.of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn rows_have_prices_of_each_kind() {
        let price = PublicPrices::new().of("claude-opus-4-6").copied().unwrap();
        let usd = |usd: f64| Some((usd * 1e9) as u64);
        let rates = price.rates;
        assert_eq!((rates.input, rates.output), (usd(5.0), usd(25.0)));
        assert_eq!((rates.cache_read, rates.cache_write), (usd(0.5), usd(6.25)));
        assert_eq!(rates.cache_write_1h, usd(10.0));
        let (from, long) = PublicPrices::new().of("gemini-2.5-pro").unwrap().long.unwrap();
        assert_eq!((from, long.input), (200_000, usd(2.5)));
    }
}
