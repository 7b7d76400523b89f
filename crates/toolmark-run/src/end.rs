//! What the end of an attempt means: whether it is graded, fails, or says nothing
//! about the agent.
//!
//! | what happened | verdict | tried again |
//! |---|---|---|
//! | a mark of the end, a trace that can be read | graded, whatever the exit code | no |
//! | a limit, or the time was up after a model response | graded, then at best a failure | no |
//! | the time was up without a response | unknown | yes |
//! | too many requests, a broken provider or network, a foreign signal | unknown | yes |
//! | no credentials, no such model, no trace, setup failed | unknown | no |
//! | the budget was spent, or somebody stopped the run | unknown (not run) | by `--resume` |
//! | calls that were denied | graded, with a note | no |

use toolmark_hosts::launch::{End, Trouble};
use toolmark_outcome::Cause;
use toolmark_process::Ended;

/// Why an attempt was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was up.
    Timeout(String),
    /// It exceeded a limit.
    Limit(String),
    /// The budget of the run was spent.
    Budget,
    /// Somebody stopped the run.
    Interrupted,
}

/// How an agent says that it came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// As a host says.
    Host(End),
    /// By ending; whether the exit code must be 0.
    Exit {
        /// Must it?
        needs_success: bool,
    },
}

/// What is known about an attempt that is over.
#[derive(Debug)]
pub struct Facts<'a> {
    /// Why it was stopped, where it was.
    pub stopped: Option<&'a Stopped>,
    /// How its process ended.
    pub process: &'a Ended,
    /// How the agent says it ended.
    pub marker: Marker,
    /// How many responses of a model the trace has.
    pub turns: u64,
    /// Why there is no trace to grade, where there is none.
    pub no_trace: Option<&'a str>,
}

/// What becomes of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// It is graded.
    Grade {
        /// What a reader should know.
        notes: Vec<String>,
    },
    /// It is graded, and fails for this reason.
    Limit(String),
    /// It says nothing about the agent.
    Unknown {
        /// Why.
        cause: Cause,
        /// In words.
        why: String,
        /// Is it worth another attempt?
        retry: bool,
    },
}

impl Conclusion {
    fn unknown(cause: Cause, why: impl Into<String>, retry: bool) -> Self {
        Self::Unknown { cause, why: why.into(), retry }
    }
}

/// What the end of an attempt means.
#[must_use]
pub fn conclude(facts: &Facts<'_>) -> Conclusion {
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
            graded(facts, (*denied > 0).then(|| note(*denied)).into_iter().collect())
        }
        Marker::Exit { needs_success } => match facts.process.code {
            Some(0) | None => graded(facts, Vec::new()),
            Some(code) if *needs_success || facts.no_trace.is_some() => {
                Conclusion::unknown(Cause::Start, format!("it ended with exit code {code}"), false)
            }
            Some(code) => graded(facts, vec![format!("exit code {code}")]),
        },
    }
}

fn graded(facts: &Facts<'_>, notes: Vec<String>) -> Conclusion {
    match facts.no_trace {
        None => Conclusion::Grade { notes },
        Some(why) => Conclusion::unknown(Cause::NoTrace, why, false),
    }
}

fn limited(facts: &Facts<'_>, limit: &str) -> Conclusion {
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
