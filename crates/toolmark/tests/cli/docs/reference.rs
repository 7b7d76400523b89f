//! The generated reference pages.

use super::keep;
use crate::{root, stdout, toolmark};
use serde_json::Value;

pub(super) const NOTE: &str =
    "<!-- Written by `UPDATE_DOCS=1 cargo test -p toolmark --test cli docs`. -->\n";

/// Returns the output of a command with `--format json`.
pub(super) fn json(args: &[&str]) -> Vec<Value> {
    let text = stdout(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// The commands, in the order of the help.
pub(crate) fn commands() -> Vec<String> {
    let help = stdout(&["--help"]);
    let list = help.split_once("\nCommands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let name = |line: &str| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned);
    list.lines().filter_map(name).filter(|n| !n.is_empty()).collect()
}

#[test]
fn the_command_line() {
    let mut text = format!(
        "# Command line\n\n{NOTE}\nThe help of every command. Pages of their own explain what they \
         do.\n"
    );
    let all = commands();
    assert!(all.iter().any(|name| name == "stats"), "{all:?}");
    for name in std::iter::once(None).chain(all.iter().map(Some)) {
        let title = name.map_or("toolmark".to_owned(), |name| format!("toolmark {name}"));
        text.push_str(&format!("\n## {title}\n\n"));
        let page = name.map(|name| format!("commands/{name}.md"));
        if let Some(page) = page.filter(|page| root().join("docs").join(page).exists()) {
            text.push_str(&format!("See [{title}]({page}).\n\n"));
        }
        let args: Vec<&str> = name.map(String::as_str).into_iter().chain(["--help"]).collect();
        let help = toolmark(&args).env("COLUMNS", "100").output().unwrap().stdout;
        let help = String::from_utf8(help).unwrap();
        text.push_str(&format!("```text\n{}\n```\n", help.trim_end()));
    }
    keep("docs/command-line.md", &text);
}

pub(super) fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

pub(super) fn words<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    value[key].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

/// Escapes Markdown characters: stars, underscores and angle brackets of paths and field names.
/// Text between backticks is unchanged.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for c in text.chars() {
        in_code ^= c == '`';
        if !in_code && matches!(c, '*' | '_' | '<' | '>' | '[' | ']' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escapes text inside a table.
pub(super) fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}
