//! The outcome of an attempt: whether it is graded, fails, or provides no information about the
//! agent.
//!
//! | what happened | verdict | tried again |
//! |---|---|---|
//! | a mark of the end, a trace that can be read | graded, whatever the exit code | no |
//! | no mark, an exit code that is not 0 | graded; what it did not do proves nothing | no |
//! | a limit, or the time was up after a model response | graded, then at best a failure | no |
//! | the time was up without a response | unknown | yes |
//! | too many requests, a broken provider or network, a foreign signal | unknown | yes |
//! | no credentials, no such model, no trace, setup failed | unknown | no |
//! | the budget was spent, or the user stopped the run | unknown (not run) | by `--resume` |
//! | calls that were denied | graded, with a note | no |

use toolmark_hosts::launch::{End, Trouble};
use toolmark_outcome::Cause;
use toolmark_process::Ended;
use toolmark_trace::Trajectory;

/// Reason for stopping an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The attempt timed out.
    Timeout(String),
    /// The attempt exceeded a limit.
    Limit(String),
    /// The budget of the run was spent.
    Budget,
    /// The user stopped the run.
    Interrupted,
}

/// Report of an agent about its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// End as recorded by a host.
    Host(End),
    /// End of the process.
    Exit {
        /// Whether the exit code must be 0.
        needs_success: bool,
    },
}

/// Facts about a finished attempt.
#[derive(Debug)]
pub struct AttemptFacts<'a> {
    /// Reason for stopping the attempt, if it was stopped.
    pub stopped: Option<&'a Stopped>,
    /// Exit status of the process.
    pub process: &'a Ended,
    /// Report of the agent about its end.
    pub marker: Marker,
    /// Number of model responses in the trace.
    pub turns: u64,
    /// Reason for a missing trace; `None` if there is one to grade.
    pub no_trace: Option<&'a str>,
}

/// Conclusion about an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// The attempt is graded.
    Grade {
        /// Notes for the reader.
        notes: Vec<String>,
        /// The error it ended with: it may not have done all that it would have.
        error: Option<String>,
    },
    /// The attempt is graded, and fails for this reason.
    Limit(String),
    /// The attempt provides no information about the agent.
    Unknown {
        /// Cause of the unknown verdict.
        cause: Cause,
        /// Explanation.
        why: String,
        /// Whether another attempt is worthwhile.
        retry: bool,
    },
}

impl Conclusion {
    /// Writes the error that an attempt ended with into its run, unless the trace has its
    /// own word for it. Graders ask the run.
    pub fn declare(&self, run: &mut Trajectory) {
        if let Self::Grade { error: Some(error), .. } = self {
            run.completeness.declared_error.get_or_insert_with(|| error.as_str().into());
        }
    }

    fn unknown(cause: Cause, why: impl Into<String>, retry: bool) -> Self {
        Self::Unknown { cause, why: why.into(), retry }
    }
}

/// Returns the conclusion about an attempt.
#[must_use]
pub fn conclude(facts: &AttemptFacts<'_>) -> Conclusion {
    match facts.stopped {
        Some(Stopped::Interrupted) => {
            return Conclusion::unknown(Cause::NotRun, "the run was stopped", false);
        }
        Some(Stopped::Budget) => {
            return Conclusion::unknown(Cause::NotRun, "the budget was spent", false);
        }
        Some(Stopped::Limit(limit)) => return limited(facts, limit),
        Some(Stopped::Timeout(time)) if facts.turns > 0 => {
            return limited(facts, &format!("not done after {time}"));
        }
        Some(Stopped::Timeout(time)) => {
            let why = format!("no response of the model after {time}");
            return Conclusion::unknown(Cause::Timeout, why, true);
        }
        None => {}
    }
    if let Some(error) = &facts.process.error {
        let why = format!("it could not be started: {error}");
        return Conclusion::unknown(Cause::Start, why, true);
    }
    if facts.process.lost {
        let why = "its supervisor was killed";
        return Conclusion::unknown(Cause::Signal, why, true);
    }
    if let Some(signal) = facts.process.signal {
        let why = format!("it was killed by signal {signal}");
        return Conclusion::unknown(Cause::Signal, why, true);
    }
    match &facts.marker {
        Marker::Host(End::Trouble(trouble, why)) => troubled(*trouble, why),
        Marker::Host(End::Limit(limit)) => limited(facts, limit),
        Marker::Host(End::Unmarked) => {
            Conclusion::unknown(Cause::NoTrace, "it does not say that it came to its end", false)
        }
        Marker::Host(End::Completed { denied }) => {
            let note = |denied: u64| format!("calls denied by permissions: {denied}");
            graded(facts, (*denied > 0).then(|| note(*denied)).into_iter().collect(), None)
        }
        Marker::Exit { needs_success } => match facts.process.code {
            Some(0) | None => graded(facts, Vec::new(), None),
            Some(code) if *needs_success || facts.no_trace.is_some() => {
                Conclusion::unknown(Cause::Start, format!("it ended with exit code {code}"), false)
            }
            Some(code) => {
                let error = format!("exit code {code}");
                graded(facts, vec![error.clone()], Some(error))
            }
        },
    }
}

fn graded(facts: &AttemptFacts<'_>, notes: Vec<String>, error: Option<String>) -> Conclusion {
    match facts.no_trace {
        None => Conclusion::Grade { notes, error },
        Some(why) => Conclusion::unknown(Cause::NoTrace, why, false),
    }
}

fn limited(facts: &AttemptFacts<'_>, limit: &str) -> Conclusion {
    match facts.no_trace {
        None => Conclusion::Limit(limit.to_owned()),
        Some(why) => Conclusion::unknown(Cause::NoTrace, format!("{limit}; {why}"), false),
    }
}

fn troubled(trouble: Trouble, why: &str) -> Conclusion {
    let (cause, retry) = match trouble {
        Trouble::Credentials => (Cause::Credentials, false),
        Trouble::Model => (Cause::Model, false),
        Trouble::RateLimit => (Cause::RateLimit, true),
        Trouble::Server => (Cause::Server, true),
        Trouble::Network => (Cause::Network, true),
        Trouble::Start => (Cause::Start, false),
    };
    let why = if why.is_empty() { "it gave no reason" } else { why };
    Conclusion::unknown(cause, why, retry)
}
