//! The reading of specs on any bytes: YAML, JSON, lines of JSON, a typed
//! reading, and the showing of what is wrong. What is read can be written as
//! JSON and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use toolmark_config::{
    Node, SourceText, Spanned, RenderStyle, json, parse, problems_json, read, render, yaml,
};

#[derive(serde::Deserialize)]
#[allow(dead_code)]
struct Config {
    name: String,
    max: Option<u32>,
    #[serde(default)]
    list: Vec<Spanned<Config>>,
    #[serde(default)]
    map: BTreeMap<String, f64>,
    mode: Option<Mode>,
    any: Option<Node>,
}

#[derive(serde::Deserialize)]
#[allow(dead_code)]
enum Mode {
    One,
    Two(i64),
    Three { a: bool },
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = SourceText::new("fuzz.yaml", text);
    let mut parsed = parse(&source);
    let refused = parsed.problems.iter().any(|problem| problem.is_error());
    assert!(parsed.node.is_some() || refused);
    if let Some(node) = &parsed.node {
        in_bounds(node, source.text().len());
        read::<Config>(node, &mut parsed.problems);
        read::<Vec<Config>>(node, &mut parsed.problems);
        // JSON has no infinities, and floats are written in their shortest form.
        let written = node.to_json();
        let again = parse(&SourceText::new("fuzz.json", written.to_string()));
        assert_eq!(again.node.map(|node| node.to_json()), Some(written));
        // What is JSON means the same as YAML; escapes of half characters aside.
        let mut problems = Vec::new();
        if let (Ok(Some(as_json)), Some(as_yaml)) =
            (json::parse(&source, &mut Vec::new()), yaml::parse(&source, &mut problems))
            && problems.is_empty()
            && !text.contains("\\u")
        {
            assert_eq!(as_json.to_json(), as_yaml.to_json());
        }
    }
    json::lines(&source, &mut parsed.problems, |_| {});
    parsed.problems.truncate(20);
    for colour in [false, true] {
        let _ = render(&source, &parsed.problems, RenderStyle { colour, width: 80 });
    }
    let _ = problems_json(&source, &parsed.problems);
});

fn in_bounds(node: &Node, length: usize) {
    assert!(node.span.start <= node.span.end && node.span.end as usize <= length);
    node.items().for_each(|item| in_bounds(item, length));
    for entry in node.entries() {
        assert!(entry.key_span.start <= entry.key_span.end);
        assert!(entry.key_span.end as usize <= length);
        in_bounds(&entry.value, length);
    }
}
