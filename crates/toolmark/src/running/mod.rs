//! Output of `run`: the planned trials and the progress view.

pub(crate) mod dry_run;
pub(crate) mod view;
