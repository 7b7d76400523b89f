//! Who is asked, and how: one file per wire format.
//!
//! A provider makes one attempt. Whether to try again is not its business; it
//! says what kind of fault it met and how long it was told to wait.

mod anthropic;
mod chat;
mod command;
pub(crate) mod error;
mod responses;
mod wire;

use crate::config::{Kind, Model};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What is asked, whatever the wire format.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// What goes for every question: from us, never from the trace.
    pub system: &'a str,
    /// The question itself.
    pub user: &'a str,
    /// The JSON Schema of the answer.
    pub schema: &'a Value,
}

/// The name of the tool through which a model answers.
pub const TOOL: &str = "submit_verdict";

/// What the tool is for, in the words a model is told.
pub const TOOL_PURPOSE: &str = "Submit the verdict. Call this exactly once.";

/// Tokens an attempt took, as the provider counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Read, cached ones included.
    pub input: u64,
    /// Written, thinking included.
    pub output: u64,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Every answer that was submitted, as JSON text: none, one, or more than
    /// one where the tool was called again.
    pub answers: Vec<String>,
    /// What was said besides.
    pub text: String,
    /// The words of a refusal.
    pub refusal: Option<String>,
    /// Did it end because no more tokens were allowed?
    pub is_cut: bool,
    /// What it took.
    pub tokens: Tokens,
}

/// What kind of fault it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// There is no key, or it is refused.
    Key,
    /// The request is refused, and would be again.
    Request,
    /// Too many requests, or overloaded.
    Busy,
    /// The server failed.
    Server,
    /// It took too long.
    Timeout,
    /// The connection failed or broke off.
    Network,
    /// What came back is not what the wire format says, or not all of it.
    Garbled,
}

impl FaultKind {
    /// May the same request work later?
    #[must_use]
    pub fn passes(self) -> bool {
        !matches!(self, Self::Key | Self::Request)
    }
}

/// Why there is no reply. Neither the words nor the debug output hold a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// In words, as a fragment.
    pub message: String,
    /// How long the provider says to wait.
    pub retry_after: Option<Duration>,
    /// What was used up all the same.
    pub tokens: Tokens,
}

impl Fault {
    /// A fault without more to say.
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

/// The way to a model. Nothing is sent, and no key is looked for, before the
/// first question.
#[must_use]
pub fn connect(model: &Model) -> Arc<dyn Provider> {
    let of = model.clone();
    match model.kind {
        Kind::Anthropic => Arc::new(wire::Remote::new(of, anthropic::Messages)),
        Kind::Openai => Arc::new(wire::Remote::new(of, responses::Responses)),
        Kind::OpenaiChat => Arc::new(wire::Remote::new(of, chat::Chat)),
        Kind::Command => Arc::new(command::Command::new(of)),
    }
}
