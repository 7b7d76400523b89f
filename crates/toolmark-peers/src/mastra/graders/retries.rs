//! Mastra's analysis of failing tools: how often each is retried.

use super::rounded;
use crate::scores::calls::ActualCall;

/// Consecutive calls of one tool that include retries of a failed call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pattern {
    pub(crate) tool: String,
    /// Last call of the sequence.
    pub(crate) last: usize,
    pub(crate) retries: usize,
    pub(crate) succeeded: bool,
    pub(crate) fell_back: bool,
}

/// Returns the sequences of calls that include retries.
pub(crate) fn patterns(made: &[ActualCall<'_>]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    let mut start = 0;
    while start < made.len() {
        let row = made[start..].iter().take_while(|call| call.name == made[start].name).count();
        let end = start + row;
        let retries = made[start..end - 1].iter().filter(|call| call.failed).count();
        if retries > 0 {
            let succeeded = !made[end - 1].failed;
            patterns.push(Pattern {
                tool: made[start].name.to_string(),
                last: end - 1,
                retries,
                succeeded,
                fell_back: end < made.len() && !succeeded,
            });
        }
        start = end;
    }
    patterns
}

/// Returns the score for this number of allowed retries per tool.
pub(crate) fn score(patterns: &[Pattern], max_retries: usize) -> f64 {
    let excess: usize =
        patterns.iter().map(|pattern| pattern.retries.saturating_sub(max_retries)).sum();
    rounded((1.0 - excess as f64 * 0.2).max(0.0))
}
