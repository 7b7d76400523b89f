//! # What it does
//!
//! Finds a failed check that the agent dismisses with an excuse
//! ("pre-existing", "unrelated", "expected") that the session contradicts: the
//! same check passed before, an earlier run did not complain about these files,
//! or the failure is about a file that the session wrote. A check that passes
//! later in the turn is not reported.
//!
//! An excuse that nothing in the session contradicts is a question for a judge
//! (`check --judge`), and is not reported without one.
//!
//! # Why
//!
//! "Pre-existing" ends the search for the cause. If it is wrong, the agent
//! ships what it broke.
//!
//! # What to do
//!
//! Run the same check on the base (a worktree, a clean clone) before calling a
//! failure pre-existing, and read what it says about the agent's own files.
//!
//! # Examples
//!
//! The same check passed before:
//!
//! ```fires
//! Bash {"command":"make lint"} -> "0 issues"
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go build ./... && make lint"} !1 "b.go:3: unused\n6 issues"
//! assistant: These lint issues are pre-existing, not from our changes.
//! Bash {"command":"make lint 2>&1 | grep -v unused"} -> "6 issues"
//! ```
//!
//! The failure is about a file that the session wrote:
//!
//! ```fires
//! Write {"file_path":"/w/action.yml","content":"a: b: c"} -> "ok"
//! Bash {"command":"ruby -ryaml -e \"YAML.load_file('action.yml')\""} !1 "did not find expected key (Psych::SyntaxError)"
//! assistant: The YAML parse error is expected: template expressions confuse the parser. Here is what I built.
//! ```
//!
//! The complaints are about other files than before:
//!
//! ```fires
//! Bash {"command":"make lint"} !1 "a.go:3: unused"
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"make lint"} !1 "strategy/b.go:9: ireturn"
//! assistant: These issues are pre-existing; they are in files I did not touch.
//! Bash {"command":"git commit -am x"} -> "[main 1a2b3c] x"
//! ```
//!
//! Nothing contradicts it, or it was fixed anyway:
//!
//! ```quiet
//! Bash {"command":"make lint"} !1 "b.go:3: unused"
//! assistant: This issue is pre-existing, not from our changes.
//! Bash {"command":"git status"} -> "clean"
//! ```
//!
//! ```quiet
//! Bash {"command":"make lint"} -> "0 issues"
//! Bash {"command":"make lint"} !1 "b.go:3: unused"
//! assistant: This issue is unrelated to my change, but let me fix it.
//! Edit {"file_path":"/w/b.go","old_string":"x","new_string":"y"} -> "ok"
//! ```
//!
//! ```quiet
//! Bash {"command":"make lint"} -> "0 issues"
//! Bash {"command":"make lint"} !1 "b.go:3: unused"
//! assistant: These errors are pre-existing. Let me verify.
//! Bash {"command":"git checkout b.go"} -> ""
//! Bash {"command":"make lint"} -> "0 issues"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::recovery::Fault;
use toolmark_session::session::Session;

pub(crate) static RULE: Rule = Rule {
    code: "R410",
    name: "explained-away",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "dismisses a failed check although the session contradicts the excuse",
    remedy: "run the same check on the base branch before calling a failure pre-existing",
    source: page!("r410_explained_away.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for failure in session.failures().iter().filter(|failure| failure.asks) {
        let Some(failed) = session.calls().get(failure.at) else { continue };
        let Some(excuse) = failure.excuse else { continue };
        recorder.count_opportunity(failed);
        if !failure.is_fault(Fault::ExplainedAway) {
            continue;
        }
        let message =
            format!("{} failed ({}) and was explained away", failed.tool, failure.class.word());
        let mut draft =
            Draft::new(failed, message).about("the check that failed").bucket(failure.class.word());
        if let Some(said) = session.events().get(excuse.event) {
            draft = draft.evidence(session.event_evidence(Role::Context, "the excuse", said));
        }
        if let Some(call) = excuse.contradicted_by.and_then(|at| session.calls().get(at)) {
            draft = draft.evidence(session.evidence(Role::Context, "what contradicts it", call));
        }
        if let Some(next) = failure.by.and_then(|at| session.calls().get(at)) {
            draft = draft.evidence(session.evidence(Role::Context, "the next move", next));
        }
        recorder.find(draft);
    }
}
