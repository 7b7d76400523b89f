//! Questions about a trajectory that many systems answer with a score, each in its own way.
//!
//! The graders here are toolmark's own: they answer honestly by default, and as the
//! system that a profile names. What a system does differently is in the folder of that
//! system: for [`trajectory_match`] a table of its modes ([`system::System`]), each a
//! small function over expected calls and calls that were made ([`calls`]).

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
