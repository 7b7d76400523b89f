//! Tests of `toolmark formats` and `toolmark completions`.

use crate::stdout;
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn one_format() {
    assert_snapshot!(stdout(&["formats", "claude-code"]));
}

#[test]
fn the_list_and_the_json_agree() {
    let list = stdout(&["formats"]);
    let json: Value = serde_json::from_str(&stdout(&["formats", "--format", "json"])).unwrap();
    let formats = json.as_array().unwrap();
    for format in formats {
        let id = format["id"].as_str().unwrap();
        assert!(list.lines().any(|l| l.split(' ').next() == Some(id)), "{id}");
        for key in ["title", "origin", "looks_for"] {
            assert!(!format[key].as_str().unwrap().is_empty(), "{id} has no {key}");
        }
    }
    assert!(list.lines().all(|l| l.chars().count() <= 80), "{list}");
}

#[test]
fn version() {
    assert_eq!(stdout(&["--version"]), format!("toolmark {}\n", env!("CARGO_PKG_VERSION")));
}
