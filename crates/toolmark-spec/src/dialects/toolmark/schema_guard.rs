//! The JSON Schema of the `guard:` part, which `toolmark guard` reads.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use toolmark_grade::call_match::config::Name;
use toolmark_grade::call_match::{ArgsMatch, Conditions};

const DECISIONS: &[&str] = &["allow", "ask", "deny"];

const KINDS: &[&str] = &[
    "delete",
    "overwrite",
    "discard-vcs",
    "rewrite-history",
    "remote-state-change",
    "privilege",
    "execute-untrusted",
    "read-secret",
    "send-out",
    "persist",
    "stop-service",
    "spend",
];

const SCOPES: &[&str] = &[
    "tree-artefact",
    "tree-tracked",
    "tree-untracked",
    "vcs-metadata",
    "temp",
    "home",
    "outside",
    "system",
    "device",
    "remote",
    "unknown",
];

const REVERSIBILITIES: &[&str] = &["r0", "r1", "r2", "r3", "r4", "r5"];

const CERTAINTIES: &[&str] = &["proven", "likely", "unresolved"];

/// The schema of the part.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Value {
    let decision = json!({"enum": DECISIONS});
    let properties = [
        (
            "preset",
            "How much is asked of a call.",
            json!({"enum": ["observe", "standard", "strict"], "default": "standard"}),
        ),
        ("on_error", "What to decide when the guard itself fails.", decision.clone()),
        (
            "approve",
            "Tell the host to go ahead without asking where nothing can be lost.",
            json!({"type": "boolean", "default": false}),
        ),
        (
            "timeout_ms",
            "How long the guard may think.",
            json!({"type": "integer", "minimum": 1, "maximum": 60_000}),
        ),
        ("tools", "Which tools may be called.", tools()),
        (
            "agents",
            "Lists of tools for single agents or hosts, by name or glob.",
            json!({"type": "object", "additionalProperties": closed([("tools", tools())], &[])}),
        ),
        ("rules", "Rules of your own.", json!({"type": "array", "items": rule(generator)})),
        (
            "effects",
            "Decisions about effects; the first entry that fits decides.",
            json!({"type": "array", "items": effect(&decision)}),
        ),
        ("writable", "Directories that may be written to besides the work tree.", texts()),
        ("protected", "Patterns of paths that may not be changed.", texts()),
        ("protected_reads", "Patterns of paths that may not be read.", texts()),
        ("delete_roots", "Directories in which anything may be deleted.", texts()),
        ("temp", "Directories for temporary files.", texts()),
        ("wrappers", "Programs that only run the command behind them.", texts()),
        (
            "import",
            "Rules of other programs that count too.",
            json!({"type": "array", "items": {"enum": ["claude-code"]}}),
        ),
        ("mcp", "What may be asked of servers of tools.", mcp(&decision)),
        (
            "log",
            "Where decisions are written down.",
            closed(
                [
                    ("path", json!({"type": "string"})),
                    ("max_size", json!({"type": "string", "description": "Such as 10MB."})),
                ],
                &[],
            ),
        ),
    ];
    let described = properties.map(|(key, words, mut schema)| {
        schema["description"] = json!(words);
        (key, schema)
    });
    let mut schema = closed(described, &[]);
    schema["description"] = json!("What `toolmark guard` lets through.");
    schema["minProperties"] = json!(1);
    schema
}

/// An object with these keys and no others.
fn closed<const N: usize>(keys: [(&str, Value); N], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        keys.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    let mut schema =
        json!({"type": "object", "additionalProperties": false, "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn tools() -> Value {
    closed([("allow", texts()), ("deny", texts())], &[])
}

/// One of these words, or a list of them.
fn words(all: &[&str]) -> Value {
    json!({"anyOf": [{"enum": all}, {"type": "array", "items": {"enum": all}, "minItems": 1}]})
}

fn effect(decision: &Value) -> Value {
    closed(
        [
            ("kind", words(KINDS)),
            ("scope", words(SCOPES)),
            ("reversibility", words(REVERSIBILITIES)),
            ("certainty", words(CERTAINTIES)),
            ("decision", decision.clone()),
        ],
        &["decision"],
    )
}

fn mcp(decision: &Value) -> Value {
    let rate = json!({"type": "string", "pattern": "^ *[1-9][0-9]* */ *[a-z]+ *$"});
    closed(
        [
            ("rate", rate.clone()),
            ("tools", json!({"type": "object", "additionalProperties": rate})),
            ("changed", decision.clone()),
        ],
        &[],
    )
}

fn rule(generator: &mut SchemaGenerator) -> Value {
    let conditions = generator.subschema_for::<Conditions>().to_value();
    let operators = json!({"type": "object", "minProperties": 1});
    let call = closed(
        [("tool", json!({"type": "string"})), ("args", json!({"type": "object"}))],
        &["tool"],
    );
    let example = json!({"anyOf": [{"type": "string"}, call]});
    let examples = |least: usize| json!({"type": "array", "items": example, "minItems": least});
    let mut rule = closed(
        [
            ("name", json!({"type": "string", "pattern": "^\\S+$"})),
            ("tool", generator.subschema_for::<Name>().to_value()),
            (
                "command",
                json!({
                    "description": "The words of a command, * for any text; or conditions on it.",
                    "anyOf": [{"type": "string"}, operators]
                }),
            ),
            (
                "path",
                json!({
                    "description": "Patterns of paths it changes or reads.",
                    "anyOf": [{"type": "string"}, texts()]
                }),
            ),
            ("args", json!({"type": "object"})),
            ("args_match", generator.subschema_for::<ArgsMatch>().to_value()),
            ("ignore", texts()),
            ("where", conditions),
            ("decision", json!({"enum": DECISIONS})),
            ("reason", json!({"type": "string"})),
            (
                "suggest",
                json!({
                    "anyOf": [
                        {"type": "string"},
                        closed([("command", json!({"type": "string"}))], &["command"])
                    ]
                }),
            ),
            ("examples", closed([("match", examples(1)), ("not_match", examples(0))], &["match"])),
        ],
        &["name", "decision", "examples"],
    );
    rule["anyOf"] =
        json!([{"required": ["tool"]}, {"required": ["command"]}, {"required": ["path"]}]);
    rule
}
