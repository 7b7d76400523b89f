//! Reads AgentV's criteria: a text, or a map with a weight, a requirement
//! and the meanings of score ranges.

use toolmark_config::{Node, NodeKind, Problem, quoted};
use toolmark_outcome::judging::{Criterion, Rubric, Scale};

/// Keys of a criterion.
const KEYS: &[&str] = &[
    "id",
    "outcome",
    "criteria",
    "description",
    "expected_outcome",
    "operator",
    "weight",
    "required",
    "min_score",
    "required_min_score",
    "score_ranges",
];

/// Reads criteria. Those without score ranges are met or not; if any criterion
/// has ranges, all are scored from 0 to 10.
pub(super) fn read(items: &[Node], problems: &mut Vec<Problem>) -> Option<Rubric> {
    let before = problems.len();
    let ranged = items.iter().any(|item| item.get("score_ranges").is_some());
    let scale = if ranged { Scale::ZeroToTen } else { Scale::Binary };
    let criteria: Vec<Criterion> = items
        .iter()
        .enumerate()
        .filter_map(|(n, item)| criterion(item, n, ranged, problems))
        .collect();
    for (n, one) in criteria.iter().enumerate() {
        if criteria.iter().skip(n + 1).any(|other| other.id == one.id) {
            let message = format!("two criteria have the name {}", quoted(&one.id));
            problems.push(Problem::error("duplicate-name", message));
        }
    }
    let is_good = problems[before..].iter().all(|problem| !problem.is_error());
    let rubric = Rubric::of_criteria(criteria, scale);
    (is_good && !rubric.criteria.is_empty()).then_some(rubric)
}

fn criterion(
    node: &Node,
    n: usize,
    ranged: bool,
    problems: &mut Vec<Problem>,
) -> Option<Criterion> {
    let mut wrong = |node: &Node, message: String| {
        problems.push(Problem::error("invalid-rubrics", message).at(node.span));
    };
    let id = format!("rubric-{}", n + 1);
    if let Some(text) = node.as_str() {
        if text.trim().is_empty() {
            wrong(node, "the criterion is empty".into());
            return None;
        }
        return Some(Criterion { needs: Some(1.0), ..Criterion::new(id, text.trim()) });
    }
    let Some(entries) = node.as_map() else {
        wrong(node, format!("a criterion is a text or a map, found {}", node.word()));
        return None;
    };
    for entry in entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        let message = format!("unknown key {}", quoted(&entry.key));
        problems.push(Problem::error("unknown-key", message).at(entry.key_span));
    }
    let mut wrong = |node: &Node, message: String| {
        problems.push(Problem::error("invalid-rubrics", message).at(node.span));
    };
    let words = ["outcome", "criteria", "description", "expected_outcome"];
    let text = words.iter().find_map(|key| node.get(key)?.as_str()).unwrap_or_default().trim();
    let anchors = match node.get("score_ranges") {
        Some(ranges) => match score_ranges(ranges) {
            Ok(anchors) => anchors,
            Err(error) => {
                wrong(ranges, error.to_string());
                return None;
            }
        },
        None => Vec::new(),
    };
    if text.is_empty() && anchors.is_empty() {
        wrong(node, "a criterion needs an outcome".into());
        return None;
    }
    let mut number = |key: &str, least: f64, most: f64| {
        let node = node.get(key)?;
        let value = node.as_f64().filter(|value| (least..=most).contains(value));
        if value.is_none() {
            wrong(node, format!("{key} is a number from {least} to {most}"));
        }
        value
    };
    let weight = number("weight", 0.0, f64::MAX).unwrap_or(1.0);
    let min_score = number("min_score", 0.0, 1.0);
    let of_ten = number("required_min_score", 0.0, 10.0).map(|mark| mark / 10.0);
    // Criteria without ranges are required unless marked otherwise.
    let required = node.get("required").and_then(Node::as_bool).unwrap_or(!ranged);
    let needs = min_score.or(of_ten).or(required.then_some(1.0));
    let text = match node.get("operator").and_then(Node::as_str) {
        Some("contradiction") => format!("The answer does not contradict this: {text}"),
        _ if text.is_empty() => "How good it is, by what the marks mean".to_owned(),
        _ => text.to_owned(),
    };
    let id = node.get("id").and_then(Node::as_str).map_or(id, str::to_owned);
    Some(Criterion { anchors, weight, needs, ..Criterion::new(id, text) })
}

/// Reason why score ranges are invalid.
#[derive(Debug, thiserror::Error)]
enum RangeError {
    #[error("{0} is not a mark from 0 to 10")]
    NotAMark(String),
    #[error("what a range means is text")]
    Meaning,
    #[error("score_range is a list of two marks")]
    Bounds,
    #[error("marks are whole numbers")]
    Fraction,
    #[error("a range needs an outcome")]
    NoOutcome,
    #[error("score_ranges is a list or a map, found {0}")]
    Type(&'static str),
    #[error("score_ranges must cover 0 to 10 without gaps and overlaps")]
    Gap,
}

/// Reads score ranges and their meanings: a list of `score_range` and `outcome`, or
/// a map keyed by the start of each range.
fn score_ranges(node: &Node) -> Result<Vec<(String, String)>, RangeError> {
    let mut ranges: Vec<(i64, i64, String)> = Vec::new();
    match &node.kind {
        NodeKind::Map(entries) => {
            let mut starts = Vec::new();
            for entry in entries {
                let start = entry.key.parse::<i64>().ok().filter(|n| (0..=10).contains(n));
                let start = start.ok_or_else(|| RangeError::NotAMark(entry.key.to_string()))?;
                let means = entry.value.as_str().ok_or(RangeError::Meaning)?;
                starts.push((start, means.to_owned()));
            }
            starts.sort_by_key(|(start, _)| *start);
            let ends = starts.iter().skip(1).map(|(next, _)| next - 1).chain([10]);
            let ends: Vec<i64> = ends.collect();
            ranges
                .extend(starts.into_iter().zip(ends).map(|((from, means), to)| (from, to, means)));
        }
        NodeKind::List(items) => {
            for item in items {
                let bounds = item.get("score_range").and_then(Node::as_list).unwrap_or_default();
                let [from, to] = bounds else {
                    return Err(RangeError::Bounds);
                };
                let (Some(from), Some(to)) = (from.as_i64(), to.as_i64()) else {
                    return Err(RangeError::Fraction);
                };
                let means = item.get("outcome").and_then(Node::as_str);
                ranges.push((from, to, means.ok_or(RangeError::NoOutcome)?.to_owned()));
            }
            ranges.sort_by_key(|(from, ..)| *from);
        }
        _ => return Err(RangeError::Type(node.word())),
    }
    let mut next = 0;
    for (from, to, _) in &ranges {
        if *from != next || to < from {
            return Err(RangeError::Gap);
        }
        next = to + 1;
    }
    if next != 11 {
        return Err(RangeError::Gap);
    }
    let word =
        |from: i64, to: i64| if from == to { from.to_string() } else { format!("{from}-{to}") };
    Ok(ranges.into_iter().map(|(from, to, means)| (word(from, to), means)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(items: Value) -> Result<Rubric, String> {
        let node = Node::from_json(&items).unwrap();
        let mut problems = Vec::new();
        read(node.as_list().unwrap(), &mut problems).ok_or_else(|| {
            problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
        })
    }

    #[test]
    fn texts_must_hold_and_maps_say_what_they_need() {
        let rubric = of(json!([
            "is polite",
            {"id": "short", "outcome": "is short", "required": false, "weight": 2},
            {"outcome": "is right", "operator": "contradiction"},
        ]))
        .unwrap();
        assert_eq!(rubric.scale, Scale::Binary);
        let shown: Vec<_> =
            rubric.criteria.iter().map(|c| (c.id.as_str(), c.weight, c.needs)).collect();
        assert_eq!(
            shown,
            [("rubric-1", 1.0, Some(1.0)), ("short", 2.0, None), ("rubric-3", 1.0, Some(1.0))]
        );
        assert!(rubric.criteria[2].text.contains("not contradict"));
    }

    #[test]
    fn ranges_of_marks() {
        let rubric = of(json!([
            {"id": "a", "outcome": "good", "score_ranges": {"0": "bad", "5": "fair", "10": "fine"}},
            {"id": "b", "min_score": 0.7, "score_ranges": [
                {"score_range": [0, 4], "outcome": "no"}, {"score_range": [5, 10], "outcome": "yes"}]},
            {"id": "c", "outcome": "x", "required_min_score": 6},
        ]))
        .unwrap();
        assert_eq!(rubric.scale, Scale::ZeroToTen);
        let words: Vec<&str> = rubric.criteria[0].anchors.iter().map(|(w, _)| w.as_str()).collect();
        assert_eq!(words, ["0-4", "5-9", "10"]);
        let needs: Vec<_> = rubric.criteria.iter().map(|c| c.needs).collect();
        assert_eq!(needs, [None, Some(0.7), Some(0.6)]);
    }

    #[test]
    fn mistakes() {
        for (items, want) in [
            (json!([{}]), "needs an outcome"),
            (json!([7]), "a text or a map"),
            (json!([" "]), "empty"),
            (json!([{"outcome": "x", "wieght": 1}]), "unknown key"),
            (json!([{"outcome": "x", "weight": -1}]), "weight"),
            (json!([{"outcome": "x", "min_score": 2}]), "min_score"),
            (json!([{"outcome": "x", "score_ranges": {"1": "a"}}]), "cover 0 to 10"),
            (json!([{"id": "a", "outcome": "x"}, {"id": "a", "outcome": "y"}]), "two criteria"),
            (
                json!([{"score_ranges": [{"score_range": [0, 6], "outcome": "a"},
                                         {"score_range": [6, 10], "outcome": "b"}]}]),
                "cover 0 to 10",
            ),
        ] {
            assert!(of(items.clone()).is_err_and(|said| said.contains(want)), "{items}");
        }
    }
}
