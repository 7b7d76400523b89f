//! `error-recovery`: whether the agent understood the error and reacted to it.
//!
//! Questions are the failures that need a reaction and whose following calls decide little:
//! open failures, partially recovered failures (both count 0.5), such as another path that
//! happened to exist, and failures that the agent explains away without evidence for or
//! against it in the session. If neither a call nor a message follows in the turn, there is
//! nothing to judge, and no question is asked.
//!
//! A failure that only shows in an exit code or in the output has no error message in its
//! status; the judge is shown the output instead.

use super::{Candidate, DoubtKind, Scene};
use toolmark_outcome::Axis;
use toolmark_session::recovery::{RecoveryStatus, moves};

pub(super) static KIND: DoubtKind = DoubtKind {
    rubric: "error-recovery",
    measure: "judged.error-recovery",
    axis: Axis::Recovery,
    rules: &["R408"],
    instead: &[("error_message", "tool_output")],
    find,
};

fn find(scene: &Scene<'_, '_>, out: &mut Vec<Candidate>) {
    let session = scene.session;
    for failure in session.failures().iter().filter(|failure| failure.asks) {
        let Some(call) = session.calls().get(failure.at) else { continue };
        let class = failure.class.word();
        let is_excused = failure.excuse.is_some_and(|excuse| excuse.contradicted_by.is_none());
        let why = match failure.verdict {
            RecoveryStatus::Failed(_) | RecoveryStatus::Evaded => continue,
            _ if is_excused => format!("failed ({class}); the agent explains it away"),
            RecoveryStatus::Open => format!("failed ({class}); {}", failure.why),
            RecoveryStatus::Partial => {
                format!("failed ({class}); {}, which is half of it", failure.why)
            }
            RecoveryStatus::Recovered => continue,
        };
        let is_followed = moves(session, failure.at).next().is_some()
            || session.said_after(call).next().is_some();
        if !is_followed {
            continue;
        }
        // An open failure counts half, but the rules have not decided it.
        let rules_say = (failure.verdict != RecoveryStatus::Open).then(|| failure.verdict.score());
        out.push(Candidate {
            bucket: Some(class.to_owned()),
            finding: scene.finding(call, "R408"),
            ..Candidate::new(call, rules_say, why)
        });
    }
}
