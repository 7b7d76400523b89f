//! Parser for rubrics in specs: a text, or criteria that are texts or maps.

use super::{Criterion, Rubric, RubricExample, Scale, scale_of_words};
use serde::Deserialize;
use toolmark_config::{Node, NodeKind, Problem, Spanned, did_you_mean, quoted, read};

/// A criterion as written in a spec.
#[derive(Debug, Deserialize)]
struct CriterionEntry {
    #[serde(default)]
    id: Option<String>,
    #[serde(alias = "outcome", alias = "description", alias = "criterion")]
    text: Spanned<String>,
    #[serde(default)]
    weight: Option<Spanned<f64>>,
    #[serde(default)]
    needs: Option<Spanned<f64>>,
    #[serde(default)]
    marks: Option<Node>,
}

/// Parses a rubric in any notation: a text, a list of criteria, or a single criterion.
/// Without an explicit scale, the scale in its wording or the default applies. Errors are
/// added to `problems`.
pub fn read_rubric(
    node: &Node,
    scale: Option<Scale>,
    problems: &mut Vec<Problem>,
) -> Option<Rubric> {
    let before = problems.len();
    let scale = scale.or_else(|| scale_of_marks(node)).or_else(|| scale_of_words(texts(node)));
    let scale = scale.unwrap_or_default();
    let mut wrong = |node: &Node, code, message: String| {
        problems.push(Problem::error(code, message).at(node.span));
    };
    let rubric = match &node.kind {
        NodeKind::Text(text) if text.trim().is_empty() => {
            wrong(node, "empty-text", "the rubric is empty".into());
            return None;
        }
        NodeKind::Text(text) => {
            // A single word is meant as the name of a rubric, and this name is unknown.
            if !text.trim().contains(char::is_whitespace) {
                let message = format!("unknown built-in rubric {}", quoted(text));
                let problem = Problem::error("unknown-rubric", message).at(node.span);
                let names = super::BUILT_IN.iter().map(|rubric| rubric.name);
                problems.push(match did_you_mean(text, names.clone()) {
                    Some(near) => problem.help(format!("did you mean {near}?")),
                    None => {
                        let names = names.collect::<Vec<_>>().join(", ");
                        problem.help(format!("known rubrics: {names}"))
                    }
                });
                return None;
            }
            Rubric::of_text(text.trim(), scale)
        }
        NodeKind::List(items) if items.is_empty() => {
            wrong(node, "empty-list", "the list of criteria is empty".into());
            return None;
        }
        NodeKind::List(items) => {
            let mut criteria = Vec::with_capacity(items.len());
            for (n, item) in items.iter().enumerate() {
                criteria.extend(criterion(item, n, scale, problems));
            }
            Rubric::of_criteria(criteria, scale)
        }
        NodeKind::Map(_) => {
            let one = criterion(node, 0, scale, problems)?;
            Rubric::of_criteria(vec![one], scale)
        }
        _ => {
            let message = format!("expected text or a list of criteria, found {}", node.word());
            wrong(node, "wrong-type", message);
            return None;
        }
    };
    for (n, one) in rubric.criteria.iter().enumerate() {
        if rubric.criteria.iter().take(n).any(|other| other.id == one.id) {
            let message = format!("two criteria have the name {}", quoted(&one.id));
            let mut named = node.items().filter_map(|item| item.get("id"));
            let place = named.rfind(|id| id.as_str() == Some(&one.id)).unwrap_or(node);
            problems.push(Problem::error("duplicate-name", message).at(place.span));
        }
    }
    let is_good = problems[before..].iter().all(|problem| !problem.is_error());
    if is_good && rubric.criteria.iter().map(|one| one.weight).sum::<f64>() <= 0.0 {
        let message = "all weights are 0: at least one must be above 0";
        problems.push(Problem::error("out-of-range", message).at(node.span));
    }
    if let Some(message) = rubric.contradiction() {
        let problem = Problem::warning("scale-mismatch", message).at(node.span);
        problems.push(problem.help("change `scale`, or what the rubric says about marks"));
    }
    problems[before..].iter().all(|problem| !problem.is_error()).then_some(rubric)
}

/// Returns the texts of a rubric in any notation.
fn texts(node: &Node) -> Vec<&str> {
    fn of_one(node: &Node) -> Option<&str> {
        let keys = ["text", "outcome", "description", "criterion"];
        node.as_str().or_else(|| keys.iter().find_map(|key| node.get(key)?.as_str()))
    }
    match node.as_list() {
        Some(items) => items.iter().filter_map(of_one).collect(),
        None => of_one(node).into_iter().collect(),
    }
}

/// Returns the scale that contains all explained marks and whose ends are among them.
fn scale_of_marks(node: &Node) -> Option<Scale> {
    let items: Vec<&Node> = match node.as_list() {
        Some(items) => items.iter().collect(),
        None => vec![node],
    };
    let keys = items.iter().filter_map(|item| item.get("marks")).flat_map(Node::entries);
    let marks: Vec<f64> =
        keys.map(|entry| entry.key.trim().parse()).collect::<Result<_, _>>().ok()?;
    let scales = [Scale::Unit, Scale::OneToFive, Scale::OneToTen, Scale::ZeroToTen];
    scales.into_iter().find(|scale| {
        let ends = scale.points();
        !marks.is_empty()
            && marks.iter().all(|mark| scale.has(*mark))
            && [ends.first(), ends.last()].iter().flatten().all(|end| marks.contains(end))
    })
}

/// An example as written in a spec.
#[derive(Debug, Deserialize)]
struct WrittenExample {
    #[serde(alias = "input")]
    text: Spanned<String>,
    #[serde(default)]
    mark: Option<Spanned<f64>>,
    #[serde(default)]
    marks: Option<Node>,
    #[serde(default)]
    reason: Option<String>,
}

/// Parses the examples of a rubric: a list of maps with the `text` that was marked, its
/// `mark` (or `marks` by criterion), and the `reason`.
pub fn read_examples(
    node: &Node,
    rubric: &Rubric,
    problems: &mut Vec<Problem>,
) -> Vec<RubricExample> {
    let Some(items) = node.as_list().filter(|items| !items.is_empty()) else {
        let message = format!("expected a list of examples, found {}", node.word());
        problems.push(Problem::error("wrong-type", message).at(node.span));
        return Vec::new();
    };
    let mut examples = Vec::with_capacity(items.len());
    for item in items {
        let Some(written) = read::<WrittenExample>(item, problems) else { continue };
        let mut wrong = |span, code, message: String| {
            problems.push(Problem::error(code, message).at(span));
        };
        if written.text.value.trim().is_empty() {
            wrong(written.text.span, "empty-text", "the example is empty".to_owned());
        }
        let mut marks = Vec::new();
        match (&written.mark, &written.marks, rubric.criteria.as_slice()) {
            (Some(mark), None, [only]) => marks.push((only.id.clone(), mark.value, mark.span)),
            (None, Some(node), _) => {
                for entry in node.entries() {
                    match entry.value.as_f64() {
                        Some(mark) if rubric.criteria.iter().any(|c| entry.key == c.id) => {
                            marks.push((entry.key.to_string(), mark, entry.value.span));
                        }
                        Some(_) => {
                            let message = format!("there is no criterion {}", quoted(&entry.key));
                            wrong(entry.key_span, "unknown-name", message);
                        }
                        None => {
                            let found = entry.value.word();
                            let message = format!("expected a mark, found {found}");
                            wrong(entry.value.span, "wrong-type", message);
                        }
                    }
                }
            }
            (Some(_), Some(node), _) => {
                let message = "only one of mark and marks is allowed".to_owned();
                wrong(node.span, "conflicting-keys", message);
            }
            _ => {
                let message = "an example needs a `mark`, or `marks` by criterion".to_owned();
                wrong(item.span, "missing-key", message);
            }
        }
        for (_, mark, span) in marks.iter().filter(|(_, mark, _)| !rubric.scale.has(*mark)) {
            let message = format!("{mark} is not a mark of the scale {}", rubric.scale.word());
            wrong(*span, "unknown-mark", message);
        }
        examples.push(RubricExample {
            text: written.text.value.trim().to_owned(),
            marks: marks.into_iter().map(|(id, mark, _)| (id, mark)).collect(),
            reason: written.reason.unwrap_or_default().trim().to_owned(),
        });
    }
    examples
}

fn criterion(
    node: &Node,
    n: usize,
    scale: Scale,
    problems: &mut Vec<Problem>,
) -> Option<Criterion> {
    let id = || format!("c{}", n + 1);
    if let Some(text) = node.as_str() {
        if text.trim().is_empty() {
            problems.push(Problem::error("empty-text", "the criterion is empty").at(node.span));
            return None;
        }
        return Some(Criterion::new(id(), text.trim()));
    }
    let written = read::<CriterionEntry>(node, problems)?;
    let mut wrong = |span, message: String| {
        problems.push(Problem::error("out-of-range", message).at(span));
    };
    if written.text.value.trim().is_empty() {
        wrong(written.text.span, "the criterion is empty".to_owned());
    }
    if let Some(weight) = written.weight
        && !(weight.value.is_finite() && weight.value >= 0.0)
    {
        wrong(weight.span, format!("expected a weight of 0 or more, found {}", weight.value));
    }
    if let Some(needs) = written.needs
        && !(0.0..=1.0).contains(&needs.value)
    {
        let message =
            format!("expected a share from 0 to 1, whatever the scale, found {}", needs.value);
        wrong(needs.span, message);
    }
    let mut anchors = Vec::new();
    for entry in written.marks.iter().flat_map(Node::entries) {
        let is_mark = entry.key.trim().parse::<f64>().is_ok_and(|mark| scale.has(mark));
        match entry.value.as_str() {
            Some(means) if is_mark => anchors.push((entry.key.to_string(), means.to_owned())),
            Some(_) => {
                let message =
                    format!("{} is not a mark of the scale {}", quoted(&entry.key), scale.word());
                problems.push(Problem::error("unknown-mark", message).at(entry.key_span));
            }
            None => {
                let found = entry.value.word();
                let message = format!("expected text that says what the mark means, found {found}");
                problems.push(Problem::error("wrong-type", message).at(entry.value.span));
            }
        }
    }
    let text = written.text.value.trim();
    Some(Criterion {
        anchors,
        weight: written.weight.map_or(1.0, |weight| weight.value),
        needs: written.needs.map(|needs| needs.value),
        ..Criterion::new(written.id.unwrap_or_else(id), text)
    })
}
