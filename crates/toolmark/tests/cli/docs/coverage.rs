//! Tests that every name occurs in the pages, and that no link is broken.

use super::reference::{commands, json, word, words};
use super::{page, pages};
use crate::{DISK_FULL, root, stdout, toolmark};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Fails for names that a page does not contain as `code`.
fn explains(name: &str, wanted: &[&str]) {
    let text = page(name);
    let absent: Vec<_> = wanted.iter().filter(|w| !text.contains(&format!("`{w}`"))).collect();
    assert!(absent.is_empty(), "{name} does not explain {absent:?}");
}

#[test]
fn the_readme_names_every_format_once() {
    let text = page("README.md");
    let table = text.split_once("\n## What it reads\n").unwrap().1.split_once("\n## ").unwrap().0;
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for id in rows.flat_map(|row| row.split('`').skip(1).step_by(2)) {
        *named.entry(id).or_default() += 1;
    }
    let formats = json(&["formats"]);
    let wanted: BTreeMap<&str, usize> = formats.iter().map(|f| (word(f, "id"), 1)).collect();
    assert_eq!(named, wanted);
    assert!(text.contains(&format!("{} formats", wanted.len())), "how many it is");
}

#[test]
fn every_command_is_in_the_readme() {
    let text = page("README.md");
    let page_of = |name: &str| format!("docs/commands/{name}.md");
    for name in commands() {
        assert!(text.contains(&format!("`toolmark {name}`")), "{name}");
        let has_page = root().join(page_of(&name)).exists();
        assert!(!has_page || text.contains(&page_of(&name)), "{name} has a page");
    }
}

#[test]
fn every_count_is_explained() {
    let csv = stdout(&["stats", DISK_FULL, "--format", "csv"]);
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    explains("docs/commands/stats.md", &columns);

    let mut wide = toolmark(&["stats", DISK_FULL]);
    let table = String::from_utf8(wide.env_remove("COLUMNS").output().unwrap().stdout).unwrap();
    let headings: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    explains("docs/commands/stats.md", &headings);

    let row: Value =
        serde_json::from_str(&stdout(&["stats", DISK_FULL, "--format", "jsonl"])).unwrap();
    let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    explains("docs/commands/stats.md", &keys);
    let tokens: Vec<&str> = row["tokens"].as_object().unwrap().keys().map(String::as_str).collect();
    explains("docs/commands/stats.md", &tokens);
}

#[test]
fn every_key_of_the_lists_is_explained() {
    for view in [&["formats"][..], &["formats", "--targets"]] {
        let all = json(view);
        let keys: Vec<&str> = all[0].as_object().unwrap().keys().map(String::as_str).collect();
        explains("docs/commands/formats.md", &keys);
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("two.jsonl");
    let one = stdout(&["show", DISK_FULL, "--format", "json"]);
    std::fs::write(&file, one.repeat(2)).unwrap();
    let runs = json(&["show", file.to_str().unwrap()]);
    let keys: Vec<&str> = runs[0].as_object().unwrap().keys().map(String::as_str).collect();
    explains("docs/commands/show.md", &keys);
}

#[test]
fn every_word_of_the_model_is_explained() {
    let schema = root().join("schemas/toolmark.trajectory.v1.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let gaps = &schema["properties"]["fidelity_gaps"]["items"];
    explains("docs/trajectory.md", &words(gaps, "enum"));
    let call = &schema["$defs"]["call"]["properties"];
    for key in ["status", "level", "actor"] {
        explains("docs/trajectory.md", &words(&call[key], "enum"));
    }
}

#[test]
fn the_line_of_our_own_json_is_one() {
    let text = page("docs/formats/toolmark.md");
    let block = text.split_once("```json\n").unwrap().1.split_once("\n```").unwrap().0;
    let line: String = block.lines().map(str::trim_start).collect();
    let output = toolmark(&["convert", "-", "--to", "toolmark"]).write_stdin(line.clone()).output();
    let again = String::from_utf8(output.unwrap().stdout).unwrap();
    assert_eq!(again.trim_end(), line, "reading and writing it changes nothing");
}

/// Base URL of files that are not in the book.
const REPOSITORY: &str = "https://github.com/toolmark/toolmark/blob/main/";

#[test]
fn no_link_is_dead() {
    for name in pages() {
        let dir = Path::new(&name).parent().unwrap();
        for link in links(&page(&name)) {
            // A chapter without a page.
            if link.is_empty() && name == "docs/SUMMARY.md" {
                continue;
            }
            let (target, part) = link.split_once('#').unwrap_or((&link, ""));
            let path = match target.strip_prefix(REPOSITORY) {
                Some(path) => root().join(path),
                None if target.contains("://") || target.starts_with("mailto:") => continue,
                None if target.is_empty() => root().join(&name),
                None => root().join(dir).join(target),
            };
            assert!(path.exists(), "{name} links to {link}");
            if !part.is_empty() {
                let there = std::fs::read_to_string(&path).unwrap();
                assert!(anchors(&there).iter().any(|anchor| anchor == part), "{name}: {link}");
            }
        }
    }
}

/// The site is built from `docs/` alone.
#[test]
fn no_link_of_the_book_leaves_it() {
    let is_above = |name: &str, link: &str| {
        let up = link.split('/').take_while(|part| *part == "..").count();
        up >= name.split('/').count() - 1
    };
    for name in pages().iter().filter(|name| name.starts_with("docs/")) {
        for link in links(&page(name)) {
            assert!(!is_above(name, &link), "{name} links to {link}: write {REPOSITORY}…");
        }
    }
}

/// The lines of a page outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Link targets of a page. Inline code is ignored.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text).collect::<Vec<_>>().join("\n");
    let words: String = prose.split('`').step_by(2).collect();
    let links = words.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(|link| link.split_whitespace().next().unwrap_or_default().to_owned()).collect()
}

/// The anchors of the headings of a page.
fn anchors(text: &str) -> Vec<String> {
    prose(text).filter_map(anchor).collect()
}

#[test]
fn every_command_format_rule_and_grader_has_a_page() {
    let pages = pages();
    let has = |name: &str| pages.iter().any(|page| page == name);
    for command in commands() {
        let page = match command.as_str() {
            "run" | "runs" => "docs/running.md".to_owned(),
            "rules" | "graders" => format!("docs/{command}.md"),
            _ => format!("docs/commands/{command}.md"),
        };
        assert!(has(&page), "{page} is missing");
    }
    for rule in json(&["rules"]) {
        assert!(has(&format!("docs/rules/{}.md", word(&rule, "code"))), "{rule}");
    }
    for grader in json(&["graders"]) {
        let name = word(&grader, "type").replace(':', "-");
        assert!(has(&format!("docs/graders/{name}.md")), "{name}");
    }
    for format in json(&["formats"]) {
        assert!(has(&format!("docs/formats/{}.md", word(&format, "id"))), "{format}");
    }
}

#[test]
fn every_page_is_in_the_book_once() {
    let summary = page("docs/SUMMARY.md");
    let mut named: Vec<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    named.retain(|name| !name.is_empty());
    named.sort_unstable();
    let pages = pages();
    let mut there: Vec<&str> = pages.iter().filter_map(|name| name.strip_prefix("docs/")).collect();
    there.retain(|name| *name != "SUMMARY.md");
    there.sort_unstable();
    let lacks = |all: &[&str], name: &&str| !all.contains(name);
    let missing: Vec<_> = there.iter().filter(|name| lacks(&named, name)).collect();
    let gone: Vec<_> = named.iter().filter(|name| lacks(&there, name)).collect();
    assert!(missing.is_empty() && gone.is_empty(), "missing: {missing:?}; gone: {gone:?}");
    assert_eq!(named, there, "a page is named twice");
}

/// Returns the anchor of a heading.
fn anchor(line: &str) -> Option<String> {
    let title = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))?;
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}
