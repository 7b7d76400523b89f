//! YAML text → JSON value, for the toolsets that are part of the program.
//!
//! Only what those files use: no anchors, no tags, keys that are scalars.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A container whose end has not come yet.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// The first document of a text; what is wrong with it otherwise.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let mut done = match event {
            Event::Scalar(text, style, _, _) => {
                if let Some(Open::Map(_, key @ None)) = open.last_mut() {
                    *key = Some(text.into_owned());
                    continue;
                }
                scalar(&text, style)
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Map(entries, _)) => Value::Object(entries),
                None => return Err("an end without a start".into()),
            },
            Event::Alias(_) => return Err("aliases are not supported here".into()),
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(done.take()),
            Some(Open::List(items)) => items.push(done),
            Some(Open::Map(entries, key)) => {
                let key = key.take().ok_or("a key must be a scalar")?;
                if entries.insert(key.clone(), done).is_some() {
                    return Err(format!("the key {key} stands twice"));
                }
            }
        }
    }
    Ok(Value::Null)
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match serde_json::from_str::<serde_json::Number>(text) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_toolsets_use() {
        let text = "a: {b: [1, x, true], 'c': \"2\"}\nd:\n  - ~\n  - - 1.5\n";
        let want = json!({"a": {"b": [1, "x", true], "c": "2"}, "d": [null, [1.5]]});
        assert_eq!(parse(text), Ok(want));
        assert!(parse("a: 1\na: 2").is_err());
        assert!(parse("a: &x 1\nb: *x").is_err());
        assert!(parse("a: [").is_err());
    }
}
