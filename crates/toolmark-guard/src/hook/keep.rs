//! Keeps what a call is about to destroy, and lets it go on where a copy takes the place of the
//! question.

use crate::files::{BY_EFFECT, Opened};
use crate::kept::{Entry, Keeping, Store, before, note_result};
use crate::policy::Preset;
use std::path::Path;
use toolmark_hosts::{Event, Moment, Verdict};
use toolmark_shell::{Decision, Facts};

/// Keeps what the call would destroy before it runs, and notes what it left after it.
pub(super) fn around(
    opened: &Opened,
    log: &Path,
    event: &Event<'_>,
    verdict: Verdict,
    facts: &dyn Facts,
) -> Verdict {
    let policy = opened.guard.policy();
    if !opened.keeps() || policy.preset() == Preset::Observe {
        return verdict;
    }
    let store = Store::beside(log);
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
            let ask = Verdict::new(Decision::Ask, "not-kept", reason);
            Verdict { analysis: verdict.analysis, unattended: verdict.unattended, ..ask }
        }
        Keeping::Failed(_) => verdict,
    }
}

fn with_note(verdict: Verdict, entry: &Entry) -> Verdict {
    let note = note(entry);
    let context = match verdict.context {
        Some(context) => format!("{context}\n{note}"),
        None => note,
    };
    Verdict { context: Some(context), ..verdict }
}

fn lifted(verdict: Verdict, entry: &Entry) -> Verdict {
    let reason = format!("{}; kept: {}", verdict.reason, entry.id);
    let allow = Verdict::new(Decision::Allow, "kept", reason);
    with_note(Verdict { analysis: verdict.analysis, ..allow }, entry)
}

/// Returns one line for the agent and the user.
fn note(entry: &Entry) -> String {
    format!(
        "toolmark guard kept {} that this call deletes or overwrites; to get it \
         back: toolmark guard undo {}",
        entry.contents(),
        entry.id
    )
}
