//! Questions to the user of the client about whether a call may be made.
//!
//! There are two ways, depending on the version of the protocol: the proxy sends a request of its
//! own and holds the call; or it answers the call with a request for input, and the client repeats
//! the call with the user's answer. In both cases the answer is matched by an ID that no server can
//! guess.

use super::answers::request;
use super::calls::ToolCall;
use super::{OnAsk, Proxy, ProxyStep, RequestKind};
use crate::message::{RequestId, member, members, object, splice};
use crate::policy::McpRuling;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use toolmark_shell::Decision;

/// Time for the user to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum number of open questions.
const MAX_QUESTIONS: usize = 64;

/// Name of the proxy's question in a request for input.
const OUR_INPUT: &str = "toolmark";

/// Open questions to the user.
#[derive(Default)]
pub(super) struct Questions {
    /// Whether the client can ask its user.
    pub(super) can_be_asked: bool,
    /// Held calls, by the ID of the proxy's request.
    held: BTreeMap<RequestId, CallQuestion>,
    /// Calls answered with a request for input, by the state that the client returns.
    input_required: BTreeMap<String, CallQuestion>,
    /// Calls allowed by the user; their later rounds need no question.
    allowed: Vec<(String, String)>,
}

/// A question about a call.
struct CallQuestion {
    call_id: RequestId,
    line: String,
    call: ToolCall,
    ruling: McpRuling,
    until: Duration,
}

impl Questions {
    pub(super) fn is_ours(&self, id: &RequestId) -> bool {
        self.held.contains_key(id)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.held.values().chain(self.input_required.values()).map(|question| question.until).min()
    }

    /// Drops the question about a call, and returns the ID of the proxy's request.
    pub(super) fn forget(&mut self, call_id: &RequestId) -> Option<RequestId> {
        let id = self.held.iter().find(|(_, question)| question.call_id == *call_id)?.0.clone();
        self.held.remove(&id);
        Some(id)
    }

    fn allow(&mut self, call: &ToolCall) {
        if self.allowed.len() == MAX_QUESTIONS {
            self.allowed.remove(0);
        }
        self.allowed.push((call.tool.clone(), call.args.to_string()));
    }

    fn is_allowed(&self, call: &ToolCall) -> bool {
        let args = call.args.to_string();
        self.allowed.iter().any(|(tool, known)| *tool == call.tool && *known == args)
    }
}

impl Proxy {
    /// Asks the user about a call. Returns the message to forward, if any.
    pub(super) fn ask<'m>(
        &mut self,
        json: &'m str,
        call_id: &RequestId,
        call: ToolCall,
        ruling: McpRuling,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        if call.is_later_round && self.questions.is_allowed(&call) {
            let reason = "allowed in an earlier round";
            return self.forward(
                json,
                call_id,
                &call,
                &McpRuling::new(Decision::Allow, "asked", reason),
            );
        }
        let full = self.questions.held.len() + self.questions.input_required.len() >= MAX_QUESTIONS;
        if full || !(self.questions.can_be_asked || call.can_be_asked) {
            return self.decide_alone(json, call_id, &call, ruling);
        }
        let until = now + ANSWER_TIMEOUT;
        let params = json!({
            "message": format!(
                "Allow {}? {}\n{}",
                self.name(&call.tool),
                ruling.full_reason(),
                call.excerpt()
            ),
            "requestedSchema": {"type": "object", "properties": {}},
        });
        let id = self.own_id();
        let question =
            CallQuestion { call_id: call_id.clone(), line: json.to_owned(), call, ruling, until };
        if question.call.can_be_asked {
            let RequestId::Text(state) = &id else { return None };
            let ask = json!({
                "resultType": "input_required",
                "inputRequests": {OUR_INPUT: {"method": "elicitation/create", "params": params}},
                "requestState": state,
            });
            self.answer(&call_id.json(), &ask);
            self.questions.input_required.insert(state.clone(), question);
        } else {
            if let Err(why) = self.register(call_id, RequestKind::Held) {
                self.fail(&call_id.json(), rmcp::model::ErrorCode::INVALID_REQUEST, why);
                return None;
            }
            let line = request(Some(&id.json()), "elicitation/create", &params.to_string());
            self.steps.push(ProxyStep::Client(line));
            self.questions.held.insert(id, question);
        }
        None
    }

    /// Decides about a call whose user cannot be asked.
    fn decide_alone<'m>(
        &mut self,
        json: &'m str,
        call_id: &RequestId,
        call: &ToolCall,
        ruling: McpRuling,
    ) -> Option<Cow<'m, str>> {
        match self.settings.on_ask {
            OnAsk::Allow => {
                let reason =
                    format!("the user cannot be asked, and --on-ask is allow: {}", ruling.reason);
                let ruling = McpRuling::new(Decision::Allow, &ruling.rule, reason);
                self.forward(json, call_id, call, &ruling)
            }
            OnAsk::Deny => {
                let reason = format!(
                    "{}; the policy says to ask, but this client cannot ask its user",
                    ruling.reason
                );
                let hint = "allow it in the policy, use a client that supports elicitation, or start the proxy with --on-ask allow";
                let suggestion = match ruling.suggestion {
                    Some(other) => format!("{other}; or {hint}"),
                    None => hint.to_owned(),
                };
                let ruling = McpRuling::new(Decision::Deny, &ruling.rule, reason);
                self.refuse(&call_id.json(), call, &ruling.suggesting(suggestion));
                None
            }
        }
    }

    /// Handles the answer to the proxy's request. Returns the message to forward, if any.
    pub(super) fn resolve_question<'m>(
        &mut self,
        id: &RequestId,
        body: &RawValue,
        is_error: bool,
    ) -> Option<Cow<'m, str>> {
        let question = self.questions.held.remove(id)?;
        self.open.remove(&question.call_id);
        let yes = !is_error && is_accepted(body.get());
        let CallQuestion { call_id, line, call, ruling, .. } = question;
        if !self.record_answer(yes, &call_id, &call, ruling) {
            return None;
        }
        let reason = "the user allowed it";
        let ruling = McpRuling::new(Decision::Allow, "asked", reason);
        let forward = self.forward(&line, &call_id, &call, &ruling)?;
        Some(Cow::Owned(forward.into_owned()))
    }

    /// Handles a call repeated with the user's answer. `None` if it is another call, `Some(None)`
    /// if it is not allowed.
    pub(super) fn resume_call(
        &mut self,
        json: &str,
        call_id: &RequestId,
        call: &ToolCall,
        params: &RawValue,
    ) -> Option<Option<String>> {
        let all = members(params.get()).ok()?;
        let state: String = serde_json::from_str(member(&all, "requestState")?.get()).ok()?;
        let question = self.questions.input_required.remove(&state)?;
        let answer = member(&all, "inputResponses")
            .and_then(|raw| members(raw.get()).ok())
            .and_then(|all| member(&all, OUR_INPUT));
        let same = question.call.tool == call.tool && question.call.args == call.args;
        let yes = same && answer.is_some_and(|answer| is_accepted(answer.get()));
        if !self.record_answer(yes, call_id, call, question.ruling) {
            return Some(None);
        }
        // The server did not ask for input, so it must not see an answer.
        let kept: Vec<_> = all
            .into_iter()
            .filter(|(key, _)| key != "requestState" && key != "inputResponses")
            .collect();
        let plain = splice(json, params.get(), &object(&kept));
        let ruling = McpRuling::new(Decision::Allow, "asked", "the user allowed it");
        Some(self.forward(&plain, call_id, call, &ruling).map(Cow::into_owned))
    }

    /// Records the answer of the user; a refusal becomes the answer to the call.
    fn record_answer(
        &mut self,
        yes: bool,
        call_id: &RequestId,
        call: &ToolCall,
        ruling: McpRuling,
    ) -> bool {
        if yes {
            self.questions.allow(call);
        } else {
            let reason = format!("the user did not allow it: {}", ruling.reason);
            let no = McpRuling::new(Decision::Deny, "asked", reason);
            self.refuse(&call_id.json(), call, &McpRuling { suggestion: ruling.suggestion, ..no });
        }
        yes
    }

    /// Ends the questions that were not answered in time.
    pub(super) fn end_questions(&mut self, now: Duration) {
        self.questions.input_required.retain(|_, question| question.until > now);
        let is_late = |question: &CallQuestion| question.until <= now;
        let held = self.questions.held.iter().filter(|(_, question)| is_late(question));
        let ids: Vec<RequestId> = held.map(|(id, _)| id.clone()).collect();
        for id in ids {
            let Some(CallQuestion { call_id, call, ruling, .. }) = self.questions.held.remove(&id)
            else {
                continue;
            };
            self.open.remove(&call_id);
            let reason = format!("no answer in time: {}", ruling.reason);
            self.refuse(&call_id.json(), &call, &McpRuling::new(Decision::Deny, "asked", reason));
        }
    }
}

fn is_accepted(json: &str) -> bool {
    let answer = serde_json::from_str::<ElicitResult>(json);
    answer.is_ok_and(|answer| matches!(answer.action, ElicitationAction::Accept))
}
