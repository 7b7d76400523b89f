//! What the proxy asks and whom it tells: the doors to the policy and to the log.
//!
//! The proxy knows the protocol and nothing of policies; whoever runs it brings
//! a [`Warden`] that decides and a [`Journal`] that remembers.

use serde_json::Value;
use toolmark_guard::policy::Rate;
use toolmark_shell::Decision;

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The tool as the server calls it.
    pub tool: &'a str,
    /// The tool as policies name it: `mcp__server__tool`.
    pub name: &'a str,
    /// Its arguments.
    pub args: &'a Value,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// May it be?
    pub decision: Decision,
    /// The rule that said so.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// What would be allowed instead.
    pub suggestion: Option<String>,
}

impl Ruling {
    /// A decision by a rule.
    #[must_use]
    pub fn new(decision: Decision, rule: &str, reason: impl Into<String>) -> Self {
        Self { decision, rule: rule.to_owned(), reason: reason.into(), suggestion: None }
    }

    /// With what would be allowed instead.
    #[must_use]
    pub fn suggesting(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// Decides.
pub trait Warden {
    /// May a tool be offered at all? What is denied is left out of lists.
    fn tool(&self, server: &str, tool: &str, name: &str) -> Ruling;

    /// May this call be made?
    fn call(&self, call: &Call<'_>) -> Ruling;

    /// What to do with calls of a tool whose definition is not the pinned one.
    fn changed(&self) -> Decision {
        Decision::Deny
    }

    /// How often a tool may be called.
    fn rate(&self, _name: &str) -> Option<Rate> {
        None
    }
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A tool was offered.
    List,
    /// A tool was called.
    Call,
    /// A result came back.
    Result,
    /// The server introduced itself.
    Server,
}

impl Occasion {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Call => "call",
            Self::Result => "result",
            Self::Server => "server",
        }
    }
}

/// One decision, for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is about.
    pub occasion: Occasion,
    /// The name of the server.
    pub server: String,
    /// The tool as policies name it, if it is about one.
    pub tool: Option<String>,
    /// The id of the request, as JSON.
    pub request: Option<String>,
    /// The arguments of a call.
    pub args: Option<Value>,
    /// What was decided.
    pub decision: &'static str,
    /// The rule that said so.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Names of what was found, with what shows it.
    pub findings: Vec<Finding>,
}

/// Something found in words of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// What shows it; never a secret itself.
    pub excerpt: String,
}

/// Remembers.
pub trait Journal {
    /// Writes a record down; the error is told, and the decision stands.
    ///
    /// # Errors
    ///
    /// Where the record could not be written.
    fn write(&mut self, record: &Record) -> std::io::Result<()>;
}

/// Forgets: for a proxy without a log.
#[derive(Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn write(&mut self, _record: &Record) -> std::io::Result<()> {
        Ok(())
    }
}
