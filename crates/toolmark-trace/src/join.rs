//! Joins a run with its sub-agents where they are in files of their own.

use crate::diagnostic::Diagnostic;
use crate::format::Format;
use crate::model::{Parent, Trajectory};
use crate::read::{Options, ReadError, read_path};
use std::path::Path;

/// A file read whole, sub-agents joined to the calls that started them.
pub struct Loaded {
    /// The runs.
    pub runs: Vec<Trajectory>,
    /// The format of the file.
    pub format: &'static dyn Format,
    /// What could not be read, in this file and its companions.
    pub diagnostics: Vec<Diagnostic>,
    /// How many lines, records or entries could not be read.
    pub skipped: u64,
}

/// What joining sub-agents could not read.
#[derive(Debug, Default)]
pub struct Joined {
    /// The problems, with their places.
    pub diagnostics: Vec<Diagnostic>,
    /// How many files, lines or records could not be read.
    pub skipped: u64,
}

/// Reads a file and the files of its sub-agents.
///
/// [`read_path`] reads one file and holds one run at a time; this holds them all.
pub fn load_path(path: impl AsRef<Path>, options: &Options) -> Result<Loaded, ReadError> {
    let path = path.as_ref();
    let mut runs = read_path(path, options)?;
    let mut loaded = Loaded {
        runs: runs.by_ref().collect(),
        format: runs.format(),
        diagnostics: runs.diagnostics().to_vec(),
        skipped: runs.skipped(),
    };
    for run in &mut loaded.runs {
        let joined = join_sub_agents(run, path, loaded.format, options);
        loaded.diagnostics.extend(joined.diagnostics);
        loaded.skipped += joined.skipped;
    }
    Ok(loaded)
}

/// Reads the files of a run's sub-agents, where its format keeps them apart,
/// and attaches them to the calls that started them.
pub fn join_sub_agents(
    run: &mut Trajectory,
    path: &Path,
    format: &dyn Format,
    options: &Options,
) -> Joined {
    let mut joined = Joined::default();
    for file in format.companions(path, run) {
        let mut found = match read_path(&file, options) {
            Ok(found) => found,
            Err(error) => {
                joined.skipped += 1;
                joined.diagnostics.push(Diagnostic::from_error(&error));
                continue;
            }
        };
        for child in found.by_ref() {
            attach(run, child);
        }
        joined.skipped += found.skipped();
        joined.diagnostics.extend_from_slice(found.diagnostics());
    }
    joined
}

/// Hangs a sub-agent's run under the call that started it. A run that is
/// already there (older versions copied them) is not added again.
fn attach(run: &mut Trajectory, mut child: Trajectory) {
    if child.id.is_some() && run.children.iter().any(|c| c.id == child.id) {
        return;
    }
    let call = run.calls.iter().find(|c| c.spawned.is_some() && c.spawned == child.id);
    child.parent =
        Some(Parent { trajectory: run.id.clone(), call: call.and_then(|c| c.id.clone()) });
    run.children.push(child);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn sub_agents_of_both_layouts_are_joined() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s1.jsonl");
        fs::write(
            &session,
            r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s1","message":{"content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s1","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}]}}
{"type":"user","uuid":"3","parentUuid":"2","sessionId":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"toolUseResult":{"agentId":"aa"}}
"#,
        )
        .unwrap();
        let line = |agent: &str, session: &str| {
            format!(
                r#"{{"type":"user","uuid":"{agent}","parentUuid":null,"isSidechain":true,"agentId":"{agent}","sessionId":"{session}","message":{{"content":"sub"}}}}"#
            )
        };
        fs::create_dir_all(dir.path().join("s1/subagents")).unwrap();
        fs::write(dir.path().join("s1/subagents/agent-aa.jsonl"), line("aa", "s1")).unwrap();
        fs::write(dir.path().join("agent-bb.jsonl"), line("bb", "s1")).unwrap();
        fs::write(dir.path().join("agent-cc.jsonl"), line("cc", "another")).unwrap();

        let loaded = load_path(&session, &Options::default()).unwrap();
        let children: Vec<_> = loaded.runs[0]
            .children
            .iter()
            .map(|c| {
                let call = c.parent.as_ref().and_then(|p| p.call.clone());
                (c.id.clone().unwrap().to_string(), call.map(|c| c.to_string()))
            })
            .collect();
        let expected = [("bb".to_owned(), None), ("aa".to_owned(), Some("t1".to_owned()))];
        assert_eq!(children.len(), 2);
        assert!(expected.iter().all(|e| children.contains(e)), "{children:?}");
        assert_eq!(loaded.skipped, 0);
    }
}
