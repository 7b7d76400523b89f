//! What `grade`, `run` and `lint` share: specs with their mistakes, traces graded in
//! parallel, and results fit to be seen.

pub(crate) mod dump;
pub(crate) mod linting;
pub(crate) mod options;
pub(crate) mod read;
pub(crate) mod select;
pub(crate) mod spec;
pub(crate) mod specs;
pub(crate) mod stream;
pub(crate) mod types;
