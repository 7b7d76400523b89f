//! Runs patterns in Node.

use std::io::Write;
use std::process::{Command, Stdio};

/// A pattern and a text.
pub(crate) struct Case {
    pub(crate) source: String,
    pub(crate) flags: String,
    pub(crate) text: String,
}

impl Case {
    pub(crate) fn new(
        source: impl Into<String>,
        flags: impl Into<String>,
        text: impl Into<String>,
    ) -> Case {
        Case { source: source.into(), flags: flags.into(), text: text.into() }
    }
}

/// Parses a pattern with the `u` flag, or without it if that is rejected, and converts
/// positions to bytes.
const SCRIPT: &str = r"
const read = (source, flags) => {
    for (const unicode of ['u', '']) {
        try { return new RegExp(source, flags + unicode + 'd') } catch {}
    }
};
const answer = ([source, flags, text]) => {
    const pattern = read(source, flags);
    if (!pattern) return 'error';
    const found = pattern.exec(text);
    if (!found) return 'none';
    const splits = at => /[\ud800-\udbff]/.test(text[at - 1]) && /[\udc00-\udfff]/.test(text[at]);
    if (found.indices.some(s => s && (splits(s[0]) || splits(s[1])))) return 'split';
    const bytes = end => Buffer.byteLength(text.slice(0, end));
    const span = s => s ? bytes(s[0]) + '..' + bytes(s[1]) : '-';
    return Array.from(found.indices, span).join(' ');
};
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(cases.map(answer)));
";

/// Returns the results of Node, or `None` if Node is not installed.
pub(crate) fn ask(cases: &[Case]) -> Option<Vec<String>> {
    let rows: Vec<_> = cases.iter().map(|case| [&case.source, &case.flags, &case.text]).collect();
    let input = serde_json::to_vec(&rows).unwrap();
    let mut child = Command::new("node")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "node failed");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
