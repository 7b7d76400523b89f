//! Entries of `graders:`.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_config::{Kind, Node, Problem, Span, Spanned, quoted, read};
use toolmark_grade::Planned;
use toolmark_grade::{Entry, Loading};
use toolmark_outcome::Profile;

/// The longest a grader's name should be.
const LONGEST_NAME: usize = 60;

/// A grader as a spec asks for it.
#[derive(Debug, Deserialize)]
struct Written {
    /// What it asks.
    r#type: Spanned<String>,
    /// Its name, where the type is not enough to tell it from others: small
    /// letters, digits and hyphens.
    #[serde(default)]
    name: Option<Spanned<String>>,
    /// The turn of the stimulus it is about, from 0; all of them where nothing
    /// is said.
    #[serde(default)]
    turn: Option<Spanned<u32>>,
    /// Must it hold whatever the others say?
    #[serde(default)]
    required: Option<bool>,
    /// Its configuration.
    #[serde(default)]
    config: Option<Node>,
}

/// A grader that an entry or a constraint asks for.
pub(super) struct Asked {
    pub(super) type_word: Spanned<String>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) turn: Option<Spanned<u32>>,
    pub(super) required: bool,
    pub(super) config: Node,
    pub(super) span: Span,
    /// Was it asked for by a constraint?
    pub(super) implied: bool,
}

/// The names that graders of all stimuli were given.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, Span>);

/// The graders of a list.
pub(super) fn entries(list: &Node, loading: &mut Loading<'_>) -> Vec<Asked> {
    let Some(items) = list.as_list() else {
        if !list.is_null() {
            let message = format!("expected a list of graders, found {}", list.word());
            loading.error("wrong-type", list.span, message);
        }
        return Vec::new();
    };
    let asked = items.iter().filter_map(|item| {
        let Some(written) = read::<Written>(item, &mut loading.problems) else {
            // The type may be right, and then what it configures can be looked at.
            let kind = item.get("type")?;
            let type_word = Spanned { value: kind.as_str()?.to_owned(), span: kind.span };
            let config = item.get("config").cloned();
            return Some(Asked {
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
        Some(Asked {
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

/// A configuration that says nothing.
fn nothing(span: Span) -> Node {
    Node::new(Kind::Map(Vec::new()), span)
}

/// Vally takes names that are slugs only.
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

/// Builds what was asked; its weight is for the case to say.
pub(super) fn build(asked: &Asked, loading: &mut Loading<'_>) -> Option<Planned> {
    loading.grader(Entry {
        name: asked.name.as_ref().map(|name| name.value.clone()),
        profile: Profile::Vally,
        contrast: Some(Profile::Toolmark),
        required: asked.required,
        turn: asked.turn.as_ref().map(|turn| turn.value),
        ..Entry::new(asked.type_word.clone(), &asked.config, asked.span)
    })
}

/// Gives graders of one case different names: a second `completed` becomes
/// `completed-2`.
pub(super) fn tell_apart(graders: &mut [Planned]) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
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

impl Names {
    /// The names of graders that are asked of all stimuli.
    pub(super) fn of_shared(asked: &[Asked], loading: &mut Loading<'_>) -> Self {
        Self(Self::default().check(asked, loading))
    }

    /// Reports names that two graders of one stimulus have, those asked of all
    /// stimuli included; what other stimuli call theirs does not matter. The names
    /// of these graders.
    pub(super) fn check(
        &self,
        asked: &[Asked],
        loading: &mut Loading<'_>,
    ) -> BTreeMap<String, Span> {
        let mut own: BTreeMap<String, Span> = BTreeMap::new();
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
