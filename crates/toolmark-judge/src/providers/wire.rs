//! The parts shared by all wire formats over HTTP.
//!
//! A [`Wire`] writes a request and reads a complete answer. If the answer is streamed, an
//! [`Assembly`] builds the equivalent complete answer, so that there is one reader for both.

use super::{AttemptTokens, FaultKind, Prompt, Provider, ProviderFault, Reply, TOOL, error};
use crate::config::{Model, Structured};
use crate::http::{HttpReply, JudgeConnection};
use crate::secret::{Secret, resolve, scrub_result};
use serde_json::Value;
use std::fmt;
use std::io::Read;
use std::sync::OnceLock;
use toolmark_config::quoted;
use toolmark_http::SseReader;
use toolmark_redact::sanitize;

/// A wire format.
pub(super) trait Wire: Send + Sync {
    /// Returns the path after the base address.
    fn path(&self, model: &Model) -> String;

    /// Returns the headers besides the key.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the body of a request.
    fn request(&self, model: &Model, prompt: &Prompt<'_>) -> Value;

    /// Returns the tokens used by a complete answer.
    fn spent(&self, answer: &Value) -> AttemptTokens;

    /// Reads a complete answer.
    fn read(&self, answer: &Value) -> Result<ModelOutput, ProviderFault>;

    /// Starts to assemble a streamed answer.
    fn assembly(&self) -> Box<dyn Assembly>;
}

/// A streamed answer being assembled.
pub(super) trait Assembly {
    /// Adds an event; `true` if it was the last.
    fn take(&mut self, event: &Value) -> Result<bool, ProviderFault>;

    /// Handles the end of the stream: OpenAI's `[DONE]`.
    fn done(&mut self) {}

    /// Returns the tokens so far.
    fn tokens(&self) -> AttemptTokens;

    /// Returns the complete answer; `None` if its end is missing.
    fn whole(self: Box<Self>) -> Option<Value>;
}

/// The output of a model, independent of the wire format.
#[derive(Debug, Default)]
pub(super) struct ModelOutput {
    /// Tool calls: names and arguments.
    pub(super) calls: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) refusal: Option<String>,
    pub(super) is_cut: bool,
}

impl ModelOutput {
    fn reply(self, structured: Structured, tokens: AttemptTokens) -> Reply {
        let Self { calls, mut text, refusal, is_cut } = self;
        let mut answers = Vec::new();
        if structured == Structured::Schema && !text.trim().is_empty() {
            answers.push(std::mem::take(&mut text));
        }
        for (name, arguments) in calls {
            if name == TOOL {
                answers.push(arguments);
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&format!(
                "(called {}, which is not a tool here)",
                quoted(&sanitize(&name))
            ));
        }
        Reply { answers, text, refusal, is_cut, tokens }
    }
}

/// A model accessed over HTTP.
pub(super) struct Remote<W> {
    model: Model,
    wire: W,
    connection: JudgeConnection,
    key: OnceLock<Result<Option<Secret>, ProviderFault>>,
}

impl<W: Wire> Remote<W> {
    pub(super) fn new(model: Model, wire: W) -> Self {
        let connection = JudgeConnection::new(&model, &wire.path(&model));
        Self { model, wire, connection, key: OnceLock::new() }
    }

    fn attempt(&self, prompt: &Prompt<'_>, key: Option<&Secret>) -> Result<Reply, ProviderFault> {
        let request = self.wire.request(&self.model, prompt);
        let answer = match self.connection.post(self.wire.headers(), &request, key)? {
            HttpReply::Whole(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| garbled(format!("the answer is not JSON: {error}")))?,
            HttpReply::Events(events) => {
                let mut assembly = self.wire.assembly();
                match self.receive(*events, assembly.as_mut()) {
                    Ok(()) => {}
                    Err(fault) => return Err(ProviderFault { tokens: assembly.tokens(), ..fault }),
                }
                let tokens = assembly.tokens();
                let early = || garbled("the stream ended before the answer did");
                assembly.whole().ok_or_else(|| ProviderFault { tokens, ..early() })?
            }
        };
        let tokens = self.wire.spent(&answer);
        let said = self.wire.read(&answer).map_err(|fault| ProviderFault { tokens, ..fault })?;
        Ok(said.reply(self.model.structured, tokens))
    }

    fn receive<R: Read>(
        &self,
        mut events: SseReader<R>,
        assembly: &mut dyn Assembly,
    ) -> Result<(), ProviderFault> {
        while let Some(event) =
            events.next_event().map_err(|error| self.connection.fault(&error))?
        {
            if event.data.trim() == "[DONE]" {
                assembly.done();
                break;
            }
            let json: Value = serde_json::from_str(&event.data)
                .map_err(|error| garbled(format!("an event is not JSON: {error}")))?;
            if event.name == "error" || json.get("error").is_some_and(|error| !error.is_null()) {
                return Err(error::fault(json.get("error").unwrap_or(&json)));
            }
            if assembly.take(&json)? {
                break;
            }
        }
        Ok(())
    }
}

impl<W: Wire> Provider for Remote<W> {
    fn ask(&self, prompt: &Prompt<'_>) -> Result<Reply, ProviderFault> {
        let key = self.key.get_or_init(|| resolve(&self.model.key, &self.model.directory));
        match key {
            Ok(key) => scrub_result(self.attempt(prompt, key.as_ref()), key.as_slice()),
            Err(fault) => Err(fault.clone()),
        }
    }
}

impl<W> fmt::Debug for Remote<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Remote");
        out.field("kind", &self.model.kind).field("model", &self.model.model).finish()
    }
}

/// Creates a fault for an invalid response.
pub(super) fn garbled(message: impl Into<String>) -> ProviderFault {
    ProviderFault::new(FaultKind::Garbled, message)
}

/// Fails if an answer contains an error although its status was success.
pub(super) fn check_error(answer: &Value) -> Result<(), ProviderFault> {
    match answer.get("error").filter(|error| !error.is_null()) {
        Some(error) => Err(error::fault(error)),
        None => Ok(()),
    }
}

/// Returns a string of an object; empty if missing.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a list of an object; empty if missing.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the tokens of a `usage` object: the sum of the input counts, and the output count.
pub(super) fn tokens(usage: Option<&Value>, input: &[&str], output: &str) -> AttemptTokens {
    let count = |name: &&str| usage.and_then(|usage| usage.get(*name)?.as_u64()).unwrap_or(0);
    AttemptTokens {
        input: input.iter().map(count).fold(0, u64::saturating_add),
        output: count(&output),
    }
}

/// Returns the name of a called tool and its arguments, which some servers send as JSON and some as
/// a string. A string is passed on unchanged, even if it is not JSON.
pub(super) fn call(value: &Value, arguments: &str) -> Result<(String, String), ProviderFault> {
    let name = value.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| garbled("a tool call has no name"))?;
    let arguments = match value.get(arguments) {
        Some(Value::String(text)) => text.clone(),
        Some(json) => json.to_string(),
        None => return Err(garbled("a tool call has no arguments")),
    };
    Ok((name.to_owned(), arguments))
}
