//! Helpers for unit tests of the readers.

use crate::model::{EventKind, Trajectory};
use crate::read::{ReadOptions, read};
use std::fmt::Write;

/// Result of reading a text.
pub(crate) struct TestRead {
    pub(crate) runs: Vec<Trajectory>,
    pub(crate) format: &'static str,
    pub(crate) skipped: u64,
    pub(crate) messages: Vec<String>,
}

/// Reads `text` as a file whose format must be detected.
pub(crate) fn read_text(text: &str) -> TestRead {
    read_bytes(text.as_bytes())
}

/// Returns the error of reading a text of an unknown format.
pub(crate) fn read_text_error(text: &str) -> String {
    let stream = std::io::Cursor::new(text.as_bytes().to_vec());
    read(stream, "test", &ReadOptions::default()).unwrap_err().to_string()
}

/// Reads a small file of a format for which there is also a snapshot.
pub(crate) fn read_fixture(name: &str) -> TestRead {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/readers");
    read_bytes(&std::fs::read(format!("{directory}/{name}")).unwrap())
}

/// Reads bytes as a file whose format must be detected.
pub(crate) fn read_bytes(bytes: &[u8]) -> TestRead {
    let stream = std::io::Cursor::new(bytes.to_vec());
    let mut runs = read(stream, "test", &ReadOptions::default()).unwrap();
    let all = runs.by_ref().collect();
    let messages = runs.diagnostics().iter().map(|d| d.message.clone()).collect();
    TestRead { runs: all, format: runs.format().info().id, skipped: runs.skipped(), messages }
}

/// Formats a trajectory as one line per event, for readable assertions:
///
/// ```text
/// user: fix it
/// 0 call Bash {"command":"ls"} -> failed(protocol) exit 1: no such file
/// 0 message: done
/// ```
pub(crate) fn sketch(run: &Trajectory) -> String {
    let mut out = String::new();
    sketch_into(run, "", &mut out);
    out
}

fn sketch_into(run: &Trajectory, indent: &str, out: &mut String) {
    for event in &run.events {
        let words = event.text.as_ref().map(|t| t.plain().into_owned()).unwrap_or_default();
        let step = event.step.map(|s| format!("{s} ")).unwrap_or_default();
        let line = match &event.kind {
            EventKind::Call(i) => {
                let call = &run.calls[*i as usize];
                let args = call.args.as_ref().map(|a| a.raw().into_owned()).unwrap_or_default();
                let result = match &call.result {
                    None => String::new(),
                    Some(r) => {
                        r.payload.as_ref().map(|p| p.plain().into_owned()).unwrap_or_default()
                    }
                };
                let level = format!("{:?}", call.level).to_lowercase();
                let exit = call.exit_code.map(|c| format!(" exit {c}")).unwrap_or_default();
                format!(
                    "{step}call {} {args} -> {}({level}){exit}: {result}",
                    call.name.full(),
                    call.status.word()
                )
            }
            EventKind::Result(_) => continue,
            EventKind::Unknown(kind) => format!("unknown {kind}"),
            EventKind::Note(kind) => format!("note {kind}"),
            other => format!("{step}{}: {words}", format!("{other:?}").to_lowercase()),
        };
        let _ = writeln!(out, "{indent}{line}");
    }
    for child in &run.children {
        let name = child.id.as_ref().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "{indent}sub-agent {name}");
        sketch_into(child, &format!("{indent}  "), out);
    }
}
