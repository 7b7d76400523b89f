//! What Mastra's trajectory scorer is made of.

pub(crate) mod comparison;
pub(crate) mod efficiency;
pub(crate) mod retries;

use serde_json::Value;

/// Two decimals, halves up, as `Math.round` gives them.
pub(crate) fn rounded(score: f64) -> f64 {
    (score.clamp(0.0, 1.0) * 100.0 + 0.5).floor() / 100.0
}

/// Is the JSON text of two values the same? The order of keys is part of it, and a number
/// is written the same however it was.
pub(crate) fn same_text(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_text(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |((a_key, a), (b_key, b)): ((&String, _), (&String, _))| {
                a_key == b_key && same_text(a, b)
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        _ => a == b,
    }
}
