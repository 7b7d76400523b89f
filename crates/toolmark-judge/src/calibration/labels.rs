//! Labels: the verdicts of people on samples, one row each.
//!
//! A row has an `id`, a `label` (or `expected`, `human`, `gold`), and its subject: a
//! `trace` with a `call`, or the `inputs` themselves. It may name its `rubric`. An
//! invalid row is reported with its line; none is dropped silently.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use toolmark_base::text::truncate;
use toolmark_config::did_you_mean;
use toolmark_outcome::judging::Scale;
use toolmark_outcome::reaches;

/// Keys of the label.
const LABEL_KEYS: &[&str] = &["label", "expected", "human", "gold"];
/// All other keys a row may have; the last two are ignored.
const OTHER_KEYS: &[&str] =
    &["id", "trace", "run", "call", "inputs", "rubric", "note", "annotator"];
/// Maximum number of characters of a value repeated in a message.
const MAX_EXCERPT_CHARS: usize = 40;

/// The label of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Label {
    /// A verdict: true for pass.
    Verdict(bool),
    /// A mark on the rubric's scale.
    Mark(f64),
}

impl Label {
    /// Whether the sample passes.
    #[must_use]
    pub fn passes(self, scale: Scale, threshold: f64) -> bool {
        match self {
            Self::Verdict(passes) => passes,
            Self::Mark(mark) => reaches(scale.share(mark), threshold),
        }
    }
}

/// A label as written; the meaning of a number depends on the scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RawLabel {
    /// `pass`, `fail`, true or false.
    Verdict(bool),
    /// A mark, or 1 for pass and 0 for fail.
    Number(f64),
}

/// A run in a file, or a call in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelTarget {
    /// Index, from 0.
    Index(usize),
    /// ID, or index if it is a number that is not an ID.
    Id(String),
}

impl fmt::Display for LabelTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Id(id) => f.write_str(&truncate(id, MAX_EXCERPT_CHARS)),
        }
    }
}

/// Subject of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// A trace, as a path relative to the file of labels.
    Trace {
        /// Path of the file.
        path: String,
        /// Run, if the file has several.
        run: Option<LabelTarget>,
        /// Call, if the label is about one.
        call: Option<LabelTarget>,
    },
    /// Named texts, in the order of the row.
    Inputs(Vec<(String, String)>),
}

/// A row of the file of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelRow {
    /// Line number, from 1.
    pub line: u64,
    /// Name in every output.
    pub id: String,
    /// The label.
    pub label: RawLabel,
    /// Subject.
    pub about: About,
    /// Rubric, if the row names one.
    pub rubric: Option<String>,
}

/// A problem because of which a row cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelProblem {
    /// Line number, from 1.
    pub line: u64,
    /// Message, a lower-case fragment.
    pub message: String,
}

/// Reads rows with their lines. Invalid ones become problems.
#[must_use]
pub fn read_rows<'v>(
    rows: impl IntoIterator<Item = (u64, &'v Value)>,
) -> (Vec<LabelRow>, Vec<LabelProblem>) {
    let mut good: Vec<LabelRow> = Vec::new();
    let mut problems = Vec::new();
    let mut ids: BTreeMap<String, u64> = BTreeMap::new();
    for (line, value) in rows {
        let mut wrong = |message: String| problems.push(LabelProblem { line, message });
        let row = match read_row(value, line) {
            Ok(row) => row,
            Err(messages) => {
                messages.into_iter().for_each(wrong);
                continue;
            }
        };
        match ids.get(&row.id) {
            Some(first) => {
                wrong(format!(
                    "the id {} is already used in line {first}",
                    truncate(&row.id, MAX_EXCERPT_CHARS)
                ));
            }
            None => {
                ids.insert(row.id.clone(), line);
                good.push(row);
            }
        }
    }
    (good, problems)
}

/// Reads a row; the error lists all its problems.
fn read_row(value: &Value, line: u64) -> Result<LabelRow, Vec<String>> {
    let Some(map) = value.as_object() else {
        return Err(vec!["the row is not an object".to_owned()]);
    };
    let mut wrong = Vec::new();
    for key in map.keys().filter(|key| !is_known(key)) {
        let keys = ["id", "label", "trace", "call", "run", "inputs", "rubric", "note", "annotator"];
        let help = match did_you_mean(key, keys) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("expected one of {}", keys.join(", ")),
        };
        wrong.push(format!("unknown key {}: {help}", truncate(key, MAX_EXCERPT_CHARS)));
    }
    // An empty cell of a table counts as missing.
    let get = |key: &str| map.get(key).filter(|value| !is_nothing(value));
    let mut text = |key: &str| match get(key) {
        None => None,
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) if key == "id" => Some(number.to_string()),
        Some(_) => {
            wrong.push(format!("{key} is not a string"));
            None
        }
    };
    let (id, trace, rubric) = (text("id"), text("trace"), text("rubric"));
    if get("id").is_none() {
        wrong.push("the row has no id".to_owned());
    }
    let mut place = |key: &str| match get(key) {
        None => None,
        Some(Value::String(id)) => Some(LabelTarget::Id(id.trim().to_owned())),
        Some(value) => match value.as_u64().and_then(|index| usize::try_from(index).ok()) {
            Some(index) => Some(LabelTarget::Index(index)),
            None => {
                wrong.push(format!("{key} is neither an id nor an index from 0"));
                None
            }
        },
    };
    let (run, call) = (place("run"), place("call"));
    let label = label(get, &mut wrong);
    let inputs = get("inputs").and_then(|value| inputs(value, &mut wrong));
    let about = match (trace, inputs) {
        (Some(path), None) => Some(About::Trace { path, run, call }),
        (None, Some(inputs)) => {
            for (key, is_there) in [("run", run.is_some()), ("call", call.is_some())] {
                if is_there {
                    wrong.push(format!("{key} needs a trace"));
                }
            }
            Some(About::Inputs(inputs))
        }
        (Some(_), Some(_)) => {
            wrong.push("the row has both a trace and inputs".to_owned());
            None
        }
        (None, None) => {
            if get("trace").or(get("inputs")).is_none() {
                wrong.push("the row has neither a trace nor inputs".to_owned());
            }
            None
        }
    };
    match (id, label, about) {
        (Some(id), Some(label), Some(about)) if wrong.is_empty() => {
            Ok(LabelRow { line, id, label, about, rubric })
        }
        _ => Err(wrong),
    }
}

fn is_known(key: &str) -> bool {
    LABEL_KEYS.contains(&key) || OTHER_KEYS.contains(&key)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

fn label<'v>(get: impl Fn(&str) -> Option<&'v Value>, wrong: &mut Vec<String>) -> Option<RawLabel> {
    let mut found = LABEL_KEYS.iter().filter_map(|key| Some((*key, get(key)?)));
    let Some((key, value)) = found.next() else {
        wrong.push("the row has no label".to_owned());
        return None;
    };
    if let Some((other, _)) = found.next() {
        wrong.push(format!("the row has two labels: {key} and {other}"));
        return None;
    }
    let read = match value {
        Value::Bool(passes) => Some(RawLabel::Verdict(*passes)),
        Value::Number(number) => number.as_f64().map(RawLabel::Number),
        Value::String(text) => word(text.trim()),
        _ => None,
    };
    if read.is_none() {
        let shown = truncate(&value.to_string(), MAX_EXCERPT_CHARS);
        wrong.push(format!("{key} is neither pass nor fail nor a mark: {shown}"));
    }
    read
}

fn word(text: &str) -> Option<RawLabel> {
    match text.to_ascii_lowercase().as_str() {
        "pass" | "passed" | "true" | "yes" => Some(RawLabel::Verdict(true)),
        "fail" | "failed" | "false" | "no" => Some(RawLabel::Verdict(false)),
        _ => text.parse::<f64>().ok().filter(|mark| mark.is_finite()).map(RawLabel::Number),
    }
}

/// Reads named texts. In a table they are JSON in a cell.
fn inputs(value: &Value, wrong: &mut Vec<String>) -> Option<Vec<(String, String)>> {
    let of_cell = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(map) = of_cell.as_ref().unwrap_or(value).as_object() else {
        wrong.push("inputs is not a map of strings".to_owned());
        return None;
    };
    let texts: Vec<(String, String)> = map
        .iter()
        .filter(|(_, value)| !is_nothing(value))
        .map(|(name, value)| match value {
            Value::String(text) => (name.clone(), text.clone()),
            other => (name.clone(), other.to_string()),
        })
        .collect();
    if texts.is_empty() {
        wrong.push("inputs is empty".to_owned());
        return None;
    }
    Some(texts)
}

/// Reason why a label has no meaning on a scale.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LabelError {
    /// The label can be a verdict or a mark.
    #[error(
        "the label 1 is ambiguous: it can be a pass or a mark of {}; write pass or fail",
        .0.word()
    )]
    Ambiguous(Scale),
    /// The scale does not have this mark.
    #[error("the label {0} is not a mark of the scale {scale}", scale = .1.word())]
    NotAMark(f64, Scale),
}

/// Interprets the labels of one rubric on its scale, in their order.
///
/// Numbers are marks of the scale. If all are 0 or 1, they are pass and fail, even if
/// the scale has more marks; if all are 1, which could also be a poor mark, the label
/// is ambiguous.
#[must_use]
pub fn interpret(labels: &[RawLabel], scale: Scale) -> Vec<Result<Label, LabelError>> {
    let numbers = || {
        labels.iter().filter_map(|label| match label {
            RawLabel::Number(number) => Some(*number),
            RawLabel::Verdict(_) => None,
        })
    };
    let is_fine = matches!(scale, Scale::Binary | Scale::Half | Scale::Unit);
    let are_verdicts = !is_fine && numbers().all(|number| number == 0.0 || number == 1.0);
    let has_zero = numbers().any(|number| number == 0.0);
    let one = |label: &RawLabel| match *label {
        RawLabel::Verdict(passes) => Ok(Label::Verdict(passes)),
        RawLabel::Number(number) if are_verdicts && has_zero => Ok(Label::Verdict(number == 1.0)),
        RawLabel::Number(_) if are_verdicts => Err(LabelError::Ambiguous(scale)),
        RawLabel::Number(number) if scale.has(number) => Ok(Label::Mark(number)),
        RawLabel::Number(number) => Err(LabelError::NotAMark(number, scale)),
    };
    labels.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(rows: &[Value]) -> (Vec<LabelRow>, Vec<String>) {
        let (rows, problems) = read_rows((1..).zip(rows));
        (rows, problems.into_iter().map(|p| format!("{}: {}", p.line, p.message)).collect())
    }

    #[test]
    fn rows_in_all_their_shapes() {
        let (rows, problems) = read(&[
            json!({"id": "a", "label": "pass", "trace": "t.jsonl", "call": 3}),
            json!({"id": 7, "expected": false, "trace": "t.jsonl", "call": "toolu_1", "run": 1}),
            json!({"id": "c", "human": 0.5, "inputs": {"x": "y", "n": 3}, "rubric": "r"}),
            // As a table has it.
            json!({"id": "d", "gold": "1", "label": "", "trace": "", "call": "", "rubric": "",
                   "inputs": "{\"x\":\"y\"}", "note": "hard"}),
        ]);
        assert_eq!(problems, [""; 0]);
        let labels: Vec<RawLabel> = rows.iter().map(|row| row.label).collect();
        use RawLabel::{Number, Verdict};
        assert_eq!(labels, [Verdict(true), Verdict(false), Number(0.5), Number(1.0)]);
        assert_eq!(rows[1].id, "7");
        let About::Trace { path, run, call } = &rows[1].about else { panic!() };
        let want = (Some(LabelTarget::Index(1)), Some(LabelTarget::Id("toolu_1".into())));
        assert_eq!((path.as_str(), run.clone(), call.clone()), ("t.jsonl", want.0, want.1));
        let texts = [("x".to_owned(), "y".to_owned()), ("n".to_owned(), "3".to_owned())];
        let About::Inputs(inputs) = &rows[2].about else { panic!() };
        assert!(texts.iter().all(|text| inputs.contains(text)), "{inputs:?}");
        assert_eq!(rows[3].about, About::Inputs(vec![("x".into(), "y".into())]));
        assert_eq!((rows[2].rubric.as_deref(), rows[3].rubric.as_deref()), (Some("r"), None));
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_nothing_else_is_lost() {
        for (row, want) in [
            (json!({"id": "x", "label": "pass"}), "neither a trace nor inputs"),
            (json!({"id": "x", "trace": "t"}), "the row has no label"),
            (json!({"id": "x", "label": null, "trace": "t"}), "the row has no label"),
            (json!({"label": 1, "trace": "t"}), "the row has no id"),
            (json!({"id": "x", "lable": 1, "label": 1, "trace": "t"}), "unknown key lable"),
            (json!({"id": "x", "label": "maybe", "trace": "t"}), "neither pass nor fail"),
            (json!({"id": "x", "label": "NaN", "trace": "t"}), "neither pass nor fail"),
            (json!({"id": "x", "label": 1, "gold": 0, "trace": "t"}), "label and gold"),
            (json!({"id": "x", "label": 1, "trace": 3}), "trace is not a string"),
            (json!({"id": "x", "label": 1, "trace": "t", "call": -1}), "call is neither"),
            (
                json!({"id": "x", "label": 1, "trace": "t", "inputs": {"a": "b"}}),
                "both a trace and inputs",
            ),
            (json!({"id": "x", "label": 1, "inputs": {"a": "b"}, "call": 1}), "call needs a trace"),
            (json!({"id": "x", "label": 1, "inputs": {}}), "inputs is empty"),
            (json!({"id": "x", "label": 1, "inputs": "text"}), "inputs is not a map"),
            (
                json!({"id": "good", "label": 1, "trace": "t"}),
                "the id good is already used in line 1",
            ),
            (json!([1]), "is not an object"),
        ] {
            let good = json!({"id": "good", "label": 1, "trace": "t"});
            let (rows, problems) = read(&[good, row.clone()]);
            assert_eq!(rows.len(), 1, "{row}");
            let told = problems.first().is_some_and(|p| p.starts_with("2: ") && p.contains(want));
            assert!(told && problems.len() == 1, "{row}: {problems:?}");
        }
        let (_, both) = read(&[json!({"trace": "t", "lable": 1})]);
        assert_eq!(both.len(), 3, "{both:?}");
    }

    #[test]
    fn numbers_mean_what_the_scale_lets_them_mean() {
        use Label::{Mark, Verdict};
        for (labels, scale, want) in [
            (vec![0.0, 1.0], Scale::Binary, vec![Some(Mark(0.0)), Some(Mark(1.0))]),
            (vec![0.5, 1.0], Scale::Half, vec![Some(Mark(0.5)), Some(Mark(1.0))]),
            (vec![1.0, 5.0], Scale::OneToFive, vec![Some(Mark(1.0)), Some(Mark(5.0))]),
            // Pass and fail: 0 is not a mark, or only the two worst marks occur.
            (vec![1.0, 0.0], Scale::OneToFive, vec![Some(Verdict(true)), Some(Verdict(false))]),
            (vec![1.0, 0.0], Scale::ZeroToTen, vec![Some(Verdict(true)), Some(Verdict(false))]),
            (vec![1.0, 0.0, 7.0], Scale::ZeroToTen, [1.0, 0.0, 7.0].map(|m| Some(Mark(m))).into()),
            (vec![1.0, 0.0, 3.0], Scale::OneToFive, vec![Some(Mark(1.0)), None, Some(Mark(3.0))]),
            (vec![1.0, 1.0], Scale::OneToTen, vec![None, None]),
            (vec![2.5], Scale::OneToFive, vec![None]),
        ] {
            let written: Vec<RawLabel> = labels.iter().map(|n| RawLabel::Number(*n)).collect();
            let got: Vec<_> = interpret(&written, scale).into_iter().map(Result::ok).collect();
            assert_eq!(got, want, "{labels:?} {scale:?}");
        }
        let mixed = interpret(&[RawLabel::Verdict(true), RawLabel::Number(4.0)], Scale::OneToFive);
        assert_eq!(mixed, [Ok(Verdict(true)), Ok(Mark(4.0))]);
        assert!(Mark(4.0).passes(Scale::OneToFive, 0.75));
        assert!(!Mark(3.0).passes(Scale::OneToFive, 0.75));
    }
}
