//! Parses JSON text into a tree through the structural index of `toolmark-scan`, because
//! generated specs can be large.

use crate::SourceText;
use crate::scalar;
use crate::yaml::{MAX_PROBLEMS, duplicate_key, not_shown, too_deep};
use crate::{CompactString, MAX_DEPTH, Node, NodeEntry, NodeKind, NodeSpan, Problem};
use std::cmp::Ordering;
use std::collections::HashMap;
use toolmark_scan::{ScanError, Scanner, Value};

/// Maps up to this size are searched for duplicate keys without a hash table.
const SMALL_MAP: usize = 12;

/// Parses strict JSON.
///
/// # Errors
///
/// The reason why the text is not strict JSON.
pub fn parse(
    source: &SourceText,
    problems: &mut Vec<Problem>,
) -> Result<Option<Node>, Box<Problem>> {
    let text = source.text();
    let mut scanner = Scanner::new();
    match scanner.parse(text) {
        Ok(doc) => Ok(JsonWalk { base: 0, problems }.read(doc.root())),
        Err(error) => Err(Box::new(not_json(text, 0, error, "not JSON"))),
    }
}

/// Parses a text with one JSON value per line and passes each value to `show`. Empty lines
/// are skipped; lines that are not JSON are reported.
pub fn lines(source: &SourceText, problems: &mut Vec<Problem>, mut show: impl FnMut(Node)) {
    let mut scanner = Scanner::new();
    let mut base = 0;
    let mut bad = 0_usize;
    for (at, line) in source.text().split_inclusive('\n').enumerate() {
        if !line.trim().is_empty() {
            match scanner.parse(line) {
                Ok(doc) => {
                    if let Some(node) = (JsonWalk { base, problems }).read(doc.root()) {
                        show(node);
                    }
                }
                Err(error) => {
                    bad += 1;
                    if bad <= MAX_PROBLEMS {
                        let what = format!("line {} is not JSON", at + 1);
                        problems.push(not_json(line, base, error, &what));
                    }
                }
            }
        }
        base += line.len();
    }
    if bad > MAX_PROBLEMS {
        let message = format!("{} more lines are not JSON", bad - MAX_PROBLEMS);
        problems.push(Problem::error("not-json", message));
    }
}

/// Parses one JSON text that is part of a source, without reporting problems: `None` if
/// there are any. Positions count from the start of `text`.
#[must_use]
pub fn tree(text: &str) -> Option<Node> {
    let mut problems = Vec::new();
    let mut scanner = Scanner::new();
    let doc = scanner.parse(text).ok()?;
    let node = JsonWalk { base: 0, problems: &mut problems }.read(doc.root());
    node.filter(|_| problems.is_empty())
}

/// Returns the problem of `text`, which begins at byte `base` of its source and is not JSON.
fn not_json(text: &str, base: usize, error: ScanError, what: &str) -> Problem {
    let mut at = error.offset.min(text.trim_end().len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let word = text.get(at..).and_then(|rest| rest.chars().next());
    let end = at + word.filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8);
    let problem = Problem::error("not-json", format!("{what}: {}", error.problem))
        .at(NodeSpan::new(base + at, base + end));
    match word {
        Some('\'') => problem.help("use double quotes for strings and keys"),
        Some('}' | ']') => problem.help("remove the comma before it"),
        _ => problem,
    }
}

struct JsonWalk<'p> {
    /// Byte of the source at which the text begins.
    base: usize,
    problems: &'p mut Vec<Problem>,
}

impl JsonWalk<'_> {
    fn read(&mut self, value: Value<'_>) -> Option<Node> {
        self.node(value, MAX_DEPTH).map_err(|problem| self.problems.push(*problem)).ok()
    }

    /// Recurses at most `depth` times.
    fn node(&mut self, value: Value<'_>, depth: usize) -> Result<Node, Box<Problem>> {
        use toolmark_scan::JsonKind as Scanned;
        let span = self.span(value);
        let kind = match value.kind() {
            Scanned::Null => NodeKind::Null,
            Scanned::True => NodeKind::Bool(true),
            Scanned::False => NodeKind::Bool(false),
            Scanned::Number => number(value.raw()),
            Scanned::String => NodeKind::Text(text(value)),
            Scanned::Array | Scanned::Object if depth == 0 => return Err(too_deep(span)),
            Scanned::Array => {
                // Counting is cheap; growing and wasted room are not.
                let mut items = Vec::with_capacity(value.items().count());
                for item in value.items() {
                    items.push(self.node(item, depth - 1)?);
                }
                NodeKind::List(items)
            }
            Scanned::Object => NodeKind::Map(self.entries(value, depth - 1)?),
        };
        Ok(Node { kind, span })
    }

    fn entries(&mut self, value: Value<'_>, depth: usize) -> Result<Vec<NodeEntry>, Box<Problem>> {
        let mut entries: Vec<NodeEntry> = Vec::with_capacity(value.fields().count());
        let mut seen: HashMap<CompactString, NodeSpan> = HashMap::new();
        for (name, value) in value.fields() {
            let (key, key_span) = (text(name), self.span(name));
            if entries.len() == SMALL_MAP && seen.is_empty() {
                seen = entries.iter().map(|entry| (entry.key.clone(), entry.key_span)).collect();
            }
            let first = if entries.len() < SMALL_MAP {
                entries.iter().find(|entry| entry.key == key).map(|entry| entry.key_span)
            } else {
                seen.get(&key).copied()
            };
            if let Some(first) = first {
                self.report(duplicate_key(&key, key_span, first));
                continue;
            }
            if entries.len() >= SMALL_MAP {
                seen.insert(key.clone(), key_span);
            }
            let value = self.node(value, depth)?;
            entries.push(NodeEntry { key, key_span, value });
        }
        Ok(entries)
    }

    fn report(&mut self, problem: Problem) {
        match self.problems.len().cmp(&MAX_PROBLEMS) {
            Ordering::Less => self.problems.push(problem),
            Ordering::Equal => self.problems.push(not_shown()),
            Ordering::Greater => {}
        }
    }

    fn span(&self, value: Value<'_>) -> NodeSpan {
        let (start, end) = value.span();
        NodeSpan::new(self.base + start, self.base + end)
    }
}

fn text(value: Value<'_>) -> CompactString {
    value.str().map(CompactString::from).unwrap_or_default()
}

/// Parses a JSON number, and Python's words for the numbers that JSON lacks.
fn number(raw: &str) -> NodeKind {
    match raw {
        "NaN" => NodeKind::Float(f64::NAN),
        "Infinity" => NodeKind::Float(f64::INFINITY),
        "-Infinity" => NodeKind::Float(f64::NEG_INFINITY),
        _ => scalar::number(raw).unwrap_or_else(|| NodeKind::Text(raw.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_and_places() {
        let text = r#" {"é": [1, -2.5, true, null, "a\u0041\n"], "big": 18446744073709551615} "#;
        let source = SourceText::new("x.json", text);
        let mut problems = Vec::new();
        let node = parse(&source, &mut problems).unwrap().unwrap();
        assert_eq!(problems, []);
        assert_eq!(node.to_json(), json!({"é": [1, -2.5, true, null, "aA\n"], "big": u64::MAX}));
        assert_eq!(source.slice(node.span), text.trim());
        let list = node.get("é").unwrap();
        let written: Vec<_> = list.items().map(|item| source.slice(item.span)).collect();
        assert_eq!(written, ["1", "-2.5", "true", "null", r#""a\u0041\n""#]);
        assert_eq!(source.slice(node.entry("big").unwrap().key_span), "\"big\"");
    }

    #[test]
    fn duplicates_are_found_in_maps_of_every_size() {
        for size in [1, 2, SMALL_MAP - 1, SMALL_MAP, SMALL_MAP + 1, 100] {
            for twice in [0, size / 2, size - 1] {
                let mut fields: Vec<_> = (0..size).map(|n| format!("\"k{n}\":{n}")).collect();
                fields.push(format!("\"k{twice}\":0"));
                let source = SourceText::new("x", format!("{{{}}}", fields.join(",")));
                let mut problems = Vec::new();
                let node = parse(&source, &mut problems).unwrap().unwrap();
                assert_eq!(node.entries().count(), size);
                assert_eq!(problems.len(), 1, "{size} {twice}");
                assert_eq!(
                    source.slice(problems[0].notes[0].0),
                    source.slice(problems[0].span.unwrap())
                );
            }
        }
    }

    #[test]
    fn that_there_are_more_is_said_once() {
        let source = SourceText::new("x", format!("{{{}\"a\":1}}", "\"a\":1,".repeat(1000)));
        let mut problems = Vec::new();
        parse(&source, &mut problems).unwrap().unwrap();
        let codes: Vec<_> = problems.iter().map(|p| p.code).collect();
        assert_eq!(codes.len(), MAX_PROBLEMS + 1);
        assert_eq!(codes.last(), Some(&"too-many-problems"));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n: usize| SourceText::new("x", format!("{}{}", "[".repeat(n), "]".repeat(n)));
        let mut problems = Vec::new();
        assert!(parse(&nested(MAX_DEPTH), &mut problems).unwrap().is_some());
        assert!(parse(&nested(100_000), &mut problems).unwrap().is_none());
        assert_eq!((problems[0].code, problems[0].span.unwrap().start), ("too-deep", 64));
    }

    #[test]
    fn bad_lines_are_reported_by_number() {
        let source = SourceText::new("x.jsonl", "{\"a\":1}\r\n\n{\"é\":}\n{'b':1}\n[2]");
        let mut problems = Vec::new();
        let mut nodes = Vec::new();
        lines(&source, &mut problems, |node| nodes.push(node));
        let written: Vec<_> = nodes.iter().map(|node| source.slice(node.span)).collect();
        assert_eq!(written, ["{\"a\":1}", "[2]"]);
        let said: Vec<_> = problems
            .iter()
            .map(|p| (p.message.as_str(), source.place(p.span.unwrap().start)))
            .collect();
        let place = |line, column| crate::SourcePosition { line, column };
        assert_eq!(
            said,
            [
                ("line 3 is not JSON: unexpected closing bracket", place(3, 6)),
                ("line 4 is not JSON: unexpected literal", place(4, 2)),
            ]
        );
        let many = SourceText::new("x", "{\n".repeat(1000));
        problems.clear();
        lines(&many, &mut problems, |node| panic!("{node:?} was read"));
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
        assert_eq!(problems.last().unwrap().message, "800 more lines are not JSON");
    }
}
