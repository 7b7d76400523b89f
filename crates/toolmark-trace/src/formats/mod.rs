//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod claude_code;
mod copilot_cli;
pub(crate) mod shared;
mod vally;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &claude_code::ClaudeCode,
    &copilot_cli::CopilotCli,
    &vally::Vally,
];
