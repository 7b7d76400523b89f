//! What several formats have in common.

pub(crate) mod agentv;
pub(crate) mod anthropic;
pub(crate) mod copilot;
pub(crate) mod exit_code;
