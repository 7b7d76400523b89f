//! Masks secrets in text that is displayed or stored.
//!
//! A trace is shared far more freely than the shell it came from, and it contains every key
//! the agent ever printed. The type of a token stays visible (`ghp_…`), the secret itself
//! does not.

use crate::first_look::may_hold_secret;
use crate::names::{is_placeholder, secret_name};
use crate::scan::{Proof, Scan, Secret};
use std::borrow::Cow;
use toolmark_base::sanitize::without_sequences;

/// Replacement text for a secret.
pub const MASK: &str = "[redacted]";

/// Returns the text with its secrets masked.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    // Most texts contain nothing that could begin a secret or an escape sequence.
    if may_hold_secret(text.as_bytes()) { redact_whole(text) } else { Cow::Borrowed(text) }
}

pub(crate) fn redact_whole(text: &str) -> Cow<'_, str> {
    let hidden = masked(text, Scan::new(text, Proof::Likely), MASK);
    // A colour in the middle of a secret, as `grep --color` prints it, hides it from
    // the scan, but not from the reader.
    let Some(plain) = without_sequences(&hidden) else { return hidden };
    match masked(&plain, Scan::new(&plain, Proof::Likely), MASK) {
        Cow::Borrowed(_) => hidden,
        Cow::Owned(hidden) => Cow::Owned(hidden),
    }
}

/// Returns the text with the hidden part of each secret replaced by `mask`. The secrets must
/// be sorted and must not overlap.
#[must_use]
pub fn masked<'t>(
    text: &'t str,
    secrets: impl IntoIterator<Item = Secret>,
    mask: &str,
) -> Cow<'t, str> {
    let mut secrets = secrets.into_iter().peekable();
    if secrets.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for hidden in secrets.map(|secret| secret.hidden()) {
        out.push_str(text.get(from..hidden.start).unwrap_or_default());
        out.push_str(mask);
        from = hidden.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Masks secrets in the value of a field with a known name: the value of a password field is
/// a secret whatever it looks like.
#[must_use]
pub fn redact_named<'t>(name: &str, text: &'t str) -> Cow<'t, str> {
    let value = text.as_bytes();
    match secret_name(name.as_bytes()) {
        Some(name) if name.fits(value) && !is_placeholder(value) && !value.contains(&b'(') => {
            Cow::Borrowed(MASK)
        }
        _ => redact(text),
    }
}

/// Returns the offset that byte `at` of `text` has after redaction.
#[must_use]
pub fn moved(text: &str, at: usize) -> usize {
    let mut shift: isize = 0;
    for hidden in Scan::new(text, Proof::Likely).map(|secret| secret.hidden()) {
        if hidden.end <= at {
            shift += MASK.len() as isize - hidden.len() as isize;
        } else if hidden.start < at {
            return hidden.start.saturating_add_signed(shift);
        }
    }
    at.saturating_add_signed(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a fake secret for the tests. Secrets are assembled at run time so that
    /// repository scanners do not take them for real ones.
    fn fake(prefix: &str, length: usize) -> String {
        let tail: String = "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect();
        format!("{prefix}{tail}")
    }

    #[test]
    fn no_secret_is_overlooked_at_the_first_look() {
        let (token, key) = (fake("ghp_", 36), fake("", 20));
        let parts = [
            "password",
            "PassWd",
            "my_secret",
            "api-key",
            "token",
            "name",
            "=",
            ":",
            ": ",
            " = ",
            "\"",
            "'",
            "\\",
            " ",
            "_",
            "-",
            "--",
            "://",
            "u:pw9@h/",
            "[",
            "\u{1b}[31m",
            "\\u001b[0m",
            "\\e[1m",
            "\n",
            "eyJhbGciOi",
            ".",
            "bearer ",
            "Basic ",
            "…",
            "é",
            "x",
            "5",
            "-----BEGIN PRIVATE KEY-----",
            &token,
            &key,
        ];
        let mut lot = 7_u64;
        let mut held = 0;
        for _ in 0..30_000 {
            let mut text = String::new();
            for _ in 0..6 {
                lot = lot
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[(lot >> 33) as usize % parts.len()]);
            }
            let whole = redact_whole(&text);
            held += usize::from(whole != text);
            assert_eq!(redact(&text), whole, "{text:?}");
        }
        assert!(held > 3_000, "{held} hold something");
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
    fn colours_do_not_show_a_secret() {
        let secret = fake("ghp_", 36);
        let (start, rest) = secret.split_at(4);
        let (half, end) = secret.split_at(20);
        for (red, off) in [
            ("\u{1b}[31m", "\u{1b}[0m"),
            ("\u{1b}[01;31m\u{1b}[K", "\u{1b}[m\u{1b}[K"),
            ("\\u001b[1m", "\\u001b[0m"),
            ("\\x1b[1m", "\\e[0m"),
        ] {
            for text in [
                format!("x{red}{secret}{off}y"),
                format!("use {red}{start}{off}{rest}, please"),
                format!("use {start}{red}{rest}{off}, please"),
                format!("use {half}{red}{end}{off}, please"),
                format!("password={red}hunter2horse{off}"),
            ] {
                let shown = redact(&text);
                assert!(shown.contains(MASK), "{text:?}: {shown:?}");
                assert!(!shown.contains(&secret[24..]), "{text:?}: {shown:?}");
            }
            let plain = format!("{red}nothing{off} to hide[1]");
            assert_eq!(redact(&plain), plain);
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
            let started = toolmark_testing::CpuWatch::start();
            let length = redact(&text).len();
            // Repeated measuring would take minutes.
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
    fn what_is_cut_is_masked_however_short() {
        for (text, want) in [
            ("use ghp_a1B2…", "use ghp_[redacted]…"),
            ("use sk-ant-api03…", "use sk-ant-[redacted]…"),
            ("API_KEY=ab…", "API_KEY=[redacted]…"),
            ("{\"password\":\"h…", "{\"password\":\"[redacted]…"),
            ("Authorization: Bearer a1b2…", "Authorization: Bearer [redacted]…"),
            ("eyJhbGciOiJIUzI1…", "eyJ[redacted]…"),
            ("postgres://me:hun…", "postgres://me:[redacted]…"),
            ("https://example.com:80…", "https://example.com:80…"),
            ("ghp_…", "ghp_…"),
            ("token=…", "token=…"),
        ] {
            assert_eq!(redact(text), want);
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
