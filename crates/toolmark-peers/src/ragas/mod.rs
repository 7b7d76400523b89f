//! Ragas.

pub(crate) mod graders;
