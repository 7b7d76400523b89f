//! Shapes of secrets: the table of vendor tokens, and parsers for the label of a private key
//! and for a URL with a password.

use std::ops::Range;

/// Character sets of tokens after their prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
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
    pub(crate) fn holds(self, b: u8) -> bool {
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

/// Token shape of one vendor: prefix, character set and length.
#[derive(Debug)]
pub(crate) struct TokenShape {
    /// Display name: `GitHub token`.
    pub(crate) what: &'static str,
    pub(crate) prefix: &'static str,
    /// Character set of a real token after its prefix.
    pub(crate) of: Of,
    /// Minimum length after the prefix; `most`, the maximum, is 0 if such a token is not
    /// reported.
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Minimum length from which any such token is masked, if less than the length of a real
    /// one: output may hide too much rather than too little.
    pub(crate) masked_from: Option<usize>,
}

const fn shape(
    what: &'static str,
    prefix: &'static str,
    of: Of,
    least: usize,
    most: usize,
) -> TokenShape {
    TokenShape { what, prefix, of, least, most, masked_from: None }
}

/// Defines a token that is masked but not reported, such as a test key or an obsolete kind.
const fn hidden(what: &'static str, prefix: &'static str, masked_from: usize) -> TokenShape {
    shape(what, prefix, Of::Token, 0, 0).masked_from(masked_from)
}

impl TokenShape {
    const fn masked_from(mut self, least: usize) -> Self {
        self.masked_from = Some(least);
        self
    }
}

/// Table of token shapes. A longer prefix precedes a shorter one with which it begins.
pub(crate) const SHAPES: &[TokenShape] = &[
    shape("AWS access key id", "AKIA", Of::Upper, 16, 16).masked_from(16),
    shape("AWS temporary key id", "ASIA", Of::Upper, 16, 16).masked_from(16),
    shape("Google API key", "AIza", Of::Token, 35, 35).masked_from(30),
    shape("Google OAuth secret", "GOCSPX-", Of::Token, 28, 28),
    shape("Google OAuth token", "ya29.", Of::Token, 40, 600),
    shape("GitHub token", "ghp_", Of::Alnum, 36, 36).masked_from(30),
    shape("GitHub OAuth token", "gho_", Of::Alnum, 36, 36).masked_from(30),
    shape("GitHub user token", "ghu_", Of::Alnum, 36, 36).masked_from(30),
    shape("GitHub server token", "ghs_", Of::Alnum, 36, 36).masked_from(30),
    shape("GitHub refresh token", "ghr_", Of::Alnum, 36, 76).masked_from(30),
    shape("GitHub fine-grained token", "github_pat_", Of::Token, 60, 100).masked_from(22),
    shape("GitLab token", "glpat-", Of::Token, 20, 60).masked_from(20),
    shape("GitLab pipeline token", "glptt-", Of::Hex, 40, 40),
    shape("GitLab runner token", "glrt-", Of::Token, 20, 40),
    shape("Anthropic key", "sk-ant-", Of::Token, 60, 140),
    shape("OpenAI project key", "sk-proj-", Of::Token, 40, 200),
    shape("OpenAI service key", "sk-svcacct-", Of::Token, 40, 200),
    shape("OpenRouter key", "sk-or-v1-", Of::Hex, 64, 64),
    shape("OpenAI key", "sk-", Of::Alnum, 48, 48).masked_from(20),
    shape("Hugging Face token", "hf_", Of::Alnum, 34, 40).masked_from(30),
    shape("Replicate token", "r8_", Of::Alnum, 37, 40),
    shape("Groq key", "gsk_", Of::Alnum, 50, 60),
    shape("xAI key", "xai-", Of::Alnum, 70, 90),
    shape("Perplexity key", "pplx-", Of::Alnum, 40, 60),
    shape("Stripe secret key", "sk_live_", Of::Alnum, 24, 200).masked_from(16),
    shape("Stripe restricted key", "rk_live_", Of::Alnum, 24, 200).masked_from(16),
    hidden("Stripe test key", "sk_test_", 16),
    shape("Stripe webhook secret", "whsec_", Of::Base64, 32, 64),
    shape("Slack bot token", "xoxb-", Of::Token, 40, 80).masked_from(16),
    shape("Slack user token", "xoxp-", Of::Token, 40, 90).masked_from(16),
    shape("Slack app token", "xapp-", Of::Token, 60, 120).masked_from(16),
    hidden("Slack workspace token", "xoxa-", 16),
    hidden("Slack refresh token", "xoxr-", 16),
    hidden("Slack legacy token", "xoxs-", 16),
    shape("Slack webhook", "hooks.slack.com/services/T", Of::Base64, 40, 60),
    shape("Discord webhook", "discord.com/api/webhooks/", Of::Base64, 80, 100),
    shape("npm token", "npm_", Of::Alnum, 36, 36).masked_from(30),
    shape("PyPI token", "pypi-AgE", Of::Token, 100, 300),
    hidden("PyPI token", "pypi-", 32),
    shape("RubyGems key", "rubygems_", Of::Hex, 48, 48),
    shape("crates.io token", "cio", Of::Alnum, 32, 32),
    shape("Docker token", "dckr_pat_", Of::Token, 27, 40),
    shape("DigitalOcean token", "dop_v1_", Of::Hex, 64, 64).masked_from(32),
    shape("DigitalOcean OAuth token", "doo_v1_", Of::Hex, 64, 64),
    shape("Heroku key", "HRKU-", Of::Token, 36, 70),
    shape("SendGrid key", "SG.", Of::Base64, 60, 70),
    shape("Mailgun key", "key-", Of::Hex, 32, 32),
    shape("Shopify token", "shpat_", Of::Hex, 32, 32),
    shape("Linear key", "lin_api_", Of::Alnum, 40, 40).masked_from(30),
    shape("Notion token", "ntn_", Of::Alnum, 40, 60),
    shape("Databricks token", "dapi", Of::Hex, 32, 32),
    shape("Vault token", "hvs.", Of::Token, 60, 130),
    shape("Grafana token", "glsa_", Of::Token, 40, 50),
    shape("New Relic key", "NRAK-", Of::Upper, 27, 27),
    shape("Doppler token", "dp.pt.", Of::Alnum, 43, 43),
    shape("Age secret key", "AGE-SECRET-KEY-1", Of::Upper, 58, 58),
    shape("Tailscale key", "tskey-", Of::Token, 30, 80),
];

/// Prefixes of the shapes that are reported.
pub(crate) const FINDINGS: [&str; COUNT] = {
    let (mut prefixes, mut count, mut at) = ([""; COUNT], 0, 0);
    while at < SHAPES.len() {
        if SHAPES[at].most > 0 {
            prefixes[count] = SHAPES[at].prefix;
            count += 1;
        }
        at += 1;
    }
    prefixes
};

/// Number of shapes that are reported.
const COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < SHAPES.len() {
        count += (SHAPES[at].most > 0) as usize;
        at += 1;
    }
    count
};

/// For each first byte, the shapes whose prefix begins with it, as one bit each.
const BY_FIRST: [u64; 256] = {
    let mut shapes = [0; 256];
    let mut at = 0;
    while at < SHAPES.len() {
        shapes[SHAPES[at].prefix.as_bytes()[0] as usize] |= 1 << at;
        at += 1;
    }
    shapes
};

/// Returns the shapes whose prefix is at `at`.
pub(crate) fn shapes_at(bytes: &[u8], at: usize) -> impl Iterator<Item = &'static TokenShape> {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut left = rest.first().map_or(0, |first| BY_FIRST[usize::from(*first)]);
    std::iter::from_fn(move || {
        let shape = SHAPES.get(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(shape)
    })
    .filter(move |shape| rest.starts_with(shape.prefix.as_bytes()))
}

/// Returns the end of the label of a private key that begins at `at`:
/// `-----BEGIN … PRIVATE KEY-----`.
pub(crate) fn key_label(bytes: &[u8], at: usize) -> Option<usize> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const LONGEST: usize = 40;
    let label = bytes.get(at..)?.strip_prefix(BEGIN)?;
    let label = label.get(..LONGEST + 5).unwrap_or(label);
    let end = memchr::memmem::find(label, b"-----")?;
    label.get(..end)?.ends_with(b"PRIVATE KEY").then_some(at + BEGIN.len() + end + 5)
}

/// User and password of `scheme://user:password@host`.
pub(crate) struct Login {
    /// Range of `user:password`.
    pub(crate) whole: Range<usize>,
    pub(crate) password: Range<usize>,
    /// Range of the host, up to the first slash.
    pub(crate) host: Range<usize>,
}

/// Finds the login of a URL whose colon is at `at`, within `most` bytes. `stop` is an
/// additional byte that ends a URL.
pub(crate) fn login(bytes: &[u8], at: usize, most: usize, stop: Option<u8>) -> Option<Login> {
    let start = at + 3;
    let rest = bytes.get(at..)?.strip_prefix(b"://")?;
    let is_end = |b: &u8| {
        b.is_ascii_whitespace()
            || matches!(b, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>')
            || Some(*b) == stop
    };
    let end = rest.iter().take(most).position(is_end).unwrap_or(rest.len().min(most));
    let authority = rest.get(..end)?;
    let host = match memchr::memrchr(b'@', authority) {
        Some(host) => host,
        // The rest was cut away, and a port is a number.
        None => {
            let left = authority.strip_suffix("…".as_bytes())?;
            let colon = memchr::memchr(b':', left)?;
            let is_port = left.get(colon + 1..)?.iter().all(u8::is_ascii_digit);
            (!is_port).then_some(left.len())?
        }
    };
    let colon = memchr::memchr(b':', authority.get(..host)?)?;
    Some(Login {
        whole: start..start + host,
        password: start + colon + 1..start + host,
        host: start + host + 1..start + end,
    })
}
