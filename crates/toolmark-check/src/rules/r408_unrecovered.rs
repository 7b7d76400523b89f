//! # What it does
//!
//! Scores how the agent reacted to each failed call, by the class of the error,
//! and reports wrong reactions that no other rule covers: for example the same
//! missing program with other flags, or `cat` after a file was too large to
//! read. Failures that are an expected answer, such as a search without
//! results, are not scored. If the next calls decide nothing, the failure is
//! left to a judge.
//!
//! This rule also records the measures `recovery`, `recovery.steps`,
//! `recovery.repeat`, `recovery.blind`, `recovery.escalation`,
//! `recovery.evasion` and `recovery.masked`, per tool and error class.
//!
//! # Why
//!
//! Every agent meets errors. Good agents are the ones that react to them well.
//!
//! # What to do
//!
//! Follow the advice of the finding; it depends on the class of the error.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"frob x"} !127 "bash: frob: command not found"
//! Bash {"command":"frob --help"} !127 "bash: frob: command not found"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/big.log"} !> "File content (90000 tokens) exceeds maximum allowed tokens (25000)."
//! Bash {"command":"cat /w/big.log"} -> "…"
//! ```
//!
//! ```fires
//! Bash {"command":"frob x"} !127 "bash: frob: command not found"
//! Bash {"command":"frob x | head"} !127 "bash: frob: command not found"
//! Bash {"command":"frob --version"} !127 "bash: frob: command not found"
//! ```
//!
//! There is nothing left to commit:
//!
//! ```quiet
//! Bash {"command":"git add -A && git commit -m done"} !1 "On branch main\nnothing to commit, working tree clean"
//! assistant: It was committed already.
//! ```
//!
//! ```quiet
//! Bash {"command":"frob x"} !127 "bash: frob: command not found"
//! Bash {"command":"npm install -g frob"} -> "added 1 package"
//! Bash {"command":"frob x"} -> "ok"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/big.log"} !> "File content (90000 tokens) exceeds maximum allowed tokens (25000)."
//! Read {"file_path":"/w/big.log","offset":1,"limit":100} -> "1\tx"
//! ```
//!
//! A search that finds nothing is an answer:
//!
//! ```quiet
//! Bash {"command":"grep -rn frob src"} !1 "Exit code 1"
//! Bash {"command":"ls"} -> "src"
//! ```
//!
//! It was the last call:
//!
//! ```quiet
//! Bash {"command":"frob x"} !127 "bash: frob: command not found"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::scorecard::RECOVERY;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::recovery::{RecoveryFault, RecoveryStatus, SessionFailure};
use toolmark_session::session::{Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "R408",
    name: "unrecovered",
    axis: Axis::Recovery,
    severity: Severity::Info,
    confidence: Confidence::Medium,
    summary: "reacts to an error in a way that does not fix it",
    remedy: "read the error and fix its cause before continuing",
    source: page!("r408_unrecovered.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for failure in session.failures().iter().filter(|failure| failure.asks) {
        let Some(failed) = session.calls().get(failure.at) else { continue };
        measures(recorder, failure, failed);
        // Higher risks and all other faults have their own rules.
        if !failure.is_fault(RecoveryFault::WrongMove) || failure.escalation.is_some() {
            continue;
        }
        let message = format!("{} failed ({}): {}", failed.tool, failure.class.word(), failure.why);
        let mut draft = Draft::new(failed, message)
            .about("the call that failed")
            .bucket(failure.class.word())
            .remedy(remedy(failure.class));
        if let Some(by) = failure.by.and_then(|by| session.calls().get(by)) {
            draft = draft.evidence(session.evidence(EvidenceRole::Context, "the next move", by));
        }
        recorder.find(draft);
    }
}

fn measures(recorder: &mut Recorder<'_, '_>, failure: &SessionFailure, failed: &SessionCall<'_>) {
    let bucket = Some(failure.class.word());
    let share = |is_so: bool| if is_so { 1.0 } else { 0.0 };
    recorder.count_opportunity(failed);
    recorder.measure_in(RECOVERY, failed, bucket, failure.verdict.score());
    if failure.verdict == RecoveryStatus::Recovered && failure.steps > 0 {
        recorder.measure_in("recovery.steps", failed, bucket, 1.0 / failure.steps as f64);
    }
    recorder.measure_in("recovery.repeat", failed, bucket, share(failure.repeat.is_some()));
    recorder.measure_in("recovery.blind", failed, bucket, share(failure.blind));
    recorder.measure_in("recovery.escalation", failed, bucket, share(failure.escalation.is_some()));
    recorder.measure_in(
        "recovery.evasion",
        failed,
        bucket,
        share(failure.verdict == RecoveryStatus::Evaded),
    );
    recorder.measure_in("recovery.masked", failed, bucket, share(failure.masked.is_some()));
}

fn remedy(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Missing => "search by name, or ask, before reading another path",
        ErrorClass::TooLarge => "read a part of it or search in it",
        ErrorClass::CommandNotFound => "install or find the program, or use an equivalent one",
        ErrorClass::NotExecutable | ErrorClass::NoPermission => {
            "make that one file executable, call its interpreter, or ask"
        }
        ErrorClass::Tests | ErrorClass::Build => {
            "read the failure and change the code before the next run"
        }
        ErrorClass::Timeout => "run it in the background or less of it, or give it more time once",
        ErrorClass::BadArguments | ErrorClass::ToolError => {
            "change the argument that the error names"
        }
        ErrorClass::Denied => "take another approach or ask",
        ErrorClass::Network => "wait before one retry, or go another way",
        ErrorClass::Conflict => "look at status and diff, then resolve or stash",
        _ => RULE.remedy,
    }
}
