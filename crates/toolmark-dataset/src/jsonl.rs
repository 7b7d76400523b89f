//! JSON Lines: one object per line.

use super::DatasetRows;

pub(super) fn read(text: &str, rows: &mut DatasetRows) {
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = n as u64 + 1;
        let goes_on = match serde_json::from_str(line) {
            Ok(value) => rows.push(place, value),
            Err(error) => rows.fail_at(&error, place),
        };
        if !goes_on {
            break;
        }
    }
}
