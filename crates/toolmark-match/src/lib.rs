//! Matching of tool calls: names, arguments and results against what a spec or a policy
//! expects, and the best assignment of calls to expectations.
//!
//! [`call_match`] compares one call with one expectation, [`engine`] assigns and aligns many.
//! Graders, the guard's policy and the mining of specs are built on both.
//!
//! Nothing here reads files or prints.

#![forbid(unsafe_code)]

mod building;
pub mod call_match;
pub mod engine;
mod lookalike;
mod mention;
pub mod units;

pub use building::Building;
pub use lookalike::looks_alike;
pub use mention::Mention;
