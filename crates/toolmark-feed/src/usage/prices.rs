//! Costs of tokens: the list prices in the binary, and those of a price file, which take precedence.
//! Usage without a price has no cost; costs are never guessed.

use super::public::PublicPrices;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::mem;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeSpan, Problem, SourceText, Spanned, parse, quoted, read};
use toolmark_pattern::{has_wildcards, is_wildcard_match};
use toolmark_trace::Usage;

/// The price file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    /// Date of the prices.
    date: Spanned<String>,
    /// Source of the prices.
    #[serde(default)]
    source: Option<String>,
    /// Prices by model name.
    models: Node,
}

/// US dollars per million tokens, as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenModelPrice {
    #[serde(default)]
    input: Option<Spanned<f64>>,
    #[serde(default)]
    output: Option<Spanned<f64>>,
    #[serde(default)]
    cache_read: Option<Spanned<f64>>,
    #[serde(default)]
    cache_write: Option<Spanned<f64>>,
    #[serde(default)]
    cache_write_1h: Option<Spanned<f64>>,
}

/// Prices of the kinds of tokens, in billionths of a US dollar per million tokens. `None` means that
/// there is no price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Price of input that is neither read from nor written to a cache.
    pub input: Option<u64>,
    /// Price of output, including reasoning.
    pub output: Option<u64>,
    /// Price of input read from a cache.
    pub cache_read: Option<u64>,
    /// Price of input written to a cache.
    pub cache_write: Option<u64>,
    /// Price of input written to a cache for an hour; without one, that of `cache_write`.
    pub cache_write_1h: Option<u64>,
}

/// Prices of the tokens of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelPrice {
    /// Prices of most requests.
    pub rates: Rates,
    /// Number of input tokens from which a request has other prices, and these prices.
    pub long: Option<(u64, Rates)>,
}

/// Reason why tokens have no cost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NoPrice {
    /// Model; `None` if the trace names none.
    pub model: Option<String>,
    /// Kind of tokens without a price; `None` if the model has none at all.
    pub kind: Option<&'static str>,
}

impl fmt::Display for NoPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.model, self.kind) {
            (None, _) => f.write_str("no model is recorded"),
            (Some(model), None) => write!(f, "{model} has no price"),
            (Some(model), Some(kind)) => write!(f, "{model} has no price for {kind}"),
        }
    }
}

/// The prices of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePrices {
    /// Path of the file.
    pub file: String,
    /// Date of the prices.
    pub date: Date,
    /// Source of the prices.
    pub source: Option<String>,
    models: Vec<(String, ModelPrice)>,
}

/// Prices of models: those of a file, if any, and the list prices of the providers for all other
/// models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// Prices of a file.
    pub file: Option<FilePrices>,
    /// List prices of the providers.
    pub public: PublicPrices,
}

/// Maximum price of a million tokens, in dollars; a higher one is a typing error.
const MAX_PRICE: f64 = 1e6;

impl FilePrices {
    /// Reads a price file, and reports all errors in it.
    pub fn read(source: &SourceText) -> (Option<Self>, Vec<Problem>) {
        let parsed = parse(source);
        let mut problems = parsed.problems;
        let written: Option<PriceFile> = match &parsed.node {
            Some(node) => read(node, &mut problems),
            None => None,
        };
        let Some(written) = written else { return (None, problems) };
        let date = written.date.parse::<Date>();
        if date.is_err() {
            let message =
                format!("expected a day such as 2026-11-01, found {}", quoted(&written.date.value));
            problems.push(Problem::error("wrong-type", message).at(written.date.span));
        }
        let mut models = Vec::new();
        if written.models.as_map().is_none() {
            let message = format!("expected models with prices, found {}", written.models.word());
            problems.push(Problem::error("wrong-type", message).at(written.models.span));
        }
        for entry in written.models.entries() {
            if let Some(price) = read::<WrittenModelPrice>(&entry.value, &mut problems) {
                models.push((entry.key.to_string(), price.checked(&mut problems)));
            }
        }
        let is_good = problems.iter().all(|problem| !problem.is_error());
        let prices = date.ok().filter(|_| is_good).map(|date| Self {
            file: source.name.to_string(),
            date,
            source: written.source,
            models,
        });
        (prices, problems)
    }

    /// Returns the models of the file with their prices, in the order of the file.
    pub fn models(&self) -> impl Iterator<Item = (&str, &ModelPrice)> {
        self.models.iter().map(|(name, price)| (name.as_str(), price))
    }

    /// Returns the price of a model: that of its name, else that of the first pattern that matches
    /// it.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&ModelPrice> {
        let named = self.models.iter().find(|(name, _)| name == model);
        let matched = || {
            self.models
                .iter()
                .find(|(name, _)| has_wildcards(name) && is_wildcard_match(name, model))
        };
        named.or_else(matched).map(|(_, price)| price)
    }
}

impl Prices {
    /// Creates the prices of a file, with the list prices for models that it does not name.
    #[must_use]
    pub fn new(file: Option<FilePrices>) -> Self {
        Self { file, public: PublicPrices::new() }
    }

    /// Returns the price of a model: that of the file, else the list price.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&ModelPrice> {
        let of_file = self.file.as_ref().and_then(|file| file.of(model));
        of_file.or_else(|| self.public.of(model))
    }

    /// Returns the cost of one response, in 10⁻¹⁵ US dollars. Zero usage costs nothing for any model.
    pub fn cost(&self, model: Option<&str>, usage: &Usage) -> Result<u128, NoPrice> {
        let tokens = usage.normalised();
        // Some sources record a part of what was written without the whole.
        let hour = usage.recorded.cache_write_1h.min(tokens.cache_write);
        let counts = [
            tokens.uncached_input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write - hour,
            hour,
        ];
        if counts.iter().all(|count| *count == 0) && usage.total() == 0 {
            return Ok(0);
        }
        let none = |kind| NoPrice { model: model.map(str::to_owned), kind };
        let price = model.and_then(|model| self.of(model)).ok_or_else(|| none(None))?;
        if counts.iter().all(|count| *count == 0) {
            // Input and output have different prices; a total alone has none.
            return Err(none(Some("tokens of unknown kind")));
        }
        let context = tokens.uncached_input.saturating_add(tokens.cache_read);
        let rates = price.rates(context.saturating_add(tokens.cache_write));
        let prices = [
            rates.input,
            rates.output,
            rates.cache_read,
            rates.cache_write,
            rates.cache_write_1h.or(rates.cache_write),
        ];
        let mut sum = 0_u128;
        for ((count, price), name) in counts.into_iter().zip(prices).zip(KINDS) {
            match price {
                _ if count == 0 => {}
                Some(price) => sum = sum.saturating_add(u128::from(count) * u128::from(price)),
                None => return Err(none(Some(name))),
            }
        }
        Ok(sum)
    }

    /// Returns the models among these that have no price.
    #[must_use]
    pub fn missing<'m>(&self, models: impl Iterator<Item = &'m str>) -> SortedMap<&'m str, u64> {
        let mut missing = SortedMap::new();
        for model in models.filter(|model| self.of(model).is_none()) {
            *missing.entry(model).or_default() += 1;
        }
        missing
    }
}

impl ModelPrice {
    /// Returns the prices of a request with a number of input tokens.
    fn rates(&self, input: u64) -> Rates {
        let long = self.long.filter(|(from, _)| input > *from);
        let Some((_, mut rates)) = long else { return self.rates };
        let usual = self.rates;
        for (rate, usual) in [
            (&mut rates.input, usual.input),
            (&mut rates.output, usual.output),
            (&mut rates.cache_read, usual.cache_read),
            (&mut rates.cache_write, usual.cache_write),
            (&mut rates.cache_write_1h, usual.cache_write_1h),
        ] {
            *rate = mem::take(rate).or(usual);
        }
        rates
    }
}

/// Kinds of tokens, as named in the file.
const KINDS: [&str; 5] = ["input", "output", "cache_read", "cache_write", "cache_write_1h"];

impl WrittenModelPrice {
    fn checked(self, problems: &mut Vec<Problem>) -> ModelPrice {
        let mut price = |written: Option<Spanned<f64>>| {
            let Spanned { value, span } = written?;
            if !(0.0..=MAX_PRICE).contains(&value) {
                problems.push(out_of_range(span));
                return None;
            }
            Some((value * 1e9).round() as u64)
        };
        let rates = Rates {
            input: price(self.input),
            output: price(self.output),
            cache_read: price(self.cache_read),
            cache_write: price(self.cache_write),
            cache_write_1h: price(self.cache_write_1h),
        };
        ModelPrice { rates, long: None }
    }
}

fn out_of_range(span: NodeSpan) -> Problem {
    let problem = Problem::error("out-of-range", "expected a price of 0 or more").at(span);
    problem.help("prices are US dollars per million tokens")
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_trace::{Convention, UsageTokens};

    const FILE: &str = "\
date: 2026-11-01
source: a made-up price list
models:
  swan-2: {input: 2, output: 10, cache_read: 0.2, cache_write: 2.5}
  swan-*: {input: 1, output: 4}
";

    fn prices() -> Prices {
        let (prices, problems) = FilePrices::read(&SourceText::new("prices.yaml", FILE));
        assert!(problems.is_empty(), "{problems:?}");
        Prices::new(prices)
    }

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        let tokens =
            UsageTokens { input, output, cache_read, cache_write, cache_write_1h: 0, reasoning: 0 };
        Usage::new(tokens, Convention::ANTHROPIC)
    }

    #[test]
    fn each_kind_of_tokens_has_its_price() {
        let prices = prices();
        assert_eq!(prices.file.as_ref().unwrap().date.to_string(), "2026-11-01");
        let cost = |model, usage: Usage| prices.cost(Some(model), &usage);
        let usd = |usd: f64| Ok((usd * 1e15) as u128);
        assert_eq!(cost("swan-2", usage(1_000_000, 0, 0, 0)), usd(2.0));
        assert_eq!(cost("swan-2", usage(0, 1_000_000, 1_000_000, 2_000_000)), usd(15.2));
        // The name itself goes before a pattern.
        assert_eq!(cost("swan-3", usage(1_000_000, 1_000_000, 0, 0)), usd(5.0));
        // Cached input is not paid for twice.
        let tokens =
            UsageTokens { input: 1_000_000, cache_read: 600_000, ..UsageTokens::default() };
        let inclusive = Usage::new(tokens, Convention::INCLUSIVE);
        assert_eq!(cost("swan-2", inclusive), usd(0.8 + 0.12));
    }

    #[test]
    fn what_has_no_price_has_no_cost() {
        let prices = prices();
        let words =
            |model: Option<&str>, usage: Usage| prices.cost(model, &usage).unwrap_err().to_string();
        assert_eq!(words(Some("goose"), usage(1, 0, 0, 0)), "goose has no price");
        assert_eq!(words(None, usage(1, 0, 0, 0)), "no model is recorded");
        assert_eq!(words(Some("swan-3"), usage(1, 0, 5, 0)), "swan-3 has no price for cache_read");
        let total = Usage { stated_total: Some(9), ..usage(0, 0, 0, 0) };
        assert_eq!(words(Some("swan-2"), total), "swan-2 has no price for tokens of unknown kind");
        // A host's placeholder for an answer used no tokens.
        assert_eq!(prices.cost(Some("<synthetic>"), &usage(0, 0, 0, 0)), Ok(0));
    }

    #[test]
    fn a_model_that_the_file_does_not_name_has_its_list_price() {
        let prices = prices();
        let list = prices.public.of("claude-opus-4-6").unwrap();
        assert_eq!(prices.of("claude-opus-4-6"), Some(list));
        let file = "date: 2026-11-01\nmodels: {claude-opus-4-6: {input: 1}}\n";
        let ours = Prices::new(FilePrices::read(&SourceText::new("p", file)).0);
        assert_eq!(ours.of("claude-opus-4-6").unwrap().rates.input, Some(1_000_000_000));
    }

    #[test]
    fn an_hour_in_the_cache_and_a_long_context_have_prices_of_their_own() {
        let rates = |input, output| Rates {
            input: Some(input),
            output: Some(output),
            cache_write: Some(5 * input / 4),
            cache_write_1h: Some(2 * input),
            ..Rates::default()
        };
        let price =
            ModelPrice { rates: rates(1_000, 4_000), long: Some((200, rates(2_000, 6_000))) };
        let file = FilePrices {
            file: String::new(),
            date: Date::constant(2026, 11, 1),
            source: None,
            models: vec![("m".to_owned(), price)],
        };
        let prices = Prices::new(Some(file));
        let tokens = |input, hour| UsageTokens {
            input,
            output: 10,
            cache_write: 40,
            cache_write_1h: hour,
            ..UsageTokens::default()
        };
        let cost = |input, hour| {
            prices.cost(Some("m"), &Usage::new(tokens(input, hour), Convention::ANTHROPIC))
        };
        assert_eq!(cost(100, 0), Ok(100 * 1_000 + 10 * 4_000 + 40 * 1_250));
        assert_eq!(cost(100, 30), Ok(100 * 1_000 + 10 * 4_000 + 10 * 1_250 + 30 * 2_000));
        // More than 200 tokens of input, of which 40 are written to the cache.
        assert_eq!(cost(161, 0), Ok(161 * 2_000 + 10 * 6_000 + 40 * 2_500));
    }

    #[test]
    fn mistakes_are_found_together() {
        for (text, want) in [
            ("models: {}\n", "missing key \"date\""),
            ("date: soon\nmodels: {a: {input: -1}}\n", "2026-11-01"),
            ("date: soon\nmodels: {a: {input: -1}}\n", "0 or more"),
            ("date: 2026-01-01\nmodels: {a: {in: 1}}\n", "unknown key \"in\""),
            ("date: 2026-01-01\nmodels: 3\n", "expected models with prices"),
            ("", "expected a map"),
        ] {
            let (prices, problems) = FilePrices::read(&SourceText::new("p.yaml", text));
            assert!(prices.is_none(), "{text}");
            let all: Vec<&str> = problems.iter().map(|one| one.message.as_str()).collect();
            assert!(all.iter().any(|one| one.contains(want)), "{text}: {all:?}");
        }
    }
}
