//! The graders of AgentV, from its first versions to its newest.
//!
//! Each answers under toolmark's own reading and under those of AgentV 1,
//! 2 and 5, which differ: see [`reading`].

mod arguments;
mod calls;
pub(crate) mod code_grader;
pub(crate) mod composite;
mod dates;
mod entry;
pub(crate) mod execution_metrics;
mod facts;
pub(crate) mod field_accuracy;
pub(crate) mod inline_code;
pub(crate) mod judges;
pub(crate) mod limits;
pub(crate) mod llm;
mod llm_rubric;
mod opposite;
mod reading;
pub(crate) mod skill;
pub(crate) mod step_count;
mod steps;
pub(crate) mod text;
pub(crate) mod tool_args;
pub(crate) mod tool_sequence;
pub(crate) mod tool_trajectory;
pub(crate) mod tool_used;
mod value;

pub use entry::{COMMON, EvaluatorEntry, entries, judged};
pub use opposite::opposite;
