//! What all OTLP containers share: spans in scopes in resources.

use super::{Spans, json};
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
        for scopes in ["scopeLogs", "scope_logs"].iter().filter_map(|key| resource.get(key)) {
            for scope in scopes.items() {
                let logs = scope.get("logRecords").or_else(|| scope.get("log_records"));
                for log in logs.into_iter().flat_map(Value::items) {
                    if !json::add(spans, record, log) {
                        spans.note("log", record.at_value(log));
                    }
                }
            }
        }
    }
}

/// Has a list of resources any spans?
pub(crate) fn holds_spans(resources: Value<'_>) -> bool {
    resources.items().any(|resource| SCOPES.iter().any(|key| resource.get(key).is_some()))
}
