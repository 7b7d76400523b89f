//! Files of a directory that repeat the same run.
//!
//! A run directory of AgentV contains each run three times: as a row of `index.jsonl`, as
//! `transcript.jsonl` and as `trace.json`. The transcript is the most complete; the others would
//! count as further trials.

use super::InputFile;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Number of bytes that identify a file.
const HEAD: u64 = 8 << 10;
/// Maximum length of an index row.
const LONGEST_ROW: u64 = 4 << 20;

/// Name of files that may repeat a run.
const TRACE: &str = "trace.json";
const INDEX: &str = "index.jsonl";

/// Removes files whose runs are also in another of the inputs.
pub(super) fn leave_out(inputs: &mut Vec<InputFile>) {
    let may_repeat =
        |path: &Path| path.file_name().is_some_and(|name| name == TRACE || name == INDEX);
    // Of a million other files, no second list is made.
    if !inputs.iter().filter_map(InputFile::path).any(may_repeat) {
        return;
    }
    let paths: HashSet<&Path> = inputs.iter().filter_map(InputFile::path).collect();
    let is_kept = |input: &InputFile| !input.path().is_some_and(|path| is_repeated(path, &paths));
    let mut kept = inputs.iter().map(is_kept).collect::<Vec<bool>>().into_iter();
    inputs.retain(|_| kept.next().unwrap_or(true));
}

fn is_repeated(path: &Path, paths: &HashSet<&Path>) -> bool {
    let Some((name, folder)) = path.file_name().zip(path.parent()) else { return false };
    if name == TRACE {
        let transcript = folder.join("transcript.jsonl");
        return paths.contains(&*transcript)
            && says(path, "agentv.trace.v1")
            && says(&transcript, "agentv.transcript.v1");
    }
    name == INDEX && has_transcript(path, folder, paths)
}

fn says(path: &Path, schema: &str) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(schema)
}

/// Whether a row of an index has its transcript among the files.
fn has_transcript(index: &Path, folder: &Path, paths: &HashSet<&Path>) -> bool {
    let Ok(mut rows) = File::open(index).map(BufReader::new) else { return false };
    let mut row = Vec::new();
    loop {
        row.clear();
        match rows.by_ref().take(LONGEST_ROW).read_until(b'\n', &mut row) {
            Ok(1..) => {}
            _ => return false,
        }
        let Ok(row) = serde_json::from_slice::<Value>(&row) else { return false };
        let path = row.get("transcript_path").and_then(Value::as_str);
        if path.is_some_and(|path| paths.contains(&*folder.join(path))) {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::expand;
    use std::fs;

    #[test]
    fn a_run_directory_has_each_run_once() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let row = |case: &str| {
            format!(
                "{{\"test_id\":\"{case}\",\"transcript_path\":\"s/{case}/outputs/transcript.jsonl\"}}\n"
            )
        };
        write("run/index.jsonl", &(row("b") + &row("a")));
        write(
            "run/s/a/outputs/transcript.jsonl",
            "{\"schema_version\":\"agentv.transcript.v1\"}\n",
        );
        write("run/s/a/outputs/trace.json", "{\"schema_version\": \"agentv.trace.v1\"}");
        // Others with these names are others.
        write("bare/index.jsonl", &row("a"));
        write("other/transcript.jsonl", "{}");
        write("other/trace.json", "{}");
        let root = dir.path().to_string_lossy().into_owned() + "/";
        let names: Vec<String> = expand(&[dir.path().to_owned()])
            .iter()
            .map(|input| input.name().replace(&root, ""))
            .collect();
        let expected = [
            "bare/index.jsonl",
            "other/trace.json",
            "other/transcript.jsonl",
            "run/s/a/outputs/transcript.jsonl",
        ];
        assert_eq!(names, expected);
    }
}
