//! Renders problems for people, with the source text underlined, and for programs, as JSON.
//!
//! Only the displayed lines are passed to the renderer, cut to fit: a problem in a minified
//! file of many megabytes costs as little as any other.

use crate::SourceText;
use crate::{NodeSpan, Problem, ProblemSeverity};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde_json::{Value, json};
use std::ops::Range;
use toolmark_base::sanitize::{sanitize, visible};

/// Display options for problems.
#[derive(Debug, Clone, Copy)]
pub struct RenderStyle {
    /// Whether to use colours.
    pub colour: bool,
    /// Terminal width in columns.
    pub width: usize,
}

impl Default for RenderStyle {
    fn default() -> Self {
        Self { colour: false, width: 100 }
    }
}

/// Maximum distance in lines of positions that are shown in one snippet.
const NEAR: usize = 6;

/// Maximum length of a message; longer messages are cut, because they quote user input.
const MESSAGE: usize = 2000;

/// Renders the problems one after the other, each with its source text.
#[must_use]
pub fn render(source: &SourceText, problems: &[Problem], style: RenderStyle) -> String {
    let width = style.width.clamp(40, 400);
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(width);
    let mut out = String::new();
    for problem in problems {
        if !out.is_empty() {
            out.push('\n');
        }
        let mut columns = Vec::new();
        let mut shown = renderer.render(&[report(source, problem, width, &mut columns)]);
        for (wrong, right) in columns {
            shown = shown.replacen(&wrong, &right, 1);
        }
        out.push_str(&shown);
        out.push('\n');
    }
    out
}

/// A range to underline, on one line.
struct Underline<'p> {
    line: usize,
    /// Byte range in the source.
    bytes: Range<usize>,
    label: Option<&'p str>,
    kind: AnnotationKind,
}

/// Builds the report of one problem. The renderer counts columns from the start of a cut
/// line; the positions that it prints and the correct ones are added to `columns`.
fn report<'p>(
    source: &SourceText,
    problem: &'p Problem,
    width: usize,
    columns: &mut Vec<(String, String)>,
) -> Group<'p> {
    let level = match problem.severity {
        ProblemSeverity::Error => Level::ERROR,
        ProblemSeverity::Warning => Level::WARNING,
    };
    let title = level.primary_title(words(&problem.message)).id(problem.code);
    let mut group = Group::with_title(title);
    let path = sanitize(&source.name).into_owned();
    match problem.span {
        None => group = group.element(Origin::path(path)),
        Some(span) => {
            let label = problem.label.as_deref();
            let mut marks = vec![mark(source, span, label, AnnotationKind::Primary)];
            marks.extend(
                problem
                    .notes
                    .iter()
                    .map(|(span, words)| mark(source, *span, Some(words), AnnotationKind::Context)),
            );
            for piece in pieces(marks) {
                let (snippet, cut) = snippet(source, &piece, width);
                if let Some(first) = piece.first().filter(|_| cut > 0) {
                    let place = source.place(u32::try_from(first.bytes.start).unwrap_or(u32::MAX));
                    let written = |column| format!("{path}:{}:{column}", place.line);
                    columns.push((written(place.column - cut), written(place.column)));
                }
                group = group.element(snippet.path(path.clone()));
            }
        }
    }
    match &problem.help {
        Some(help) => group.element(Level::HELP.message(words(help))),
        None => group,
    }
}

fn words(text: &str) -> String {
    let cut = text.char_indices().nth(MESSAGE).map_or(text.len(), |(at, _)| at);
    let more = if cut < text.len() { "…" } else { "" };
    format!("{}{more}", sanitize(&text[..cut]))
}

/// Reduces a span to its first line.
fn mark<'p>(
    source: &SourceText,
    span: NodeSpan,
    label: Option<&'p str>,
    kind: AnnotationKind,
) -> Underline<'p> {
    let line = source.line_of(span.start as usize);
    let range = source.line_range(line);
    let start = (span.start as usize).clamp(range.start, range.end);
    let end = (span.end as usize).clamp(start, range.end);
    Underline { line, bytes: start..end, label, kind }
}

/// Groups marks: those near the first mark together, each of the others alone.
fn pieces(marks: Vec<Underline<'_>>) -> Vec<Vec<Underline<'_>>> {
    let mut pieces: Vec<Vec<Underline<'_>>> = Vec::new();
    for mark in marks {
        let near = |piece: &&mut Vec<Underline<'_>>| {
            piece.first().is_some_and(|first| first.line.abs_diff(mark.line) <= NEAR)
        };
        match pieces.iter_mut().find(near) {
            Some(piece) => piece.push(mark),
            None => pieces.push(vec![mark]),
        }
    }
    pieces
}

/// Builds a snippet of the lines with marks and returns how many characters were cut from the
/// start of the first mark's line.
fn snippet<'p>(
    source: &SourceText,
    marks: &[Underline<'p>],
    width: usize,
) -> (Snippet<'p, Annotation<'p>>, usize) {
    let lines = marks.iter().map(|mark| mark.line);
    let first = lines.clone().min().unwrap_or_default();
    let last = lines.max().unwrap_or_default();
    let mut cut = 0;
    let mut text = String::new();
    let mut annotations = Vec::new();
    for line in first..=last {
        if line > first {
            text.push('\n');
        }
        let bytes = source.line_range(line);
        let start = bytes.start;
        let window = match marks.iter().find(|mark| mark.line == line) {
            Some(mark) => window(source.text(), bytes, mark.bytes.start, width),
            // Folded: it only keeps the lines counted.
            None => bytes.start..bytes.start,
        };
        let shown = source.text().get(window.clone()).unwrap_or_default();
        if marks.first().is_some_and(|mark| mark.line == line) {
            cut = source.text().get(start..window.start).map_or(0, |cut| cut.chars().count());
        }
        let base = text.len();
        text.extend(shown.chars().map(kept));
        for mark in marks.iter().filter(|mark| mark.line == line) {
            let at = |byte: usize| {
                let before = byte.clamp(window.start, window.end) - window.start;
                let before = shown.get(..before).unwrap_or(shown);
                base + before.chars().map(|c| kept(c).len_utf8()).sum::<usize>()
            };
            let annotation = mark.kind.span(at(mark.bytes.start)..at(mark.bytes.end));
            annotations.push(annotation.label(mark.label.map(words)));
        }
    }
    (Snippet::source(text).line_start(first + 1).annotations(annotations), cut)
}

/// Returns the part of a line to show: the whole line, or the part around `at`.
fn window(text: &str, line: Range<usize>, at: usize, width: usize) -> Range<usize> {
    let limit = width * 4;
    if line.len() <= limit {
        return line;
    }
    let floor = |mut byte: usize| {
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    };
    let start = floor(at.saturating_sub(width).max(line.start));
    start..floor((start + limit).min(line.end))
}

/// Makes a character visible, except tabs, which the renderer expands itself.
fn kept(c: char) -> char {
    if c == '\t' { c } else { visible(c) }
}

/// Returns the problems as a list of objects: `file`, `line`, `column`, `end_line`,
/// `end_column`, `code`, `severity`, `message`, `help`, and `notes` with positions
/// of their own. Positions count from 1, columns in characters.
#[must_use]
pub fn problems_json(source: &SourceText, problems: &[Problem]) -> Value {
    problems.iter().map(|problem| problem_json(source, problem)).collect()
}

fn problem_json(source: &SourceText, problem: &Problem) -> Value {
    let place = |byte: Option<u32>| byte.map(|byte| source.place(byte));
    let start = place(problem.span.map(|span| span.start));
    let end = place(problem.span.map(|span| span.end));
    let notes = problem.notes.iter().map(|(span, words)| {
        let start = source.place(span.start);
        json!({"line": start.line, "column": start.column, "message": words})
    });
    json!({
        "file": &*source.name,
        "line": start.map(|at| at.line),
        "column": start.map(|at| at.column),
        "end_line": end.map(|at| at.line),
        "end_column": end.map(|at| at.column),
        "code": problem.code,
        "severity": problem.severity.as_str(),
        "message": problem.message,
        "help": problem.help,
        "notes": notes.collect::<Value>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::read;
    use insta::assert_snapshot;
    use std::slice::from_ref;

    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "only its mistakes matter here")]
    struct ToolCalls {
        #[serde(default)]
        required: Vec<String>,
        max: u32,
        mode: Option<RenderMode>,
    }

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum RenderMode {
        InOrder,
        AnyOrder,
    }

    fn shown(text: &str) -> String {
        let source = SourceText::new("evals/x.yaml", text);
        let mut parsed = parse(&source);
        if let Some(node) = &parsed.node {
            read::<ToolCalls>(node, &mut parsed.problems);
        }
        render(&source, &parsed.problems, RenderStyle::default())
    }

    #[test]
    fn mistakes_of_a_configuration() {
        let text = "# tools\nrequierd: [bash]\nrequired: bash\nmode: in-order\nmax: '3'\n";
        assert_snapshot!(shown(text), @r#"
        error[unknown-key]: unknown key "requierd"
         --> evals/x.yaml:2:1
          |
        2 | requierd: [bash]
          | ^^^^^^^^
          |
          = help: did you mean "required"?

        error[wrong-type]: expected a list, found text
         --> evals/x.yaml:3:11
          |
        3 | required: bash
          |           ^^^^ expected a list
          |
          = help: for a list of one, put it in [ ] or behind a dash

        error[unknown-value]: unknown value "in-order"
         --> evals/x.yaml:4:7
          |
        4 | mode: in-order
          |       ^^^^^^^^
          |
          = help: did you mean "in_order"?

        error[wrong-type]: expected a whole number of 0 or more, found text
         --> evals/x.yaml:5:6
          |
        5 | max: '3'
          |      ^^^ expected a whole number of 0 or more
          |
          = help: write 3, without quotes
        "#);
    }

    #[test]
    fn a_missing_key_is_shown_at_the_start_of_its_map() {
        assert_snapshot!(shown("mode: in_order\nrequired:\n  - a\n  - b\n"), @r#"
        error[missing-key]: missing key "max"
         --> evals/x.yaml:1:1
          |
        1 | mode: in_order
          | ^^^^^^^^^^^^^^
        "#);
    }

    #[test]
    fn both_places_of_a_duplicate() {
        assert_snapshot!(shown("max: 1\nmax: 2\n"), @r#"
        error[duplicate-key]: "max" is set twice
         --> evals/x.yaml:2:1
          |
        1 | max: 1
          | --- first set here
        2 | max: 2
          | ^^^ set again
        "#);
        let far = format!("max: 1\n{}max: 2\n", "# …\n".repeat(20));
        assert_snapshot!(shown(&far), @r#"
        error[duplicate-key]: "max" is set twice
          --> evals/x.yaml:22:1
           |
        22 | max: 2
           | ^^^ set again
           |
          ::: evals/x.yaml:1:1
           |
         1 | max: 1
           | --- first set here
        "#);
    }

    #[test]
    fn syntax_errors() {
        assert_snapshot!(shown("max: \"a\\d\"\n"), @r#"
        error[syntax]: unknown escape sequence
         --> evals/x.yaml:1:8
          |
        1 | max: "a\d"
          |        ^
          |
          = help: use single quotes, or write \\ for a backslash
        "#);
        assert_snapshot!(shown("max:\n\t- 1\n"), @r#"
        error[syntax]: unexpected tab in the indentation
         --> evals/x.yaml:2:1
          |
        2 |     - 1
          | ^^^^
          |
          = help: indent with spaces
        "#);
        assert_snapshot!(shown("max: 'a\nrequired: []\n"), @r#"
        error[syntax]: unclosed quote
         --> evals/x.yaml:1:6
          |
        1 | max: 'a
          |      ^
          |
          = help: add the closing quote, or indent the lines that belong to the text
        "#);
        assert_snapshot!(shown("max: [1,\n"), @r#"
        error[syntax]: unclosed bracket
         --> evals/x.yaml:1:9
          |
        1 | max: [1,
          |         ^
          |
          = help: add the closing ] or }
        "#);
    }

    #[test]
    fn a_problem_without_a_place() {
        let problem = Problem::warning("odd", "something about the whole file").help("think");
        let source = SourceText::new("x.yaml", "");
        assert_snapshot!(render(&source, &[problem], RenderStyle::default()), @r#"
        warning[odd]: something about the whole file
        --> x.yaml
         = help: think
        "#);
    }

    #[test]
    fn wide_and_multibyte_text_is_underlined_where_it_stands() {
        assert_snapshot!(shown("max: 1\nmode: 日本語 # é\n\"ключ\": 1\n"), @r#"
        error[unknown-value]: unknown value "日本語"
         --> evals/x.yaml:2:7
          |
        2 | mode: 日本語 # é
          |       ^^^^^^
          |
          = help: expected one of: in_order, any_order

        error[unknown-key]: unknown key "ключ"
         --> evals/x.yaml:3:1
          |
        3 | "ключ": 1
          | ^^^^^^
          |
          = help: known keys: required, max, mode
        "#);
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        let text = "max: 1\n\"\\e[31m\u{202e}\u{9b}2J\": \u{1b}]0;title\u{7}\n";
        let source = SourceText::new("\u{1b}[2Jx", text);
        let mut problems = parse(&source).problems;
        problems.push(
            Problem::error("x", "bad \u{1b}[2J\nnews\u{9b}")
                .at(NodeSpan::new(7, 20))
                .label("\u{1b}c")
                .help("\u{8}\u{2028}")
                .note(NodeSpan::new(0, 3), "\u{202e}"),
        );
        for colour in [false, true] {
            let shown = render(&source, &problems, RenderStyle { colour, width: 80 });
            let obeyed = |c: char| c != '\n' && toolmark_base::sanitize::is_obeyed(c);
            let shown = if colour { shown.replace("\u{1b}[", "") } else { shown };
            assert!(!shown.contains(obeyed), "{shown:?}");
            assert!(!shown.contains("2J") || !colour || shown.contains("\u{241b}[2J"));
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let mut text = String::from("{\"a\": \"");
        text += &"日x".repeat(1 << 20);
        let at = text.len() + 3;
        text += "\", \"bad\": 1, \"c\": \"";
        text += &"y".repeat(1 << 20);
        text += "\"}";
        let source = SourceText::new("x.json", text);
        let problem = Problem::error("x", "here").at(NodeSpan::new(at, at + 5)).label("this");
        let started = toolmark_testing::CpuWatch::start();
        let shown = render(&source, &vec![problem.clone(); 20], RenderStyle::default());
        assert!(started.elapsed().as_secs() < 10);
        assert!(shown.len() < 20_000, "{}", shown.len());
        assert_snapshot!(render(&source, &[problem], RenderStyle::default()), @r#"
        error[x]: here
         --> x.json:1:2097163
          |
        1 | x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x日x", "bad": 1, "c": "y...
          |                                                                             ^^^^^ this
        "#);
    }

    #[test]
    fn places_outside_of_the_text_do_no_harm() {
        let source = SourceText::new("x", "aé\n");
        for (start, end) in [(0, 99), (99, 100), (2, 2), (4, 4), (2, 3), (3, 9)] {
            let span = NodeSpan { start, end };
            let problem =
                Problem::error("x", "m").at(span).note(NodeSpan { start: 50, end: 60 }, "n");
            assert!(
                render(&source, from_ref(&problem), RenderStyle { colour: false, width: 0 })
                    .contains("m")
            );
            assert_eq!(problems_json(&source, &[problem])[0]["file"], "x");
        }
    }

    #[test]
    fn problems_as_json() {
        let source = SourceText::new("x.yaml", "é: 1\né: 2\n");
        let problems =
            [parse(&source).problems.remove(0), Problem::warning("w", "whole").help("h")];
        assert_eq!(
            problems_json(&source, &problems),
            json!([
                {
                    "file": "x.yaml", "line": 2, "column": 1, "end_line": 2, "end_column": 2,
                    "code": "duplicate-key", "severity": "error", "message": "\"é\" is set twice",
                    "help": null,
                    "notes": [{"line": 1, "column": 1, "message": "first set here"}],
                },
                {
                    "file": "x.yaml", "line": null, "column": null, "end_line": null,
                    "end_column": null, "code": "w", "severity": "warning", "message": "whole",
                    "help": "h", "notes": [],
                },
            ])
        );
    }
}
