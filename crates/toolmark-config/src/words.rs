//! Wording of problems: suggestions, lists of names, and plain English for serde's terms.

use super::{Node, NodeKind};
use std::fmt::Write as _;

/// Maximum number of names that are listed.
const NAMES: usize = 24;

/// Maximum length of a word that is treated as a typing mistake.
const WORD: usize = 64;

/// Returns the candidate that `word` was probably meant to be.
///
/// Letter case and the choice between `-`, `_` and a space are ignored; beyond
/// that, one typing mistake per three letters is tolerated.
#[must_use]
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if word.chars().nth(WORD).is_some() {
        return None;
    }
    let word = folded(word);
    let length = word.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().filter(|c| c.len() <= 2 * WORD) {
        let folded = folded(candidate);
        let slips = strsim::damerau_levenshtein(&word, &folded);
        let allowed = length.min(folded.chars().count()).div_ceil(3);
        if slips <= allowed && slips < length && best.is_none_or(|(least, _)| slips < least) {
            best = Some((slips, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Normalizes a word: `toolCalls`, `tool-calls` and `Tool_Calls` are the same.
fn folded(word: &str) -> String {
    let kept = word.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).collect()
}

/// Quotes text of the user and cuts it if it is long.
#[must_use]
pub fn quoted(text: &str) -> String {
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        None => format!("\"{text}\""),
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
    }
}

/// Joins names as `a, b, c`, cut if there are many.
pub(super) fn listed(names: &[&str]) -> String {
    let mut out = names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        let _ = write!(out, " and {} more", names.len() - NAMES);
    }
    out
}

/// Words of other systems, with the key that means the same here.
const SYNONYMS: &[(&str, &str)] = &[
    ("required", "calls"),
    ("expected", "calls"),
    ("any_order", "calls"),
    ("in_order", "sequence"),
    ("ordered", "sequence"),
    ("steps", "sequence"),
    ("disallowed", "forbidden"),
    ("denied", "forbidden"),
    ("not_allowed", "forbidden"),
    ("allowed", "only"),
    ("parameters", "args"),
    ("params", "args"),
    ("arguments", "args"),
    ("input", "args"),
    ("output", "result"),
    ("times", "count"),
];

/// Returns the suggestion for a user who wrote `word` where one of `names` was expected.
pub(super) fn suggestion(word: &str, names: &[&str], none: &str, these: &str) -> String {
    let meant = SYNONYMS.iter().find(|(other, name)| *other == word && names.contains(name));
    let meant = meant.map(|(_, name)| *name);
    match meant.or_else(|| did_you_mean(word, names.iter().copied())) {
        Some(name) => format!("did you mean {}?", quoted(name)),
        None if names.is_empty() => none.to_owned(),
        None => format!("{these}: {}", listed(names)),
    }
}

/// Translates serde's "expected" text for spec authors. Texts of types that have their own
/// wording are kept.
pub(super) fn plain(expected: &str) -> String {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| expected.starts_with(p));
    match expected {
        "a boolean" => "true or false".into(),
        "a string" | "a borrowed string" | "string" | "str" => "text".into(),
        "a character" => "one character".into(),
        "a sequence" => "a list".into(),
        "unit" => "nothing".into(),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".into(),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number of 0 or more".into(),
        "f32" | "f64" => "a number".into(),
        _ if expected.starts_with("a nonzero ") => "a whole number other than 0".into(),
        _ if starts(&["struct ", "struct variant "]) => "a map".into(),
        _ if starts(&["tuple struct ", "tuple variant ", "a tuple of size", "an array of"]) => {
            let size: String = expected.chars().filter(char::is_ascii_digit).collect();
            if expected.starts_with("a tuple of size") || expected.starts_with("an array of") {
                format!("a list of {size}")
            } else {
                "a list".into()
            }
        }
        _ => expected.to_owned(),
    }
}

/// Returns how to turn `node` into the expected value, if that is obvious.
pub(super) fn remedy(expected: &str, node: &Node) -> Option<String> {
    let wants = |what: &str| expected.starts_with(what);
    match &node.kind {
        NodeKind::Null => Some("give the key a value, or leave it out".into()),
        NodeKind::Text(text) if wants("true or false") => match text.to_lowercase().as_str() {
            "yes" | "on" | "y" | "true" => Some("write true, without quotes".into()),
            "no" | "off" | "n" | "false" => Some("write false, without quotes".into()),
            _ => None,
        },
        NodeKind::Text(text) if wants("a number") || wants("a whole number") => {
            let text = text.trim();
            let number = text.len() <= 20 && text.parse::<f64>().is_ok_and(f64::is_finite);
            number.then(|| format!("write {text}, without quotes"))
        }
        NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::UInt(_) | NodeKind::Float(_)
            if wants("text") =>
        {
            Some(format!("put it in quotes: \"{}\"", node.to_json()))
        }
        NodeKind::Text(_) | NodeKind::Int(_) | NodeKind::Map(_) if wants("a list") => {
            Some("for a list of one, put it in [ ] or behind a dash".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let known = ["required", "disallowed", "sequence", "max", "tool-calls", "a"];
        for (word, want) in [
            ("requierd", Some("required")),
            ("Required", Some("required")),
            ("require", Some("required")),
            ("disalowed", Some("disallowed")),
            ("toolCalls", Some("tool-calls")),
            ("tool_call", Some("tool-calls")),
            ("mix", Some("max")),
            ("maximum", None),
            ("x", None),
            ("", None),
            ("something else", None),
        ] {
            assert_eq!(did_you_mean(word, known), want, "{word}");
        }
        assert_eq!(did_you_mean(&"max".repeat(1000), known), None);
    }

    #[test]
    fn names_of_types_become_plain_words() {
        for (serde, want) in [
            ("a boolean", "true or false"),
            ("u32", "a whole number of 0 or more"),
            ("i64", "a whole number"),
            ("a sequence", "a list"),
            ("struct ToolMatch", "a map"),
            ("a tuple of size 2", "a list of 2"),
            ("an array of length 3", "a list of 3"),
            ("tuple struct Pair with 2 elements", "a list"),
            ("a list of tool names", "a list of tool names"),
        ] {
            assert_eq!(plain(serde), want);
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(quoted("short"), "\"short\"");
        assert_eq!(quoted(&"ä".repeat(61)), format!("\"{}…\"", "ä".repeat(60)));
        let names: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(listed(&names).ends_with("22, 23 and 6 more"));
    }
}
