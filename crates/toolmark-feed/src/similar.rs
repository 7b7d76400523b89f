//! Issues with similar messages. They are shown but never merged, because a wrong merge hides a
//! problem.

use crate::issue::Similar;
use crate::key::{IssueId, IssueKey};
use std::collections::HashMap;

/// Minimum similarity of two issues.
const MIN_SIMILARITY: f64 = 0.5;

/// Maximum number of similar issues shown.
const MAX_SIMILAR: usize = 3;

/// Maximum number of issues that contain a word; more common words are ignored in the search.
const MAX_ISSUES: usize = 200;

/// Returns the most similar issues for every issue.
#[must_use]
pub(crate) fn similar(keys: &[(IssueId, &IssueKey)]) -> Vec<Vec<Similar>> {
    let words: Vec<Vec<&str>> = keys.iter().map(|(_, key)| words(key)).collect();
    let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, words) in words.iter().enumerate() {
        for word in words {
            index.entry(word).or_default().push(at);
        }
    }
    let weight = |word: &str| {
        let with = index.get(word).map_or(1, Vec::len);
        (1.0 + keys.len() as f64 / with as f64).ln()
    };
    let sums: Vec<f64> = words.iter().map(|words| words.iter().map(|w| weight(w)).sum()).collect();
    (0..keys.len())
        .map(|at| {
            let mut shared: HashMap<usize, f64> = HashMap::new();
            for word in &words[at] {
                let others = index.get(word).filter(|others| others.len() <= MAX_ISSUES);
                for other in others.into_iter().flatten().filter(|other| **other != at) {
                    *shared.entry(*other).or_default() += weight(word);
                }
            }
            let mut found: Vec<Similar> = shared
                .into_iter()
                .filter(|(other, _)| is_kin(keys[at].1, keys[*other].1))
                .map(|(other, both)| Similar {
                    id: keys[other].0,
                    similarity: both / (sums[at] + sums[other] - both),
                })
                .filter(|similar| similar.similarity >= MIN_SIMILARITY)
                .collect();
            found.sort_by(|a, b| {
                b.similarity.total_cmp(&a.similarity).then_with(|| a.id.cmp(&b.id))
            });
            found.truncate(MAX_SIMILAR);
            for one in &mut found {
                one.similarity = (one.similarity * 100.0).round() / 100.0;
            }
            found
        })
        .collect()
}

/// Whether both are failures, or findings of one rule.
fn is_kin(one: &IssueKey, other: &IssueKey) -> bool {
    match (one, other) {
        (IssueKey::Failure { .. }, IssueKey::Failure { .. }) => true,
        (IssueKey::Finding { code: one, .. }, IssueKey::Finding { code: other, .. }) => {
            one == other
        }
        _ => false,
    }
}

/// Returns the words of a message, each once; the class if there is no message.
fn words(key: &IssueKey) -> Vec<&str> {
    let mut words: Vec<&str> = match key {
        IssueKey::Failure { class, template, .. } if class.is_closed() && template.is_empty() => {
            vec![class.word()]
        }
        IssueKey::Failure { class, template, .. } if class.is_by_language() => {
            vec![class.word(), template]
        }
        key => key.template().split(' ').filter(|word| *word != crate::template::MASK).collect(),
    };
    words.sort_unstable();
    words.dedup();
    words
}
