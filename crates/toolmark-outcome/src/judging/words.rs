//! Detects the scale in the wording of a rubric: `1.0 = minimal … 0.0 = a rewrite`, or "score
//! from 1 to 5".

use super::Scale;

/// A token of a text.
#[derive(Debug, Clone, PartialEq)]
enum TextToken {
    /// A standalone number, and whether it has a fraction.
    Number(f64, bool),
    /// A word, in lower case.
    Word(String),
    /// Any other character except whitespace.
    Sign(char),
}

/// Statements about marks in a text.
#[derive(Debug, Default, PartialEq)]
struct ScaleWords {
    /// Marks whose meaning is explained.
    marks: Vec<f64>,
    /// Both ends of the scale, if they are named explicitly.
    ends: Option<(f64, f64)>,
}

/// Words that follow a mark and precede its meaning.
const MEANS: &[&str] = &["if", "means", "when", "for", "where"];
/// Words that identify a range of numbers as a range of marks.
const MARKS: &[&str] = &["score", "scores", "scale", "rate", "rating", "mark", "marks", "grade"];
/// Maximum distance of such a word from the range.
const NEAR: usize = 8;

/// Returns the scale in the wording of a rubric, if there is one.
#[must_use]
pub fn scale_of_words<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Scale> {
    let said = read(texts);
    let (low, high) = said.range()?;
    let scales = [Scale::Unit, Scale::OneToFive, Scale::OneToTen, Scale::ZeroToTen];
    scales.into_iter().find(|scale| ends(*scale) == (low, high))
}

/// Describes how the wording contradicts a scale, if it does.
pub(super) fn contradiction<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    scale: Scale,
) -> Option<String> {
    let said = read(texts);
    let (low, high) = said.range()?;
    let word = scale.word();
    if let Some((low, high)) = said.ends
        && (low, high) != ends(scale)
    {
        return Some(format!(
            "the words of the rubric put the marks from {low} to {high}, but its scale is {word}"
        ));
    }
    let stray = said.marks.iter().find(|mark| !scale.has(**mark));
    let is_inverted = (low, high) == (0.0, 1.0) && ends(scale).1 > 1.0;
    (stray.is_some() || is_inverted).then(|| {
        let mark = stray.copied().unwrap_or(high);
        format!("the words of the rubric explain the mark {mark}, but its scale is {word}")
    })
}

fn ends(scale: Scale) -> (f64, f64) {
    let points = scale.points();
    (points.first().copied().unwrap_or(0.0), points.last().copied().unwrap_or(1.0))
}

impl ScaleWords {
    /// Returns the lowest and the highest mark, if at least two are known.
    fn range(&self) -> Option<(f64, f64)> {
        if self.ends.is_some() {
            return self.ends;
        }
        let low = self.marks.iter().copied().reduce(f64::min)?;
        let high = self.marks.iter().copied().reduce(f64::max)?;
        (low < high).then_some((low, high))
    }
}

fn read<'t>(texts: impl IntoIterator<Item = &'t str>) -> ScaleWords {
    let mut said = ScaleWords::default();
    let mut weak = Vec::new();
    for text in texts {
        let tokens = split(text);
        for (at, token) in tokens.iter().enumerate() {
            let TextToken::Number(number, _) = *token else { continue };
            let next = tokens.get(at + 1);
            let after = tokens.get(at + 2);
            match (next, after) {
                (Some(TextToken::Sign('=')), Some(TextToken::Sign('='))) => {}
                (Some(TextToken::Sign('=' | '→')), _) => said.marks.push(number),
                (Some(TextToken::Sign('-')), Some(TextToken::Sign('>'))) => said.marks.push(number),
                (Some(TextToken::Word(word)), _) if MEANS.contains(&word.as_str()) => {
                    said.marks.push(number);
                }
                // A list may be numbered like this.
                (Some(TextToken::Sign(':' | '-' | '–' | '—')), Some(TextToken::Word(_))) => {
                    weak.push((number, token.clone()));
                }
                _ => {}
            }
            if said.ends.is_none() {
                said.ends = range_at(&tokens, at);
            }
        }
    }
    let is_fraction = |(_, token): &(f64, TextToken)| matches!(token, TextToken::Number(_, true));
    if weak.iter().any(|one| is_fraction(one) || one.0 == 0.0) {
        said.marks.extend(weak.into_iter().map(|(number, _)| number));
    }
    said
}

/// Returns two numbers that are named as the ends of a scale: "score from 0 to 1".
fn range_at(tokens: &[TextToken], at: usize) -> Option<(f64, f64)> {
    let TextToken::Number(low, _) = *tokens.get(at)? else { return None };
    let is_between = match tokens.get(at + 1)? {
        TextToken::Sign('-' | '–' | '—') => true,
        TextToken::Word(word) => ["to", "and", "through"].contains(&word.as_str()),
        _ => false,
    };
    let TextToken::Number(high, _) = *tokens.get(at + 2)? else { return None };
    let is_scale = (low == 0.0 || low == 1.0) && [1.0, 5.0, 10.0, 100.0].contains(&high);
    let is_mark = |token: &TextToken| matches!(token, TextToken::Word(word) if MARKS.contains(&word.as_str()));
    let before = tokens.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
    let behind = tokens.get(at + 3..).unwrap_or_default().iter().take(2);
    let is_near = before.iter().chain(behind).any(is_mark);
    (is_between && is_scale && is_near && low < high).then_some((low, high))
}

fn split(text: &str) -> Vec<TextToken> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut previous = ' ';
    while let Some((start, c)) = chars.next() {
        let mut end = start + c.len_utf8();
        if c.is_ascii_digit() {
            while let Some((at, d)) = chars.peek().copied() {
                let rest = text.get(at + 1..).unwrap_or_default();
                let is_point = d == '.' && rest.starts_with(|c: char| c.is_ascii_digit());
                if !d.is_ascii_digit() && !is_point {
                    break;
                }
                end = at + 1;
                chars.next();
            }
            let raw = text.get(start..end).unwrap_or_default();
            let next = chars.peek().map_or(' ', |(_, c)| *c);
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '%' | '$' | '#');
            match raw.parse::<f64>() {
                Ok(number) if !is_part(previous) && previous != '.' && !is_part(next) => {
                    tokens.push(TextToken::Number(number, raw.contains('.')));
                }
                _ => tokens.push(TextToken::Word(raw.to_owned())),
            }
        } else if c.is_alphabetic() {
            while let Some((at, d)) = chars.peek().copied()
                && (d.is_alphanumeric() || d == '_')
            {
                end = at + d.len_utf8();
                chars.next();
            }
            tokens.push(TextToken::Word(text.get(start..end).unwrap_or_default().to_lowercase()));
        } else if !c.is_whitespace() {
            tokens.push(TextToken::Sign(c));
        }
        previous = text.get(start..end).and_then(|part| part.chars().next_back()).unwrap_or(' ');
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_choose_the_scale() {
        for (text, scale) in [
            ("1.0 = minimal. 0.5 = wider than needed. 0.0 = a rewrite.", Some(Scale::Unit)),
            ("1.0 if it was named before. 0.5 if after. 0.0 if blind.", Some(Scale::Unit)),
            ("Score 1 when it is done, 0 when it is not.", Some(Scale::Unit)),
            ("1.0: perfect\n0.0: useless", Some(Scale::Unit)),
            ("Give a score between 0 and 1.", Some(Scale::Unit)),
            ("Rate the answer on a scale of 1 to 5.", Some(Scale::OneToFive)),
            ("Rate it 1-10, please", Some(Scale::OneToTen)),
            ("5 = good, 3 = fair, 1 = bad", Some(Scale::OneToFive)),
            ("Score from 0 to 10", Some(Scale::ZeroToTen)),
            ("1: read the file\n2: edit it\n3: run the tests", None),
            ("The agent read lines 1 to 5 of the file.", None),
            ("Was exit code 127 read? Version 1.0.2 is 50% wrong, see a_1 = 2.", None),
            ("Was the request met?", None),
            ("", None),
        ] {
            assert_eq!(scale_of_words([text]), scale, "{text}");
        }
    }

    #[test]
    fn a_contradiction_is_named() {
        let inverted = "1.0 = minimal. 0.5 = wider. 0.0 = a rewrite.";
        for (text, scale, want) in [
            (inverted, Scale::OneToFive, Some("the mark 0.5")),
            (inverted, Scale::Binary, Some("the mark 0.5")),
            (inverted, Scale::Half, None),
            (inverted, Scale::Unit, None),
            ("1 = yes, 0 = no", Scale::ZeroToTen, Some("the mark 1")),
            ("1 = yes, 0 = no", Scale::Binary, None),
            ("Score it from 1 to 5", Scale::OneToTen, Some("from 1 to 5")),
            ("5 = good, 1 = bad", Scale::OneToFive, None),
            ("Was it met?", Scale::OneToFive, None),
        ] {
            let found = contradiction([text], scale);
            assert_eq!(found.is_some(), want.is_some(), "{text} {scale:?}: {found:?}");
            assert!(found.unwrap_or_default().contains(want.unwrap_or_default()), "{text}");
        }
    }
}
