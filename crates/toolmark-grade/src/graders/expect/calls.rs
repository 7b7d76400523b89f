//! Builds the calls of an expectation, with their links to other calls.

use super::build::ExpectBuilder;
use super::config::{
    CallExtras, ElementConfig, ExpectFields, GroupConfig, OtherCall, PlainCall, Related, RuleCall,
    WantConfig,
};
use super::links::{Bind, Link, Order, Relation, Source};
use std::sync::LazyLock;
use toolmark_config::{NodeSpan, Problem, Spanned, did_you_mean, quoted};
use toolmark_hosts::toolset::ArgClass;
use toolmark_match::call_match::config::{ConfiguredCall, Name, name_of};
use toolmark_match::call_match::{CallPattern, KeyPath, NamePattern, TextReading};

/// The name of a call that names no tool.
static ANY: LazyLock<Spanned<Name>> = LazyLock::new(|| name_of("*").into());

/// A call as the configuration has it.
pub(super) struct DescribedCall<'c> {
    call: ConfiguredCall<'c>,
    has_tool: bool,
    asked: CallExtras<'c>,
    one_of: Option<&'c Spanned<Vec<Spanned<PlainCall>>>>,
    related: Related<'c>,
    pub(super) span: NodeSpan,
}

macro_rules! written {
    ($($config:ty: $tool:expr, $one_of:expr, $related:expr;)*) => {
        $(impl<'c> From<&'c Spanned<$config>> for DescribedCall<'c> {
            fn from(call: &'c Spanned<$config>) -> Self {
                let fields = &call.value.0;
                let tool: Option<&'c Spanned<Name>> = $tool(fields);
                Self {
                    call: fields.call(tool.unwrap_or(&ANY)),
                    has_tool: tool.is_some(),
                    asked: fields.asked(),
                    one_of: $one_of(fields),
                    related: $related(fields),
                    span: call.span,
                }
            }
        })*
    };
}

use super::config::{ElementFields, GroupFields, OtherFields, PlainFields, RuleFields, WantFields};

written! {
    PlainCall: |f: &'c PlainFields| Some(&f.tool), |_: &PlainFields| None, |_: &PlainFields| Related::NONE;
    OtherCall: |f: &'c OtherFields| f.tool.as_ref(), |f: &'c OtherFields| f.one_of.as_ref(), |_: &OtherFields| Related::NONE;
    RuleCall: |f: &'c RuleFields| f.tool.as_ref(), |f: &'c RuleFields| f.one_of.as_ref(), |f: &'c RuleFields| f.related();
    WantConfig: |f: &'c WantFields| f.tool.as_ref(), |f: &'c WantFields| f.one_of.as_ref(), |f: &'c WantFields| f.related();
    GroupConfig: |f: &'c GroupFields| f.tool.as_ref(), |f: &'c GroupFields| f.one_of.as_ref(), |f: &'c GroupFields| f.related();
    ElementConfig: |f: &'c ElementFields| f.tool.as_ref(), |_: &ElementFields| None, |f: &'c ElementFields| f.related();
}

impl<'c> DescribedCall<'c> {
    /// At this place, if its own is unknown.
    pub(super) fn or_at(self, span: NodeSpan) -> Self {
        Self { span: self.span.known().unwrap_or(span), ..self }
    }

    /// Returns the keys that describe the call, except for its tool.
    pub(super) fn keys(&self) -> Vec<&'static str> {
        let call = &self.call;
        let own = [
            ("args", call.args.is_some()),
            ("args_match", call.args_match.is_some()),
            ("ignore", call.ignore.is_some()),
            ("where", call.conditions.is_some()),
            ("result", call.result.is_some()),
            ("status", call.status.is_some()),
            ("duration", call.duration.is_some()),
            ("at_step", call.at_step.is_some()),
            ("before_step", call.before_step.is_some()),
            ("first", call.first),
            ("last", call.last),
            ("exit_code", self.asked.exit_code.is_some()),
            ("result_kind", self.asked.kinds.is_some()),
            ("bind", self.asked.binds.is_some()),
        ];
        let typed = self.asked.typed.iter().map(|(class, c)| (class.word(), c.is_some()));
        own.into_iter().chain(typed).filter(|(_, is_there)| *is_there).map(|(key, _)| key).collect()
    }

    /// Whether a call is described by what its arguments are, so that any tool will do.
    pub(super) fn has_typed(&self) -> bool {
        self.asked.typed.iter().any(|(_, condition)| condition.is_some())
    }

    fn binds(&self) -> impl Iterator<Item = &'c String> {
        let parts = self.one_of.into_iter().flat_map(|parts| &parts.value);
        let parts = parts.filter_map(|part| part.value.0.asked().binds);
        self.asked.binds.into_iter().chain(parts).flat_map(|binds| binds.value.keys())
    }
}

/// Names that are bound where a call is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) names: Vec<String>,
}

impl Scope {
    /// The names that these calls bind.
    pub(super) fn of<'w, 'c: 'w>(calls: impl Iterator<Item = &'w DescribedCall<'c>>) -> Self {
        Self { names: calls.flat_map(|call| call.binds().cloned().collect::<Vec<_>>()).collect() }
    }
}

/// The names that calls of the sequence and expected calls bind, for each other.
pub(super) fn scope(config: &ExpectFields) -> Scope {
    let mut waiting: Vec<&Spanned<ElementConfig>> =
        config.sequence.iter().flat_map(|list| &list.value).collect();
    let mut names = Vec::new();
    while let Some(element) = waiting.pop() {
        names.extend(DescribedCall::from(element).binds().cloned());
        let fields = &element.value.0;
        let group = fields.any_order.iter().flat_map(|list| &list.value);
        names.extend(
            group.flat_map(|item| DescribedCall::from(item).binds().cloned().collect::<Vec<_>>()),
        );
        let branches = fields.one_of.iter().flat_map(|list| &list.value);
        waiting.extend(branches.flat_map(|branch| &branch.value.0));
    }
    let calls = config.calls.iter().flat_map(|list| &list.value);
    names.extend(
        calls.flat_map(|want| DescribedCall::from(want).binds().cloned().collect::<Vec<_>>()),
    );
    Scope { names }
}

/// The names that any call binds.
pub(super) fn bound(config: &ExpectFields) -> Vec<String> {
    let mut all = scope(config).names;
    let sequences = config.forbidden_sequences.iter().flat_map(|list| &list.value);
    let rules = config.forbidden.iter().flat_map(|list| &list.value);
    let rules = rules.chain(sequences.flat_map(|one| &one.value.0.calls.value));
    let never = config.never.iter().flat_map(|list| &list.value).map(|never| &never.value.call);
    for call in rules.chain(never) {
        all.extend(DescribedCall::from(call).binds().cloned());
    }
    all
}

impl ExpectBuilder<'_, '_> {
    /// Compiles a call with its links, and returns the number of its pattern.
    pub(super) fn call(&mut self, written: DescribedCall<'_>, scope: &Scope) -> Option<usize> {
        let mut link = Link::default();
        let pattern = match written.one_of {
            Some(parts) => {
                if written.has_tool || !written.keys().is_empty() {
                    let message = "`one_of` lists whole calls: move the other keys into them";
                    self.reject(written.span, "invalid-element", message);
                    return None;
                }
                if parts.is_empty() {
                    let message = "the list of alternatives is empty: add a call, or remove it";
                    self.reject(parts.span, "empty-list", message);
                    return None;
                }
                let all: Vec<_> =
                    parts.iter().map(|part| self.call(DescribedCall::from(part), scope)).collect();
                link.parts = all.into_iter().collect::<Option<_>>()?;
                let names = link.parts.iter().map(|part| self.patterns[*part].name().clone());
                CallPattern::named(NamePattern::AnyOf(names.collect()))
            }
            None => self.alone(&written, scope)?,
        };
        link.binds = self.binds(&written)?;
        let is_class = matches!(pattern.name(), NamePattern::Class(_));
        let (relations, words) = self.relations(&written, is_class, scope)?;
        link.relations = relations;
        let pattern = match words.is_empty() {
            true => pattern,
            false => pattern.with_relations(&words),
        };
        self.patterns.push(pattern);
        let number = self.patterns.len() - 1;
        self.links.add(number, link);
        Some(number)
    }

    /// Compiles what is asked about a call by itself.
    fn alone(&mut self, written: &DescribedCall<'_>, scope: &Scope) -> Option<CallPattern> {
        if !written.has_tool && !written.has_typed() {
            let message = "missing key \"tool\": which call is meant?";
            self.reject(written.span, "missing-key", message);
            return None;
        }
        let bound = std::mem::take(&mut self.bound);
        let pattern = self.compile(written, &bound);
        self.bound = bound;
        let pattern = pattern?;
        let mut names = pattern.references();
        names.retain(|name| !scope.names.iter().any(|bound| bound == name));
        if let Some(name) = names.first() {
            let message = format!("`${name}` has no value here");
            let help = "a call of the same entry binds it: `bind: {NAME: args.id}`";
            let problem = Problem::error("unbound-value", message).at(written.span);
            self.building.problems.push(problem.help(help));
            return None;
        }
        Some(pattern)
    }

    fn compile(&mut self, written: &DescribedCall<'_>, bound: &[String]) -> Option<CallPattern> {
        let reading = TextReading { bound, ..TextReading::default() };
        let pattern = written.call.with_bound(bound).compile(written.span, self.building);
        let mut typed = Vec::new();
        let mut is_good = true;
        for (class, config) in &written.asked.typed {
            let Some(config) = config else { continue };
            match config.compile(config.span, reading, self.building) {
                Some(condition) => typed.push((*class, condition)),
                None => is_good = false,
            }
        }
        let exit_code = match written.asked.exit_code {
            None => Some(None),
            Some(config) => config.compile(config.span, reading, self.building).map(Some),
        };
        let kinds = written.asked.kinds.map(|kinds| kinds.value.0.clone()).unwrap_or_default();
        let pattern = pattern?.with_typed(typed).with_kinds(kinds);
        let pattern = match exit_code? {
            Some(condition) => pattern.with_exit_code(condition),
            None => pattern,
        };
        is_good.then_some(pattern)
    }

    fn binds(&mut self, written: &DescribedCall<'_>) -> Option<Vec<Bind>> {
        let Some(binds) = written.asked.binds else { return Some(Vec::new()) };
        let mut all = Vec::new();
        for (name, source) in &binds.value {
            let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if name.is_empty() || !is_word {
                let message = format!("{} is not a name: use letters, digits and _", quoted(name));
                self.reject(source.span, "invalid-value", message);
                return None;
            }
            let found = match &source.value.0.place {
                Some(place) => self.source(place, source.span)?,
                None => {
                    let regex = &source.value.0.result;
                    let inner = regex.strip_prefix('/').and_then(|r| r.strip_suffix('/'));
                    let text = inner.unwrap_or(regex).to_owned();
                    Source::Found(
                        self.building.pattern(&Spanned { value: text, span: regex.span })?,
                    )
                }
            };
            all.push(Bind { name: name.as_str().into(), source: found });
        }
        Some(all)
    }

    /// Reads the place of a bound value.
    fn source(&mut self, place: &str, span: NodeSpan) -> Option<Source> {
        if let Some(class) = ArgClass::from_word(place) {
            return Some(Source::Typed(class));
        }
        let (root, rest) = match place.find(['.', '[']) {
            Some(at) => (&place[..at], Some(place[at..].trim_start_matches('.'))),
            None => (place, None),
        };
        let path = match rest.map(KeyPath::parse) {
            None => None,
            Some(Ok(path)) => Some(path),
            Some(Err(error)) => {
                self.reject(span, "invalid-key-path", format!("not a key path: {error}"));
                return None;
            }
        };
        match (root, path) {
            ("args", Some(path)) => return Some(Source::Argument(path)),
            ("result", path) => return Some(Source::Result(path)),
            _ => {}
        }
        let words = ArgClass::ALL.iter().map(|class| class.word()).chain(["args", "result"]);
        let help = match did_you_mean(root, words) {
            Some(near) if near != root => format!("did you mean {near}?"),
            _ => "write args.NAME, result, result.NAME, command, path, query or url".to_owned(),
        };
        let message = format!("{} is not a place of a call", quoted(place));
        self.building.problems.push(Problem::error("invalid-value", message).at(span).help(help));
        None
    }

    /// Compiles the calls to which a call is related. Also returns the words about them.
    fn relations(
        &mut self,
        written: &DescribedCall<'_>,
        is_class: bool,
        scope: &Scope,
    ) -> Option<(Vec<Relation>, String)> {
        let (mut all, mut words) = (Vec::new(), String::new());
        for (order, other) in &written.related.others {
            let Some(other) = other else { continue };
            let pattern = self.call(DescribedCall::from(*other).or_at(written.span), scope)?;
            words.push_str(&format!(", {} {}", order.words(), self.patterns[pattern]));
            all.push(Relation { order: *order, other: pattern, from: None });
        }
        for (key, other) in written.related.from.into_iter().flat_map(|from| &from.value) {
            let source = match ArgClass::from_word(key).filter(|_| is_class) {
                Some(class) => Source::Typed(class),
                None => match KeyPath::parse(key) {
                    Ok(path) => Source::Argument(path),
                    Err(error) => {
                        let message = format!("not a key path: {error}");
                        self.reject(other.span, "invalid-key-path", message);
                        return None;
                    }
                },
            };
            let pattern = self.call(DescribedCall::from(other), scope)?;
            words.push_str(&format!(", {key} from the result of {}", self.patterns[pattern]));
            all.push(Relation { order: Order::After, other: pattern, from: Some(source) });
        }
        Some((all, words))
    }
}
