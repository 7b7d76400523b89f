//! Messages of the client.

use super::answers::request;
use super::{Fetch, Proxy, ProxyStep, RequestKind};
use crate::message::{McpMessage, RequestId, member, members};
use rmcp::model::ErrorCode;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::time::Duration;

/// Time for the server to list its tools for the proxy.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

impl Proxy {
    /// Handles a message of the client. Returns the message to forward, if any.
    pub(super) fn client_message<'m>(
        &mut self,
        json: &'m str,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        let message = match McpMessage::read(json) {
            Ok(message) => message,
            Err(why) => {
                let id = crate::message::id_near_start(json.as_bytes());
                let id = id.map_or_else(|| "null".to_owned(), |id| id.json());
                self.note(format!("a message of the client was refused: {why}"));
                self.fail(&id, ErrorCode::INVALID_REQUEST, &why.to_string());
                return None;
            }
        };
        match message {
            McpMessage::Request { id, key, method, params } => {
                if method == "tools/call" {
                    return self.call(json, id, &key, params, now);
                }
                let kind = match method.as_str() {
                    "initialize" => {
                        self.questions.can_be_asked = params.is_some_and(can_be_asked);
                        RequestKind::Initialize
                    }
                    "server/discover" => RequestKind::Initialize,
                    "tools/list" => RequestKind::List,
                    "tasks/result" | "tasks/get" => RequestKind::Task,
                    _ => RequestKind::Other,
                };
                match self.register(&key, kind) {
                    Ok(()) => Some(Cow::Borrowed(json)),
                    Err(why) => {
                        self.fail(id.get(), ErrorCode::INVALID_REQUEST, why);
                        None
                    }
                }
            }
            McpMessage::Notification { method, params } => match method.as_str() {
                // Some servers would run it without answering.
                "tools/call" => {
                    self.note("a call without an id was dropped".to_owned());
                    None
                }
                "notifications/cancelled" => self.cancel(params).then_some(Cow::Borrowed(json)),
                _ => Some(Cow::Borrowed(json)),
            },
            McpMessage::Answer { key: Some(key), body, is_error }
                if self.questions.is_ours(&key) =>
            {
                self.resolve_question(&key, body, is_error)
            }
            McpMessage::Answer { .. } => Some(Cow::Borrowed(json)),
        }
    }

    /// Cancels a request; `true` if the server must be notified.
    fn cancel(&mut self, params: Option<&RawValue>) -> bool {
        let id = params
            .and_then(|params| members(params.get()).ok())
            .and_then(|all| member(&all, "requestId"))
            .and_then(RequestId::read);
        let Some(id) = id else { return true };
        match self.open.get_mut(&id) {
            Some(open) if open.kind == RequestKind::Held => {
                self.open.remove(&id);
                if let Some(fetch) = &mut self.fetch {
                    fetch.waiting.retain(|line| !super::is_request(line, &id));
                }
                if let Some(question) = self.questions.forget(&id) {
                    let params = format!(
                        r#"{{"requestId":{},"reason":"the call was cancelled"}}"#,
                        question.json()
                    );
                    let cancel = request(None, "notifications/cancelled", &params);
                    self.steps.push(ProxyStep::Client(cancel));
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

    /// Holds a call of a tool that was not listed, and requests the list.
    pub(super) fn hold_for_list(&mut self, json: &str, meta: Option<String>, now: Duration) {
        if let Some(fetch) = &mut self.fetch {
            fetch.waiting.push(json.to_owned());
            return;
        }
        self.fetch = Some(Fetch {
            waiting: vec![json.to_owned()],
            pages: 0,
            until: now + LIST_TIMEOUT,
            meta,
        });
        self.ask_for_list(None);
    }

    /// Requests a page of the list of tools.
    pub(super) fn ask_for_list(&mut self, cursor: Option<&RawValue>) {
        let meta = self.fetch.as_ref().and_then(|fetch| fetch.meta.as_deref());
        let parts = [("_meta", meta), ("cursor", cursor.map(RawValue::get))];
        let parts = parts.iter().filter_map(|(key, json)| Some(format!(r#""{key}":{}"#, (*json)?)));
        let params = format!("{{{}}}", parts.collect::<Vec<_>>().join(","));
        let id = self.own_id();
        let line = request(Some(&id.json()), "tools/list", &params);
        if self.register(&id, RequestKind::OwnList).is_ok() {
            self.steps.push(ProxyStep::Server(line));
        } else {
            self.give_up_list("too many requests are open");
        }
    }

    /// Refuses the calls that wait for a list, because the list failed.
    pub(super) fn give_up_list(&mut self, why: &str) {
        let waiting = self.fetch.take().map(|fetch| fetch.waiting).unwrap_or_default();
        for line in waiting {
            if let Ok(McpMessage::Request { id, key, params, .. }) = McpMessage::read(&line) {
                self.open.remove(&key);
                self.refuse_unlisted(id.get(), params, why);
            }
        }
    }

    /// Resumes the calls that waited for the list.
    pub(super) fn resume_held(&mut self, now: Duration) {
        let waiting = self.fetch.take().map(|fetch| fetch.waiting).unwrap_or_default();
        for line in waiting {
            if let Ok(McpMessage::Request { id, key, params, .. }) = McpMessage::read(&line) {
                self.open.remove(&key);
                let listed =
                    self.tool_of(params).is_some_and(|tool| self.tools.contains_key(&tool));
                if !listed {
                    self.refuse_unlisted(id.get(), params, "the server does not list it");
                } else if let Some(forward) = self.client_message(&line, now) {
                    self.steps.push(ProxyStep::Server(forward.into_owned()));
                }
            }
        }
    }
}

/// Whether the parameters of `initialize` declare that the user can be asked with a form.
fn can_be_asked(params: &RawValue) -> bool {
    let all = members(params.get()).unwrap_or_default();
    let capabilities = member(&all, "capabilities");
    capabilities
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .is_some_and(|capabilities: Value| asks_with_forms(&capabilities))
}

/// Whether capabilities declare that the user can be asked with a form, which is the default mode.
pub(super) fn asks_with_forms(capabilities: &Value) -> bool {
    match capabilities.get("elicitation") {
        Some(Value::Object(ways)) => ways.is_empty() || ways.contains_key("form"),
        _ => false,
    }
}
