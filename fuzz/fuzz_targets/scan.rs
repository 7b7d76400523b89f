//! The scanner against serde: both accept the same texts and see the same values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_scan::{Kind, Scanner, Value};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut scanner = Scanner::new();
    let ours = scanner.parse(text);
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (ours, theirs) {
        (Ok(doc), Ok(value)) => {
            if doc.depth() < 100 {
                assert_eq!(rebuilt(doc.root()), Some(value));
            }
        }
        (Err(_), Err(_)) => {}
        // What we read and serde does not: lone surrogates, NaN, deep nesting, numbers out of range.
        (Ok(_), Err(_)) => {}
        (Err(error), Ok(_)) => panic!("refused valid JSON: {error}"),
    }
});

/// `None` where a value holds what serde reads differently.
fn rebuilt(value: Value<'_>) -> Option<serde_json::Value> {
    use serde_json::Value as V;
    Some(match value.kind() {
        Kind::Object => {
            let mut map = serde_json::Map::new();
            for (key, value) in value.fields() {
                map.insert(key.str()?.into_owned(), rebuilt(value)?);
            }
            V::Object(map)
        }
        Kind::Array => V::Array(value.items().map(rebuilt).collect::<Option<_>>()?),
        Kind::String => V::String(value.str()?.into_owned()),
        _ => serde_json::from_str(value.raw()).ok()?,
    })
}
