//! One entry of a list: the conditions that a call must meet.

use super::effects::{Effect, effect};
use crate::vally::graders::observed::{is_vally, observed};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeKind, NodeSpan, Problem, Spanned, read};
use toolmark_match::Building;
use toolmark_outcome::Cause;
use toolmark_outcome::Profile;
use toolmark_outcome::{IndexedCall, TrajectoryView};
use toolmark_pattern::Pattern;
use toolmark_trace::{Fact, Status};

/// The list that contains an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryList {
    Required,
    Disallowed,
    Sequence,
    Parallel,
}

impl EntryList {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Disallowed => "disallowed",
            Self::Sequence => "sequence",
            Self::Parallel => "parallel",
        }
    }
}

/// An entry in the schema: a text or a mapping.
pub(super) struct ToolEntry;

impl JsonSchema for ToolEntry {
    fn schema_name() -> Cow<'static, str> {
        "ToolEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let matching = generator.subschema_for::<ToolMatch>();
        json_schema!({
            "description": "A tool: a regular expression for its name, or a name with filters.",
            "anyOf": [{"type": "string"}, matching]
        })
    }
}

/// A tool call, by its tool, arguments, result and position.
#[derive(Debug, Deserialize, JsonSchema)]
struct ToolMatch {
    /// A regular expression that is searched for in the name of the tool: `^name$` for an exact
    /// one.
    name: Spanned<String>,
    /// A regular expression for the argument `command`.
    #[serde(default)]
    command: Option<Spanned<String>>,
    /// A regular expression for the argument `path`.
    #[serde(default)]
    path: Option<Spanned<String>>,
    /// Regular expressions for arguments, by name: all must be present and match.
    #[serde(default)]
    #[schemars(with = "Option<Spanned<std::collections::BTreeMap<String, Spanned<String>>>>")]
    args: Option<Spanned<SortedMap<String, Spanned<String>>>>,
    /// A regular expression for all arguments, written as compact JSON.
    #[serde(default)]
    pattern: Option<Spanned<String>>,
    /// A regular expression for the result. Only in `required` and `disallowed`.
    #[serde(default)]
    result: Option<Spanned<String>>,
    /// Only tools that read.
    #[serde(default)]
    read_only: Option<Spanned<bool>>,
    /// Only tools that change something.
    #[serde(default)]
    write_only: Option<Spanned<bool>>,
    /// Minimum number of such calls; 1 by default. Only in `required`.
    #[serde(default)]
    min_count: Option<Spanned<u64>>,
    /// Whether the call must be the last of the run. Only in `required`.
    #[serde(default, rename = "final")]
    is_final: Option<Spanned<bool>>,
    /// Step of the call, from 0. Only in `required`.
    #[serde(default)]
    at_step: Option<Spanned<u64>>,
    /// The call must be in a step before this one, which is at least 1. Only in `required`.
    #[serde(default)]
    before_step: Option<Spanned<u64>>,
}

/// A compiled entry.
pub(super) struct ToolCallEntry {
    list: EntryList,
    name: Pattern,
    /// Patterns for `command` and `path`, which the entry assumes the tool to have.
    claimed: Vec<(&'static str, Pattern)>,
    args: Vec<(String, Pattern)>,
    pattern: Option<Pattern>,
    result: Option<Pattern>,
    effect: Option<Effect>,
    pub(super) min_count: u64,
    pub(super) is_final: bool,
    at_step: Option<u64>,
    before_step: Option<u64>,
}

/// Whether a call meets an entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EntryFit {
    Yes,
    /// No match; the first difference, unless it is the tool.
    No(Option<String>),
    /// Undecided, with the reason.
    Unknown(Cause, String),
}

impl EntryFit {
    /// Returns the conjunction: a mismatch takes precedence, then an unknown.
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No(_) => self,
            Self::Yes => other(),
            Self::Unknown(..) => match other() {
                no @ Self::No(_) => no,
                _ => self,
            },
        }
    }
}

impl ToolCallEntry {
    /// Returns the pattern of the tool name.
    pub(super) fn name(&self) -> &Pattern {
        &self.name
    }

    pub(super) fn build(node: &Node, list: EntryList, building: &mut Building<'_>) -> Option<Self> {
        let matching = match &node.kind {
            NodeKind::Text(name) => {
                ToolMatch::named(Spanned { value: name.to_string(), span: node.span })
            }
            NodeKind::Map(_) => read::<ToolMatch>(node, building.problems)?,
            _ => {
                let message = "expected the name of a tool or a mapping with name";
                building.reject(node.span, "wrong-type", message);
                return None;
            }
        };
        let places_fit = matching.check(list, building);
        let name = matching.name_pattern(building);
        let mut pattern = |source: &Option<Spanned<String>>| match source {
            None => Some(None),
            Some(source) => says_something(source, building).map(Some),
        };
        let (command, path) = (pattern(&matching.command), pattern(&matching.path));
        let (whole, result) = (pattern(&matching.pattern), pattern(&matching.result));
        let args: Vec<_> = matching
            .args
            .iter()
            .flat_map(|args| &args.value)
            .map(|(key, source)| Some((key.clone(), building.pattern(source)?)))
            .collect();
        let is_on = |flag: &Option<Spanned<bool>>| flag.is_some_and(|flag| flag.value);
        let effect = match (is_on(&matching.read_only), is_on(&matching.write_only)) {
            (true, _) => Some(Effect::Reads),
            (_, true) => Some(Effect::Writes),
            _ => None,
        };
        let claimed = [("command", command?), ("path", path?)];
        let entry = Self {
            list,
            name: name?,
            claimed: claimed.into_iter().filter_map(|(key, p)| Some((key, p?))).collect(),
            args: args.into_iter().collect::<Option<_>>()?,
            pattern: whole?,
            result: result?,
            effect,
            min_count: matching.min_count.map_or(1, |count| count.value),
            is_final: is_on(&matching.is_final),
            at_step: matching.at_step.map(|step| step.value),
            before_step: matching.before_step.map(|step| step.value),
        };
        places_fit.then_some(entry)
    }

    /// Returns why Vally rejects the whole grader: a call of the tool, whatever else
    /// differs, lacks an argument that the entry assumes the tool to have.
    pub(super) fn refusal(&self, calls: &EntryCalls<'_>, seen: &IndexedCall<'_>) -> Option<String> {
        let is_meant = || self.name.is_match(&seen.call.name.full()) == Ok(true);
        if calls.profile != Profile::Vally || self.claimed.is_empty() || !is_meant() {
            return None;
        }
        let args = seen.call.args.as_ref();
        if args.is_none() && calls.lack_arguments {
            return None;
        }
        let value = args.and_then(|args| args.parsed());
        let has = |key: &str| value.and_then(|value| value.get(key)).is_some_and(Value::is_string);
        let (key, _) = self.claimed.iter().find(|(key, _)| !has(key))?;
        Some(absent(key, seen))
    }

    /// Whether a call meets the entry. The result is ignored if only the attempt counts.
    pub(super) fn fits(&self, calls: &EntryCalls<'_>, at: usize, with_result: bool) -> EntryFit {
        let Some(seen) = calls.all.get(at) else { return EntryFit::No(None) };
        let named = matches(&self.name, &seen.call.name.full(), "name");
        if named != EntryFit::Yes {
            return if matches!(named, EntryFit::No(_)) { EntryFit::No(None) } else { named };
        }
        let fit = self
            .fits_place(calls, at)
            .and(|| self.fits_effect(seen))
            .and(|| self.fits_args(calls, seen));
        if with_result { fit.and(|| self.fits_result(calls, seen)) } else { fit }
    }

    /// Whether another call, before or after it, may move the call from its place.
    pub(super) fn is_positional(&self) -> bool {
        self.is_final || self.at_step.is_some() || self.before_step.is_some()
    }

    fn fits_place(&self, calls: &EntryCalls<'_>, at: usize) -> EntryFit {
        if self.at_step.is_none() && self.before_step.is_none() {
            return EntryFit::Yes;
        }
        let Some(step) = calls.steps.get(at).copied().flatten() else {
            let why = "the trace does not record in which step calls were made";
            return EntryFit::Unknown(Cause::MissingEvidence, why.to_owned());
        };
        match (self.at_step, self.before_step) {
            (Some(wanted), _) if step != wanted => {
                EntryFit::No(Some(format!("made in step {}, not {}", step + 1, wanted + 1)))
            }
            (_, Some(end)) if step >= end => {
                EntryFit::No(Some(format!("made in step {}, not before {}", step + 1, end + 1)))
            }
            _ => EntryFit::Yes,
        }
    }

    fn fits_effect(&self, seen: &IndexedCall<'_>) -> EntryFit {
        let Some(wanted) = self.effect else { return EntryFit::Yes };
        let tool = seen.call.name.full();
        match effect(&seen.call.name) {
            Some(effect) if effect == wanted => EntryFit::Yes,
            Some(Effect::Reads) => EntryFit::No(Some(format!("{tool} only reads"))),
            Some(Effect::Writes) => EntryFit::No(Some(format!("{tool} changes something"))),
            None => {
                let why = format!("whether {tool} reads or changes something is not known");
                EntryFit::Unknown(Cause::MissingEvidence, why)
            }
        }
    }

    fn fits_args(&self, calls: &EntryCalls<'_>, seen: &IndexedCall<'_>) -> EntryFit {
        if self.claimed.is_empty() && self.args.is_empty() && self.pattern.is_none() {
            return EntryFit::Yes;
        }
        let args = seen.call.args.as_ref();
        if args.is_none() && calls.lack_arguments {
            let why = "the trace does not record arguments of calls".to_owned();
            return EntryFit::Unknown(Cause::MissingEvidence, why);
        }
        let value = args.and_then(|args| args.parsed());
        let text = |key: &str| value.and_then(|value| value.get(key)).and_then(Value::as_str);
        let mut fit = EntryFit::Yes;
        for (key, pattern) in &self.args {
            fit = fit.and(|| match text(key) {
                Some(text) => matches(pattern, text, key),
                None => EntryFit::No(Some(format!("no argument {key} that is text"))),
            });
        }
        for (key, pattern) in &self.claimed {
            fit = fit.and(|| match text(key) {
                Some(text) => matches(pattern, text, key),
                None => EntryFit::Unknown(Cause::Configuration, absent(key, seen)),
            });
        }
        let Some(pattern) = &self.pattern else { return fit };
        fit.and(|| match args {
            Some(args) => matches(pattern, &args.to_value().to_string(), "pattern"),
            None => EntryFit::No(Some("no arguments".to_owned())),
        })
    }

    fn fits_result(&self, calls: &EntryCalls<'_>, seen: &IndexedCall<'_>) -> EntryFit {
        let Some(pattern) = &self.result else { return EntryFit::Yes };
        match observed(calls.view, seen.call) {
            Some(text) => matches(pattern, &text, "result"),
            None => {
                let why = "the trace does not record results of calls".to_owned();
                EntryFit::Unknown(Cause::MissingEvidence, why)
            }
        }
    }

    /// Describes the entry.
    pub(super) fn words(&self) -> String {
        let mut words = format!("/{}/", self.name);
        let mut with = |key: &str, pattern: &Pattern| {
            words.push_str(&format!(" {key} /{pattern}/"));
        };
        self.claimed.iter().for_each(|(key, pattern)| with(key, pattern));
        self.args.iter().for_each(|(key, pattern)| with(key, pattern));
        self.pattern.iter().for_each(|pattern| with("pattern", pattern));
        self.result.iter().for_each(|pattern| with("result", pattern));
        match self.effect {
            Some(Effect::Reads) => words.push_str(" that reads"),
            Some(Effect::Writes) => words.push_str(" that writes"),
            None => {}
        }
        if let Some(step) = self.at_step {
            words.push_str(&format!(" at step {} (at_step: {step})", step + 1));
        }
        if let Some(step) = self.before_step {
            words.push_str(&format!(" before step {} (before_step: {step})", step + 1));
        }
        if self.is_final {
            words.push_str(" as the last call");
        }
        words
    }

    /// Returns the description of the entry with its list.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.list.word(), self.words())
    }
}

/// Describes a call that lacks an argument its tool is assumed to have.
fn absent(key: &str, seen: &IndexedCall<'_>) -> String {
    format!(
        "the entry asks for {key}, and call {} of {} has no such argument that is text; \
         anchor the name or use args",
        seen.number(),
        seen.call.name.full()
    )
}

fn matches(pattern: &Pattern, text: &str, what: &str) -> EntryFit {
    match pattern.is_match(text) {
        Ok(true) => EntryFit::Yes,
        Ok(false) => EntryFit::No(Some(format!("{what} does not match /{pattern}/"))),
        Err(_) => EntryFit::Unknown(Cause::Limit, format!("/{pattern}/ took too many steps")),
    }
}

/// Compiles a pattern; a pattern that matches everything is reported as a probable mistake.
fn says_something(source: &Spanned<String>, building: &mut Building<'_>) -> Option<Pattern> {
    let pattern = building.pattern(source)?;
    if pattern.matches_everything() {
        let message = format!("/{pattern}/ matches every text");
        building.problems.push(Problem::warning("pattern-matches-all", message).at(source.span));
    }
    Some(pattern)
}

impl ToolMatch {
    /// Creates an entry with only a name.
    fn named(name: Spanned<String>) -> Self {
        Self {
            name,
            command: None,
            path: None,
            args: None,
            pattern: None,
            result: None,
            read_only: None,
            write_only: None,
            min_count: None,
            is_final: None,
            at_step: None,
            before_step: None,
        }
    }

    fn name_pattern(&self, building: &mut Building<'_>) -> Option<Pattern> {
        if self.name.is_empty() {
            let message = "the name is empty: write .* for any tool";
            building.reject(self.name.span, "empty-text", message);
            return None;
        }
        match &*self.name.value {
            // Any tool, and meant so.
            ".*" | "^.*$" => building.pattern(&self.name),
            _ => says_something(&self.name, building),
        }
    }

    /// Reports keys that are not allowed in this list, and contradictions.
    fn check(&self, list: EntryList, building: &mut Building<'_>) -> bool {
        let before = building.problems.len();
        let mut only_in = |span: Option<NodeSpan>, key: &str, allowed: &[EntryList]| {
            if let Some(span) = span
                && !allowed.contains(&list)
            {
                let lists: Vec<_> = allowed.iter().map(|list| list.word()).collect();
                let (word, lists) = (list.word(), lists.join(" and "));
                let message = format!("{key} is for {lists} entries, not for {word}");
                building.reject(span, "misplaced-key", message);
            }
        };
        only_in(self.at_step.map(|x| x.span), "at_step", &[EntryList::Required]);
        only_in(self.before_step.map(|x| x.span), "before_step", &[EntryList::Required]);
        only_in(self.min_count.map(|x| x.span), "min_count", &[EntryList::Required]);
        only_in(self.is_final.map(|x| x.span), "final", &[EntryList::Required]);
        let result = self.result.as_ref().map(|result| result.span);
        only_in(result, "result", &[EntryList::Required, EntryList::Disallowed]);
        if let Some(count) = self.min_count.filter(|count| count.value < 1) {
            building.reject(count.span, "out-of-range", "min_count must be at least 1");
        }
        if let Some(step) = self.before_step.filter(|step| step.value < 1) {
            building.reject(step.span, "out-of-range", "before_step must be at least 1");
        }
        if let (Some(at), Some(end)) = (self.at_step, self.before_step)
            && at.value >= end.value
        {
            let message = "at_step must be less than before_step: no step is both";
            let problem = Problem::error("contradiction", message).at(at.span);
            building.problems.push(problem.note(end.span, "before_step is here"));
        }
        if let (Some(read), Some(write)) = (self.read_only, self.write_only)
            && read.value
            && write.value
        {
            let message = "no tool both only reads and changes something";
            let problem = Problem::error("contradiction", message).at(write.span);
            building.problems.push(problem.note(read.span, "read_only is here"));
        }
        if let Some(args) = self.args.as_ref().filter(|args| args.is_empty()) {
            building.reject(args.span, "empty-list", "args names no argument");
        }
        building.problems.len() == before
    }
}

/// The calls that entries are compared with.
pub(super) struct EntryCalls<'a> {
    pub(super) view: &'a TrajectoryView<'a>,
    pub(super) all: &'a [IndexedCall<'a>],
    /// Step of each call, counted from the start of the view.
    pub(super) steps: Vec<Option<u64>>,
    profile: Profile,
    lack_arguments: bool,
    lack_results: bool,
}

impl<'a> EntryCalls<'a> {
    pub(super) fn new(view: &'a TrajectoryView<'a>, profile: Profile) -> Self {
        let fidelity = view.trajectory().fidelity;
        let lacks = |fact| fidelity.lacks(fact) && !is_vally(view);
        let steps = match fidelity.lacks(Fact::Steps) {
            true if is_vally(view) || profile == Profile::Vally => {
                vec![Some(0); view.calls().len()]
            }
            true => vec![None; view.calls().len()],
            false => steps(view),
        };
        Self {
            view,
            all: view.calls(),
            steps,
            profile,
            lack_arguments: lacks(Fact::Arguments),
            lack_results: lacks(Fact::Results) && profile != Profile::Vally,
        }
    }

    /// Whether the call was carried out. `None` if the trace does not show it.
    pub(super) fn is_completed(&self, seen: &IndexedCall<'_>) -> Option<bool> {
        match (&seen.call.result, self.profile) {
            (Some(_), Profile::Vally) => Some(true),
            (Some(_), _) => Some(seen.call.status != Status::Denied),
            (None, _) if self.lack_results => None,
            (None, _) => Some(false),
        }
    }

    /// Returns whether a call that counts as not completed may nevertheless have run. For Vally, a
    /// call without a result did not happen.
    pub(super) fn may_be_completed(&self, seen: &IndexedCall<'_>) -> bool {
        seen.call.status == Status::Unanswered && self.profile != Profile::Vally
    }
}

/// Returns the step of each call by its index in the view. A call
/// outside of steps belongs to the previous step.
fn steps(view: &TrajectoryView<'_>) -> Vec<Option<u64>> {
    let known = view.steps();
    let mut last = 0;
    let step = |seen: &IndexedCall<'_>| {
        if let Some(step) = seen.call.step {
            last = known.binary_search(&step).unwrap_or_else(|at| at.saturating_sub(1)) as u64;
        }
        Some(last)
    };
    view.calls().iter().map(step).collect()
}
