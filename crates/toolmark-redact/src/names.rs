//! Names of secrets, and placeholder values that are not secrets.

/// Kinds of names, by how their values are treated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NameKind {
    /// The value is a secret whatever it looks like.
    Password,
    /// The value is a secret if it looks like one.
    Key,
}

/// Names whose value is a secret whatever it looks like.
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "pwd"];
/// Names whose value is a secret if it looks like one.
const KEYS: &[&str] =
    &["secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey"];

/// Whether the name of a secret can end with this byte. Every name in the lists ends with one
/// of a few letters; a separator of words may follow.
pub(crate) fn may_end_name(b: u8) -> bool {
    matches!(b.to_ascii_lowercase(), b'd' | b'e' | b'n' | b't' | b'y' | b'_' | b'-')
}

/// Whether a text may end with the name of a secret. Every name in the lists ends with one of
/// a few pairs of letters.
pub(crate) fn may_end_secret(text: &[u8]) -> bool {
    let letters = text.iter().rev().filter(|b| b.is_ascii_alphanumeric());
    let mut last = letters.map(u8::to_ascii_lowercase);
    matches!(
        (last.next(), last.next()),
        (Some(b'd'), Some(b'r' | b'w'))
            | (Some(b'e'), Some(b's'))
            | (Some(b'n' | b't' | b'y'), Some(b'e'))
    )
}

/// Returns the kind of a name, if it is the name of a secret: `DB_PASSWORD`, `api-key`,
/// `clientSecret`.
pub(crate) fn secret_name(name: &[u8]) -> Option<NameKind> {
    // Letters and digits of the name in reverse, without separators.
    let bare = || name.iter().rev().filter(|b| b.is_ascii_alphanumeric());
    if !may_end_secret(name) {
        return None;
    }
    let ends_with =
        |word: &&str| word.bytes().rev().eq(bare().map(u8::to_ascii_lowercase).take(word.len()));
    let ends = |words: &[&str]| words.iter().any(ends_with);
    if ends(PASSWORDS) {
        Some(NameKind::Password)
    } else if ends(KEYS) {
        Some(NameKind::Key)
    } else {
        None
    }
}

impl NameKind {
    /// Returns the display name of such a secret.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Key => "key in a variable",
        }
    }

    /// Whether a value is long enough to be the kind of secret that its name suggests.
    pub(crate) fn fits(self, value: &[u8]) -> bool {
        value.len() >= if self == Self::Password { 3 } else { 8 }
    }
}

/// Whether a value is the name of a type, a reference or empty.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
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
    let Some(first) = value.first() else { return true };
    b"$<{[(*%&@".contains(first) || WORDS.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
}

/// Whether a value has nothing that a shell or a template would expand.
pub(crate) fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|b| b.is_ascii_graphic() && !b"${}<>*()[]%".contains(b))
}

/// Words that do not occur in real secrets.
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

/// Whether a text looks randomly generated: no placeholder, letters and digits, and enough
/// distinct characters.
pub(crate) fn is_random(tail: &[u8]) -> bool {
    let lower: Vec<u8> = tail.iter().map(u8::to_ascii_lowercase).collect();
    let is_placeholder =
        PLACEHOLDERS.iter().any(|word| lower.windows(word.len()).any(|window| window == *word));
    let digits = tail.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = tail.iter().filter(|b| b.is_ascii_alphabetic()).count();
    !is_placeholder && digits > 0 && letters > 0 && entropy(tail) >= 2.8
}

/// Returns the entropy of a text in bits per byte, from the frequency of each byte.
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
