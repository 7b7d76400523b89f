//! Repositories as sources: cloned once per run, then copied like a directory.
//!
//! Worktrees are not used, because the agent would share settings, stashes and branches with the
//! source.

use crate::error::ProgramError;
use std::path::Path;
use std::time::Duration;
use toolmark_grade::run_plan::GitSource;
use toolmark_process::{ProcessProgram, run};

/// Time limit of a clone.
const CLONE_TIME: Duration = Duration::from_secs(600);

/// Returns the current commit of a repository.
pub(crate) fn commit_of(clone: &Path) -> Result<String, ProgramError> {
    let finished = git(clone, &["rev-parse", "HEAD"])?;
    Ok(finished.trim().to_owned())
}

/// Clones a repository at a ref into a directory that does not exist yet.
pub(crate) fn clone_at(source: &GitSource, to: &Path) -> Result<(), ProgramError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    let to = to.to_string_lossy();
    // A path is taken from where toolmark is, not from where the clone is made.
    let path = Path::new(&source.url);
    let local = path.exists().then(|| std::path::absolute(path).ok()).flatten();
    let url = local.map_or_else(|| source.url.clone(), |path| path.to_string_lossy().into_owned());
    // The objects are copied: a clone that shares them would be damaged with them.
    git(parent, &["clone", "--quiet", "--no-hardlinks", "--", &url, &to])?;
    if let Some(reference) = &source.reference {
        if reference.starts_with('-') {
            return Err(ProgramError::NotARef(reference.clone()));
        }
        let to = Path::new(&*to);
        git(to, &["checkout", "--quiet", "--detach", reference])
            .or_else(|_| {
                git(to, &["checkout", "--quiet", "--detach", &format!("origin/{reference}")])
            })
            .map_err(|error| ProgramError::NoRef {
                url: source.url.clone(),
                reference: reference.clone(),
                source: Box::new(error),
            })?;
    }
    Ok(())
}

fn git(directory: &Path, args: &[&str]) -> Result<String, ProgramError> {
    let mut program = ProcessProgram::new("git", directory);
    program.args = args.iter().map(|arg| (*arg).to_owned()).collect();
    program.timeout = CLONE_TIME;
    program.env = vec![("GIT_TERMINAL_PROMPT".into(), "0".into())];
    let finished = run(program)?;
    match finished.code {
        Some(0) => Ok(finished.stdout),
        _ if finished.timed_out => Err(ProgramError::GitTime),
        _ => {
            let last = finished.stderr.lines().last().unwrap_or("git failed").trim();
            Err(ProgramError::Git(last.to_owned()))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_repository_is_cloned_at_a_ref() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("source");
        fs::create_dir(&source).unwrap();
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let commit = |text: &str| {
            fs::write(source.join("a"), text).unwrap();
            git(&source, &["add", "a"]).unwrap();
            git(&source, &[&identity[..], &["commit", "-q", "-m", text]].concat()).unwrap();
        };
        git(&source, &["init", "-q", "-b", "main"]).unwrap();
        commit("one");
        git(&source, &["tag", "v1"]).unwrap();
        git(&source, &["branch", "side"]).unwrap();
        commit("two");
        for (reference, text) in [(None, "two"), (Some("v1"), "one"), (Some("side"), "one")] {
            let to = dir.path().join(format!("clone-{}", reference.unwrap_or("none")));
            let git_source = GitSource {
                url: source.to_string_lossy().into_owned(),
                reference: reference.map(str::to_owned),
                dest: None,
            };
            clone_at(&git_source, &to).unwrap();
            assert_eq!(fs::read_to_string(to.join("a")).unwrap(), text);
            assert_eq!(commit_of(&to).unwrap().len(), 40);
        }
        let missing = GitSource {
            url: source.to_string_lossy().into_owned(),
            reference: Some("v9".into()),
            dest: None,
        };
        let said = clone_at(&missing, &dir.path().join("x")).unwrap_err().to_string();
        assert!(said.contains("v9"), "{said}");
    }
}
