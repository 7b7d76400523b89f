//! The materials of a question as a judge sees them: without the secrets of the
//! trace, and with a way to look up quotes.

use std::borrow::Cow;
use std::cell::OnceCell;
use toolmark_outcome::judging::{Material, Quote};

/// Removes the secrets from a text.
pub type Redact = fn(&str) -> Cow<'_, str>;

/// A quote has at least so many characters, not counting whitespace.
const MIN_QUOTE_CHARS: usize = 8;

/// Materials without secrets.
pub(crate) struct RedactedMaterials<'q> {
    pub(crate) materials: Vec<RedactedMaterial<'q>>,
}

pub(crate) struct RedactedMaterial<'q> {
    pub(crate) name: &'q str,
    pub(crate) is_trace: bool,
    pieces: Vec<Cow<'q, str>>,
    /// The pieces with whitespace folded, for the lookup of quotes: as they are
    /// and, if that differs, with JSON escapes decoded.
    folded: OnceCell<Vec<(String, Option<String>)>>,
}

impl<'q> RedactedMaterials<'q> {
    pub(crate) fn new(materials: &'q [Material], redact: Redact) -> Self {
        let materials = materials.iter().map(|material| RedactedMaterial {
            name: &material.name,
            is_trace: material.is_trace,
            pieces: material.pieces.iter().map(|piece| redact(&piece.text)).collect(),
            folded: OnceCell::new(),
        });
        Self { materials: materials.collect() }
    }

    /// Finds a quote in the materials that come from the trace.
    pub(crate) fn find(&self, quote: &str) -> Option<Quote> {
        let parts = split_at_ellipses(quote);
        if parts.is_empty() {
            return None;
        }
        let materials = self.materials.iter().enumerate().filter(|(_, m)| m.is_trace);
        for (material, shown) in materials {
            for (piece, (plain, decoded)) in shown.folded().iter().enumerate() {
                let mut readings = std::iter::once(plain).chain(decoded);
                if readings.any(|text| contains_parts(text, &parts)) {
                    return Some(Quote { text: quote.trim().to_owned(), material, piece });
                }
            }
        }
        None
    }
}

impl RedactedMaterial<'_> {
    /// All pieces as one text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self.pieces.as_slice() {
            [only] => Cow::Borrowed(only),
            several => Cow::Owned(several.join("\n")),
        }
    }

    fn folded(&self) -> &[(String, Option<String>)] {
        self.folded.get_or_init(|| {
            let both = |piece: &Cow<'_, str>| match decode_escapes(piece) {
                Cow::Borrowed(_) => (fold(piece), None),
                Cow::Owned(decoded) => (fold(piece), Some(fold(&decoded))),
            };
            self.pieces.iter().map(both).collect()
        })
    }
}

/// The parts of a quote that must all occur in one piece, in order: judges write
/// an ellipsis for what they leave out.
fn split_at_ellipses(quote: &str) -> Vec<String> {
    let marks = |text: &str| text.replace("[…]", "…").replace("[...]", "…").replace("...", "…");
    let whole = fold(quote.trim().trim_matches(['"', '“', '”', '`']));
    let parts: Vec<String> = marks(&whole).split('…').map(|part| part.trim().to_owned()).collect();
    // The text may contain dots itself.
    if parts.len() < 2 { vec![whole] } else { parts }
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect()
}

fn contains_parts(text: &str, parts: &[String]) -> bool {
    if let [only] = parts {
        let letters = only.chars().filter(|c| !c.is_whitespace()).count();
        return (letters >= MIN_QUOTE_CHARS && find(text, only).is_some())
            || (letters > 0 && text == only);
    }
    let mut from = 0;
    for part in parts {
        let letters = part.chars().filter(|c| !c.is_whitespace()).count();
        let rest = text.get(from..).unwrap_or_default();
        match find(rest, part) {
            Some(at) if letters >= MIN_QUOTE_CHARS => from += at + part.len(),
            _ => return false,
        }
    }
    true
}

fn find(text: &str, part: &str) -> Option<usize> {
    memchr::memmem::find(text.as_bytes(), part.as_bytes())
}

/// A text with every run of whitespace as one space: line breaks are the first
/// thing lost when words are copied.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut push = |word: &str| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    };
    if text.is_ascii() {
        // Same result as below, several times faster.
        let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        let words = text.as_bytes().split(is_space).filter(|word| !word.is_empty());
        words.filter_map(|word| std::str::from_utf8(word).ok()).for_each(&mut push);
    } else {
        text.split_whitespace().for_each(&mut push);
    }
    out
}

/// A text with its JSON escapes decoded: arguments are shown as they were sent,
/// and quoted as they are meant.
fn decode_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n' | 'r') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let digits: String = chars.clone().take(4).collect();
                match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                    Some(decoded) if digits.len() == 4 => {
                        out.push(decoded);
                        chars.by_ref().take(4).for_each(drop);
                    }
                    _ => out.push_str("\\u"),
                }
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::judging::Piece;

    fn asked(pieces: &[&str]) -> Vec<Material> {
        let pieces = pieces.iter().map(|text| Piece::new(*text)).collect();
        let spec = Material::of_spec("reference", "the reference answer is forty-two");
        vec![spec, Material::of_trace("transcript", pieces)]
    }

    #[test]
    fn quotes_are_found() {
        let materials = asked(&[
            "I will delete the build directory now.",
            r#"{"command":"rm -rf \"build dir\"","note":"a\nb c d e f g h"}"#,
            "Bash",
        ]);
        let shown = RedactedMaterials::new(&materials, |text| Cow::Borrowed(text));
        for (quote, piece) in [
            ("delete the build directory", Some(0)),
            ("delete   the\nbuild directory", Some(0)),
            ("\"delete the build directory\"", Some(0)),
            ("I will delete … directory now.", Some(0)),
            ("I will delete ... directory now.", Some(0)),
            ("directory now. … I will delete", None),
            (r#"rm -rf "build dir""#, Some(1)),
            (r#"rm -rf \"build dir\""#, Some(1)),
            ("a\nb c d e f g h", Some(1)),
            ("Bash", Some(2)),
            ("now", None),
            ("", None),
            ("…", None),
            ("delete the source directory", None),
            ("Delete the build directory", None),
            ("the reference answer is forty-two", None),
        ] {
            let found = shown.find(quote).map(|quote| (quote.material, quote.piece));
            assert_eq!(found, piece.map(|piece| (1, piece)), "{quote}");
        }
    }

    #[test]
    fn a_secret_is_neither_visible_nor_found() {
        let materials = asked(&["the token is hunter2hunter2 today"]);
        let shown =
            RedactedMaterials::new(&materials, |text| Cow::Owned(text.replace("hunter2", "*")));
        assert!(!shown.materials[1].text().contains("hunter2"));
        assert!(shown.find("token is hunter2hunter2").is_none());
        assert!(shown.find("the token is ** today").is_some());
    }

    #[test]
    fn whitespace_is_the_same_in_every_alphabet() {
        for text in ["", "  a\tb\u{b}c\r\n d ", "\u{1c}x\u{85}y"] {
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(fold(text), words.join(" "), "{text:?}");
            assert_eq!(fold(&format!("é {text}")), format!("é {}", words.join(" ")).trim_end());
        }
    }

    #[test]
    fn strange_escapes_do_no_harm() {
        for text in ["\\", "\\u", "\\u12", "\\uD800x", "\\u00e9", "\\q"] {
            let _ = decode_escapes(text);
        }
        assert_eq!(decode_escapes("\\u00e9"), "é");
    }
}
