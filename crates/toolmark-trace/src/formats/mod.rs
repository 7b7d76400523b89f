//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod anthropic_managed;
mod claude_code;
mod claude_hooks;
mod claude_stream;
mod codex_exec;
mod codex_rollout;
pub(crate) mod shared;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &claude_code::ClaudeCode,
    &codex_rollout::CodexRollout,
    &claude_stream::ClaudeStream,
    &codex_exec::CodexExec,
    &claude_hooks::ClaudeHooks,
    &anthropic_managed::AnthropicManaged,
];
