//! DeepEval's `AgentLoopDetectionMetric`: repeated calls, repeated messages, and recursive calls.

use super::similarity::ratio;
use crate::scores::python::{sorted_dumps, text};
use serde_json::Value;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::TrajectoryView;
use toolmark_trace::{Call, Payload, Trajectory};

/// Weights of the three checks.
const WEIGHTS: [f64; 3] = [0.40, 0.35, 0.25];

/// Minimum number of words of a compared text.
const FEWEST_WORDS: usize = 20;

/// Similarity above which two texts are identical.
const IDENTICAL: f64 = 0.95;

/// Length of the argument prefix that distinguishes calls of one tool.
const LABEL: usize = 64;

/// Words that are ignored when progress is measured.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "an",
    "and",
    "are",
    "as",
    "at",
    "based",
    "be",
    "below",
    "but",
    "by",
    "do",
    "for",
    "from",
    "going",
    "has",
    "have",
    "i",
    "in",
    "information",
    "is",
    "it",
    "its",
    "let",
    "my",
    "next",
    "not",
    "now",
    "of",
    "on",
    "or",
    "provided",
    "so",
    "step",
    "that",
    "the",
    "this",
    "to",
    "up",
    "was",
    "were",
    "will",
    "with",
];

/// Enabled checks and their thresholds.
pub(crate) struct Checks {
    /// Minimum number of equal calls that is a loop.
    pub(crate) repetition_threshold: usize,
    /// Minimum similarity of two repeated texts.
    pub(crate) similarity_threshold: f64,
    /// Enabled checks: repeated calls, repeated messages, recursive calls.
    pub(crate) enabled: [bool; 3],
}

/// Returns the total score and the scores of the three checks; `None` if texts are too long.
pub(crate) fn score(checks: &Checks, view: &TrajectoryView<'_>) -> Option<(f64, [f64; 3])> {
    let [calls, words, cycles] = checks.enabled;
    let mut parts = [1.0; 3];
    if calls {
        parts[0] = repetition(checks.repetition_threshold, view);
    }
    if words {
        parts[1] = stagnation(checks.similarity_threshold, view)?;
    }
    if cycles && is_cyclic(view.trajectory(), &mut Vec::new()) {
        parts[2] = 0.0;
    }
    let active = || WEIGHTS.iter().zip(checks.enabled).zip(parts).filter(|((_, on), _)| *on);
    let weights: f64 = active().map(|((weight, _), _)| weight).sum();
    let sum: f64 = active().map(|((weight, _), part)| weight * part).sum();
    Some((if weights == 0.0 { 1.0 } else { sum / weights }, parts))
}

fn args(call: &Call) -> Value {
    let args = call.args.as_ref().map(Payload::to_value);
    args.filter(|args| !args.is_null()).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Scores equal calls anywhere in the run, however far apart.
fn repetition(threshold: usize, view: &TrajectoryView<'_>) -> f64 {
    let mut counts: SortedMap<(String, Vec<String>), usize> = SortedMap::new();
    for seen in view.calls() {
        let args = match args(seen.call) {
            Value::Object(fields) => {
                let mut all: Vec<(&String, String)> =
                    fields.iter().map(|(key, value)| (key, text(value))).collect();
                all.sort();
                all.into_iter().flat_map(|(key, value)| [key.clone(), value]).collect()
            }
            other => vec![text(&other)],
        };
        *counts.entry((seen.call.name.full().into_owned(), args)).or_default() += 1;
    }
    match counts.into_values().max().unwrap_or(0) {
        most if most >= threshold.saturating_mul(2) && most > 0 => 0.0,
        most if most >= threshold && most > 0 => 0.5,
        _ => 1.0,
    }
}

fn content_words(words: &str) -> Vec<String> {
    let lower = words.to_lowercase();
    let counts = |word: &&str| word.chars().count() > 2 && !STOP_WORDS.contains(word);
    lower.split_whitespace().filter(counts).map(str::to_owned).collect()
}

/// Scores consecutive messages of the model that are nearly the same.
fn stagnation(threshold: f64, view: &TrajectoryView<'_>) -> Option<f64> {
    let mut most: f64 = 0.0;
    let mut before: Vec<String> = Vec::new();
    for (_, words) in view.messages() {
        let words = content_words(&words);
        if before.len() >= FEWEST_WORDS && words.len() >= FEWEST_WORDS {
            let sequence = ratio(&before.join(" "), &words.join(" "))?;
            most = most.max(jaccard(&before, &words)).max(sequence);
        }
        before = words;
    }
    Some(match most {
        most if most < threshold => 1.0,
        most if most > IDENTICAL => 0.0,
        _ => 0.5,
    })
}

/// Returns the similarity of two texts by their common pairs of neighbouring words.
fn jaccard(a: &[String], b: &[String]) -> f64 {
    let pairs = |words: &[String]| -> SortedSet<(String, String)> {
        words.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    };
    let (a, b) = (pairs(a), pairs(b));
    let all = a.union(&b).count();
    if all == 0 { 0.0 } else { a.intersection(&b).count() as f64 / all as f64 }
}

/// Whether a call leads, through sub-agents, to the same call again.
fn is_cyclic(run: &Trajectory, above: &mut Vec<String>) -> bool {
    for call in &run.calls {
        let args: String = sorted_dumps(&args(call)).chars().take(LABEL).collect();
        let label = format!("{}:{args}", call.name.full());
        if above.contains(&label) {
            return true;
        }
        let is_child = |child: &&Trajectory| {
            let started = child.parent.as_ref().and_then(|parent| parent.call.as_ref());
            started.is_some_and(|id| call.id.as_ref().is_some_and(|own| own.get() == id.get()))
        };
        above.push(label);
        let found = run.children.iter().filter(is_child).any(|child| is_cyclic(child, above));
        above.pop();
        if found {
            return true;
        }
    }
    false
}
