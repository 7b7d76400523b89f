//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod anthropic_messages;
mod atif;
mod claude_code;
mod langchain;
mod openai_chat;
pub(crate) mod shared;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &claude_code::ClaudeCode,
    &atif::Atif,
    &langchain::Langchain,
    &anthropic_messages::AnthropicMessages,
    &openai_chat::OpenaiChat,
];
