//! MLflow's scorers.

pub(crate) mod graders;
