//! Reads a tree into a type and reports every mistake in one pass.
//!
//! Serde stops at the first error. A failed attempt is therefore repeated with a
//! substitute for the value at fault until no further value is at fault. Errors that only
//! follow from a substitute are not reported.

use super::de::De;
use super::fault::{AttemptFault, ConfigFaultKind, NodeId, id};
use super::{Node, NodeEntry, Problem};
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// Maximum number of attempts: a longer list of problems would not be read.
const ATTEMPTS: usize = 200;

/// Maximum number of nodes visited over all attempts, so that a huge tree with many
/// mistakes does not take too long.
const WORK: usize = 20_000_000;

/// Reads `node` as a `T` and reports all problems.
///
/// Returns `None` if the node cannot be a `T`. Unknown keys are errors too, but leave the
/// value readable: they are reported and skipped. Text is never converted to a
/// number, nor a number to text.
pub fn read<T: DeserializeOwned>(node: &Node, problems: &mut Vec<Problem>) -> Option<T> {
    let mut value = None;
    let is_whole = attempt(node, problems, &mut |context| {
        value = Some(T::deserialize(De::root(node, context))?);
        Ok(())
    });
    value.filter(|_| is_whole)
}

/// Repeats `read` until no new node is at fault and reports the problems. Returns whether the
/// value read last is free of substitutes. Not generic, because it would be compiled for every
/// type.
fn attempt(
    node: &Node,
    problems: &mut Vec<Problem>,
    read: &mut dyn FnMut(&ReadContext) -> Result<(), AttemptFault>,
) -> bool {
    let context = ReadContext::default();
    let mut is_read = false;
    for attempt in 1.. {
        match read(&context) {
            Ok(()) => {
                is_read = true;
                break;
            }
            Err(fault) => {
                if !context.learn(fault.at(node), id(node)) {
                    break;
                }
            }
        }
        if attempt == ATTEMPTS || context.work.get() > WORK {
            let stopped = Problem::warning("too-many-problems", "reading stopped here")
                .help("there may be more problems once these are solved");
            context.found.borrow_mut().push(stopped.at(node.span));
            break;
        }
    }
    let mut found = context.found.into_inner();
    found.sort_by_key(|problem| (problem.code == "too-many-problems", problem.span));
    problems.append(&mut found);
    is_read && !context.broken.get()
}

/// Treatment of a node at fault in the next attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// A substitute is read instead.
    StandIn,
    /// The node is skipped, with its key.
    LeftOut,
}

/// Knowledge gained from the attempts so far.
#[derive(Default)]
pub(super) struct ReadContext {
    found: RefCell<Vec<Problem>>,
    remedies: RefCell<HashMap<NodeId, Remedy>>,
    /// Missing keys, by map.
    missing: RefCell<HashMap<NodeId, Vec<&'static str>>>,
    /// Nodes that contain a node at fault.
    around: RefCell<HashSet<NodeId>>,
    /// Maps with an entry that was skipped because it was wrong.
    holes: RefCell<HashSet<NodeId>>,
    /// Entries with unknown keys.
    unknown: RefCell<HashSet<NodeId>>,
    /// Whether a problem makes the value unusable.
    broken: Cell<bool>,
    work: Cell<usize>,
}

impl ReadContext {
    pub(super) fn visited(&self) {
        self.work.set(self.work.get() + 1);
    }

    pub(super) fn remedy(&self, node: &Node) -> Option<Remedy> {
        self.remedies.borrow().get(&id(node)).copied()
    }

    /// Returns the `n`th missing key of `map`.
    pub(super) fn missing(&self, map: &Node, n: usize) -> Option<&'static str> {
        self.missing.borrow().get(&id(map))?.get(n).copied()
    }

    /// Reports an unknown key, once.
    pub(super) fn unknown_key(&self, entry: &NodeEntry, allowed: &'static [&'static str]) {
        if self.unknown.borrow_mut().insert(id(&entry.value)) {
            let what = ConfigFaultKind::Key { found: entry.key.to_string(), allowed };
            self.found.borrow_mut().push(what.problem(entry.key_span, None));
        }
    }

    /// Records why an attempt failed. Returns `false` if another attempt would fail in the same
    /// way.
    fn learn(&self, fault: AttemptFault, root: NodeId) -> bool {
        let path = fault.path().to_vec();
        let Some(&culprit) = path.first() else {
            self.report(fault);
            return false;
        };
        let follows = fault.is_echo()
            || match fault.what() {
                ConfigFaultKind::Missing(_) => self.holes.borrow().contains(&culprit),
                ConfigFaultKind::Custom(_) | ConfigFaultKind::Length { .. } => {
                    self.around.borrow().contains(&culprit)
                }
                _ => false,
            };
        let unknown_key = matches!(fault.what(), ConfigFaultKind::Key { .. });
        let missing = match fault.what() {
            ConfigFaultKind::Missing(name) if !fault.is_echo() => Some(*name),
            _ => None,
        };
        if unknown_key {
            self.unknown.borrow_mut().insert(culprit);
            self.report(fault);
            return self.remedies.borrow_mut().insert(culprit, Remedy::LeftOut).is_none();
        }
        self.broken.set(true);
        self.around.borrow_mut().extend(path.iter().skip(1));
        if !follows {
            self.report(fault);
        }
        if let Some(name) = missing {
            let mut missing = self.missing.borrow_mut();
            let known = missing.entry(culprit).or_default();
            if !known.contains(&name) {
                known.push(name);
                return true;
            }
        }
        self.treat(&path, root)
    }

    /// Finds the innermost node that can be treated differently in the next attempt.
    fn treat(&self, path: &[NodeId], root: NodeId) -> bool {
        let mut remedies = self.remedies.borrow_mut();
        for (at, &node) in path.iter().enumerate() {
            if node == root {
                return false;
            }
            match remedies.get(&node) {
                None => {
                    remedies.insert(node, Remedy::StandIn);
                    return true;
                }
                Some(Remedy::StandIn) => {
                    remedies.insert(node, Remedy::LeftOut);
                    self.holes.borrow_mut().extend(path.get(at + 1));
                    return true;
                }
                Some(Remedy::LeftOut) => {}
            }
        }
        false
    }

    fn report(&self, fault: AttemptFault) {
        let whole = fault.to_string();
        let problem = fault.into_problem();
        let problem = problem.unwrap_or_else(|| Problem::error("invalid-value", whole));
        self.found.borrow_mut().push(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::value::MapAccessDeserializer;
    use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct ReadBudget {
        max: u32,
        name: String,
        #[serde(default)]
        strict: bool,
        #[serde(default)]
        tools: Vec<ToolMatch>,
        mode: Option<ReadMode>,
        #[serde(default)]
        weights: BTreeMap<String, f64>,
        pair: Option<(u8, u8)>,
        args: Option<Value>,
        #[serde(default, alias = "sub")]
        nested: Option<Box<Nested>>,
    }

    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Nested {
        min: i64,
        max: Positive,
    }

    /// A type that validates its value after reading it.
    #[derive(serde::Deserialize, Debug, PartialEq)]
    #[serde(try_from = "i64")]
    struct Positive(i64);

    impl TryFrom<i64> for Positive {
        type Error = String;

        fn try_from(value: i64) -> Result<Self, String> {
            if value > 0 { Ok(Self(value)) } else { Err("must be above zero".into()) }
        }
    }

    #[derive(serde::Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    enum ReadMode {
        InOrder,
        AnyOrder,
        AtLeast(u32),
        Between { low: u32, high: u32 },
    }

    /// Text, or a map.
    #[derive(Debug, PartialEq)]
    struct ToolMatch(ReadFields);

    #[derive(serde::Deserialize, Debug, PartialEq, Default)]
    struct ReadFields {
        name: String,
        command: Option<String>,
    }

    impl<'de> Deserialize<'de> for ToolMatch {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Either;
            impl<'de> Visitor<'de> for Either {
                type Value = ToolMatch;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("the name of a tool or a map")
                }
                fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<ToolMatch, E> {
                    Ok(ToolMatch(ReadFields { name: name.to_owned(), command: None }))
                }
                fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ToolMatch, A::Error> {
                    ReadFields::deserialize(MapAccessDeserializer::new(map)).map(ToolMatch)
                }
            }
            deserializer.deserialize_any(Either)
        }
    }

    /// Reads a value with several mistakes; each mistake is returned as "code: message".
    fn mistakes<T: DeserializeOwned>(value: Value) -> (bool, Vec<String>) {
        let node = Node::from_json(&value).unwrap();
        let mut problems = Vec::new();
        let read = read::<T>(&node, &mut problems).is_some();
        (read, problems.iter().map(|p| format!("{}: {}", p.code, p.message)).collect())
    }

    #[test]
    fn what_is_right_is_read() {
        let node = Node::from_json(&json!({
            "max": 3.0,
            "name": "x",
            "strict": true,
            "tools": ["bash", {"name": "view", "command": "ls"}],
            "mode": {"between": {"low": 1, "high": 2}},
            "weights": {"a": 1, "b": 0.5},
            "pair": [1, 2],
            "args": {"deep": [1, {"x": null}]},
            "sub": {"min": -1, "max": 1},
        }))
        .unwrap();
        let mut problems = Vec::new();
        let budget: ReadBudget = read(&node, &mut problems).unwrap();
        assert_eq!(problems, []);
        assert_eq!(budget.mode, Some(ReadMode::Between { low: 1, high: 2 }));
        assert_eq!(budget.weights["a"], 1.0);
        assert_eq!(budget.tools[1].0.command.as_deref(), Some("ls"));
        assert_eq!(budget.args.unwrap(), json!({"deep": [1, {"x": null}]}));
        assert_eq!(budget.nested.unwrap().max, Positive(1));
    }

    #[test]
    fn every_mistake_is_found_at_once() {
        let (read, found) = mistakes::<ReadBudget>(json!({
            "max": "3",
            "strict": "yes",
            "tools": ["bash", 7, {"command": 1}, {"name": "x", "comand": "y"}],
            "mode": "in-ordr",
            "weights": {"a": "heavy", "b": 1, "c": [2]},
            "pair": [1],
            "sub": {"max": 0},
            "limit": 3,
            "tols": [],
        }));
        assert!(!read);
        let want = [
            "wrong-type: expected a whole number of 0 or more, found text",
            "wrong-type: expected true or false, found text",
            "wrong-type: expected the name of a tool or a map, found a number",
            "wrong-type: expected text, found a number",
            "missing-key: missing key \"name\"",
            "unknown-key: unknown key \"comand\"",
            "unknown-value: unknown value \"in-ordr\"",
            "wrong-type: expected a number, found text",
            "wrong-type: expected a number, found a list",
            "invalid-value: expected a list of 2, found 1",
            "invalid-value: must be above zero",
            "missing-key: missing key \"min\"",
            "missing-key: missing key \"name\"",
            "unknown-key: unknown key \"limit\"",
            "unknown-key: unknown key \"tols\"",
        ];
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        assert_eq!(sorted(found), sorted(want.map(String::from).to_vec()));
    }

    #[test]
    fn kinds_are_never_taken_for_one_another() {
        for (value, want) in [
            (json!({"max": 1, "name": 5}), "expected text, found a number"),
            (json!({"max": true, "name": "x"}), "expected a whole number of 0 or more, found true"),
            (
                json!({"max": 1.5, "name": "x"}),
                "expected a whole number of 0 or more, found a number",
            ),
            (json!({"max": -1, "name": "x"}), "expected a whole number of 0 or more, found -1"),
            (
                json!({"max": 5000000000_i64, "name": "x"}),
                "expected a whole number of 0 or more, found 5000000000",
            ),
            (
                json!({"max": null, "name": "x"}),
                "expected a whole number of 0 or more, found nothing",
            ),
            (json!({"max": 1, "name": "x", "tools": "bash"}), "expected a list, found text"),
            (json!({"max": 1, "name": "x", "weights": []}), "expected a map, found a list"),
            (json!({"max": 1, "name": "x", "sub": [1, 2]}), "expected a map, found a list"),
            (json!([1, "x"]), "expected a map, found a list"),
            (
                json!({"max": 1, "name": "x", "mode": 1}),
                "expected one of in-order, any-order, at-least, between, found a number",
            ),
            (json!({"max": 1, "name": "x", "mode": "at-least"}), "\"at-least\" needs a value"),
            (
                json!({"max": 1, "name": "x", "mode": {"in-order": 1}}),
                "\"in-order\" takes no value",
            ),
            (
                json!({"max": 1, "name": "x", "mode": {"at-least": 1, "b": 2}}),
                "expected one key, one of in-order, any-order, at-least, between, found 2 keys",
            ),
        ] {
            let (read, found) = mistakes::<ReadBudget>(value.clone());
            let said = found.iter().map(|f| f.split_once(": ").unwrap().1).collect::<Vec<_>>();
            assert_eq!((read, said), (false, vec![want]), "{value}");
        }
    }

    #[test]
    fn unknown_keys_leave_the_value_readable() {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Strict {
            #[serde(default)]
            max: u32,
        }
        let node = Node::from_json(&json!({"mx": 1, "max": 2, "other": {"x": 1}})).unwrap();
        let mut problems = Vec::new();
        assert_eq!(read::<Strict>(&node, &mut problems).unwrap().max, 2);
        let said: Vec<_> =
            problems.iter().map(|p| (p.message.as_str(), p.help.as_deref().unwrap())).collect();
        assert_eq!(
            said,
            [
                ("unknown key \"mx\"", "did you mean \"max\"?"),
                ("unknown key \"other\"", "known keys: max"),
            ]
        );
        // As visitors for text or a map do it, where the keys are not announced.
        for value in [json!({"name": "x", "nme": 1}), json!(["x", {"name": "x", "nme": 1}])] {
            let (_, found) = mistakes::<Vec<ToolMatch>>(json!([value]));
            assert!(found.iter().all(|f| !f.contains("nme")) == value.is_array(), "{found:?}");
        }
    }

    #[test]
    fn problems_point_at_the_innermost_value() {
        use crate::{NodeKind, NodeSpan};
        let at = |start, end, kind| Node::new(kind, NodeSpan { start, end });
        let entry = |key: &str, start, value| NodeEntry {
            key: key.into(),
            key_span: NodeSpan { start, end: start + 3 },
            value,
        };
        // sub: {min: x, max: 0, mux: 1}
        let node = at(
            1,
            90,
            NodeKind::Map(vec![
                entry("min", 10, at(15, 16, NodeKind::Text("x".into()))),
                entry("max", 20, at(25, 26, NodeKind::Int(0))),
                entry("mux", 30, at(35, 36, NodeKind::Int(1))),
            ]),
        );
        let mut problems = Vec::new();
        assert!(read::<Nested>(&node, &mut problems).is_none());
        let places: Vec<_> =
            problems.iter().map(|p| (p.code, p.span.unwrap().start, p.span.unwrap().end)).collect();
        assert_eq!(
            places,
            [("wrong-type", 15, 16), ("invalid-value", 25, 26), ("unknown-key", 30, 33)]
        );
        let node = at(1, 90, NodeKind::Map(vec![entry("min", 10, at(15, 16, NodeKind::Int(1)))]));
        problems.clear();
        assert!(read::<Nested>(&node, &mut problems).is_none());
        assert_eq!((problems[0].code, problems[0].span), ("missing-key", Some(node.span)));
    }

    #[test]
    fn remedies_are_offered() {
        for (value, want) in [
            (json!({"max": "3", "name": "x"}), "write 3, without quotes"),
            (json!({"max": 3, "name": 4.5}), "put it in quotes: \"4.5\""),
            (json!({"max": 3, "name": "x", "strict": "no"}), "write false, without quotes"),
            (json!({"max": null, "name": "x"}), "give the key a value, or leave it out"),
            (
                json!({"max": 3, "name": "x", "tools": "bash"}),
                "for a list of one, put it in [ ] or behind a dash",
            ),
            (json!({"max": 3, "name": "x", "mode": "inorder"}), "did you mean \"in-order\"?"),
            (
                json!({"max": 3, "name": "x", "mode": "whatever"}),
                "expected one of: in-order, any-order, at-least, between",
            ),
        ] {
            let node = Node::from_json(&value).unwrap();
            let mut problems = Vec::new();
            assert!(read::<ReadBudget>(&node, &mut problems).is_none());
            assert_eq!(problems[0].help.as_deref(), Some(want), "{value}");
        }
    }

    #[test]
    fn very_many_mistakes_end() {
        let many: Vec<Value> = (0..5000).map(|n| json!({"name": n})).collect();
        let (_, found) = mistakes::<Vec<ToolMatch>>(Value::from(many));
        assert_eq!(found.len(), ATTEMPTS + 1);
        assert_eq!(found.last().unwrap(), "too-many-problems: reading stopped here");
    }
}
