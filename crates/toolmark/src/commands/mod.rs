//! One command, one file.

pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod formats;
pub(crate) mod show;
pub(crate) mod stats;
