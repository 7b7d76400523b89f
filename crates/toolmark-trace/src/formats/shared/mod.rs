//! What several formats have in common.

pub(crate) mod adk;
pub(crate) mod anthropic;
pub(crate) mod chat_message;
pub(crate) mod conversation;
pub(crate) mod exit_code;
pub(crate) mod positional;
pub(crate) mod tool_definitions;
