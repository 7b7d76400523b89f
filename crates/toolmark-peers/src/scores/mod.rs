//! Graders for trajectory scores that many systems compute, each in its own way.
//!
//! The graders here are toolmark's own: by default they answer under toolmark's reading, and
//! otherwise as the system that a profile names. Differences of a system are in the folder of that
//! system: for [`trajectory_match`] a table of its modes ([`system::System`]), each a
//! small function over expected calls and actual calls ([`calls`]).

pub(crate) mod call_arguments;
pub(crate) mod call_counts;
pub(crate) mod calls;
pub(crate) mod loop_detection;
pub(crate) mod matching;
mod own;
pub(crate) mod python;
mod question;
pub(crate) mod suite;
pub(crate) mod system;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod tool_call_f1;
pub(crate) mod tool_permission;
pub(crate) mod tool_retries;
pub(crate) mod trajectory_match;
