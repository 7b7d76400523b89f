//! Finds secrets by their shape: the prefix a vendor gives its tokens, the
//! characters and length of what follows, and enough disorder in it to be no
//! placeholder. One pass, nothing prepared at start-up; works on decoded text
//! and on the text inside JSON strings alike.

use super::shapes::{Of, SECOND, SHAPES, key_label, login, shapes_at};
use aho_corasick::packed::{Builder, Searcher};
use std::ops::Range;
use std::sync::OnceLock;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is: `GitHub token`.
    pub what: &'static str,
    /// Where it stands, its prefix included.
    pub range: Range<usize>,
    /// The part of it that tells what it is and may be shown.
    pub shown: usize,
}

impl Secret {
    /// What may be shown of it.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        let end = self.range.start + self.shown;
        format!("{}…", text.get(self.range.start..end).unwrap_or(""))
    }
}

/// What a secret may begin with, looked for all at once. To build it costs as
/// much as to go over a few thousand bytes one by one: it waits for a text that
/// is longer.
static STARTS: OnceLock<Option<Searcher>> = OnceLock::new();
const LONG: usize = 16 << 10;

fn searcher(length: usize) -> Option<&'static Searcher> {
    let build = || {
        let mut starts = Builder::new();
        starts.extend(SHAPES.iter().filter(|shape| shape.most > 0).map(|shape| shape.prefix));
        starts.extend(["eyJ", "-----BEGIN", "://"]);
        starts.build()
    };
    let built = if length < LONG { STARTS.get() } else { Some(STARTS.get_or_init(build)) };
    built.and_then(Option::as_ref)
}

/// The first two bytes of all that a secret may begin with.
const PAIRS: [u128; 256] = {
    let mut pairs = SECOND;
    pairs[b'-' as usize] |= 1 << b'-';
    pairs[b':' as usize] |= 1 << b'/';
    pairs
};

/// The secrets of a text, in order; no more than `most`.
#[must_use]
pub fn secrets(text: &str, most: usize) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let searcher = searcher(bytes.len());
    let mut from = 0;
    while found.len() < most
        && let Some(at) = next_start(searcher, bytes, from)
    {
        let secret = match bytes.get(at) {
            Some(b'-') => private_key(bytes, at),
            Some(b':') => url_password(bytes, at),
            _ if !begins_word(bytes, at) => None,
            Some(b'e') => web_token(bytes, at),
            _ => token(bytes, at),
        };
        from = secret.as_ref().map_or(at + 1, |secret| secret.range.end.max(at + 1));
        found.extend(secret);
    }
    found
}

/// The next place where a secret may begin. Where the text is short or the
/// processor has nothing to look for many texts at once with, two bytes decide.
fn next_start(searcher: Option<&Searcher>, bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let at = match searcher {
        Some(searcher) => searcher.find(rest)?.start(),
        None => {
            let begins = |pair: &[u8]| match *pair {
                [first, second] => PAIRS[usize::from(first)] >> (second & 127) & 1 == 1,
                _ => false,
            };
            rest.windows(2).position(begins)?
        }
    };
    Some(from + at)
}

/// Does a word begin here? In JSON text an escape may stand before it.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b't' | b'r') => before(2) == Some(b'\\'),
        Some(b) => !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'.' | b'+'),
    }
}

fn run(bytes: &[u8], at: usize, of: Of, most: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(most + 1).position(|b| !of.holds(*b)).unwrap_or(rest.len().min(most + 1))
}

fn token(bytes: &[u8], at: usize) -> Option<Secret> {
    let shape = shapes_at(bytes, at).find(|shape| {
        let length = run(bytes, at + shape.prefix.len(), shape.of, shape.most);
        shape.most > 0 && (shape.least..=shape.most).contains(&length)
    })?;
    let start = at + shape.prefix.len();
    let end = start + run(bytes, start, shape.of, shape.most);
    let goes_on = bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let tail = bytes.get(start..end)?;
    (!goes_on && is_random(tail)).then_some(Secret {
        what: shape.what,
        range: at..end,
        shown: shape.prefix.len(),
    })
}

/// `eyJ….eyJ….signature`, with a signature.
fn web_token(bytes: &[u8], at: usize) -> Option<Secret> {
    /// Longer parts are no token.
    const MOST: usize = 8 << 10;
    if !bytes.get(at..)?.starts_with(b"eyJ") {
        return None;
    }
    let head = at + run(bytes, at, Of::Token, MOST);
    let body = head + 1 + run(bytes, head + 1, Of::Token, MOST);
    let dots = bytes.get(head) == Some(&b'.') && bytes.get(body) == Some(&b'.');
    if !dots || !bytes.get(head + 1..)?.starts_with(b"eyJ") {
        return None;
    }
    let end = body + 1 + run(bytes, body + 1, Of::Token, MOST);
    let signature = bytes.get(body + 1..end)?;
    (signature.len() >= 40 && is_random(signature)).then_some(Secret {
        what: "web token",
        range: at..end,
        shown: 3,
    })
}

/// A private key with some of its body.
fn private_key(bytes: &[u8], at: usize) -> Option<Secret> {
    let start = key_label(bytes, at)?;
    let body = bytes.get(start..)?;
    // The line break, as itself or as an escape of JSON.
    let skipped = body.iter().take(4).position(|b| !matches!(b, b'\n' | b'\r' | b'\\' | b'n'))?;
    let length = run(body, skipped, Of::Base64, 64);
    let first = body.get(skipped..skipped + length)?;
    let end = start + skipped + length;
    (length >= 40 && is_random(first)).then_some(Secret {
        what: "private key",
        range: at..end,
        shown: start - at,
    })
}

/// The password in `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Secret> {
    const MOST: usize = 200;
    let login = login(bytes, at, MOST, Some(b'\\'))?;
    let password = bytes.get(login.password.clone())?;
    let host = bytes.get(login.host)?;
    let local = [&b"localhost"[..], b"127.", b"0.0.0.0", b"example", b"host", b"db", b"postgres"]
        .iter()
        .any(|name| host.starts_with(name));
    let plain = password.iter().all(|b| b.is_ascii_graphic() && !b"${}<>*()[]%".contains(b));
    let user = bytes.get(login.whole.start..login.password.start - 1);
    (password.len() >= 10 && plain && !local && user != Some(password) && is_random(password)).then(
        || Secret {
            what: "password in an address",
            shown: login.password.start - login.whole.start,
            range: login.whole,
        },
    )
}

/// Words of placeholders.
const PLACEHOLDERS: &[&[u8]] = &[
    b"example",
    b"xxxx",
    b"your",
    b"0000",
    b"1234567",
    b"abcdef",
    b"placeholder",
    b"changeme",
    b"dummy",
    b"sample",
    b"fake",
    b"redacted",
    b"insert",
    b"secret",
    b"password",
    b"token",
    b"....",
    b"----",
    b"aaaa",
    b"test",
];

/// Does a text look drawn by lot: no placeholder, letters and digits, and
/// enough different ones?
fn is_random(tail: &[u8]) -> bool {
    let lower: Vec<u8> = tail.iter().map(u8::to_ascii_lowercase).collect();
    let is_placeholder =
        PLACEHOLDERS.iter().any(|word| lower.windows(word.len()).any(|window| window == *word));
    let digits = tail.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = tail.iter().filter(|b| b.is_ascii_alphabetic()).count();
    !is_placeholder && digits > 0 && letters > 0 && entropy(tail) >= 2.8
}

/// The bits per byte a text holds, by how often each byte occurs.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = text.len().max(1) as f64;
    let part = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|c| **c > 0).map(part).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Shape;

    /// Characters as if drawn by lot, so that no scanner of repositories takes
    /// the secrets of the tests for real ones.
    fn drawn(of: Of, length: usize) -> String {
        let mut state = 7_u32;
        let mut out = String::new();
        while out.len() < length {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = 33 + (state >> 24) as u8 % 90;
            if of.holds(byte) && byte.is_ascii_alphanumeric() {
                out.push(char::from(byte));
            }
        }
        out
    }

    #[test]
    fn every_shape_is_found() {
        for shape in SHAPES.iter().filter(|shape| shape.most > 0) {
            let text = format!("x=\"{}{}\";", shape.prefix, drawn(shape.of, shape.least));
            let found = secrets(&text, 9);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].masked(&text), format!("{}…", shape.prefix), "{text}");
            // The same with a line break before it, as JSON writes it.
            let text = format!("\\n{}{}", shape.prefix, drawn(shape.of, shape.least));
            assert_eq!(secrets(&text, 9).len(), 1, "{text}");
        }
        let key = format!("-----BEGIN RSA PRIVATE KEY-----\\n{}", drawn(Of::Alnum, 64));
        assert_eq!(secrets(&key, 9)[0].what, "private key");
        let url = format!("postgres://app:{}@prod.internal/x", drawn(Of::Alnum, 16));
        assert_eq!(secrets(&url, 9)[0].masked(&url), "app:…");
        let part = drawn(Of::Alnum, 43);
        let jwt = format!("eyJ{part}.eyJ{part}.{part}");
        assert_eq!(secrets(&jwt, 9)[0].what, "web token");
    }

    #[test]
    fn long_texts_and_short_ones_are_searched_alike() {
        let token = |shape: &Shape| format!(" {}{}", shape.prefix, drawn(shape.of, shape.least));
        let shapes = || SHAPES.iter().filter(|shape| shape.most > 0);
        for shape in shapes() {
            let short = token(shape);
            let long = format!("{short}{}", " word: -- ://".repeat(LONG / 8));
            assert_eq!(secrets(&short, 9), secrets(&long, 9), "{short}");
        }
        let all: String = shapes().map(token).collect();
        assert_eq!(secrets(&all, usize::MAX).len(), shapes().count());
        let first = |searcher| next_start(searcher, all.as_bytes(), 0);
        assert_eq!(first(searcher(LONG)), first(None));
    }

    #[test]
    fn what_is_no_secret() {
        for text in [
            "550e8400-e29b-41d4-a716-446655440000",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_your0token0here0your0token0here0xxxx",
            "AKIAIOSFODNN7EXAMPLE",
            "sk-loading-indicator-animation-with-a-long-name-of-css",
            "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
            "https://user:password@host/x",
            "postgres://postgres:postgres@localhost:5432/app",
            "https://$USER:$TOKEN@github.com/x",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA",
            "hf_hub_download_with_a_long_name_of_function",
            "task-key-0123456789",
            "",
            "-",
            "日本語:/日本語eyJ日本語",
        ] {
            assert_eq!(secrets(text, 9), [], "{text}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in ["eyJ", "-----BEGIN ", "://", "ghp_a1", "sk-", "AKIA"] {
            let text = piece.repeat(1 << 20 >> 3);
            assert!(secrets(&text, 9).len() <= 9);
        }
    }
}
