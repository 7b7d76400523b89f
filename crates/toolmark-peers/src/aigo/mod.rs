//! LatticeFlow AI GO!: its tasks, evaluations and scorers.

pub(crate) mod dialect;
pub(crate) mod graders;
