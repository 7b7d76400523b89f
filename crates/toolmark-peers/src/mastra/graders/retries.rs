//! Mastra's analysis of failing tools: how often one is tried again.

use super::rounded;
use crate::scores::calls::Made;

/// Calls of one tool in a row, some of which repeat one that failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pattern {
    pub(crate) tool: String,
    /// The last call of the row.
    pub(crate) last: usize,
    pub(crate) retries: usize,
    pub(crate) succeeded: bool,
    pub(crate) fell_back: bool,
}

/// The rows of calls in which something was tried again.
pub(crate) fn patterns(made: &[Made<'_>]) -> Vec<Pattern> {
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

/// The score where so many retries of one tool are allowed.
pub(crate) fn score(patterns: &[Pattern], max_retries: usize) -> f64 {
    let excess: usize =
        patterns.iter().map(|pattern| pattern.retries.saturating_sub(max_retries)).sum();
    rounded((1.0 - excess as f64 * 0.2).max(0.0))
}
