//! What the client says.

use super::answers::request;
use super::{Fetch, Kind, Proxy, Step};
use crate::message::{Id, Message, member, members};
use rmcp::model::ErrorCode;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::time::Duration;

/// How long the server may take to list its tools when the proxy asks.
const PATIENCE: Duration = Duration::from_secs(30);

impl Proxy {
    /// Takes a message of the client; what goes on to the server.
    pub(super) fn client_message<'m>(
        &mut self,
        json: &'m str,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        let message = match Message::read(json) {
            Ok(message) => message,
            Err(why) => {
                let id = crate::message::id_near_start(json.as_bytes());
                let id = id.map_or_else(|| "null".to_owned(), |id| id.json());
                self.note(format!("a message of the client was refused: {why}"));
                self.fail(&id, ErrorCode::INVALID_REQUEST, &why);
                return None;
            }
        };
        match message {
            Message::Request { id, key, method, params } => {
                if method == "tools/call" {
                    return self.call(json, id, &key, params, now);
                }
                let kind = match method.as_str() {
                    "initialize" => {
                        self.asking.can_be_asked = params.is_some_and(can_be_asked);
                        Kind::Hello
                    }
                    "server/discover" => Kind::Hello,
                    "tools/list" => Kind::List,
                    "tasks/result" | "tasks/get" => Kind::Task,
                    _ => Kind::Other,
                };
                match self.opened(&key, kind) {
                    Ok(()) => Some(Cow::Borrowed(json)),
                    Err(why) => {
                        self.fail(id.get(), ErrorCode::INVALID_REQUEST, why);
                        None
                    }
                }
            }
            Message::Notification { method, params } => match method.as_str() {
                // Some servers would run it and answer nobody.
                "tools/call" => {
                    self.note("a call without an id was dropped".to_owned());
                    None
                }
                "notifications/cancelled" => self.cancelled(params).then_some(Cow::Borrowed(json)),
                _ => Some(Cow::Borrowed(json)),
            },
            Message::Answer { key: Some(key), body, is_error } if self.asking.is_ours(&key) => {
                self.answered(&key, body, is_error)
            }
            Message::Answer { .. } => Some(Cow::Borrowed(json)),
        }
    }

    /// The client waits no longer; does the server have to know?
    fn cancelled(&mut self, params: Option<&RawValue>) -> bool {
        let id = params
            .and_then(|params| members(params.get()).ok())
            .and_then(|all| member(&all, "requestId"))
            .and_then(Id::read);
        let Some(id) = id else { return true };
        match self.open.get_mut(&id) {
            Some(open) if open.kind == Kind::Held => {
                self.open.remove(&id);
                if let Some(fetch) = &mut self.fetch {
                    fetch.waiting.retain(|line| !super::is_request(line, &id));
                }
                if let Some(question) = self.asking.forget(&id) {
                    let params = format!(
                        r#"{{"requestId":{},"reason":"the call was cancelled"}}"#,
                        question.json()
                    );
                    let cancel = request(None, "notifications/cancelled", &params);
                    self.steps.push(Step::Client(cancel));
                }
                false
            }
            Some(open) => {
                open.cancelled = true;
                true
            }
            None => true,
        }
    }

    /// Holds a call of a tool that was not listed, and asks for the list.
    pub(super) fn hold_for_list(&mut self, json: &str, meta: Option<String>, now: Duration) {
        if let Some(fetch) = &mut self.fetch {
            fetch.waiting.push(json.to_owned());
            return;
        }
        self.fetch =
            Some(Fetch { waiting: vec![json.to_owned()], pages: 0, until: now + PATIENCE, meta });
        self.ask_for_list(None);
    }

    /// Asks the server for a page of its tools.
    pub(super) fn ask_for_list(&mut self, cursor: Option<&RawValue>) {
        let meta = self.fetch.as_ref().and_then(|fetch| fetch.meta.as_deref());
        let parts = [("_meta", meta), ("cursor", cursor.map(RawValue::get))];
        let parts = parts.iter().filter_map(|(key, json)| Some(format!(r#""{key}":{}"#, (*json)?)));
        let params = format!("{{{}}}", parts.collect::<Vec<_>>().join(","));
        let id = self.own_id();
        let line = request(Some(&id.json()), "tools/list", &params);
        if self.opened(&id, Kind::OwnList).is_ok() {
            self.steps.push(Step::Server(line));
        } else {
            self.give_up_list("too many requests are open");
        }
    }

    /// The list the proxy asked for will not come.
    pub(super) fn give_up_list(&mut self, why: &str) {
        let waiting = self.fetch.take().map(|fetch| fetch.waiting).unwrap_or_default();
        for line in waiting {
            if let Ok(Message::Request { id, key, params, .. }) = Message::read(&line) {
                self.open.remove(&key);
                self.unlisted(id.get(), params, why);
            }
        }
    }

    /// The list is there: calls that waited for it go on.
    pub(super) fn go_on(&mut self, now: Duration) {
        let waiting = self.fetch.take().map(|fetch| fetch.waiting).unwrap_or_default();
        for line in waiting {
            if let Ok(Message::Request { id, key, params, .. }) = Message::read(&line) {
                self.open.remove(&key);
                let listed =
                    self.tool_of(params).is_some_and(|tool| self.tools.contains_key(&tool));
                if !listed {
                    self.unlisted(id.get(), params, "the server does not list it");
                } else if let Some(forward) = self.client_message(&line, now) {
                    self.steps.push(Step::Server(forward.into_owned()));
                }
            }
        }
    }
}

/// Did the client say, at the start, that its user can be asked with a form?
fn can_be_asked(params: &RawValue) -> bool {
    let all = members(params.get()).unwrap_or_default();
    let capabilities = member(&all, "capabilities");
    capabilities
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .is_some_and(|capabilities: Value| asks_with_forms(&capabilities))
}

/// Do capabilities say that the user can be asked with a form? Nothing said
/// about ways to ask means forms.
pub(super) fn asks_with_forms(capabilities: &Value) -> bool {
    match capabilities.get("elicitation") {
        Some(Value::Object(ways)) => ways.is_empty() || ways.contains_key("form"),
        _ => false,
    }
}
