//! Tests of `toolmark judge`.

use crate::{run, stdout};
use std::fs;

#[test]
fn labels_that_cannot_be_used_are_told_before_anything_is_paid_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("labels.jsonl");
    let path = file.to_str().unwrap();
    let good = "{\"id\":\"a\",\"label\":\"pass\",\"inputs\":{\"answer\":\"x\"}}\n";
    let rubric = dir.path().join("tidy.md");
    fs::write(&rubric, "Is it tidy?").unwrap();
    let rubric = rubric.to_str().unwrap();
    for (labels, rubric, words, exit) in [
        ("", rubric, &["labels.jsonl: it is empty"][..], 3),
        ("\n", rubric, &["has no rows"], 3),
        ("nope\n", rubric, &["labels.jsonl:1:2: not JSON"], 3),
        (
            "{\"id\":\"a\"}\n",
            rubric,
            &["no row that can be used", "labels.jsonl:1: the row has no label"],
            3,
        ),
        (good, "tool-selektion", &["did you mean tool-selection?", "error-recovery"], 2),
        (good, "tool-selection", &["no row that can be used", "has no input answer"], 3),
    ] {
        fs::write(&file, labels).unwrap();
        let text = run(&["judge", "calibrate", path, "--rubric", rubric]);
        assert!(words.iter().all(|word| text.contains(word)), "{labels}: {text}");
        assert!(text.ends_with(&format!("--- exit {exit}\n")), "{text}");
    }
    fs::write(&file, good).unwrap();
    let text = run(&["judge", "calibrate", path]);
    assert!(text.contains("labels.jsonl:1: the row has no rubric"), "{text}");
    assert!(text.contains("--rubric") && text.ends_with("--- exit 2\n"), "{text}");
    let text = run(&["judge", "calibrate", "/nonexistent/l.jsonl", "--rubric", rubric]);
    assert!(text.ends_with("--- exit 3\n"), "{text}");
}

#[test]
fn mistakes_of_a_rubric_are_shown_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let (labels, rubric) = (dir.path().join("l.jsonl"), dir.path().join("r.yaml"));
    fs::write(&labels, "").unwrap();
    fs::write(&rubric, "criteria: [tidy?]\ntreshold: 0.5\n").unwrap();
    let (labels, rubric) = (labels.to_str().unwrap(), rubric.to_str().unwrap());
    let text = run(&["judge", "calibrate", labels, "--rubric", rubric]);
    assert!(text.contains("r.yaml:2:1") && text.contains("treshold"), "{text}");
    assert!(text.ends_with("--- exit 2\n"), "{text}");
}

#[test]
fn help_has_examples() {
    for args in [&["judge", "-h"][..], &["judge", "calibrate", "-h"]] {
        let help = stdout(args);
        assert!(help.contains("Examples:\n  toolmark judge calibrate "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
