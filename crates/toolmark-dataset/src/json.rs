//! JSON: a list of objects, or an object that contains one.

use super::{DatasetFault, DatasetRows};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Keys under which the list of rows is found.
pub(super) const KEYS: [&str; 4] = ["data", "rows", "samples", "examples"];

pub(super) fn read(text: &str, rows: &mut DatasetRows) -> Result<(), DatasetFault> {
    let whole: &RawValue = match serde_json::from_str(text) {
        Ok(whole) => whole,
        Err(error) => {
            rows.fail_at(&error, 1);
            return Ok(());
        }
    };
    let list: Vec<&RawValue> = match serde_json::from_str(whole.get()) {
        Ok(list) => list,
        Err(_) => {
            let map: Option<BTreeMap<String, &RawValue>> = serde_json::from_str(whole.get()).ok();
            let under = |key: &&str| serde_json::from_str(map.as_ref()?.get(*key)?.get()).ok();
            KEYS.iter().find_map(under).ok_or(DatasetFault::NoRows)?
        }
    };
    let (mut line, mut counted) = (1, 0);
    for raw in list {
        // The values are slices of the text, in its order.
        let at = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let between = text.as_bytes().get(counted..at).unwrap_or_default();
        line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
        counted = at;
        let goes_on = match serde_json::from_str(raw.get()) {
            Ok(value) => rows.push(line, value),
            Err(error) => rows.fail_at(&error, line),
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}
