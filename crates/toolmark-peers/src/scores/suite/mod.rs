//! Graders of Future AGI's agents suite, about a whole run.
//!
//! Six of the seven formulas count words and steps (`futureagi/graders/agents.rs`). By
//! default toolmark only decides what the trace can prove, and otherwise the verdict is
//! unknown.

pub(crate) mod action_safety;
pub(crate) mod config;
pub(crate) mod goal_progress;
pub(crate) mod input;
pub(crate) mod reasoning_quality;
pub(crate) mod step_efficiency;
pub(crate) mod task_completion;
pub(crate) mod tool_selection;
pub(crate) mod trajectory_score;
