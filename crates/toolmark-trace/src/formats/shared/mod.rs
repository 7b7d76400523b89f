//! Code shared by several formats.

pub(crate) mod adk;
pub(crate) mod agentv;
pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod chat_message;
pub(crate) mod claude;
pub(crate) mod claude_words;
pub(crate) mod codex;
pub(crate) mod codex_script;
pub(crate) mod conversation;
pub(crate) mod copilot;
pub(crate) mod declared;
pub(crate) mod events;
pub(crate) mod exit_code;
pub(crate) mod gemini;
pub(crate) mod markdown;
pub(crate) mod pairing;
pub(crate) mod pieces;
pub(crate) mod positional;
pub(crate) mod python;
pub(crate) mod readers;
pub(crate) mod spans;
pub(crate) mod text_calls;
pub(crate) mod tool_definitions;
pub(crate) mod turn;
