//! Traces of earlier runs that replace an agent, and their assignment to trials.
//!
//! A recorded run is one trial. If there are fewer recordings than trials, the remaining trials are
//! unknown: repeating a run would resemble an agent that always does the same.

use crate::error::NoRun;
use crate::trace;
use std::path::{Path, PathBuf};
use toolmark_grade::run_plan::Recordings;
use toolmark_trace::{ReadOptions, Trajectory, load_path};

/// Recording of a trial.
pub(crate) enum RecordedTrial {
    /// A separate file.
    File(PathBuf),
    /// One run of a file with several.
    Run(Box<Trajectory>),
}

/// Returns the recorded run of a trial, counted from 0.
///
/// # Errors
///
/// Returns the reason if there is none.
pub(crate) fn find(
    recordings: &Recordings,
    case: &str,
    trial: u32,
) -> Result<RecordedTrial, NoRun> {
    let path = &recordings.path;
    if path.is_dir() {
        let files = files_of(path, case);
        let many = files.len();
        let file = files.into_iter().nth(trial as usize);
        return file.map(RecordedTrial::File).ok_or_else(|| missing(path, many, trial));
    }
    let mut runs = load_path(path, &ReadOptions::default())?.runs;
    let is_only = runs.len() == 1;
    if is_only && !recordings.named {
        return match trial {
            0 => Ok(RecordedTrial::File(path.clone())),
            trial => Err(missing(path, 1, trial)),
        };
    }
    runs.retain(|run| {
        let names = [&run.name, &run.id];
        let is_of_case = names.into_iter().flatten().any(|name| name == case);
        let by = (&recordings.agent, &run.agent.name);
        let is_by_agent = !matches!(by, (Some(wanted), Some(agent)) if agent != wanted.as_str());
        is_of_case && is_by_agent
    });
    let many = runs.len();
    let run = runs.into_iter().nth(trial as usize).ok_or_else(|| missing(path, many, trial))?;
    Ok(if is_only { RecordedTrial::File(path.clone()) } else { RecordedTrial::Run(Box::new(run)) })
}

/// Returns the files of a case, sorted by name.
fn files_of(directory: &Path, case: &str) -> Vec<PathBuf> {
    let is_of_case = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let rest = name.strip_prefix(case);
        let inside = file.parent().and_then(Path::file_name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_']))
            || inside.is_some_and(|inside| inside == case)
    };
    let mut files: Vec<PathBuf> =
        trace::matching(directory, "**").into_iter().filter(is_of_case).collect();
    files.sort();
    files
}

fn missing(path: &Path, count: usize, trial: u32) -> NoRun {
    NoRun::NoRecording { path: path.to_owned(), count, trial }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn row(case: &str, by: &str) -> String {
        format!(
            "{{\"schema_version\":\"agentv.replay_fixture.v1\",\"suite\":\"s\",\"test_id\":\"{case}\",\
             \"source_target\":\"{by}\",\"output\":[{{\"role\":\"assistant\",\"content\":\"{by}\"}}]}}\n"
        )
    }

    #[test]
    fn a_recorded_run_is_one_trial_of_its_case() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("rows.jsonl");
        fs::write(&file, [row("a", "x"), row("b", "x"), row("a", "y"), row("a", "x")].concat())
            .unwrap();
        let one = dir.path().join("one.jsonl");
        fs::write(&one, row("a", "x")).unwrap();
        let folder = dir.path().join("folder");
        fs::create_dir_all(folder.join("c")).unwrap();
        for name in ["a-1.jsonl", "a-2.jsonl", "ab.jsonl", "c/run.jsonl"] {
            fs::write(folder.join(name), row("z", "x")).unwrap();
        }
        let of = |agent: &str| Recordings {
            path: file.clone(),
            agent: Some(agent.to_owned()).filter(|agent| !agent.is_empty()),
            named: true,
        };
        let named = Recordings { path: one.clone(), agent: None, named: true };
        for (recordings, case, trial, expected) in [
            (of("x"), "a", 0, Ok("x")),
            (of("x"), "a", 1, Ok("x")),
            (of("x"), "a", 2, Err("2 recorded runs of the case, none for trial 3")),
            (of("y"), "a", 0, Ok("y")),
            (of("y"), "b", 0, Err("no recorded run")),
            (of(""), "a", 1, Ok("y")),
            (named.clone(), "a", 0, Ok("one.jsonl")),
            (named, "b", 0, Err("no recorded run")),
            (Recordings::at(&one), "b", 0, Ok("one.jsonl")),
            (Recordings::at(&one), "b", 1, Err("one recorded run of the case, none for trial 2")),
            (Recordings::at(&folder), "a", 1, Ok("a-2.jsonl")),
            (Recordings::at(&folder), "a", 2, Err("none for trial 3")),
            (Recordings::at(&folder), "c", 0, Ok("run.jsonl")),
            (Recordings::at(&folder), "d", 0, Err("no recorded run")),
        ] {
            let found = match find(&recordings, case, trial) {
                Ok(RecordedTrial::File(path)) => {
                    Ok(path.file_name().unwrap().to_str().unwrap().to_owned())
                }
                Ok(RecordedTrial::Run(run)) => Ok(run.agent.name.as_ref().unwrap().to_string()),
                Err(why) => Err(why.to_string()),
            };
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{case} {trial}"),
                (Err(why), Err(words)) => assert!(why.contains(words), "{why}"),
                (found, _) => panic!("{case} {trial} {recordings:?}: {found:?}"),
            }
        }
    }
}
