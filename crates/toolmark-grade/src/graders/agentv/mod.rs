//! The graders of AgentV, from its first versions to its newest.
//!
//! Every one answers under toolmark's own reading and under those of AgentV 1,
//! 2 and 5, which differ: see [`reading`].

mod arguments;
mod calls;
mod explain;
mod glob;
mod opposite;
mod reading;
pub(super) mod step_count;
mod steps;
pub(super) mod tool_args;
pub(super) mod tool_sequence;
pub(super) mod tool_trajectory;
pub(super) mod tool_used;
mod value;

pub use opposite::opposite;
