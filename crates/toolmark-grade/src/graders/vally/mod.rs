//! The graders of Microsoft Vally.

pub(super) mod budget;
