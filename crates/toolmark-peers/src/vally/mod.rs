//! Microsoft Vally: its specs, graders and result records.

pub(crate) mod dialect;
pub(crate) mod graders;
pub mod report;
