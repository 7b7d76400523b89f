//! `error-recovery`: did the agent understand the error and act on it?
//!
//! In doubt are the failures whose next moves decide little: those that stay
//! open, about which the rules cannot tell, and those that are half recovered
//! (0.5), such as another path that happened to be there. Where neither a call
//! nor a word follows in the turn there is nothing to be read either, and
//! nothing is asked.
//!
//! A failure that only an exit code or the output shows has no error message by
//! its status; the judge is shown the output as such.

use super::{Candidate, Kind, Scene};
use crate::recovery::{Verdict, moves};
use toolmark_outcome::Axis;

pub(super) static KIND: Kind = Kind {
    rubric: "error-recovery",
    measure: "judged.error-recovery",
    axis: Axis::Recovery,
    rules: &["R408"],
    instead: &[("error_message", "tool_output")],
    find,
};

fn find(scene: &Scene<'_, '_>, out: &mut Vec<Candidate>) {
    let session = scene.session;
    for failure in session.failures() {
        let Some(call) = session.calls().get(failure.at) else { continue };
        let class = failure.class.word();
        let why = match failure.verdict {
            Verdict::Open => format!("failed ({class}); {}", failure.why),
            Verdict::Partial => {
                format!("failed ({class}); {}, which is half of it", failure.why)
            }
            _ => continue,
        };
        let is_followed = moves(session, failure.at).next().is_some()
            || session.said_after(call).next().is_some();
        if !is_followed {
            continue;
        }
        out.push(Candidate {
            bucket: Some(class.to_owned()),
            finding: scene.finding(call, "R408"),
            ..Candidate::new(call, failure.verdict.score(), why)
        });
    }
}
