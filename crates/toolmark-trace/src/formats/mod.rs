//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod adk_evalset;
mod adk_session;
mod adk_test;
mod anthropic_messages;
mod atif;
mod claude_code;
mod langchain;
mod openai_chat;
mod openai_responses;
pub(crate) mod shared;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &claude_code::ClaudeCode,
    &atif::Atif,
    &adk_session::AdkSession,
    &adk_evalset::AdkEvalset,
    &adk_test::AdkTest,
    &langchain::Langchain,
    &anthropic_messages::AnthropicMessages,
    &openai_chat::OpenaiChat,
    &openai_responses::OpenaiResponses,
];
