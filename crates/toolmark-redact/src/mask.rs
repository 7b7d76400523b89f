//! Hides secrets in what people read and what is kept.
//!
//! A trace is shared far more freely than the shell it came from, and it holds
//! every key the agent ever printed. The mask knows the shapes of the vendors'
//! tokens and the names secrets are assigned to; it goes over a text once and
//! prepares nothing. What a token is stays visible (`ghp_…`), the secret itself
//! does not. It asks for less proof than a finding does: to hide a placeholder
//! is no harm.

use super::shapes::{Of, SECOND, key_label, login, shapes_at};
use std::borrow::Cow;
use std::ops::Range;

/// What stands in place of a secret.
pub const MASK: &str = "[redacted]";

/// Text with its secrets masked.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let secrets = Scan::new(text).all();
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        out.push_str(text.get(from..secret.start).unwrap_or_default());
        out.push_str(MASK);
        from = secret.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// The same for the value of a field whose name is known: a password is one
/// whatever it looks like.
#[must_use]
pub fn redact_named<'t>(name: &str, text: &'t str) -> Cow<'t, str> {
    let is_secret = |name| is_long(name, text.as_bytes()) && is_secret_value(text.as_bytes());
    match secret_name(name.as_bytes()) {
        Some(name) if is_secret(name) => Cow::Borrowed(MASK),
        _ => redact(text),
    }
}

/// Where byte `at` of `text` is once it is redacted.
#[must_use]
pub fn moved(text: &str, at: usize) -> usize {
    let mut shift: isize = 0;
    for secret in Scan::new(text).all() {
        if secret.end <= at {
            shift += MASK.len() as isize - secret.len() as isize;
        } else if secret.start < at {
            return secret.start.saturating_add_signed(shift);
        }
    }
    at.saturating_add_signed(shift)
}

/// The bytes at which a secret may be found out, each with a bit for every byte
/// that may follow; all others are passed over.
const TRIGGER: [u128; 256] = {
    let mut trigger = SECOND;
    trigger[b'-' as usize] |= 1 << b'-';
    trigger[b'=' as usize] = u128::MAX;
    trigger[b':' as usize] = u128::MAX;
    let letters = *b"aAeE";
    let mut at = 0;
    while at < letters.len() {
        trigger[b'b' as usize] |= 1 << letters[at];
        trigger[b'B' as usize] |= 1 << letters[at];
        at += 1;
    }
    trigger
};

/// One pass over a text. It remembers what it measured, so that a text made to
/// be measured over and over takes no longer than any other.
struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Runs of token characters: from where, to where.
    tokens: [Range<usize>; 2],
    /// A run of what a value without quotes is made of.
    bare: Range<usize>,
    digit: Next,
    paren: Next,
}

/// The next place of some byte, of all places from `from` on.
#[derive(Default)]
struct Next {
    from: usize,
    at: usize,
}

impl Next {
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

/// The first place from `at` on where `test` does not hold.
fn end_of(bytes: &[u8], at: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|b| !test(*b)).map_or(bytes.len(), |n| at + n)
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            tokens: [0..0, 0..0],
            bare: 0..0,
            digit: Next::default(),
            paren: Next::default(),
        }
    }

    /// The places of all secrets, in order and apart.
    fn all(mut self) -> Vec<Range<usize>> {
        let bytes = self.bytes;
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            let follows = TRIGGER[usize::from(first)];
            let next = bytes.get(at + 1).copied().unwrap_or_default();
            if follows == 0 || follows >> (next & 127) & 1 == 0 {
                at += 1;
                continue;
            }
            let secret = match first {
                b'-' => self.private_key(at).or_else(|| self.flag(at)),
                b'=' => self.assignment(at),
                b':' => self.url_password(at).or_else(|| self.assignment(at)),
                _ if !begins_word(bytes, at) => None,
                _ => self.token(at).or_else(|| self.authorization(at)),
            };
            match secret {
                // Secrets begin and end beside ASCII, hence between characters.
                Some(secret) if secret.end > secret.start => {
                    at = secret.end.max(at + 1);
                    found.push(secret);
                }
                _ => at += 1,
            }
        }
        found
    }

    /// Where the run of token characters ends that `at` is in.
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

    /// A token of the table, or a web token.
    fn token(&mut self, at: usize) -> Option<Range<usize>> {
        for shape in shapes_at(self.bytes, at) {
            let start = at + shape.prefix.len();
            let (end, least) = match (shape.masked_from, shape.of) {
                (Some(least), _) => (self.token_end(start), least),
                (None, Of::Token) => (self.token_end(start), shape.least),
                (None, of) => {
                    // What is no token goes on at most as long as the longest.
                    let rest = self.bytes.get(start..).unwrap_or_default();
                    let run = rest.iter().take(shape.most).take_while(|b| of.holds(**b)).count();
                    let end = if run >= shape.least { self.token_end(start + run) } else { start };
                    (end, shape.least)
                }
            };
            let tail = start..end;
            if tail.len() >= least && self.has_digit(&tail) {
                return Some(tail);
            }
        }
        self.web_token(at)
    }

    /// `eyJ….eyJ….signature`
    fn web_token(&mut self, at: usize) -> Option<Range<usize>> {
        if !self.bytes.get(at..)?.starts_with(b"eyJ") {
            return None;
        }
        let head = self.token_end(at);
        if head - at < 12 || self.bytes.get(head) != Some(&b'.') {
            return None;
        }
        let body = self.token_end(head + 1);
        if body - head < 8 || self.bytes.get(body) != Some(&b'.') {
            return None;
        }
        Some(at + 3..end_of(self.bytes, body + 1, is_token))
    }

    /// `Bearer …` and `Basic …`
    fn authorization(&mut self, at: usize) -> Option<Range<usize>> {
        let scheme = ["bearer ", "basic "].into_iter().find(|scheme| {
            let word = self.bytes.get(at..at + scheme.len());
            word.is_some_and(|word| word.eq_ignore_ascii_case(scheme.as_bytes()))
        })?;
        let start = at + scheme.len();
        let is_part = |b| is_token(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=');
        let range = start..end_of(self.bytes, start, is_part);
        (range.len() >= 16 && self.has_digit(&range)).then_some(range)
    }

    /// A private key up to its end, or to the end of the text.
    fn private_key(&self, at: usize) -> Option<Range<usize>> {
        let start = key_label(self.bytes, at)?;
        let body = self.text.get(start..)?;
        Some(start..body.find("-----END").map_or(self.bytes.len(), |n| start + n))
    }

    /// The password in `scheme://user:password@host`.
    fn url_password(&self, at: usize) -> Option<Range<usize>> {
        let password = login(self.bytes, at, usize::MAX, None)?.password;
        is_secret_value(self.bytes.get(password.clone())?).then_some(password)
    }

    /// `--password hunter2`
    fn flag(&mut self, at: usize) -> Option<Range<usize>> {
        let before = at.checked_sub(1).and_then(|at| self.bytes.get(at));
        if before.is_some_and(|b| !b.is_ascii_whitespace()) {
            return None;
        }
        let end = self.token_end(at + 2);
        let name = secret_name(self.bytes.get(at + 2..end)?)?;
        if self.bytes.get(end) != Some(&b' ') || self.bytes.get(end + 1) == Some(&b'-') {
            return None;
        }
        self.value(end + 1, name)
    }

    /// `NAME=value`, `"name": "value"`, `name: value`; `at` is the sign between.
    fn assignment(&mut self, at: usize) -> Option<Range<usize>> {
        const LONGEST_NAME: usize = 64;
        let bytes = self.bytes;
        if matches!(bytes.get(at + 1), Some(b'=' | b'>' | b':' | b'~')) {
            return None;
        }
        let before = bytes.get(..at)?.iter().rev();
        let gap = |b: &&u8| matches!(**b, b' ' | b'"' | b'\'' | b'\\');
        let end = at - before.clone().take(4).take_while(gap).count();
        let length = bytes.get(..end)?.iter().rev().take(LONGEST_NAME);
        let start = end - length.take_while(|b| is_token(**b)).count();
        let name = secret_name(bytes.get(start..end)?)?;
        let spaces = bytes.get(at + 1..)?.iter().take(4).take_while(|b| **b == b' ').count();
        (spaces < 4).then(|| self.value(at + 1 + spaces, name)).flatten()
    }

    /// The secret that starts at `at`, in quotes or not.
    fn value(&mut self, at: usize, name: Name) -> Option<Range<usize>> {
        let bytes = self.bytes;
        let opening = end_of(bytes, at, |b| b == b'\\');
        let quote = bytes.get(opening).copied().filter(|b| matches!(b, b'"' | b'\'' | b'`'));
        let range = match quote {
            Some(quote) => {
                let is_inside = |b| b != quote && b != b'\n' && b != b'\\';
                opening + 1..end_of(bytes, opening + 1, is_inside)
            }
            None => at..self.bare_end(at),
        };
        let value = bytes.get(range.clone())?;
        let wanted = match name {
            Name::Key if quote.is_none() => value.len() >= 8 && self.has_digit(&range),
            _ => is_long(name, value),
        };
        let mut calls = || self.paren.within(bytes, &range, |b| *b == b'(');
        (wanted && is_no_placeholder(value) && !calls()).then_some(range)
    }
}

/// Does a word begin here? In JSON text an escape may stand before it.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b't' | b'r') => before(2) == Some(b'\\'),
        Some(b) => !is_word(b),
    }
}

/// Names whose value is a secret whatever it looks like.
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "pwd"];
/// Names whose value is a secret if it looks like one.
const KEYS: &[&str] =
    &["secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey"];

/// How careful one has to be with a value.
#[derive(Clone, Copy, PartialEq)]
enum Name {
    Password,
    Key,
}

/// Is this the name of a secret? `DB_PASSWORD`, `api-key`, `clientSecret`.
fn secret_name(name: &[u8]) -> Option<Name> {
    // Without what stands between the words of a name, from its end.
    let bare = || name.iter().rev().filter(|b| b.is_ascii_alphanumeric());
    // Every name in the lists ends in one of these.
    if !bare().next().is_some_and(|b| b"dentyDENTY".contains(b)) {
        return None;
    }
    let ends_with =
        |word: &&str| word.bytes().rev().eq(bare().map(u8::to_ascii_lowercase).take(word.len()));
    let ends = |words: &[&str]| words.iter().any(ends_with);
    if ends(PASSWORDS) {
        Some(Name::Password)
    } else if ends(KEYS) {
        Some(Name::Key)
    } else {
        None
    }
}

/// Is a value that stands for itself long enough to be what its name says?
fn is_long(name: Name, value: &[u8]) -> bool {
    value.len() >= if name == Name::Password { 3 } else { 8 }
}

/// Placeholders, types, calls and references are no secrets.
fn is_secret_value(value: &[u8]) -> bool {
    is_no_placeholder(value) && !value.contains(&b'(')
}

fn is_no_placeholder(value: &[u8]) -> bool {
    const WORDS: [&str; 14] = [
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "string",
        "str",
        "text",
        "number",
        "bool",
        "boolean",
        "option",
        "optional",
    ];
    let Some(first) = value.first() else { return false };
    !b"$<{[(*%&@".contains(first) && !WORDS.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Secrets of the tests are put together here so that no scanner of
    /// repositories takes them for real ones.
    fn fake(prefix: &str, length: usize) -> String {
        let tail: String = "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect();
        format!("{prefix}{tail}")
    }

    #[test]
    fn tokens_are_masked() {
        for (prefix, length) in [
            ("ghp_", 36),
            ("github_pat_", 40),
            ("sk-", 48),
            ("sk-ant-api03-", 40),
            ("xoxb-", 24),
            ("glpat-", 20),
            ("AIza", 35),
            ("npm_", 36),
        ] {
            let secret = fake(prefix, length);
            let shown = redact(&format!("use {secret}, please")).into_owned();
            assert!(!shown.contains(&secret[prefix.len() + 16..]), "{shown}");
            assert!(shown.starts_with("use ") && shown.ends_with("[redacted], please"), "{shown}");
        }
        let aws = format!("AKIA{}", "Q3EGRIDVNJ5XTAYZ");
        assert_eq!(redact(&aws), "AKIA[redacted]");
        let jwt = format!("{}.{}.{}", fake("eyJ", 20), fake("eyJ", 30), fake("s", 30));
        assert_eq!(redact(&jwt), "eyJ[redacted]");
        let header = format!("Authorization: Bearer {}", fake("", 24));
        assert_eq!(redact(&header), "Authorization: Bearer [redacted]");
    }

    #[test]
    fn every_shape_is_masked() {
        for shape in crate::shapes::SHAPES {
            let drawn = "3f9c2b7a1e5d8046C2F19B7E3A5D8046".chars().cycle();
            let tail: String = drawn.filter(|c| shape.of.holds(*c as u8)).take(110).collect();
            let least = shape.masked_from.unwrap_or(shape.least);
            let token = format!("{}{}", shape.prefix, &tail[..least]);
            for before in ["", "x ", "\"", "\\n", "/"] {
                let want = format!("{before}{}[redacted], then", shape.prefix);
                assert_eq!(redact(&format!("{before}{token}, then")), want);
            }
            let short = format!("x{token}");
            assert_eq!(redact(&short), short, "the middle of a word");
        }
    }

    #[test]
    fn names_of_fields_count() {
        for (name, text, want) in [
            ("password", "hunter2", MASK),
            ("apiKey", "abcdefghij", MASK),
            ("apiKey", "abc", "abc"),
            ("password", "$DB_PASSWORD", "$DB_PASSWORD"),
            ("max_tokens", "4096000000", "4096000000"),
            ("command", "mysql --password hunter2", "mysql --password [redacted]"),
        ] {
            assert_eq!(redact_named(name, text), want, "{name}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in ["eyJ-", "token=", "sk-", "token=1(", "eyJaaaaaaaaa.", "://", "token=\"("] {
            let text = piece.repeat((1 << 20) / piece.len());
            let started = std::time::Instant::now();
            let length = redact(&text).len();
            // Measured over and over, it would take minutes.
            assert!(started.elapsed().as_secs() < 20, "{piece} {length}");
        }
    }

    #[test]
    fn assignments_are_masked() {
        for (text, want) in [
            ("DB_PASSWORD=hunter2 make", "DB_PASSWORD=[redacted] make"),
            (r#"{"password": "hunter2"}"#, r#"{"password": "[redacted]"}"#),
            (r#"{\"apiKey\":\"abcd1234efgh\"}"#, r#"{\"apiKey\":\"[redacted]\"}"#),
            ("password: hunter2\nuser: x", "password: [redacted]\nuser: x"),
            ("mysql --password hunter2 -u me", "mysql --password [redacted] -u me"),
            ("mysql --password=hunter2", "mysql --password=[redacted]"),
            ("export API_KEY='abcdefgh12'", "export API_KEY='[redacted]'"),
            ("postgres://me:hunter2@db/x", "postgres://me:[redacted]@db/x"),
            ("client_secret=ab12cd34ef&x=1", "client_secret=[redacted]&x=1"),
        ] {
            assert_eq!(redact(text), want);
            assert_eq!(redact(want), want, "a mask is left alone");
        }
    }

    #[test]
    fn private_keys_are_masked_to_their_end() {
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        assert_eq!(
            redact(&format!("a\n{begin}\nMIIE\nxyz\n{end}\nb")),
            format!("a\n{begin}[redacted]{end}\nb")
        );
        assert_eq!(redact(&format!("{begin}\nMIIE")), format!("{begin}[redacted]"));
        let public = "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----";
        assert_eq!(redact(public), public);
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "let token = lexer.next_token();",
            "max_tokens=4096",
            "\"input_tokens\": 123456789",
            "password = getpass()",
            "if password == other { }",
            "PASSWORD=$DB_PASSWORD",
            "struct User { password: String }",
            "Token::Identifier12345678",
            "task-12345678901234567890",
            "the sk-loading-indicator-animation class",
            "https://example.com:8080/a@b",
            "bearer of bad internationalization",
            "Enter password: ",
            "日本語 = 日本語:日本語--日本語",
            "=::=--=:",
            "",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn a_place_moves_with_the_text() {
        let text = "password=hunter2 then";
        assert_eq!(moved(text, 17), "password=[redacted] ".len());
        assert_eq!(moved(text, 12), "password=".len());
        assert_eq!(moved(text, 3), 3);
    }
}
