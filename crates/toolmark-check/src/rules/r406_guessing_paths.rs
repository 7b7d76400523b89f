//! # What it does
//!
//! Finds a path that does not exist, followed by another path that does not
//! exist either, with no search in between.
//!
//! # Why
//!
//! One search by name costs as much as one guess, and ends the guessing.
//!
//! # What to do
//!
//! Search by name or list the directory after the first miss, and take the path
//! from the result.
//!
//! # Examples
//!
//! ```fires
//! Read {"file_path":"/w/src/auth.rs"} !> "File does not exist."
//! Read {"file_path":"/w/lib/auth.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/src/auth.rs"} !> "File does not exist."
//! TodoWrite {"todos":[]} -> "ok"
//! Read {"file_path":"/w/src/auth/mod.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! host: gemini-cli
//! read_file {"absolute_path":"/w/a.py"} !> "File not found: /w/a.py"
//! read_file {"absolute_path":"/w/b.py"} !> "File not found: /w/b.py"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/src/auth.rs"} !> "File does not exist."
//! Glob {"pattern":"**/auth*"} -> "/w/lib/auth.rs"
//! Read {"file_path":"/w/lib/auth.rs"} !> "File does not exist."
//! ```
//!
//! Both calls were made at once:
//!
//! ```quiet
//! Read {"file_path":"/w/src/auth.rs"} !> "File does not exist."
//! & Read {"file_path":"/w/lib/auth.rs"} !> "File does not exist."
//! ```
//!
//! The host could not start its own program:
//!
//! ```quiet
//! Grep {"pattern":"x","path":"/w"} !> "ENOENT: no such file or directory, posix_spawn '/opt/rg'"
//! Grep {"pattern":"x","path":"/w/src"} !> "ENOENT: no such file or directory, posix_spawn '/opt/rg'"
//! ```
//!
//! The second path exists, or the user named it:
//!
//! ```quiet
//! Read {"file_path":"/w/src/auth.rs"} !> "File does not exist."
//! Read {"file_path":"/w/lib/auth.rs"} -> "1\tx"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/src/auth.rs"} !> "File does not exist."
//! user: it is lib/auth.rs
//! Read {"file_path":"/w/lib/auth.rs"} !> "File does not exist."
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::recovery::RecoveryFault;
use toolmark_session::session::Session;

pub(crate) static RULE: Rule = Rule {
    code: "R406",
    name: "guessing-paths",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "guesses another path after one that does not exist",
    remedy: "search by name or list the directory after the first miss",
    source: page!("r406_guessing_paths.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for failure in session.failures().iter().filter(|f| f.class == ErrorClass::Missing) {
        let Some(first) = session.calls().get(failure.at).filter(|call| call.path.is_some()) else {
            continue;
        };
        recorder.count_opportunity(first);
        let Some(guess) = failure.by.and_then(|by| session.calls().get(by)) else { continue };
        let Some(path) = guess.path.as_deref() else { continue };
        let is_guess =
            failure.is_fault(RecoveryFault::Guess) && first.path.as_deref() != Some(path);
        if is_guess {
            let message =
                format!("{} was guessed after another path that is not there", session.shown(path));
            recorder.find(
                Draft::new(guess, message)
                    .about("the guess")
                    .bucket(failure.class.word())
                    .evidence(session.result_evidence(
                        EvidenceRole::Context,
                        "the first miss",
                        first,
                    )),
            );
        }
    }
}
