//! What the server says: lists are filtered and compared with what is pinned,
//! results looked over, everything else goes on as it came.

use super::{Kind, Open, Proxy, Tool, findings, in_words};
use crate::arguments::Schema;
use crate::definition::{Definition, difference};
use crate::message::{Message, elements, member, members, spliced};
use crate::pins::Standing;
use crate::result::looked_over;
use crate::suspicion::{in_description, shown};
use crate::warden::{Finding, Occasion, Ruling};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;
use toolmark_shell::Decision;

/// More tools are not listed.
const MOST_TOOLS: usize = 10_000;

/// More pages are not asked for.
const MOST_PAGES: usize = 100;

impl Proxy {
    /// Takes a message of the server; what goes on to the client.
    pub(super) fn server_message<'m>(
        &mut self,
        json: &'m str,
        number: u64,
        now: Duration,
    ) -> Option<Cow<'m, str>> {
        let message = match Message::read(json) {
            Ok(message) => message,
            Err(why) => {
                self.note(format!("line {number} of the server was dropped: {}", shown(&why, 200)));
                if let Some(id) = crate::message::id_near_start(json.as_bytes()) {
                    self.end(&id, "what came cannot be read");
                }
                return None;
            }
        };
        let (key, body, is_error) = match message {
            Message::Request { key, .. } if self.asking.is_ours(&key) => {
                self.note(format!("line {number} of the server was dropped: not its id"));
                return None;
            }
            Message::Request { .. } | Message::Notification { .. } => {
                return Some(Cow::Borrowed(json));
            }
            Message::Answer { key: None, is_error: true, .. } => return Some(Cow::Borrowed(json)),
            Message::Answer { key, body, is_error } => (key, body, is_error),
        };
        let Some(open) = key.and_then(|key| self.open.remove(&key)) else {
            self.note(format!(
                "line {number} of the server was dropped: it answers no open request"
            ));
            return None;
        };
        let Open { kind, .. } = open;
        let new = match (kind, is_error) {
            (Kind::OwnList, true) => {
                self.give_up_list("the server does not list its tools");
                return None;
            }
            (Kind::OwnList, false) => {
                self.own_list(body, now);
                return None;
            }
            (Kind::List, false) => self.listed(body),
            (Kind::Hello, false) => {
                self.introduced(body);
                None
            }
            (Kind::Call { tool }, _) => self.returned(Some(&tool), body),
            (Kind::Task, _) => self.returned(None, body),
            _ => None,
        };
        Some(match new {
            Some(new) => Cow::Owned(spliced(json, body.get(), &new)),
            None => Cow::Borrowed(json),
        })
    }

    /// A server says what it is for; that reaches the model like a description.
    fn introduced(&mut self, body: &RawValue) {
        let words = members(body.get()).ok().and_then(|all| member(&all, "instructions"));
        let words = words.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let found = findings(in_description(&words.unwrap_or_default()));
        if !found.is_empty() {
            self.note(format!("the server's instructions: {}", in_words(&found)));
            let ruling = Ruling::new(Decision::Allow, "suspicious", "instructions of the server");
            self.log(Occasion::Server, None, None, None, &ruling, found);
        }
    }

    /// A result; what passes in its place.
    fn returned(&mut self, tool: Option<&str>, body: &RawValue) -> Option<String> {
        let (passed, found) = looked_over(body.get(), self.settings.limits);
        let new = match passed {
            Cow::Owned(new) => Some(new),
            Cow::Borrowed(_) => None,
        };
        if !found.is_empty() {
            let whose =
                tool.map_or_else(|| "a task".to_owned(), |tool| shown(&self.name(tool), 120));
            self.note(format!("in a result of {whose}: {}", in_words(&found)));
            let ruling = Ruling::new(
                Decision::Allow,
                "result",
                match new {
                    Some(_) => "passed on changed",
                    None => "passed on as it was",
                },
            );
            self.log(Occasion::Result, tool, None, None, &ruling, found);
        }
        new
    }

    /// A page of the list the proxy asked for.
    fn own_list(&mut self, body: &RawValue, now: Duration) {
        let _ = self.listed(body);
        let all = members(body.get()).unwrap_or_default();
        let cursor = member(&all, "nextCursor").filter(|cursor| cursor.get() != "null");
        let more = self.fetch.as_mut().is_some_and(|fetch| {
            fetch.pages += 1;
            fetch.pages < MOST_PAGES
        });
        match cursor {
            Some(cursor) if more => self.ask_for_list(Some(cursor)),
            _ => self.go_on(now),
        }
    }

    /// A page of a list of tools; what passes in its place.
    fn listed(&mut self, body: &RawValue) -> Option<String> {
        let all = match members(body.get()) {
            Ok(all) => all,
            // Two readers of it would see two lists.
            Err(error) => {
                self.note(format!("a list of tools was emptied: {error}"));
                return Some(r#"{"tools":[]}"#.to_owned());
            }
        };
        let tools = member(&all, "tools")?;
        let Some(parts) = elements(tools.get()) else {
            self.note("a list of tools is no list and was emptied".to_owned());
            return Some(spliced(body.get(), tools.get(), "[]"));
        };
        let mut seen = BTreeSet::new();
        let mut kept: Vec<Cow<'_, str>> = Vec::new();
        let mut same = true;
        for part in &parts {
            match self.offered(part.get(), &mut seen) {
                Some(Cow::Borrowed(as_it_was)) => kept.push(Cow::Borrowed(as_it_was)),
                Some(Cow::Owned(other)) => {
                    same = false;
                    kept.push(Cow::Owned(other));
                }
                None => same = false,
            }
        }
        let saved = self.pins.save();
        if let Err(error) = saved {
            self.note(format!("the pins cannot be written: {error}"));
        }
        (!same).then(|| spliced(body.get(), tools.get(), &format!("[{}]", kept.join(","))))
    }

    /// One tool of a list; what passes in its place.
    fn offered<'t>(&mut self, json: &'t str, seen: &mut BTreeSet<String>) -> Option<Cow<'t, str>> {
        let definition = match Definition::read(json) {
            Ok(definition) => definition,
            Err(why) => {
                self.note(format!("a listed tool was left out: {}", shown(&why, 200)));
                return None;
            }
        };
        let tool = definition.name.clone();
        let name = self.name(&tool);
        let known = self.tools.contains_key(&tool);
        if !seen.insert(tool.clone()) || (!known && self.tools.len() >= MOST_TOOLS) {
            let words = "was left out: it is listed twice, or there are too many";
            self.note(format!("{} {words}", shown(&name, 120)));
            return None;
        }
        let ruling = self.warden.tool(&self.settings.server, &tool, &name);
        if ruling.decision == Decision::Deny {
            self.log(Occasion::List, Some(&tool), None, None, &ruling, Vec::new());
            return None;
        }
        let unchanged =
            self.tools.get(&tool).is_some_and(|known| known.definition.hash == definition.hash);
        let found = if unchanged { Vec::new() } else { findings(definition.suspicions()) };
        let standing = self.pins.standing(&self.settings.server, &definition);
        let pass = self.pinned(&definition, &standing, unchanged, &found);
        let changed = matches!(standing, Standing::Changed(_)) && !pass;
        if !unchanged || self.tools.get(&tool).is_some_and(|known| known.changed != changed) {
            let schema = Schema::new(definition.schema());
            self.tools.insert(tool, Tool { definition, schema, changed, told: false });
        }
        match standing {
            // What nobody accepted does not reach the model.
            Standing::Changed(pinned) if changed => Some(Cow::Owned(pinned.to_string())),
            _ => Some(Cow::Borrowed(json)),
        }
    }

    /// Tells and logs how a definition stands to its pin; may it pass?
    fn pinned(
        &mut self,
        definition: &Definition,
        standing: &Standing,
        unchanged: bool,
        found: &[Finding],
    ) -> bool {
        let tool = &definition.name;
        let name = shown(&self.name(tool), 120);
        if !found.is_empty() {
            self.note(format!("{name} is described suspiciously: {}", in_words(found)));
        }
        let (decision, reason) = match standing {
            Standing::Same => (Decision::Allow, "as pinned".to_owned()),
            Standing::New => (Decision::Allow, "seen for the first time and pinned".to_owned()),
            Standing::Changed(pinned) => {
                let change = difference(pinned, &definition.value);
                (self.warden.changed(), format!("changed since it was pinned:\n{change}"))
            }
        };
        let allowed = decision == Decision::Allow;
        if let Standing::Changed(_) = standing {
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
            let ruling = Ruling::new(decision, "pins", reason);
            self.log(Occasion::List, Some(tool), None, None, &ruling, found.to_vec());
        }
        allowed
    }
}
