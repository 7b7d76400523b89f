//! The mined conditions as YAML.

use super::{MinedPolicy, MinedTerm};
use std::fmt::Write as _;

/// Returns the conditions with their support.
pub(super) fn to_yaml(policy: &MinedPolicy) -> String {
    let (passed, failed, unknown) = policy.runs;
    let mut text = format!(
        "# Conditions on calls of named tools, mined from {passed} runs that passed, {failed} that \
         failed and {unknown} without a result.\n# Lines that would have stopped nothing are \
         comments. Read them before you use them.\ntools:\n"
    );
    for (tool, effect) in &policy.effects {
        let terms: Vec<&MinedTerm> =
            policy.terms.iter().filter(|term| term.tool == *tool).collect();
        let _ = writeln!(text, "  {tool}:");
        let _ = writeln!(text, "    effect: {}  # by its name", effect.word());
        let mut above = None;
        for term in sorted(terms) {
            write_term(&mut text, term, &mut above);
        }
    }
    text
}

/// Conditions that are shown come first, so that a map has no head without lines.
fn sorted(mut terms: Vec<&MinedTerm>) -> Vec<&MinedTerm> {
    terms.sort_by_key(|term| (!term.is_shown(), term.name.is_some(), term.key));
    terms
}

fn write_term(text: &mut String, term: &MinedTerm, above: &mut Option<(&'static str, bool)>) {
    let mark = if term.is_shown() { "" } else { "# " };
    let head = (term.key, term.is_shown());
    if term.name.is_some() && *above != Some(head) {
        let _ = writeln!(text, "    {mark}{}:", term.key);
    }
    *above = Some(head);
    let line = match &term.name {
        Some(name) => format!("  {name}: {}", term.value),
        None => format!("{}: {}", term.key, term.value),
    };
    let _ = writeln!(text, "    {mark}{line}  # {}", support(term));
}

/// Says how many calls meet a condition, and what it would have stopped.
fn support(term: &MinedTerm) -> String {
    let mut words = format!("{} of {} calls that worked", term.meets, term.meets + term.wrong);
    if term.stops_failed > 0 {
        let _ = write!(words, "; stops {} that failed", term.stops_failed);
    }
    if let Some(error) = &term.error {
        let _ = write!(words, " ({error})");
    }
    if term.stops_in_failed > 0 {
        let _ = write!(words, "; stops {} in runs that failed", term.stops_in_failed);
    }
    words
}

/// Returns one condition alone.
pub(super) fn alone(term: &MinedTerm) -> String {
    let (tool, key, value) = (&term.tool, term.key, &term.value);
    match &term.name {
        Some(name) => format!("tools:\n  {tool}:\n    {key}:\n      {name}: {value}\n"),
        None => format!("tools:\n  {tool}:\n    {key}: {value}\n"),
    }
}
