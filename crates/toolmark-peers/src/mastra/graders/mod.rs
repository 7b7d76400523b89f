//! Parts of Mastra's trajectory scorer.

pub(crate) mod comparison;
pub(crate) mod efficiency;
pub(crate) mod retries;

use serde_json::Value;

/// Rounds to two decimals, halves up, as `Math.round` does.
pub(crate) fn rounded(score: f64) -> f64 {
    (score.clamp(0.0, 1.0) * 100.0 + 0.5).floor() / 100.0
}

/// Whether two values have the same JSON text. The order of keys is significant, and numbers
/// are normalized.
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
