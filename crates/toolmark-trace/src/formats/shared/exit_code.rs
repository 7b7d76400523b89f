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

/// The exit code in the last line of a result, in the wording of Copilot's
/// shells (`<exited with exit code 1>`, `<shellId: 3 completed with exit code 1>`).
/// The text may still have its JSON escapes.
#[must_use]
pub(crate) fn in_last_line(text: &str) -> Option<i64> {
    let (before, code) = text.trim_end().strip_suffix('>')?.rsplit_once(" with exit code ")?;
    let (_, line) = before.rsplit_once('<')?;
    let is_mark = line == "exited" || (line.starts_with("shellId") && line.ends_with("completed"));
    if is_mark { code.parse().ok() } else { None }
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
        for (text, want) in [
            ("no\n<exited with exit code 1>", Some(1)),
            ("a<b\n<shellId: 3 completed with exit code 0>\n", Some(0)),
            ("it exited with exit code 1", None),
            ("<said with exit code 1>", None),
        ] {
            assert_eq!(in_last_line(text), want, "{text}");
        }
    }
}
