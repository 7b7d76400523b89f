//! Token usage and cost.

use serde::Serialize;

/// Token counts by the source's own convention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UsageTokens {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// Part of `cache_write` that stays in the cache for an hour, which costs more.
    #[serde(skip)]
    pub cache_write_1h: u64,
    /// Output tokens spent on reasoning.
    pub reasoning: u64,
}

impl UsageTokens {
    /// Adds `other` to every count.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    /// Subtracts counts that were added before.
    pub(crate) fn subtract(&mut self, other: Self) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_sub(other.cache_write_1h);
        self.reasoning = self.reasoning.saturating_sub(other.reasoning);
    }

    /// Returns whether all counts are zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// A source's definition of "input" and "output".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convention {
    /// Whether `input` includes `cache_read` and `cache_write`.
    pub input_includes_cache: bool,
    /// Whether `output` includes `reasoning`.
    pub output_includes_reasoning: bool,
}

impl Convention {
    /// OpenAI, Codex, ATIF, OTel, Copilot: totals include their parts.
    pub const INCLUSIVE: Self =
        Self { input_includes_cache: true, output_includes_reasoning: true };
    /// Anthropic, Claude Code, pi: cached input is counted separately.
    pub const ANTHROPIC: Self =
        Self { input_includes_cache: false, output_includes_reasoning: true };
    /// Gemini: input includes the cache, thoughts are not part of the output.
    pub const GEMINI: Self = Self { input_includes_cache: true, output_includes_reasoning: false };
}

/// Token usage of a run or a step: the recorded counts and their convention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Counts by the source's own convention.
    pub recorded: UsageTokens,
    /// Total stated by the source, if any.
    pub stated_total: Option<u64>,
    /// Definition of the counts.
    pub convention: Convention,
}

/// Token usage in one convention for all sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Normalised {
    /// Input tokens neither read from nor written to a cache.
    pub uncached_input: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// All output tokens, including reasoning.
    pub output: u64,
    /// Output tokens spent on reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Creates usage without a stated total.
    #[must_use]
    pub fn new(recorded: UsageTokens, convention: Convention) -> Self {
        Self { recorded, stated_total: None, convention }
    }

    /// Creates usage of a source that relays many providers: the stated total determines the
    /// convention; without a total, the counts are assumed to be inclusive.
    #[must_use]
    pub fn stated(recorded: UsageTokens, total: Option<u64>) -> Self {
        let apart = Convention { input_includes_cache: false, output_includes_reasoning: false };
        let fits = |c: &Convention| total == Some(Self::new(recorded, *c).total());
        let all = [Convention::INCLUSIVE, Convention::ANTHROPIC, Convention::GEMINI, apart];
        let convention = all.into_iter().find(fits).unwrap_or(Convention::INCLUSIVE);
        Self { recorded, stated_total: total, convention }
    }

    /// Returns the usage in toolmark's convention.
    #[must_use]
    pub fn normalised(&self) -> Normalised {
        let r = self.recorded;
        let uncached_input = if self.convention.input_includes_cache {
            r.input.saturating_sub(r.cache_read).saturating_sub(r.cache_write)
        } else {
            r.input
        };
        let output = if self.convention.output_includes_reasoning {
            r.output
        } else {
            r.output.saturating_add(r.reasoning)
        };
        Normalised {
            uncached_input,
            cache_read: r.cache_read,
            cache_write: r.cache_write,
            output,
            reasoning: r.reasoning,
        }
    }

    /// Returns the total number of tokens: the stated total, or otherwise the sum of the counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.stated_total.unwrap_or_else(|| {
            let r = self.recorded;
            let mut total = r.input.saturating_add(r.output);
            if !self.convention.input_includes_cache {
                total = total.saturating_add(r.cache_read).saturating_add(r.cache_write);
            }
            if !self.convention.output_includes_reasoning {
                total = total.saturating_add(r.reasoning);
            }
            total
        })
    }

    /// Adds another usage of the same convention.
    pub fn add(&mut self, other: &Self) {
        self.stated_total = match (self.stated_total, other.stated_total) {
            (None, None) => None,
            _ => Some(self.total().saturating_add(other.total())),
        };
        self.recorded.add(other.recorded);
    }

    /// Subtracts a usage that was added before.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.stated_total = self.stated_total.map(|total| total.saturating_sub(other.total()));
        self.recorded.subtract(other.recorded);
    }
}

/// An amount of money in billionths of a US dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cost {
    /// Billionths of a dollar.
    pub nano_usd: i64,
}

impl Cost {
    /// Converts an amount in dollars, as written in traces.
    #[must_use]
    pub fn from_usd(usd: f64) -> Option<Self> {
        let nano = usd * 1e9;
        (nano.is_finite() && nano.abs() < 9.0e18).then(|| Self { nano_usd: nano.round() as i64 })
    }

    /// Returns the amount in dollars.
    #[must_use]
    pub fn usd(self) -> f64 {
        self.nano_usd as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_meaning_for_all() {
        let tokens = UsageTokens {
            input: 100,
            output: 10,
            cache_read: 60,
            cache_write: 20,
            cache_write_1h: 0,
            reasoning: 4,
        };
        let openai = Usage::new(tokens, Convention::INCLUSIVE);
        assert_eq!(openai.normalised().uncached_input, 20);
        assert_eq!(openai.total(), 110);
        let claude = Usage::new(tokens, Convention::ANTHROPIC);
        assert_eq!(claude.normalised().uncached_input, 100);
        assert_eq!(claude.total(), 190);
        let gemini = Usage::new(tokens, Convention::GEMINI);
        assert_eq!(gemini.normalised().output, 14);
        assert_eq!(gemini.total(), 114);
    }

    #[test]
    fn a_total_tells_the_convention() {
        let tokens = UsageTokens {
            input: 100,
            output: 10,
            cache_read: 60,
            cache_write: 20,
            cache_write_1h: 0,
            reasoning: 4,
        };
        for (total, uncached, output) in
            [(110, 20, 10), (190, 100, 10), (114, 20, 14), (194, 100, 14), (7, 20, 10)]
        {
            let usage = Usage::stated(tokens, Some(total));
            assert_eq!(usage.total(), total);
            let normalised = usage.normalised();
            assert_eq!((normalised.uncached_input, normalised.output), (uncached, output));
        }
    }
}
