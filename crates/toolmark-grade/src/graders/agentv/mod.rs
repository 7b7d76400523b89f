//! The graders of AgentV, from its first versions to its newest.
//!
//! Every one answers under toolmark's own reading and under those of AgentV 1,
//! 2 and 5, which differ: see [`reading`].

mod arguments;
mod calls;
pub(super) mod code_grader;
pub(super) mod composite;
mod dates;
mod entry;
pub(super) mod execution_metrics;
mod explain;
mod facts;
pub(super) mod field_accuracy;
mod glob;
pub(super) mod judges;
pub(super) mod limits;
pub(super) mod llm;
mod llm_rubric;
mod opposite;
mod reading;
pub(super) mod skill;
pub(super) mod step_count;
mod steps;
pub(super) mod text;
pub(super) mod tool_args;
pub(super) mod tool_sequence;
pub(super) mod tool_trajectory;
pub(super) mod tool_used;
mod value;

pub use entry::{COMMON, Entry, entries, judged};
pub use opposite::opposite;
