//! Providers of models: one file per wire format.
//!
//! A provider makes one attempt. It does not retry, but returns the kind of fault and the delay
//! requested by the server.

mod anthropic;
mod chat;
mod command;
pub(crate) mod error;
mod responses;
mod wire;

use crate::config::{Model, ProviderKind};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A prompt, independent of the wire format.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// System prompt, which never contains text of the trace.
    pub system: &'a str,
    /// Text of the question.
    pub user: &'a str,
    /// Complaint about the previous answer, to follow the question.
    pub reminder: Option<&'a str>,
    /// JSON Schema of the answer.
    pub schema: &'a Value,
    /// Whether the same question is asked several times, so that it should be kept in the
    /// provider's cache.
    pub is_repeated: bool,
}

impl<'a> Prompt<'a> {
    /// Creates a prompt that is sent once.
    #[must_use]
    pub fn new(system: &'a str, user: &'a str, schema: &'a Value) -> Self {
        Self { system, user, reminder: None, schema, is_repeated: false }
    }

    /// Returns the question and the complaint that follows it.
    #[must_use]
    pub fn question(&self) -> Cow<'a, str> {
        match self.reminder {
            None => Cow::Borrowed(self.user),
            Some(reminder) => Cow::Owned(format!("{}{reminder}", self.user)),
        }
    }
}

/// Name of the tool with which a model answers.
pub const TOOL: &str = "submit_verdict";

/// Description of the tool.
pub const TOOL_PURPOSE: &str = "Submit the verdict. Call this exactly once.";

/// Tokens used by an attempt, as counted by the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttemptTokens {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
}

/// The reply of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Submitted answers, as JSON text: more than one if the tool was called again.
    pub answers: Vec<String>,
    /// Other text.
    pub text: String,
    /// Text of a refusal.
    pub refusal: Option<String>,
    /// Whether the reply was truncated at the token limit.
    pub is_cut: bool,
    /// Tokens used.
    pub tokens: AttemptTokens,
}

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A missing or refused key.
    Key,
    /// A refused request; a retry would be refused too.
    Request,
    /// Too many requests, or an overloaded server.
    Busy,
    /// A failure of the server.
    Server,
    /// A timeout of the attempt.
    Timeout,
    /// A failed or interrupted connection.
    Network,
    /// An invalid or incomplete response.
    Garbled,
}

impl FaultKind {
    /// Whether a retry may succeed.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        !matches!(self, Self::Key | Self::Request)
    }
}

/// Reason for a missing reply. Neither the message nor the debug output contains a key.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderFault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Message, a lower-case fragment.
    pub message: String,
    /// Delay requested by the provider.
    pub retry_after: Option<Duration>,
    /// Tokens used nevertheless.
    pub tokens: AttemptTokens,
}

impl ProviderFault {
    /// Creates a fault that used no tokens and requests no delay.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, tokens: AttemptTokens::default() }
    }
}

impl fmt::Display for ProviderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderFault {}

/// A model to which prompts can be sent.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Makes one attempt.
    fn ask(&self, prompt: &Prompt<'_>) -> Result<Reply, ProviderFault>;
}

/// Connects to a model. Nothing is sent, and no key is read, before the first question.
#[must_use]
pub fn connect(model: &Model) -> Arc<dyn Provider> {
    let of = model.clone();
    match model.kind {
        ProviderKind::Anthropic => Arc::new(wire::Remote::new(of, anthropic::Messages::Own)),
        ProviderKind::Bedrock => Arc::new(wire::Remote::new(of, anthropic::Messages::Bedrock)),
        ProviderKind::Vertex => Arc::new(wire::Remote::new(of, anthropic::Messages::Vertex)),
        ProviderKind::Openai => Arc::new(wire::Remote::new(of, responses::Responses)),
        ProviderKind::OpenaiChat | ProviderKind::Azure | ProviderKind::Ollama => {
            Arc::new(wire::Remote::new(of, chat::Chat))
        }
        ProviderKind::Command => Arc::new(command::JudgeProgram::new(of)),
    }
}
