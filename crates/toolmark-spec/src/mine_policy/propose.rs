//! Conditions that hold for the calls that worked.

use super::{CallsOfTool, MIN_SUPPORT, MinedTerm, OneCall};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_check::tool_policy::scalar;
use toolmark_session::tool_rules::{Approval, Past};

/// Maximum number of values that a condition lists.
const MAX_LISTED: usize = 3;
/// Maximum length of such a value.
const MAX_VALUE: usize = 30;
/// Maximum number of values of a result to visit.
const MAX_VISITED: usize = 2000;
/// Maximum length of a result to parse.
const MAX_RESULT: usize = 256 << 10;

/// Proposes conditions on calls of a tool.
pub(super) fn candidates(calls: &CallsOfTool<'_, '_>) -> Vec<MinedTerm> {
    let mut found = needs(calls);
    found.extend(from(calls));
    found.extend(after(calls));
    found.extend(once(calls));
    let confirmed = calls.good().filter(|one| one.past.approval() == Approval::Given).count();
    if confirmed >= MIN_SUPPORT {
        found.push(MinedTerm::new(calls.tool, "confirm", None, "true".to_owned()));
    }
    found
}

/// Values of one field of results before the calls.
#[derive(Default)]
struct Field {
    good: BTreeSet<String>,
    calls: usize,
    others: BTreeSet<String>,
}

/// Fields of an earlier result about the same thing that have few values before calls that
/// worked, and another one before a call that did not.
fn needs(calls: &CallsOfTool<'_, '_>) -> Vec<MinedTerm> {
    let mut fields: BTreeMap<(String, String), Field> = BTreeMap::new();
    for one in &calls.calls {
        for (tool, result) in latest_results(one) {
            let Value::Object(map) = &result else { continue };
            for (key, value) in map {
                let is_plain = key.chars().all(|c| c.is_alphanumeric() || c == '_');
                let Some(text) = scalar(value).filter(|_| is_plain && is_word(value)) else {
                    continue;
                };
                let field = fields.entry((tool.clone(), key.clone())).or_default();
                match one.failed || one.passed == Some(false) {
                    false => {
                        field.good.insert(text);
                        field.calls += 1;
                    }
                    true => drop(field.others.insert(text)),
                }
            }
        }
    }
    let is_shown = |field: &Field| {
        let listed = 1..=MAX_LISTED;
        field.calls >= MIN_SUPPORT
            && listed.contains(&field.good.len())
            && !field.others.is_subset(&field.good)
    };
    let shown = fields.into_iter().filter(|(_, field)| is_shown(field));
    shown
        .map(|((tool, key), field)| {
            let values: Vec<String> = field.good.iter().map(|value| quoted(value)).collect();
            let value = match &values[..] {
                [one] => one.clone(),
                many => format!("[{}]", many.join(", ")),
            };
            MinedTerm::new(calls.tool, "needs", Some(format!("{tool}.{key}")), value)
        })
        .collect()
}

/// Whether a value is a word such as a status, and not an amount or a name.
fn is_word(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::String(text) => {
            text.len() <= MAX_VALUE && text.chars().all(|c| c.is_lowercase() || "_- ()".contains(c))
        }
        _ => false,
    }
}

/// Returns the latest result of each tool before a call that is about the same thing.
fn latest_results(one: &OneCall<'_, '_>) -> Vec<(String, Value)> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut found = Vec::new();
    for at in (0..one.past.calls()).rev() {
        let tool = one.past.tool(at).into_owned();
        if seen.contains(&tool) || one.past.has_failed(at) || !shares_value(one, at) {
            continue;
        }
        let text = one.past.result(at).filter(|text| text.len() <= MAX_RESULT);
        if let Some(value) = text.and_then(|text| serde_json::from_str(&text).ok()) {
            seen.insert(tool.clone());
            found.push((tool, value));
        }
    }
    found
}

/// Whether an earlier call has an argument with the same name and value.
fn shares_value(one: &OneCall<'_, '_>, at: usize) -> bool {
    let args = (one.call.args().and_then(Value::as_object), one.past.args(at));
    let (Some(new), Some(Value::Object(old))) = args else { return false };
    old.iter().any(|(key, value)| new.get(key) == Some(value))
}

/// Sources of arguments with identifiers: one path of one tool, or the user.
fn from(calls: &CallsOfTool<'_, '_>) -> Vec<MinedTerm> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for one in calls.good() {
        let args = one.call.args().and_then(Value::as_object);
        for key in args.into_iter().flat_map(|map| map.keys()).filter(|key| is_id_key(key)) {
            *names.entry(key.clone()).or_default() += 1;
        }
    }
    let supported = names.into_iter().filter(|(_, count)| *count >= MIN_SUPPORT);
    supported.flat_map(|(name, _)| from_of(calls, &name)).collect()
}

fn from_of(calls: &CallsOfTool<'_, '_>, name: &str) -> Vec<MinedTerm> {
    let mut paths: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for one in calls.good() {
        let Some(value) = one.call.args().and_then(|args| args.get(name)) else { continue };
        let first = match value {
            Value::Array(items) => items.first().and_then(scalar),
            value => scalar(value),
        };
        let Some(wanted) = first else { continue };
        count += 1;
        let mut found: BTreeSet<String> = BTreeSet::new();
        for at in (0..one.past.calls()).filter(|at| !one.past.has_failed(*at)) {
            let text = one.past.result(at).filter(|text| text.len() <= MAX_RESULT);
            let Some(text) = text.filter(|text| text.contains(wanted.as_str())) else { continue };
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                let tool = one.past.tool(at);
                found.extend(
                    paths_of(&value, &wanted).into_iter().map(|path| format!("{tool}{path}")),
                );
            }
        }
        if one.past.user_wrote(&wanted) == Some(true) {
            found.insert("user".to_owned());
        }
        found.into_iter().for_each(|path| *paths.entry(path).or_default() += 1);
    }
    // One source for all, otherwise the most frequent one or the words of the user.
    let mut ranked: Vec<(String, usize)> = paths.into_iter().collect();
    ranked.sort_by_key(|(path, times)| (std::cmp::Reverse(*times), path.len()));
    let results = ranked.iter().filter(|(path, _)| path != "user");
    let best: Vec<&(String, usize)> = results.take(MAX_LISTED).collect();
    let term = |value: String| MinedTerm::new(calls.tool, "from", Some(name.to_owned()), value);
    match best.first() {
        Some((path, times)) if *times == count => vec![term(path.clone())],
        Some(_) => {
            let mut sources: Vec<&str> = best.iter().map(|(path, _)| path.as_str()).collect();
            sources.push("user");
            vec![term(format!("[{}]", sources.join(", ")))]
        }
        None => Vec::new(),
    }
}

/// Whether an argument holds identifiers.
fn is_id_key(key: &str) -> bool {
    ["id", "ids"].contains(&key)
        || ["_id", "_ids", "Id", "Ids"].iter().any(|end| key.ends_with(end))
}

/// Returns the paths at which a value, or a map with it as a key, is in a result.
fn paths_of(root: &Value, wanted: &str) -> BTreeSet<String> {
    let mut open = vec![(String::new(), root)];
    let (mut found, mut visited) = (BTreeSet::new(), 0);
    while let Some((path, value)) = open.pop() {
        visited += 1;
        if visited > MAX_VISITED {
            break;
        }
        match value {
            Value::Object(map) if map.contains_key(wanted) => drop(found.insert(path)),
            Value::Object(map) => {
                let is_name = |key: &str| key.chars().all(|c| c.is_alphanumeric() || c == '_');
                open.extend(map.iter().map(|(key, value)| match is_name(key) && !is_key(key) {
                    true => (format!("{path}.{key}"), value),
                    false => (format!("{path}[]"), value),
                }));
            }
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (format!("{path}[]"), item)));
            }
            value if scalar(value).as_deref() == Some(wanted) => drop(found.insert(path)),
            _ => {}
        }
    }
    found
}

/// Whether the key of a map is an identifier and not the name of a field.
fn is_key(key: &str) -> bool {
    key.bytes().any(|byte| byte.is_ascii_digit())
}

/// Tools that were called before every call that worked, and not before one that did not.
fn after(calls: &CallsOfTool<'_, '_>) -> Vec<MinedTerm> {
    let before = |one: &OneCall<'_, '_>| -> BTreeSet<String> {
        let worked = (0..one.past.calls()).filter(|at| !one.past.has_failed(*at));
        worked.map(|at| one.past.tool(at).into_owned()).filter(|tool| tool != calls.tool).collect()
    };
    let mut good = calls.good().map(before);
    let Some(first) = good.next() else { return Vec::new() };
    let always = good.fold(first, |all, one| all.intersection(&one).cloned().collect());
    let bad = calls.calls.iter().filter(|one| one.failed || one.passed == Some(false));
    let lacking: Vec<BTreeSet<String>> = bad.map(before).collect();
    let missing = always.into_iter().filter(|tool| lacking.iter().any(|all| !all.contains(tool)));
    let missing: Vec<String> = missing.collect();
    match missing.is_empty() {
        true => Vec::new(),
        false => {
            vec![MinedTerm::new(calls.tool, "after", None, format!("[{}]", missing.join(", ")))]
        }
    }
}

/// Identifiers with which the tool works only once.
fn once(calls: &CallsOfTool<'_, '_>) -> Vec<MinedTerm> {
    let mut names: BTreeMap<&String, usize> = BTreeMap::new();
    for one in calls.good() {
        let args = one.call.args().and_then(Value::as_object);
        for (key, value) in args.into_iter().flatten().filter(|(key, _)| is_id_key(key)) {
            *names.entry(key).or_default() += usize::from(value.is_string() || value.is_number());
        }
    }
    let best = names.into_iter().filter(|(_, count)| *count >= MIN_SUPPORT);
    best.max_by_key(|(_, count)| *count)
        .map(|(name, _)| MinedTerm::new(calls.tool, "once", None, format!("per {name}")))
        .into_iter()
        .collect()
}

/// Returns a text as a YAML scalar.
fn quoted(text: &str) -> String {
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_word = !matches!(text, "" | "yes" | "no" | "on" | "off" | "null" | "y" | "n");
    match is_plain && is_word {
        true => text.to_owned(),
        false => Value::String(text.to_owned()).to_string(),
    }
}
