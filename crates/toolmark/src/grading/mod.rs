//! Options and output shared by `grade`, `run` and `lint`.

pub(crate) mod linting;
pub(crate) mod options;
pub(crate) mod select;
