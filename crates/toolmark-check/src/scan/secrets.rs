//! Finds secrets by their shape: the prefix a vendor gives its tokens, the
//! characters and length of what follows, and enough disorder in it to be no
//! placeholder. One pass, nothing prepared at start-up; works on decoded text
//! and on the text inside JSON strings alike.

use aho_corasick::packed::{Builder, Searcher};
use std::ops::Range;
use std::sync::LazyLock;

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

/// The characters of a token after its prefix.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Token,
    /// Digits and lower-case letters up to `f`.
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Letters, digits, `_`, `-`, `.`, `+`, `/`, `=` and `%`.
    Base64,
}

impl Of {
    fn holds(self, b: u8) -> bool {
        match self {
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Token => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            Self::Hex => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Base64 => {
                b.is_ascii_alphanumeric()
                    || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'%')
            }
        }
    }
}

/// One vendor's tokens: what they begin with, what follows, and how much of it.
struct Shape {
    what: &'static str,
    prefix: &'static str,
    of: Of,
    least: usize,
    most: usize,
}

const fn shape(
    what: &'static str,
    prefix: &'static str,
    of: Of,
    least: usize,
    most: usize,
) -> Shape {
    Shape { what, prefix, of, least, most }
}

/// The table. A longer prefix stands before a shorter one it begins with.
const SHAPES: &[Shape] = &[
    shape("AWS access key id", "AKIA", Of::Upper, 16, 16),
    shape("AWS temporary key id", "ASIA", Of::Upper, 16, 16),
    shape("Google API key", "AIza", Of::Token, 35, 35),
    shape("Google OAuth secret", "GOCSPX-", Of::Token, 28, 28),
    shape("Google OAuth token", "ya29.", Of::Token, 40, 600),
    shape("GitHub token", "ghp_", Of::Alnum, 36, 36),
    shape("GitHub OAuth token", "gho_", Of::Alnum, 36, 36),
    shape("GitHub user token", "ghu_", Of::Alnum, 36, 36),
    shape("GitHub server token", "ghs_", Of::Alnum, 36, 36),
    shape("GitHub refresh token", "ghr_", Of::Alnum, 36, 76),
    shape("GitHub fine-grained token", "github_pat_", Of::Token, 60, 100),
    shape("GitLab token", "glpat-", Of::Token, 20, 60),
    shape("GitLab pipeline token", "glptt-", Of::Hex, 40, 40),
    shape("GitLab runner token", "glrt-", Of::Token, 20, 40),
    shape("Anthropic key", "sk-ant-", Of::Token, 60, 140),
    shape("OpenAI project key", "sk-proj-", Of::Token, 40, 200),
    shape("OpenAI service key", "sk-svcacct-", Of::Token, 40, 200),
    shape("OpenRouter key", "sk-or-v1-", Of::Hex, 64, 64),
    shape("OpenAI key", "sk-", Of::Alnum, 48, 48),
    shape("Hugging Face token", "hf_", Of::Alnum, 34, 40),
    shape("Replicate token", "r8_", Of::Alnum, 37, 40),
    shape("Groq key", "gsk_", Of::Alnum, 50, 60),
    shape("xAI key", "xai-", Of::Alnum, 70, 90),
    shape("Perplexity key", "pplx-", Of::Alnum, 40, 60),
    shape("Stripe secret key", "sk_live_", Of::Alnum, 24, 200),
    shape("Stripe restricted key", "rk_live_", Of::Alnum, 24, 200),
    shape("Stripe webhook secret", "whsec_", Of::Base64, 32, 64),
    shape("Slack bot token", "xoxb-", Of::Token, 40, 80),
    shape("Slack user token", "xoxp-", Of::Token, 40, 90),
    shape("Slack app token", "xapp-", Of::Token, 60, 120),
    shape("Slack webhook", "hooks.slack.com/services/T", Of::Base64, 40, 60),
    shape("Discord webhook", "discord.com/api/webhooks/", Of::Base64, 80, 100),
    shape("npm token", "npm_", Of::Alnum, 36, 36),
    shape("PyPI token", "pypi-AgE", Of::Token, 100, 300),
    shape("RubyGems key", "rubygems_", Of::Hex, 48, 48),
    shape("crates.io token", "cio", Of::Alnum, 32, 32),
    shape("Docker token", "dckr_pat_", Of::Token, 27, 40),
    shape("DigitalOcean token", "dop_v1_", Of::Hex, 64, 64),
    shape("DigitalOcean OAuth token", "doo_v1_", Of::Hex, 64, 64),
    shape("Heroku key", "HRKU-", Of::Token, 36, 70),
    shape("SendGrid key", "SG.", Of::Base64, 60, 70),
    shape("Mailgun key", "key-", Of::Hex, 32, 32),
    shape("Shopify token", "shpat_", Of::Hex, 32, 32),
    shape("Linear key", "lin_api_", Of::Alnum, 40, 40),
    shape("Notion token", "ntn_", Of::Alnum, 40, 60),
    shape("Databricks token", "dapi", Of::Hex, 32, 32),
    shape("Vault token", "hvs.", Of::Token, 60, 130),
    shape("Grafana token", "glsa_", Of::Token, 40, 50),
    shape("New Relic key", "NRAK-", Of::Upper, 27, 27),
    shape("Doppler token", "dp.pt.", Of::Alnum, 43, 43),
    shape("Age secret key", "AGE-SECRET-KEY-1", Of::Upper, 58, 58),
    shape("Tailscale key", "tskey-", Of::Token, 30, 80),
];

/// What a secret may begin with, looked for all at once. Built when the first
/// text is scanned.
static STARTS: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    let mut starts = Builder::new();
    starts.extend(SHAPES.iter().map(|shape| shape.prefix));
    starts.extend(["eyJ", "-----BEGIN", "://"]);
    starts.build()
});

/// The secrets of a text, in order; no more than `most`.
#[must_use]
pub fn secrets(text: &str, most: usize) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < most
        && let Some(at) = next_start(bytes, from)
    {
        let secret = match bytes.get(at) {
            Some(b'-') => private_key(text, at),
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

/// The next place where a secret may begin. Where the processor has nothing to
/// look for many texts at once with, that is every place.
fn next_start(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..).filter(|rest| !rest.is_empty())?;
    match &*STARTS {
        Some(searcher) => searcher.find(rest).map(|found| from + found.start()),
        None => Some(from),
    }
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
    let rest = bytes.get(at..)?;
    let shape = SHAPES.iter().find(|shape| {
        rest.starts_with(shape.prefix.as_bytes()) && {
            let length = run(bytes, at + shape.prefix.len(), shape.of, shape.most);
            (shape.least..=shape.most).contains(&length)
        }
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
fn private_key(text: &str, at: usize) -> Option<Secret> {
    let label = text.get(at..)?.strip_prefix("-----BEGIN ")?;
    let end = label.bytes().take(40).position(|b| b == b'-')?;
    if !label.get(..end)?.ends_with("PRIVATE KEY") || !label.get(end..)?.starts_with("-----") {
        return None;
    }
    let shown = "-----BEGIN ".len() + end + 5;
    let start = at + shown;
    let body = text.get(start..)?.as_bytes();
    // The line break, as itself or as an escape of JSON.
    let skipped = body.iter().take(4).position(|b| !matches!(b, b'\n' | b'\r' | b'\\' | b'n'))?;
    let length = run(body, skipped, Of::Base64, 64);
    let first = body.get(skipped..skipped + length)?;
    let end = start + skipped + length;
    (length >= 40 && is_random(first)).then_some(Secret {
        what: "private key",
        range: at..end,
        shown,
    })
}

/// The password in `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Secret> {
    const MOST: usize = 200;
    let rest = bytes.get(at..)?.strip_prefix(b"://")?;
    let is_end = |b: &u8| {
        b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    };
    let end = rest.iter().take(MOST).position(is_end).unwrap_or(rest.len().min(MOST));
    let authority = rest.get(..end)?;
    let host = authority.iter().rposition(|b| *b == b'@')?;
    let colon = authority.get(..host)?.iter().position(|b| *b == b':')?;
    let password = authority.get(colon + 1..host)?;
    let host_name = authority.get(host + 1..)?;
    let local = [&b"localhost"[..], b"127.", b"0.0.0.0", b"example", b"host", b"db", b"postgres"]
        .iter()
        .any(|name| host_name.starts_with(name));
    let plain = password.iter().all(|b| b.is_ascii_graphic() && !b"${}<>*()[]%".contains(b));
    let user_is_password = authority.get(..colon) == Some(password);
    (password.len() >= 10 && plain && !local && !user_is_password && is_random(password)).then(
        || Secret {
            what: "password in an address",
            range: at + 3..at + 3 + host,
            shown: colon + 1,
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
        for shape in SHAPES {
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
