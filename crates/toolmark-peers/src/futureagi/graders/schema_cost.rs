//! Estimates the cost of a schema before it is used: schemas come with
//! datasets, and a few lines of references can expand to an unbounded amount of
//! work.

use serde_json::Value;
use std::collections::HashMap;
use toolmark_schema::InvalidSchema;

/// Maximum number of subschemas to which a schema without recursion may expand.
const MAX_SUBSCHEMAS: u64 = 1_000_000;
/// Maximum number of visits of a recursive schema.
const MAX_VISITS: u64 = 10_000_000;
/// Maximum length of a chain of subschemas and references.
const MAX_DEPTH: u32 = 200;

const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];
const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
const INSIDE: [&str; 8] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "propertyNames",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const INSIDE_MAPS: [&str; 2] = ["properties", "patternProperties"];

/// Reason why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaFault {
    #[error("the schema comes to too many subschemas")]
    TooMany,
    #[error("the schema nests too deeply")]
    TooDeep,
    #[error("dynamic references are not followed")]
    Dynamic,
    #[error("the reference {0:?} does not point into the schema")]
    Outside(String),
    #[error("the reference {0:?} refers to itself")]
    Circle(String),
    #[error("not a JSON Schema: {0}")]
    Invalid(#[from] InvalidSchema),
}

/// Estimated cost of a schema.
#[derive(Debug)]
pub(super) struct SchemaCost {
    /// Maximum number of subschemas that are applied to one value.
    widest: u64,
    is_recursive: bool,
}

/// Number of subschemas applied to the same value, and total number.
#[derive(Clone, Copy, Default)]
struct Size {
    here: u64,
    all: u64,
}

impl SchemaCost {
    /// Estimates the cost of a schema, or returns the reason why it cannot be used.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaFault> {
        let mut walk =
            SchemaCostWalk { root: schema, known: HashMap::new(), widest: 1, is_recursive: false };
        let mut size = walk.schema(schema, 0, &mut Vec::new())?;
        if walk.is_recursive {
            // Now that the references have sizes, those within them count too.
            walk.known.values_mut().for_each(|known| known.is_new = false);
            size = walk.schema(schema, 0, &mut Vec::new())?;
        }
        let most = if walk.is_recursive { walk.widest } else { size.all };
        if most > MAX_SUBSCHEMAS {
            return Err(SchemaFault::TooMany);
        }
        Ok(Self { widest: walk.widest, is_recursive: walk.is_recursive })
    }

    /// Whether these arguments may be checked.
    pub(super) fn allows(&self, args: &Value) -> bool {
        if !self.is_recursive {
            return true;
        }
        let power = u32::try_from(depth(args)).unwrap_or(u32::MAX);
        self.widest.checked_pow(power).is_some_and(|visits| visits <= MAX_VISITS)
    }
}

/// Returns the nesting depth of a value. Values come from parsers that bound it.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// A reference that was resolved, or is being resolved.
struct ReferenceState {
    size: Size,
    is_open: bool,
    is_new: bool,
}

struct SchemaCostWalk<'s> {
    root: &'s Value,
    known: HashMap<&'s str, ReferenceState>,
    widest: u64,
    is_recursive: bool,
}

impl<'s> SchemaCostWalk<'s> {
    /// Returns the size of a schema. `here` contains the references that led to it
    /// without descending into the value.
    fn schema(
        &mut self,
        schema: &'s Value,
        depth: u32,
        here: &mut Vec<&'s str>,
    ) -> Result<Size, SchemaFault> {
        if depth > MAX_DEPTH {
            return Err(SchemaFault::TooDeep);
        }
        let mut size = Size { here: 1, all: 1 };
        let Some(map) = schema.as_object() else { return Ok(size) };
        if map.contains_key("$dynamicRef") || map.contains_key("$recursiveRef") {
            return Err(SchemaFault::Dynamic);
        }
        let lists = IN_PLACE_LISTS.iter().filter_map(|key| map.get(*key)?.as_array()).flatten();
        let single = IN_PLACE.iter().filter_map(|key| map.get(*key));
        let maps = IN_PLACE_MAPS.iter().filter_map(|key| map.get(*key)?.as_object());
        for child in lists.chain(single).chain(maps.flat_map(serde_json::Map::values)) {
            let child = self.schema(child, depth + 1, here)?;
            size.here = size.here.saturating_add(child.here);
            size.all = size.all.saturating_add(child.all);
        }
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            let target = self.reference(target, depth + 1, here)?;
            size.here = size.here.saturating_add(target.here);
            size.all = size.all.saturating_add(target.all);
        }
        let inside = INSIDE.iter().filter_map(|key| map.get(*key)).flat_map(|child| match child {
            Value::Array(schemas) => schemas.as_slice(),
            schema => std::slice::from_ref(schema),
        });
        let maps = INSIDE_MAPS.iter().filter_map(|key| map.get(*key)?.as_object());
        for child in inside.chain(maps.flat_map(serde_json::Map::values)) {
            let child = self.schema(child, depth + 1, &mut Vec::new())?;
            size.all = size.all.saturating_add(child.all);
        }
        self.widest = self.widest.max(size.here);
        Ok(size)
    }

    fn reference(
        &mut self,
        target: &'s str,
        depth: u32,
        here: &mut Vec<&'s str>,
    ) -> Result<Size, SchemaFault> {
        let found = match target.strip_prefix('#') {
            Some("") => Some(self.root),
            Some(pointer) => self.root.pointer(pointer),
            None => None,
        };
        let Some(schema) = found else {
            return Err(SchemaFault::Outside(target.to_owned()));
        };
        if here.contains(&target) {
            return Err(SchemaFault::Circle(target.to_owned()));
        }
        match self.known.get(target) {
            Some(known) if known.is_open => {
                self.is_recursive = true;
                return Ok(known.size);
            }
            Some(known) if known.is_new => return Ok(known.size),
            _ => {}
        }
        let before = self.known.get(target).map(|known| known.size).unwrap_or_default();
        let size = Size { here: before.here.max(1), all: before.all.max(1) };
        self.known.insert(target, ReferenceState { size, is_open: true, is_new: true });
        here.push(target);
        let size = self.schema(schema, depth, here)?;
        here.pop();
        self.known.insert(target, ReferenceState { size, is_open: false, is_new: true });
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    #[test]
    fn ordinary_schemas_are_fine() {
        let tree = json!({
            "$defs": {"node": {"properties": {
                "left": {"$ref": "#/$defs/node"},
                "right": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            }}},
            "properties": {"tree": {"$ref": "#/$defs/node"}},
        });
        let cost = SchemaCost::of(&tree).unwrap();
        assert!(cost.is_recursive);
        assert!(cost.allows(&json!({"tree": {"left": {"left": {"right": null}}}})));
        let whole = json!({"properties": {"child": {"$ref": "#"}}});
        assert!(SchemaCost::of(&whole).unwrap().allows(&json!({"child": {"child": {}}})));
        let wide = json!({"properties": {"a": {"anyOf": vec![json!({"type": "string"}); 60]}}});
        assert!(
            SchemaCost::of(&wide).unwrap().allows(&json!({"a": {"b": {"c": {"d": {"e": {}}}}}}))
        );
    }

    #[test]
    fn what_never_ends_is_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
            json!({"properties": {"x": {"$ref": "#/properties/x"}}}),
            json!({"$ref": "other.json"}),
            json!({"$dynamicRef": "#x"}),
        ] {
            assert!(SchemaCost::of(&schema).is_err(), "{schema}");
        }
    }

    /// Builds a chain of definitions, each of which references the next twice.
    fn doubling(link: impl Fn(Value) -> Value) -> Value {
        let mut defs = Map::new();
        for n in 0..60 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            defs.insert(format!("d{n}"), link(json!({"allOf": [next, next]})));
        }
        defs.insert("d60".to_owned(), json!({"type": "object"}));
        json!({"$defs": defs, "properties": {"a": {"$ref": "#/$defs/d0"}}})
    }

    #[test]
    fn what_doubles_is_refused() {
        assert!(SchemaCost::of(&doubling(|twice| twice)).is_err());
        assert!(SchemaCost::of(&doubling(|twice| json!({"properties": {"a": twice}}))).is_err());
        let recursive = json!({
            "properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}},
        });
        let cost = SchemaCost::of(&recursive).unwrap();
        assert!(cost.allows(&json!({"a": {"a": {}}})));
        let mut deep = json!({});
        for _ in 0..60 {
            deep = json!({"a": deep});
        }
        assert!(!cost.allows(&deep));
    }

    #[test]
    fn long_chains_are_refused() {
        let mut defs = Map::new();
        for n in 0..1000 {
            defs.insert(format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)}));
        }
        defs.insert("d1000".to_owned(), json!(true));
        assert!(SchemaCost::of(&json!({"$defs": defs, "$ref": "#/$defs/d0"})).is_err());
    }
}
