//! Reads the rubric that a command line names: a built-in one, or a file.
//!
//! A file is YAML or JSON with `criteria` (strings, or maps with `text`, `id`, `weight`, `needs`
//! and `marks`) and optionally `name`, `instructions`, `scale`, `threshold`, `inputs` and
//! `examples`; any other file is the text of one criterion.

use crate::ActionEvents;
use crate::Failure;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_config::{SourceText, parse};
use toolmark_judge::calibration::RubricTask;
use toolmark_outcome::judging::{
    BUILT_IN, BuiltIn, Field, Rubric, Scale, built_in, read_examples, read_rubric, scale_of_words,
};

/// Default passing share of a rubric file.
const THRESHOLD: f64 = 0.5;

/// Overrides of the command line for every rubric.
#[derive(Debug, Clone, Copy, Default)]
pub struct RubricOverrides {
    /// Scale that replaces the rubric's scale.
    pub scale: Option<Scale>,
    /// Threshold that replaces the rubric's threshold.
    pub threshold: Option<f64>,
}

impl RubricOverrides {
    /// Returns the task of a built-in rubric with the overrides of the command line.
    pub fn built_in(self, rubric: &BuiltIn) -> Result<RubricTask, Failure> {
        self.change(RubricTask::built_in(rubric))
    }

    fn change(self, mut asked: RubricTask) -> Result<RubricTask, Failure> {
        asked.threshold = self.threshold.unwrap_or(asked.threshold);
        if let Some(scale) = self.scale {
            let mut rubric = Rubric::clone(&asked.rubric);
            rubric.scale = scale;
            if let Some(mark) = stray_anchor(&rubric) {
                let word = scale.word();
                let message = format!(
                    "--scale {word}: the rubric describes the mark {mark}, which is not on this scale"
                );
                return Err(Failure::usage(message).hint("write your own rubric for this scale"));
            }
            asked.rubric = Arc::new(rubric);
        }
        Ok(asked)
    }
}

/// Returns a mark with an explanation that is missing from the scale, or maps to another mark
/// there.
fn stray_anchor(rubric: &Rubric) -> Option<&str> {
    let is_mark = |mark: &str| mark.trim().parse().is_ok_and(|mark| rubric.scale.has(mark));
    let anchors = rubric.criteria.iter().flat_map(|criterion| &criterion.anchors);
    anchors.map(|(mark, _)| mark.as_str()).find(|mark| !is_mark(mark))
}

/// The names of all built-in rubrics.
pub fn names() -> String {
    BUILT_IN.iter().map(|rubric| rubric.name).collect::<Vec<_>>().join(", ")
}

/// Message for an unknown name of a rubric.
pub fn no_such(name: &str) -> String {
    let near = did_you_mean(name, BUILT_IN.iter().map(|rubric| rubric.name));
    match near {
        Some(near) => format!("unknown rubric {name}: did you mean {near}?"),
        None => format!("unknown rubric {name}"),
    }
}

/// Reads the rubric with this name, or in this file.
pub fn open(
    word: &str,
    wanted: RubricOverrides,
    events: &mut dyn ActionEvents,
) -> Result<RubricTask, crate::Stop> {
    if let Some(rubric) = built_in(word) {
        return Ok(wanted.built_in(rubric)?);
    }
    let path = Path::new(word);
    // A word without a dot or a slash is meant as a name.
    if !path.exists() && !word.contains(['.', '/', '\\']) {
        let hint = format!("--rubric takes a file, or one of {}", names());
        return Err(Failure::usage(no_such(word)).hint(hint).into());
    }
    let source = SourceText::open_named(path)?;
    let mut problems = Vec::new();
    let asked = of_file(path, &source, wanted.scale, &mut problems);
    events.problems(&source, &problems)?;
    if problems.iter().any(Problem::is_error) {
        return Err(Failure::usage(format!("{word} is not a valid rubric")).into());
    }
    match asked {
        Some(asked) => Ok(wanted.change(asked)?),
        None => Err(Failure::usage(format!("{word} is not a valid rubric")).into()),
    }
}

/// A rubric as written in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRubric {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    instructions: Option<String>,
    criteria: Node,
    #[serde(default)]
    scale: Option<Scale>,
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    #[serde(default)]
    inputs: Option<Node>,
    #[serde(default)]
    examples: Option<Node>,
}

fn of_file(
    path: &Path,
    source: &SourceText,
    scale: Option<Scale>,
    problems: &mut Vec<Problem>,
) -> Option<RubricTask> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    if !matches!(extension.as_str(), "yaml" | "yml" | "json") {
        let text = source.text().trim();
        if text.is_empty() {
            problems.push(Problem::error("empty-config", "the file is empty"));
        }
        let scale = scale.or_else(|| scale_of_words([text])).unwrap_or_default();
        let rubric = Rubric { name: stem, ..Rubric::of_text(text, scale) };
        return Some(RubricTask {
            rubric: Arc::new(rubric),
            inputs: Vec::new(),
            threshold: THRESHOLD,
        });
    }
    let parsed = parse(source);
    problems.extend(parsed.problems);
    let written: WrittenRubric = read(&parsed.node?, problems)?;
    let scale = scale.or(written.scale);
    // The other keys are read even if the criteria are invalid, to report all problems.
    let rubric = read_rubric(&written.criteria, scale, problems);
    let examples = rubric.as_ref().zip(written.examples.as_ref());
    let examples = examples.map(|(rubric, node)| read_examples(node, rubric, problems));
    let threshold = written.threshold.map_or(THRESHOLD, |threshold| {
        if !(0.0..=1.0).contains(&threshold.value) {
            let message = format!("expected a threshold from 0 to 1, found {}", threshold.value);
            let wrong = Problem::error("out-of-range", message);
            problems.push(wrong.at(threshold.span));
        }
        threshold.value
    });
    let inputs = written.inputs.map(|node| inputs(&node, problems)).unwrap_or_default();
    let rubric = Rubric {
        name: written.name.or(stem),
        instructions: written.instructions.unwrap_or_default(),
        examples: examples.unwrap_or_default(),
        ..rubric?
    };
    Some(RubricTask { rubric: Arc::new(rubric), inputs, threshold })
}

/// Reads a map from names to strings, in order.
fn texts(node: &Node, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
    let Some(entries) = node.as_map() else {
        problems
            .push(Problem::error("wrong-type", "expected a map of names to text").at(node.span));
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries {
        match entry.value.as_str() {
            Some(text) => found.push((entry.key.to_string(), text.to_owned())),
            None => {
                let message = format!("expected text, found {}", entry.value.word());
                problems.push(Problem::error("wrong-type", message).at(entry.value.span));
            }
        }
    }
    found
}

fn inputs(node: &Node, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
    let found = texts(node, problems);
    for entry in node.entries() {
        let Some(path) = entry.value.as_str() else { continue };
        if Field::of(path.trim_end_matches('?')).is_none() {
            let message = format!("unknown field {}", quoted(path));
            let problem = Problem::error("unknown-field", message).at(entry.value.span);
            problems.push(problem.help("`toolmark judge fields` lists them"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, text: &str) -> Result<RubricTask, Vec<String>> {
        let mut problems = Vec::new();
        let source = SourceText::new(name, text);
        let asked = of_file(Path::new(name), &source, None, &mut problems);
        match (asked, problems.is_empty()) {
            (Some(asked), true) => Ok(asked),
            _ => Err(problems.into_iter().map(|p| format!("{}: {}", p.code, p.message)).collect()),
        }
    }

    #[test]
    fn a_file_of_any_kind() {
        let text = asked("good.md", "\nIs it good?\n").unwrap();
        assert_eq!(text.rubric.criteria[0].text, "Is it good?");
        assert_eq!(
            (text.rubric.name.as_deref(), text.rubric.scale),
            (Some("good"), Scale::OneToFive)
        );
        let full = asked(
            "r.yaml",
            "name: tidy\ninstructions: read all\nscale: 0/0.5/1\nthreshold: 0.75\ncriteria:\n\
             - is it tidy?\n- {id: short, text: is it short?, weight: 2, needs: 0.5, marks: {'1': yes it is, '0': it is not}}\n\
             inputs: {request: user_request?, said: output}\n",
        )
        .unwrap();
        let criteria = &full.rubric.criteria;
        assert_eq!((criteria[0].id.as_str(), criteria[1].id.as_str()), ("c1", "short"));
        assert_eq!((criteria[1].weight, criteria[1].needs), (2.0, Some(0.5)));
        assert_eq!(criteria[1].anchors.len(), 2);
        assert_eq!((full.threshold, full.rubric.scale), (0.75, Scale::Half));
        assert_eq!(full.inputs[1], ("said".to_owned(), "output".to_owned()));
    }

    #[test]
    fn mistakes() {
        for (name, text, want) in [
            ("r.md", " ", "empty-config"),
            ("r.yaml", "criteria: []", "empty-list"),
            ("r.yaml", "name: x", "missing-key"),
            ("r.yaml", "criteria: [a]\nscael: 1-5", "unknown-key"),
            ("r.yaml", "criteria: [a]\nscale: 1-7", "unknown scale"),
            ("r.yaml", "criteria: [a]\nthreshold: 3", "out-of-range"),
            ("r.yaml", "criteria: [{text: a, weight: -1}]", "out-of-range"),
            ("r.yaml", "criteria: [{text: a, id: x}, {text: b, id: x}]", "duplicate-name"),
            ("r.yaml", "criteria: [{text: a, marks: {'7': x}}]", "unknown-mark"),
            ("r.yaml", "criteria: [a]\ninputs: {x: nonsense}", "unknown-field"),
            ("r.yaml", "criteria: [a]\ninputs: {x: 3}", "wrong-type"),
        ] {
            let problems = asked(name, text).unwrap_err();
            assert!(problems.iter().any(|p| p.contains(want)), "{text}: {problems:?}");
        }
    }

    #[test]
    fn the_command_line_overrules_what_it_can() {
        let rubric = built_in("tool-selection").unwrap();
        let wanted = RubricOverrides { scale: None, threshold: Some(0.9) };
        assert_eq!(wanted.built_in(rubric).unwrap().threshold, 0.9);
        let wanted = RubricOverrides { scale: Some(Scale::OneToFive), threshold: None };
        assert!(wanted.built_in(rubric).unwrap_err().message.contains("the mark 0.5"));
        assert!(no_such("tool-selektion").contains("tool-selection"));
    }
}
