//! JSON: a list of objects, or an object that holds one.

use super::Rows;
use serde_json::Value;

/// The keys a list of rows stands under.
const KEYS: &[&str] = &["data", "rows", "samples", "examples"];

pub(super) fn read(text: &str, rows: &mut Rows) -> Result<(), String> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            rows.fail(Some(error.line() as u64), format!("not JSON: {error}"));
            return Ok(());
        }
    };
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut map) => {
            let found = KEYS.iter().find(|key| map.get(**key).is_some_and(Value::is_array));
            match found.and_then(|key| map.remove(*key)) {
                Some(Value::Array(list)) => list,
                _ => return Err(no_rows()),
            }
        }
        _ => return Err(no_rows()),
    };
    for (n, value) in list.into_iter().enumerate() {
        if !rows.push(n as u64 + 1, value) {
            break;
        }
    }
    Ok(())
}

fn no_rows() -> String {
    let (last, others) = KEYS.split_last().unwrap_or((&"", &[]));
    format!("expected a list of rows, or an object with one under {} or {last}", others.join(", "))
}
