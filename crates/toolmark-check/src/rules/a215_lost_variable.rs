//! # What it does
//!
//! Finds a variable that is set for `cd` alone, although the command after it
//! is meant: `FLAG=1 cd web && npm test` runs the tests without `FLAG`.
//!
//! # Why
//!
//! The command runs without the variable and usually says nothing about it, so
//! its result answers another question.
//!
//! # What to do
//!
//! Set the variable where the program starts: `cd web && FLAG=1 npm test`.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"FLAG=1 cd web && npm test"} -> "ok"
//! ```
//!
//! ```fires
//! Bash {"command":"NODE_ENV=test CI=1 cd web && npm run build"} -> "ok"
//! ```
//!
//! ```fires
//! Bash {"command":"DEBUG=app cd /w/web; node server.js --once"} -> "started"
//! ```
//!
//! ```quiet
//! Bash {"command":"cd web && FLAG=1 npm test"} -> "ok"
//! ```
//!
//! ```quiet
//! Bash {"command":"export FLAG=1; cd web && npm test"} -> "ok"
//! ```
//!
//! ```quiet
//! Bash {"command":"FLAG=1; cd web && npm test --flag=$FLAG"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "A215",
    name: "lost-variable",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "sets a variable for `cd` alone, so that the command after it runs without it",
    remedy: "set the variable where the program starts",
    source: page!("a215_lost_variable.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls() {
        if let Some(name) = lost_variable(call) {
            let message = format!("{name} is set for `cd` alone");
            recorder.find(Draft::new(call, message));
        }
    }
}

/// Returns the variable that only `cd` sees.
fn lost_variable<'c>(call: &'c SessionCall<'_>) -> Option<&'c str> {
    let line = call.line().filter(|line| line.contains("=") && line.contains("cd "))?;
    let commands = &line.simple_commands().commands;
    let (last, before) = commands.split_last()?;
    // Variables that `cd` itself reads.
    let is_own = |name: &str| matches!(name, "CDPATH" | "PWD" | "OLDPWD" | "HOME");
    let command = before.iter().find(|command| {
        command.words.first().is_some_and(|word| word == "cd") && !command.assigned.is_empty()
    })?;
    let name = command.assigned.iter().find(|name| !is_own(name))?;
    let is_set_again = last.assigned.contains(name);
    (!is_set_again).then_some(name.as_str())
}
