//! A call of a tool: read, looked up, checked and decided, in that order. What
//! may be made goes on as it was written.

use super::client::asks_with_forms;
use super::{Kind, Proxy};
use crate::arguments::Check;
use crate::definition::difference;
use crate::message::{Id, member, members, strict_value};
use crate::pins::Standing;
use crate::rate::Bucket;
use crate::result::masked;
use crate::suspicion::shown;
use crate::warden::{Call, Finding, Occasion, Record, Ruling};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::time::Duration;
use toolmark_shell::Decision;

/// A call that was read.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) tool: String,
    pub(super) args: Value,
    /// The protocol has no start of a session: each request says it all.
    pub(super) modern: bool,
    /// This request says that the user can be asked.
    pub(super) can_be_asked: bool,
    /// It answers questions the server had about the same call.
    pub(super) is_later_round: bool,
    /// The metadata another request of ours needs, as JSON.
    meta: Option<String>,
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

impl Asked {
    fn read(params: Option<&RawValue>) -> Result<Self, String> {
        let params = params.ok_or("the call has no `params`")?;
        let all = members(params.get()).map_err(|error| format!("`params`: {error}"))?;
        let name = member(&all, "name").ok_or("the call names no tool")?;
        let tool = serde_json::from_str(name.get()).map_err(|_| "`name` is not a string")?;
        let args = match member(&all, "arguments") {
            None => Value::Object(serde_json::Map::new()),
            Some(raw) => {
                strict_value(raw.get()).map_err(|error| format!("`arguments`: {error}"))?
            }
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

    /// The arguments in a line, secrets masked.
    pub(super) fn shown(&self) -> String {
        shown(&masked(&self.args.to_string()), 400)
    }
}

impl Proxy {
    /// Decides a call; what goes on to the server.
    pub(super) fn call<'m>(
        &mut self,
        json: &'m str,
        id: &RawValue,
        key: &Id,
        params: Option<&RawValue>,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        let asked = match Asked::read(params) {
            Ok(asked) => asked,
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
        let name = self.name(&asked.tool);
        let offered = self.warden.tool(&self.settings.server, &asked.tool, &name);
        if offered.decision == Decision::Deny {
            self.refuse(id.get(), &asked, &offered);
            return None;
        }
        if !self.tools.contains_key(&asked.tool) {
            match self.opened(key, Kind::Held) {
                Ok(()) => self.hold_for_list(json, asked.meta.clone(), now),
                Err(why) => self.fail(id.get(), rmcp::model::ErrorCode::INVALID_REQUEST, why),
            }
            return None;
        }
        match self.ruled(&asked, &name, now) {
            ruling if ruling.decision == Decision::Deny => {
                self.refuse(id.get(), &asked, &ruling);
                None
            }
            ruling if ruling.decision == Decision::Ask => {
                if let Some(params) = params
                    && let Some(decided) = self.answered_again(json, key, &asked, params)
                {
                    return decided.map(Cow::Owned);
                }
                self.ask(json, key, asked, ruling, now)
            }
            ruling => self.forward(json, key, &asked, &ruling),
        }
    }

    /// All that stands against a call, the first of it first.
    fn ruled(&mut self, asked: &Asked, name: &str, now: Duration) -> Ruling {
        let changed = self.changed(&asked.tool);
        if let Some(ruling) = changed.as_ref().filter(|ruling| ruling.decision == Decision::Deny) {
            return ruling.clone();
        }
        if let Some(ruling) = self.misfit(asked, name) {
            return ruling;
        }
        let server = &self.settings.server;
        let call = Call { server, tool: &asked.tool, name, args: &asked.args };
        let ruling = self.warden.call(&call);
        if ruling.decision == Decision::Deny {
            return ruling;
        }
        // A call made again after a question has been counted.
        if !asked.is_later_round
            && let Some(ruling) = self.too_often(name, now)
        {
            return ruling;
        }
        match changed {
            Some(ruling) if ruling.decision > Decision::Allow => ruling,
            _ => ruling,
        }
    }

    /// Has the tool another definition than the one that was accepted?
    fn changed(&mut self, tool: &str) -> Option<Ruling> {
        if !self.tools.get(tool)?.changed {
            return None;
        }
        // Somebody may have accepted it meanwhile.
        let refreshed = self.pins.refresh();
        if let Err(error) = refreshed {
            self.note(format!("the pins cannot be read: {error}"));
        }
        let known = self.tools.get_mut(tool)?;
        let Standing::Changed(pinned) =
            self.pins.standing(&self.settings.server, &known.definition)
        else {
            known.changed = false;
            return None;
        };
        let change = difference(&pinned, &known.definition.value);
        let reason = format!("the server changed what it says about this tool:\n{change}");
        let accept = format!(
            "a person can accept it with `toolmark guard mcp --accept {}`",
            self.settings.server
        );
        Some(Ruling::new(self.warden.changed(), "changed", reason).suggesting(accept))
    }

    /// Do the arguments break the tool's own schema?
    fn misfit(&mut self, asked: &Asked, name: &str) -> Option<Ruling> {
        let known = self.tools.get_mut(&asked.tool)?;
        if !asked.args.is_object() {
            let reason = "`arguments` is not an object";
            return Some(Ruling::new(Decision::Deny, "arguments", reason));
        }
        match known.schema.check(&asked.args) {
            Check::Valid => None,
            Check::Invalid(wrong) => {
                let reason =
                    format!("the arguments do not fit the tool's schema: {}", wrong.join("; "));
                let ruling = Ruling::new(Decision::Deny, "arguments", reason);
                Some(ruling.suggesting("correct the arguments and call again"))
            }
            // What the server does not say it cannot expect; it is told once.
            Check::Unknown(why) => {
                if !std::mem::replace(&mut known.told, true) {
                    let name = shown(name, 120);
                    self.note(format!("arguments of {name} are not checked: {why}"));
                    let finding = Finding { name: "not-validated".to_owned(), excerpt: why };
                    let ruling = Ruling::new(Decision::Allow, "arguments", "");
                    self.log(Occasion::Call, Some(&asked.tool), None, None, &ruling, vec![finding]);
                }
                None
            }
        }
    }

    /// Is it too soon for another call? If not, the call is counted.
    fn too_often(&mut self, name: &str, now: Duration) -> Option<Ruling> {
        if !self.buckets.contains_key(name)
            && let Some(rate) = self.warden.rate(name)
        {
            self.buckets.insert(name.to_owned(), Bucket::new(rate, now));
        }
        let mut buckets = [self.overall.as_mut(), self.buckets.get_mut(name)];
        let limits = buckets.iter_mut().flatten();
        let wait = limits
            .filter_map(|bucket| Some((bucket.wait(now)?, bucket.rate())))
            .max_by_key(|(wait, _)| *wait);
        match wait {
            None => {
                buckets.into_iter().flatten().for_each(Bucket::take);
                None
            }
            Some((wait, rate)) => {
                let seconds = wait.as_secs_f64().ceil().max(1.0);
                let reason = format!("more than {} calls", crate::rate::shown(rate));
                let ruling = Ruling::new(Decision::Deny, "rate", reason);
                Some(ruling.suggesting(format!("wait {seconds} s and call again")))
            }
        }
    }

    /// Lets a call through.
    pub(super) fn forward<'m>(
        &mut self,
        json: &'m str,
        key: &Id,
        asked: &Asked,
        ruling: &Ruling,
    ) -> Option<Cow<'m, str>> {
        if let Err(why) = self.opened(key, Kind::Call { tool: asked.tool.clone() }) {
            self.fail(&key.json(), rmcp::model::ErrorCode::INVALID_REQUEST, why);
            return None;
        }
        self.log(
            Occasion::Call,
            Some(&asked.tool),
            Some(key.json()),
            Some(&asked.args),
            ruling,
            Vec::new(),
        );
        Some(Cow::Borrowed(json))
    }

    /// Answers a call in the server's place; `id` is JSON.
    pub(super) fn refuse(&mut self, id: &str, asked: &Asked, ruling: &Ruling) {
        self.log(
            Occasion::Call,
            Some(&asked.tool),
            Some(id.to_owned()),
            Some(&asked.args),
            ruling,
            Vec::new(),
        );
        let name = self.name(&asked.tool);
        let words = refusal(&name, ruling);
        let line = words.lines().next().unwrap_or_default();
        self.note(shown(line, 400));
        self.fail_call(id, &words, asked.modern);
    }

    /// Answers a call of a tool nobody knows.
    pub(super) fn unlisted(&mut self, id: &str, params: Option<&RawValue>, why: &str) {
        match Asked::read(params) {
            Ok(asked) => {
                let reason = format!("what the tool is cannot be told: {why}");
                let ruling = Ruling::new(Decision::Deny, "unlisted", reason);
                self.refuse(id, &asked, &ruling.suggesting("call a tool the server lists"));
            }
            Err(why) => {
                self.fail_call(id, &format!("toolmark: the call cannot be read: {why}"), false)
            }
        }
    }

    /// The tool a call names.
    pub(super) fn tool_of(&self, params: Option<&RawValue>) -> Option<String> {
        Asked::read(params).ok().map(|asked| asked.tool)
    }

    /// Writes a decision into the log.
    pub(super) fn log(
        &mut self,
        occasion: Occasion,
        tool: Option<&str>,
        request: Option<String>,
        args: Option<&Value>,
        ruling: &Ruling,
        findings: Vec<Finding>,
    ) {
        let args = args.and_then(|args| serde_json::from_str(&masked(&args.to_string())).ok());
        self.record(&Record {
            occasion,
            server: self.settings.server.clone(),
            tool: tool.map(|tool| self.name(tool)),
            request,
            args,
            decision: ruling.decision.as_str(),
            rule: ruling.rule.clone(),
            reason: ruling.reason.clone(),
            findings,
        });
    }
}

/// What the model reads in place of a result.
fn refusal(name: &str, ruling: &Ruling) -> String {
    let mut words = format!(
        "toolmark: {} was not called ({}): {}",
        shown(name, 200),
        ruling.rule,
        ruling.reason
    );
    if let Some(suggestion) = &ruling.suggestion {
        words.push_str("\nInstead: ");
        words.push_str(suggestion);
    }
    words
}
