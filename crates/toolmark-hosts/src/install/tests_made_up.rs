//! Generated settings in every layout: everything except the guard's hooks is the same before
//! and after.

use super::hooks::{HookState, Hooks};
use super::jsonc::{JsoncKind, JsoncNode, parse};
use super::{SettingsScope, targets};
use serde_json::{Map, Value, json};

/// A deterministic pseudorandom number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.roll(if depth == 0 { 4 } else { 6 }) {
            0 => json!(self.roll(1000)),
            1 => json!("a \"quoted\", // é\n{text}"),
            2 => json!(self.roll(2) == 0),
            3 => Value::Null,
            4 => (0..self.roll(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: u64) -> Value {
        let members = (0..self.roll(4)).map(|n| (format!("key {n}"), self.value(depth)));
        Value::Object(members.collect::<Map<_, _>>())
    }

    /// Generates settings, often with unrelated hooks.
    fn settings(&mut self, event: &str) -> Value {
        let mut settings = self.object(3);
        let other = json!({"matcher": "x", "hooks": [{"type": "command", "command": "other"}]});
        match self.roll(4) {
            0 => settings["hooks"] = json!({"Stop": [other]}),
            1 => settings["hooks"] = json!({event: [other, {"command": "another"}], "Stop": []}),
            2 => settings["hooks"] = json!({event: [other]}),
            _ => {}
        }
        if self.roll(2) == 0 {
            settings["last"] = self.value(2);
        }
        settings
    }

    fn blank(&mut self, layout: u64, depth: usize) -> String {
        let line = format!("\n{}", if layout == 1 { "\t" } else { "  " }.repeat(depth));
        match (layout, self.roll(8)) {
            (0, _) => String::new(),
            (_, 0) => format!(" // note, {{\" ]{line}"),
            (_, 1) => format!(" /* a {{ b */{line}"),
            (2, _) => line.replace('\n', "\r\n"),
            _ => line,
        }
    }

    fn written(&mut self, value: &Value, layout: u64, depth: usize) -> String {
        let (open, close, parts): (_, _, Vec<String>) = match value {
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| {
                    format!(
                        "{}: {}",
                        Value::from(key.as_str()),
                        self.written(value, layout, depth + 1)
                    )
                };
                ('{', '}', members.iter().map(member).collect())
            }
            Value::Array(items) => {
                let item = |item| self.written(item, layout, depth + 1);
                ('[', ']', items.iter().map(item).collect())
            }
            scalar => return scalar.to_string(),
        };
        let mut text = String::from(open);
        let last = parts.len();
        for (index, part) in parts.into_iter().enumerate() {
            text += &self.blank(layout, depth + 1);
            text += &part;
            if index + 1 < last || (layout > 0 && self.roll(4) == 0) {
                text.push(',');
            }
        }
        if last > 0 || self.roll(4) == 0 {
            text += &self.blank(layout, depth);
        }
        text.push(close);
        text
    }
}

/// Parses a text, ignoring comments.
fn said(text: &str) -> Value {
    fn value(text: &str, node: &JsoncNode) -> Value {
        match &node.kind {
            JsoncKind::Object(_) => {
                let members = node.members().iter().map(|m| (m.key.clone(), value(text, &m.value)));
                Value::Object(members.collect())
            }
            JsoncKind::Array(items) => items.iter().map(|item| value(text, item)).collect(),
            JsoncKind::Text(text) => json!(text),
            JsoncKind::Scalar => serde_json::from_str(&text[node.span.clone()]).unwrap(),
        }
    }
    value(text, &parse(text).unwrap_or_else(|broken| panic!("{broken:?}: {text}")))
}

#[test]
fn what_is_not_the_guards_is_the_same_before_and_after() {
    let mut dice = Dice(7);
    let targets: Vec<_> = targets().collect();
    for round in 0..2000 {
        let target = targets[round % targets.len()];
        let command = format!("/opt/toolmark guard --host {}", target.host.id);
        let entries = (target.installer.entries)(&command, SettingsScope::User);
        let hooks = Hooks { host: target.host.id, entries: &entries, version: None };
        let settings = dice.settings(entries[0].event);
        let layout = dice.roll(3);
        let text = dice.written(&settings, layout, 0);
        assert_eq!(said(&text), settings, "{text}");

        let with = hooks.installed(Some(&text)).unwrap();
        assert_eq!(hooks.found(&with), Ok(HookState::All), "{with}");
        assert_eq!(hooks.installed(Some(&with)).unwrap(), with, "a second time");
        let mut expected = settings.clone();
        for entry in &entries {
            if expected.get("hooks").is_none() {
                expected["hooks"] = json!({});
            }
            if expected["hooks"].get(entry.event).is_none() {
                expected["hooks"][entry.event] = json!([]);
            }
            expected["hooks"][entry.event].as_array_mut().unwrap().push(entry.item.clone());
        }
        assert_eq!(said(&with), expected, "{text}\n---\n{with}");
        let notes = |text: &str| (text.matches("// note").count(), text.matches("/* a {").count());
        assert_eq!(notes(&with), notes(&text), "{text}\n---\n{with}");

        let without = hooks.uninstalled(&with).unwrap();
        assert_eq!(said(&without), settings, "{text}\n---\n{without}");
        assert_eq!(notes(&without), notes(&text), "{text}\n---\n{without}");
    }
}
