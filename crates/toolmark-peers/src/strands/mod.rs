//! AWS Strands evals.

pub(crate) mod graders;
