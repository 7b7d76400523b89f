//! # What it does
//!
//! Finds a call that fails, or finds nothing, because the shell is in another
//! directory than the agent assumes. One of these must hold:
//!
//! - the error names a relative path that exists under another directory of the
//!   session;
//! - the program says that the directory is not a project (`could not find
//!   Cargo.toml`, `no Go files in`), and the same command works soon after in
//!   another directory;
//! - a search without a path finds nothing, while an earlier `cd` keeps the
//!   shell in a part of the project.
//!
//! # Why
//!
//! Some hosts keep the directory of the shell between calls, others reset it
//! without notice. An agent that loses track runs commands in the wrong place,
//! and believes an empty result from there.
//!
//! # What to do
//!
//! Use absolute paths, or options such as `git -C DIR` and `make -C DIR`,
//! instead of a `cd` that changes the directory of later calls.
//!
//! # Examples
//!
//! ```fires
//! Read {"file_path":"/w/apps/api/a.ts"} -> "1\tx"
//! Bash {"command":"cd apps/api && npx jest"} -> "ok"
//! Bash {"command":"git add apps/api/a.ts"} !128 "fatal: pathspec 'apps/api/a.ts' did not match any files"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/cmd/cli/a.go"} -> "1\tx"
//! Bash {"command":"cd cmd/cli && go vet"} -> "ok"
//! Bash {"command":"cd cmd/cli && go test"} !1 "(eval):cd:1: no such file or directory: cmd/cli"
//! ```
//!
//! ```fires
//! Bash {"command":"go test -run A"} !1 "no Go files in /w"
//! Bash {"command":"cd cmd/cli && go test -run A"} -> "ok"
//! ```
//!
//! ```fires
//! Bash {"command":"cd cmd/cli && go vet"} -> "ok"
//! Grep {"pattern":"func Run"} -> "No matches found"
//! ```
//!
//! The path is unknown, or absolute:
//!
//! ```quiet
//! Bash {"command":"cd apps/api && npx jest"} -> "ok"
//! Bash {"command":"cat src/b.ts"} !1 "cat: src/b.ts: No such file or directory"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/apps/api/a.ts"} -> "1\tx"
//! Bash {"command":"cd apps/api && npx jest"} -> "ok"
//! Bash {"command":"cat /w/apps/b.ts"} !1 "cat: /w/apps/b.ts: No such file or directory"
//! ```
//!
//! The shell is still in its first directory:
//!
//! ```quiet
//! Grep {"pattern":"func Run"} -> "No matches found"
//! Bash {"command":"go test"} !1 "--- FAIL: TestA"
//! Bash {"command":"cd cmd/cli && go test"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashSet, HashSetExt};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::path::resolve;
use toolmark_session::recovery::moves;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::CommandLine;

pub(crate) static RULE: Rule = Rule {
    code: "A220",
    name: "lost-directory",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "assumes that the shell is in another directory than it is",
    remedy: "use absolute paths or -C DIR instead of a cd that changes the directory of later calls",
    source: page!("a220_lost_directory.rs"),
    check,
};

/// Maximum number of directories of a session to compare.
const MAX_DIRECTORIES: usize = 32;
/// Maximum number of bytes of an error's text to examine, from its start.
const MAX_ERROR: usize = 4 << 10;
/// Number of calls after a failure in which to look for the same purpose.
const REACH: usize = 3;

/// Messages of programs outside of a project.
const NO_PROJECT: &[&str] = &[
    "no Go files in ",
    "go.mod file not found",
    "could not find `Cargo.toml`",
    "Could not read package.json",
    "No package.json was found",
    "ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND",
    "no makefile found",
    "not a git repository",
];

/// Known locations of files in a trace.
struct KnownLocations {
    paths: HashSet<String>,
    /// Directories in which calls were made.
    directories: Vec<String>,
}

impl KnownLocations {
    fn add(&mut self, path: &str) {
        let mut path = path.trim_end_matches('/');
        // The parent directories of a file exist too.
        while path.len() > 1 && self.paths.insert(path.to_owned()) {
            path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    fn enter(&mut self, directory: &str) {
        let is_new = !self.directories.iter().any(|known| known == directory);
        if is_new && self.directories.len() < MAX_DIRECTORIES {
            self.directories.push(directory.to_owned());
        }
    }

    /// Returns another directory of the session that contains this path.
    fn elsewhere(&self, path: &str, here: &str) -> Option<&str> {
        if self.paths.contains(&resolve(Some(here), path)) {
            return None;
        }
        let has = |directory: &&String| {
            *directory != here && self.paths.contains(&resolve(Some(directory), path))
        };
        self.directories.iter().find(has).map(String::as_str)
    }
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let start = session.trajectory().cwd.as_ref().map(|cwd| cwd.get().into_owned());
    let Some(start) = start else { return };
    let mut known = KnownLocations { paths: HashSet::new(), directories: vec![start.clone()] };
    for ((at, call), here) in session.calls().iter().enumerate().zip(session.directories()) {
        match call.line() {
            Some(command) => {
                let inside = after_cd(command, here);
                known.enter(&inside);
                if call.ended == Ended::Failed {
                    recorder.count_opportunity(call);
                    check_command(session, recorder, &known, at, call, &inside);
                } else {
                    learn(&mut known, command, here);
                }
            }
            None if call.ended == Ended::Ok => {
                if let Some(path) = &call.path {
                    known.add(path);
                } else {
                    check_search(session, recorder, call, here, &start);
                }
            }
            None => {}
        }
    }
}

/// Returns the directory of a command after the `cd` at its start.
fn after_cd(command: &CommandLine<'_>, here: &str) -> String {
    let mut dir = here.to_owned();
    for one in &command.simple_commands().commands {
        match one.words.as_slice() {
            [cd, to] if cd == "cd" && !to.starts_with('-') => dir = resolve(Some(&dir), to),
            _ => break,
        }
    }
    dir
}

/// Records the paths that a successful command shows to exist.
fn learn(known: &mut KnownLocations, command: &CommandLine<'_>, here: &str) {
    let script = command.simple_commands();
    if script.opaque {
        return;
    }
    let mut dir = here.to_owned();
    for one in &script.commands {
        if let [cd, to] = one.words.as_slice()
            && cd == "cd"
        {
            dir = resolve(Some(&dir), to);
            known.add(&dir);
            continue;
        }
        let paths = one.words.iter().filter(|word| {
            word.contains('/')
                && !word.starts_with(['-', '$', '~'])
                && !word.contains(['*', '$', ':', '=', ' ', '{', '|'])
        });
        paths.for_each(|word| known.add(&resolve(Some(&dir), word)));
    }
}

fn check_command(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    known: &KnownLocations,
    at: usize,
    call: &SessionCall<'_>,
    here: &str,
) {
    let Some(text) = call.result() else { return };
    let mut end = MAX_ERROR.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    // A `cd` that failed left the shell where it was before.
    let may_miss = MISSING.iter().any(|words| text.contains(words));
    let tried = if may_miss { text.lines().find_map(missing_path) } else { None };
    let from = match tried {
        Some(path) if here.ends_with(path.trim_matches('/')) && text.contains("cd:") => {
            let parent = here.strip_suffix(path.trim_matches('/')).unwrap_or(here);
            parent.trim_end_matches('/')
        }
        _ => here,
    };
    if let Some(path) = tried
        && let Some(there) = known.elsewhere(path, from)
    {
        let message = format!(
            "{path} is in {}, but the shell is in {}",
            session.shown(there),
            session.shown(from)
        );
        tell(session, recorder, call, message);
        return;
    }
    if !NO_PROJECT.iter().any(|words| text.contains(words)) {
        return;
    }
    let wanted = call.line().and_then(CommandLine::errand);
    let keys = session.keys();
    let works = moves(session, at).take(REACH).any(|(next, other)| {
        other.ended == Ended::Ok
            && wanted.is_some()
            && other.line().and_then(CommandLine::errand) == wanted
            && keys.get(next).map(|key| key.work) != keys.get(at).map(|key| key.work)
    });
    if works {
        let message = "it runs in a directory that has no project";
        tell(session, recorder, call, message.to_owned());
    }
}

/// Phrases of errors about missing paths.
const MISSING: [&str; 5] = [
    "pathspec '",
    "no such file or directory: ",
    "can't cd to ",
    ": No such file or directory",
    ": IO error for operation on",
];

/// Returns the relative path that an error reports as missing.
fn missing_path(line: &str) -> Option<&str> {
    let line = line.trim();
    let [pathspec, no_such, cd, no_file, io_error] = MISSING;
    let path = if let Some((_, rest)) = line.split_once(pathspec) {
        rest.split_once("' did not match").map(|(path, _)| path)
    } else if let Some((_, path)) = line.split_once(no_such) {
        Some(path)
    } else if let Some((_, path)) = line.split_once(cd) {
        Some(path)
    } else {
        let before = line.split_once(no_file).or_else(|| line.split_once(io_error))?.0;
        before.rsplit(": ").next()
    }?;
    let path = path.trim().trim_matches(['\'', '"', '`']);
    let is_relative = !path.is_empty() && !path.starts_with(['/', '~', '$', '-']);
    (is_relative && !path.contains([' ', '*'])).then_some(path)
}

/// Checks a search without a path, which uses the directory of the shell.
fn check_search(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    here: &str,
    start: &str,
) {
    if !matches!(call.role, ToolRole::SearchesContent | ToolRole::SearchesNames) {
        return;
    }
    let is_moved = here.strip_prefix(start).is_some_and(|rest| rest.starts_with('/'));
    let is_empty = call.result().is_some_and(|text| {
        let text = text.trim();
        text.starts_with("No matches found") || text.starts_with("No files found")
    });
    let names_place =
        call.args().and_then(|args| args.get("pattern")?.as_str()).is_some_and(|pattern| {
            call.role == ToolRole::SearchesNames && pattern.starts_with(['/', '~'])
        });
    if is_moved && is_empty && !names_place {
        let message = format!("searches only {}, where the shell was left", session.shown(here));
        tell(session, recorder, call, message);
    }
}

fn tell(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    message: String,
) {
    let answer = session.result_evidence(EvidenceRole::Context, "what came back", call);
    recorder.find(Draft::new(call, message).evidence(answer));
}

#[cfg(test)]
mod tests {
    use super::missing_path;

    #[test]
    fn paths_of_errors() {
        for (line, want) in [
            ("fatal: pathspec 'a/b.ts' did not match any files", Some("a/b.ts")),
            ("(eval):cd:1: no such file or directory: a/b", Some("a/b")),
            ("bash: line 1: cd: a/b: No such file or directory", Some("a/b")),
            ("cat: src/b.ts: No such file or directory", Some("src/b.ts")),
            ("cat: /src/b.ts: No such file or directory", None),
            ("rg: app: No such file or directory (os error 2)", Some("app")),
            ("all is well", None),
        ] {
            assert_eq!(missing_path(line), want, "{line}");
        }
    }
}
