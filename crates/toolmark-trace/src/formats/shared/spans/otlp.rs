//! Code shared by all OTLP containers: spans in scopes in resources.

use super::{Spans, json, telemetry};
use crate::format::Record;
use crate::model::Text;
use toolmark_scan::Value;

const SCOPES: [&str; 4] =
    ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"];

/// Reads a list of resources with their spans.
pub(crate) fn resource_spans(spans: &mut Spans, record: &Record<'_>, resources: Value<'_>) {
    for resource in resources.items() {
        let service = resource.get("resource").and_then(|r| json::service(record, r));
        for scopes in SCOPES.iter().filter_map(|key| resource.get(key)) {
            for scope in scopes.items() {
                read_scope(spans, record, scope, service.as_ref());
            }
        }
    }
}

fn read_scope(spans: &mut Spans, record: &Record<'_>, scope: Value<'_>, service: Option<&Text>) {
    let name = scope_name(record, scope);
    for value in scope.items_at("spans") {
        if !value.is_object() {
            spans.note("span of a wrong type", record.at_value(value));
            continue;
        }
        let mut span = json::span(record, value);
        span.scope = span.scope.or_else(|| name.clone());
        span.service = service.cloned();
        spans.add(span);
    }
}

fn scope_name(record: &Record<'_>, scope: Value<'_>) -> Option<Text> {
    let inner = scope.get("scope").or_else(|| scope.get("instrumentationLibrary"));
    record.text_at(inner?, "name")
}

/// Reads a list of resources with their log records.
pub(crate) fn resource_logs(spans: &mut Spans, record: &Record<'_>, resources: Value<'_>) {
    for resource in resources.items() {
        let service = resource.get("resource").and_then(|r| json::service(record, r));
        for scope in log_scopes(resource) {
            let name = scope_name(record, scope);
            for log in log_records(scope) {
                let read = log.is_object().then(|| json::log(record, log));
                let is_read =
                    read.is_some_and(|log| spans.log_record(log, name.as_ref(), service.as_ref()));
                if !is_read {
                    spans.note("log", record.at_value(log));
                }
            }
        }
    }
}

fn log_scopes(resource: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let scopes = ["scopeLogs", "scope_logs"].into_iter().filter_map(move |key| resource.get(key));
    scopes.flat_map(Value::items)
}

fn log_records(scope: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let logs = scope.get("logRecords").or_else(|| scope.get("log_records"));
    logs.into_iter().flat_map(Value::items)
}

/// Returns whether the first log records of a list of resources contain an event of a coding
/// agent.
pub(crate) fn holds_agent_events(resources: Value<'_>) -> bool {
    const MAX_LOOKED_AT: usize = 200;
    let scopes = resources.items().flat_map(log_scopes);
    scopes.take(MAX_LOOKED_AT).any(|scope| {
        let name = scope.get("scope").and_then(|s| s.get_str("name")).unwrap_or_default();
        log_records(scope).take(MAX_LOOKED_AT).any(|log| {
            let body = log.at(&["body", "stringValue"]).and_then(Value::str).unwrap_or_default();
            let stated = log.items_at("attributes").find(|a| a.field_is("key", "event.name"));
            let stated = stated.and_then(|a| a.at(&["value", "stringValue"])?.str());
            telemetry::is_known(&stated.unwrap_or_default(), &body, &name)
        })
    })
}

/// Returns whether a list of resources has any spans.
pub(crate) fn holds_spans(resources: Value<'_>) -> bool {
    resources.items().any(|resource| SCOPES.iter().any(|key| resource.get(key).is_some()))
}
