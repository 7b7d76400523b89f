//! Comparison with another parser: every command that it finds in a text must be found by this
//! crate too. A command that is not found is not analyzed.
//!
//! Texts are written here, nested by the test, and taken from `../shared`.

use std::collections::BTreeSet;
use toolmark_testing::find_shared;
use tree_sitter::{Node, Parser};

/// Returns the names of the commands found by the other parser; `None` if it is uncertain.
fn theirs(parser: &mut Parser, text: &str) -> Option<BTreeSet<String>> {
    let tree = parser.parse(text, None)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut names = BTreeSet::new();
    let mut waiting = vec![tree.root_node()];
    while let Some(node) = waiting.pop() {
        if node.kind() == "command_name"
            && let Some(name) = plain(node, text)
        {
            names.insert(name);
        }
        waiting.extend((0..node.child_count()).filter_map(|at| node.child(at as _)));
    }
    Some(names)
}

/// Returns a name that is one plain word.
fn plain(node: Node<'_>, text: &str) -> Option<String> {
    let name = text.get(node.byte_range())?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_owned())
}

fn ours(text: &str) -> BTreeSet<String> {
    let script = toolmark_shell::parse(text);
    let visits = toolmark_shell::commands(&script);
    visits.iter().filter_map(|visit| visit.command.words.first()?.literal()).collect()
}

/// Whether the other parser is known to misread a text silently.
fn is_misread(text: &str) -> bool {
    let words = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|w| w == word);
    text.matches('`').count() > 2 || text.contains('\r') || words("time") || words("coproc")
}

const WRITTEN: &[&str] = &[
    "a && b || c; d & e",
    "a | b |& c",
    "if a; then b; elif c; then d; else e; fi",
    "while a; do b; done < <(c)",
    "until a; do b; done",
    "for x in $(a) b; do c \"$x\"; done",
    "case $(a) in x) b ;; y|z) c ;; *) d ;; esac",
    "f() { a; }; f",
    "function f { a; }",
    "( a; b ) > out; { c; }",
    "a \"$(b \"$(c)\")\" '$(no)'",
    "a `b`",
    "X=$(a) b",
    "a <<EOF\n$(b)\nEOF\nc",
    "a <<'EOF'\n$(no)\nEOF\nc",
    "a <<< \"$(b)\"",
    "a <(b) >(c)",
    "[[ -n $(a) ]] && b",
    "! a && b",
    "a 2>&1 >/dev/null | b",
    "a \\\n  b | c",
    "a; # no\nb",
    "a ${x:-$(b)}",
    "a \"${x:-$(b)}\"",
    "a & wait",
    "echo $(( 1 + $(a) ))",
    "a -- -x; b='1 2' c",
    "if ! a; then b; fi",
    "for ((i=0; i<3; i++)); do a; done",
    "a && { b || c; }",
    "trap 'no' EXIT; a",
];

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = WRITTEN.iter().map(|text| (*text).to_owned()).collect();
    // Each inside of each.
    let holes =
        ["x $(@)", "if @; then y; fi", "( @ ) | z", "{ @; } && w", "for i in 1; do @; done"];
    for text in WRITTEN.iter().filter(|text| !text.contains(['\n', '#', '&'])) {
        for outer in holes {
            texts.push(outer.replace('@', text));
        }
    }
    texts
}

fn compare(parser: &mut Parser, texts: &[String]) -> usize {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for text in texts.iter().filter(|text| !is_misread(text)) {
        let Some(theirs) = theirs(parser, text) else { continue };
        compared += 1;
        let missed: Vec<String> = theirs.difference(&ours(text)).cloned().collect();
        if !missed.is_empty() {
            wrong.push(format!("{text:?}: {}", missed.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    compared
}

#[allow(clippy::unwrap_used, reason = "a helper of tests")]
fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    parser
}

#[test]
fn no_command_is_overlooked() {
    let compared = compare(&mut parser(), &texts());
    assert!(compared > 100, "only {compared} texts were compared");
}

#[test]
#[allow(clippy::print_stderr, reason = "whether it ran is worth knowing")]
fn no_command_of_the_labelled_ones_is_overlooked() {
    let Some(file) = find_shared("safety/commands_dev.jsonl") else { return };
    let rows = std::fs::read_to_string(file).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let texts: Vec<String> =
        rows.filter_map(|row| Some(row["command"].as_str()?.to_owned())).collect();
    let compared = compare(&mut parser(), &texts);
    eprintln!("{compared} of {} labelled commands compared", texts.len());
    assert!(compared * 2 > texts.len());
}
