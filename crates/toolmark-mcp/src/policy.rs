//! Interfaces to the policy and to the audit log.
//!
//! The proxy handles the protocol but contains no policy: its caller provides a [`CallPolicy`] that
//! decides and an [`AuditSink`] that records.

use serde_json::Value;
use toolmark_guard::policy::CallRate;
use toolmark_session::tool_rules::LiveCall;
use toolmark_shell::Decision;

/// A call to decide about.
#[derive(Debug, Clone, Copy)]
pub struct McpCall<'a> {
    /// Name of the server.
    pub server: &'a str,
    /// Name of the tool on the server.
    pub tool: &'a str,
    /// Name of the tool in policies: `mcp__server__tool`.
    pub name: &'a str,
    /// Arguments.
    pub args: &'a Value,
    /// Calls that were forwarded before, the earliest first.
    pub earlier: &'a [LiveCall],
}

/// A decision and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpRuling {
    /// The decision.
    pub decision: Decision,
    /// Rule that decided.
    pub rule: String,
    /// Reason for the decision.
    pub reason: String,
    /// Details for the user and the log, not shown to the model.
    pub details: Option<String>,
    /// Suggested alternative that would be allowed.
    pub suggestion: Option<String>,
}

impl McpRuling {
    /// Creates a decision by a rule.
    #[must_use]
    pub fn new(decision: Decision, rule: &str, reason: impl Into<String>) -> Self {
        let (rule, reason) = (rule.to_owned(), reason.into());
        Self { decision, rule, reason, details: None, suggestion: None }
    }

    /// Returns the reason with all details for the user.
    #[must_use]
    pub fn full_reason(&self) -> String {
        match &self.details {
            Some(details) => format!("{}:\n{details}", self.reason),
            None => self.reason.clone(),
        }
    }

    /// Adds an alternative that would be allowed.
    #[must_use]
    pub fn suggesting(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// Decides which tools are listed and which calls are made.
pub trait CallPolicy {
    /// Decides whether a tool is listed. Denied tools are removed from lists.
    fn tool(&self, server: &str, tool: &str, name: &str) -> McpRuling;

    /// Decides about a call.
    fn call(&self, call: &McpCall<'_>) -> McpRuling;

    /// Returns the decision about calls of a tool whose definition differs from the pinned one.
    fn changed(&self) -> Decision {
        Decision::Deny
    }

    /// Returns the maximum call rate of a tool.
    fn rate(&self, _name: &str) -> Option<CallRate> {
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
    /// The server sent its introduction.
    Server,
}

impl Occasion {
    /// Returns the name used in output.
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
pub struct DecisionRecord {
    /// Occasion.
    pub occasion: Occasion,
    /// Name of the server.
    pub server: String,
    /// Name of the tool in policies, if any.
    pub tool: Option<String>,
    /// Request ID, as JSON.
    pub request: Option<String>,
    /// Arguments of a call.
    pub args: Option<Value>,
    /// The decision.
    pub decision: &'static str,
    /// Rule that decided.
    pub rule: String,
    /// Reason for the decision.
    pub reason: String,
    /// Findings, with excerpts.
    pub findings: Vec<McpSuspicion>,
}

/// A finding in text of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSuspicion {
    /// Name of the finding.
    pub name: String,
    /// Excerpt, which never contains a secret.
    pub excerpt: String,
}

/// Records decisions.
pub trait AuditSink {
    /// Writes a record. An error is reported, and does not change the decision.
    ///
    /// # Errors
    ///
    /// The record could not be written.
    fn write(&mut self, record: &DecisionRecord) -> std::io::Result<()>;
}

/// A sink that records nothing, for a proxy without a log.
#[derive(Debug, Default)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn write(&mut self, _record: &DecisionRecord) -> std::io::Result<()> {
        Ok(())
    }
}
