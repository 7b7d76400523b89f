//! The JSON of results has a version, and a schema for it that reports of earlier days
//! still fit.

use crate::{root, stdout};
use serde_json::Value;
use std::fs;

/// The outputs that have a schema, and how the samples make one of each.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("stats", &["stats", "samples", "--format", "json"]),
    ("check", &["check", "samples", "--format", "json", "--exit-zero", "--gate"]),
    ("grade", &["grade", "samples/toolmark.yaml", "samples", "--format", "json", "--exit-zero"]),
    ("feed", &["feed", "samples", "--format", "json", "--occurrences"]),
    ("compare", &["compare", RECORDED_GRADE, RECORDED_GRADE, "--format", "json"]),
];

const RECORDED_GRADE: &str = "crates/toolmark/tests/recorded/v1/grade.json";

fn read(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn validator(name: &str) -> jsonschema::Validator {
    let schema = read(&format!("schemas/toolmark.{name}.v1.schema.json"));
    jsonschema::draft202012::new(&schema).unwrap()
}

fn assert_valid(name: &str, value: &Value, what: &str) {
    let errors: Vec<String> = validator(name)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what} is not as its schema says:\n{}", errors.join("\n"));
}

#[test]
fn what_is_written_today_fits() {
    for (name, arguments) in OUTPUTS {
        let value: Value = serde_json::from_str(&stdout(arguments)).unwrap();
        assert_valid(name, &value, &arguments.join(" "));
    }
}

#[test]
fn what_was_recorded_fits_for_as_long_as_the_version_is_1() {
    for (name, _) in OUTPUTS {
        let path = format!("crates/toolmark/tests/recorded/v1/{name}.json");
        assert_valid(name, &read(&path), &path);
    }
}

#[test]
fn a_schema_refuses_what_lacks_a_member_or_has_another_version() {
    for (name, _) in OUTPUTS {
        let whole = read(&format!("crates/toolmark/tests/recorded/v1/{name}.json"));
        let validator = validator(name);
        let mut object = whole.pointer("/0").unwrap_or(&whole).clone();
        let fits = |object: &Value| match whole.is_array() {
            true => validator.is_valid(&Value::from(vec![object.clone()])),
            false => validator.is_valid(object),
        };
        assert!(fits(&object), "{name}");
        object["schema_version"] = 2.into();
        assert!(!fits(&object), "{name} takes another version");
        object.as_object_mut().unwrap().remove("schema_version");
        assert!(!fits(&object), "{name} takes none");
    }
}
