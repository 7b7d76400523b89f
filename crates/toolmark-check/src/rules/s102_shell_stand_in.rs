//! # What it does
//!
//! Finds shell commands that do only what a tool of the host does: show a file
//! or some of its lines (`cat`, `head`, `sed -n`), search for text (`grep`,
//! `rg`) or file names (`find -name`, `ls *.rs`), replace text in one file
//! (`sed -i`, or an inline script that only replaces text), or write a file
//! (`echo > file`, `cat > file <<EOF`).
//!
//! The tool must have been available: listed in the trace, used in the session,
//! or built into the host. Commands that do more than the tool can (pipelines
//! that compute, options that no tool has) are not reported, and
//! neither is a command after a failed call of that tool for the same file. The
//! finding has low confidence if the tool would not do exactly the same (`tail
//! -20 build.log`), if the file is outside the project, or if the search is in
//! files that search tools skip (`node_modules`).
//!
//! # Why
//!
//! The tool returns numbered lines, keeps track of what was read, does not need
//! permission to run commands, and shows people what happened. The same shell
//! command is harder to follow.
//!
//! # What to do
//!
//! Say in the agent's instructions which tool to use. Remove `cat`, `grep` and
//! similar commands from the list of commands that need no permission.
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
//! Two programs for one search, or text appended to a file:
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
//! Several files, one after the other:
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! Bash {"command":"head -40 src/b.rs && echo === && sed -n '1,60p' src/c.rs"} -> "x\n===\ny"
//! ```
//!
//! An inline script that an editing tool replaces:
//!
//! ```fires
//! Edit {"file_path":"/w/a.py","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"python3 - <<'PY'\np='a.py'; t=open(p).read()\nopen(p,'w').write(t.replace('1','2'))\nPY\npytest"} -> "1 passed"
//! ```
//!
//! The command computes something, or does more than one thing:
//!
//! ```quiet
//! Bash {"command":"cat src/main.rs | wc -l"} -> "12"
//! Bash {"command":"grep -rl foo src | xargs sed -i 's/foo/bar/'"} -> ""
//! Bash {"command":"cat a.txt && cargo build"} -> ""
//! ```
//!
//! The tool is not available:
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
//! The tool was tried and failed:
//!
//! ```quiet
//! Read {"file_path":"/w/big.log"} !> "File content (99999 tokens) exceeds maximum allowed tokens (25000)."
//! Bash {"command":"head -50 big.log"} -> "x"
//! ```
//!
//! The host has no tool that lists directories:
//!
//! ```quiet
//! host: opencode
//! read {"filePath":"/w/src/main.rs"} -> "1: x"
//! bash {"command":"ls src"} -> "main.rs"
//! ```
//!
//! `Read` does not list directories:
//!
//! ```quiet
//! Bash {"command":"ls src"} -> "main.rs"
//! Bash {"command":"tail -20 build.log"} -> "x"
//! ```

use crate::offered_tools::{Offer, offered};
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::path::resolve;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::stand_in::{Deed, Equivalence, ShownFiles, StandIn};

pub(crate) static RULE: Rule = Rule {
    code: "S102",
    name: "shell-stand-in",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "runs a shell command instead of the tool for the job",
    remedy: "call the tool for the job",
    source: page!("s102_shell_stand_in.rs"),
    check,
};

/// Number of preceding calls in which a failure of the tool is still a reason to use the
/// shell.
const LOOKED_BACK: usize = 8;

/// Returns the roles of tools for an operation, best first, and its description.
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
    // Commands of one response are one choice.
    let mut open: Option<(Draft, Option<u32>, Confidence)> = None;
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
        let several = || command.shown_files().and_then(read_of_several);
        let several = || several().or_else(|| command.script_edit());
        let several = command.stand_in().is_none().then(several).flatten();
        let Some(found) = command.stand_in().or(several.as_ref()) else { continue };
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
            let step = call.call.step;
            if let Some((draft, before, sure)) = open.take() {
                if step.is_some() && before == step && sure == confidence {
                    let evidence = session.evidence(EvidenceRole::Context, "and here", call);
                    open = Some((draft.evidence(evidence), step, sure));
                    continue;
                }
                recorder.find(draft);
            }
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
                draft = draft.evidence(session.evidence(
                    EvidenceRole::Context,
                    "the tool was there",
                    user,
                ));
            }
            open = Some((draft, step, confidence));
        }
    }
    if let Some((draft, ..)) = open {
        recorder.find(draft);
    }
}

/// A command that shows several files, as one that shows the first of them.
fn read_of_several(shown: &ShownFiles) -> Option<StandIn> {
    let (directory, file) = shown.files.first()?.clone();
    Some(StandIn {
        deed: Deed::Read,
        program: "cat".to_owned(),
        target: Some(file),
        directory,
        fit: Equivalence::Near,
        span: None,
        is_numbered: false,
    })
}

/// Returns the target in the form that other calls would use.
fn place(call: &SessionCall<'_>, found: &StandIn, target: &str) -> String {
    let home = call.directory();
    let moved = found.directory.as_deref().map(|dir| resolve(home.as_deref(), dir));
    resolve(moved.as_deref().or(home.as_deref()), target)
}

/// Directories that search tools skip, as version control does.
const LEFT_OUT: &[&str] =
    &["/node_modules", "/.git/", "/target/", "/dist/", "/build/", "/vendor/", "/.venv/", "/.next/"];

fn confidence(
    session: &Session<'_>,
    found: &StandIn,
    target: Option<&str>,
    offer: &Offer,
) -> Confidence {
    // Tools may be restricted to the working directory, or ask before they leave it.
    let project = session.project();
    let is_outside = |target: &str| !project.roots().is_empty() && !project.holds(target);
    let is_search = matches!(found.deed, Deed::SearchContent | Deed::SearchNames);
    let is_left_out = |target: &str| is_search && LEFT_OUT.iter().any(|part| target.contains(part));
    // The last line of a growing file is different every time.
    let is_log = |target: &str| {
        is_search && [".log", ".out", ".output", ".jsonl"].iter().any(|end| target.ends_with(end))
    };
    match (found.fit, offer.is_proven) {
        _ if target.is_some_and(|t| is_outside(t) || is_left_out(t) || is_log(t)) => {
            Confidence::Low
        }
        _ if target.is_some_and(|target| target.starts_with(['~', '$'])) => Confidence::Low,
        (Equivalence::Loose, _) | (Equivalence::Near, false) => Confidence::Low,
        (Equivalence::Near, true) => Confidence::Medium,
        (Equivalence::Exact, true) => Confidence::High,
        (Equivalence::Exact, false) => Confidence::Medium,
    }
}
