//! # What it does
//!
//! Checks the arguments of every call against the JSON Schema of its tool:
//! arguments the tool does not have, required ones that are missing, values of
//! the wrong type and values out of range. The schema is the one the trace
//! records, else the user's, else the one toolmark knows for the host.
//!
//! Where only toolmark's own schema speaks against a call that worked, the
//! finding has low confidence: the tool may have changed since.
//!
//! # Why
//!
//! A call with wrong arguments is refused, and a step is lost; or it is
//! accepted, and the argument that was meant to matter does not.
//!
//! # What to do
//!
//! If the model keeps making up an argument, name the right one in the tool's
//! description. If the tool has it after all, give toolmark the schema.
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
//! What the trace records wins, even where the call worked:
//!
//! ```fires
//! tools: search {"type":"object","required":["query"],"properties":{"query":{"type":"string"},"limit":{"type":"integer","maximum":50}}}
//! search {"query":"x","limit":500} -> "50 results"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs","offset":10,"limit":20} -> "10\tx"
//! ```
//!
//! The tool took an argument that toolmark does not know:
//!
//! ```quiet
//! Read {"file_path":"/w/a.pdf","zoom":2} -> "1\tx"
//! ```
//!
//! Another agent's tool of the same name may take other arguments:
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
use crate::session::{Ended, Session, SessionCall};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex};
use toolmark_hosts::toolset::Tool;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_schema::{Arguments, Violation};

pub(crate) static RULE: Rule = Rule {
    code: "A201",
    name: "invalid-arguments",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "arguments do not fit the tool's schema",
    remedy: "call the tool with the arguments its schema names",
    source: page!("a201_invalid_arguments.rs"),
    check,
};

/// The schema of a tool, and whose it is.
#[derive(Clone)]
struct KnownSchema {
    schema: Arc<Arguments>,
    /// Does toolmark only believe that the tool is like this?
    is_believed: bool,
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut schemas: HashMap<Rc<str>, Option<KnownSchema>> = HashMap::new();
    for call in session.calls() {
        let known = match schemas.get(&call.tool) {
            Some(known) => known,
            None => schemas.entry(call.tool.clone()).or_insert_with(|| schema_of(session, call)),
        };
        let (Some(known), Some(args)) = (known, call.args()) else { continue };
        recorder.count_opportunity(call);
        let violations = known.schema.check(args);
        let worked = call.ended == Ended::Ok;
        let is_valid = violations.is_empty() || (known.is_believed && worked);
        recorder.measure("valid", call, if is_valid { 1.0 } else { 0.0 });
        if let Some(first) = violations.first() {
            let confidence = match (known.is_believed, call.ended) {
                (true, Ended::Ok) => Confidence::Low,
                (true, Ended::Unknown) => Confidence::Medium,
                _ => Confidence::High,
            };
            found(session, recorder, call, first, violations.len(), confidence);
        }
    }
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
        draft =
            draft.evidence(session.result_evidence(Role::Context, "what the tool answered", call));
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

/// The schema of a built-in tool, made ready once for all sessions.
fn builtin(tool: &Tool) -> Option<Arc<Arguments>> {
    static READY: LazyLock<Mutex<HashMap<usize, Option<Arc<Arguments>>>>> =
        LazyLock::new(Mutex::default);
    let schema = tool.schema.as_ref()?;
    // Built-in tools live as long as the program, so the address is a name.
    let key = std::ptr::from_ref(tool).addr();
    let mut ready = READY.lock().ok()?;
    ready.entry(key).or_insert_with(|| Arguments::new(&schema.parse()).map(Arc::new)).clone()
}
