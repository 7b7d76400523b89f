//! The interfaces to the policy and to the audit log.
//!
//! The proxy knows the protocol but no policy: its caller provides a [`CallPolicy`]
//! that decides and an [`AuditSink`] that records.

use serde_json::Value;
use toolmark_guard::policy::Rate;
use toolmark_shell::Decision;

/// A call to decide.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The name of the tool at the server.
    pub tool: &'a str,
    /// The name of the tool in policies: `mcp__server__tool`.
    pub name: &'a str,
    /// Its arguments.
    pub args: &'a Value,
}

/// A decision and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// More about it, for people and the log: the model does not read it.
    pub details: Option<String>,
    /// What would be allowed instead.
    pub suggestion: Option<String>,
}

impl Ruling {
    /// A decision by a rule.
    #[must_use]
    pub fn new(decision: Decision, rule: &str, reason: impl Into<String>) -> Self {
        let (rule, reason) = (rule.to_owned(), reason.into());
        Self { decision, rule, reason, details: None, suggestion: None }
    }

    /// Why, with everything that people should know.
    #[must_use]
    pub fn full_reason(&self) -> String {
        match &self.details {
            Some(details) => format!("{}:\n{details}", self.reason),
            None => self.reason.clone(),
        }
    }

    /// Adds what would be allowed instead.
    #[must_use]
    pub fn suggesting(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// Decides which tools are listed and which calls are made.
pub trait CallPolicy {
    /// Decides whether a tool is listed. Denied tools are removed from lists.
    fn tool(&self, server: &str, tool: &str, name: &str) -> Ruling;

    /// Decides a call.
    fn call(&self, call: &Call<'_>) -> Ruling;

    /// What to do with calls of a tool whose definition differs from the pinned one.
    fn changed(&self) -> Decision {
        Decision::Deny
    }

    /// How often a tool may be called.
    fn rate(&self, _name: &str) -> Option<Rate> {
        None
    }
}

/// The occasion of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A tool was listed.
    List,
    /// A tool was called.
    Call,
    /// A call returned a result.
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
    /// The occasion.
    pub occasion: Occasion,
    /// The name of the server.
    pub server: String,
    /// The name of the tool in policies, if there is one.
    pub tool: Option<String>,
    /// The id of the request, as JSON.
    pub request: Option<String>,
    /// The arguments of a call.
    pub args: Option<Value>,
    /// The decision.
    pub decision: &'static str,
    /// The rule that decided.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// What was found, with excerpts.
    pub findings: Vec<Finding>,
}

/// Something found in text of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// An excerpt, which never contains a secret.
    pub excerpt: String,
}

/// Records decisions.
pub trait AuditSink {
    /// Writes a record. An error is reported, and does not change the decision.
    ///
    /// # Errors
    ///
    /// When the record could not be written.
    fn write(&mut self, record: &Record) -> std::io::Result<()>;
}

/// Records nothing, for a proxy without a log.
#[derive(Debug, Default)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn write(&mut self, _record: &Record) -> std::io::Result<()> {
        Ok(())
    }
}
