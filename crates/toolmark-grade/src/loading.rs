//! State and helpers for a dialect that builds a plan.

use crate::declared::{DECLARED, declared};
use crate::{GraderInfo, Graders, Planned};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{
    Node, NodeKind, NodeSpan, Problem, SourceText, Spanned, did_you_mean, json, parse, quoted,
};
use toolmark_match::Building;
use toolmark_outcome::{Profile, SpecPlace};

/// Command-line options for loading.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Values for `${NAME}` in Vally specs.
    pub params: SortedMap<String, String>,
    /// Profile of every grader, overriding the spec.
    pub profile: Option<Profile>,
    /// Threshold of every case, overriding the spec.
    pub threshold: Option<f64>,
    /// Dataset, overriding the spec.
    pub dataset: Option<PathBuf>,
    /// Grader types of another system's plugins: their verdict is unknown, and using them is
    /// not an error.
    pub grader_types: Vec<String>,
    /// Whether the spec is only linted. Problems that only its data can reveal are then not
    /// reported.
    pub is_lint: bool,
    /// Whether cases may stay in their file, in [`Plan::stored`](crate::Plan).
    pub stores_cases: bool,
}

/// A spec while a dialect builds its plan.
pub struct Loading<'a> {
    /// File name.
    pub file: Arc<str>,
    /// Text of the file.
    pub text: &'a str,
    /// Directory of the file, to which paths are relative.
    pub directory: &'a Path,
    /// Command-line options.
    pub options: &'a LoadOptions,
    /// Known graders.
    pub graders: Graders,
    /// All problems.
    pub problems: Vec<Problem>,
    /// Included files, with the problems of each.
    pub includes: Vec<Included>,
    /// Positions of line starts.
    lines: Vec<usize>,
    /// Number of lines of the file before the text.
    lines_before: u32,
}

/// An included file.
pub struct Included {
    /// Text of the file.
    pub source: SourceText,
    /// Problems of the file.
    pub problems: Vec<Problem>,
}

/// A grader entry of a spec, independent of the dialect.
pub struct ListedGrader<'a> {
    /// Type name as written.
    pub type_word: Spanned<String>,
    /// Name; the type if there is none.
    pub name: Option<String>,
    /// Configuration of the grader.
    pub config: &'a Node,
    /// Profile to follow, unless the command line sets one.
    pub profile: Profile,
    /// Profile to compare the answer with.
    pub contrast: Option<Profile>,
    /// Weight in the score.
    pub weight: f64,
    /// Whether the grader must pass.
    pub required: bool,
    /// Minimum score.
    pub min_score: Option<f64>,
    /// Whether the verdict is inverted.
    pub negate: bool,
    /// Turn to which the grader is restricted, from 0.
    pub turn: Option<u32>,
    /// Span of the whole entry.
    pub span: NodeSpan,
}

impl<'a> ListedGrader<'a> {
    /// Creates an entry with only a type and a configuration.
    #[must_use]
    pub fn new(type_word: Spanned<String>, config: &'a Node, span: NodeSpan) -> Self {
        Self {
            type_word,
            name: None,
            config,
            profile: Profile::Toolmark,
            contrast: None,
            weight: 1.0,
            required: false,
            min_score: None,
            negate: false,
            turn: None,
            span,
        }
    }
}

impl<'a> Loading<'a> {
    /// Starts loading a spec.
    #[must_use]
    pub fn new(
        file: Arc<str>,
        text: &'a str,
        directory: &'a Path,
        options: &'a LoadOptions,
        graders: Graders,
    ) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
        let lines = std::iter::once(0).chain(breaks.map(|at| at + 1)).collect();
        Self {
            file,
            text,
            directory,
            options,
            graders,
            problems: Vec::new(),
            includes: Vec::new(),
            lines,
            lines_before: 0,
        }
    }

    /// Marks the text as the line `number` of its file.
    #[must_use]
    pub fn at_line(self, number: u32) -> Self {
        Self { lines_before: number.saturating_sub(1), ..self }
    }

    /// Returns the problems and included files after the plan is built. A problem of a part that
    /// several cases use is reported once.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Problem>, Vec<Included>) {
        say_once(&mut self.problems);
        self.includes.iter_mut().for_each(|included| say_once(&mut included.problems));
        (self.problems, self.includes)
    }

    /// Resolves a path of the spec relative to its directory.
    #[must_use]
    pub fn path(&self, named: impl AsRef<Path>) -> PathBuf {
        let path = self.directory.join(named);
        // A path that starts with `./` would get it twice.
        match path.strip_prefix(".") {
            Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
            Ok(rest) => rest.to_owned(),
            Err(_) => path.components().collect(),
        }
    }

    /// Converts a span to line and column.
    #[must_use]
    pub fn place(&self, span: NodeSpan) -> SpecPlace {
        let byte = (span.start as usize).min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= byte);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..byte).map_or(0, |before| before.chars().count());
        SpecPlace {
            file: Arc::clone(&self.file).into(),
            line: u32::try_from(line).unwrap_or(u32::MAX).saturating_add(self.lines_before),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }

    /// Returns the span of the first line at a place of this file.
    #[must_use]
    pub fn span(&self, place: &SpecPlace) -> Option<NodeSpan> {
        let line = place.line.checked_sub(self.lines_before)?;
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        let line = self.text.get(start..)?.lines().next()?;
        let before: usize =
            line.chars().take(place.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        let is_here = place.file.raw().as_ref() == self.file.as_ref();
        is_here.then(|| NodeSpan::new(start + before, start + line.trim_end().len()))
    }

    /// Reads a file that the spec references: JSON lines, the elements of a list, or one
    /// value. Places in the result refer to that file.
    pub fn include(
        &mut self,
        path: &Path,
        span: NodeSpan,
        mut read: impl FnMut(&Node, &mut Loading<'_>),
    ) {
        let is_lines = is_lines(path);
        let source = if is_lines { SourceText::open_lines(path) } else { SourceText::open(path) };
        let source = match source {
            Ok(source) => source,
            Err(error) => {
                self.problems.push(Problem::from(&error).at(span));
                return;
            }
        };
        let mut problems = Vec::new();
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut inner = Loading::new(
            Arc::clone(&source.name),
            source.text(),
            directory,
            self.options,
            self.graders,
        );
        if is_lines {
            // One line at a time: such files are long, and their trees larger.
            json::lines(&source, &mut problems, |node| read(&node, &mut inner));
        } else {
            let parsed = parse(&source);
            problems = parsed.problems;
            match &parsed.node {
                Some(Node { kind: NodeKind::List(items), .. }) => {
                    items.iter().for_each(|item| read(item, &mut inner));
                }
                Some(node) => read(node, &mut inner),
                None => {}
            }
        }
        problems.append(&mut inner.problems);
        let mut includes = std::mem::take(&mut inner.includes);
        drop(inner);
        self.includes.push(Included { source, problems });
        self.includes.append(&mut includes);
    }

    /// Reports an error.
    pub fn error(&mut self, code: &'static str, span: NodeSpan, message: impl Into<String>) {
        self.problems.push(Problem::error(code, message).at(span));
    }

    /// Reports a warning.
    pub fn warn(&mut self, code: &'static str, span: NodeSpan, message: impl Into<String>) {
        self.problems.push(Problem::warning(code, message).at(span));
    }

    /// Returns the grader with this type; an unknown type is reported with the nearest known one.
    pub fn grader_info(&mut self, word: &Spanned<String>) -> Option<&'static GraderInfo> {
        if let Some(info) = self.graders.by_id(&word.value) {
            return Some(info);
        }
        if self.options.grader_types.contains(&word.value) {
            return Some(&DECLARED);
        }
        let message = format!("unknown grader type {}", quoted(&word.value));
        let problem = Problem::error("unknown-grader-type", message).at(word.span);
        self.problems.push(match did_you_mean(&word.value, self.graders.words()) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(
                "`toolmark graders` lists them; --grader-type NAME says that a plugin has it",
            ),
        });
        None
    }

    /// Builds the grader of an entry; problems are reported.
    pub fn grader(&mut self, entry: ListedGrader<'_>) -> Option<Planned> {
        let info = self.grader_info(&entry.type_word)?;
        self.plan(entry, info)
    }

    /// Like [`Self::grader`], for a dialect whose system accepts any word as a type: an unknown
    /// type is reported as a warning, and its verdict is unknown.
    pub fn grader_of_any_type(&mut self, entry: ListedGrader<'_>) -> Option<Planned> {
        let word = &entry.type_word;
        if self.graders.by_id(&word.value).is_some() {
            return self.grader(entry);
        }
        if !self.options.grader_types.contains(&word.value) {
            let problem = unknown_type(word, self.graders);
            self.problems.push(problem);
        }
        self.plan(entry, &DECLARED)
    }

    fn plan(&mut self, entry: ListedGrader<'_>, info: &'static GraderInfo) -> Option<Planned> {
        let profile = self.options.profile.unwrap_or(entry.profile);
        let before = self.problems.len();
        let grader = match std::ptr::eq(info, &DECLARED) {
            true => Some(declared(&entry.type_word.value)),
            false => (info.build)(&mut Building {
                config: entry.config,
                profile,
                contrast: entry.contrast.filter(|contrast| *contrast != profile),
                directory: self.directory,
                schemas: toolmark_match::call_match::compile_schema,
                problems: &mut self.problems,
            }),
        };
        if grader.is_none() && self.problems.len() == before {
            let message = format!("the configuration of {} is wrong", entry.type_word.value);
            self.error("invalid-grader-config", entry.span, message);
        }
        Some(Planned {
            name: entry.name.unwrap_or_else(|| entry.type_word.value.clone()),
            type_word: entry.type_word.value,
            info,
            profile,
            weight: entry.weight,
            required: entry.required,
            min_score: entry.min_score,
            negate: entry.negate,
            turn: entry.turn,
            grader: grader?,
            place: self.place(entry.span),
        })
    }
}

/// Whether a file contains JSON lines.
#[must_use]
pub fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "jsonl" || e == "ndjson")
}

/// Returns the warning for an unknown type that another system may support.
#[must_use]
pub fn unknown_type(word: &Spanned<String>, graders: Graders) -> Problem {
    let message =
        format!("the grader type {} is not known: it will be unknown", quoted(&word.value));
    let problem = Problem::warning("unknown-grader-type", message).at(word.span);
    match did_you_mean(&word.value, graders.words()) {
        Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
        None => problem.help("--grader-type NAME says that a plugin has it"),
    }
}

/// Removes duplicate problems with the same text and position.
fn say_once(problems: &mut Vec<Problem>) {
    let mut said = std::collections::HashSet::new();
    problems.retain(|problem| said.insert((problem.code, problem.span, problem.message.clone())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let options = LoadOptions::default();
        let loading =
            Loading::new("f".into(), "a\nöb: c\n", Path::new("."), &options, Graders(&[]));
        let place = |start| {
            let place = loading.place(NodeSpan { start, end: start });
            (place.line, place.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(2), (2, 1));
        assert_eq!(place(5), (2, 3));
        assert_eq!(place(99), (3, 1));
        let found = loading.place(NodeSpan { start: 4, end: 5 });
        assert_eq!(loading.span(&found), Some(NodeSpan { start: 4, end: 8 }));
        let elsewhere = SpecPlace { file: "g".into(), ..found };
        assert_eq!(loading.span(&elsewhere), None);
    }

    #[test]
    fn paths_have_no_dots_too_many() {
        let options = LoadOptions::default();
        for (directory, named, path) in [
            (".", "./a.jsonl", "a.jsonl"),
            (".", "a.jsonl", "a.jsonl"),
            (".", "./", "."),
            ("./evals", "./a.jsonl", "evals/a.jsonl"),
            ("evals", "././x/a.jsonl", "evals/x/a.jsonl"),
            ("evals", "../a.jsonl", "evals/../a.jsonl"),
            ("evals", "/tmp/./a.jsonl", "/tmp/a.jsonl"),
        ] {
            let loading =
                Loading::new("f".into(), "", Path::new(directory), &options, Graders(&[]));
            assert_eq!(loading.path(named), Path::new(path), "{directory} {named}");
        }
    }

    #[test]
    fn a_problem_is_said_once() {
        let options = LoadOptions::default();
        let mut loading = Loading::new("f".into(), "abc", Path::new("."), &options, Graders(&[]));
        for (start, message) in [(0, "x"), (1, "x"), (0, "x"), (0, "y")] {
            loading.error("code", NodeSpan { start, end: 2 }, message);
        }
        assert_eq!(loading.finish().0.len(), 3);
    }
}
