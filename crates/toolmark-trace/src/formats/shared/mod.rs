//! What several formats have in common.

pub(crate) mod anthropic;
pub(crate) mod exit_code;
pub(crate) mod spans;
