//! UiPath's evaluators.

pub(crate) mod graders;
