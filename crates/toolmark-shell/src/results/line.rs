//! Patterns of output lines: literal text, `*` for any text, and `#` for a number above zero.

/// Maximum length of a line that is compared; longer lines are content, not messages.
const MAX_LINE: usize = 400;

/// Whether a pattern describes a whole line.
pub(super) fn matches(pattern: &str, line: &str) -> bool {
    line.len() <= MAX_LINE && matches_bytes(pattern.as_bytes(), line.as_bytes(), None)
}

fn matches_bytes(pattern: &[u8], line: &[u8], before: Option<u8>) -> bool {
    match pattern.split_first() {
        None => line.is_empty(),
        Some((b'*', [])) => true,
        Some((b'*', rest)) => (0..=line.len()).any(|at| {
            let before = at.checked_sub(1).and_then(|at| line.get(at)).copied().or(before);
            // Most positions differ in the first byte.
            let may = match (rest.first(), line.get(at)) {
                (Some(b'#'), Some(next)) => next.is_ascii_digit(),
                (Some(first), next) => next == Some(first),
                (None, _) => true,
            };
            may && matches_bytes(rest, line.get(at..).unwrap_or_default(), before)
        }),
        Some((b'#', rest)) => {
            let digits = line.iter().take_while(|b| b.is_ascii_digit() || **b == b',').count();
            let (number, after) = line.split_at(digits);
            let is_whole = !before.is_some_and(|b| b.is_ascii_digit() || b == b'.');
            is_whole
                && number.iter().any(|b| (b'1'..=b'9').contains(b))
                && matches_bytes(rest, after, number.last().copied())
        }
        Some((first, rest)) => match line.split_first() {
            Some((next, after)) => next == first && matches_bytes(rest, after, Some(*next)),
            None => false,
        },
    }
}

/// Returns a line without blanks around it and without the escape sequences of terminals.
pub(super) fn plain(line: &str) -> std::borrow::Cow<'_, str> {
    let line = line.trim();
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    for (at, piece) in line.split('\u{1b}').enumerate() {
        let shown = match piece.strip_prefix('[').filter(|_| at > 0) {
            Some(rest) => rest.find(|c: char| c.is_ascii_alphabetic()).map(|end| &rest[end + 1..]),
            None => Some(piece),
        };
        out.push_str(shown.unwrap_or_default());
    }
    out.trim().to_owned().into()
}

#[cfg(test)]
mod tests {
    use super::{matches, plain};

    #[test]
    fn patterns() {
        for (pattern, line, want) in [
            ("fatal: *", "fatal: not a git repository", true),
            ("fatal: *", "a fatal: x", false),
            ("*# failed*", "Tests: 12 failed, 3 passed", true),
            ("*# failed*", "Tests: 0 failed, 3 passed", false),
            ("*# failed*", "Tests: 10 failed", true),
            ("*# failed*", "took 1.0 failed", false),
            ("# errors", "1,024 errors", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ] {
            assert_eq!(matches(pattern, line), want, "{pattern:?} {line:?}");
        }
    }

    #[test]
    fn lines_are_plain() {
        assert_eq!(
            plain(" \u{1b}[31m3 failed\u{1b}[0m | \u{1b}[32m1 passed\u{1b}[39m "),
            "3 failed | 1 passed"
        );
        assert_eq!(plain("x\u{1b}["), "x");
    }
}
