//! Names with wildcards: `*` matches any number of characters and `?` matches one.

/// Returns whether the whole text matches. The comparison is case-sensitive.
#[must_use]
pub fn is_wildcard_match(pattern: &str, text: &str) -> bool {
    matches(pattern, text, |_| true)
}

/// Returns whether the whole text matches under AgentV's rules: case-insensitive, and
/// wildcards do not match line breaks, like a JavaScript dot.
#[must_use]
pub fn is_agentv_match(pattern: &str, text: &str) -> bool {
    let is_break = |c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    matches(&pattern.to_lowercase(), &text.to_lowercase(), |c| !is_break(c))
}

/// Returns whether the text contains wildcards.
#[must_use]
pub fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Matches with a predicate: `may_stand` decides which characters a wildcard may match.
fn matches(pattern: &str, text: &str, may_stand: impl Fn(char) -> bool) -> bool {
    let (glob, bytes) = (pattern.as_bytes(), text.as_bytes());
    let character = |at: usize| text[at..].chars().next().unwrap_or_default();
    let (mut g, mut t) = (0, 0);
    // Where to go on when a star has to take one character more: only the last
    // star ever has to be tried again.
    let mut star: Option<(usize, usize)> = None;
    while t < bytes.len() {
        match glob.get(g) {
            Some(b'*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(b'?') if may_stand(character(t)) => {
                g += 1;
                t += character(t).len_utf8();
            }
            Some(byte) if *byte != b'?' && *byte == bytes[t] => {
                g += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) if may_stand(character(taken)) => {
                    let taken = taken + character(taken).len_utf8();
                    star = Some((at, taken));
                    (g, t) = (at + 1, taken);
                }
                _ => return false,
            },
        }
    }
    glob[g..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_texts() {
        for (pattern, text, want) in [
            ("*", "", true),
            ("get_*", "get_issue", true),
            ("get_*", "target_issue", false),
            ("*_issue", "get_issue", true),
            ("g?t", "get", true),
            ("g?t", "gt", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbY", false),
            ("?", "ö", true),
            ("*?x", "aöx", true),
            ("*ö?", "ööa", true),
            ("??", "ö", false),
            ("A", "a", false),
            ("a*b", "a\nb", true),
            ("", "", true),
        ] {
            assert_eq!(is_wildcard_match(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn as_agentv_reads_them() {
        for (pattern, name, is_match) in [
            ("LookUp", "lookup", true),
            ("look", "lookup", false),
            ("look*", "lookup", true),
            ("*up", "LOOKUP", true),
            ("l?okup", "lookup", true),
            ("l?kup", "lookup", false),
            ("*", "", true),
            ("?", "", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a.b", "axb", false),
            ("[a]", "[A]", true),
            ("a*b", "a\nb", false),
            ("?", "\n", false),
        ] {
            assert_eq!(is_agentv_match(pattern, name), is_match, "{pattern} {name:?}");
        }
        // Many stars over a long name finish in reasonable time.
        assert!(!is_agentv_match(&"*a".repeat(50), &"a".repeat(40)));
        assert!(!is_agentv_match(&format!("{}b", "*a".repeat(500)), &"a".repeat(50_000)));
    }
}
