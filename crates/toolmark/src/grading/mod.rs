//! Code shared by `grade`, `run` and `lint`: specs and their errors, parallel grading, and redacted
//! results.

pub(crate) mod dump;
pub(crate) mod linting;
pub(crate) mod options;
pub(crate) mod read;
pub(crate) mod select;
pub(crate) mod spec;
pub(crate) mod specs;
pub(crate) mod stream;
pub(crate) mod types;
