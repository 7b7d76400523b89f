//! The frame that hosts put around the output of a command: its exit code, its duration, notes.

/// The output of a command without the frame of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputFrame<'t> {
    /// Output of the command.
    pub body: &'t str,
    /// Exit code in the frame.
    pub exit_code: Option<i64>,
    /// Lines before the body, among them notes of the host.
    pub head: &'t str,
}

/// Lines with which the head of a result begins.
const HEADS: &[&str] = &[
    "Chunk ID: ",
    "Exit code: ",
    "Wall time",
    "Command: ",
    "Process exited with code ",
    "Process running with session ID ",
    "Script completed",
    "Script running",
    "Script failed",
    "<returncode>",
    "<exception>",
];

/// Lines after which the output of the command begins.
const BODIES: &[&str] = &["Output:", "<output>", "Stdout:", "Command output:"];

/// Texts before an exit code.
const CODES: &[&str] = &[
    "Process exited with code ",
    "process exited with code ",
    "Command exited with code ",
    "completed with exit code ",
    "exited with exit code ",
    "finished with exit code ",
    "Exit code: ",
    "Exit Code: ",
    "exit code: ",
    "Exit code ",
    "<returncode>",
];

/// Notes of hosts in place of an empty output.
const EMPTY: &[&str] = &[
    "(Bash completed with no output)",
    "(PowerShell completed with no output)",
    "(no output)",
    "(No output)",
    "(empty)",
    "[no output]",
    "<no output>",
    "No output",
    "Tool ran without output or errors",
    "Your command ran successfully and did not produce any output.",
    "Command executed successfully with no output",
];

/// Beginnings of the last lines of a result that are notes of its host.
const TAILS: &[&str] = &[
    "</output>",
    "<shellId: ",
    "<exited with ",
    "<command with ",
    "[The command completed with exit code ",
    "[Command finished with exit code ",
    "[Command completed with exit code ",
    "[Current working directory: ",
    "[Python interpreter: ",
    "Shell cwd was reset to ",
    "Command exited with code ",
    "(Command exited with code ",
    "Process exited with code ",
    "Error: (none)",
    "Exit Code: ",
    "Signal: ",
    "Background PIDs: ",
    "Process Group PGID: ",
    "</error>",
    "{\"detailedContent\": ",
    "<bash_metadata>",
    "</bash_metadata>",
];

/// Removes the frame of a host.
#[must_use]
pub fn unframe(text: &str) -> OutputFrame<'_> {
    let text = text.trim_end();
    let inner = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    let inner = inner.strip_suffix("</tool_use_error>").unwrap_or(inner);
    let (head, body) = split_head(inner);
    let (body, of_tail) = strip_tails(body);
    let body = if EMPTY.contains(&body.trim()) { "" } else { body };
    OutputFrame { body, exit_code: of_tail.or_else(|| head.lines().find_map(code_in)), head }
}

fn split_head(text: &str) -> (&str, &str) {
    /// Maximum number of lines of a head.
    const MAX_LINES: usize = 8;
    // Claude Code: the code on a line of its own.
    if let Some(rest) = text.strip_prefix("Exit code ") {
        let end = rest.find('\n').unwrap_or(rest.len());
        let (digits, body) = rest.split_at(end);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return (&text[..text.len() - body.len()], body.trim_start_matches('\n'));
        }
    }
    if !HEADS.iter().any(|head| text.starts_with(head)) {
        return ("", text);
    }
    let mut at = 0;
    for line in text.split_inclusive('\n').take(MAX_LINES) {
        if let Some(rest) = BODIES.iter().find_map(|mark| line.strip_prefix(mark)) {
            let body = at + line.len() - rest.len();
            return (&text[..at], text[body..].trim_start_matches(['\n', ' ']));
        }
        at += line.len();
    }
    ("", text)
}

/// Removes notes at the end, and returns the exit code in one of them.
fn strip_tails(mut body: &str) -> (&str, Option<i64>) {
    let mut code = None;
    loop {
        let trimmed = body.trim_end();
        let at = trimmed.rfind('\n').map_or(0, |at| at + 1);
        let last = &trimmed[at..];
        if !TAILS.iter().any(|tail| last.starts_with(tail)) {
            return (body, code);
        }
        code = code.or_else(|| code_in(last));
        body = &body[..at];
    }
}

fn code_in(line: &str) -> Option<i64> {
    let rest = CODES.iter().find_map(|mark| line.split_once(mark))?.1;
    let is_digit = |c: char| c.is_ascii_digit() || c == '-';
    rest.split(|c| !is_digit(c)).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::unframe;

    #[test]
    fn frames() {
        for (text, body, code) in [
            ("Exit code 2\nmake: no", "make: no", Some(2)),
            ("Exit code 1", "", Some(1)),
            (
                "Chunk ID: 1a\nWall time: 1.0 seconds\nProcess exited with code 1\nOutput:\nx\ny\n",
                "x\ny",
                Some(1),
            ),
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\nok", "ok", Some(0)),
            ("<returncode>1</returncode>\n<output>\nx\n</output>", "x\n", Some(1)),
            ("a\n<shellId: 3 completed with exit code 0>", "a\n", Some(0)),
            ("<tool_use_error>File does not exist.</tool_use_error>", "File does not exist.", None),
            (
                "Command: ls\nDirectory: (root)\nOutput: a\nb\nError: (none)\nExit Code: 0\nSignal: 0",
                "a\nb\n",
                Some(0),
            ),
            ("(no output)", "", None),
            ("a\nShell cwd was reset to /w", "a\n", None),
            ("plain\nOutput:\nx", "plain\nOutput:\nx", None),
            ("a\n\nCommand exited with code 3", "a\n\n", Some(3)),
        ] {
            let frame = unframe(text);
            assert_eq!((frame.body, frame.exit_code), (body, code), "{text:?}");
        }
    }
}
