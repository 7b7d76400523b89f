//! Asking the person behind the client whether a call may be made.
//!
//! There are two ways, by the version of the protocol: a request of our own,
//! while the call is held; or an answer to the call that asks for input, after
//! which the client makes the same call again with what the person said. Either
//! is answered only under a name no server can know.

use super::answers::request;
use super::calls::Asked;
use super::{Kind, OnAsk, Proxy, Step};
use crate::message::{Id, member, members, object, spliced};
use crate::warden::Ruling;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use toolmark_shell::Decision;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// More questions are not open at once.
const MOST: usize = 64;

/// The name of our question among those of an answer that asks for input.
const OURS: &str = "toolmark";

/// Questions that wait for an answer.
#[derive(Default)]
pub(super) struct Asking {
    /// The client said its user can be asked.
    pub(super) can_be_asked: bool,
    /// By the id of our request.
    held: BTreeMap<Id, Question>,
    /// By the state that comes back with the call.
    handed_out: BTreeMap<String, Question>,
    /// Calls a person allowed, so that their further rounds are not asked about.
    allowed: Vec<(String, String)>,
}

/// A question about a call.
struct Question {
    call: Id,
    line: String,
    asked: Asked,
    ruling: Ruling,
    until: Duration,
}

impl Asking {
    pub(super) fn is_ours(&self, id: &Id) -> bool {
        self.held.contains_key(id)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.held.values().chain(self.handed_out.values()).map(|question| question.until).min()
    }

    /// Drops the question about a call; the id it was asked under.
    pub(super) fn forget(&mut self, call: &Id) -> Option<Id> {
        let id = self.held.iter().find(|(_, question)| question.call == *call)?.0.clone();
        self.held.remove(&id);
        Some(id)
    }

    fn allow(&mut self, asked: &Asked) {
        if self.allowed.len() == MOST {
            self.allowed.remove(0);
        }
        self.allowed.push((asked.tool.clone(), asked.args.to_string()));
    }

    fn is_allowed(&self, asked: &Asked) -> bool {
        let args = asked.args.to_string();
        self.allowed.iter().any(|(tool, known)| *tool == asked.tool && *known == args)
    }
}

impl Proxy {
    /// Decides a call the policy wants a person to decide; what goes on.
    pub(super) fn ask<'m>(
        &mut self,
        json: &'m str,
        call: &Id,
        asked: Asked,
        ruling: Ruling,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        if asked.is_later_round && self.asking.is_allowed(&asked) {
            let reason = "allowed in an earlier round";
            return self.forward(
                json,
                call,
                &asked,
                &Ruling::new(Decision::Allow, "asked", reason),
            );
        }
        let full = self.asking.held.len() + self.asking.handed_out.len() >= MOST;
        if full || !(self.asking.can_be_asked || asked.can_be_asked) {
            return self.decide_alone(json, call, &asked, ruling);
        }
        let until = now + PATIENCE;
        let params = json!({
            "message": format!("Allow {}? {}\n{}", self.name(&asked.tool), ruling.reason, asked.shown()),
            "requestedSchema": {"type": "object", "properties": {}},
        });
        let id = self.own_id();
        let question = Question { call: call.clone(), line: json.to_owned(), asked, ruling, until };
        if question.asked.can_be_asked {
            let Id::Text(state) = &id else { return None };
            let ask = json!({
                "resultType": "input_required",
                "inputRequests": {OURS: {"method": "elicitation/create", "params": params}},
                "requestState": state,
            });
            self.answer(&call.json(), &ask);
            self.asking.handed_out.insert(state.clone(), question);
        } else {
            if let Err(why) = self.opened(call, Kind::Held) {
                self.fail(&call.json(), rmcp::model::ErrorCode::INVALID_REQUEST, why);
                return None;
            }
            let line = request(Some(&id.json()), "elicitation/create", &params.to_string());
            self.steps.push(Step::Client(line));
            self.asking.held.insert(id, question);
        }
        None
    }

    /// Nobody can be asked.
    fn decide_alone<'m>(
        &mut self,
        json: &'m str,
        call: &Id,
        asked: &Asked,
        ruling: Ruling,
    ) -> Option<Cow<'m, str>> {
        match self.settings.on_ask {
            OnAsk::Allow => {
                let reason =
                    format!("nobody can be asked, and --on-ask is allow: {}", ruling.reason);
                let ruling = Ruling::new(Decision::Allow, &ruling.rule, reason);
                self.forward(json, call, asked, &ruling)
            }
            OnAsk::Deny => {
                let reason = format!(
                    "{}; the policy says to ask, and this client cannot be asked",
                    ruling.reason
                );
                let hint = "allow it in the policy, use a client that supports elicitation, or start the proxy with --on-ask allow";
                let suggestion = match ruling.suggestion {
                    Some(other) => format!("{other}; or {hint}"),
                    None => hint.to_owned(),
                };
                let ruling = Ruling::new(Decision::Deny, &ruling.rule, reason);
                self.refuse(&call.json(), asked, &ruling.suggesting(suggestion));
                None
            }
        }
    }

    /// The person answered a request of ours; what goes on.
    pub(super) fn answered<'m>(
        &mut self,
        id: &Id,
        body: &RawValue,
        is_error: bool,
    ) -> Option<Cow<'m, str>> {
        let question = self.asking.held.remove(id)?;
        self.open.remove(&question.call);
        let yes = !is_error && says_yes(body.get());
        let Question { call, line, asked, ruling, .. } = question;
        if !self.follow(yes, &call, &asked, ruling) {
            return None;
        }
        let reason = "the user allowed it";
        let ruling = Ruling::new(Decision::Allow, "asked", reason);
        let forward = self.forward(&line, &call, &asked, &ruling)?;
        Some(Cow::Owned(forward.into_owned()))
    }

    /// The client made a call again with what the person said about it; the call
    /// as it may go on, or nothing if it may not. Other calls are given back.
    pub(super) fn answered_again(
        &mut self,
        json: &str,
        call: &Id,
        asked: &Asked,
        params: &RawValue,
    ) -> Option<Option<String>> {
        let all = members(params.get()).ok()?;
        let state: String = serde_json::from_str(member(&all, "requestState")?.get()).ok()?;
        let question = self.asking.handed_out.remove(&state)?;
        let answer = member(&all, "inputResponses")
            .and_then(|raw| members(raw.get()).ok())
            .and_then(|all| member(&all, OURS));
        let same = question.asked.tool == asked.tool && question.asked.args == asked.args;
        let yes = same && answer.is_some_and(|answer| says_yes(answer.get()));
        if !self.follow(yes, call, asked, question.ruling) {
            return Some(None);
        }
        // The server was never asked, so it must not see an answer.
        let kept: Vec<_> = all
            .into_iter()
            .filter(|(key, _)| key != "requestState" && key != "inputResponses")
            .collect();
        let plain = spliced(json, params.get(), &object(&kept));
        let ruling = Ruling::new(Decision::Allow, "asked", "the user allowed it");
        Some(self.forward(&plain, call, asked, &ruling).map(Cow::into_owned))
    }

    /// Notes what the person said; a no is the answer to the call.
    fn follow(&mut self, yes: bool, call: &Id, asked: &Asked, ruling: Ruling) -> bool {
        if yes {
            self.asking.allow(asked);
        } else {
            let reason = format!("the user did not allow it: {}", ruling.reason);
            let no = Ruling::new(Decision::Deny, "asked", reason);
            self.refuse(&call.json(), asked, &Ruling { suggestion: ruling.suggestion, ..no });
        }
        yes
    }

    /// Nobody answered for too long.
    pub(super) fn end_questions(&mut self, now: Duration) {
        self.asking.handed_out.retain(|_, question| question.until > now);
        let late = |question: &Question| question.until <= now;
        let held = self.asking.held.iter().filter(|(_, question)| late(question));
        let ids: Vec<Id> = held.map(|(id, _)| id.clone()).collect();
        for id in ids {
            let Some(Question { call, asked, ruling, .. }) = self.asking.held.remove(&id) else {
                continue;
            };
            self.open.remove(&call);
            let reason = format!("nobody answered in time: {}", ruling.reason);
            self.refuse(&call.json(), &asked, &Ruling::new(Decision::Deny, "asked", reason));
        }
    }
}

fn says_yes(json: &str) -> bool {
    let answer = serde_json::from_str::<ElicitResult>(json);
    answer.is_ok_and(|answer| matches!(answer.action, ElicitationAction::Accept))
}
