//! # What it does
//!
//! Finds a failed call that is made again in the same way, with nothing read,
//! changed or run in between. Where the second attempt works, the finding has
//! low confidence: the tool may be fickle.
//!
//! # Why
//!
//! The same call in the same place fails in the same way. An agent that tries
//! it all the same has not read the error.
//!
//! # What to do
//!
//! Read the error and change what it names: the path, the argument, the code.
//! Where a retry is right (network, locks), wait before it.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! Read {"file_path":"a.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! ```
//!
//! A fix came in between:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! Run again to see more, or elsewhere:
//!
//! ```quiet
//! Bash {"command":"cargo test | tail -1"} !101 "1 failed"
//! Bash {"command":"cargo test | tail -50"} !101 "test a ... FAILED"
//! ```
//!
//! ```quiet
//! Bash {"command":"make"} !2 "make: *** No rule to make target"
//! Bash {"command":"cd sub && make"} !2 "make: *** No rule to make target"
//! ```
//!
//! Both were made before either was answered:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! & Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! ```
//!
//! The user spoke, or one retry is right:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! user: try again
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! ```quiet
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! ```

use crate::error_class::{ErrorClass, classify};
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::session::Session;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};

pub(crate) static RULE: Rule = Rule {
    code: "R401",
    name: "blind-repeat",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "makes a failed call again with nothing changed",
    remedy: "change what the error names before trying again",
    source: page!("r401_blind_repeat.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for failure in session.failures() {
        let Some(failed) = session.calls().get(failure.at) else { continue };
        recorder.count_opportunity(failed);
        let Some(repeat) = failure.repeat.filter(|_| failure.blind) else { continue };
        let Some(again) = session.calls().get(repeat) else { continue };
        // One retry is what such an error asks for.
        if failure.class == ErrorClass::Network {
            continue;
        }
        let confidence = match classify(again) {
            Some(_) => Confidence::High,
            None => Confidence::Low,
        };
        let message = format!(
            "{} failed ({}) and was called again in the same way",
            again.tool,
            failure.class.word()
        );
        recorder.find(
            Draft::new(again, message)
                .about("the repeat")
                .bucket(failure.class.word())
                .confidence(confidence)
                .evidence(session.result_evidence(Role::Context, "it had failed here", failed)),
        );
    }
}
