//! OTLP as protobuf: an `ExportTraceServiceRequest`, which has the same wire format as
//! `TracesData`, or an `ExportLogsServiceRequest` with events of a coding agent; either a
//! single message or a sequence of length-prefixed messages.
//!
//! A binary file has no lines: every source position is its start.

use super::shared::spans::{
    Attributes, SpanEvent, SpanLog, Spans, TelemetrySpan, hex, parent_id, span_reader, telemetry,
};
use crate::format::{
    Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record, RecordLayout,
};
use crate::model::{At, Fact, Fidelity, Payload, Text, time};
use base64::Engine;
use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1 as wire;
use prost::Message;

/// OTLP as protobuf.
pub(crate) struct OtlpProtobuf;

static INFO: FormatInfo = FormatInfo {
    id: "otlp-protobuf",
    title: "OpenTelemetry OTLP, protobuf",
    origin: "OTLP exporters and the collector's file exporter in proto format",
    versions: "OTLP 1.x, plain or length-delimited",
    looks_for: "a binary ExportTraceServiceRequest with at least one span, or an ExportLogsServiceRequest with events of Claude Code or Codex",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

impl Format for OtlpProtobuf {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.shape() != RecordLayout::Binary {
            return 0;
        }
        if decode(probe.head()).is_some_and(|r| r.requests.iter().any(OtlpRequest::is_known)) {
            100
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OtlpProtobuf, add_record)
    }
}

/// A decoded request.
enum OtlpRequest {
    Traces(ExportTraceServiceRequest),
    Logs(ExportLogsServiceRequest),
    /// Probably metrics.
    Other,
}

impl OtlpRequest {
    /// Decodes a request. The wire format of traces and logs is the same down to spans and log
    /// records, whose first fields differ in type. A request without any could be either.
    fn new(bytes: &[u8]) -> Self {
        if let Ok(traces) = ExportTraceServiceRequest::decode(bytes)
            && has_span(&traces)
        {
            return Self::Traces(traces);
        }
        match ExportLogsServiceRequest::decode(bytes) {
            Ok(logs) if log_records(&logs).next().is_some() => Self::Logs(logs),
            _ => Self::Other,
        }
    }

    /// Returns whether the request contains data about an agent.
    fn is_known(&self) -> bool {
        match self {
            Self::Traces(traces) => has_span(traces),
            Self::Logs(logs) => has_agent_event(logs),
            Self::Other => false,
        }
    }
}

fn has_span(request: &ExportTraceServiceRequest) -> bool {
    request.resource_spans.iter().flat_map(|r| &r.scope_spans).any(|s| !s.spans.is_empty())
}

/// Returns the log records of a request, with the names of their scopes.
fn log_records(request: &ExportLogsServiceRequest) -> impl Iterator<Item = (&str, &LogRecord)> {
    let scopes = request.resource_logs.iter().flat_map(|r| &r.scope_logs);
    scopes.flat_map(|scope| {
        let name = scope.scope.as_ref().map_or("", |s| s.name.as_str());
        scope.log_records.iter().map(move |log| (name, log))
    })
}

fn has_agent_event(request: &ExportLogsServiceRequest) -> bool {
    log_records(request).any(|(scope, log)| {
        let text = |value: Option<&AnyValue>| match value.and_then(|v| v.value.as_ref()) {
            Some(Any::StringValue(text)) => text.clone(),
            _ => String::new(),
        };
        let stated = log.attributes.iter().find(|a| a.key == "event.name");
        let name = text(stated.and_then(|a| a.value.as_ref()));
        telemetry::is_known(&name, &text(log.body.as_ref()), scope)
    })
}

/// The requests in a byte string, and whether all bytes were used.
struct Decoded {
    requests: Vec<OtlpRequest>,
    complete: bool,
}

fn decode(bytes: &[u8]) -> Option<Decoded> {
    // A series can look like one message of unknown fields, never like spans or logs.
    match OtlpRequest::new(bytes) {
        OtlpRequest::Other => {}
        request => return Some(Decoded { requests: vec![request], complete: true }),
    }
    let mut rest = bytes;
    let mut requests = Vec::new();
    while !rest.is_empty() {
        let length = prost::decode_length_delimiter(&mut rest).ok();
        match length.and_then(|length| rest.split_at_checked(length)) {
            Some((request, after)) => {
                requests.push(OtlpRequest::new(request));
                rest = after;
            }
            // A writer was stopped in the middle of the last one.
            None if !requests.is_empty() => return Some(Decoded { requests, complete: false }),
            None => return None,
        }
    }
    Some(Decoded { requests, complete: true })
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(decoded) = decode(record.binary()) else {
        out.skip(&record.at(), "not an OTLP request");
        return;
    };
    if !decoded.complete {
        out.skip(&record.at(), "the last request is cut off");
    }
    for request in decoded.requests {
        match request {
            OtlpRequest::Traces(traces) => add_spans(spans, record, traces),
            OtlpRequest::Logs(logs) => add_logs(spans, record, logs),
            OtlpRequest::Other => spans.note("request without spans", record.at()),
        }
    }
}

/// Returns the service name of a resource.
fn service(resource: Option<Resource>) -> Option<Text> {
    let service = resource?.attributes.into_iter().find(|a| a.key == "service.name");
    attributes(service.into_iter().collect()).text(&["service.name"])
}

fn add_spans(spans: &mut Spans, record: &Record<'_>, request: ExportTraceServiceRequest) {
    for resource in request.resource_spans {
        let service = service(resource.resource);
        for scope in resource.scope_spans {
            let name = scope.scope.map(|s| Text::owned(s.name)).filter(|n| !n.is_empty());
            for span in scope.spans {
                let mut span = read_span(span, name.clone(), record.at());
                span.service = service.clone();
                spans.add(span);
            }
        }
    }
}

fn add_logs(spans: &mut Spans, record: &Record<'_>, request: ExportLogsServiceRequest) {
    for resource in request.resource_logs {
        let service = service(resource.resource);
        for scope in resource.scope_logs {
            let name = scope.scope.map(|s| Text::owned(s.name)).filter(|n| !n.is_empty());
            for log in scope.log_records {
                let log = read_log(log, record.at());
                if !spans.log_record(log, name.as_ref(), service.as_ref()) {
                    spans.note("log", record.at());
                }
            }
        }
    }
}

fn read_log(wire: LogRecord, at: At) -> SpanLog {
    let event = SpanEvent {
        name: Text::owned(wire.event_name),
        time: moment(wire.time_unix_nano).or_else(|| moment(wire.observed_time_unix_nano)),
        attributes: attributes(wire.attributes),
        body: wire.body.and_then(|b| b.value).and_then(payload),
    };
    let span = parent_id(&hex(&wire.span_id)).unwrap_or_default();
    SpanLog { trace: hex(&wire.trace_id), span, event, at }
}

fn read_span(wire: wire::Span, scope: Option<Text>, at: At) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(at);
    span.trace = hex(&wire.trace_id);
    span.id = hex(&wire.span_id);
    span.parent = parent_id(&hex(&wire.parent_span_id));
    span.name = Text::owned(wire.name);
    span.start = moment(wire.start_time_unix_nano);
    span.end = moment(wire.end_time_unix_nano);
    if let Some(status) = wire.status {
        span.failed = status.code == wire::status::StatusCode::Error as i32;
        span.status_message = Some(Text::owned(status.message)).filter(|m| !m.is_empty());
    }
    span.attributes = attributes(wire.attributes);
    span.events = wire.events.into_iter().map(read_event).collect();
    span.scope = scope;
    span
}

fn read_event(wire: wire::span::Event) -> SpanEvent {
    SpanEvent {
        name: Text::owned(wire.name),
        time: moment(wire.time_unix_nano),
        attributes: attributes(wire.attributes),
        body: None,
    }
}

fn moment(nanos: u64) -> Option<Timestamp> {
    (nanos > 0).then(|| time::from_nanos(i128::from(nanos))).flatten()
}

fn attributes(list: Vec<KeyValue>) -> Attributes {
    let mut all = Attributes::default();
    for pair in list {
        if let Some(value) = pair.value.and_then(|v| v.value).and_then(payload) {
            all.insert(pair.key, value);
        }
    }
    all
}

fn payload(value: Any) -> Option<Payload> {
    Some(match value {
        Any::StringValue(text) => Payload::text(Text::owned(text)),
        Any::BytesValue(bytes) => {
            Payload::text(Text::owned(base64::engine::general_purpose::STANDARD.encode(bytes)))
        }
        Any::StringValueStrindex(_) => return None,
        other => Payload::json(Text::owned(json(&other))),
    })
}

/// Returns the plain JSON of a value with lists or maps in it.
fn json(value: &Any) -> String {
    enum ProtobufWork<'a> {
        Value(&'a AnyValue),
        Plain(&'a Any),
        Raw(&'static str),
        Key(&'a str),
    }
    let mut json = String::new();
    let mut todo = vec![ProtobufWork::Plain(value)];
    while let Some(work) = todo.pop() {
        let value = match work {
            ProtobufWork::Raw(raw) => {
                json.push_str(raw);
                continue;
            }
            ProtobufWork::Key(key) => {
                json.push_str(&quoted(key));
                json.push(':');
                continue;
            }
            ProtobufWork::Plain(value) => Some(value),
            ProtobufWork::Value(value) => value.value.as_ref(),
        };
        let mut parts = Vec::new();
        match value {
            Some(Any::StringValue(text)) => json.push_str(&quoted(text)),
            Some(Any::BoolValue(flag)) => json.push_str(if *flag { "true" } else { "false" }),
            Some(Any::IntValue(number)) => json.push_str(&number.to_string()),
            Some(Any::DoubleValue(number)) => {
                json.push_str(&serde_json::Value::from(*number).to_string());
            }
            Some(Any::BytesValue(bytes)) => {
                json.push_str(&quoted(&base64::engine::general_purpose::STANDARD.encode(bytes)));
            }
            Some(Any::StringValueStrindex(_)) | None => json.push_str("null"),
            Some(Any::ArrayValue(list)) => {
                json.push('[');
                for (n, item) in list.values.iter().enumerate() {
                    parts.extend((n > 0).then_some(ProtobufWork::Raw(",")));
                    parts.push(ProtobufWork::Value(item));
                }
                parts.push(ProtobufWork::Raw("]"));
            }
            Some(Any::KvlistValue(map)) => {
                json.push('{');
                for (n, pair) in map.values.iter().enumerate() {
                    parts.extend((n > 0).then_some(ProtobufWork::Raw(",")));
                    parts.push(ProtobufWork::Key(&pair.key));
                    parts.push(match &pair.value {
                        Some(value) => ProtobufWork::Value(value),
                        None => ProtobufWork::Raw("null"),
                    });
                }
                parts.push(ProtobufWork::Raw("}"));
            }
        }
        todo.extend(parts.into_iter().rev());
    }
    json
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_bytes, read_text, sketch};
    use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValueList};
    use wire::{ResourceSpans, ScopeSpans, Status};

    fn value(value: Any) -> Option<AnyValue> {
        Some(AnyValue { value: Some(value) })
    }

    fn text(key: &str, text: &str) -> KeyValue {
        KeyValue {
            key: key.into(),
            value: value(Any::StringValue(text.into())),
            ..Default::default()
        }
    }

    fn request() -> ExportTraceServiceRequest {
        let list = ArrayValue {
            values: vec![AnyValue { value: Some(Any::IntValue(1)) }, AnyValue { value: None }],
        };
        let map = KeyValueList {
            values: vec![KeyValue {
                key: "a\n".into(),
                value: value(Any::ArrayValue(list)),
                ..Default::default()
            }],
        };
        let call = wire::Span {
            trace_id: vec![10; 16],
            span_id: vec![2; 8],
            parent_span_id: vec![1; 8],
            name: "execute_tool f".into(),
            start_time_unix_nano: 1_767_225_602_000_000_001,
            end_time_unix_nano: 1_767_225_603_000_000_001,
            attributes: vec![
                text("gen_ai.operation.name", "execute_tool"),
                text("gen_ai.tool.call.id", "c1"),
                KeyValue {
                    key: "gen_ai.tool.call.arguments".into(),
                    value: value(Any::KvlistValue(map)),
                    ..Default::default()
                },
            ],
            status: Some(Status { message: "boom".into(), code: 2 }),
            ..Default::default()
        };
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                scope_spans: vec![ScopeSpans { spans: vec![call], ..Default::default() }],
                ..Default::default()
            }],
        }
    }

    const JSON: &str = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","spanId":"0202020202020202","parentSpanId":"0101010101010101","name":"execute_tool f","startTimeUnixNano":"1767225602000000001","endTimeUnixNano":"1767225603000000001","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.call.id","value":{"stringValue":"c1"}},{"key":"gen_ai.tool.call.arguments","value":{"kvlistValue":{"values":[{"key":"a\n","value":{"arrayValue":{"values":[{"intValue":"1"},{}]}}}]}}}],"status":{"message":"boom","code":2}}]}]}]}"#;

    #[test]
    fn the_same_as_json() {
        let plain = request().encode_to_vec();
        let mut series = request().encode_length_delimited_to_vec();
        series.extend(request().encode_length_delimited_to_vec());
        let want = read_text(JSON);
        let sketched = sketch(&want.runs[0]);
        assert_eq!(sketched, "call f {\"a\\n\":[1,null]} -> failed(protocol): boom\n");
        for bytes in [plain, series] {
            let read = read_bytes(&bytes);
            assert_eq!((read.format, read.skipped, read.runs.len()), ("otlp-protobuf", 0, 1));
            let (run, other) = (&read.runs[0], &want.runs[0]);
            assert_eq!(sketch(run), sketched);
            assert_eq!((&run.id, run.started, run.ended), (&other.id, other.started, other.ended));
        }
    }

    #[test]
    fn a_series_that_is_cut_off() {
        let mut series = request().encode_length_delimited_to_vec();
        let whole = series.len();
        series.extend(request().encode_length_delimited_to_vec());
        series.truncate(whole + 20);
        let read = read_bytes(&series);
        assert_eq!((read.format, read.skipped, read.runs.len()), ("otlp-protobuf", 1, 1));
    }

    #[test]
    fn other_bytes_are_not_ours() {
        for bytes in [&b"\x00\x01\x02\x03"[..], b"\x0a\x00\x00", b"\xff\xff\xff\xff\xff"] {
            assert!(!decode(bytes).is_some_and(|d| d.requests.iter().any(OtlpRequest::is_known)));
        }
    }
}
