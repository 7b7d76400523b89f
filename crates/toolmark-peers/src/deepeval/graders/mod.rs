//! DeepEval's deterministic metrics about tools.

pub(crate) mod loops;
mod similarity;
pub(crate) mod tool_correctness;
