//! Validation of arguments against the schema of their tool.
//!
//! The schema comes from the server and may be hostile: a chain of references can double the work
//! at every step, or form a cycle. Cycles that do not descend into the arguments are refused, and
//! all but flat schemas are checked on another thread with a timeout.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use toolmark_schema::{Arguments, Patterns, Validator};

/// Maximum duration of a check.
const CHECK_TIMEOUT: Duration = Duration::from_millis(500);

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ArgumentCheck {
    Valid,
    /// The arguments are invalid; lists the problems.
    Invalid(Vec<String>),
    /// The arguments cannot be checked; contains the reason.
    Unknown(String),
}

/// Reason why a schema cannot be used.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum SchemaError {
    #[error("its schema refers to itself endlessly")]
    Endless,
    #[error("its schema cannot be used")]
    Unusable,
}

/// The schema of a tool, compiled when it is first needed.
pub(crate) struct ArgumentSchema {
    value: Option<Value>,
    compiled: OnceLock<Result<Arc<Arguments>, SchemaError>>,
    /// Whether a check timed out, after which none is tried again.
    timed_out: bool,
}

impl ArgumentSchema {
    pub(crate) fn new(value: Option<&Value>) -> Self {
        Self { value: value.cloned(), compiled: OnceLock::new(), timed_out: false }
    }

    /// Checks arguments.
    pub(crate) fn check(&mut self, args: &Value) -> ArgumentCheck {
        let Some(value) = &self.value else {
            return ArgumentCheck::Unknown("the tool was listed without a schema".to_owned());
        };
        if self.timed_out {
            return ArgumentCheck::Unknown("checking against its schema takes too long".to_owned());
        }
        let compiled = self.compiled.get_or_init(|| {
            if has_reference_cycle(value) {
                return Err(SchemaError::Endless);
            }
            let value = value.clone();
            let built = run_with_timeout(move || compile(&value).map(Arc::new));
            built.flatten().ok_or(SchemaError::Unusable)
        });
        let compiled = match compiled {
            Ok(compiled) => Arc::clone(compiled),
            Err(error) => return ArgumentCheck::Unknown(error.to_string()),
        };
        let found = match &*compiled {
            Arguments::Flat(_) => Some(list_problems(&compiled, args)),
            Arguments::Full(_) => {
                let args = args.clone();
                run_with_timeout(move || list_problems(&compiled, &args))
            }
        };
        match found {
            None => {
                self.timed_out = true;
                ArgumentCheck::Unknown("checking against its schema takes too long".to_owned())
            }
            Some(found) if found.is_empty() => ArgumentCheck::Valid,
            Some(found) => ArgumentCheck::Invalid(found),
        }
    }
}

/// Compiles a schema. Patterns with look-around, which are common in generated
/// schemas, need an engine that may be slow; the check has a timeout.
fn compile(schema: &Value) -> Option<Arguments> {
    Arguments::new(schema).or_else(|| {
        let validator = Validator::new(schema, Patterns::Backtracking(100_000));
        validator.ok().map(|validator| Arguments::Full(Box::new(validator)))
    })
}

/// Runs work on another thread; `None` if it times out or fails.
fn run_with_timeout<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    /// Stack size, enough for the deepest recursion that parsed JSON allows.
    const STACK: usize = 64 << 20;
    let (sender, receiver) = mpsc::channel();
    let spawned = thread::Builder::new().stack_size(STACK).spawn(move || {
        let _ = sender.send(work());
    });
    let thread = spawned.ok()?;
    let answer = receiver.recv_timeout(CHECK_TIMEOUT).ok()?;
    // The thread only has to end, so that none is left behind.
    let _ = thread.join();
    Some(answer)
}

/// Lists the problems, each as a path and a message.
fn list_problems(compiled: &Arguments, args: &Value) -> Vec<String> {
    /// Maximum number of problems listed.
    const MAX_LISTED: usize = 8;
    match compiled {
        Arguments::Flat(_) => compiled
            .check(args)
            .into_iter()
            .map(|wrong| format!("/{} {}", wrong.argument, wrong.message))
            .collect(),
        Arguments::Full(validator) => validator
            .mismatches(args, MAX_LISTED)
            .into_iter()
            .map(|mismatch| {
                let place = if mismatch.pointer.is_empty() { "/" } else { &mismatch.pointer };
                format!("{place} {}", crate::suspicion::sanitize(&mismatch.message, 300))
            })
            .collect(),
    }
}

/// Whether the same part of the arguments can be checked against the same part of the schema
/// endlessly. Also true for schemas that are too large to analyze.
fn has_reference_cycle(root: &Value) -> bool {
    /// Maximum number of parts of a schema.
    const MAX_PARTS: usize = 50_000;
    // Part (by its pointer) → parts asked about the same place.
    let mut leads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Parts with a name of their own, and those that refer to one.
    let (mut named, mut by_name) = (Vec::new(), Vec::new());
    let mut rest = vec![(String::new(), root)];
    while let Some((place, value)) = rest.pop() {
        if leads.len() > MAX_PARTS {
            return true;
        }
        let mut here = Vec::new();
        let mut into = |step: &str, child, same_place: bool, rest: &mut Vec<_>| {
            let inner = format!("{place}/{}", step.replace('~', "~0").replace('/', "~1"));
            if same_place {
                here.push(inner.clone());
            }
            rest.push((inner, child));
        };
        match value {
            Value::Object(map) => {
                for (key, child) in map {
                    let same = matches!(
                        key.as_str(),
                        "allOf"
                            | "anyOf"
                            | "oneOf"
                            | "not"
                            | "if"
                            | "then"
                            | "else"
                            | "dependentSchemas"
                    );
                    into(key, child, same, &mut rest);
                }
                for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
                    if let Some(Value::String(to)) = map.get(key) {
                        match to.strip_prefix('#').map(percent_decode) {
                            Some(to) if to.is_empty() || to.starts_with('/') => here.push(to),
                            _ => by_name.push(place.clone()),
                        }
                    }
                }
                if ["$id", "$anchor", "$dynamicAnchor", "id"]
                    .iter()
                    .any(|key| map.contains_key(*key))
                {
                    named.push(place.clone());
                }
            }
            // An array under `allOf` or similar: its members apply to the same place.
            Value::Array(items) => {
                for (index, child) in items.iter().enumerate() {
                    into(&index.to_string(), child, true, &mut rest);
                }
            }
            _ => {}
        }
        leads.insert(place, here);
    }
    // Names are not resolved: a reference by name may lead to any of them.
    if named.len().saturating_mul(by_name.len()) > MAX_PARTS {
        return true;
    }
    for place in by_name {
        if let Some(here) = leads.get_mut(&place) {
            here.extend(named.iter().cloned());
        }
    }
    has_cycle(&leads)
}

/// Decodes the `%XX` of a fragment.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a graph has a cycle.
fn has_cycle(leads: &BTreeMap<String, Vec<String>>) -> bool {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in leads.keys() {
        // The path to here, with the next edge to try at each node.
        let mut way: Vec<(&str, usize)> = vec![(start, 0)];
        let mut on_way: BTreeSet<&str> = BTreeSet::from([start.as_str()]);
        while let Some((place, next)) = way.last_mut() {
            let place = *place;
            let to = leads.get(place).and_then(|to| to.get(*next));
            *next += 1;
            match to {
                Some(to) if on_way.contains(to.as_str()) => return true,
                Some(to) if !done.contains(to.as_str()) => {
                    way.push((to, 0));
                    on_way.insert(to);
                }
                Some(_) => {}
                None => {
                    done.insert(place);
                    on_way.remove(place);
                    way.pop();
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn no_thread_is_left_behind() {
        static ENDED: AtomicBool = AtomicBool::new(false);
        struct AtTheEnd;
        impl Drop for AtTheEnd {
            fn drop(&mut self) {
                thread::sleep(Duration::from_millis(50));
                ENDED.store(true, Ordering::SeqCst);
            }
        }
        thread_local!(static HELD: AtTheEnd = const { AtTheEnd });
        assert_eq!(run_with_timeout(|| HELD.with(|_| 7)), Some(7));
        assert!(ENDED.load(Ordering::SeqCst));
    }

    #[test]
    fn arguments_are_valid_wrong_or_there_is_no_telling() {
        let nested = json!({"type": "object", "properties": {"a": {"type": "object",
            "properties": {"b": {"type": "array", "items": {"type": "integer"}}}}}});
        let flat =
            json!({"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]});
        let tree = json!({"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}});
        for (schema, args, want) in [
            (Some(&flat), json!({"p": "x"}), "valid"),
            (Some(&flat), json!({}), "/p is missing"),
            (Some(&flat), json!({"p": 1}), "/p is a number, not string"),
            (Some(&nested), json!({"a": {"b": [1]}}), "valid"),
            (
                Some(&nested),
                json!({"a": {"b": [1, "x"]}}),
                "/a/b/1 \"x\" is not of type \"integer\"",
            ),
            (Some(&tree), json!({"kids": [{"kids": []}]}), "valid"),
            (Some(&tree), json!({"kids": [{"kids": 3}]}), "/kids/0/kids 3 is not of type"),
            (
                Some(&json!({"properties": {"m": {"pattern": "^(?!\\.)[a-z]+$"}}})),
                json!({"m": ".a"}),
                "/m ",
            ),
            (None, json!({}), "without a schema"),
            (Some(&json!({"type": 7})), json!({}), "cannot be used"),
            (Some(&json!({"$ref": "https://example.com/x.json"})), json!({}), "cannot be used"),
        ] {
            let got = match ArgumentSchema::new(schema).check(&args) {
                ArgumentCheck::Valid => "valid".to_owned(),
                ArgumentCheck::Invalid(wrong) => wrong.join("; "),
                ArgumentCheck::Unknown(why) => why,
            };
            assert!(got.contains(want), "{schema:?} {args}: {got}");
        }
    }

    #[test]
    fn a_schema_that_leads_in_circles_is_not_followed() {
        for circular in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$ref": "#/%24defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
            json!({"$anchor": "me", "anyOf": [{"$ref": "#me"}]}),
            json!({"$id": "https://a.b/c", "not": {"$ref": "https://a.b/c"}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        ] {
            let check = ArgumentSchema::new(Some(&circular)).check(&json!({}));
            assert!(
                matches!(&check, ArgumentCheck::Unknown(why) if why.contains("endlessly")),
                "{check:?}"
            );
        }
    }

    #[test]
    fn a_schema_that_doubles_the_work_is_given_up() {
        let mut defs = serde_json::Map::new();
        for n in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            defs.insert(format!("d{n}"), json!({"allOf": [next, next]}));
        }
        defs.insert("d40".to_owned(), json!({"type": "object"}));
        let mut schema = ArgumentSchema::new(Some(&json!({"$ref": "#/$defs/d0", "$defs": defs})));
        for _ in 0..2 {
            assert!(matches!(schema.check(&json!({})), ArgumentCheck::Unknown(_)));
        }
    }
}
