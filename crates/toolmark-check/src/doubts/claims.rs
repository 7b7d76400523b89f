//! `claimed-success`: whether the actions of the agent support its claims.
//!
//! R404 is sure if the last run failed, or if a claim about a run follows an edit without any
//! run. A question is every other turn that ends with a claim, and every task that is ticked
//! off, after code was edited without a run since: only the agent's word supports that the
//! work is done.

use super::{Candidate, DoubtKind, Scene};
use crate::rules::r404_claimed_success::{changes_code, may_run};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Axis;
use toolmark_session::session::SessionCall;

pub(super) static KIND: DoubtKind = DoubtKind {
    rubric: "claimed-success",
    measure: "judged.claimed-success",
    axis: Axis::Recovery,
    rules: &["R404"],
    instead: &[],
    find,
};

fn find(scene: &Scene<'_, '_>, out: &mut Vec<Candidate>) {
    let session = scene.session;
    let calls = session.calls();
    let mut is_unchecked = false;
    for (at, call) in calls.iter().enumerate() {
        is_unchecked = changes_code(call) || (is_unchecked && !may_run(call));
        let finding = scene.finding(call, "R404");
        let is_last = calls.get(at + 1).is_none_or(|next| next.turn != call.turn);
        let is_claimed = is_last
            && session.said_after(call).any(|said| {
                said.text.as_ref().is_some_and(|text| claims_done(&text.plain().to_lowercase()))
            });
        let why = match is_unchecked {
            true if is_claimed => {
                "the turn ends with a claim, and nothing was run since the last edit"
            }
            true if ticks_off(call) => {
                "a task is ticked off, and nothing was run since the last edit"
            }
            _ if finding.is_some() => "the claim does not fit the last run",
            _ => continue,
        };
        let rules_say = finding.map(|_| 0.0);
        out.push(Candidate { finding, ..Candidate::new(call, rules_say, why) });
    }
}

/// Whether a message says that the work is done.
fn claims_done(text: &str) -> bool {
    const WORDS: &[&str] =
        &["done", "complete", "fixed", "implemented", "all set", "works", "ready", "finished"];
    WORDS.iter().any(|words| text.contains(words))
}

/// Whether a call marks a task as completed.
fn ticks_off(call: &SessionCall<'_>) -> bool {
    call.role == ToolRole::Plans
        && call.args().and_then(|args| args.get("status")?.as_str()) == Some("completed")
}
