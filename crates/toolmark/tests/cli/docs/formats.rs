//! The pages of formats: one page each, with a small example file and its counts.

use super::reference::{NOTE, cell, json, plain, word, words};
use super::{keep, keep_all};
use crate::{root, toolmark};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Directory of small files, one of each format.
const EXAMPLES: &str = "crates/toolmark-trace/tests/fixtures/readers";
/// Maximum number of printed lines of an example.
const MAX_LINES: usize = 6;
const MAX_COLUMNS: usize = 160;

#[test]
fn the_formats() {
    let formats = json(&["formats"]);
    let mut text = format!(
        "# Formats\n\n{NOTE}\n\
         toolmark reads {} formats. It detects them by content; file names do not matter.\n\
         [Inputs](input.md) says what may be around them. Each has a page with an example;\n\
         `toolmark formats ID` and `toolmark help ID` print its metadata.\n\n\
         | format | what it is | versions |\n|---|---|---|\n",
        formats.len()
    );
    let mut pages = BTreeMap::new();
    for format in &formats {
        let id = word(format, "id");
        let (title, versions) = (cell(word(format, "title")), cell(word(format, "versions")));
        text.push_str(&format!("| [`{id}`](formats/{id}.md) | {title} | {versions} |\n"));
        pages.insert(format!("{id}.md"), format_page(format));
    }
    // Its own format has a page that is written by hand.
    let own = "toolmark.md";
    pages.insert(own.to_owned(), super::page(&format!("docs/formats/{own}")));
    text.push_str(
        "\n## Targets\n\n\
         `toolmark convert --to TARGET` writes these. What is lost is counted and printed.\n\n\
         | target | what it is | file ending | what is lost |\n|---|---|---|---|\n",
    );
    for target in json(&["formats", "--targets"]) {
        let lost = words(&target, "lost").join(", ");
        text.push_str(&format!(
            "| `{}` | {} | `.{}` | {} |\n",
            word(&target, "id"),
            cell(word(&target, "title")),
            word(&target, "extension"),
            if lost.is_empty() { "– (nothing)" } else { &lost }
        ));
    }
    keep("docs/formats.md", &text);
    keep_all("docs/formats", &pages);
}

/// Returns the page of one format.
fn format_page(format: &Value) -> String {
    let id = word(format, "id");
    let never = words(format, "never_records");
    let never: Vec<String> = never.iter().map(|fact| format!("`{fact}`")).collect();
    format!(
        "# {id}\n\n{NOTE}\n{}.\n\n\
         | | |\n|---|---|\n\
         | comes from | {} |\n| versions | {} |\n| detected by | {} |\n\
         | [never records](../trajectory.md#fidelity) | {} |\n{}\n\
         [All formats](../formats.md) · [Inputs](../input.md)\n",
        plain(word(format, "title")),
        cell(word(format, "origin")),
        cell(word(format, "versions")),
        cell(word(format, "looks_for")),
        if never.is_empty() { "–".to_owned() } else { never.join(", ") },
        example(id),
    )
}

/// Returns a small file of a format, and what is read from it.
fn example(id: &str) -> String {
    let files = fs::read_dir(root().join(EXAMPLES)).unwrap();
    let mut names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_of = |name: &String| name.rsplit_once('.').is_some_and(|(stem, _)| stem == id);
    let name = names.find(is_of).unwrap_or_else(|| panic!("{EXAMPLES} has no {id}"));
    let path = format!("{EXAMPLES}/{name}");
    let bytes = fs::read(root().join(&path)).unwrap();
    let mut text = String::from("\n## Example\n");
    // What is not text is not shown.
    if let Ok(file) = String::from_utf8(bytes) {
        let mut lines: Vec<String> = file.lines().take(MAX_LINES).map(cut).collect();
        if file.lines().count() > MAX_LINES {
            lines.push("…".to_owned());
        }
        text.push_str(&format!("\nThe first lines of a test file, which contains unusual records on purpose:\n\n````text\n{}\n````\n", lines.join("\n")));
    }
    // Some have broken records too, which are not part of a run.
    let output = toolmark(&["show", &path, "--run", "1", "--calls"]).output().unwrap();
    let calls = String::from_utf8(output.stdout).unwrap();
    text.push_str(&format!(
        "\nThe calls that `toolmark show --calls` lists for it:\n\n```text\n{}\n```\n",
        calls.trim_end()
    ));
    text
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_COLUMNS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
