//! CSV: the first line names the columns. Fields stay text, even when they look like numbers:
//! `007` remains `007`.

use super::{DatasetFault, DatasetRows};
use csv::{ErrorKind, ReaderBuilder};
use serde_json::{Map, Value};

pub(super) fn read(text: &str, delimiter: u8, rows: &mut DatasetRows) -> Result<(), DatasetFault> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut columns: Option<Vec<String>> = None;
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map(csv::Position::line);
                let message = match error.kind() {
                    ErrorKind::Utf8 { .. } => "the line is not UTF-8".to_owned(),
                    _ => format!("not CSV: {error}"),
                };
                rows.fail(line, message);
                return Ok(());
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        let Some(columns) = &columns else {
            let names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
            if let Some(twice) = repeated(&names) {
                rows.fail(Some(line), format!("the column {twice} occurs twice"));
                return Ok(());
            }
            columns = Some(names);
            continue;
        };
        let goes_on = if record.len() == columns.len() {
            let fields = columns.iter().cloned().zip(record.iter().map(Value::from));
            rows.push(line, Value::Object(fields.collect::<Map<_, _>>()))
        } else {
            let message = format!(
                "expected {} fields as in the first line, found {}",
                columns.len(),
                record.len()
            );
            rows.fail(Some(line), message)
        };
        if !goes_on {
            break;
        }
    }
    match columns {
        Some(_) => Ok(()),
        None => Err(DatasetFault::NoColumns),
    }
}

fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = std::collections::BTreeSet::new();
    names.iter().find(|name| !seen.insert(*name))
}
