//! Exit codes that tools write into the text of their results.

use crate::model::time;
use jiff::SignedDuration;

/// Header that Codex writes before (or around) the output of a command.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Header {
    /// Exit code; `None` while the command is running.
    pub(crate) code: Option<i64>,
    /// Run time of the command.
    pub(crate) wall: Option<SignedDuration>,
}

/// Parses the header of a Codex command's result: lines before `Output:`, or, up to about
/// version 0.40, a JSON object around the output.
///
/// `inner` is the undecoded content of the JSON string in the file: outputs are long, and
/// decoding them only to read a few lines would dominate the cost. The command's own output is
/// never examined.
#[must_use]
pub(crate) fn codex_header(inner: &str) -> Header {
    if inner.starts_with(r#"{\"output\":"#) {
        return codex_metadata(inner);
    }
    let mut header = Header::default();
    for line in inner.split(r"\n").take(8) {
        let line = line.strip_suffix(r"\r").unwrap_or(line);
        if let Some(code) =
            line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code "))
        {
            header.code = leading_number(code);
        } else if let Some(seconds) = line.strip_prefix("Wall time: ") {
            header.wall = seconds_of(seconds.split(' ').next());
        } else if !["Chunk ID: ", "Process running with ", "Original token ", "Total output lines"]
            .iter()
            .any(|known| line.starts_with(known))
        {
            break;
        }
    }
    header
}

/// Parses `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}` inside a string;
/// the metadata follow the output.
fn codex_metadata(inner: &str) -> Header {
    let Some(at) = inner.rfind(r#"\"metadata\":"#) else { return Header::default() };
    let metadata = &inner[at..];
    let behind = |key: &str| metadata.find(key).map(|at| metadata[at + key.len()..].trim_start());
    let seconds = behind(r#"\"duration_seconds\":"#);
    Header {
        code: behind(r#"\"exit_code\":"#).and_then(leading_number),
        wall: seconds_of(seconds.and_then(|s| s.split([',', '}']).next())),
    }
}

fn seconds_of(text: Option<&str>) -> Option<SignedDuration> {
    text?.trim().parse::<f64>().ok().and_then(|seconds| time::millis(seconds * 1e3))
}

/// Returns the exit code stated at the start of a result's text, in the wording of Claude Code
/// (`Exit code 1`) or Codex (`Exit code: 1`, `Process exited with code 1` among the header
/// lines).
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

/// Parses the integer at the start of a text.
#[must_use]
pub(crate) fn leading_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    text[..text.len() - digits.len() + length].parse().ok()
}

/// Returns the exit code in the last line of a result, in the wording of Copilot's shells
/// (`<exited with exit code 1>`, `<shellId: 3 completed with exit code 1>`). The text may
/// still have its JSON escapes.
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

    #[test]
    fn codex_headers() {
        for (inner, code, ms) in [
            (r"Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 9", Some(0), Some(100)),
            (
                r"Chunk ID: a\nWall time: 0.25 seconds\nProcess exited with code 127\nOutput:\n",
                Some(127),
                Some(250),
            ),
            (
                r"Chunk ID: a\nWall time: 30 seconds\nProcess running with session ID 7\nOutput:\n",
                None,
                Some(30_000),
            ),
            (r"Plan updated\nExit code: 1", None, None),
            (r"Wall time: x\nExit code: -1", Some(-1), None),
            (
                r#"{\"output\":\"\\\"exit_code\\\":7\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":1.5}}"#,
                Some(2),
                Some(1500),
            ),
            (r#"{\"output\":\"cut"#, None, None),
            ("", None, None),
        ] {
            let header = codex_header(inner);
            assert_eq!(header.code, code, "{inner}");
            assert_eq!(header.wall.map(|w| w.as_millis()), ms, "{inner}");
        }
    }
}
