//! LatticeFlow AI GO!: its tasks and evaluations, and its scorers.

pub(crate) mod dialect;
pub(crate) mod graders;
