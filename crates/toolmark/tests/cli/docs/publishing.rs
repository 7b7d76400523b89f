//! Tests of published files: the READMEs of the crates match their root documentation, and
//! CONTRIBUTING.md has the publication order.

use super::{keep, page};
use crate::metadata;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The packages that are published.
fn published() -> Vec<Value> {
    let packages = metadata()["packages"].as_array().unwrap().clone();
    let is_private = |package: &Value| package["publish"].as_array().is_some_and(Vec::is_empty);
    packages.into_iter().filter(|package| !is_private(package)).collect()
}

#[test]
fn the_order_of_publication() {
    let mut left: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in published() {
        let uses = package["dependencies"].as_array().unwrap().iter();
        let uses = uses.filter(|dependency| dependency["kind"] != "dev");
        let uses = uses.map(|dependency| dependency["name"].as_str().unwrap().to_owned());
        left.insert(package["name"].as_str().unwrap().to_owned(), uses.collect());
    }
    let (mut order, mut number) = (String::new(), 1);
    while !left.is_empty() {
        let waits = |uses: &[String]| uses.iter().any(|name| left.contains_key(name));
        let ready: BTreeSet<_> =
            left.iter().filter(|(_, uses)| !waits(uses)).map(|(name, _)| name.clone()).collect();
        assert!(!ready.is_empty(), "a circle of {:?}", left.keys());
        left.retain(|name, _| !ready.contains(name));
        let names: Vec<_> = ready.iter().map(|name| format!("`{name}`")).collect();
        order.push_str(&format!("{number}. {}\n", names.join(", ")));
        number += 1;
    }
    let text = page("CONTRIBUTING.md");
    let (before, rest) = text.split_once(ORDER).unwrap();
    let after = rest.split_once("\n\n").unwrap().1;
    let after = after.split_once("\n\n").unwrap().1;
    keep("CONTRIBUTING.md", &format!("{before}{ORDER}\n\n{order}\n{after}"));
}

/// Marker above the publication order in CONTRIBUTING.md.
const ORDER: &str = "<!-- order of publication -->";

#[test]
fn every_published_crate_has_a_readme_and_says_what_it_is() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        for key in ["description", "license", "repository", "readme"] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            assert!(!package[key].as_array().unwrap().is_empty(), "{name} has no {key}");
        }
        // The README of the binary is that of the project.
        if name != "toolmark" {
            keep(&format!("crates/{name}/README.md"), &readme(name));
        }
    }
}

/// The minimum Rust version is the same for every crate and in the pages, and no dependency needs a
/// newer one. (Clippy's `incompatible_msrv` checks the workspace code.)
#[test]
fn the_oldest_rust() {
    let ours = metadata()["packages"].as_array().unwrap().clone();
    let oldest = ours[0]["rust_version"].as_str().unwrap().to_owned();
    for package in &ours {
        assert_eq!(package["rust_version"], *oldest, "{}", package["name"]);
    }
    let words = format!("Rust {oldest} is the oldest");
    assert!(page("CONTRIBUTING.md").contains(&words), "CONTRIBUTING.md: {words}");
    let words = format!("The oldest Rust that builds toolmark is {oldest},");
    assert!(page("docs/stability.md").contains(&words), "docs/stability.md: {words}");

    let number = |version: &str| -> Vec<u32> {
        version.split('.').map(|part| part.parse().unwrap()).collect()
    };
    let host = std::process::Command::new("rustc").args(["--print", "host-tuple"]).output();
    let host = String::from_utf8(host.unwrap().stdout).unwrap();
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(["--filter-platform", host.trim()])
        .current_dir(crate::root())
        .output()
        .unwrap();
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = all["packages"].as_array().unwrap();
    assert!(all.len() > 100, "{}", all.len());
    let newer: Vec<String> = all
        .iter()
        .filter_map(|package| Some((package, package["rust_version"].as_str()?)))
        .filter(|(_, needs)| number(needs) > number(&oldest))
        .map(|(package, needs)| format!("{} needs {needs}", package["name"]))
        .collect();
    assert!(newer.is_empty(), "{newer:?}");
}

/// Returns the README of a crate: the text of its root documentation, without links into the code.
fn readme(name: &str) -> String {
    let root = page(&format!("crates/{name}/src/lib.rs"));
    let docs = root.lines().map_while(|line| line.strip_prefix("//!"));
    let mut text = format!("# {name}\n\n");
    let mut in_code = false;
    for line in docs.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        if let Some(kind) = line.strip_prefix("```") {
            in_code = !in_code;
            let opens = in_code && matches!(kind, "" | "no_run");
            text.push_str(if opens { "```rust" } else { line });
        } else if in_code {
            // Lines that rustdoc hides.
            if line == "#" || line.starts_with("# ") {
                continue;
            }
            text.push_str(line);
        } else if line.starts_with("# ") {
            text.push('#');
            text.push_str(line);
        } else {
            text.push_str(&without_links(line));
        }
        text.push('\n');
    }
    text.push_str(
        "\nPart of [toolmark](https://github.com/toolmark/toolmark), which reads what an AI agent did \
         and\nsays, with evidence, whether its tool calls were right.\n\
         [The library](https://github.com/toolmark/toolmark/blob/main/docs/library.md) shows how its \
         crates\nwork together.\n",
    );
    text
}

/// Replaces links into the code with plain text.
fn without_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((word, behind)) = after.split_once("`]") else { break };
        out.push_str(&format!("{before}`{word}`"));
        rest = match behind.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, behind)) => behind,
            None => behind,
        };
    }
    out + rest
}
