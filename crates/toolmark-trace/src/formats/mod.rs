//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod antigravity;
mod claude_code;
mod cursor_stream;
mod cursor_transcript;
mod droid;
mod gemini_cli;
mod gemini_contents;
mod gemini_stream;
mod grok;
mod hermes;
mod kimi;
mod opencode;
mod pi;
mod qwen_code;
pub(crate) mod shared;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &qwen_code::QwenCode,
    &cursor_stream::CursorStream,
    &droid::Droid,
    &claude_code::ClaudeCode,
    &gemini_cli::GeminiCli,
    &gemini_stream::GeminiStream,
    &pi::OpenClaw,
    &pi::Pi,
    &kimi::Kimi,
    &grok::Grok,
    &hermes::Hermes,
    &antigravity::Antigravity,
    &opencode::OpenCode,
    &cursor_transcript::CursorTranscript,
    &gemini_contents::GeminiContents,
];
