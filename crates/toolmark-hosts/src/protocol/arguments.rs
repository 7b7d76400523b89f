//! Arguments of a call. Values that are larger than any decision needs are omitted and listed
//! by name: a file of many megabytes should not take longer to decode than to write.

use crate::{Args, LeftOut};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum size of a value.
const LARGEST: usize = 1 << 20;

/// Returns the arguments and the names of omitted ones.
pub(crate) fn read(raw: &RawValue) -> Result<(Args, LeftOut), serde_json::Error> {
    let text = raw.get();
    if text.len() <= LARGEST {
        return Ok((Args::Json(serde_json::from_str(text)?), LeftOut::default()));
    }
    let Ok(parts) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else {
        return Ok((Args::Json(serde_json::from_str(text)?), LeftOut::default()));
    };
    let (mut args, mut left_out) = (Map::new(), LeftOut::default());
    for (name, part) in parts {
        if part.get().len() > LARGEST {
            args.insert(name.clone(), Value::Null);
            left_out.push(name);
        } else {
            args.insert(name, serde_json::from_str(part.get())?);
        }
    }
    Ok((Args::Json(args.into()), left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_large_is_left_out_by_name() {
        let long = "x".repeat(LARGEST);
        for (args, left_out) in [
            (json!({"file_path": "a", "content": "b"}), &[][..]),
            (json!({"file_path": "a", "content": long}), &["content"]),
            (json!({"rows": vec![1; LARGEST], "content": long}), &["content", "rows"]),
            (json!([long]), &[]),
        ] {
            let raw = serde_json::value::to_raw_value(&args).unwrap();
            let (found, missing) = read(&raw).unwrap();
            assert_eq!(missing, left_out);
            let Args::Json(found) = found else { panic!() };
            for (name, value) in args.as_object().into_iter().flatten() {
                let is_left_out = left_out.contains(&name.as_str());
                assert_eq!(found[name] == *value, !is_left_out, "{name}");
            }
        }
    }
}
