//! Mastra's scorers.

pub(crate) mod graders;
