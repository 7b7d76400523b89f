//! Hides secrets in what people read.
//!
//! A trace is shared far more freely than the shell it came from, and it holds
//! every key the agent ever printed. The scanner knows the shapes of common
//! tokens and the names secrets are assigned to; it goes over a text once and
//! compiles nothing at start-up. What a token is stays visible (`ghp_…`), the
//! secret itself does not.

use crate::text::{head, squeezed};
use std::borrow::Cow;
use std::ops::Range;

/// What people may see of a trace: all of it, or all but its secrets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Veil {
    redacts: bool,
}

/// The text a one-line glance is taken from.
const GLANCE: usize = 8 << 10;

impl Veil {
    pub(crate) fn new(redacts: bool) -> Self {
        Self { redacts }
    }

    /// Text as it may be seen.
    pub(crate) fn shown(self, text: &str) -> Cow<'_, str> {
        if self.redacts { redact(text) } else { Cow::Borrowed(text) }
    }

    /// The start of a text as it may be seen, on one line.
    pub(crate) fn glance(self, text: &str) -> String {
        squeezed(&self.shown(head(text, GLANCE)))
    }
}

/// What stands in place of a secret.
const MASK: &str = "[redacted]";

/// Text with its secrets masked.
fn redact(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        out.push_str(&text[from..secret.start]);
        out.push_str(MASK);
        from = secret.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Where byte `at` of `text` is once it is redacted.
pub(crate) fn moved(text: &str, at: usize) -> usize {
    let mut shift: isize = 0;
    for secret in secrets(text) {
        if secret.end <= at {
            shift += MASK.len() as isize - secret.len() as isize;
        } else if secret.start < at {
            return secret.start.saturating_add_signed(shift);
        }
    }
    at.saturating_add_signed(shift)
}

/// The places of all secrets, in order and apart.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let first = bytes[at];
        if !TRIGGER[usize::from(first)] {
            at += 1;
            continue;
        }
        let secret = match first {
            b'-' => private_key(text, at).or_else(|| flag(bytes, at)),
            b'=' => assignment(bytes, at),
            b':' => url_password(bytes, at).or_else(|| assignment(bytes, at)),
            c if c.is_ascii_alphabetic() && (at == 0 || !is_word(bytes[at - 1])) => {
                known_token(bytes, at).or_else(|| authorization(bytes, at))
            }
            _ => None,
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

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_token(b: u8) -> bool {
    is_word(b) || b == b'-'
}

/// The first place from `at` on where `test` does not hold.
fn end_of(bytes: &[u8], at: usize, test: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|b| !test(*b)).map_or(bytes.len(), |n| at + n)
}

fn has_digit(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit)
}

/// Prefixes that announce a token, and the least that must follow.
const TOKENS: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("dop_v1_", 32),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("hf_", 30),
    ("npm_", 30),
    ("pypi-", 32),
    ("rk_live_", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("sk-", 20),
    ("xapp-", 16),
    ("xoxa-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxr-", 16),
    ("xoxs-", 16),
];

/// The bytes that tokens begin with.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut at = 0;
    while at < TOKENS.len() {
        first[TOKENS[at].0.as_bytes()[0] as usize] = true;
        at += 1;
    }
    first
};

/// The bytes at which a secret may be found out; all others are passed over.
const TRIGGER: [bool; 256] = {
    let mut trigger = FIRST;
    let others = b"-=:eEbB";
    let mut at = 0;
    while at < others.len() {
        trigger[others[at] as usize] = true;
        at += 1;
    }
    trigger
};

fn known_token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &bytes[at..];
    let second = rest.get(1).copied();
    for (prefix, least) in TOKENS {
        // Most words differ in their first two letters.
        let [first, next, ..] = prefix.as_bytes() else { continue };
        if bytes[at] == *first && second == Some(*next) && rest.starts_with(prefix.as_bytes()) {
            let start = at + prefix.len();
            let end = end_of(bytes, start, is_token);
            let tail = &bytes[start..end];
            return (tail.len() >= *least && has_digit(tail)).then_some(start..end);
        }
    }
    json_web_token(bytes, at)
}

/// `eyJ….eyJ….signature`
fn json_web_token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let head = end_of(bytes, at, is_token);
    let body = end_of(bytes, (head + 1).min(bytes.len()), is_token);
    let dots = bytes.get(head) == Some(&b'.') && bytes.get(body) == Some(&b'.');
    if !dots || head - at < 12 || body - head < 8 {
        return None;
    }
    Some(at + 3..end_of(bytes, body + 1, is_token))
}

/// `Bearer …` and `Basic …`
fn authorization(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !matches!(bytes[at], b'b' | b'B') {
        return None;
    }
    let scheme = ["bearer ", "basic "].into_iter().find(|s| {
        bytes.get(at..at + s.len()).is_some_and(|b| b.eq_ignore_ascii_case(s.as_bytes()))
    })?;
    let start = at + scheme.len();
    let end =
        end_of(bytes, start, |b| is_token(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'='));
    (end - start >= 16 && has_digit(&bytes[start..end])).then_some(start..end)
}

/// `-----BEGIN … PRIVATE KEY-----` up to its end, or to the end of the text.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let label = rest.strip_prefix("-----BEGIN ")?;
    let label_end = label.find("-----")?;
    if label_end > 40 || !label[..label_end].ends_with("PRIVATE KEY") {
        return None;
    }
    let start = at + "-----BEGIN ".len() + label_end + "-----".len();
    let end = text[start..].find("-----END").map_or(text.len(), |n| start + n);
    Some(start..end)
}

/// The password in `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"://") {
        return None;
    }
    let start = at + 3;
    let end = end_of(bytes, start, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>')
    });
    let host = bytes[start..end].iter().rposition(|b| *b == b'@')?;
    let colon = bytes[start..start + host].iter().position(|b| *b == b':')?;
    let password = start + colon + 1..start + host;
    is_secret_value(&bytes[password.clone()]).then_some(password)
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

/// `--password hunter2`
fn flag(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"--") || at > 0 && !bytes[at - 1].is_ascii_whitespace() {
        return None;
    }
    let end = end_of(bytes, at + 2, is_token);
    let name = secret_name(&bytes[at + 2..end])?;
    if bytes.get(end) != Some(&b' ') || bytes.get(end + 1) == Some(&b'-') {
        return None;
    }
    value(bytes, end + 1, name)
}

/// `NAME=value`, `"name": "value"`, `name: value`; `at` is the sign between.
fn assignment(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if matches!(bytes.get(at + 1), Some(b'=' | b'>' | b':' | b'~')) {
        return None;
    }
    const LONGEST_NAME: usize = 64;
    let mut end = at;
    while end > 0 && at - end < 4 && matches!(bytes[end - 1], b' ' | b'"' | b'\'' | b'\\') {
        end -= 1;
    }
    let mut start = end;
    while start > 0 && end - start < LONGEST_NAME && is_token(bytes[start - 1]) {
        start -= 1;
    }
    let name = secret_name(&bytes[start..end])?;
    let spaces = end_of(bytes, at + 1, |b| b == b' ');
    (spaces - at <= 4).then(|| value(bytes, spaces, name)).flatten()
}

/// The secret that starts at `at`, in quotes or not.
fn value(bytes: &[u8], at: usize, name: Name) -> Option<Range<usize>> {
    let opening = end_of(bytes, at, |b| b == b'\\');
    let quote = bytes.get(opening).copied().filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let start = if quote.is_some() { opening + 1 } else { at };
    let end = match quote {
        Some(quote) => end_of(bytes, start, |b| b != quote && b != b'\n' && b != b'\\'),
        None => {
            end_of(bytes, start, |b| !b.is_ascii_whitespace() && !br#""'`,;&|<>)}]\"#.contains(&b))
        }
    };
    let value = &bytes[start..end];
    let plausible = match name {
        Name::Password => value.len() >= 3,
        Name::Key if quote.is_some() => value.len() >= 8,
        Name::Key => value.len() >= 8 && has_digit(value),
    };
    (plausible && is_secret_value(value)).then_some(start..end)
}

/// Placeholders, types, calls and references are no secrets.
fn is_secret_value(value: &[u8]) -> bool {
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
    !b"$<{[(*%&@".contains(first)
        && !value.contains(&b'(')
        && !WORDS.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
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
