//! Exit codes that tools write into the text of their results.

/// The exit code stated at the start of a result's text, in the wordings of
/// Claude Code (`Exit code 1`), Codex (`Exit code: 1`, `Process exited with
/// code 1` among the header lines).
#[must_use]
pub(crate) fn in_header(text: &str) -> Option<i64> {
    for line in text.lines().take(8) {
        let line = line.trim();
        for prefix in ["Exit code: ", "Exit code ", "Process exited with code "] {
            if let Some(rest) = line.strip_prefix(prefix) {
                return leading_number(rest);
            }
        }
        // The output begins: what follows was printed by the command.
        if line == "Output:" {
            return None;
        }
    }
    None
}

/// The integer a text starts with.
#[must_use]
pub(crate) fn leading_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    text[..text.len() - digits.len() + length].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings() {
        for (text, want) in [
            ("Exit code 2\nls: no such file", Some(2)),
            ("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nExit code: 9", Some(0)),
            (
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\n",
                Some(127),
            ),
            ("Wall time: 1\nOutput:\nExit code: 1", None),
            ("Plan updated", None),
            ("Exit code -1", Some(-1)),
        ] {
            assert_eq!(in_header(text), want, "{text}");
        }
    }
}
