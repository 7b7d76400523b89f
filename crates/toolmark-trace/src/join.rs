//! Joins a run with sub-agents that are stored in separate files.

use crate::diagnostic::Diagnostic;
use crate::format::Format;
use crate::model::{Fact, MAX_DEPTH, Parent, Text, Trajectory};
use crate::read::{ReadError, ReadOptions, read_path};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A completely loaded file, with sub-agents joined to the calls that started them.
pub struct LoadedFile {
    /// Runs.
    pub runs: Vec<Trajectory>,
    /// Format of the file.
    pub format: &'static dyn Format,
    /// Problems found in this file and its companions.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of lines, records or entries that could not be read.
    pub skipped: u64,
}

/// Problems found while joining sub-agents.
#[derive(Debug, Default)]
pub struct Joined {
    /// Problems with their positions.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of files, lines or records that could not be read.
    pub skipped: u64,
}

/// Reads a file and the files of its sub-agents.
///
/// [`read_path`] reads one file and holds one run at a time; this function holds all of them.
pub fn load_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<LoadedFile, ReadError> {
    let path = path.as_ref();
    let mut runs = read_path(path, options)?;
    let mut loaded = LoadedFile {
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

/// Reads the files of a run's sub-agents if the format stores them separately, and attaches
/// them to the calls that started them; also processes the sub-agents' own sub-agents.
pub fn join_sub_agents(
    run: &mut Trajectory,
    path: &Path,
    format: &dyn Format,
    options: &ReadOptions,
) -> Joined {
    let mut joined = Joined::default();
    let mut read = HashSet::from([path.to_owned()]);
    join_below(run, path, format, options, &mut read, 0, &mut joined);
    joined
}

/// Joins the sub-agents of a run. `read` holds the files that have been read: files of a
/// broken store may refer to each other.
fn join_below(
    run: &mut Trajectory,
    path: &Path,
    format: &dyn Format,
    options: &ReadOptions,
    read: &mut HashSet<PathBuf>,
    depth: usize,
    joined: &mut Joined,
) {
    for file in format.companions(path, run) {
        if depth >= MAX_DEPTH || !read.insert(file.clone()) {
            continue;
        }
        let mut found = match read_path(&file, options) {
            Ok(found) => found,
            Err(error) => {
                joined.skipped += 1;
                joined.diagnostics.push(Diagnostic::from_error(&error));
                continue;
            }
        };
        for mut child in found.by_ref() {
            join_below(&mut child, &file, format, options, read, depth + 1, joined);
            attach(run, child);
        }
        joined.skipped += found.skipped();
        joined.diagnostics.extend_from_slice(found.diagnostics());
    }
}

/// Returns the IDs of sub-agents that calls of `run` started and that are not among its
/// children.
pub(crate) fn missing_sub_agents(run: &Trajectory) -> Vec<String> {
    let is_missing = |id: &&Text| !run.children.iter().any(|c| c.id.as_ref() == Some(*id));
    let spawned = run.calls.iter().filter_map(|c| c.spawned.as_ref());
    spawned.filter(is_missing).map(ToString::to_string).filter(|id| !id.is_empty()).collect()
}

/// Returns the files of a directory whose names satisfy `test`, sorted.
pub(crate) fn files_in(directory: &Path, test: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_wanted = |entry: &std::fs::DirEntry| entry.file_name().to_str().is_some_and(&test);
    let mut files: Vec<_> = entries.filter(is_wanted).map(|e| e.path()).collect();
    files.sort();
    files
}

/// Returns whether the first bytes of a file contain one of these texts.
pub(crate) fn begins_with_any(path: &Path, marks: &[String]) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(8 << 10).read_to_end(&mut head));
    let has = |mark: &String| memchr::memmem::find(&head, mark.as_bytes()).is_some();
    read.is_ok() && marks.iter().any(has)
}

/// Attaches a sub-agent's run to the call that started it. A run that is already attached
/// (older versions copied them) is not added again.
fn attach(run: &mut Trajectory, mut child: Trajectory) {
    if child.id.is_some() && run.children.iter().any(|c| c.id == child.id) {
        return;
    }
    let call = run.calls.iter().find(|c| c.spawned.is_some() && c.spawned == child.id);
    child.parent =
        Some(Parent { trajectory: run.id.clone(), call: call.and_then(|c| c.id.clone()) });
    run.fidelity.gain(Fact::SubAgents);
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

        let loaded = load_path(&session, &ReadOptions::default()).unwrap();
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

    fn children(path: &Path) -> Vec<(String, Option<String>, usize)> {
        let loaded = load_path(path, &ReadOptions::default()).unwrap();
        assert_eq!(loaded.skipped, 0);
        let text = |t: &Option<Text>| t.as_ref().map(ToString::to_string);
        let runs = loaded.runs[0].flatten();
        runs[1..]
            .iter()
            .map(|c| {
                let call = c.parent.as_ref().and_then(|p| text(&p.call));
                (text(&c.id).unwrap_or_default(), call, c.calls.len())
            })
            .collect()
    }

    #[test]
    fn codex_threads_are_joined_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        let rollout = |day: &str, id: &str, parent: &str, spawns: &str| {
            let dir = dir.path().join(day);
            fs::create_dir_all(&dir).unwrap();
            let source = match parent {
                "" => r#""cli""#.to_owned(),
                parent => format!(
                    r#"{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{parent}","depth":1}}}}}}"#
                ),
            };
            let lines = [
                format!(
                    r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{{"id":"{id}","source":{source}}}}}"#
                ),
                format!(
                    r#"{{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{{"type":"function_call","name":"spawn_agent","arguments":"{{}}","call_id":"c{id}"}}}}"#
                ),
                format!(
                    r#"{{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{{"type":"function_call_output","call_id":"c{id}","output":"{{\"agent_id\":\"{spawns}\"}}"}}}}"#
                ),
            ];
            let file = dir.join(format!("rollout-2026-01-01T00-00-00-{id}.jsonl"));
            fs::write(&file, lines.join("\n")).unwrap();
            file
        };
        let top = rollout("01", "r1", "", "r2");
        // On the next day, and with one that names the first again.
        rollout("02", "r2", "r1", "r3");
        rollout("02", "r3", "r2", "r1");
        assert_eq!(
            children(&top),
            [("r2".into(), Some("cr1".into()), 1), ("r3".into(), Some("cr2".into()), 1)]
        );
    }

    #[test]
    fn gemini_sub_agents_lie_in_a_folder_of_their_session() {
        let dir = tempfile::tempdir().unwrap();
        let header = |id: &str, kind: &str| {
            format!(
                r#"{{"sessionId":"{id}","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"{kind}"}}"#
            )
        };
        let answer = r#"{"id":"1","type":"gemini","content":"","toolCalls":[{"id":"k","name":"investigate","args":{},"agentId":"sub1","status":"success","result":[]}]}"#;
        let top = dir.path().join("session-2026-01-01T00-00-abcd.jsonl");
        fs::write(&top, format!("{}\n{answer}\n", header("abcd", "main"))).unwrap();
        fs::create_dir(dir.path().join("abcd")).unwrap();
        let own = format!("{}\n{answer}\n", header("sub1", "subagent"));
        fs::write(dir.path().join("abcd/sub1.jsonl"), own).unwrap();
        assert_eq!(children(&top), [("sub1".into(), Some("k".into()), 1)]);
    }

    #[test]
    fn opencode_exports_beside_each_other_are_joined() {
        let dir = tempfile::tempdir().unwrap();
        let export = |name: &str, id: &str, parent: &str, child: &str| {
            let parent = match parent {
                "" => String::new(),
                parent => format!(r#","parentID":"{parent}""#),
            };
            let file = dir.path().join(name);
            let text = format!(
                r#"{{"info":{{"id":"{id}","title":"t","directory":"/w"{parent}}},"messages":[{{"info":{{"id":"m{id}","role":"assistant","sessionID":"{id}"}},"parts":[{{"id":"p{id}","messageID":"m{id}","sessionID":"{id}","type":"tool","tool":"task","callID":"k{id}","state":{{"status":"completed","input":{{}},"output":"x","metadata":{{"sessionId":"{child}"}}}}}}]}}]}}"#
            );
            fs::write(&file, text).unwrap();
            file
        };
        let top = export("a.json", "ses_1", "", "ses_2");
        export("b.json", "ses_2", "ses_1", "none");
        export("c.json", "ses_9", "ses_8", "none");
        assert_eq!(children(&top), [("ses_2".into(), Some("kses_1".into()), 1)]);
    }
}
