//! One entry of a list of evaluators: the common settings, and the configuration
//! of the grader.

use toolmark_config::{Node, NodeEntry as Pair, NodeKind, NodeSpan, Problem, Spanned, quoted};

/// An evaluator as a spec lists it.
pub struct EvaluatorEntry {
    /// Type name, without `not-`.
    pub type_word: Spanned<String>,
    /// Name of the evaluator.
    pub name: Option<String>,
    /// Configuration of the grader.
    pub config: Node,
    /// Weight of the evaluator.
    pub weight: f64,
    /// Whether the evaluator must pass.
    pub required: bool,
    /// Minimum score if it is required.
    pub min_score: Option<f64>,
    /// Whether the verdict is inverted by the caller rather than by the grader itself.
    pub negate: bool,
    /// Span of the whole entry.
    pub span: NodeSpan,
}

/// Common keys of evaluators.
pub const COMMON: &[&str] =
    &["type", "id", "name", "metric", "weight", "required", "min_score", "negate"];

/// Types that implement their opposite themselves.
const TURN_THEMSELVES: &[&str] = &[
    "trajectory:tool-used",
    "trajectory:tool-sequence",
    "trajectory:tool-args-match",
    "trajectory:step-count",
    "skill-used",
];

/// Splits a list of evaluators into entries. Texts among them are criteria for a judge:
/// together they form one entry, with the total weight.
pub fn entries(list: &Node, problems: &mut Vec<Problem>) -> Vec<EvaluatorEntry> {
    let Some(items) = list.as_list() else {
        let message = format!("expected a list of evaluators, found {}", list.word());
        problems.push(Problem::error("invalid-evaluators", message).at(list.span));
        return Vec::new();
    };
    let criteria: Vec<Node> =
        items.iter().filter(|item| item.as_str().is_some()).cloned().collect();
    let mut criteria = Some(criteria);
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        if item.as_str().is_none() {
            all.extend(entry(item, problems));
        } else if let Some(criteria) = criteria.take() {
            all.push(judged(criteria, item.span));
        }
    }
    all
}

/// Creates a judge entry for textual criteria.
#[must_use]
pub fn judged(criteria: Vec<Node>, span: NodeSpan) -> EvaluatorEntry {
    let weight = criteria.len() as f64;
    let pair = Pair {
        key: "value".into(),
        key_span: span,
        value: Node::new(NodeKind::List(criteria), span),
    };
    EvaluatorEntry {
        type_word: Spanned { value: "llm-rubric".into(), span },
        name: None,
        config: Node::new(NodeKind::Map(vec![pair]), span),
        weight,
        required: false,
        min_score: None,
        negate: false,
        span,
    }
}

fn entry(node: &Node, problems: &mut Vec<Problem>) -> Option<EvaluatorEntry> {
    let wrong =
        |node: &Node, message: String| Problem::error("invalid-evaluator", message).at(node.span);
    if node.as_map().is_none() {
        problems.push(wrong(node, format!("expected an evaluator, found {}", node.word())));
        return None;
    }
    let Some(word) = node.get("type") else {
        problems.push(Problem::error("missing-key", "an evaluator needs a \"type\"").at(node.span));
        return None;
    };
    let Some(text) = word.as_str() else {
        problems.push(wrong(word, format!("type must be text, found {}", word.word())));
        return None;
    };
    let mut negate = match node.get("negate").map(|node| (node, node.as_bool())) {
        None => false,
        Some((_, Some(negate))) => negate,
        Some((node, None)) => {
            problems
                .push(wrong(node, format!("negate must be true or false, found {}", node.word())));
            false
        }
    };
    let text = match text.strip_prefix("not-") {
        Some(rest) => {
            negate = !negate;
            rest
        }
        None => text,
    };
    let mut share = |key: &str, least: f64, most: f64, range: &str| {
        let node = node.get(key).filter(|node| !node.is_null())?;
        let value = node.as_f64().filter(|v| v.is_finite() && *v >= least && *v <= most);
        if value.is_none() {
            problems.push(wrong(node, format!("{key} must be a number {range}")));
        }
        value
    };
    let weight = share("weight", 0.0, f64::MAX, "of 0 or more").unwrap_or(1.0);
    let mut min_score = share("min_score", 0.0, 1.0, "from 0 to 1");
    let required = match node.get("required").map(|node| (node, &node.kind)) {
        None | Some((_, NodeKind::Null)) => false,
        Some((_, NodeKind::Bool(required))) => *required,
        // A number is the score it must reach.
        Some(_) => {
            let mark = share("required", 0.0, 1.0, "from 0 to 1, true or false");
            min_score = min_score.or(mark);
            mark.is_some()
        }
    };
    let mut name = None;
    for key in ["name", "metric", "id"] {
        if let Some(node) = node.get(key).filter(|node| !node.is_null()) {
            match node.as_str() {
                Some(text) => name = name.or_else(|| Some(text.to_owned())),
                None => {
                    problems.push(wrong(node, format!("{key} must be text, found {}", node.word())))
                }
            }
        }
    }
    let mut config = node.without(COMMON);
    if negate && TURN_THEMSELVES.contains(&text) {
        negate = false;
        if let NodeKind::Map(pairs) = &mut config.kind {
            let value = Node::new(NodeKind::Bool(true), word.span);
            pairs.push(Pair { key: "negate".into(), key_span: word.span, value });
        }
    }
    let type_word = Spanned { value: text.to_owned(), span: word.span };
    Some(EvaluatorEntry {
        type_word,
        name,
        config,
        weight,
        required,
        min_score,
        negate,
        span: node.span,
    })
}

/// Returns the problem of two evaluators with the same name.
pub(super) fn repeated(name: &str, span: NodeSpan) -> Problem {
    let message = format!("two evaluators have the name {}", quoted(name));
    Problem::error("duplicate-name", message).at(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(list: serde_json::Value) -> (Vec<EvaluatorEntry>, Vec<String>) {
        let mut problems = Vec::new();
        let all = entries(&Node::from_json(&list).unwrap(), &mut problems);
        (all, problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn what_is_common_is_taken_out() {
        let (all, said) = read(json!([
            {"type": "latency", "threshold": 1, "weight": 2, "required": 0.6, "metric": "fast"},
            "is polite",
            {"type": "not-contains", "value": "x", "required": true, "min_score": 0.5},
            {"type": "not-trajectory:tool-used", "value": "x"},
            "is short",
            {"type": "not-contains", "value": "x", "negate": true},
        ]));
        assert_eq!(said, [] as [&str; 0]);
        let shown: Vec<_> = all
            .iter()
            .map(|e| (e.type_word.value.as_str(), e.weight, e.required, e.min_score, e.negate))
            .collect();
        assert_eq!(
            shown,
            [
                ("latency", 2.0, true, Some(0.6), false),
                ("llm-rubric", 2.0, false, None, false),
                ("contains", 1.0, true, Some(0.5), true),
                ("trajectory:tool-used", 1.0, false, None, false),
                ("contains", 1.0, false, None, false),
            ]
        );
        assert_eq!(all[0].name.as_deref(), Some("fast"));
        assert_eq!(all[0].config.to_json(), json!({"threshold": 1}));
        assert_eq!(all[1].config.to_json(), json!({"value": ["is polite", "is short"]}));
        assert_eq!(all[3].config.to_json(), json!({"value": "x", "negate": true}));
    }

    #[test]
    fn mistakes() {
        for (list, complaint) in [
            (json!({}), "list of evaluators"),
            (json!([7]), "expected an evaluator"),
            (json!([{"value": "x"}]), "needs a \"type\""),
            (json!([{"type": 1}]), "type must be text"),
            (json!([{"type": "cost", "weight": -1}]), "weight must be"),
            (json!([{"type": "cost", "min_score": 2}]), "min_score must be"),
            (json!([{"type": "cost", "required": "yes"}]), "required must be"),
            (json!([{"type": "cost", "negate": 1}]), "negate must be"),
            (json!([{"type": "cost", "name": 1}]), "name must be text"),
        ] {
            let (_, said) = read(list.clone());
            assert!(said.join("; ").contains(complaint), "{list}: {said:?}");
        }
    }
}
