//! DeepEval.

pub(crate) mod graders;
