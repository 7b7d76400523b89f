//! Pydantic Evals.

pub(crate) mod graders;
