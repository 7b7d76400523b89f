//! Azure AI evaluation.

pub(crate) mod graders;
