//! The proxy without its input and output: lines go in, [`Step`]s come out.
//!
//! It knows which requests are open in each direction, what the server listed
//! and what waits for a person's answer. Whatever is none of its business goes
//! on as it came. The time is given with every line, so that limits and
//! deadlines can be tested without waiting.

mod answers;
mod asking;
mod calls;
mod client;
mod server;

use crate::arguments::Schema;
use crate::definition::Definition;
use crate::message::{Id, elements, id_near_start};
use crate::pins::Pins;
use crate::rate::Bucket;
use crate::result::Limits;
use crate::suspicion::{Suspicion, shown};
use crate::warden::{Finding, Journal, Record, Warden};
use asking::Asking;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use toolmark_guard::policy::Rate;

/// What to do where the policy says to ask and nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnAsk {
    /// Deny, and say how to allow it.
    #[default]
    Deny,
    /// Allow, and log it.
    Allow,
}

/// How a proxy works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What policies and pins call the server.
    pub server: String,
    /// What of a result may pass.
    pub limits: Limits,
    /// What to do where nobody can be asked.
    pub on_ask: OnAsk,
    /// How often tools may be called, all taken together.
    pub rate: Option<Rate>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send a line to the client.
    Client(String),
    /// Send a line to the server.
    Server(String),
    /// Tell the person.
    Note(String),
}

/// What a request that waits for its answer is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The start of the session.
    Hello,
    List,
    Call {
        tool: String,
    },
    /// A question for the result of a call that became a task.
    Task,
    /// A call that is held until a person or a list of tools decides.
    Held,
    /// A list of tools the proxy asked for itself.
    OwnList,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Open {
    kind: Kind,
    /// The client no longer waits.
    cancelled: bool,
}

/// A tool as the server lists it now.
struct Tool {
    definition: Definition,
    schema: Schema,
    changed: bool,
    /// It was already told that its arguments cannot be checked.
    told: bool,
}

/// A list of tools the proxy asked for, and the calls that wait for it.
struct Fetch {
    waiting: Vec<String>,
    pages: usize,
    until: Duration,
    /// The metadata a request of this protocol version needs, as JSON.
    meta: Option<String>,
}

/// A guard between a client and a server.
pub struct Proxy {
    settings: Settings,
    warden: Box<dyn Warden>,
    journal: Box<dyn Journal>,
    pins: Pins,
    open: BTreeMap<Id, Open>,
    tools: BTreeMap<String, Tool>,
    fetch: Option<Fetch>,
    asking: Asking,
    overall: Option<Bucket>,
    buckets: BTreeMap<String, Bucket>,
    /// Begins every id of ours: no server can guess it.
    nonce: String,
    count: u64,
    steps: Vec<Step>,
    log_failed: bool,
}

/// More requests are not open at once.
const MOST_OPEN: usize = 1 << 16;

impl Proxy {
    /// A proxy for a session.
    #[must_use]
    pub fn new(
        settings: Settings,
        pins: Pins,
        warden: Box<dyn Warden>,
        journal: Box<dyn Journal>,
    ) -> Self {
        let lot = || RandomState::new().build_hasher().finish();
        Self {
            overall: settings.rate.map(|rate| Bucket::new(rate, Duration::ZERO)),
            settings,
            warden,
            journal,
            pins,
            open: BTreeMap::new(),
            tools: BTreeMap::new(),
            fetch: None,
            asking: Asking::default(),
            buckets: BTreeMap::new(),
            nonce: format!("toolmark-{:016x}{:016x}", lot(), lot()),
            count: 0,
            steps: Vec::new(),
            log_failed: false,
        }
    }

    /// A line of the client.
    #[must_use]
    pub fn from_client(&mut self, line: &str, now: Duration) -> Vec<Step> {
        match batch(line) {
            Some(parts) => {
                let parts: Vec<Cow<'_, str>> =
                    parts.iter().filter_map(|part| self.client_message(part.get(), now)).collect();
                self.send_batch(&parts, Step::Server);
            }
            None => {
                if let Some(forward) = self.client_message(line, now) {
                    self.steps.push(Step::Server(forward.into_owned()));
                }
            }
        }
        std::mem::take(&mut self.steps)
    }

    /// A line of the server.
    #[must_use]
    pub fn from_server(&mut self, line: &str, number: u64, now: Duration) -> Vec<Step> {
        match batch(line) {
            Some(parts) => {
                let parts: Vec<Cow<'_, str>> = parts
                    .iter()
                    .filter_map(|part| self.server_message(part.get(), number, now))
                    .collect();
                self.send_batch(&parts, Step::Client);
            }
            None => {
                if let Some(forward) = self.server_message(line, number, now) {
                    self.steps.push(Step::Client(forward.into_owned()));
                }
            }
        }
        std::mem::take(&mut self.steps)
    }

    fn send_batch(&mut self, parts: &[Cow<'_, str>], to: fn(String) -> Step) {
        if !parts.is_empty() {
            self.steps.push(to(format!("[{}]", parts.join(","))));
        }
    }

    /// A line of the client that could not be read as text, or is too long.
    #[must_use]
    pub fn lost_from_client(&mut self, start: &[u8], why: &str) -> Vec<Step> {
        let id = id_near_start(start).map_or_else(|| "null".to_owned(), |id| id.json());
        self.note(format!("a line of the client was refused: {why}"));
        self.fail(&id, rmcp::model::ErrorCode::PARSE_ERROR, &format!("line refused: {why}"));
        std::mem::take(&mut self.steps)
    }

    /// A line of the server that could not be read as text, or is too long. If it
    /// was to answer a request, that request ends with an error; where it cannot
    /// be told which one, all end that still wait.
    #[must_use]
    pub fn lost_from_server(&mut self, start: &[u8], number: u64, why: &str) -> Vec<Step> {
        self.note(format!("line {number} of the server was dropped: {why}"));
        match id_near_start(start) {
            Some(id) => self.end(&id, why),
            None if start.trim_ascii_start().starts_with(b"{") => self.end_all(why),
            None => {}
        }
        std::mem::take(&mut self.steps)
    }

    /// A request that cannot be answered any more, because of its carrier.
    #[must_use]
    pub fn unanswered(&mut self, id: &str, why: &str) -> Vec<Step> {
        if let Some(id) = serde_json::from_str(id).ok().and_then(Id::read) {
            self.end(&id, why);
        }
        std::mem::take(&mut self.steps)
    }

    /// The server is gone: every request that waits ends with an error.
    #[must_use]
    pub fn server_gone(&mut self, why: &str) -> Vec<Step> {
        self.end_all(why);
        std::mem::take(&mut self.steps)
    }

    fn end_all(&mut self, why: &str) {
        let open: Vec<Id> = self.open.keys().cloned().collect();
        open.iter().for_each(|id| self.end(id, why));
    }

    /// Ends one request with an error.
    fn end(&mut self, id: &Id, why: &str) {
        match self.open.remove(id) {
            Some(Open { kind: Kind::OwnList, .. }) => self.give_up_list(why),
            Some(Open { cancelled: false, .. }) => {
                self.asking.forget(id);
                if let Some(fetch) = &mut self.fetch {
                    fetch.waiting.retain(|line| !is_request(line, id));
                }
                let words = format!("no answer from the server: {why}");
                self.fail(&id.json(), rmcp::model::ErrorCode::INTERNAL_ERROR, &words);
            }
            _ => {}
        }
    }

    /// When [`tick`](Self::tick) has something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let fetch = self.fetch.as_ref().map(|fetch| fetch.until);
        fetch.into_iter().chain(self.asking.deadline()).min()
    }

    /// Ends what has waited too long.
    #[must_use]
    pub fn tick(&mut self, now: Duration) -> Vec<Step> {
        if self.fetch.as_ref().is_some_and(|fetch| fetch.until <= now) {
            self.open.retain(|_, open| open.kind != Kind::OwnList);
            self.give_up_list("the server did not list its tools in time");
        }
        self.end_questions(now);
        std::mem::take(&mut self.steps)
    }

    /// Does the client wait for anything?
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        self.open.values().any(|open| !open.cancelled)
    }

    /// Does a call wait for a list of tools?
    #[must_use]
    pub fn is_looking_up(&self) -> bool {
        self.fetch.is_some()
    }

    /// The schema a tool was listed with.
    #[must_use]
    pub fn schema_of(&self, tool: &str) -> Option<&Value> {
        self.tools.get(tool)?.definition.schema()
    }

    /// Notes an open request; an error where there may be no more, or one has
    /// this id already.
    fn opened(&mut self, id: &Id, kind: Kind) -> Result<(), &'static str> {
        if self.open.len() >= MOST_OPEN {
            self.open.retain(|_, open| !open.cancelled);
        }
        if self.open.len() >= MOST_OPEN {
            return Err("too many requests are open");
        }
        if self.open.get(id).is_some_and(|open| !open.cancelled) {
            return Err("a request with this id is open");
        }
        self.open.insert(id.clone(), Open { kind, cancelled: false });
        Ok(())
    }

    /// An id of our own.
    fn own_id(&mut self) -> Id {
        self.count += 1;
        Id::Text(format!("{}-{}", self.nonce, self.count))
    }

    fn note(&mut self, words: String) {
        self.steps.push(Step::Note(words));
    }

    fn record(&mut self, record: &Record) {
        if let Err(error) = self.journal.write(record)
            && !std::mem::replace(&mut self.log_failed, true)
        {
            self.note(format!("the log cannot be written: {error}"));
        }
    }

    /// The name policies have for a tool.
    fn name(&self, tool: &str) -> String {
        format!("mcp__{}__{tool}", self.settings.server)
    }
}

/// The messages of a batch; `None` for a line that is none.
fn batch(line: &str) -> Option<Vec<&RawValue>> {
    line.trim_start().starts_with('[').then(|| elements(line)).flatten()
}

fn is_request(line: &str, id: &Id) -> bool {
    id_near_start(line.as_bytes()).as_ref() == Some(id)
}

fn findings(suspicions: Vec<Suspicion>) -> Vec<Finding> {
    let finding = |one: Suspicion| Finding { name: one.name.to_owned(), excerpt: one.excerpt };
    suspicions.into_iter().map(finding).collect()
}

/// Findings in a few words.
fn in_words(findings: &[Finding]) -> String {
    let word = |one: &Finding| format!("{} ({})", one.name, shown(&one.excerpt, 120));
    findings.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
