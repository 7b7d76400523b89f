//! Providers of models: one file per wire format.
//!
//! A provider makes one attempt. It does not retry, but says what kind of fault it
//! met and how long it was asked to wait.

mod anthropic;
mod chat;
mod command;
pub(crate) mod error;
mod responses;
mod wire;

use crate::config::{Kind, Model};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A prompt, independent of the wire format.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// The system prompt: never text of the trace.
    pub system: &'a str,
    /// The question itself.
    pub user: &'a str,
    /// What was wrong with the answer before, to follow the question.
    pub reminder: Option<&'a str>,
    /// The JSON Schema of the answer.
    pub schema: &'a Value,
    /// Whether the same question is asked several times, so that it is worth to be
    /// kept in the provider's cache.
    pub is_repeated: bool,
}

impl<'a> Prompt<'a> {
    /// A prompt that is sent once.
    #[must_use]
    pub fn new(system: &'a str, user: &'a str, schema: &'a Value) -> Self {
        Self { system, user, reminder: None, schema, is_repeated: false }
    }

    /// The question and what follows it.
    #[must_use]
    pub fn question(&self) -> Cow<'a, str> {
        match self.reminder {
            None => Cow::Borrowed(self.user),
            Some(reminder) => Cow::Owned(format!("{}{reminder}", self.user)),
        }
    }
}

/// The name of the tool through which a model answers.
pub const TOOL: &str = "submit_verdict";

/// The description of the tool.
pub const TOOL_PURPOSE: &str = "Submit the verdict. Call this exactly once.";

/// Tokens an attempt used, as the provider counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
}

/// What a model replied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Every answer that was submitted, as JSON text: more than one if the tool was
    /// called again.
    pub answers: Vec<String>,
    /// Other text.
    pub text: String,
    /// The text of a refusal.
    pub refusal: Option<String>,
    /// Whether it was cut off at the token limit.
    pub is_cut: bool,
    /// The tokens it used.
    pub tokens: Tokens,
}

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The key is missing or refused.
    Key,
    /// The request is refused, and a retry would be too.
    Request,
    /// Too many requests, or overloaded.
    Busy,
    /// The server failed.
    Server,
    /// The attempt timed out.
    Timeout,
    /// The connection failed or broke off.
    Network,
    /// The response is invalid or incomplete.
    Garbled,
}

impl FaultKind {
    /// Whether a retry may succeed.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        !matches!(self, Self::Key | Self::Request)
    }
}

/// Why there is no reply. Neither the message nor the debug output contains a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The message, a lower-case fragment.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The tokens it used nevertheless.
    pub tokens: Tokens,
}

impl Fault {
    /// A fault that used no tokens and asks for no wait.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, tokens: Tokens::default() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// A model that can be asked.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Makes one attempt.
    fn ask(&self, prompt: &Prompt<'_>) -> Result<Reply, Fault>;
}

/// Connects to a model. Nothing is sent, and no key is read, before the first
/// question.
#[must_use]
pub fn connect(model: &Model) -> Arc<dyn Provider> {
    let of = model.clone();
    match model.kind {
        Kind::Anthropic => Arc::new(wire::Remote::new(of, anthropic::Messages::Own)),
        Kind::Bedrock => Arc::new(wire::Remote::new(of, anthropic::Messages::Bedrock)),
        Kind::Vertex => Arc::new(wire::Remote::new(of, anthropic::Messages::Vertex)),
        Kind::Openai => Arc::new(wire::Remote::new(of, responses::Responses)),
        Kind::OpenaiChat | Kind::Azure | Kind::Ollama => {
            Arc::new(wire::Remote::new(of, chat::Chat))
        }
        Kind::Command => Arc::new(command::Command::new(of)),
    }
}
