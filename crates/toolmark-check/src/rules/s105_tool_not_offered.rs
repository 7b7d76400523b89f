//! # What it does
//!
//! Finds calls of tools that the session did not have: the tool is not in the
//! recorded list of tools, or the host rejected the call because it has no such
//! tool.
//!
//! # Why
//!
//! The model remembers the tool from somewhere else. The call cannot work and
//! wastes a step; often the next guess is wrong too.
//!
//! # What to do
//!
//! If prompts, skills or instructions mention the tool, remove its name. If the
//! tool is needed, offer it.
//!
//! # Examples
//!
//! ```fires
//! tools: Read, Bash
//! Grep {"pattern":"x"} !> "error"
//! ```
//!
//! ```fires
//! Search {"pattern":"x"} !> "<tool_use_error>Error: No such tool available: Search</tool_use_error>"
//! ```
//!
//! ```fires
//! host: copilot-cli
//! read {"path":"x"} !> "Tool 'read' does not exist."
//! ```
//!
//! ```quiet
//! tools: Read, Bash
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! ```
//!
//! The trace does not record which tools were offered:
//!
//! ```quiet
//! Search {"pattern":"x"} -> "a.rs"
//! ```
//!
//! The call succeeded, so the tool was available:
//!
//! ```quiet
//! tools: Read
//! mcp__shop__find {"q":"x"} -> "a thing"
//! ```
//!
//! The list may omit tools built into the host. A tool that worked once was
//! available:
//!
//! ```quiet
//! tools: Read
//! Bash {"command":"ls"} -> "a.rs"
//! Bash {"command":"make"} !2 "Exit code 2"
//! ```
//!
//! The message comes from a program, not from the host:
//!
//! ```quiet
//! Bash {"command":"./run find"} !1 "Exit code 1\nNo such tool available: find"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_base::SortedSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "S105",
    name: "tool-not-offered",
    axis: Axis::Selection,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "calls a tool that was not offered",
    remedy: "call one of the tools that were offered, or offer this one",
    source: page!("s105_tool_not_offered.rs"),
    check,
};

/// Phrases with which hosts report an unknown tool.
const REFUSALS: &[&str] =
    &["No such tool available", "unsupported call:", "Unknown tool", "not found in registry"];

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let tools = session.trajectory().tools.as_deref().filter(|tools| !tools.is_empty());
    let offered: Option<SortedSet<String>> =
        tools.map(|tools| tools.iter().map(|tool| tool.name.get().into_owned()).collect());
    let used: SortedSet<&str> = session
        .calls()
        .iter()
        .filter(|call| call.ended == Ended::Ok || call.call.exit_code.is_some())
        .map(|call| &*call.tool)
        .collect();
    for call in session.calls() {
        let refused = call.ended == Ended::Failed && is_refused(call);
        let is_listed = offered.as_ref().map(|offered| {
            offered.contains(&*call.call.name.original.get()) || offered.contains(&*call.tool)
        });
        match is_listed {
            _ if refused => {}
            // A tool that worked was available.
            Some(false) if call.ended == Ended::Failed && !used.contains(&*call.tool) => {}
            Some(_) => {
                recorder.count_opportunity(call);
                continue;
            }
            None => continue,
        }
        let message = match refused {
            true => format!("there is no tool {}", call.tool.lines().next().unwrap_or_default()),
            false => format!("{} is not among the tools that were offered", call.tool),
        };
        // The list may omit tools that servers add later.
        let is_sure = refused || call.call.name.canonical().server.is_none();
        let confidence = if is_sure { Confidence::High } else { Confidence::Low };
        recorder.find(Draft::new(call, message).confidence(confidence).evidence(
            session.result_evidence(EvidenceRole::Context, "what the host answered", call),
        ));
    }
}

/// Whether the host reports that the tool does not exist.
pub(super) fn is_refused(call: &SessionCall<'_>) -> bool {
    /// Maximum number of bytes to search; a refusal is at the start.
    const MAX_EXAMINED: usize = 200;
    // A command may print anything.
    if call.role == ToolRole::RunsShell {
        return false;
    }
    let Some(result) = call.result() else { return false };
    let end = result.char_indices().nth(MAX_EXAMINED).map_or(result.len(), |(at, _)| at);
    let start = result.get(..end).unwrap_or_default();
    let name = call.call.name.original.get();
    start.contains(&*name)
        && (REFUSALS.iter().any(|words| start.contains(words))
            || start.contains(&format!("Tool '{name}' does not exist")))
}
