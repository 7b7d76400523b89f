//! Checks schemas against outputs in both directions: an output has no member that its schema does
//! not define, and a schema defines no member that no output has.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a schema that accepts only the members that it defines.
pub(super) fn closed(schema: &Value) -> Value {
    match schema {
        Value::Array(all) => all.iter().map(closed).collect(),
        Value::Object(members) => {
            let mut members: Map<String, Value> =
                members.iter().map(|(key, value)| (key.clone(), closed(value))).collect();
            if members.contains_key("properties") && members.contains_key("type") {
                members.entry("additionalProperties").or_insert(false.into());
            }
            members.into()
        }
        other => other.clone(),
    }
}

/// Returns the schema at a pointer of another one, with the definitions that it refers to.
pub(super) fn part(root: &Value, pointer: &str) -> Value {
    let mut part = root.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")).clone();
    if let (Some(part), Some(definitions)) = (part.as_object_mut(), root.get("$defs")) {
        part.insert("$defs".into(), definitions.clone());
    }
    part
}

/// Visits every schema inside a schema, by its pointer.
fn each(schema: &Value, at: &str, take: &mut impl FnMut(&str, &Value)) {
    take(at, schema);
    for key in ["properties", "$defs"] {
        for (name, inner) in schema.get(key).and_then(Value::as_object).into_iter().flatten() {
            each(inner, &format!("{at}/{key}/{name}"), take);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            each(inner, &format!("{at}/{key}"), take);
        }
    }
    for key in ["anyOf", "oneOf"] {
        for (n, inner) in
            schema.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            each(inner, &format!("{at}/{key}/{n}"), take);
        }
    }
}

/// The pointers of all members that a schema defines.
pub(super) fn members(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each(schema, "", &mut |at, inner| {
        let names = inner.get("properties").and_then(Value::as_object).into_iter().flatten();
        found.extend(names.map(|(name, _)| format!("{at}/properties/{name}")));
    });
    found
}

/// The pointers of untyped values, which may be anything.
pub(super) fn undescribed(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each(schema, "", &mut |at, inner| {
        let has = |key: &str| inner.get(key).is_some();
        let is = |kind: &str| match inner.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
            Some(one) => one == kind,
            None => false,
        };
        let says_nothing =
            !["type", "const", "enum", "$ref", "anyOf", "oneOf"].into_iter().any(has);
        let is_any_object =
            is("object") && !has("properties") && !inner["additionalProperties"].is_object();
        let is_any_array = is("array") && !has("items");
        let takes_more = inner["additionalProperties"] == true;
        if says_nothing || is_any_object || is_any_array || takes_more {
            found.push(at.to_owned());
        }
    });
    found
}

/// The members of a schema that occur in values.
pub(super) struct SeenMembers<'s> {
    root: &'s Value,
    branches: BTreeMap<String, jsonschema::Validator>,
    pub(super) members: BTreeSet<String>,
}

impl<'s> SeenMembers<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root, branches: BTreeMap::new(), members: BTreeSet::new() }
    }

    /// Visits every member of a value with its pointer in the schema.
    pub(super) fn walk(&mut self, at: &str, value: &Value, take: &mut impl FnMut(&str, &Value)) {
        let root = self.root;
        let schema = root.pointer(at).unwrap_or_else(|| panic!("no {at}"));
        if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
            return self.walk(to.trim_start_matches('#'), value, take);
        }
        for key in ["anyOf", "oneOf"] {
            let branches = schema.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            for branch in (0..branches).map(|n| format!("{at}/{key}/{n}")) {
                let new = || jsonschema::draft202012::new(&part(root, &branch)).unwrap();
                if self.branches.entry(branch.clone()).or_insert_with(new).is_valid(value) {
                    self.walk(&branch, value, take);
                }
            }
        }
        if let Value::Array(all) = value
            && schema.get("items").is_some()
        {
            all.iter().for_each(|one| self.walk(&format!("{at}/items"), one, take));
        }
        for (name, inner) in value.as_object().into_iter().flatten() {
            let named = format!("{at}/properties/{name}");
            if root.pointer(&named).is_some() {
                take(&named, inner);
                self.walk(&named, inner, take);
                self.members.insert(named);
            } else if schema["additionalProperties"].is_object() {
                self.walk(&format!("{at}/additionalProperties"), inner, take);
            }
        }
    }
}
