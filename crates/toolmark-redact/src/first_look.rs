//! Fast pre-check that skips the scan for texts that cannot contain a secret, which is nearly
//! all of them.
//!
//! Everything that the scan masks is assigned with `:` or `=`, follows two dashes, was cut
//! off with an ellipsis, is preceded by an escape sequence, or has a run of at least [`RUN`]
//! bytes of token characters. The check tests 64 bytes at a time for these features and
//! inspects single bytes only where one occurs.

use crate::names::may_end_secret;
use crate::scan::LIKELY;
use crate::shapes::{SHAPES, shapes_at};
use std::ops::Range;
use toolmark_scan::Kinds;

/// Minimum number of consecutive [`WORD`] or [`JOINT`] bytes in every secret that is
/// recognized by its shape, unless the secret was cut or begins with two dashes.
const RUN: usize = 16;

/// Maximum distance from the start of a secret to the end of its first [`RUN`] bytes: the
/// prefix `bearer ` precedes the run and is not part of it.
const BEFORE: usize = RUN + 8;

/// Token characters and others: all of ASCII from `0` on.
const WORD: u8 = 1;
/// Token characters that precede `0` in ASCII: `% + - . /`.
const JOINT: u8 = 1 << 1;
/// Assignment signs: `:` and `=`.
const SIGN: u8 = 1 << 2;
const DASH: u8 = 1 << 3;
const BRACKET: u8 = 1 << 4;
/// Non-ASCII bytes, such as those of the ellipsis in a text that was cut.
const HIGH: u8 = 1 << 6;

const KINDS: Kinds = Kinds::new(&[
    (&[0x3, 0x4, 0x5, 0x6, 0x7], &[]),
    (&[0x2], &[0x5, 0xb, 0xd, 0xe, 0xf]),
    (&[0x3], &[0xa, 0xd]),
    (&[0x2], &[0xd]),
    (&[0x5], &[0xb]),
    // Bytes that may precede the bracket of an escape sequence, and others.
    (&[0x1, 0x3, 0x4, 0x6], &[0x2, 0x3, 0x5, 0xb]),
    (&[0x8, 0x9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf], &[]),
]);

/// Kinds of every byte value.
const KINDS_OF: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = KINDS.of(byte as u8);
        byte += 1;
    }
    kinds
};

/// Compile-time check that every shape in the table has the run that [`RUN`] promises.
const _: () = {
    let mut at = 0;
    while at < SHAPES.len() {
        let shape = &SHAPES[at];
        let least = match shape.masked_from {
            Some(least) => least,
            None => shape.least,
        };
        assert!(least >= RUN, "a token is shorter than the run that gives it away");
        let (prefix, mut n) = (shape.prefix.as_bytes(), 0);
        while n < prefix.len() {
            assert!(KINDS.of(prefix[n]) & (WORD | JOINT) != 0, "a prefix ends the run");
            n += 1;
        }
        at += 1;
    }
};

/// Whether a text may contain a secret, or an escape sequence that hides one.
pub(crate) fn may_hold_secret(text: &[u8]) -> bool {
    let looked = if text.len() < RUN { look_at_short(text) } else { look(text) };
    looked.unwrap_or_else(|| may_begin(text, 0..text.len()) || may_hold_sequence(text))
}

/// Checks a text shorter than [`RUN`]. Returns `None` if the text needs a closer look.
fn look_at_short(text: &[u8]) -> Option<bool> {
    let kinds = text.iter().fold(0, |kinds, byte| kinds | KINDS_OF[usize::from(*byte)]);
    (kinds & (SIGN | DASH | BRACKET | HIGH) == 0).then_some(false)
}

/// Checks a text block by block. Returns `None` if the text needs a closer look.
fn look(text: &[u8]) -> Option<bool> {
    let (blocks, tail) = text.as_chunks::<64>();
    let mut walk = BlockWalk { text, base: 0, run: 0, dash: 0, opener: 0 };
    for block in blocks {
        if walk.step(block)? {
            return Some(true);
        }
    }
    if tail.is_empty() {
        return Some(false);
    }
    let mut block = [0; 64];
    block.get_mut(..tail.len())?.copy_from_slice(tail);
    walk.step(&block)
}

/// Progress through the 64-byte blocks of a text, with the state at the end of the previous
/// block.
struct BlockWalk<'t> {
    text: &'t [u8],
    base: usize,
    run: u32,
    dash: u64,
    opener: u64,
}

impl BlockWalk<'_> {
    /// Whether a secret may begin in this block. Returns `None` if the text needs a closer
    /// look.
    #[inline]
    fn step(&mut self, block: &[u8; 64]) -> Option<bool> {
        let [word, joint, sign, dash, bracket, opener, high, _] = KINDS.find(block)?;
        if high != 0 {
            return None;
        }
        let runs = self.has_run(word | joint);
        let double = dash & (dash << 1 | self.dash);
        let opened = bracket & (opener << 1 | self.opener);
        let base = self.base;
        self.base += 64;
        (self.dash, self.opener) = (dash >> 63, opener >> 63);
        let text = self.text;
        Some(
            double != 0
                || bits(sign).any(|at| may_assign(text, base + at))
                || bits(opened).any(|at| may_open_sequence(text, base + at))
                || runs && may_begin(text, base.saturating_sub(BEFORE)..self.base.min(text.len())),
        )
    }

    /// Whether a run reaches [`RUN`] bytes in this block, including bytes of the previous
    /// block.
    #[inline]
    fn has_run(&mut self, run: u64) -> bool {
        let start = run.trailing_ones();
        let reaches = start > 0 && self.run + start >= RUN as u32;
        self.run = if run == u64::MAX { RUN as u32 } else { run.leading_ones() };
        let pairs = run & run >> 1;
        let fours = pairs & pairs >> 2;
        let eights = fours & fours >> 4;
        reaches || eights & eights >> 8 != 0
    }
}

/// Returns the positions of the set bits.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (next < 64).then_some(next)
    })
}

/// Whether a secret may begin at one of these positions.
fn may_begin(text: &[u8], places: Range<usize>) -> bool {
    // A candidate consists of two bytes, so the byte after the last position is included.
    let within = text.get(..(places.end + 1).min(text.len())).unwrap_or_default();
    let mut from = places.start;
    while let Some(at) = within.get(from..).and_then(|rest| LIKELY.find(rest)).map(|at| from + at) {
        let begins = match text.get(at) {
            Some(b':' | b'=') => may_assign(text, at),
            Some(b'-') => true,
            // Two letters also occur in many words.
            _ => {
                let rest = text.get(at..).unwrap_or_default();
                let is = |word: &[u8]| {
                    rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
                };
                is(b"eyJ")
                    || is(b"bearer ")
                    || is(b"basic ")
                    || shapes_at(text, at).next().is_some()
            }
        };
        if begins {
            return true;
        }
        from = at + 1;
    }
    false
}

/// Maximum length of the name of a secret, in bytes.
pub(crate) const LONGEST_NAME: usize = 64;

/// Whether the sign at `at` may follow the name of a secret, or be part of a URL.
fn may_assign(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let gap = |b: &&u8| matches!(**b, b' ' | b'"' | b'\'' | b'\\');
    let end = at - before.iter().rev().take(4).take_while(gap).count();
    let name = before.get(end.saturating_sub(LONGEST_NAME)..end).unwrap_or_default();
    text.get(at + 1) == Some(&b'/') || may_end_secret(name)
}

/// Whether a text may contain an escape sequence.
fn may_hold_sequence(text: &[u8]) -> bool {
    memchr::memchr_iter(b'[', text).any(|at| may_open_sequence(text, at))
}

/// Whether the bracket at `at` may open an escape sequence. Every introducer of a sequence
/// ends in one of a few bytes.
fn may_open_sequence(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    before.is_some_and(|b| matches!(b, 0x1b | b'b' | b'B' | b'3' | b'e'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::{redact, redact_whole};
    use crate::shapes::Of;
    use proptest::prelude::*;

    /// Asserts that a text skips the scan only if the scan would leave it unchanged. Returns
    /// whether the text contains a secret.
    fn assert_same(text: &str) -> bool {
        let whole = redact_whole(text);
        assert_eq!(redact(text), whole, "{text:?}");
        whole != text
    }

    fn drawn(of: Of, length: usize) -> String {
        let all = "3f9c2b7a1e5d8046C2F19B7E3A5D8046".chars().cycle();
        all.filter(|c| of.holds(*c as u8)).take(length).collect()
    }

    /// Returns harmless words and fragments of secrets.
    fn pieces() -> Vec<String> {
        let mut all: Vec<String> = SHAPES
            .iter()
            .map(|shape| {
                let least = shape.masked_from.unwrap_or(shape.least);
                format!("{}{}", shape.prefix, drawn(shape.of, least))
            })
            .collect();
        all.extend(SHAPES.iter().map(|shape| shape.prefix.to_owned()));
        let words = [
            "alpha",
            "be",
            "Basis",
            "sky",
            "ghost",
            "eye",
            "x",
            "5",
            "_",
            "-",
            ".",
            "/",
            "+",
            "%",
            "~",
            "=",
            ":",
            ": ",
            " = ",
            "://",
            "@",
            " ",
            "  ",
            "\n",
            "\t",
            ",",
            "\"",
            "'",
            "\\",
            "`",
            "{",
            "}",
            "[",
            "]",
            "(",
            "é",
            "日本",
            "…",
            "\u{7f}",
            "\u{1b}",
            "\u{1b}[31m",
            "\\u001b[0m",
            "\\e[1m",
            "\\033[",
            "node[0]",
            "password",
            "PassWd",
            "api-key",
            "secret",
            "tok",
            "en",
            "bearer ",
            "Basic ",
            "BEARER ",
            "--",
            "-----BEGIN PRIVATE KEY-----",
            "eyJ",
            "eyJhbGciOiJ9",
            "a1B2c3D4e5F6",
            "0123456789abcdef",
            "u:pw9@host/",
        ];
        all.extend(words.map(str::to_owned));
        all
    }

    #[test]
    fn every_shape_is_seen_wherever_it_stands() {
        let mut tokens = pieces();
        tokens.truncate(SHAPES.len());
        let web = "eyJhbGciOiJI.eyJhbGc.";
        let others = ["bearer a1b2c3d4e5f6a7b8", "Basic a1b2c3d4e5f6a7b=", web, "password=hunter2"];
        tokens.extend(others.map(str::to_owned));
        tokens.push("API_KEY: ab12cd34ef".to_owned());
        for token in &tokens {
            for filler in ["word ", "a/", "\", [x"] {
                for length in 0..140 {
                    let before: String = filler.chars().cycle().take(length).collect();
                    assert_same(&format!("{before} {token}\"}}"));
                    assert_same(&format!("{before}{token}"));
                }
            }
            assert!(assert_same(&format!("{} {token}, ok", "word ".repeat(30))), "{token}");
        }
    }

    #[test]
    fn what_is_split_between_blocks_is_seen() {
        for at in 50..80 {
            let before = "w ".repeat(100);
            let before = &before[..at];
            for text in ["--password hunter2", "\u{1b}[31mpassword=a\u{1b}[0mbc", "x://u:pw9@h/"] {
                assert_same(&format!("{before} {text}"));
                assert_same(&format!("{before}\n{text} {before}"));
            }
            let coloured = format!("{before} ghp_\u{1b}[1m{}", drawn(Of::Alnum, 36));
            assert!(assert_same(&coloured));
            let cut = format!("{before} ghp_a1B2\u{2026}");
            assert!(assert_same(&cut));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn nothing_is_overlooked(
            parts in prop::collection::vec(prop::sample::select(pieces()), 0..40),
            before in 0..140_usize,
        ) {
            assert_same(&format!("{}{}", "word ".repeat(28).get(..before).unwrap_or(""), parts.concat()));
        }

        #[test]
        fn nothing_is_overlooked_in_any_text(text in any::<String>()) {
            assert_same(&text);
        }

        #[test]
        fn what_is_clean_begins_no_secret(
            text in "[a-z0-9:=\"{}\\[\\], ._/-]{0,200}",
        ) {
            assert_same(&text);
        }
    }
}
