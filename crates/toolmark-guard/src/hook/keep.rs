//! Keeps what a call is about to destroy, and lets it go on where a copy takes the place of the
//! question.

use crate::files::{BY_EFFECT, Opened};
use crate::kept::{Keeping, KeptEntry, KeptStore, before, note_result};
use crate::policy::Preset;
use std::path::Path;
use toolmark_hosts::{GuardAnswer, HookEvent, Moment};
use toolmark_shell::{Decision, FileFacts};

/// Keeps what the call would destroy before it runs, and notes what it left after it.
pub(super) fn around(
    opened: &Opened,
    log: &Path,
    event: &HookEvent<'_>,
    verdict: GuardAnswer,
    facts: &dyn FileFacts,
) -> GuardAnswer {
    let policy = opened.guard.policy();
    if !opened.keeps() || policy.preset() == Preset::Observe {
        return verdict;
    }
    let store = KeptStore::beside(log);
    match event.moment {
        Moment::Before => {}
        Moment::After => {
            note_result(&store, event);
            return verdict;
        }
        Moment::Permission | Moment::Other => return verdict,
    }
    let command = opened.guard.command(event);
    match before(&store, event, &verdict, command.as_deref(), facts) {
        Keeping::Nothing => verdict,
        Keeping::Kept { entry, covers_all } => {
            let may_lift = policy.preset() != Preset::Strict && verdict.rule == BY_EFFECT;
            match verdict.decision {
                Decision::Allow => with_note(verdict, &entry),
                _ if covers_all && may_lift => lifted(verdict, &entry),
                _ => verdict,
            }
        }
        // What cannot be kept is only lost with the user's consent.
        Keeping::Failed(why) if verdict.decision == Decision::Allow => {
            let reason = format!("replaces or deletes the only copy of a file: {why}");
            let ask = GuardAnswer::new(Decision::Ask, "not-kept", reason);
            GuardAnswer { analysis: verdict.analysis, unattended: verdict.unattended, ..ask }
        }
        Keeping::Failed(_) => verdict,
    }
}

fn with_note(verdict: GuardAnswer, entry: &KeptEntry) -> GuardAnswer {
    let note = note(entry);
    let context = match verdict.context {
        Some(context) => format!("{context}\n{note}"),
        None => note,
    };
    GuardAnswer { context: Some(context), ..verdict }
}

fn lifted(verdict: GuardAnswer, entry: &KeptEntry) -> GuardAnswer {
    let reason = format!("{}; kept: {}", verdict.reason, entry.id);
    let allow = GuardAnswer::new(Decision::Allow, "kept", reason);
    with_note(GuardAnswer { analysis: verdict.analysis, ..allow }, entry)
}

/// Returns one line for the agent and the user.
fn note(entry: &KeptEntry) -> String {
    format!(
        "toolmark guard kept {} that this call deletes or overwrites; to get it \
         back: toolmark guard undo {}",
        entry.contents(),
        entry.id
    )
}
