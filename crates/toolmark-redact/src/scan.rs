//! Finds the secrets in a text, at a given level of proof.
//!
//! A secret is recognized by its shape (the prefix of a vendor's tokens, the label of a
//! private key, the login of a URL) or by the name to which it is assigned. Callers that hide
//! secrets use [`Proof::Likely`], and callers that report them use [`Proof::Certain`]:
//! everything certain is also likely. The scan is a single pass without preparation at
//! start-up, and works on decoded text and on the text inside JSON strings alike.

use crate::first_look::LONGEST_NAME;
use crate::names::{self, NameKind, is_placeholder, is_random, may_end_name, secret_name};
use crate::shapes::{FINDINGS, Of, SHAPES, TokenShape, key_label, login, shapes_at};
use aho_corasick::packed::{Builder, Searcher};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolmark_base::sanitize::ends_sequence;
use toolmark_scan::Prefixes;

/// Amount of evidence required for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Enough to hide the text: hiding a placeholder does no harm.
    Likely,
    /// Enough to report the text: the shape, length and randomness of a real secret.
    Certain,
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Display name: `GitHub token`.
    pub what: &'static str,
    /// Position in the text, including the prefix that identifies the secret.
    pub range: Range<usize>,
    /// Number of leading bytes that identify the kind of secret and may be shown.
    pub shown: usize,
}

impl Secret {
    /// Returns the part that may be shown, followed by an ellipsis.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        let end = self.range.start + self.shown;
        format!("{}…", text.get(self.range.start..end).unwrap_or(""))
    }

    /// Returns the range that must not be shown.
    #[must_use]
    pub fn hidden(&self) -> Range<usize> {
        self.range.start + self.shown..self.range.end
    }
}

/// Returns up to `most` secrets of a text, sorted and without overlaps.
#[must_use]
pub fn secrets(text: &str, proof: Proof, most: usize) -> Vec<Secret> {
    Scan::new(text, proof).take(most).collect()
}

/// Suffixes of variable names that contain a secret, with the equals sign.
const VARIABLES: [&str; 4] = ["_PASSWORD=", "_SECRET=", "_TOKEN=", "_KEY="];

/// Possible prefixes of certain secrets.
const STARTS: &[&[&str]] = &[&FINDINGS, &["eyJ", "-----BEGIN", "://"], &VARIABLES];

/// Simultaneous search for all of [`STARTS`].
static PREFIXES: Prefixes = Prefixes::new(STARTS);

/// Search for [`STARTS`] on processors that [`Prefixes`] does not support. Building it costs
/// as much as scanning a few thousand bytes one by one, so it is deferred until that many
/// bytes were scanned. Four bytes are far more selective than three, so short prefixes have
/// their own searcher.
static SEARCHERS: OnceLock<Option<[Searcher; 2]>> = OnceLock::new();
/// Number of bytes scanned one by one so far.
static GONE_OVER: AtomicUsize = AtomicUsize::new(0);
const WORTH_BUILDING: usize = 16 << 10;

fn searchers(length: usize) -> Option<&'static [Searcher; 2]> {
    let build = || {
        let (long, short): (Vec<&str>, Vec<&str>) =
            STARTS.iter().copied().flatten().partition(|start| start.len() > 3);
        let searcher = |starts: Vec<&str>| Builder::new().extend(starts).build();
        Some([searcher(long)?, searcher(short)?])
    };
    if let Some(built) = SEARCHERS.get() {
        return built.as_ref();
    }
    let before = GONE_OVER.fetch_add(length, Ordering::Relaxed);
    if before + length < WORTH_BUILDING {
        return None;
    }
    SEARCHERS.get_or_init(build).as_ref()
}

/// Positions where a secret may begin, found with the fastest method of the processor.
enum SecretPositions<'t> {
    /// Search by four bytes, 64 positions at a time.
    Prefixes(toolmark_scan::CandidatePositions<'t>),
    /// Search by whole prefixes, with the last match of each searcher.
    Searchers(&'static [Searcher; 2], [Option<usize>; 2]),
    /// Search by two bytes.
    Pairs(&'static Starts),
}

impl<'t> SecretPositions<'t> {
    fn new(text: &'t [u8], proof: Proof) -> Self {
        if proof == Proof::Likely {
            return Self::Pairs(&LIKELY);
        }
        if let Some(places) = PREFIXES.places(text) {
            return Self::Prefixes(places);
        }
        match searchers(text.len()) {
            Some(searchers) => Self::Searchers(searchers, [Some(0); 2]),
            None => Self::Pairs(&CERTAIN),
        }
    }

    /// Returns the first position at or after `from`, which must not decrease between calls.
    fn next(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        match self {
            Self::Prefixes(places) => places.find(|at| *at >= from),
            Self::Searchers(searchers, found) => {
                for (searcher, found) in searchers.iter().zip(&mut *found) {
                    if found.is_some_and(|found| found <= from) {
                        *found = searcher.find(rest).map(|found| from + found.start());
                    }
                }
                found.iter().flatten().min().copied()
            }
            Self::Pairs(starts) => starts.find(rest).map(|at| from + at),
        }
    }
}

/// Byte pairs with which secrets may begin, as one bit each. Most pairs in a text do not
/// begin a secret.
pub(crate) struct Starts([u64; 1024]);

impl Starts {
    const fn new(extra: &[(u8, &[u8])]) -> Self {
        let mut starts = Self([0; 1024]);
        let mut at = 0;
        while at < SHAPES.len() {
            let prefix = SHAPES[at].prefix.as_bytes();
            starts.add(prefix[0], prefix[1]);
            at += 1;
        }
        let mut at = 0;
        while at < extra.len() {
            let (first, seconds) = extra[at];
            let mut n = 0;
            while n < seconds.len() {
                starts.add(first, seconds[n]);
                n += 1;
            }
            at += 1;
        }
        starts
    }

    const fn add(&mut self, first: u8, second: u8) {
        self.0[first as usize * 4 + second as usize / 64] |= 1 << (second % 64);
    }

    /// Adds every pair that begins with `first`.
    const fn with_any(mut self, first: u8) -> Self {
        let mut second = 0;
        while second < 256 {
            self.add(first, second as u8);
            second += 1;
        }
        self
    }

    #[inline]
    fn holds(&self, first: u8, second: u8) -> bool {
        self.0[usize::from(first) * 4 + usize::from(second / 64)] & (1 << (second % 64)) != 0
    }

    /// Returns the position of the first pair.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let (mut before, rest) = bytes.split_first()?;
        rest.iter().position(|byte| self.holds(*std::mem::replace(&mut before, byte), *byte))
    }
}

/// Byte pairs with which a likely secret may begin.
pub(crate) static LIKELY: Starts =
    Starts::new(&[(b'e', b"y"), (b'-', b"-"), (b'b', b"aAeE"), (b'B', b"aAeE")])
        .with_any(b'=')
        .with_any(b':');

/// Byte pairs with which a certain secret may begin.
static CERTAIN: Starts = Starts::new(&[(b'e', b"y"), (b'-', b"-"), (b':', b"/"), (b'_', b"PSTK")]);

/// One pass over a text. Measured ranges are cached, so that a text crafted to be measured
/// repeatedly takes no longer than any other.
pub(crate) struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    proof: Proof,
    places: SecretPositions<'t>,
    /// Position after the last candidate or secret.
    at: usize,
    /// Cached runs of token characters.
    tokens: [Range<usize>; 2],
    /// Cached run of characters that can form an unquoted value.
    bare: Range<usize>,
    digit: NextByte,
    paren: NextByte,
}

/// Position of the next occurrence of some byte, valid for every start from `from` on.
#[derive(Default)]
struct NextByte {
    from: usize,
    at: usize,
}

impl NextByte {
    fn within(&mut self, bytes: &[u8], range: &Range<usize>, test: impl Fn(&u8) -> bool) -> bool {
        if !(self.from..=self.at).contains(&range.start) || self.at == 0 {
            let rest = bytes.get(range.start..).unwrap_or_default();
            let found = rest.iter().position(test).unwrap_or(rest.len());
            *self = Self { from: range.start, at: range.start + found };
        }
        self.at < range.end
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_token(b: u8) -> bool {
    is_word(b) || b == b'-'
}

fn is_bare(b: u8) -> bool {
    !b.is_ascii_whitespace()
        && !matches!(
            b,
            b'"' | b'\''
                | b'`'
                | b','
                | b';'
                | b'&'
                | b'|'
                | b'<'
                | b'>'
                | b')'
                | b'}'
                | b']'
                | b'\\'
        )
}

/// Returns the first position from `at` on where `test` does not hold.
fn end_of(bytes: &[u8], at: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|b| !test(*b)).map_or(bytes.len(), |n| at + n)
}

/// Returns the number of bytes of this kind from `at` on, counted up to `most + 1`.
fn run(bytes: &[u8], at: usize, of: Of, most: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(most + 1).position(|b| !of.holds(*b)).unwrap_or(rest.len().min(most + 1))
}

impl Iterator for Scan<'_> {
    type Item = Secret;

    fn next(&mut self) -> Option<Secret> {
        loop {
            let at = self.places.next(self.bytes, self.at)?;
            self.at = at + 1;
            // Secrets begin and end next to ASCII, hence at character boundaries.
            if let Some(secret) = self.secret(at).filter(|secret| !secret.hidden().is_empty()) {
                self.at = secret.range.end.max(self.at);
                return Some(secret);
            }
        }
    }
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t str, proof: Proof) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            proof,
            places: SecretPositions::new(text.as_bytes(), proof),
            at: 0,
            tokens: [0..0, 0..0],
            bare: 0..0,
            digit: NextByte::default(),
            paren: NextByte::default(),
        }
    }

    fn secret(&mut self, at: usize) -> Option<Secret> {
        match self.bytes.get(at)? {
            b'-' => self.private_key(at).or_else(|| self.flag(at)),
            b':' => self.url_password(at).or_else(|| self.assignment(at)),
            b'=' => self.assignment(at),
            b'_' => self.variable(at),
            _ if !self.begins_word(at) => None,
            _ => self.token(at).or_else(|| self.web_token(at)).or_else(|| self.authorization(at)),
        }
    }

    fn is_certain(&self) -> bool {
        self.proof == Proof::Certain
    }

    /// Whether a word begins here. An escape may precede the word in JSON text, and the final
    /// letter of a colour sequence in coloured text.
    fn begins_word(&self, at: usize) -> bool {
        let before = |n: usize| at.checked_sub(n).and_then(|at| self.bytes.get(at)).copied();
        match before(1) {
            None => true,
            Some(b'n' | b't' | b'r') => before(2) == Some(b'\\'),
            Some(b'-' | b'.' | b'+') => !self.is_certain(),
            Some(b) => !is_word(b) || ends_sequence(self.bytes, at),
        }
    }

    /// Whether the text was cut here. The remainder of a secret before a cut is hidden
    /// however short it is.
    fn is_cut(&self, at: usize) -> bool {
        !self.is_certain()
            && self.bytes.get(at..).is_some_and(|rest| rest.starts_with("…".as_bytes()))
    }

    /// Returns the end of the run of token characters that contains `at`.
    fn token_end(&mut self, at: usize) -> usize {
        if let Some(known) = self.tokens.iter().find(|run| run.contains(&at)) {
            return known.end;
        }
        let end = end_of(self.bytes, at, is_token);
        self.tokens.swap(0, 1);
        self.tokens[0] = at..end;
        end
    }

    fn bare_end(&mut self, at: usize) -> usize {
        if !self.bare.contains(&at) {
            self.bare = at..end_of(self.bytes, at, is_bare);
        }
        self.bare.end
    }

    fn has_digit(&mut self, range: &Range<usize>) -> bool {
        self.digit.within(self.bytes, range, u8::is_ascii_digit)
    }

    /// Finds a token of the table at `at`.
    fn token(&mut self, at: usize) -> Option<Secret> {
        shapes_at(self.bytes, at).find_map(|shape| {
            let shown = shape.prefix.len();
            let start = at + shown;
            let end = match self.proof {
                Proof::Likely => self.likely_end(shape, start),
                Proof::Certain => self.certain_end(shape, start),
            };
            end.map(|end| Secret { what: shape.what, range: at..end, shown })
        })
    }

    /// Returns the end of a token that is long enough after its prefix.
    fn likely_end(&mut self, shape: &TokenShape, start: usize) -> Option<usize> {
        /// Minimum number of characters of a token that was cut.
        const CUT: usize = 4;
        let (end, least) = match (shape.masked_from, shape.of) {
            (Some(least), _) => (self.token_end(start), least),
            (None, Of::Token) => (self.token_end(start), shape.least),
            (None, of) => {
                // The run is limited to the maximum length of a token.
                let rest = self.bytes.get(start..).unwrap_or_default();
                let run = rest.iter().take(shape.most).take_while(|b| of.holds(**b)).count();
                let is_whole = run >= shape.least || self.is_cut(start + run);
                (if is_whole { self.token_end(start + run) } else { start }, shape.least)
            }
        };
        let tail = start..end;
        let is_whole = tail.len() >= least && self.has_digit(&tail);
        (is_whole || tail.len() >= CUT && self.is_cut(end)).then_some(end)
    }

    /// Returns the end of a token that has all features of a real one.
    fn certain_end(&self, shape: &TokenShape, start: usize) -> Option<usize> {
        let length = run(self.bytes, start, shape.of, shape.most);
        let end = start + length;
        let goes_on = self.bytes.get(end).is_some_and(|b| is_word(*b));
        let is_whole = shape.most > 0 && (shape.least..=shape.most).contains(&length) && !goes_on;
        (is_whole && is_random(self.bytes.get(start..end)?)).then_some(end)
    }

    /// Finds a JSON Web Token, `eyJ….eyJ….signature`; certain with a signature.
    fn web_token(&mut self, at: usize) -> Option<Secret> {
        /// Maximum length of a part of a token.
        const MAX_LENGTH: usize = 8 << 10;
        let bytes = self.bytes;
        if !bytes.get(at..)?.starts_with(b"eyJ") {
            return None;
        }
        let token = |end| Secret { what: "web token", range: at..end, shown: 3 };
        let dot = |end: usize| bytes.get(end) == Some(&b'.');
        if self.is_certain() {
            let head = at + run(bytes, at, Of::Token, MAX_LENGTH);
            let body = head + 1 + run(bytes, head + 1, Of::Token, MAX_LENGTH);
            if !dot(head) || !dot(body) || !bytes.get(head + 1..)?.starts_with(b"eyJ") {
                return None;
            }
            let end = body + 1 + run(bytes, body + 1, Of::Token, MAX_LENGTH);
            let signature = bytes.get(body + 1..end)?;
            return (signature.len() >= 40 && is_random(signature)).then(|| token(end));
        }
        let head = self.token_end(at);
        if head - at < 12 || !dot(head) {
            return (head - at >= 12 && self.is_cut(head)).then(|| token(head));
        }
        let body = self.token_end(head + 1);
        if body - head < 8 || !dot(body) {
            return self.is_cut(body).then(|| token(body));
        }
        Some(token(end_of(bytes, body + 1, is_token)))
    }

    /// Finds the token of `Bearer …` and `Basic …`.
    fn authorization(&mut self, at: usize) -> Option<Secret> {
        if self.is_certain() {
            return None;
        }
        let scheme = ["bearer ", "basic "].into_iter().find(|scheme| {
            let word = self.bytes.get(at..at + scheme.len());
            word.is_some_and(|word| word.eq_ignore_ascii_case(scheme.as_bytes()))
        })?;
        let start = at + scheme.len();
        let is_part = |b| is_token(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=');
        let tail = start..end_of(self.bytes, start, is_part);
        let is_whole = tail.len() >= 16 || self.is_cut(tail.end);
        (is_whole && self.has_digit(&tail)).then_some(Secret {
            what: "authorization",
            range: at..tail.end,
            shown: scheme.len(),
        })
    }

    /// Finds a private key; certain with part of its body.
    fn private_key(&self, at: usize) -> Option<Secret> {
        let start = key_label(self.bytes, at)?;
        let body = self.bytes.get(start..)?;
        let end = if self.is_certain() {
            // The line break, as itself or as an escape of JSON.
            let is_break = |b: &u8| matches!(b, b'\n' | b'\r' | b'\\' | b'n');
            let skipped = body.iter().take(4).position(|b| !is_break(b))?;
            let length = run(body, skipped, Of::Base64, 64);
            let is_body = length >= 40 && is_random(body.get(skipped..skipped + length)?);
            let is_part = |b: u8| {
                b.is_ascii_alphanumeric()
                    || b.is_ascii_whitespace()
                    || matches!(b, b'+' | b'/' | b'=' | b'\\')
            };
            is_body.then(|| end_of(self.bytes, start + skipped, is_part))?
        } else {
            // To its end, or to the end of the text.
            let rest = self.text.get(start..)?;
            rest.find("-----END").map_or(self.bytes.len(), |n| start + n)
        };
        Some(Secret { what: "private key", range: at..end, shown: start - at })
    }

    /// Finds the password in `scheme://user:password@host`.
    fn url_password(&self, at: usize) -> Option<Secret> {
        const MAX_LENGTH: usize = 200;
        const LOCAL: [&[u8]; 7] =
            [b"localhost", b"127.", b"0.0.0.0", b"example", b"host", b"db", b"postgres"];
        let (most, stop) =
            if self.is_certain() { (MAX_LENGTH, Some(b'\\')) } else { (usize::MAX, None) };
        let login = login(self.bytes, at, most, stop)?;
        let password = self.bytes.get(login.password.clone())?;
        let is_one = if self.is_certain() {
            let host = self.bytes.get(login.host)?;
            let user = self.bytes.get(login.whole.start..login.password.start - 1);
            password.len() >= 10
                && names::is_plain(password)
                && !LOCAL.iter().any(|name| host.starts_with(name))
                && user != Some(password)
                && is_random(password)
        } else {
            !is_placeholder(password) && !password.contains(&b'(')
        };
        is_one.then(|| Secret {
            what: "password in an address",
            shown: login.password.start - login.whole.start,
            range: login.whole,
        })
    }

    /// Finds the value of `DB_PASSWORD=value`, where `at` is the last `_` of the name and the
    /// value leaves no doubt.
    fn variable(&mut self, at: usize) -> Option<Secret> {
        /// Minimum length of a randomly generated key.
        const MIN_LENGTH: usize = 12;
        let bytes = self.bytes;
        let rest = bytes.get(at..)?;
        let end = VARIABLES.iter().find(|name| rest.starts_with(name.as_bytes()))?.len() + at;
        let is_name = |b: &&u8| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b'_';
        let before = bytes.get(..at)?.iter().rev().take(LONGEST_NAME).take_while(is_name);
        let start = at - before.count();
        let name = secret_name(bytes.get(start..end - 1)?)?;
        if !self.begins_word(start) {
            return None;
        }
        let (value, _) = self.value_at(end);
        // A vendor's token is more specific than the name of the variable.
        if let Some(token) = self.token(value.start).or_else(|| self.web_token(value.start)) {
            return Some(token);
        }
        let written = bytes.get(value.clone())?;
        let is_address = written.starts_with(b"/") || written.contains(&b':');
        let is_one = written.len() >= MIN_LENGTH && names::is_plain(written) && !is_address;
        (is_one && is_random(written)).then(|| Secret {
            what: name.what(),
            shown: value.start - start,
            range: start..value.end,
        })
    }

    /// Finds the value of `--password hunter2`.
    fn flag(&mut self, at: usize) -> Option<Secret> {
        let before = at.checked_sub(1).and_then(|at| self.bytes.get(at));
        if self.is_certain() || before.is_some_and(|b| !b.is_ascii_whitespace()) {
            return None;
        }
        let end = self.token_end(at + 2);
        let name = secret_name(self.bytes.get(at + 2..end)?)?;
        if self.bytes.get(end) != Some(&b' ') || self.bytes.get(end + 1) == Some(&b'-') {
            return None;
        }
        self.value(end + 1, name)
    }

    /// Finds the value of `NAME=value`, `"name": "value"` or `name: value`, where `at` is the
    /// sign between them.
    fn assignment(&mut self, at: usize) -> Option<Secret> {
        let bytes = self.bytes;
        if self.is_certain() || matches!(bytes.get(at + 1), Some(b'=' | b'>' | b':' | b'~')) {
            return None;
        }
        let before = bytes.get(..at)?.iter().rev();
        let gap = |b: &&u8| matches!(**b, b' ' | b'"' | b'\'' | b'\\');
        let end = at - before.clone().take(4).take_while(gap).count();
        if !may_end_name(*bytes.get(end.checked_sub(1)?)?) {
            return None;
        }
        let length = bytes.get(..end)?.iter().rev().take(LONGEST_NAME);
        let start = end - length.take_while(|b| is_token(**b)).count();
        let name = secret_name(bytes.get(start..end)?)?;
        let spaces = bytes.get(at + 1..)?.iter().take(4).take_while(|b| **b == b' ').count();
        (spaces < 4).then(|| self.value(at + 1 + spaces, name)).flatten()
    }

    /// Returns the range of the value that starts at `at`, without its quotes, and whether it
    /// is quoted.
    fn value_at(&mut self, at: usize) -> (Range<usize>, bool) {
        let bytes = self.bytes;
        let opening = end_of(bytes, at, |b| b == b'\\');
        match bytes.get(opening).copied().filter(|b| matches!(b, b'"' | b'\'' | b'`')) {
            Some(quote) => {
                let is_inside = |b| b != quote && b != b'\n' && b != b'\\';
                (opening + 1..end_of(bytes, opening + 1, is_inside), true)
            }
            None => (at..self.bare_end(at), false),
        }
    }

    /// Returns the value that starts at `at`, if it is the kind of secret that its name
    /// suggests.
    fn value(&mut self, at: usize, name: NameKind) -> Option<Secret> {
        let bytes = self.bytes;
        let (mut range, is_quoted) = self.value_at(at);
        let mut value = bytes.get(range.clone())?;
        let cut = value.strip_suffix("…".as_bytes());
        if let Some(left) = cut {
            (value, range.end) = (left, range.start + left.len());
        }
        let is_long = match name {
            _ if cut.is_some() => true,
            NameKind::Key if !is_quoted => value.len() >= 8 && self.has_digit(&range),
            _ => name.fits(value),
        };
        let mut calls = || self.paren.within(bytes, &range, |b| *b == b'(');
        (is_long && !is_placeholder(value) && !calls()).then_some(Secret {
            what: name.what(),
            range,
            shown: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain(text: &str, most: usize) -> Vec<Secret> {
        secrets(text, Proof::Certain, most)
    }

    /// Returns characters that look random. Secrets of the tests are generated so that
    /// repository scanners do not take them for real ones.
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
            let found = certain(&text, 9);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].masked(&text), format!("{}…", shape.prefix), "{text}");
            // The same with a line break before it, as JSON writes it.
            let text = format!("\\n{}{}", shape.prefix, drawn(shape.of, shape.least));
            assert_eq!(certain(&text, 9).len(), 1, "{text}");
        }
        let key = format!("-----BEGIN RSA PRIVATE KEY-----\\n{}", drawn(Of::Alnum, 64));
        assert_eq!(certain(&key, 9)[0].what, "private key");
        let url = format!("postgres://app:{}@prod.internal/x", drawn(Of::Alnum, 16));
        assert_eq!(certain(&url, 9)[0].masked(&url), "app:…");
        let part = drawn(Of::Alnum, 43);
        let jwt = format!("eyJ{part}.eyJ{part}.{part}");
        assert_eq!(certain(&jwt, 9)[0].what, "web token");
        let drawn = drawn(Of::Alnum, 16);
        for (name, quote) in [("DB_PASSWORD", ""), ("APP_SECRET", "\""), ("X_API_KEY", "\\\"")] {
            let text = format!("export {name}={quote}{drawn}{quote} y");
            let found = certain(&text, 9);
            assert_eq!(found[0].masked(&text), format!("{name}={quote}…"), "{text}");
            assert_eq!(&text[found[0].hidden()], drawn);
        }
        let named = format!("GITHUB_TOKEN=ghp_{}", self::drawn(Of::Alnum, 36));
        assert_eq!(certain(&named, 9)[0].what, "GitHub token");
    }

    #[test]
    fn what_is_certain_is_likely() {
        let mut texts: Vec<String> = SHAPES
            .iter()
            .filter(|shape| shape.most > 0)
            .map(|shape| format!("x=\"{}{}\";", shape.prefix, drawn(shape.of, shape.least)))
            .collect();
        let (word, part) = (drawn(Of::Alnum, 16), drawn(Of::Alnum, 43));
        texts.push(format!("-----BEGIN RSA PRIVATE KEY-----\\n{part}{part}"));
        texts.push(format!("postgres://app:{word}@prod.internal/x"));
        texts.push(format!("eyJ{part}.eyJ{part}.{part}"));
        texts.push(format!("export APP_SECRET=\"{word}\""));
        for text in &texts {
            let [certain] = &secrets(text, Proof::Certain, 9)[..] else { panic!("{text}") };
            let likely = secrets(text, Proof::Likely, 9);
            let hides = |secret: &Secret| {
                secret.hidden().start <= certain.hidden().start
                    && secret.hidden().end >= certain.hidden().end
            };
            assert!(likely.iter().any(hides), "{text}: {likely:?}");
        }
    }

    #[test]
    fn all_ways_to_look_for_a_secret_find_the_same() {
        let token =
            |shape: &TokenShape| format!(" {}{}", shape.prefix, drawn(shape.of, shape.least));
        let shapes = || SHAPES.iter().filter(|shape| shape.most > 0);
        for shape in shapes() {
            let short = token(shape);
            let long = format!("{short}{}", " word: -- ://".repeat(WORTH_BUILDING / 8));
            assert_eq!(certain(&short, 9), certain(&long, 9), "{short}");
        }
        let all: String = shapes().map(token).collect();
        assert_eq!(certain(&all, usize::MAX).len(), shapes().count());
        let found = |places| -> Vec<Secret> {
            Scan { places, ..Scan::new(&all, Proof::Certain) }.collect()
        };
        let by_pairs = found(SecretPositions::Pairs(&CERTAIN));
        let built = searchers(WORTH_BUILDING).expect("too many prefixes to look for at once");
        assert_eq!(found(SecretPositions::Searchers(built, [Some(0); 2])), by_pairs);
        if let Some(places) = PREFIXES.places(all.as_bytes()) {
            assert_eq!(found(SecretPositions::Prefixes(places)), by_pairs);
        }
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
            "DB_PASSWORD=$PASSWORD API_KEY=changeme-12345 MAX_TOKEN=400000000000",
            "KEY_FILE_SECRET=/run/9a8b7c6d5e4f3g2h PRIMARY_KEY=a9b8c7d6e5f4g3h2",
            "AUTH_TOKEN=lexer.next1token2(a3b4)",
            "",
            "-",
            "日本語:/日本語eyJ日本語",
        ] {
            assert_eq!(certain(text, 9), [], "{text}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in ["eyJ", "-----BEGIN ", "://", "ghp_a1", "sk-", "AKIA", "_TOKEN=a1"] {
            let text = piece.repeat(1 << 20 >> 3);
            assert!(certain(&text, 9).len() <= 9);
        }
    }
}
