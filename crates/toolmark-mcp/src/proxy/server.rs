//! Messages of the server: lists are filtered and compared with the pins, results are
//! inspected, everything else is forwarded unchanged.

use super::{OpenRequest, Proxy, RequestKind, Tool, describe_findings, findings};
use crate::arguments::ArgumentSchema;
use crate::definition::{Definition, difference};
use crate::message::{McpMessage, elements, member, members, splice};
use crate::pins::PinStatus;
use crate::policy::{McpRuling, McpSuspicion, Occasion};
use crate::result::inspect;
use crate::suspicion::{in_description, sanitize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;
use toolmark_shell::Decision;

/// Maximum number of tools listed.
const MAX_TOOLS: usize = 10_000;

/// Maximum number of pages requested of a list.
const MAX_PAGES: usize = 100;

impl Proxy {
    /// Handles a message of the server. Returns the message to forward, if any.
    pub(super) fn server_message<'m>(
        &mut self,
        json: &'m str,
        number: u64,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        let message = match McpMessage::read(json) {
            Ok(message) => message,
            Err(why) => {
                self.note(format!(
                    "line {number} of the server was dropped: {}",
                    sanitize(&why.to_string(), 200)
                ));
                if let Some(id) = crate::message::id_near_start(json.as_bytes()) {
                    self.end(&id, "its answer cannot be parsed");
                }
                return None;
            }
        };
        let (key, body, is_error) = match message {
            McpMessage::Request { key, .. } if self.questions.is_ours(&key) => {
                self.note(format!(
                    "line {number} of the server was dropped: it uses an id of the proxy"
                ));
                return None;
            }
            McpMessage::Request { .. } | McpMessage::Notification { .. } => {
                return Some(Cow::Borrowed(json));
            }
            McpMessage::Answer { key: None, is_error: true, .. } => {
                return Some(Cow::Borrowed(json));
            }
            McpMessage::Answer { key, body, is_error } => (key, body, is_error),
        };
        if let Some(key) = &key {
            self.earlier.answer(key, body.get(), is_error);
        }
        let Some(open) = key.and_then(|key| self.open.remove(&key)) else {
            self.note(format!(
                "line {number} of the server was dropped: it answers no open request"
            ));
            return None;
        };
        let OpenRequest { kind, .. } = open;
        let new = match (kind, is_error) {
            (RequestKind::OwnList, true) => {
                self.give_up_list("the server does not list its tools");
                return None;
            }
            (RequestKind::OwnList, false) => {
                self.own_list(body, now);
                return None;
            }
            (RequestKind::List, false) => self.filter_list(body),
            (RequestKind::Initialize, false) => {
                self.check_instructions(body);
                None
            }
            (RequestKind::Call { tool }, _) => self.inspect_result(Some(&tool), body),
            (RequestKind::Task, _) => self.inspect_result(None, body),
            _ => None,
        };
        Some(match new {
            Some(new) => Cow::Owned(splice(json, body.get(), &new)),
            None => Cow::Borrowed(json),
        })
    }

    /// Inspects the instructions of a server, which the model reads.
    fn check_instructions(&mut self, body: &RawValue) {
        let words = members(body.get()).ok().and_then(|all| member(&all, "instructions"));
        let words = words.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let found = findings(in_description(&words.unwrap_or_default()));
        if !found.is_empty() {
            self.note(format!("the server's instructions: {}", describe_findings(&found)));
            let ruling =
                McpRuling::new(Decision::Allow, "suspicious", "instructions of the server");
            self.log(Occasion::Server, None, None, None, &ruling, found);
        }
    }

    /// Inspects a result. Returns a replacement, if it has to change.
    fn inspect_result(&mut self, tool: Option<&str>, body: &RawValue) -> Option<String> {
        let (passed, found) = inspect(body.get(), self.settings.limits);
        let new = match passed {
            Cow::Owned(new) => Some(new),
            Cow::Borrowed(_) => None,
        };
        if !found.is_empty() {
            let whose =
                tool.map_or_else(|| "a task".to_owned(), |tool| sanitize(&self.name(tool), 120));
            self.note(format!("in a result of {whose}: {}", describe_findings(&found)));
            let ruling = McpRuling::new(
                Decision::Allow,
                "result",
                match new {
                    Some(_) => "passed on changed",
                    None => "passed on unchanged",
                },
            );
            self.log(Occasion::Result, tool, None, None, &ruling, found);
        }
        new
    }

    /// Handles a page of a list that the proxy requested.
    fn own_list(&mut self, body: &RawValue, now: Duration) {
        let _ = self.filter_list(body);
        let all = members(body.get()).unwrap_or_default();
        let cursor = member(&all, "nextCursor").filter(|cursor| cursor.get() != "null");
        let more = self.fetch.as_mut().is_some_and(|fetch| {
            fetch.pages += 1;
            fetch.pages < MAX_PAGES
        });
        match cursor {
            Some(cursor) if more => self.ask_for_list(Some(cursor)),
            _ => self.resume_held(now),
        }
    }

    /// Filters a page of a list of tools. Returns a replacement, if it has to change.
    fn filter_list(&mut self, body: &RawValue) -> Option<String> {
        let all = match members(body.get()) {
            Ok(all) => all,
            // Two parsers could see two different lists.
            Err(error) => {
                self.note(format!("a list of tools was emptied: {error}"));
                return Some(r#"{"tools":[]}"#.to_owned());
            }
        };
        let tools = member(&all, "tools")?;
        let Some(parts) = elements(tools.get()) else {
            self.note("a list of tools is not an array and was emptied".to_owned());
            return Some(splice(body.get(), tools.get(), "[]"));
        };
        let mut seen = BTreeSet::new();
        let mut kept: Vec<Cow<'_, str>> = Vec::new();
        let mut same = true;
        for part in &parts {
            match self.filter_tool(part.get(), &mut seen) {
                Some(Cow::Borrowed(as_it_was)) => kept.push(Cow::Borrowed(as_it_was)),
                Some(Cow::Owned(other)) => {
                    same = false;
                    kept.push(Cow::Owned(other));
                }
                None => same = false,
            }
        }
        // Tools listed after the last page did not exist when the session began.
        self.is_listed |= member(&all, "nextCursor").is_none_or(|cursor| cursor.get() == "null");
        let saved = self.pins.save();
        if let Err(error) = saved {
            self.note(format!("the pins cannot be written: {error}"));
        }
        (!same).then(|| splice(body.get(), tools.get(), &format!("[{}]", kept.join(","))))
    }

    /// Decides about one tool of a list. Returns the tool to list, if any.
    fn filter_tool<'t>(
        &mut self,
        json: &'t str,
        seen: &mut BTreeSet<String>,
    ) -> Option<Cow<'t, str>> {
        let definition = match Definition::read(json) {
            Ok(definition) => definition,
            Err(why) => {
                self.note(format!(
                    "a listed tool was removed: {}",
                    sanitize(&why.to_string(), 200)
                ));
                return None;
            }
        };
        let tool = definition.name.clone();
        let name = self.name(&tool);
        let known = self.tools.contains_key(&tool);
        if !seen.insert(tool.clone()) || (!known && self.tools.len() >= MAX_TOOLS) {
            let words = "was removed: it is listed twice, or there are too many";
            self.note(format!("{} {words}", sanitize(&name, 120)));
            return None;
        }
        let ruling = self.policy.tool(&self.settings.server, &tool, &name);
        if ruling.decision == Decision::Deny {
            self.log(Occasion::List, Some(&tool), None, None, &ruling, Vec::new());
            return None;
        }
        let unchanged =
            self.tools.get(&tool).is_some_and(|known| known.definition.hash == definition.hash);
        let found = if unchanged { Vec::new() } else { findings(definition.suspicions()) };
        let standing = self.pins.check(&self.settings.server, &definition, self.is_listed);
        let pass = self.report_pin(&definition, &standing, unchanged, &found);
        let changed = matches!(standing, PinStatus::Changed(_)) && !pass;
        if !unchanged || self.tools.get(&tool).is_some_and(|known| known.changed != changed) {
            let schema = ArgumentSchema::new(definition.schema());
            self.tools.insert(tool, Tool { definition, schema, changed, is_reported: false });
        }
        match standing {
            // The model does not see a change that was not accepted.
            PinStatus::Changed(pinned) if changed => Some(Cow::Owned(pinned.to_string())),
            _ => Some(Cow::Borrowed(json)),
        }
    }

    /// Reports and logs the comparison of a definition with its pin; `true` if the tool is allowed.
    fn report_pin(
        &mut self,
        definition: &Definition,
        standing: &PinStatus,
        unchanged: bool,
        found: &[McpSuspicion],
    ) -> bool {
        let tool = &definition.name;
        let name = sanitize(&self.name(tool), 120);
        if !found.is_empty() {
            self.note(format!(
                "the description of {name} is suspicious: {}",
                describe_findings(found)
            ));
        }
        let (decision, reason) = match standing {
            PinStatus::Same => (Decision::Allow, "as pinned".to_owned()),
            PinStatus::New => match self.pins.doubt(&self.settings.server, tool) {
                None => (Decision::Allow, "seen for the first time and pinned".to_owned()),
                Some(doubt) => (Decision::Ask, format!("calls are asked about: {doubt}")),
            },
            PinStatus::Changed(pinned) => {
                let change = difference(pinned, &definition.value);
                (self.policy.changed(), format!("changed since it was pinned:\n{change}"))
            }
        };
        let allowed = decision == Decision::Allow;
        if *standing == PinStatus::New && !allowed {
            let accept = format!("toolmark guard mcp --accept {}/{tool}", self.settings.server);
            self.note(format!("{name}: {reason}\naccept it with: {}", sanitize(&accept, 200)));
        }
        if let PinStatus::Changed(_) = standing {
            if !unchanged {
                let accept = match allowed {
                    true => "accepted by the policy".to_owned(),
                    false => format!(
                        "accept it with: toolmark guard mcp --accept {}",
                        self.settings.server
                    ),
                };
                self.note(format!("{name} {reason}\n{accept}"));
            }
            if allowed {
                self.pins.replace(&self.settings.server, definition);
            }
        }
        if !unchanged {
            let ruling = McpRuling::new(decision, "pins", reason);
            self.log(Occasion::List, Some(tool), None, None, &ruling, found.to_vec());
        }
        allowed
    }
}
