//! The entries of `graders:`, and the helpers that entries and cases share.

use toolmark_config::{Node, NodeKind, NodeSpan, Problem, Spanned, did_you_mean, quoted};
use toolmark_grade::{ListedGrader, Loading};
use toolmark_outcome::Profile;

/// Keys of an entry; every other key belongs to the grader.
const KEYS: &[&str] =
    &["type", "name", "profile", "weight", "min_score", "negate", "turn", "config"];

/// A map whose keys have been checked.
pub(super) struct CheckedMap<'a> {
    pub(super) node: &'a Node,
}

impl<'a> CheckedMap<'a> {
    /// Checks the keys of a map; unknown keys are reported with the nearest known key.
    pub(super) fn map(
        node: &'a Node,
        keys: &[&str],
        what: &str,
        loading: &mut Loading<'_>,
    ) -> Option<Self> {
        if node.as_map().is_none() {
            let message = format!("{what} is a map, found {}", node.word());
            loading.error("wrong-type", node.span, message);
            return None;
        }
        for entry in node.entries() {
            if !keys.contains(&entry.key.as_str()) {
                let message = format!("unknown key {} in {what}", quoted(&entry.key));
                let problem = Problem::error("unknown-key", message).at(entry.key_span);
                loading.problems.push(match did_you_mean(&entry.key, keys.iter().copied()) {
                    Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                    None => problem.help(format!("known keys: {}", keys.join(", "))),
                });
            }
        }
        Some(Self { node })
    }

    /// Returns the value of a key, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key).filter(|node| !node.is_null())
    }
}

fn wrong(key: &str, want: &str, node: &Node, loading: &mut Loading<'_>) {
    let found = match node.as_f64() {
        Some(number) => number.to_string(),
        None => node.word().to_owned(),
    };
    let message = format!("expected {want} for `{key}`, found {found}");
    loading.error("wrong-type", node.span, message);
}

/// Reads a text.
pub(super) fn text(map: &CheckedMap<'_>, key: &str, loading: &mut Loading<'_>) -> Option<String> {
    let node = map.get(key)?;
    match node.as_str() {
        Some(text) => Some(text.to_owned()),
        None => {
            wrong(key, "a text", node, loading);
            None
        }
    }
}

/// Reads a number from 0 to 1.
pub(super) fn share(map: &CheckedMap<'_>, key: &str, loading: &mut Loading<'_>) -> Option<f64> {
    let node = map.get(key)?;
    match node.as_f64() {
        Some(number) if (0.0..=1.0).contains(&number) => Some(number),
        _ => {
            wrong(key, "a number from 0 to 1", node, loading);
            None
        }
    }
}

fn flag(map: &CheckedMap<'_>, key: &str, loading: &mut Loading<'_>) -> bool {
    match map.get(key) {
        None => false,
        Some(node) => node.as_bool().unwrap_or_else(|| {
            wrong(key, "true or false", node, loading);
            false
        }),
    }
}

/// Reads the profile that graders follow.
pub(super) fn profile(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> Option<Profile> {
    let node = map.get("profile")?;
    let word = node.as_str().unwrap_or_default();
    let profile = Profile::from_word(word);
    if profile.is_none() {
        let words = Profile::ALL.iter().map(|profile| profile.word());
        let message = format!("unknown profile {}", quoted(word));
        let problem = Problem::error("unknown-profile", message).at(node.span);
        let list: Vec<_> = words.clone().collect();
        loading.problems.push(match did_you_mean(word, words) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(format!("profiles: {}", list.join(", "))),
        });
    }
    profile
}

/// A grader entry of the spec, with its configuration separated.
pub(super) struct GraderEntry<'a> {
    pub(super) type_word: Spanned<String>,
    pub(super) name: Option<String>,
    pub(super) config: std::borrow::Cow<'a, Node>,
    pub(super) profile: Option<Profile>,
    pub(super) weight: f64,
    pub(super) required: bool,
    pub(super) min_score: Option<f64>,
    pub(super) negate: bool,
    pub(super) turn: Option<u32>,
    pub(super) span: NodeSpan,
}

impl GraderEntry<'_> {
    /// Converts the entry to the type that the loader expects.
    pub(super) fn entry(&self, default: Profile) -> ListedGrader<'_> {
        let mut entry = ListedGrader::new(self.type_word.clone(), &self.config, self.span);
        entry.name.clone_from(&self.name);
        entry.profile = self.profile.unwrap_or(default);
        // Asked for another system's reading, it says where ours differs.
        entry.contrast = (entry.profile != Profile::Toolmark).then_some(Profile::Toolmark);
        entry.weight = self.weight;
        entry.required = self.required;
        entry.min_score = self.min_score;
        entry.negate = self.negate;
        entry.turn = self.turn;
        entry
    }
}

/// Reads the graders under `graders` and `expect`.
pub(super) fn read_graders<'a>(
    map: &CheckedMap<'a>,
    case: Option<&str>,
    loading: &mut Loading<'_>,
) -> Vec<GraderEntry<'a>> {
    let mut asked = Vec::new();
    if let Some(node) = map.get("expect") {
        asked.push(GraderEntry {
            type_word: Spanned { value: "expect".to_owned(), span: node.span },
            name: None,
            config: std::borrow::Cow::Borrowed(node),
            profile: None,
            weight: 1.0,
            required: false,
            min_score: None,
            negate: false,
            turn: None,
            span: node.span,
        });
    }
    if let Some(node) = map.get("graders") {
        match node.as_list() {
            Some(list) => asked.extend(list.iter().filter_map(|entry| read_entry(entry, loading))),
            None => wrong("graders", "a list", node, loading),
        }
        if node.as_list().is_some_and(<[Node]>::is_empty) {
            let whose = case.map_or_else(|| "the spec".to_owned(), |id| format!("case {id}"));
            let message = format!("the list of graders of {whose} is empty: it asks nothing");
            loading.warn("empty-graders", node.span, message);
        }
    }
    reject_same_names(&asked, loading);
    asked.extend(case.is_none().then(|| policy(map)).flatten());
    asked
}

/// Returns the grader of the `tools:` and `order:` sections, which apply to every case.
fn policy<'a>(map: &CheckedMap<'a>) -> Option<GraderEntry<'a>> {
    let parts = ["tools", "order"].into_iter().filter_map(|key| Some((key, map.get(key)?)));
    let parts = parts.filter(|(_, part)| part.as_map().is_some() || part.as_list().is_some());
    let entries: Vec<_> = parts
        .map(|(key, part)| toolmark_config::NodeEntry {
            key: key.into(),
            key_span: part.span,
            value: part.clone(),
        })
        .collect();
    let span = entries.first()?.key_span;
    Some(GraderEntry {
        type_word: Spanned { value: "tool-policy".to_owned(), span },
        name: None,
        config: std::borrow::Cow::Owned(Node::new(NodeKind::Map(entries), span)),
        profile: None,
        weight: 1.0,
        required: false,
        min_score: None,
        negate: false,
        turn: None,
        span,
    })
}

/// Rejects graders with the same name, because a report could not distinguish them.
fn reject_same_names(asked: &[GraderEntry<'_>], loading: &mut Loading<'_>) {
    for (n, one) in asked.iter().enumerate() {
        let Some(name) = &one.name else { continue };
        if let Some(first) = asked[..n].iter().find(|other| other.name.as_ref() == Some(name)) {
            let message = format!("two graders have the name {}", quoted(name));
            loading.problems.push(
                Problem::error("duplicate-grader-name", message)
                    .at(one.span)
                    .note(first.span, "the first one"),
            );
        }
    }
}

fn read_entry<'a>(node: &'a Node, loading: &mut Loading<'_>) -> Option<GraderEntry<'a>> {
    if let Some(word) = node.as_str() {
        // A grader without configuration may be named alone.
        return Some(GraderEntry {
            type_word: Spanned { value: word.to_owned(), span: node.span },
            name: None,
            config: std::borrow::Cow::Owned(Node::new(NodeKind::Map(Vec::new()), node.span)),
            profile: None,
            weight: 1.0,
            required: false,
            min_score: None,
            negate: false,
            turn: None,
            span: node.span,
        });
    }
    if node.as_map().is_none() {
        let message = format!("expected a map with a type, found {}", node.word());
        loading.error("wrong-type", node.span, message);
        return None;
    }
    let map = CheckedMap { node };
    let Some(type_node) = map.get("type") else {
        loading.error("missing-key", node.span, "a grader needs a type");
        return None;
    };
    let Some(type_word) = type_node.as_str() else {
        wrong("type", "the name of a grader", type_node, loading);
        return None;
    };
    let (required, required_score) = required(&map, loading);
    Some(GraderEntry {
        type_word: Spanned { value: type_word.to_owned(), span: type_node.span },
        name: text(&map, "name", loading),
        config: config(&map, loading),
        profile: profile(&map, loading),
        weight: weight(&map, loading),
        required,
        min_score: share(&map, "min_score", loading).or(required_score),
        negate: flag(&map, "negate", loading),
        turn: turn(&map, loading),
        span: node.span,
    })
}

/// Reads `required: true`, or the minimum score. A list belongs to the grader:
/// some graders have a key of that name.
fn required(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> (bool, Option<f64>) {
    match map.get("required") {
        Some(node) if node.as_bool().is_some() => (node.as_bool() == Some(true), None),
        Some(node) if node.as_f64().is_some() => (true, share(map, "required", loading)),
        _ => (false, None),
    }
}

fn is_entry_key(key: &str, value: &Node) -> bool {
    KEYS.contains(&key)
        || (key == "required" && (value.as_bool().is_some() || value.as_f64().is_some()))
}

/// Returns the value of `config`, or every key that is not a key of the entry.
fn config<'a>(map: &CheckedMap<'a>, loading: &mut Loading<'_>) -> std::borrow::Cow<'a, Node> {
    let own: Vec<&str> = map
        .node
        .entries()
        .filter(|entry| !is_entry_key(&entry.key, &entry.value))
        .map(|entry| entry.key.as_str())
        .collect();
    if let Some(config) = map.get("config") {
        for key in own {
            let span = map.node.entry(key).map_or(config.span, |entry| entry.key_span);
            let message = format!("{} is beside `config`, not in it", quoted(key));
            loading.problems.push(
                Problem::error("unknown-key", message)
                    .at(span)
                    .help("move it into `config`, or remove `config` and write all keys here"),
            );
        }
        return std::borrow::Cow::Borrowed(config);
    }
    let entries = map.node.entries().filter(|entry| own.contains(&entry.key.as_str())).cloned();
    std::borrow::Cow::Owned(Node::new(NodeKind::Map(entries.collect()), map.node.span))
}

fn weight(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> f64 {
    match map.get("weight") {
        None => 1.0,
        Some(node) => match node.as_f64() {
            Some(weight) if weight >= 0.0 && weight.is_finite() => weight,
            _ => {
                wrong("weight", "a number of 0 or more", node, loading);
                1.0
            }
        },
    }
}

fn turn(map: &CheckedMap<'_>, loading: &mut Loading<'_>) -> Option<u32> {
    let node = map.get("turn")?;
    let turn = node.as_i64().and_then(|turn| u32::try_from(turn).ok());
    if turn.is_none() {
        wrong("turn", "a number of 0 or more", node, loading);
    }
    turn
}
