//! The first look at a text: nearly all hold nothing that could be a secret, and tell so
//! at once.
//!
//! What the scan would mask is assigned with a sign, stands behind two dashes, was cut off
//! with an ellipsis, hides behind an escape sequence, or has a run of at least [`RUN`]
//! bytes that tokens are made of. 64 bytes at a time are asked for these, and the rest is
//! only looked at where they say so.

use crate::names::may_end_secret;
use crate::scan::LIKELY;
use crate::shapes::{SHAPES, shapes_at};
use std::ops::Range;
use toolmark_scan::Kinds;

/// So many bytes of [`WORD`] or [`JOINT`] stand side by side in every secret that is known
/// by its own shape, unless it was cut or begins with two dashes.
const RUN: usize = 16;

/// A secret begins so far before the end of its first [`RUN`] bytes: `bearer ` stands
/// before them and is none of them.
const BEFORE: usize = RUN + 8;

/// What tokens are made of, and more: from `0` on all of ASCII.
const WORD: u8 = 1;
/// The signs in tokens that come before `0`: `% + - . /`.
const JOINT: u8 = 1 << 1;
/// What assigns: `:` and `=`.
const SIGN: u8 = 1 << 2;
const DASH: u8 = 1 << 3;
const BRACKET: u8 = 1 << 4;
/// What is not ASCII, as the ellipsis of a text that was cut.
const HIGH: u8 = 1 << 6;

const KINDS: Kinds = Kinds::new(&[
    (&[0x3, 0x4, 0x5, 0x6, 0x7], &[]),
    (&[0x2], &[0x5, 0xb, 0xd, 0xe, 0xf]),
    (&[0x3], &[0xa, 0xd]),
    (&[0x2], &[0xd]),
    (&[0x5], &[0xb]),
    // What may stand before the bracket of an escape sequence, and more.
    (&[0x1, 0x3, 0x4, 0x6], &[0x2, 0x3, 0x5, 0xb]),
    (&[0x8, 0x9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf], &[]),
]);

/// The kinds of every byte.
const KINDS_OF: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = KINDS.of(byte as u8);
        byte += 1;
    }
    kinds
};

/// What is said about runs holds of every shape in the table.
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

/// May a secret begin in this text, or an escape sequence that hides one?
pub(crate) fn may_hold_secret(text: &[u8]) -> bool {
    let looked = if text.len() < RUN { look_at_short(text) } else { look(text) };
    looked.unwrap_or_else(|| may_begin(text, 0..text.len()) || may_hold_sequence(text))
}

/// The same for a text without room for a run; `None` where a closer look is needed.
fn look_at_short(text: &[u8]) -> Option<bool> {
    let kinds = text.iter().fold(0, |kinds, byte| kinds | KINDS_OF[usize::from(*byte)]);
    (kinds & (SIGN | DASH | BRACKET | HIGH) == 0).then_some(false)
}

/// The same block by block.
fn look(text: &[u8]) -> Option<bool> {
    let (blocks, tail) = text.as_chunks::<64>();
    let mut walk = Walk { text, base: 0, run: 0, dash: 0, opener: 0 };
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

/// A walk over the blocks of a text, with what the block before ended in.
struct Walk<'t> {
    text: &'t [u8],
    base: usize,
    run: u32,
    dash: u64,
    opener: u64,
}

impl Walk<'_> {
    /// May a secret begin here? `None` where the text needs a closer look.
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

    /// Does a run reach [`RUN`] bytes in these 64?
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

/// The places of the set bits.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (next < 64).then_some(next)
    })
}

/// May a secret begin at one of these places?
fn may_begin(text: &[u8], places: Range<usize>) -> bool {
    // What begins one is two bytes.
    let within = text.get(..(places.end + 1).min(text.len())).unwrap_or_default();
    let mut from = places.start;
    while let Some(at) = within.get(from..).and_then(|rest| LIKELY.find(rest)).map(|at| from + at) {
        let begins = match text.get(at) {
            Some(b':' | b'=') => may_assign(text, at),
            Some(b'-') => true,
            // Two letters are in many words.
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

/// Names are not longer.
pub(crate) const LONGEST_NAME: usize = 64;

/// May the sign at `at` stand behind the name of a secret, or in an address?
fn may_assign(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let gap = |b: &&u8| matches!(**b, b' ' | b'"' | b'\'' | b'\\');
    let end = at - before.iter().rev().take(4).take_while(gap).count();
    let name = before.get(end.saturating_sub(LONGEST_NAME)..end).unwrap_or_default();
    text.get(at + 1) == Some(&b'/') || may_end_secret(name)
}

/// May an escape sequence stand in a text?
fn may_hold_sequence(text: &[u8]) -> bool {
    memchr::memchr_iter(b'[', text).any(|at| may_open_sequence(text, at))
}

/// May the bracket at `at` be that of an escape sequence? What begins one ends in one of a
/// few bytes.
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

    /// A text skips the scan only if the scan would leave it as it is.
    fn assert_same(text: &str) -> bool {
        let whole = redact_whole(text);
        assert_eq!(redact(text), whole, "{text:?}");
        whole != text
    }

    fn drawn(of: Of, length: usize) -> String {
        let all = "3f9c2b7a1e5d8046C2F19B7E3A5D8046".chars().cycle();
        all.filter(|c| of.holds(*c as u8)).take(length).collect()
    }

    /// Words that are no secret, and what secrets are made of.
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
