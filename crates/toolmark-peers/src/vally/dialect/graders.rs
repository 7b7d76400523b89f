//! Entries of `graders:`.

use serde::Deserialize;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_config::{Node, NodeKind, NodeSpan, Problem, Spanned, quoted, read};
use toolmark_grade::Planned;
use toolmark_grade::{ListedGrader, Loading};
use toolmark_outcome::Profile;

/// Recommended maximum length of a grader's name.
const LONGEST_NAME: usize = 60;

/// A grader entry as written in a spec.
#[derive(Debug, Deserialize)]
struct GraderEntry {
    /// Type of the grader.
    r#type: Spanned<String>,
    /// Name of the grader, if the type is not enough to distinguish it from others: lower-case
    /// letters, digits and hyphens.
    #[serde(default)]
    name: Option<Spanned<String>>,
    /// Turn of the stimulus to grade, from 0; all turns by
    /// default.
    #[serde(default)]
    turn: Option<Spanned<u32>>,
    /// Whether the grader must pass, regardless of the others.
    #[serde(default)]
    required: Option<bool>,
    /// Configuration of the grader.
    #[serde(default)]
    config: Option<Node>,
}

/// A grader requested by an entry or a constraint.
pub(super) struct RequestedGrader {
    pub(super) type_word: Spanned<String>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) turn: Option<Spanned<u32>>,
    pub(super) required: bool,
    pub(super) config: Node,
    pub(super) span: NodeSpan,
    /// Whether a constraint requested it.
    pub(super) implied: bool,
}

/// Names of the graders of all stimuli.
#[derive(Default)]
pub(super) struct GraderNames(SortedMap<String, NodeSpan>);

/// Reads the graders of a list.
pub(super) fn entries(list: &Node, loading: &mut Loading<'_>) -> Vec<RequestedGrader> {
    let Some(items) = list.as_list() else {
        if !list.is_null() {
            let message = format!("expected a list of graders, found {}", list.word());
            loading.error("wrong-type", list.span, message);
        }
        return Vec::new();
    };
    let asked = items.iter().filter_map(|item| {
        let Some(written) = read::<GraderEntry>(item, &mut loading.problems) else {
            // The type may be right, and then what it configures can be looked at.
            let kind = item.get("type")?;
            let type_word = Spanned { value: kind.as_str()?.to_owned(), span: kind.span };
            let config = item.get("config").cloned();
            return Some(RequestedGrader {
                type_word,
                name: None,
                turn: None,
                required: false,
                config: config.unwrap_or_else(|| nothing(item.span)),
                span: item.span,
                implied: false,
            });
        };
        if let Some(name) = &written.name {
            check_name(name, loading);
        }
        Some(RequestedGrader {
            type_word: written.r#type,
            name: written.name,
            turn: written.turn,
            required: written.required.unwrap_or(false),
            config: written.config.filter(|c| !c.is_null()).unwrap_or_else(|| nothing(item.span)),
            span: item.span,
            implied: false,
        })
    });
    asked.collect()
}

/// Returns an empty configuration.
fn nothing(span: NodeSpan) -> Node {
    Node::new(NodeKind::Map(Vec::new()), span)
}

/// Reports names that are not slugs, which Vally rejects.
fn check_name(name: &Spanned<String>, loading: &mut Loading<'_>) {
    let text = &name.value;
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_slug =
        text.bytes().next().is_some_and(letter) && text.bytes().all(|b| letter(b) || b == b'-');
    let what = if !is_slug {
        "is not made of small letters, digits and hyphens"
    } else if text.len() > LONGEST_NAME {
        "is longer than 60 characters"
    } else {
        return;
    };
    loading.warn("grader-name", name.span, format!("the name {} {what}", quoted(text)));
}

/// Builds a requested grader; its weight is set by the case.
pub(super) fn build(asked: &RequestedGrader, loading: &mut Loading<'_>) -> Option<Planned> {
    loading.grader(ListedGrader {
        name: asked.name.as_ref().map(|name| name.value.clone()),
        profile: Profile::Vally,
        contrast: Some(Profile::Toolmark),
        required: asked.required,
        turn: asked.turn.as_ref().map(|turn| turn.value),
        ..ListedGrader::new(asked.type_word.clone(), &asked.config, asked.span)
    })
}

/// Makes the grader names of one case unique: a second `completed` becomes
/// `completed-2`.
pub(super) fn tell_apart(graders: &mut [Planned]) {
    let mut taken: SortedSet<String> = SortedSet::new();
    let mut last: SortedMap<String, u32> = SortedMap::new();
    for grader in graders {
        if taken.insert(grader.name.clone()) {
            continue;
        }
        let number = last.entry(grader.name.clone()).or_insert(1);
        let mut name;
        loop {
            *number = number.saturating_add(1);
            name = format!("{}-{number}", grader.name);
            if taken.insert(name.clone()) {
                break;
            }
        }
        grader.name = name;
    }
}

impl GraderNames {
    /// Returns the names of graders that apply to all stimuli.
    pub(super) fn of_shared(asked: &[RequestedGrader], loading: &mut Loading<'_>) -> Self {
        Self(Self::default().check(asked, loading))
    }

    /// Reports names shared by two graders of one stimulus, including those that apply to all
    /// stimuli; names in other stimuli do not matter. Returns the names
    /// of these graders.
    pub(super) fn check(
        &self,
        asked: &[RequestedGrader],
        loading: &mut Loading<'_>,
    ) -> SortedMap<String, NodeSpan> {
        let mut own: SortedMap<String, NodeSpan> = SortedMap::new();
        for name in asked.iter().filter(|a| !a.implied).filter_map(|a| a.name.as_ref()) {
            if let Some(first) = self.0.get(&name.value).or_else(|| own.get(&name.value)) {
                let message = format!("two graders have the name {}", quoted(&name.value));
                let problem = Problem::warning("duplicate-grader-name", message).at(name.span);
                loading.problems.push(problem.note(*first, "the first one"));
            } else {
                own.insert(name.value.clone(), name.span);
            }
        }
        own
    }
}
