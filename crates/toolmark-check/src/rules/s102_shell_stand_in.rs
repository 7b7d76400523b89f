//! # What it does
//!
//! Finds shell commands that do nothing but what a tool of the host does: show
//! one file or lines of it (`cat`, `head`, `sed -n`), search text (`grep`,
//! `rg`) or names (`find -name`, `ls *.rs`), replace text in one file
//! (`sed -i`), write one (`echo > file`, `cat > file <<EOF`).
//!
//! It needs the tool to have been there: recorded among the offered ones, used
//! in the session, or part of the host. Commands that do more than the tool
//! could (pipelines that compute, several files, options no tool has) are left
//! alone, and so is a command that follows a failed call of that tool for the
//! same file. Where the tool would do not quite the same (`tail -20 build.log`),
//! the file lies outside the project, or the search is of files that search tools
//! leave out (`node_modules`), the finding has low confidence.
//!
//! # Why
//!
//! The tool gives numbered lines, keeps track of what was read, needs no
//! permission to run commands, and shows people what happened. A shell command
//! does the same unseen.
//!
//! # What to do
//!
//! Say in the agent's instructions which tool is meant for it; take `cat`,
//! `grep` and their like off the list of commands that need no permission.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"cat src/main.rs"} -> "fn main() {}"
//! ```
//!
//! ```fires
//! Bash {"command":"cd /w/src && sed -n '10,40p' main.rs"} -> "x"
//! ```
//!
//! ```fires
//! Grep {"pattern":"x"} -> "a.rs"
//! Bash {"command":"grep -rn 'fn main' src/ | head -20"} -> "src/main.rs:1:fn main() {}"
//! ```
//!
//! ```fires
//! host: gemini-cli
//! run_shell_command {"command":"cat > notes.md <<'EOF'\n# Notes\nEOF"} -> ""
//! ```
//!
//! ```fires
//! host: copilot-cli
//! bash {"command":"sed -i 's/old/new/' src/a.rs"} -> ""
//! ```
//!
//! Two programs for one search, or an edit at the end of a file:
//!
//! ```fires
//! Grep {"pattern":"x"} -> "a.rs"
//! Bash {"command":"find src -name '*.rs' | xargs grep -l 'fn main'"} -> "src/main.rs"
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"cat >> src/a.rs <<'EOF'\n1\n2\n3\n4\n5\nEOF"} -> ""
//! ```
//!
//! It computes, or does more than one thing:
//!
//! ```quiet
//! Bash {"command":"cat src/main.rs | wc -l"} -> "12"
//! Bash {"command":"grep -rl foo src | xargs sed -i 's/foo/bar/'"} -> ""
//! Bash {"command":"cat a.txt && cargo build"} -> ""
//! ```
//!
//! There is no such tool:
//!
//! ```quiet
//! host: codex
//! shell {"command":["bash","-lc","sed -n '1,200p' src/main.rs"]} -> "x"
//! ```
//!
//! ```quiet
//! tools: Bash, Edit
//! Bash {"command":"cat src/main.rs"} -> "x"
//! ```
//!
//! The tool was tried and could not:
//!
//! ```quiet
//! Read {"file_path":"/w/big.log"} !> "File content (99999 tokens) exceeds maximum allowed tokens (25000)."
//! Bash {"command":"head -50 big.log"} -> "x"
//! ```
//!
//! There is no tool that lists directories:
//!
//! ```quiet
//! host: opencode
//! read {"filePath":"/w/src/main.rs"} -> "1: x"
//! bash {"command":"ls src"} -> "main.rs"
//! ```
//!
//! Read does not list directories:
//!
//! ```quiet
//! Bash {"command":"ls src"} -> "main.rs"
//! Bash {"command":"tail -20 build.log"} -> "x"
//! ```

use crate::offered_tools::{Offer, offered};
use crate::path::resolve;
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::session::{Ended, Session, SessionCall};
use crate::shell::stand_in::{Deed, Fit, StandIn};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};

pub(crate) static RULE: Rule = Rule {
    code: "S102",
    name: "shell-stand-in",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "runs a shell command for what a tool does",
    remedy: "call the tool that is meant for it",
    source: page!("s102_shell_stand_in.rs"),
    check,
};

/// A tool that failed so many calls before is still a reason.
const LOOKED_BACK: usize = 8;

/// The roles that do it, the best first, and what it is called.
fn roles(deed: Deed) -> (&'static [ToolRole], &'static str) {
    match deed {
        Deed::Read => (&[ToolRole::Reads], "reads a file"),
        Deed::SearchContent => (&[ToolRole::SearchesContent], "searches text"),
        Deed::SearchNames => (&[ToolRole::SearchesNames], "searches names of files"),
        Deed::List => (&[ToolRole::Lists], "lists a directory"),
        Deed::Edit => (&[ToolRole::Edits, ToolRole::Patches], "edits a file"),
        Deed::Write => (&[ToolRole::Writes, ToolRole::Patches], "writes a file"),
    }
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let all =
        [Deed::Read, Deed::SearchContent, Deed::SearchNames, Deed::List, Deed::Edit, Deed::Write];
    let mut offers: Option<Vec<(Deed, Offer)>> = None;
    for (at, call) in session.calls().iter().enumerate() {
        let Some(command) = call.line() else { continue };
        let offers = offers.get_or_insert_with(|| {
            let offer = |deed: &Deed| Some((*deed, offered(session, roles(*deed).0)?));
            all.iter().filter_map(offer).collect()
        });
        if offers.is_empty() {
            return;
        }
        recorder.count_opportunity(call);
        let Some(found) = command.stand_in() else { continue };
        let Some((deed, offer)) = offers.iter().find(|(deed, _)| *deed == found.deed) else {
            continue;
        };
        let target = found.target.as_deref().map(|target| place(call, found, target));
        let before = session.calls().get(at.saturating_sub(LOOKED_BACK)..at).unwrap_or_default();
        let could_not = before.iter().any(|earlier| {
            earlier.ended == Ended::Failed
                && roles(*deed).0.contains(&earlier.role)
                && (earlier.path == target || earlier.path.is_none() || target.is_none())
        });
        if !could_not {
            let confidence = confidence(session, found, target.as_deref(), offer);
            let message = format!(
                "`{}` {}; the tool for it is {}",
                found.program,
                roles(*deed).1,
                offer.name
            );
            let mut draft = Draft::new(call, message)
                .confidence(confidence)
                .bucket(found.program.clone())
                .remedy(format!("call {} for it", offer.name));
            let has_it = |other: &&SessionCall<'_>| *other.tool == *offer.name;
            if let Some(user) = session.calls().iter().find(has_it) {
                draft = draft.evidence(session.evidence(Role::Context, "the tool was there", user));
            }
            recorder.find(draft);
        }
    }
}

/// The target as other calls would name it.
fn place(call: &SessionCall<'_>, found: &StandIn, target: &str) -> String {
    let home = call.directory();
    let moved = found.directory.as_deref().map(|dir| resolve(home.as_deref(), dir));
    resolve(moved.as_deref().or(home.as_deref()), target)
}

/// Directories that search tools leave out, as version control does.
const LEFT_OUT: &[&str] =
    &["/node_modules", "/.git/", "/target/", "/dist/", "/build/", "/vendor/", "/.venv/", "/.next/"];

fn confidence(
    session: &Session<'_>,
    found: &StandIn,
    target: Option<&str>,
    offer: &Offer,
) -> Confidence {
    // Tools may be kept to the working directory, or ask before they leave it.
    let project = session.project();
    let is_outside = |target: &str| !project.roots().is_empty() && !project.holds(target);
    let is_search = matches!(found.deed, Deed::SearchContent | Deed::SearchNames);
    let is_left_out = |target: &str| is_search && LEFT_OUT.iter().any(|part| target.contains(part));
    // The last line of what grows is another one every time.
    let is_log = |target: &str| {
        is_search && [".log", ".out", ".output", ".jsonl"].iter().any(|end| target.ends_with(end))
    };
    match (found.fit, offer.is_proven) {
        _ if target.is_some_and(|t| is_outside(t) || is_left_out(t) || is_log(t)) => {
            Confidence::Low
        }
        _ if target.is_some_and(|target| target.starts_with(['~', '$'])) => Confidence::Low,
        (Fit::Loose, _) | (Fit::Near, false) => Confidence::Low,
        (Fit::Near, true) => Confidence::Medium,
        (Fit::Exact, true) => Confidence::High,
        (Fit::Exact, false) => Confidence::Medium,
    }
}
