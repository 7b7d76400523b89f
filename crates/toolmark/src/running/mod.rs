//! Output of `run`: the progress view.

pub(crate) mod view;
