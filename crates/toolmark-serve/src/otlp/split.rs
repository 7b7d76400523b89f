//! Splits a request into its records with their identifiers.

use super::{OtlpLimits, Signal};
use crate::evaluate::border;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use toolmark_redact::Redactor;
use toolmark_trace::CONVERSATION_ATTRIBUTES;

/// Suffix of a text that was cut.
const CUT: &str = "… [cut]";

/// The records of a request.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Resources with their scopes, as JSON.
    pub(crate) origins: Vec<String>,
    pub(crate) spans: Vec<SpanRecord>,
    pub(crate) logs: Vec<LogRecord>,
    pub(crate) metrics: Vec<String>,
    /// Number of rejected records.
    pub(crate) rejected: u64,
    /// Messages to the sender.
    pub(crate) notes: Vec<String>,
}

/// One span.
#[derive(Debug)]
pub(crate) struct SpanRecord {
    pub(crate) trace: String,
    pub(crate) span: String,
    /// Session ID of the span.
    pub(crate) session: Option<String>,
    pub(crate) is_root: bool,
    pub(crate) origin: usize,
    pub(crate) body: String,
}

/// One log record.
#[derive(Debug)]
pub(crate) struct LogRecord {
    pub(crate) trace: String,
    pub(crate) session: Option<String>,
    /// Sequence number with time, or hash, by which a repeated record is detected.
    pub(crate) sequence: String,
    pub(crate) origin: usize,
    pub(crate) body: String,
}

struct Splitter {
    limits: OtlpLimits,
    redactor: Redactor,
    records: Records,
    origins: HashMap<String, usize>,
    cut: u64,
}

/// Splits a request; `None` if it does not contain this signal.
pub(crate) fn split(
    signal: Signal,
    request: Value,
    limits: OtlpLimits,
    redactor: Redactor,
) -> Option<Records> {
    let mut splitter =
        Splitter { limits, redactor, records: Records::default(), origins: HashMap::new(), cut: 0 };
    let Value::Object(request) = request else { return None };
    let names = match signal {
        Signal::Traces => ["resourceSpans", "scopeSpans", "spans"],
        Signal::Logs => ["resourceLogs", "scopeLogs", "logRecords"],
        Signal::Metrics => ["resourceMetrics", "scopeMetrics", "metrics"],
    };
    splitter.resources(signal, names, request)?;
    let Splitter { mut records, cut, limits, .. } = splitter;
    if cut > 0 {
        let texts = if cut == 1 { "text was" } else { "texts were" };
        let most = limits.attribute;
        records.notes.push(format!("{cut} {texts} cut: longer than {most} bytes"));
    }
    if records.rejected > 0 {
        let were = if records.rejected == 1 { "record was" } else { "records were" };
        records.notes.push(format!(
            "{} {were} rejected: without ids, or more than {} in one request",
            records.rejected, limits.records
        ));
    }
    Some(records)
}

/// Converts `scopeSpans` to `scope_spans`, which some libraries write.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn take(object: &mut Map<String, Value>, name: &str) -> Option<Value> {
    object.remove(name).or_else(|| object.remove(&snake(name)))
}

fn get<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    object.get(name).or_else(|| object.get(&snake(name)))
}

impl Splitter {
    fn resources(
        &mut self,
        signal: Signal,
        [resources, scopes, records]: [&str; 3],
        mut request: Map<String, Value>,
    ) -> Option<()> {
        let list = match take(&mut request, resources) {
            Some(Value::Array(list)) => list,
            // A request without anything is one all the same.
            None | Some(Value::Null) if request.is_empty() => Vec::new(),
            _ => return None,
        };
        for resource in list {
            let Value::Object(mut resource) = resource else { return None };
            let scope_list = take(&mut resource, scopes);
            if signal == Signal::Metrics {
                let mut whole =
                    json!({"resource": take(&mut resource, "resource"), scopes: scope_list});
                self.clean("", &mut whole);
                self.records.metrics.push(whole.to_string());
                continue;
            }
            let mut shared = resource.remove("resource").unwrap_or(Value::Null);
            self.clean("", &mut shared);
            let session = session_of(&shared);
            let Some(Value::Array(scope_list)) = scope_list else { continue };
            for scope in scope_list {
                let Value::Object(mut scope) = scope else { return None };
                let list = take(&mut scope, records);
                let mut about = scope.remove("scope").unwrap_or(Value::Null);
                self.clean("", &mut about);
                let origin = self.origin(&shared, &about);
                let Some(Value::Array(list)) = list else { continue };
                for record in list {
                    let Value::Object(record) = record else { return None };
                    self.record(signal, record, origin, session.clone());
                }
            }
        }
        Some(())
    }

    fn origin(&mut self, resource: &Value, scope: &Value) -> usize {
        let text = json!({"resource": resource, "scope": scope}).to_string();
        let next = self.records.origins.len();
        let at = *self.origins.entry(text.clone()).or_insert(next);
        if at == next {
            self.records.origins.push(text);
        }
        at
    }

    fn record(
        &mut self,
        signal: Signal,
        record: Map<String, Value>,
        origin: usize,
        of_resource: Option<String>,
    ) {
        let taken = self.records.spans.len() + self.records.logs.len();
        if taken >= self.limits.records {
            self.records.rejected += 1;
            return;
        }
        let text = |name: &str| {
            let text = get(&record, name).and_then(Value::as_str).unwrap_or_default();
            Some(text.to_owned()).filter(|text| !text.bytes().all(|byte| byte == b'0'))
        };
        let (trace, span) = (text("traceId"), text("spanId"));
        let is_root = text("parentSpanId").is_none();
        let time = get(&record, "timeUnixNano").map(Value::to_string).unwrap_or_default();
        let mut record = Value::Object(record);
        let session = session_of(&record).or(of_resource);
        let sequence =
            attribute(&record, "event.sequence").map(|number| format!("{number}@{time}"));
        self.clean("", &mut record);
        let body = record.to_string();
        match (signal, trace, span) {
            (Signal::Traces, Some(trace), Some(span)) => {
                let span = SpanRecord { trace, span, session, is_root, origin, body };
                self.records.spans.push(span);
            }
            (Signal::Traces, ..) => self.records.rejected += 1,
            (_, trace, _) => {
                let sequence = sequence.unwrap_or_else(|| {
                    let hash = Sha256::digest(&body);
                    hash.iter().take(16).fold(String::from("#"), |id, b| format!("{id}{b:02x}"))
                });
                let trace = trace.unwrap_or_default();
                self.records.logs.push(LogRecord { trace, session, sequence, origin, body });
            }
        }
    }

    /// Redacts secrets and cuts long texts. Parsers limit the nesting of values, so the recursion
    /// is limited too.
    fn clean(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                // First, or a secret that is cut in two would not be one any more.
                *text = self.redactor.apply_named(name, std::mem::take(text)).into();
                if text.len() > self.limits.attribute {
                    text.truncate(border(text, self.limits.attribute));
                    text.push_str(CUT);
                    self.cut += 1;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(name, item)),
            Value::Object(map) => {
                // An attribute is a pair of its name and its value.
                let key = map.get("key").and_then(Value::as_str).map(str::to_owned);
                for (field, item) in map.iter_mut() {
                    match field.as_str() {
                        "key" | "traceId" | "spanId" | "parentSpanId" | "trace_id" | "span_id"
                        | "parent_span_id" => {}
                        "value" => self.clean(key.as_deref().unwrap_or(name), item),
                        _ => self.clean(name, item),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns an attribute as text.
fn attribute(record: &Value, name: &str) -> Option<String> {
    let attributes = record.get("attributes")?.as_array()?;
    let found = attributes.iter().find(|pair| pair.get("key").is_some_and(|key| key == name))?;
    let Value::Object(value) = found.get("value")? else { return None };
    match value.values().next()? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the session ID of a record or a resource.
fn session_of(record: &Value) -> Option<String> {
    let named = CONVERSATION_ATTRIBUTES.iter().find_map(|name| attribute(record, name));
    named.filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(spans: Value) -> Records {
        let request = json!({"resourceSpans": [{"resource": {"attributes": []},
            "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]});
        let limits = OtlpLimits { attribute: 100, records: 3, ..OtlpLimits::default() };
        split(Signal::Traces, request, limits, Redactor::new(true)).unwrap()
    }

    fn pair(key: &str, value: &str) -> Value {
        json!({"key": key, "value": {"stringValue": value}})
    }

    #[test]
    fn records_know_their_session_and_lose_their_secrets() {
        let long = "a ".repeat(500);
        let records = spans(json!([
            {"traceId": "aa", "spanId": "01", "parentSpanId": "", "attributes":
                [pair("session.id", "s1"), pair("password", "hunter2"), pair("long", &long)]},
            {"traceId": "aa", "spanId": "02", "parentSpanId": "01"},
            {"traceId": "", "spanId": "03"},
            {"traceId": "aa", "spanId": "04"},
            {"traceId": "aa", "spanId": "05"},
        ]));
        let [first, second, third] = &records.spans[..] else { panic!("{records:?}") };
        assert_eq!((first.session.as_deref(), first.is_root), (Some("s1"), true));
        assert_eq!((second.session.as_deref(), second.is_root), (None, false));
        assert_eq!(third.span, "04");
        assert!(!first.body.contains("hunter2") && first.body.contains(CUT), "{}", first.body);
        assert_eq!((records.rejected, records.origins.len(), records.notes.len()), (2, 1, 2));
    }

    #[test]
    fn logs_have_a_sequence_or_a_hash() {
        let log = |attributes: Value| json!({"timeUnixNano": "5", "attributes": attributes});
        let sequence = json!([{"key": "event.sequence", "value": {"intValue": 7}}]);
        let request = json!({"resource_logs": [{"scope_logs": [{"log_records":
            [log(sequence), log(json!([])), log(json!([]))]}]}]});
        let split =
            split(Signal::Logs, request, OtlpLimits::default(), Redactor::new(true)).unwrap();
        assert_eq!(split.logs[0].sequence, "7@\"5\"");
        assert!(split.logs[1].sequence.starts_with('#'));
        assert_eq!(split.logs[1].sequence, split.logs[2].sequence);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (value, is_one) in [
            (json!({}), true),
            (json!({"resourceSpans": []}), true),
            (json!([]), false),
            (json!({"resourceSpans": 1}), false),
            (json!({"resourceSpans": [1]}), false),
            (json!({"resourceLogs": []}), false),
        ] {
            let split =
                split(Signal::Traces, value.clone(), OtlpLimits::default(), Redactor::new(true));
            assert_eq!(split.is_some(), is_one, "{value}");
        }
    }
}
