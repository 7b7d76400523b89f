//! Parses JSON texts into the values of serde_json. Arguments contain whole files: the strings
//! of long texts are found and decoded with the fast scanner for traces.

use serde_json::{Map, Value};
use std::cell::RefCell;
use toolmark_scan::{JsonKind, Scanner};

/// Minimum length at which scanning is faster than serde_json.
const WORTH_SCANNING: usize = 256;
/// Maximum nesting of scanned values: far less than serde_json allows.
const MAX_DEPTH: usize = 64;

thread_local! {
    static SCANNER: RefCell<Scanner> = RefCell::new(Scanner::new());
}

/// Returns the value of a text; `None` if serde_json rejects it.
pub(super) fn parse(text: &str) -> Option<Value> {
    // Half of a character is an error there, and no error for the scanner.
    let may_be_half = || memchr::memmem::find(text.as_bytes(), b"\\u").is_some();
    if text.len() < WORTH_SCANNING || may_be_half() {
        return serde_json::from_str(text).ok();
    }
    let scanned = SCANNER.with_borrow_mut(|scanner| {
        let doc = scanner.parse(text).ok()?;
        if doc.depth() <= MAX_DEPTH { value(doc.root()) } else { None }
    });
    scanned.or_else(|| serde_json::from_str(text).ok())
}

fn value(scanned: toolmark_scan::Value<'_>) -> Option<Value> {
    Some(match scanned.kind() {
        JsonKind::Object => {
            let mut map = Map::with_capacity(scanned.fields().count());
            for (key, of_key) in scanned.fields() {
                map.insert(key.str()?.into_owned(), value(of_key)?);
            }
            Value::Object(map)
        }
        JsonKind::Array => Value::Array(scanned.items().map(value).collect::<Option<_>>()?),
        JsonKind::String => Value::String(scanned.str()?.into_owned()),
        _ => serde_json::from_str(scanned.raw()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that a text, with and without enough white space to be scanned, has serde_json's
    /// value.
    fn check(text: &str) {
        let wanted: Option<Value> = serde_json::from_str(text).ok();
        assert_eq!(parse(text), wanted, "{text}");
        let long = format!("{text}{}", " ".repeat(WORTH_SCANNING));
        let (value, written) = (parse(&long), wanted.as_ref().map(Value::to_string));
        // In the same order, too.
        assert_eq!(value.as_ref().map(Value::to_string), written, "{text}");
        assert_eq!(value, wanted, "{text}");
    }

    #[test]
    fn what_is_unusual() {
        for text in [
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"n":[0,-0,1.5,-2e3,18446744073709551615,18446744073709551616,1e400]}"#,
            r#"{"s":"\u00e9 \ud83d\ude00 \n","k\"":"\\u"}"#,
            r#"{"s":"\ud83d"}"#,
            r#"{"s":"\x"}"#,
            "{\"s\":\"\u{1}\"}",
            r#"{"a":tru}"#,
            r#"{"a":1} x"#,
            "",
            "[1,",
            "\"text\"",
            "null",
        ] {
            check(text);
        }
        for depth in [1, MAX_DEPTH, MAX_DEPTH + 1, 126, 127, 128, 129, 1000] {
            check(&("[".repeat(depth) + &"]".repeat(depth)));
        }
    }

    proptest! {
        #[test]
        fn values_are_those_of_serde(text in r#"[ "\\{}\[\]:,aeu1.n-]{0,24}"#) {
            check(&text);
        }

        #[test]
        fn strings_are_those_of_serde(text in any::<String>(), key in any::<String>()) {
            check(&serde_json::json!({ key: text, "b": [text, 1.5, true] }).to_string());
        }
    }
}
