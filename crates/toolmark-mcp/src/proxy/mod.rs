//! The proxy without its input and output: it takes lines and returns [`ProxyStep`]s.
//!
//! It tracks open requests, the tools listed by the server, and questions waiting for the user.
//! Everything else is forwarded unchanged. The time is a parameter, so that limits and deadlines
//! can be tested without waiting.

mod answers;
mod calls;
mod client;
mod earlier;
mod questions;
mod server;

use crate::arguments::ArgumentSchema;
use crate::definition::Definition;
use crate::message::{RequestId, elements, id_near_start};
use crate::pins::Pins;
use crate::policy::{AuditSink, CallPolicy, DecisionRecord, McpSuspicion};
use crate::rate::RateBucket;
use crate::result::ResultLimits;
use crate::suspicion::{Suspicion, sanitize};
use earlier::Earlier;
use questions::Questions;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use toolmark_guard::policy::CallRate;

/// Action if the policy decides to ask and the client cannot ask its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnAsk {
    /// Deny, and explain how to allow it.
    #[default]
    Deny,
    /// Allow, and log it.
    Allow,
}

/// Settings of a proxy.
#[derive(Debug, Clone)]
pub struct ProxySettings {
    /// Name of the server in policies and pins.
    pub server: String,
    /// Limits for results.
    pub limits: ResultLimits,
    /// Action if the user cannot be asked.
    pub on_ask: OnAsk,
    /// Maximum call rate of all tools together.
    pub rate: Option<CallRate>,
}

/// Next action of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyStep {
    /// Send a line to the client.
    Client(String),
    /// Send a line to the server.
    Server(String),
    /// Show a note to the user.
    Note(String),
}

/// Kind of an open request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RequestKind {
    /// `initialize` or `server/discover`.
    Initialize,
    List,
    Call {
        tool: String,
    },
    /// A request for the result of a task.
    Task,
    /// A call held until the user answers or the tools are listed.
    Held,
    /// A list of tools requested by the proxy.
    OwnList,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenRequest {
    kind: RequestKind,
    /// Whether the client cancelled the request.
    cancelled: bool,
}

/// A tool in the server's current list.
struct Tool {
    definition: Definition,
    schema: ArgumentSchema,
    changed: bool,
    /// Whether the failure to check its arguments was reported.
    is_reported: bool,
}

/// A list of tools requested by the proxy, and the calls waiting for it.
struct Fetch {
    waiting: Vec<String>,
    pages: usize,
    until: Duration,
    /// Metadata required by this protocol version, as JSON.
    meta: Option<String>,
}

/// A guard between a client and a server.
pub struct Proxy {
    settings: ProxySettings,
    policy: Box<dyn CallPolicy>,
    audit: Box<dyn AuditSink>,
    pins: Pins,
    open: BTreeMap<RequestId, OpenRequest>,
    tools: BTreeMap<String, Tool>,
    /// Whether the server has listed all its tools once.
    is_listed: bool,
    fetch: Option<Fetch>,
    earlier: Earlier,
    questions: Questions,
    overall: Option<RateBucket>,
    buckets: BTreeMap<String, RateBucket>,
    /// Prefix of the proxy's own IDs, which no server can guess.
    nonce: String,
    count: u64,
    steps: Vec<ProxyStep>,
    log_failed: bool,
}

/// Maximum number of open requests.
const MAX_OPEN_REQUESTS: usize = 1 << 16;

impl Proxy {
    /// Creates a proxy for a session.
    #[must_use]
    pub fn new(
        settings: ProxySettings,
        pins: Pins,
        policy: Box<dyn CallPolicy>,
        audit: Box<dyn AuditSink>,
    ) -> Self {
        let lot = || RandomState::new().build_hasher().finish();
        Self {
            overall: settings.rate.map(|rate| RateBucket::new(rate, Duration::ZERO)),
            settings,
            policy,
            audit,
            pins,
            open: BTreeMap::new(),
            tools: BTreeMap::new(),
            is_listed: false,
            fetch: None,
            earlier: Earlier::default(),
            questions: Questions::default(),
            buckets: BTreeMap::new(),
            nonce: format!("toolmark-{:016x}{:016x}", lot(), lot()),
            count: 0,
            steps: Vec::new(),
            log_failed: false,
        }
    }

    /// Handles a line of the client.
    #[must_use]
    pub fn from_client(&mut self, line: &str, now: Duration) -> Vec<ProxyStep> {
        match batch(line) {
            Some(parts) => {
                let parts: Vec<Cow<'_, str>> =
                    parts.iter().filter_map(|part| self.client_message(part.get(), now)).collect();
                self.send_batch(&parts, ProxyStep::Server);
            }
            None => {
                if let Some(forward) = self.client_message(line, now) {
                    self.steps.push(ProxyStep::Server(forward.into_owned()));
                }
            }
        }
        std::mem::take(&mut self.steps)
    }

    /// Handles a line of the server.
    #[must_use]
    pub fn from_server(&mut self, line: &str, number: u64, now: Duration) -> Vec<ProxyStep> {
        match batch(line) {
            Some(parts) => {
                let parts: Vec<Cow<'_, str>> = parts
                    .iter()
                    .filter_map(|part| self.server_message(part.get(), number, now))
                    .collect();
                self.send_batch(&parts, ProxyStep::Client);
            }
            None => {
                if let Some(forward) = self.server_message(line, number, now) {
                    self.steps.push(ProxyStep::Client(forward.into_owned()));
                }
            }
        }
        std::mem::take(&mut self.steps)
    }

    fn send_batch(&mut self, parts: &[Cow<'_, str>], to: fn(String) -> ProxyStep) {
        if !parts.is_empty() {
            self.steps.push(to(format!("[{}]", parts.join(","))));
        }
    }

    /// Handles a line of the client that is too long or not valid UTF-8.
    #[must_use]
    pub fn lost_from_client(&mut self, start: &[u8], why: &str) -> Vec<ProxyStep> {
        let id = id_near_start(start).map_or_else(|| "null".to_owned(), |id| id.json());
        self.note(format!("a line of the client was refused: {why}"));
        self.fail(&id, rmcp::model::ErrorCode::PARSE_ERROR, &format!("line refused: {why}"));
        std::mem::take(&mut self.steps)
    }

    /// Handles a line of the server that is too long or not valid UTF-8. The request it answers
    /// ends with an error; if that request is unknown, all open requests do.
    #[must_use]
    pub fn lost_from_server(&mut self, start: &[u8], number: u64, why: &str) -> Vec<ProxyStep> {
        self.note(format!("line {number} of the server was dropped: {why}"));
        match id_near_start(start) {
            Some(id) => self.end(&id, why),
            None if start.trim_ascii_start().starts_with(b"{") => self.end_all(why),
            None => {}
        }
        std::mem::take(&mut self.steps)
    }

    /// Ends a request for which the transport cannot get an answer.
    #[must_use]
    pub fn unanswered(&mut self, id: &str, why: &str) -> Vec<ProxyStep> {
        if let Some(id) = serde_json::from_str(id).ok().and_then(RequestId::read) {
            self.end(&id, why);
        }
        std::mem::take(&mut self.steps)
    }

    /// Ends all open requests with an error, because the server has ended.
    #[must_use]
    pub fn server_gone(&mut self, why: &str) -> Vec<ProxyStep> {
        self.end_all(why);
        std::mem::take(&mut self.steps)
    }

    fn end_all(&mut self, why: &str) {
        let open: Vec<RequestId> = self.open.keys().cloned().collect();
        open.iter().for_each(|id| self.end(id, why));
    }

    /// Ends one request with an error.
    fn end(&mut self, id: &RequestId, why: &str) {
        match self.open.remove(id) {
            Some(OpenRequest { kind: RequestKind::OwnList, .. }) => self.give_up_list(why),
            Some(OpenRequest { cancelled: false, .. }) => {
                self.questions.forget(id);
                if let Some(fetch) = &mut self.fetch {
                    fetch.waiting.retain(|line| !is_request(line, id));
                }
                let words = format!("no answer from the server: {why}");
                self.fail(&id.json(), rmcp::model::ErrorCode::INTERNAL_ERROR, &words);
            }
            _ => {}
        }
    }

    /// Returns the time at which [`tick`](Self::tick) has to be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let fetch = self.fetch.as_ref().map(|fetch| fetch.until);
        fetch.into_iter().chain(self.questions.deadline()).min()
    }

    /// Ends requests and questions that have timed out.
    #[must_use]
    pub fn tick(&mut self, now: Duration) -> Vec<ProxyStep> {
        if self.fetch.as_ref().is_some_and(|fetch| fetch.until <= now) {
            self.open.retain(|_, open| open.kind != RequestKind::OwnList);
            self.give_up_list("the server did not list its tools in time");
        }
        self.end_questions(now);
        std::mem::take(&mut self.steps)
    }

    /// Whether the client waits for an answer.
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        self.open.values().any(|open| !open.cancelled)
    }

    /// Whether a call waits for a list of tools.
    #[must_use]
    pub fn is_looking_up(&self) -> bool {
        self.fetch.is_some()
    }

    /// Returns the listed schema of a tool.
    #[must_use]
    pub fn schema_of(&self, tool: &str) -> Option<&Value> {
        self.tools.get(tool)?.definition.schema()
    }

    /// Registers an open request; an error if there are too many, or the id is in use.
    fn register(&mut self, id: &RequestId, kind: RequestKind) -> Result<(), &'static str> {
        if self.open.len() >= MAX_OPEN_REQUESTS {
            self.open.retain(|_, open| !open.cancelled);
        }
        if self.open.len() >= MAX_OPEN_REQUESTS {
            return Err("too many requests are open");
        }
        if self.open.get(id).is_some_and(|open| !open.cancelled) {
            return Err("a request with this id is open");
        }
        self.open.insert(id.clone(), OpenRequest { kind, cancelled: false });
        Ok(())
    }

    /// Returns a new ID for a request of the proxy.
    fn own_id(&mut self) -> RequestId {
        self.count += 1;
        RequestId::Text(format!("{}-{}", self.nonce, self.count))
    }

    fn note(&mut self, words: String) {
        self.steps.push(ProxyStep::Note(words));
    }

    fn record(&mut self, record: &DecisionRecord) {
        if let Err(error) = self.audit.write(record)
            && !std::mem::replace(&mut self.log_failed, true)
        {
            self.note(format!("the log cannot be written: {error}"));
        }
    }

    /// Returns the name of a tool in policies.
    fn name(&self, tool: &str) -> String {
        format!("mcp__{}__{tool}", self.settings.server)
    }
}

/// Returns the messages of a batch; `None` if the line is not a batch.
fn batch(line: &str) -> Option<Vec<&RawValue>> {
    line.trim_start().starts_with('[').then(|| elements(line)).flatten()
}

fn is_request(line: &str, id: &RequestId) -> bool {
    id_near_start(line.as_bytes()).as_ref() == Some(id)
}

fn findings(suspicions: Vec<Suspicion>) -> Vec<McpSuspicion> {
    let finding = |one: Suspicion| McpSuspicion { name: one.name.to_owned(), excerpt: one.excerpt };
    suspicions.into_iter().map(finding).collect()
}

/// Returns findings in one line.
fn describe_findings(findings: &[McpSuspicion]) -> String {
    let word = |one: &McpSuspicion| format!("{} ({})", one.name, sanitize(&one.excerpt, 120));
    findings.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
