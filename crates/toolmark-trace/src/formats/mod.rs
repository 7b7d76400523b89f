//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod agentv_results;
mod agentv_trace;
mod agentv_transcript;
mod claude_code;
mod copilot_cli;
mod copilot_print;
pub(crate) mod shared;
mod vally;
mod vscode_chat;
mod vscode_replay;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &claude_code::ClaudeCode,
    &copilot_cli::CopilotCli,
    &copilot_print::CopilotPrint,
    &vscode_chat::VscodeChat,
    &vscode_replay::VscodeReplay,
    &vally::Vally,
    &agentv_transcript::AgentvTranscript,
    &agentv_results::AgentvResults,
    &agentv_trace::AgentvTrace,
];
