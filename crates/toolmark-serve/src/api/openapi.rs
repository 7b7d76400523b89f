//! The OpenAPI document, generated from the response types.

use super::evaluations::{EvaluateBody, Evaluations, Queued};
use super::guard::{GuardRow, GuardStatus, ReplayBody, Replayed};
use super::info::{AgentRow, Info, Items, KeyRow, ProjectRow};
use super::issues::{DecisionBody, FixPreview, IssuePage, OccurrenceRow, PromoteBody, Promoted};
use super::runs::{RunDetail, RunRow};
use super::sessions::{Diff, SessionDetail, TimelinePage};
use super::tools::ToolRow;
use super::{App, JsonResponse};
use crate::model::{ListPage, SessionRow};
use crate::view::{CallDetail, Hit};
use axum::extract::State;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::sync::Arc;

type Of = fn(&mut SchemaGenerator) -> Schema;

/// An endpoint: method, path, description, parameters, body and response.
struct Address {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    query: &'static [&'static str],
    body: Option<Of>,
    answer: Of,
}

const fn get(
    path: &'static str,
    summary: &'static str,
    query: &'static [&'static str],
    answer: Of,
) -> Address {
    Address { method: "get", path, summary, query, body: None, answer }
}

const fn post(path: &'static str, summary: &'static str, body: Of, answer: Of) -> Address {
    Address { method: "post", path, summary, query: &[], body: Some(body), answer }
}

fn of<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

#[rustfmt::skip]
const ADDRESSES: &[Address] = &[
    get("/info", "What the server is and does", &[], of::<Info>),
    get("/events", "Changes, as a stream of events", &[], of::<Value>),
    get("/projects", "The projects that sessions work in", &[], of::<Items<ProjectRow>>),
    get("/agents", "The agents, with their versions and models", &[], of::<Items<AgentRow>>),
    get("/issues", "What keeps going wrong", &["project", "agent", "since", "state", "kind", "q", "sort", "limit", "cursor"], of::<IssuePage>),
    get("/issues/{id}", "One issue, as `toolmark feed --format json` has it, and more", &[], of::<Value>),
    get("/issues/{id}/occurrences", "Where it occurred", &["limit", "cursor"], of::<ListPage<OccurrenceRow>>),
    get("/issues/{id}/fix", "What its fix would change", &[], of::<Option<FixPreview>>),
    post("/issues/{id}/state", "Decide about it", of::<DecisionBody>, of::<Value>),
    post("/issues/{id}/promote", "Make a case of it", of::<PromoteBody>, of::<Promoted>),
    get("/sessions", "Sessions", &["project", "agent", "model", "version", "tool", "since", "until", "verdict", "live", "q", "sort", "limit", "cursor"], of::<ListPage<SessionRow>>),
    get("/sessions/{id}", "One session", &[], of::<SessionDetail>),
    get("/sessions/{id}/timeline", "What happened in it", &["from", "limit", "agent", "around"], of::<TimelinePage>),
    get("/sessions/{id}/calls/{call}", "One call", &[], of::<CallDetail>),
    get("/sessions/{id}/search", "Locations of words in it", &["q"], of::<Items<Hit>>),
    get("/sessions/{a}/diff/{b}", "Two sessions side by side", &[], of::<Diff>),
    get("/evaluations", "What evaluators say, in sum", &["evaluator", "verdict", "limit", "cursor"], of::<Evaluations>),
    post("/evaluate", "Ask the evaluators again", of::<EvaluateBody>, of::<Queued>),
    get("/tools", "Tools, how they fail and how long they take", &["project", "agent", "since"], of::<Items<ToolRow>>),
    get("/runs", "Runs of `toolmark run`", &[], of::<Items<RunRow>>),
    get("/runs/{id}", "One run", &[], of::<RunDetail>),
    get("/compare", "What changed between two runs, as `toolmark compare --format json` has it", &["a", "b"], of::<Value>),
    get("/keys", "Keys that telemetry comes under, with the tools they allow", &[], of::<Items<KeyRow>>),
    get("/guard", "What the guard decided", &["since", "host", "decision", "limit", "cursor"], of::<ListPage<GuardRow>>),
    get("/guard/status", "Where the guard is installed", &[], of::<GuardStatus>),
    post("/guard/replay", "What a policy would have stopped", of::<ReplayBody>, of::<Replayed>),
];

pub(super) async fn document(State(_): State<Arc<App>>) -> JsonResponse<Value> {
    JsonResponse(build())
}

fn build() -> Value {
    let mut generator = SchemaSettings::openapi3().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for address in ADDRESSES {
        let in_path = address.path.split('{').skip(1).filter_map(|part| part.split('}').next());
        let parameter = |name: &str, place: &str| json!({"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}});
        let mut parameters: Vec<Value> = in_path.map(|name| parameter(name, "path")).collect();
        parameters.extend(address.query.iter().map(|name| parameter(name, "query")));
        let answer = (address.answer)(&mut generator);
        let kind = if address.path == "/events" { "text/event-stream" } else { "application/json" };
        let mut operation = json!({
            "summary": address.summary,
            "parameters": parameters,
            "responses": {
                "200": {"description": "the answer", "content": {kind: {"schema": answer}}},
                "default": {"description": "an error", "content": {"application/json": {"schema":
                    {"$ref": "#/components/schemas/Error"}}}},
            },
        });
        if let Some(body) = address.body {
            let schema = body(&mut generator);
            operation["requestBody"] =
                json!({"required": true, "content": {"application/json": {"schema": schema}}});
            let mark = json!({"name": "X-Toolmark", "in": "header", "required": true,
                "schema": {"type": "string", "enum": ["1"]}});
            if let Some(Value::Array(list)) = operation.get_mut("parameters") {
                list.push(mark);
            }
        }
        let path = format!("/api/v1{}", address.path);
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[address.method] = operation;
    }
    let mut schemas = generator.take_definitions(true);
    let error = json!({"type": "object", "required": ["error"], "properties": {"error": {
        "type": "object", "required": ["code", "message", "hint"], "properties": {
            "code": {"type": "string"}, "message": {"type": "string"},
            "hint": {"type": "string", "nullable": true}}}}});
    schemas.insert("Error".to_owned(), error);
    json!({
        "openapi": "3.0.3",
        "info": {"title": "toolmark serve", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_reference_leads_somewhere() {
        let document = build();
        let text = document.to_string();
        let references =
            text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next());
        let mut count = 0;
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference}");
            count += 1;
        }
        assert!(count > 20, "{count}");
    }

    /// Parses the interfaces of a TypeScript file: name, base interface, and properties, each with
    /// whether it is optional.
    fn interfaces(text: &str) -> BTreeMap<String, (Option<String>, BTreeMap<String, bool>)> {
        let mut all = BTreeMap::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(head) = line.strip_prefix("export interface ") else { continue };
            let head = head.trim_end_matches('{').trim();
            let (name, base) = match head.split_once(" extends ") {
                Some((name, base)) => (name, Some(base.to_owned())),
                None => (head, None),
            };
            let mut properties = BTreeMap::new();
            let mut depth = 0_i32;
            for line in lines.by_ref() {
                if line == "}" {
                    break;
                }
                // Objects in one line are not looked into.
                let is_top = depth == 0;
                depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
                let Some((key, _)) = line.trim().split_once(':').filter(|_| is_top) else {
                    continue;
                };
                if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_?".contains(&byte)) {
                    let name = key.trim_end_matches('?');
                    properties.insert(name.to_owned(), name != key);
                }
            }
            all.insert(name.to_owned(), (base, properties));
        }
        all
    }

    /// The types of the page have the same properties as the responses.
    #[test]
    fn the_types_of_the_page_agree() {
        let text = include_str!("../../../../web/src/lib/api/types.ts");
        let page = interfaces(text);
        let document = build();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        // What the page calls otherwise.
        let names = [
            ("WatchedFolder", "Watched"),
            ("GuardDecision", "GuardRow"),
            ("SearchHit", "Hit"),
            ("Occurrence", "OccurrenceRow"),
            ("StateChange", "DecisionBody"),
            ("Promotion", "Promoted"),
            ("SessionDiff", "Diff"),
            ("TimelinePage", "Timeline"),
            ("GuardReplay", "Replayed"),
        ];
        let name_of = |page: &str| {
            let other = names.iter().find(|(name, _)| *name == page).map(|(_, other)| *other);
            other.unwrap_or(page).to_owned()
        };
        let mut compared = Vec::new();
        for (name, (base, own)) in &page {
            let Some(schema) = schemas.get(&name_of(name)) else { continue };
            let mut wanted = own.clone();
            if let Some((_, inherited)) = base.as_ref().and_then(|base| page.get(base)) {
                wanted.extend(inherited.clone());
            }
            let has: Vec<&String> = match schema["properties"].as_object() {
                Some(properties) => properties.keys().collect(),
                None => continue,
            };
            for (property, is_optional) in &wanted {
                let is_there = has.contains(&property);
                assert!(is_there || *is_optional, "{name}.{property} is never answered");
            }
            compared.push(name.as_str());
        }
        let must = [
            "Info",
            "SessionRow",
            "SessionDetail",
            "CallTick",
            "SubAgent",
            "CallDetail",
            "Finding",
            "Evaluation",
            "ToolRow",
            "RunRow",
            "WatchedFolder",
            "Occurrence",
            "GuardDecision",
            "StateChange",
        ];
        for name in must {
            assert!(compared.contains(&name), "{name} was not compared: {compared:?}");
        }
    }
}
