//! # What it does
//!
//! Checks the arguments of every call against the JSON Schema of its tool:
//! unknown arguments, missing required arguments, values of the wrong type and
//! values out of range. The schema is the one recorded in the trace; without
//! one, the schema you configured; without that, the schema toolmark knows for
//! the host.
//!
//! If no schema is known, a call is reported when the host or the server
//! rejects its arguments.
//!
//! If a call succeeded and only toolmark's own schema contradicts it, the
//! finding has low confidence: the tool may have changed since.
//!
//! # Why
//!
//! A call with wrong arguments is either rejected, which wastes a step, or
//! accepted with the wrong argument ignored.
//!
//! # What to do
//!
//! If the model keeps inventing an argument, name the right one in the tool's
//! description. If the tool does accept it, give toolmark the schema.
//!
//! # Examples
//!
//! ```fires
//! Read {"path":"/w/a.rs"} !> "InputValidationError: Read failed due to the following issue: file_path is missing"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/a.rs","offset":"10"} !> "InputValidationError"
//! ```
//!
//! ```fires
//! host: codex
//! read_file {"file_path":"/w/a.rs","offset":0} !> "offset must be a 1-indexed line number"
//! ```
//!
//! The schema in the trace takes precedence, even if the call succeeded:
//!
//! ```fires
//! tools: search {"type":"object","required":["query"],"properties":{"query":{"type":"string"},"limit":{"type":"integer","maximum":50}}}
//! search {"query":"x","limit":500} -> "50 results"
//! ```
//!
//! The server rejects the arguments:
//!
//! ```fires
//! mcp__tracker__create {"title":"a","parentId":"ENT-53"} !> "Received non-uuid id - parentId contained a non-uuid identifier."
//! ```
//!
//! ```fires
//! mcp__code__list_dir {"relative_path":"."} !> "Error executing tool list_dir: 1 validation error for applyArguments\nrecursive\n  Field required [type=missing]"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs","offset":10,"limit":20} -> "10\tx"
//! ```
//!
//! The error is not about the arguments:
//!
//! ```quiet
//! mcp__tracker__create {"title":"a"} !> "Request failed with status code 500"
//! ```
//!
//! The tool accepted an argument that toolmark does not know:
//!
//! ```quiet
//! Read {"file_path":"/w/a.pdf","zoom":2} -> "1\tx"
//! ```
//!
//! A tool of another agent with the same name may have other arguments:
//!
//! ```quiet
//! host: openai
//! Read {"path":"/w/a.rs"} !> "no such file"
//! ```
//!
//! ```quiet
//! mcp__tracker__create {"anything":1} -> "ok"
//! ```
//!
//! ```quiet
//! host: codex
//! apply_patch "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::rules::s105_tool_not_offered::is_refused;
use foldhash::{HashMap, HashMapExt};
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex};
use toolmark_hosts::toolset::{Tool, ToolRole};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_schema::{Arguments, Violation};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::text::head;
use toolmark_trace::Status;

pub(crate) static RULE: Rule = Rule {
    code: "A201",
    name: "invalid-arguments",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the arguments do not match the tool's schema, or the tool rejects them",
    remedy: "use the arguments that the tool's schema defines",
    source: page!("a201_invalid_arguments.rs"),
    check,
};

/// Schema of a tool, with its origin.
#[derive(Clone)]
struct KnownSchema {
    schema: Arc<Arguments>,
    /// Whether the schema is only assumed by toolmark.
    is_believed: bool,
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut schemas: HashMap<Rc<str>, Option<KnownSchema>> = HashMap::new();
    for call in session.calls() {
        let known = match schemas.get(&call.tool) {
            Some(known) => known,
            None => schemas.entry(call.tool.clone()).or_insert_with(|| schema_of(session, call)),
        };
        let (Some(known), Some(args)) = (known, call.args()) else {
            check_answer(session, recorder, call);
            continue;
        };
        recorder.count_opportunity(call);
        let violations = known.schema.check(args);
        let worked = call.ended == Ended::Ok;
        let is_valid = violations.is_empty() || (known.is_believed && worked);
        recorder.measure("valid", call, if is_valid { 1.0 } else { 0.0 });
        if violations.is_empty() {
            check_answer(session, recorder, call);
        }
        // Unknown tools have their own rule.
        if let Some(first) = violations.first().filter(|_| !is_refused(call)) {
            let confidence = match (known.is_believed, call.ended) {
                (true, Ended::Ok) => Confidence::Low,
                (true, Ended::Unknown) => Confidence::Medium,
                _ => Confidence::High,
            };
            found(session, recorder, call, first, violations.len(), confidence);
        }
    }
}

/// Phrases with which hosts and servers reject arguments.
const REJECTIONS: &[&str] = &[
    "InputValidationError",
    "validation error for",
    "Input validation error",
    "Invalid arguments",
    "invalid arguments",
    "Invalid parameters",
    "-32602",
    "non-uuid id",
    "Field required",
    "is a required property",
    "must have required property",
    "missing required",
    "Missing required",
    "unexpected keyword argument",
    "required positional argument",
    "failed to parse function arguments",
    "Additional properties are not allowed",
    "\"code\": \"invalid_type\"",
    "\"code\":\"invalid_type\"",
    "Argument Validation Error",
    "is not one of the allowed values",
    "must be one of",
];

/// Reports arguments that a host or a server rejects, whether or not the schema is known.
fn check_answer(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, call: &SessionCall<'_>) {
    /// Maximum number of bytes to search; a rejection is at the start.
    const MAX_EXAMINED: usize = 600;
    // A command may print anything, including such phrases.
    let is_free = matches!(call.role, ToolRole::RunsShell | ToolRole::TalksToShell);
    if call.ended != Ended::Failed || is_free || call.call.status == Status::Denied {
        return;
    }
    let Some(result) = call.result() else { return };
    let start = head(&result, MAX_EXAMINED);
    if !REJECTIONS.iter().any(|words| start.contains(words)) {
        return;
    }
    recorder.measure("valid", call, 0.0);
    let said = session.result_evidence(EvidenceRole::Context, "what the tool answered", call);
    let message = format!("{} rejects its arguments", call.tool);
    recorder.find(Draft::new(call, message).bucket("rejected").evidence(said));
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    first: &Violation,
    count: usize,
    confidence: Confidence,
) {
    let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    let message = format!("{}: {} {}{more}", call.tool, first.argument, first.message);
    let mut draft = Draft::new(call, message).confidence(confidence).bucket(first.kind.word());
    if call.ended == Ended::Failed {
        draft = draft.evidence(session.result_evidence(
            EvidenceRole::Context,
            "what the tool answered",
            call,
        ));
    }
    recorder.find(draft);
}

fn schema_of(session: &Session<'_>, call: &SessionCall<'_>) -> Option<KnownSchema> {
    let recorded = session.definition(call).and_then(|tool| tool.schema.as_ref()?.parsed());
    if let Some(schema) = recorded {
        let schema = Arc::new(Arguments::new(schema)?);
        return Some(KnownSchema { schema, is_believed: false });
    }
    let tool = call.spec?;
    match call.spec_by_user {
        true => {
            let schema = Arc::new(Arguments::new(&tool.schema.as_ref()?.parse())?);
            Some(KnownSchema { schema, is_believed: false })
        }
        false if session.is_host_guessed() => None,
        false => Some(KnownSchema { schema: builtin(tool)?, is_believed: true }),
    }
}

/// Returns the schema of a built-in tool, compiled once for all sessions.
fn builtin(tool: &Tool) -> Option<Arc<Arguments>> {
    static READY: LazyLock<Mutex<HashMap<usize, Option<Arc<Arguments>>>>> =
        LazyLock::new(Mutex::default);
    let schema = tool.schema.as_ref()?;
    // Built-in tools are static, so the address identifies the tool.
    let key = std::ptr::from_ref(tool).addr();
    let mut ready = READY.lock().ok()?;
    ready.entry(key).or_insert_with(|| Arguments::new(&schema.parse()).map(Arc::new)).clone()
}
