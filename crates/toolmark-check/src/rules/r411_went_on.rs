//! # What it does
//!
//! Finds a step of a script that failed (`./harness.sh configure`, exit code
//! 1), followed by the next step of the same script without mentioning the
//! failure, if the failed step does not succeed soon after. It also finds a
//! commit or a push after failed tests or a failed build, and a push after a
//! failed commit, with nothing done or said about the failure.
//!
//! # Why
//!
//! Later steps depend on earlier ones. Their results prove nothing, and the
//! error surfaces far from its cause.
//!
//! # What to do
//!
//! Stop at a step that fails: read its output, fix the cause and run it again,
//! or say why it does not matter.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"./harness.sh configure-strategy"} !1 "The following paths are ignored by one of your .gitignore files"
//! Bash {"command":"./harness.sh start-session"} -> "Session started"
//! ```
//!
//! ```fires
//! Bash {"command":"make all && scripts/db.sh migrate"} !1 "relation exists"
//! Bash {"command":"scripts/db.sh seed && scripts/db.sh verify"} -> "ok"
//! ```
//!
//! ```fires
//! Bash {"command":"export A=1 && /opt/tool/run.sh prepare"} !3 "no space"
//! Bash {"command":"export A=1 && /opt/tool/run.sh execute"} -> "done"
//! assistant: All steps are done.
//! ```
//!
//! ```fires
//! Bash {"command":"npm test"} !1 "Tests: 2 failed, 3 passed"
//! Bash {"command":"git add -A && git commit -m 'Add the parser'"} -> "[main 1a2b3c] Add the parser"
//! ```
//!
//! ```quiet
//! Bash {"command":"npm test"} !1 "Tests: 2 failed, 3 passed"
//! assistant: Two tests fail; I commit the work so far, as you asked.
//! Bash {"command":"git commit -am wip"} -> "[main 1a2b3c] wip"
//! ```
//!
//! The failure was noticed or fixed, or the agent looked into it:
//!
//! ```quiet
//! Bash {"command":"./harness.sh configure"} !1 "warning: ignored"
//! assistant: That only warns about an ignored file; the hooks are installed.
//! Bash {"command":"./harness.sh start"} -> "Session started"
//! ```
//!
//! ```quiet
//! Bash {"command":"./harness.sh configure"} !1 "no config"
//! Bash {"command":"./harness.sh init"} -> "ok"
//! Bash {"command":"./harness.sh configure"} -> "ok"
//! ```
//!
//! ```quiet
//! Bash {"command":"./harness.sh configure"} !1 "no config"
//! Bash {"command":"cat config.toml"} -> "x"
//! Bash {"command":"./harness.sh start"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::recovery::RecoveryFault;
use toolmark_session::session::Session;

pub(crate) static RULE: Rule = Rule {
    code: "R411",
    name: "went-on",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "continues with the next step as if the failed one had succeeded",
    remedy: "fix the failed step and run it again before the next one",
    source: page!("r411_went_on.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for failure in session.failures().iter().filter(|failure| failure.asks) {
        let Some(failed) = session.calls().get(failure.at) else { continue };
        recorder.count_opportunity(failed);
        if !failure.is_fault(RecoveryFault::WentOn) {
            continue;
        }
        let Some(next) = failure.by.and_then(|by| session.calls().get(by)) else { continue };
        let message = format!("{} goes on with the next step after one that failed", next.tool);
        recorder.find(
            Draft::new(next, message).about("the next step").bucket(failure.class.word()).evidence(
                session.result_evidence(EvidenceRole::Context, "the step that failed", failed),
            ),
        );
    }
}
