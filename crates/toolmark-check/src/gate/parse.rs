//! Parser for gates: `recovery[Bash.127] >= 0.8 min support 5`.
//!
//! ```text
//! gate  = name [ "[" tool | tool "." bucket "]" ] op number { part }
//! op    = ">=" | ">" | "==" | "<=" | "<"
//! part  = "per tool" | "per bucket" | "min support" number
//! ```

use super::names::NAMES;
use super::presets::PRESETS;
use super::{Gate, Op, Per};
use std::fmt;
use std::str::FromStr;
use toolmark_config::{did_you_mean, quoted};

/// An error in a gate, with its position and a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateError {
    /// Description of the error.
    pub message: String,
    /// Position in the text, in characters from 0.
    pub at: usize,
    /// Suggestion.
    pub help: Option<String>,
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.message, self.at + 1)
    }
}

impl std::error::Error for GateError {}

/// A token with its start position.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GateToken<'t> {
    text: &'t str,
    at: usize,
}

struct GateTokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> GateTokens<'t> {
    /// Returns the next token: a word, an operator, or something in brackets.
    fn next(&mut self) -> Option<GateToken<'t>> {
        let rest = self.text.get(self.at..)?;
        let trimmed = rest.trim_start();
        let at = self.text.len() - trimmed.len();
        let first = trimmed.chars().next()?;
        let end = |stop: fn(char) -> bool| trimmed.find(stop).unwrap_or(trimmed.len());
        let len = match first {
            '[' => trimmed.find(']').map_or(trimmed.len(), |at| at + 1),
            '<' | '>' | '=' | '!' => end(|c| !matches!(c, '<' | '>' | '=' | '!')),
            _ => end(|c| c.is_whitespace() || matches!(c, '[' | '<' | '>' | '=' | '!')),
        };
        self.at = at + len;
        Some(GateToken { text: trimmed.get(..len)?, at })
    }

    fn wrong(&self, token: Option<GateToken<'_>>, want: &str) -> GateError {
        match token {
            Some(token) => {
                let message = format!("expected {want}, found {}", quoted(token.text));
                GateError { message, at: token.at, help: None }
            }
            None => GateError {
                message: format!("expected {want}, found the end"),
                at: self.text.trim_end().len(),
                help: None,
            },
        }
    }
}

fn suggest<'w>(word: &str, words: impl Iterator<Item = &'w str> + Clone) -> String {
    match did_you_mean(word, words.clone()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("expected {}", words.collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the words with which a gate may start, and the names of presets.
fn words() -> impl Iterator<Item = &'static str> + Clone {
    let names = NAMES.iter().map(|(name, _)| *name);
    names.chain(PRESETS.iter().map(|preset| preset.name))
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        parse(text).map_err(|error| {
            let before = text.get(..error.at).unwrap_or(text);
            GateError { at: before.chars().count(), ..error }
        })
    }
}

/// Parses a gate; the position of an error is in bytes.
fn parse(text: &str) -> Result<Gate, GateError> {
    let mut tokens = GateTokens { text, at: 0 };
    let name = tokens.next().ok_or_else(|| tokens.wrong(None, "the name of a measure"))?;
    if !NAMES.iter().any(|(known, _)| *known == name.text) {
        return Err(GateError {
            message: format!("unknown measure {}", quoted(name.text)),
            at: name.at,
            help: Some(suggest(name.text, words())),
        });
    }
    let mut token = tokens.next();
    let mut selector = None;
    if let Some(bracket) = token.filter(|token| token.text.starts_with('[')) {
        selector = Some(inside(bracket)?);
        token = tokens.next();
    }
    let op = operator(token, &tokens)?;
    let number = tokens.next();
    let threshold = share(number, &tokens)?;
    let mut gate = Gate {
        name: name.text.to_owned(),
        selector,
        op,
        threshold,
        per: Per::All,
        min_support: 1,
        only_where_measured: false,
    };
    while let Some(word) = tokens.next() {
        part(word, &mut gate, &mut tokens)?;
    }
    Ok(gate)
}

fn inside(bracket: GateToken<'_>) -> Result<String, GateError> {
    let error = |message: &str| GateError {
        message: message.to_owned(),
        at: bracket.at,
        help: Some("write a tool, or a tool and a bucket, such as [Bash.127]".to_owned()),
    };
    let inner = bracket.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match inner.map(str::trim) {
        None => Err(error("the bracket is not closed")),
        Some("") => Err(error("the brackets are empty")),
        Some(inner) => Ok(inner.to_owned()),
    }
}

fn operator(token: Option<GateToken<'_>>, tokens: &GateTokens<'_>) -> Result<Op, GateError> {
    let found = token.and_then(|token| Op::ALL.iter().find(|op| op.word() == token.text));
    found.copied().ok_or_else(|| {
        let words = Op::ALL.iter().map(|op| op.word());
        let help = match token.map(|token| token.text) {
            Some("=") => "did you mean ==?".to_owned(),
            Some("=>") => "did you mean >=?".to_owned(),
            Some("=<") => "did you mean <=?".to_owned(),
            _ => format!("expected one of {}", words.collect::<Vec<_>>().join(" ")),
        };
        GateError { help: Some(help), ..tokens.wrong(token, "a comparison") }
    })
}

fn share(token: Option<GateToken<'_>>, tokens: &GateTokens<'_>) -> Result<f64, GateError> {
    let number = token.and_then(|token| match token.text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok().map(|number| number / 100.0),
        None => token.text.parse().ok(),
    });
    let wrong = || {
        let help = Some("write a share, such as 0.8 or 80%".to_owned());
        GateError { help, ..tokens.wrong(token, "a number from 0 to 1") }
    };
    number.filter(|number| (0.0..=1.0).contains(number)).ok_or_else(wrong)
}

fn part(
    word: GateToken<'_>,
    gate: &mut Gate,
    tokens: &mut GateTokens<'_>,
) -> Result<(), GateError> {
    match word.text {
        "per" => {
            let what = tokens.next();
            gate.per = match what.map(|token| token.text) {
                Some("tool") => Per::Tool,
                Some("bucket") => Per::Bucket,
                _ => {
                    let help = Some("write `per tool` or `per bucket`".to_owned());
                    return Err(GateError { help, ..tokens.wrong(what, "tool or bucket") });
                }
            };
        }
        "min" | "min_support" => {
            if word.text == "min" {
                let support = tokens.next();
                if support.map(|token| token.text) != Some("support") {
                    let help = Some("write `min support` and a number".to_owned());
                    return Err(GateError { help, ..tokens.wrong(support, "support") });
                }
            }
            let number = tokens.next();
            gate.min_support = number
                .and_then(|token| token.text.parse().ok())
                .filter(|number| *number > 0)
                .ok_or_else(|| tokens.wrong(number, "a whole number above 0"))?;
        }
        other => {
            let help = Some(suggest(other, ["per tool", "per bucket", "min support"].into_iter()));
            return Err(GateError { help, ..tokens.wrong(Some(word), "the end") });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(text: &str) -> Gate {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_language() {
        let all = gate("edit.minimal>=0.85");
        assert_eq!((all.name.as_str(), all.op, all.threshold), ("edit.minimal", Op::AtLeast, 0.85));
        assert_eq!((all.selector, all.per, all.min_support), (None, Per::All, 1));
        let one = gate(" recovery[Bash.127] >= 80% min support 5 ");
        assert_eq!((one.selector.as_deref(), one.threshold), (Some("Bash.127"), 0.8));
        assert_eq!(one.min_support, 5);
        assert_eq!(gate("arguments.valid == 1 per tool").per, Per::Tool);
        let both = gate("recovery >= .8 min_support 2 per bucket");
        assert_eq!((both.per, both.min_support, both.op), (Per::Bucket, 2, Op::AtLeast));
        assert_eq!(
            gate("selection.f1[shop/buy now] > 0").selector.as_deref(),
            Some("shop/buy now")
        );
        for text in ["recovery[Bash.127] >= 0.8 per bucket min support 5", "selection < 1"] {
            assert_eq!(gate(text).to_string(), text);
        }
    }

    #[test]
    fn mistakes_have_a_place_and_a_suggestion() {
        for (text, at, message, help) in [
            ("", 0, "expected the name of a measure, found the end", None),
            ("recovry >= 1", 0, "unknown measure \"recovry\"", Some("did you mean \"recovery\"?")),
            ("recovery = 1", 9, "expected a comparison, found \"=\"", Some("did you mean ==?")),
            ("recovery => 1", 9, "expected a comparison, found \"=>\"", Some("did you mean >=?")),
            ("recovery", 8, "expected a comparison, found the end", None),
            ("recovery[Bash >= 1", 8, "the bracket is not closed", None),
            ("recovery[ ] >= 1", 8, "the brackets are empty", None),
            ("recovery >= 1.2", 12, "expected a number from 0 to 1, found \"1.2\"", None),
            ("recovery >=", 11, "expected a number from 0 to 1, found the end", None),
            ("recovery >= nan", 12, "expected a number from 0 to 1, found \"nan\"", None),
            ("recovery >= 1 per too", 18, "expected tool or bucket, found \"too\"", None),
            ("recovery >= 1 min suport 2", 18, "expected support, found \"suport\"", None),
            (
                "recovery >= 1 min support 0",
                26,
                "expected a whole number above 0, found \"0\"",
                None,
            ),
            ("recovery[\u{e9}\u{e9}] > x", 15, "expected a number from 0 to 1, found \"x\"", None),
            ("recovery >= 1 each", 14, "expected the end, found \"each\"", None),
        ] {
            let error = text.parse::<Gate>().unwrap_err();
            assert_eq!((error.at, error.message.as_str()), (at, message), "{text}");
            if let Some(help) = help {
                assert_eq!(error.help.as_deref(), Some(help), "{text}");
            }
        }
    }
}
