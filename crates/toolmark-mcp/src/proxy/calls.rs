//! Calls of tools: parsed, looked up, checked and decided, in that order. Allowed calls
//! are forwarded as written.

use super::client::asks_with_forms;
use super::{Proxy, RequestKind};
use crate::arguments::ArgumentCheck;
use crate::definition::difference;
use crate::message::{RequestId, member, members, strict_value};
use crate::pins::PinStatus;
use crate::policy::{DecisionRecord, McpCall, McpRuling, McpSuspicion, Occasion};
use crate::rate::RateBucket;
use crate::result::{mask_json, secrets_in};
use crate::suspicion::sanitize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::time::Duration;
use toolmark_shell::Decision;

/// A parsed call.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    pub(super) tool: String,
    pub(super) args: Value,
    /// Whether the protocol version has no sessions.
    pub(super) modern: bool,
    /// Whether the request declares that the user can be asked.
    pub(super) can_be_asked: bool,
    /// Whether the call continues an earlier one with requested input.
    pub(super) is_later_round: bool,
    /// Metadata for requests of the proxy, as JSON.
    meta: Option<String>,
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Reason why the parameters of a call are invalid.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("the call has no `params`")]
    NoParams,
    #[error("`params`: {0}")]
    Params(serde_json::Error),
    #[error("the call names no tool")]
    NoTool,
    #[error("`name` is not a string")]
    Name,
    #[error("`arguments`: {0}")]
    Arguments(serde_json::Error),
}

impl ToolCall {
    fn read(params: Option<&RawValue>) -> Result<Self, CallError> {
        let params = params.ok_or(CallError::NoParams)?;
        let all = members(params.get()).map_err(CallError::Params)?;
        let name = member(&all, "name").ok_or(CallError::NoTool)?;
        let tool = serde_json::from_str(name.get()).map_err(|_| CallError::Name)?;
        let args = match member(&all, "arguments") {
            None => Value::Object(serde_json::Map::new()),
            Some(raw) => strict_value(raw.get()).map_err(CallError::Arguments)?,
        };
        let meta = member(&all, "_meta").map(|raw| raw.get());
        let mut meta: Value =
            meta.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
        if let Value::Object(meta) = &mut meta {
            meta.shift_remove("progressToken");
        }
        let modern = meta.get(VERSION).is_some();
        Ok(Self {
            tool,
            args,
            modern,
            can_be_asked: modern && meta.get(CAPABILITIES).is_some_and(asks_with_forms),
            is_later_round: member(&all, "inputResponses").is_some(),
            meta: modern.then(|| meta.to_string()),
        })
    }

    /// Returns the arguments in one line, with secrets masked.
    pub(super) fn excerpt(&self) -> String {
        sanitize(&mask_json(&self.args.to_string()), 400)
    }
}

impl Proxy {
    /// Handles a call. Returns the message to forward to the server, if any.
    pub(super) fn call<'m>(
        &mut self,
        json: &'m str,
        id: &RawValue,
        key: &RequestId,
        params: Option<&RawValue>,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        let call = match ToolCall::read(params) {
            Ok(call) => call,
            Err(why) => {
                self.fail_call(
                    id.get(),
                    &format!("toolmark: the call cannot be read: {why}"),
                    false,
                );
                return None;
            }
        };
        if self.open.get(key).is_some_and(|open| !open.cancelled) {
            let words = "a request with this id is open";
            self.fail(id.get(), rmcp::model::ErrorCode::INVALID_REQUEST, words);
            return None;
        }
        let name = self.name(&call.tool);
        let offered = self.policy.tool(&self.settings.server, &call.tool, &name);
        if offered.decision == Decision::Deny {
            self.refuse(id.get(), &call, &offered);
            return None;
        }
        if !self.tools.contains_key(&call.tool) {
            match self.register(key, RequestKind::Held) {
                Ok(()) => self.hold_for_list(json, call.meta.clone(), now),
                Err(why) => self.fail(id.get(), rmcp::model::ErrorCode::INVALID_REQUEST, why),
            }
            return None;
        }
        match self.decide(&call, &name, now) {
            ruling if ruling.decision == Decision::Deny => {
                self.refuse(id.get(), &call, &ruling);
                None
            }
            ruling if ruling.decision == Decision::Ask => {
                if let Some(params) = params
                    && let Some(decided) = self.resume_call(json, key, &call, params)
                {
                    return decided.map(Cow::Owned);
                }
                self.ask(json, key, call, ruling, now)
            }
            ruling => self.forward(json, key, &call, &ruling),
        }
    }

    /// Decides about a call.
    fn decide(&mut self, call: &ToolCall, name: &str, now: Duration) -> McpRuling {
        let changed = self.check_pin(&call.tool);
        if let Some(ruling) = changed.as_ref().filter(|ruling| ruling.decision == Decision::Deny) {
            return ruling.clone();
        }
        if let Some(ruling) = self.check_arguments(call, name) {
            return ruling;
        }
        let server = &self.settings.server;
        let earlier = self.earlier.calls();
        let asked = McpCall { server, tool: &call.tool, name, args: &call.args, earlier };
        let ruling = self.policy.call(&asked);
        if ruling.decision == Decision::Deny {
            return ruling;
        }
        // A repeated call has already been counted.
        if !call.is_later_round
            && let Some(ruling) = self.check_rate(name, now)
        {
            return ruling;
        }
        match changed {
            Some(ruling) if ruling.decision > Decision::Allow => ruling,
            _ if ruling.decision == Decision::Allow => {
                let doubt = self.check_doubt(&call.tool).or_else(|| check_secrets(call));
                doubt.unwrap_or(ruling)
            }
            _ => ruling,
        }
    }

    /// Asks about a tool with a doubt that has not been reviewed.
    fn check_doubt(&mut self, tool: &str) -> Option<McpRuling> {
        self.pins.doubt(&self.settings.server, tool)?;
        // It may have been accepted in the meantime.
        let refreshed = self.pins.refresh();
        if let Err(error) = refreshed {
            self.note(format!("the pins cannot be read: {error}"));
        }
        let doubt = self.pins.doubt(&self.settings.server, tool)?;
        let accept = format!(
            "a person can accept it with `toolmark guard mcp --accept {}/{tool}`",
            self.settings.server
        );
        let reason = format!("this tool was not accepted: {doubt}");
        Some(McpRuling::new(Decision::Ask, "new-tool", reason).suggesting(accept))
    }

    /// Denies or asks if the definition of the tool differs from the pinned one.
    fn check_pin(&mut self, tool: &str) -> Option<McpRuling> {
        if !self.tools.get(tool)?.changed {
            return None;
        }
        // It may have been accepted in the meantime.
        let refreshed = self.pins.refresh();
        if let Err(error) = refreshed {
            self.note(format!("the pins cannot be read: {error}"));
        }
        let known = self.tools.get_mut(tool)?;
        let PinStatus::Changed(pinned) =
            self.pins.check(&self.settings.server, &known.definition, false)
        else {
            known.changed = false;
            return None;
        };
        let change = difference(&pinned, &known.definition.value);
        let accept = format!(
            "a person can accept it with `toolmark guard mcp --accept {}`",
            self.settings.server
        );
        let reason = "the server changed the definition of this tool";
        let ruling = McpRuling::new(self.policy.changed(), "changed", reason);
        // The model gets no part of a definition that was not accepted.
        Some(McpRuling { details: Some(change), ..ruling.suggesting(accept) })
    }

    /// Denies arguments that do not match the schema of the tool.
    fn check_arguments(&mut self, call: &ToolCall, name: &str) -> Option<McpRuling> {
        let known = self.tools.get_mut(&call.tool)?;
        if !call.args.is_object() {
            let reason = "`arguments` is not an object";
            return Some(McpRuling::new(Decision::Deny, "arguments", reason));
        }
        match known.schema.check(&call.args) {
            ArgumentCheck::Valid => None,
            ArgumentCheck::Invalid(wrong) => {
                let reason = format!(
                    "the arguments do not match the schema of the tool: {}",
                    wrong.join("; ")
                );
                let ruling = McpRuling::new(Decision::Deny, "arguments", reason);
                Some(ruling.suggesting("correct the arguments and call again"))
            }
            // Arguments without a usable schema are allowed, and reported once.
            ArgumentCheck::Unknown(why) => {
                if !std::mem::replace(&mut known.is_reported, true) {
                    let name = sanitize(name, 120);
                    self.note(format!("arguments of {name} are not checked: {why}"));
                    let finding = McpSuspicion { name: "not-validated".to_owned(), excerpt: why };
                    let ruling = McpRuling::new(Decision::Allow, "arguments", "");
                    self.log(Occasion::Call, Some(&call.tool), None, None, &ruling, vec![finding]);
                }
                None
            }
        }
    }

    /// Denies a call that exceeds a rate limit, and counts it otherwise.
    fn check_rate(&mut self, name: &str, now: Duration) -> Option<McpRuling> {
        if !self.buckets.contains_key(name)
            && let Some(rate) = self.policy.rate(name)
        {
            self.buckets.insert(name.to_owned(), RateBucket::new(rate, now));
        }
        let mut buckets = [self.overall.as_mut(), self.buckets.get_mut(name)];
        let limits = buckets.iter_mut().flatten();
        let wait = limits
            .filter_map(|bucket| Some((bucket.wait(now)?, bucket.rate())))
            .max_by_key(|(wait, _)| *wait);
        match wait {
            None => {
                buckets.into_iter().flatten().for_each(RateBucket::take);
                None
            }
            Some((wait, rate)) => {
                let seconds = wait.as_secs_f64().ceil().max(1.0);
                let reason = format!("more than {} calls", crate::rate::describe(rate));
                let ruling = McpRuling::new(Decision::Deny, "rate", reason);
                Some(ruling.suggesting(format!("wait {seconds} s and call again")))
            }
        }
    }

    /// Forwards a call.
    pub(super) fn forward<'m>(
        &mut self,
        json: &'m str,
        key: &RequestId,
        call: &ToolCall,
        ruling: &McpRuling,
    ) -> Option<Cow<'m, str>> {
        if let Err(why) = self.register(key, RequestKind::Call { tool: call.tool.clone() }) {
            self.fail(&key.json(), rmcp::model::ErrorCode::INVALID_REQUEST, why);
            return None;
        }
        self.log(
            Occasion::Call,
            Some(&call.tool),
            Some(key.json()),
            Some(&call.args),
            ruling,
            Vec::new(),
        );
        if !call.is_later_round {
            self.earlier.add(key, self.name(&call.tool), call.args.clone());
        }
        Some(Cow::Borrowed(json))
    }

    /// Answers a call with a refusal; `id` is JSON.
    pub(super) fn refuse(&mut self, id: &str, call: &ToolCall, ruling: &McpRuling) {
        self.log(
            Occasion::Call,
            Some(&call.tool),
            Some(id.to_owned()),
            Some(&call.args),
            ruling,
            Vec::new(),
        );
        let name = self.name(&call.tool);
        let words = refusal(&name, ruling);
        let line = words.lines().next().unwrap_or_default();
        self.note(sanitize(line, 400));
        self.fail_call(id, &words, call.modern);
    }

    /// Refuses a call of a tool that is not listed.
    pub(super) fn refuse_unlisted(&mut self, id: &str, params: Option<&RawValue>, why: &str) {
        match ToolCall::read(params) {
            Ok(call) => {
                let reason = format!("the tool is unknown: {why}");
                let ruling = McpRuling::new(Decision::Deny, "unlisted", reason);
                self.refuse(id, &call, &ruling.suggesting("call a tool the server lists"));
            }
            Err(why) => {
                self.fail_call(id, &format!("toolmark: the call cannot be read: {why}"), false)
            }
        }
    }

    /// Returns the name of the called tool.
    pub(super) fn tool_of(&self, params: Option<&RawValue>) -> Option<String> {
        ToolCall::read(params).ok().map(|call| call.tool)
    }

    /// Writes a decision to the audit log.
    pub(super) fn log(
        &mut self,
        occasion: Occasion,
        tool: Option<&str>,
        request: Option<String>,
        args: Option<&Value>,
        ruling: &McpRuling,
        findings: Vec<McpSuspicion>,
    ) {
        let args = args.and_then(|args| serde_json::from_str(&mask_json(&args.to_string())).ok());
        self.record(&DecisionRecord {
            occasion,
            server: self.settings.server.clone(),
            tool: tool.map(|tool| self.name(tool)),
            request,
            args,
            decision: ruling.decision.word(),
            rule: ruling.rule.clone(),
            reason: ruling.full_reason(),
            findings,
        });
    }
}

/// Asks about secrets in the arguments of a call, which would be sent to the server.
fn check_secrets(call: &ToolCall) -> Option<McpRuling> {
    let found = secrets_in(&call.args.to_string());
    let kinds: Vec<&str> = found.iter().map(|finding| finding.excerpt.as_str()).collect();
    let reason = format!("the arguments contain a secret: {}", kinds.join(", "));
    let ruling = McpRuling::new(Decision::Ask, "secret", reason);
    (!found.is_empty()).then(|| ruling.suggesting("name where the secret is kept instead"))
}

/// Returns the text that the model reads instead of a result.
fn refusal(name: &str, ruling: &McpRuling) -> String {
    let mut words = format!(
        "toolmark: {} was not called ({}): {}",
        sanitize(name, 200),
        ruling.rule,
        ruling.reason
    );
    if let Some(suggestion) = &ruling.suggestion {
        words.push_str("\nInstead: ");
        words.push_str(suggestion);
    }
    words
}
