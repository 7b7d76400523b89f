//! `guard test`: the exit codes, the formats, and rows that are none.

use crate::{stdout, told, toolmark};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

#[test]
fn the_exit_code_is_the_decision() {
    for (command, code) in [("ls", 0), ("rm -rf /", 1), ("cat .env", 3)] {
        let text = told(&mut toolmark(&["guard", "test", command]));
        assert!(text.ends_with(&format!("--- exit {code}\n")), "{command}: {text}");
    }
}

#[test]
fn one_command() {
    let args = ["guard", "test", "cd /srv && rm -rf data || true", "--verbose"];
    assert_snapshot!(told(&mut toolmark(&args)));
}

#[test]
fn the_directory_decides() {
    let home = told(&mut toolmark(&["guard", "test", "rm -rf node_modules", "--cwd", "~"]));
    assert!(home.starts_with("deny") && home.ends_with("--- exit 1\n"), "{home}");
    let tree = stdout(&["guard", "test", "rm -rf node_modules", "--format", "json"]);
    let tree: Value = serde_json::from_str(&tree).unwrap();
    assert_eq!(tree["decision"], "allow");
    assert_eq!(tree["effects"][0]["scope"], "tree-artefact");
}

#[test]
fn rows_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let rows = "{\"command\":\"ls\",\"id\":7}\n\nnot json\n{\"cwd\":\"/x\"}\n{\"command\":\"rm -rf dist\",\"cwd\":\"~\"}\n";
    fs::write(dir.path().join("rows.jsonl"), rows).unwrap();
    let args = ["guard", "test", "--batch", "rows.jsonl", "--format", "jsonl"];
    assert_snapshot!(told(toolmark(&args).current_dir(dir.path())));
}
