//! Spans written as JSON objects. Every producer has its own names for the same members
//! (`spanId`, `span_id`, `context.span_id`, `spanID`), so one reader supports all of them,
//! and the containers differ only in the structure around the spans.

use super::{Attributes, SpanEvent, SpanLog, Spans, TelemetrySpan, normal_id, parent_id};
use crate::format::Record;
use crate::model::{Payload, Text, time};
use jiff::SignedDuration;
use toolmark_scan::{JsonKind, Value};

/// Returns whether this object is a span, with any of the member names.
pub(crate) fn is_span(value: Value<'_>) -> bool {
    let context = value.get("context").filter(|c| c.is_object());
    let has = |keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    let id = has(&["spanId", "span_id", "spanID"])
        || context.is_some_and(|c| c.get("span_id").is_some());
    let name = has(&["name", "span_name", "operationName"]);
    let start =
        has(&["startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "timestamp"]);
    id && name && start
}

/// Returns whether this object is a log record that belongs to a span.
pub(crate) fn is_log(value: Value<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    has(&["body"]) && has(&["spanId", "span_id"]) && !has(&["name"])
}

/// Adds an object that is a span or log record; returns false if it is neither.
pub(crate) fn add(spans: &mut Spans, record: &Record<'_>, value: Value<'_>) -> bool {
    if is_span(value) {
        spans.add(span(record, value));
    } else if is_log(value) {
        spans.log(log(record, value));
    } else {
        return false;
    }
    true
}

/// Reads a span object.
pub(crate) fn span(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(value));
    let mut duration = None;
    for (key, value) in value.fields() {
        match key.inner().unwrap_or("") {
            "traceId" | "trace_id" | "traceID" => span.trace = id(value),
            "spanId" | "span_id" | "spanID" => span.id = id(value),
            "parentSpanId" | "parent_span_id" | "parent_id" | "parentId" => {
                span.parent = value.str().and_then(|p| parent_id(&p));
            }
            "context" => {
                span.trace = value.get("trace_id").map(id).unwrap_or_default();
                span.id = value.get("span_id").map(id).unwrap_or_default();
            }
            "references" => span.parent = reference(value).or(span.parent),
            "name" | "span_name" | "operationName" => {
                span.name = record.label(value).unwrap_or(span.name);
            }
            "startTimeUnixNano"
            | "start_time_unix_nano"
            | "startTime"
            | "start_time"
            | "timestamp" => span.start = time::from_value(value).or(span.start),
            "endTimeUnixNano" | "end_time_unix_nano" | "endTime" | "end_time" => {
                span.end = time::from_value(value).or(span.end);
            }
            "duration" => duration = Some(value),
            "attributes" | "span_attributes" | "tags" => {
                span.attributes = attributes(record, value);
            }
            "events" | "span_events" | "logs" => {
                span.events.extend(value.items().filter_map(|e| event(record, e)));
            }
            "status" => status(&mut span, record, value),
            "status_code" => span.failed = is_error(value),
            "status_message" => span.status_message = record.text(value),
            "scope" | "instrumentationScope" | "instrumentation_scope" => {
                span.scope = record.text_at(value, "name");
            }
            "scope_name" => span.scope = record.text(value),
            "service_name" => span.service = record.text(value),
            "resource" => span.service = service(record, value),
            _ => {}
        }
    }
    if span.end.is_none() {
        span.end = duration.and_then(length).and_then(|d| span.start?.checked_add(d).ok());
    }
    tags_of_status(&mut span);
    span
}

/// Reads Jaeger's status, which is one of the tags.
fn tags_of_status(span: &mut TelemetrySpan) {
    if span.attributes.is("otel.status_code", "ERROR")
        || span.attributes.flag("error") == Some(true)
    {
        span.failed = true;
    }
    if span.status_message.is_none() {
        span.status_message = span.attributes.text(&["otel.status_description"]);
    }
    if span.scope.is_none() {
        span.scope = span.attributes.text(&["otel.scope.name"]);
    }
}

/// Returns the service name of a resource.
pub(crate) fn service(record: &Record<'_>, resource: Value<'_>) -> Option<Text> {
    attributes(record, resource.get("attributes")?).text(&["service.name"])
}

fn id(value: Value<'_>) -> String {
    value.str().map(|raw| normal_id(&raw)).unwrap_or_default()
}

/// Returns the parent among Jaeger's references.
fn reference(value: Value<'_>) -> Option<String> {
    let is_child = |r: &Value<'_>| r.get("refType").is_none_or(|t| t.is("CHILD_OF"));
    let found = value.items().find(is_child).or_else(|| value.items().next())?;
    parent_id(&found.get_str("spanID")?)
}

/// Reads the duration of a span: microseconds (Jaeger) or an ISO duration (TRAIL).
fn length(value: Value<'_>) -> Option<SignedDuration> {
    match value.kind() {
        JsonKind::Number => Some(SignedDuration::from_micros(value.as_i64()?)),
        JsonKind::String => value.inner()?.parse().ok(),
        _ => None,
    }
}

fn status(span: &mut TelemetrySpan, record: &Record<'_>, value: Value<'_>) {
    if value.is_string() {
        span.failed = is_error(value);
        return;
    }
    let code = value.get("code").or_else(|| value.get("status_code"));
    span.failed = code.is_some_and(is_error);
    span.status_message =
        record.text_at(value, "message").or_else(|| record.text_at(value, "description"));
}

/// Returns whether a status code is an error: `2`, `ERROR`, `Error`, `STATUS_CODE_ERROR`,
/// `StatusCode.ERROR`.
fn is_error(code: Value<'_>) -> bool {
    match code.inner() {
        Some(word) => word.len() >= 5 && word.to_ascii_uppercase().ends_with("ERROR"),
        None => code.as_i64() == Some(2),
    }
}

/// Reads attributes from an object, or from a list of keys and values.
pub(crate) fn attributes(record: &Record<'_>, value: Value<'_>) -> Attributes {
    let mut all = Attributes::default();
    for (key, value) in value.fields() {
        if let (Some(key), false) = (key.str(), value.is_null()) {
            all.insert(key, record.payload(value));
        }
    }
    for item in value.items() {
        let (Some(key), Some(value)) = (item.get_str("key"), item.get("value")) else { continue };
        if let Some(value) = any_value(record, value) {
            all.insert(key, value);
        }
    }
    all
}

fn event(record: &Record<'_>, value: Value<'_>) -> Option<SpanEvent> {
    if !value.is_object() {
        return None;
    }
    let mut event = SpanEvent {
        name: Text::owned(""),
        time: None,
        attributes: Attributes::default(),
        body: None,
    };
    for (key, value) in value.fields() {
        match key.inner().unwrap_or("") {
            "name" | "event_name" | "Name" | "eventName" => {
                event.name = record.text(value).unwrap_or(event.name);
            }
            "timeUnixNano" | "time_unix_nano" | "timestamp" | "time" | "Timestamp" => {
                event.time = time::from_value(value);
            }
            "attributes" | "Attributes" | "fields" => event.attributes = attributes(record, value),
            "body" => event.body = any_value(record, value),
            _ => {}
        }
    }
    // Jaeger keeps the name of an event among its fields.
    if event.name.is_empty() {
        let name = event.attributes.text(&["event", "event.name"]);
        event.name = name.unwrap_or(event.name);
    }
    Some(event)
}

pub(crate) fn log(record: &Record<'_>, value: Value<'_>) -> SpanLog {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)).map(id);
    SpanLog {
        trace: text(&["traceId", "trace_id"]).unwrap_or_default(),
        span: text(&["spanId", "span_id"]).unwrap_or_default(),
        event: event(record, value).unwrap_or_else(|| SpanEvent {
            name: Text::owned(""),
            time: None,
            attributes: Attributes::default(),
            body: None,
        }),
        at: record.at_value(value),
    }
}

/// Returns the content of an OTLP value (`{"stringValue":"x"}`); any other value unchanged.
pub(crate) fn any_value(record: &Record<'_>, value: Value<'_>) -> Option<Payload> {
    let Some((kind, inner)) = wrapped(value) else {
        return (!value.is_null()).then(|| record.payload(value));
    };
    if matches!(kind, Any::List | Any::Map) {
        return Some(Payload::json(Text::owned(any_json(value))));
    }
    Some(match (kind, inner.inner()) {
        // 64-bit integers are strings in OTLP's JSON.
        (Any::Number, Some(digits)) => Payload::json(Text::owned(digits)),
        _ => record.payload(inner),
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Any {
    Plain,
    Number,
    List,
    Map,
}

fn wrapped(value: Value<'_>) -> Option<(Any, Value<'_>)> {
    let mut fields = value.fields();
    let (key, inner) = fields.next()?;
    let kind = match key.inner()? {
        "stringValue" | "string_value" | "boolValue" | "bool_value" | "bytesValue"
        | "bytes_value" => Any::Plain,
        "intValue" | "int_value" | "doubleValue" | "double_value" => Any::Number,
        "arrayValue" | "array_value" => Any::List,
        "kvlistValue" | "kvlist_value" => Any::Map,
        _ => return None,
    };
    fields.next().is_none().then_some((kind, inner))
}

/// Returns the plain JSON of an OTLP value with lists or maps in it.
fn any_json(value: Value<'_>) -> String {
    enum JsonWork<'a> {
        Value(Value<'a>),
        Raw(&'a str),
    }
    let mut json = String::new();
    let mut todo = vec![JsonWork::Value(value)];
    while let Some(work) = todo.pop() {
        let value = match work {
            JsonWork::Raw(raw) => {
                json.push_str(raw);
                continue;
            }
            JsonWork::Value(value) => value,
        };
        match wrapped(value) {
            None => json.push_str(if value.is_object() { "null" } else { value.raw() }),
            Some((Any::Plain, inner)) => json.push_str(inner.raw()),
            Some((Any::Number, inner)) => {
                let digits = inner.inner().filter(|d| d.parse::<f64>().is_ok_and(f64::is_finite));
                json.push_str(digits.unwrap_or(inner.raw()));
            }
            Some((Any::List, inner)) => {
                let items = inner.items_at("values");
                json.push('[');
                let mut parts = Vec::new();
                for (n, item) in items.enumerate() {
                    parts.extend((n > 0).then_some(JsonWork::Raw(",")));
                    parts.push(JsonWork::Value(item));
                }
                parts.push(JsonWork::Raw("]"));
                todo.extend(parts.into_iter().rev());
            }
            Some((Any::Map, inner)) => {
                let items = inner.items_at("values");
                json.push('{');
                let mut parts = Vec::new();
                let pairs = items.filter_map(|i| Some((i.get("key")?, i.get("value")?)));
                for (n, (key, value)) in pairs.filter(|(k, _)| k.is_string()).enumerate() {
                    parts.extend((n > 0).then_some(JsonWork::Raw(",")));
                    parts.push(JsonWork::Raw(key.raw()));
                    parts.push(JsonWork::Raw(":"));
                    parts.push(JsonWork::Value(value));
                }
                parts.push(JsonWork::Raw("}"));
                todo.extend(parts.into_iter().rev());
            }
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_scan::Scanner;

    #[test]
    fn nested_values_become_plain_json() {
        let text = r#"{"kvlistValue":{"values":[
            {"key":"a","value":{"arrayValue":{"values":[{"intValue":"1"},{"doubleValue":0.5},{"stringValue":"x\n"}]}}},
            {"key":"b","value":{}},{"key":7,"value":{"boolValue":true}},{"key":"c","value":{"boolValue":true}}]}}"#;
        let mut scanner = Scanner::new();
        let doc = scanner.parse(text).unwrap();
        assert_eq!(any_json(doc.root()), r#"{"a":[1,0.5,"x\n"],"b":null,"c":true}"#);
    }
}
