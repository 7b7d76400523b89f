//! SARIF 2.1.0, for code scanning: one run for grading, and one for checking.

mod checked;
mod graded;

use crate::json::write_pretty;
use crate::model::TracePlace;
use crate::terminal::text::sanitize;
use crate::{Report, ReportError, ReportOptions};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::Write;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Maximum number of related locations per result.
const RELATED: usize = 20;

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let directory = options.directory.as_deref().map(|directory| uri(directory) + "/");
    let directory = directory.as_deref();
    let graded = report.graded.map(|run| {
        let mut log = graded::log(run, options);
        let results = log.get_mut("results").and_then(Value::as_array_mut);
        results.into_iter().flatten().for_each(|result| make_relative(result, directory));
        SarifRun::Graded(log)
    });
    let checked = report.checked.map(|run| checked::SarifCheckRun::new(run, options, directory));
    let runs: Vec<SarifRun<'_>> =
        graded.into_iter().chain(checked.map(SarifRun::Checked)).collect();
    document(&runs, out)
}

/// A run of the document.
#[derive(Serialize)]
#[serde(untagged)]
enum SarifRun<'r> {
    Graded(Value),
    Checked(checked::SarifCheckRun<'r>),
}

/// Makes the file names of a result relative to a directory: code scanning shows a result only if
/// its file is in the repository. A file outside the directory becomes a `file:` URI.
fn make_relative(result: &mut Value, directory: Option<&str>) {
    for key in ["locations", "relatedLocations"] {
        let locations = result.get_mut(key).and_then(Value::as_array_mut);
        for location in locations.into_iter().flatten() {
            let uri = location.pointer_mut("/physicalLocation/artifactLocation/uri");
            let Some(Value::String(uri)) = uri else { continue };
            if let Some(rest) = directory.and_then(|directory| uri.strip_prefix(directory)) {
                *uri = rest.to_owned();
            } else if uri.starts_with('/') {
                *uri = format!("file://{uri}");
            }
        }
    }
}

/// Writes a document with these runs.
pub(crate) fn document(runs: &impl Serialize, out: &mut dyn Write) -> Result<(), ReportError> {
    #[derive(Serialize)]
    struct SarifDocument<'d, R> {
        #[serde(rename = "$schema")]
        schema: &'static str,
        version: &'static str,
        runs: &'d R,
    }

    write_pretty(&SarifDocument { schema: SCHEMA, version: "2.1.0", runs }, out)
}

/// Returns a SARIF run of the tool.
pub(crate) fn log_of(
    rules: Vec<Value>,
    results: Vec<Value>,
    properties: Value,
    options: &ReportOptions,
) -> Value {
    let mut log = json!({
        "tool": { "driver": {
            "name": "toolmark",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": rules,
        }},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": properties,
    });
    if let (Some(time), Some(object)) = (options.generated_at, log.as_object_mut()) {
        let invocation = json!({ "executionSuccessful": true, "endTimeUtc": time.to_string() });
        object.insert("invocations".into(), json!([invocation]));
    }
    log
}

/// Returns a result. The first location is its primary one, the others are related locations.
pub(crate) fn result(
    rule: &str,
    index: usize,
    level: &str,
    message: &str,
    mut locations: Vec<Value>,
    fingerprint: &str,
) -> Value {
    let related = locations.split_off(1.min(locations.len()));
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level,
        "message": { "text": words(message) },
        "locations": locations,
        "partialFingerprints": { "toolmark/v1": fingerprint },
    });
    if let (false, Some(object)) = (related.is_empty(), result.as_object_mut()) {
        let numbered = related.into_iter().enumerate().map(|(id, mut location)| {
            if let Some(location) = location.as_object_mut() {
                location.insert("id".into(), json!(id));
            }
            location
        });
        object.insert("relatedLocations".into(), numbered.collect());
    }
    result
}

fn in_trace(place: &TracePlace, text: &str) -> Value {
    location(&place.file, place.line, place.column, text)
}

pub(crate) fn location(file: &str, line: u32, column: u32, text: &str) -> Value {
    let mut region = Map::new();
    if line > 0 {
        region.insert("startLine".into(), json!(line));
        if column > 0 {
            region.insert("startColumn".into(), json!(column));
        }
    }
    let mut physical = Map::new();
    physical.insert("artifactLocation".into(), json!({ "uri": uri(file) }));
    if !region.is_empty() {
        physical.insert("region".into(), Value::Object(region));
    }
    json!({ "physicalLocation": physical, "message": { "text": words(text) } })
}

/// Converts a file name to a relative reference: all characters that are invalid in a path are
/// percent-encoded.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    if file.starts_with("//") {
        // Otherwise the first folder would be read as a host.
        uri.push_str("/.");
    } else if file.split('/').next().is_some_and(|first| first.contains(':')) {
        // Otherwise the text before the colon would be read as a scheme.
        uri.push_str("./");
    }
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' | b'!' | b'$' | b'&' | b'\'' | b'('
            | b')' | b'*' | b'+' | b',' | b';' | b'=' => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// Text of several lines without control characters, and without links: a viewer would make one of
/// `[words](target)`.
pub(crate) fn words(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(sanitize).collect();
    lines.join("\n").replace("](", "] (")
}

/// Converts `output-contains` to `OutputContains`.
pub(crate) fn pascal(id: &str) -> String {
    id.split(|c: char| !c.is_ascii_alphanumeric())
        .map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map(|c| c.to_ascii_uppercase())
                .into_iter()
                .chain(chars)
                .collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_references() {
        for (file, want) in [
            ("traces/refund run.jsonl", "traces/refund%20run.jsonl"),
            ("/abs/a#b?.json", "/abs/a%23b%3F.json"),
            ("a:b/c", "./a:b/c"),
            ("a/b:c", "a/b:c"),
            ("//share/x", "/.//share/x"),
            ("C:\\x", "./C:%5Cx"),
            ("日%", "%E6%97%A5%25"),
        ] {
            assert_eq!(uri(file), want);
        }
    }

    #[test]
    fn files_are_named_from_the_directory() {
        let at = |file: &str| json!({ "locations": [location(file, 1, 1, "x")] });
        for (file, want) in [
            ("/w/my repo/traces/a.jsonl", "traces/a.jsonl"),
            ("traces/b.jsonl", "traces/b.jsonl"),
            ("/w/my repository/c.jsonl", "file:///w/my%20repository/c.jsonl"),
        ] {
            let mut result = at(file);
            make_relative(&mut result, Some(&(uri("/w/my repo") + "/")));
            let path = "/locations/0/physicalLocation/artifactLocation/uri";
            assert_eq!(result.pointer(path).unwrap(), want);
        }
    }

    #[test]
    fn words_are_harmless() {
        assert_eq!(words("a [b](https://c.d)\u{1b}\ne"), "a [b] (https://c.d)\u{241b}\ne");
        assert_eq!(pascal("output-not-contains"), "OutputNotContains");
    }
}
