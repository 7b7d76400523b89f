//! # What it does
//!
//! Finds a `git push` that does not include edits of the same turn because they
//! were never committed, if the agent then says that it pushed. Files in
//! directories whose name starts with a dot, and files outside the project, do
//! not count: git often ignores them.
//!
//! # Why
//!
//! Reviewers and CI see the branch without the fix, while the agent reports
//! that it is there.
//!
//! # What to do
//!
//! Look at `git status` before a push, and commit what belongs to it.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"git rebase --continue"} -> "Successfully rebased"
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go test ./..."} -> "ok"
//! Bash {"command":"git push --force-with-lease"} -> "main -> main (forced update)"
//! assistant: Done. The branch is rebased and pushed.
//! ```
//!
//! ```fires
//! Bash {"command":"git commit -am 'Add a'"} -> "[main 1a2b3c] Add a"
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"git push"} -> "main -> main"
//! assistant: Pushed the fix.
//! ```
//!
//! ```fires
//! Write {"file_path":"/w/b.go","content":"package b"} -> "ok"
//! Bash {"command":"git push origin main"} -> "main -> main"
//! assistant: I have pushed everything.
//! ```
//!
//! Committed before or afterwards, or nothing is claimed:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"git add -A && git commit -m x && git push"} -> "main -> main"
//! assistant: Pushed.
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"git push"} -> "main -> main"
//! Bash {"command":"git commit -am x && git push"} -> "main -> main"
//! assistant: Pushed.
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"git push"} -> "main -> main"
//! assistant: The branch is up; my edit of a.go is not committed yet.
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::purpose::Purpose;
use toolmark_session::session::{Ended, Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "R412",
    name: "uncommitted-push",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "claims to have pushed edits that were never committed",
    remedy: "look at git status before a push, and commit what belongs to it",
    source: page!("r412_uncommitted_push.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    // First edit of the turn that is in no commit, and the push after it.
    let mut edit: Option<&SessionCall<'_>> = None;
    let mut pushed: Option<(&SessionCall<'_>, &SessionCall<'_>)> = None;
    let calls = session.calls();
    for (at, call) in calls.iter().enumerate() {
        match git_use(call) {
            Git::Settles => (edit, pushed) = (None, None),
            Git::Pushes => {
                recorder.count_opportunity(call);
                pushed = pushed.or(edit.map(|edit| (edit, call)));
            }
            Git::None if is_project_edit(session, call) => edit = edit.or(Some(call)),
            Git::None => {}
        }
        let is_last = calls.get(at + 1).is_none_or(|next| next.turn != call.turn);
        if !is_last {
            continue;
        }
        let found = pushed.take();
        edit = None;
        let Some((edit, push)) = found else { continue };
        let Some(said) = session.said_after(push).find(|said| {
            said.text.as_ref().is_some_and(|text| claims_push(&text.plain().to_lowercase()))
        }) else {
            continue;
        };
        recorder.find(
            Draft::new(push, "pushes without the edits that were made before it")
                .about("the push")
                .evidence(session.evidence(
                    EvidenceRole::Context,
                    "an edit that is not committed",
                    edit,
                ))
                .evidence(session.event_evidence(
                    EvidenceRole::Context,
                    "what the agent claims",
                    said,
                )),
        );
    }
}

/// Relation of a call to uncommitted edits.
enum Git {
    /// Commits edits or discards them, or may do so.
    Settles,
    Pushes,
    None,
}

fn git_use(call: &SessionCall<'_>) -> Git {
    match call.role {
        // Sub-agents, tools of servers and running shells may commit.
        ToolRole::Dispatches | ToolRole::Other | ToolRole::TalksToShell => return Git::Settles,
        ToolRole::RunsShell => {}
        _ => return Git::None,
    }
    let Some(command) = call.line().filter(|command| command.contains("git")) else {
        return match call.only_looks() {
            true => Git::None,
            // A script may commit; tests and builds do not.
            false => match call.line().is_some_and(|line| line.purpose() == Purpose::Other) {
                true => Git::Settles,
                false => Git::None,
            },
        };
    };
    let script = command.simple_commands();
    let mut pushes = false;
    for one in &script.commands {
        let is_git = one.words.first().is_some_and(|name| name == "git");
        let mut verbs = one.words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let verb = if is_git { verbs.next().map(String::as_str) } else { None };
        match verb {
            Some("push") => pushes = true,
            Some(
                "status" | "log" | "diff" | "show" | "fetch" | "branch" | "remote" | "rev-parse",
            ) => {}
            Some(_) => return Git::Settles,
            None if !is_git
                && !matches!(
                    one.words.first().map(String::as_str),
                    Some("cd" | "echo" | "tail" | "head" | "cat" | "grep" | "sleep") | None
                ) =>
            {
                return Git::Settles;
            }
            None => {}
        }
    }
    match pushes && !script.opaque && call.ended == Ended::Ok {
        true => Git::Pushes,
        false if script.opaque => Git::Settles,
        false => Git::None,
    }
}

/// Whether the call edits a file of the project that git would track.
fn is_project_edit(session: &Session<'_>, call: &SessionCall<'_>) -> bool {
    let Some(path) = call.path.as_deref() else { return false };
    let shown = session.shown(path);
    matches!(call.role, ToolRole::Edits | ToolRole::Writes)
        && call.ended == Ended::Ok
        && !shown.starts_with('/')
        && !shown.split('/').any(|part| part.starts_with('.'))
}

/// Whether a message says that the work is pushed.
fn claims_push(text: &str) -> bool {
    text.contains("pushed")
        && !["not pushed", "n't pushed", "not committed", "uncommitted", "n't committed"]
            .iter()
            .any(|words| text.contains(words))
}
