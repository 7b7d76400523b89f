//! File names for cases and targets.

use crate::workspace::hex;
use sha2::{Digest, Sha256};

/// Maximum length of a file name.
const MAX_NAME: usize = 80;

/// Converts a name to a file name that stays inside its directory on every system. Names that would
/// collide get a distinguishing suffix.
#[must_use]
pub fn file_name(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let safe: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    let is_same = safe == name
        && !name.is_empty()
        && !name.starts_with('.')
        && !name.ends_with('.')
        && name.len() <= MAX_NAME
        // Some systems do not tell capitals apart.
        && !name.chars().any(|c| c.is_ascii_uppercase());
    if is_same {
        return safe;
    }
    let digest = Sha256::digest(name.as_bytes());
    let mark = hex(digest.get(..4).unwrap_or_default());
    let short: String = safe.trim_matches('.').chars().take(MAX_NAME - 9).collect();
    format!("{short}-{mark}")
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_are_harmless_and_apart() {
        assert_eq!(file_name("eval-001.a_b"), "eval-001.a_b");
        for (one, other) in [("a/b", "a_b"), ("A", "a"), ("..", "."), ("é", "è"), ("", "-")] {
            assert_ne!(file_name(one), file_name(other));
        }
        for hostile in ["../../etc", "/", "..", ".", "", "a\0b", "con:"] {
            let name = file_name(hostile);
            assert!(!name.contains(['/', '\0', ':']) && !name.starts_with('.'), "{name}");
        }
        assert!(file_name(&"x".repeat(500)).len() <= 80);
    }
}
