//! Builds the `expect` grader from its configuration.

use super::config::{
    BranchConfig, CountConfig, ElementConfig, ExpectConfig, ExtrasWord, FailedCalls,
    ForbiddenConfig, GroupConfig, NeverConfig, WantConfig,
};
use super::{Expect, Follows, Leaf, Never, Wanted};
use toolmark_config::{Problem, Span, Spanned};
use toolmark_match::Building;
use toolmark_match::call_match::CallPattern;
use toolmark_match::call_match::config::{CallConfig, Described};
use toolmark_match::engine::{Element, Extras, Item};

/// Builds the grader; errors in the configuration are added to the problems.
pub(super) fn build(config: &ExpectConfig, building: &mut Building<'_>) -> Option<Expect> {
    let mut builder = Builder { building, patterns: Vec::new(), leaves: Vec::new(), is_good: true };
    let is_none = config.none.as_ref().is_some_and(|none| none.value);
    builder.check_keys(config);
    let has_calls = config.calls.is_some();
    let sequence = config.sequence.as_ref().map(|list| {
        builder.check_list(
            list,
            "the sequence is empty; to expect no calls at all, write `none: true`",
        );
        builder.elements(&list.value)
    });
    let calls = builder.list(&config.calls, EMPTY_CALLS, |builder, want| builder.want(want));
    let only = builder.list(
        &config.only,
        "the list is empty; to expect no calls at all, write `none: true`",
        |builder, name| name.compile(name.span, builder.building),
    );
    let forbidden = builder.list(
        &config.forbidden,
        "the list is empty: add a call, or remove the key",
        |builder, call| builder.call(call.0.call(&call.0.tool), call.span),
    );
    let sequences = builder.list(
        &config.forbidden_sequences,
        "the list is empty: add a sequence, or remove the key",
        |builder, sequence| builder.forbidden_sequence(sequence),
    );
    let never = builder.list(
        &config.never,
        "the list is empty: add an entry, or remove the key",
        |builder, never| builder.never(never),
    );
    builder.contradictions(&calls, &forbidden, config);
    let Builder { patterns, leaves, is_good, .. } = builder;
    is_good.then_some(Expect {
        patterns,
        leaves,
        sequence,
        calls,
        has_calls,
        is_none,
        only,
        extras: match config.extras.as_ref().map(|extras| extras.value) {
            Some(ExtrasWord::Forbid) => Extras::Forbidden,
            _ => Extras::Allowed,
        },
        forbidden,
        sequences,
        never,
        parallel: config.parallel,
        counts_failed: config.failed_calls == FailedCalls::Count,
        agents: config.agents,
    })
}

const EMPTY_CALLS: &str = "the list is empty; to expect no calls at all, write `none: true`";

struct Builder<'a, 'b> {
    building: &'a mut Building<'b>,
    patterns: Vec<CallPattern>,
    leaves: Vec<Leaf>,
    is_good: bool,
}

impl Builder<'_, '_> {
    fn reject(&mut self, span: Span, code: &'static str, message: impl Into<String>) {
        self.building.reject(span, code, message);
        self.is_good = false;
    }

    fn check_keys(&mut self, config: &ExpectConfig) {
        let is_none = config.none.as_ref().is_some_and(|none| none.value);
        let asks = [
            config.sequence.is_some(),
            config.calls.is_some(),
            config.only.is_some(),
            config.forbidden.is_some(),
            config.forbidden_sequences.is_some(),
            config.never.is_some(),
        ];
        let span = self.building.config.span;
        if !is_none && asks.iter().all(|asks| !asks) {
            let (span, message) = match (&config.none, &config.extras) {
                (Some(none), _) => (none.span, "`none: false` expects nothing: remove it"),
                (_, Some(extras)) => (extras.span, "`extras` needs `sequence` or `calls`"),
                _ => (
                    span,
                    "nothing is expected: add at least one of `sequence`, `calls`, `none`, `only`, `forbidden`, `forbidden_sequences` and `never`",
                ),
            };
            self.reject(span, "nothing-expected", message);
        } else if let Some(extras) = &config.extras
            && config.sequence.is_none()
            && config.calls.is_none()
        {
            let message = "`extras` needs `sequence` or `calls`";
            self.reject(extras.span, "nothing-expected", message);
        }
        let beside = [
            ("sequence", config.sequence.as_ref().map(|list| list.span)),
            ("calls", config.calls.as_ref().map(|list| list.span)),
            ("only", config.only.as_ref().map(|list| list.span)),
        ];
        for (key, span) in beside {
            if let (true, Some(span)) = (is_none, span) {
                let message = format!("`none: true` contradicts `{key}`");
                self.reject(span, "contradiction", message);
            }
        }
    }

    fn check_list<T>(&mut self, list: &Spanned<Vec<T>>, message: &str) {
        if list.is_empty() {
            self.reject(list.span, "empty-list", message);
        }
    }

    /// Builds every entry of a list; continues after errors, so that all of them are found.
    fn list<T, U>(
        &mut self,
        list: &Option<Spanned<Vec<Spanned<T>>>>,
        empty: &str,
        build: impl Fn(&mut Self, &Spanned<T>) -> Option<U>,
    ) -> Vec<U> {
        let Some(list) = list else { return Vec::new() };
        self.check_list(list, empty);
        let mut all = Vec::with_capacity(list.len());
        for entry in &list.value {
            match build(self, entry) {
                Some(built) => all.push(built),
                None => self.is_good = false,
            }
        }
        all
    }

    /// Compiles a call and returns the number of its pattern.
    fn call(&mut self, call: Described<'_>, span: Span) -> Option<usize> {
        let pattern = call.compile(span, self.building)?;
        self.patterns.push(pattern);
        Some(self.patterns.len() - 1)
    }

    fn elements(&mut self, list: &[Spanned<ElementConfig>]) -> Vec<Element> {
        let all: Vec<_> = list.iter().map(|element| self.element(element)).collect();
        if all.iter().any(Option::is_none) {
            self.is_good = false;
        }
        all.into_iter().flatten().collect()
    }

    fn element(&mut self, element: &Spanned<ElementConfig>) -> Option<Element> {
        let fields = &element.0;
        let kinds = usize::from(fields.tool.is_some())
            + usize::from(fields.any_order.is_some())
            + usize::from(fields.one_of.is_some());
        if kinds != 1 {
            let message = "expected exactly one of `tool`, `any_order` and `one_of`";
            self.reject(element.span, "invalid-element", message);
            return None;
        }
        if let Some(tool) = &fields.tool {
            let count = self.count(&fields.count, Ordered::Yes)?;
            let call = fields.call(tool);
            let item = self.item(call, count, fields.optional, element.span)?;
            return Some(Element::Item(item));
        }
        self.check_group_keys(element);
        let inner = match (&fields.any_order, &fields.one_of) {
            (Some(group), _) => {
                self.check_list(group, "the group is empty: add a call, or remove the group");
                let items: Vec<_> = group.iter().map(|item| self.group_item(item)).collect();
                Element::AnyOrder(items.into_iter().collect::<Option<_>>()?)
            }
            (None, Some(branches)) => {
                self.check_list(
                    branches,
                    "the list of alternatives is empty: add a call, or remove it",
                );
                Element::OneOf(branches.iter().map(|branch| self.branch(branch)).collect())
            }
            (None, None) => return None,
        };
        Some(match fields.optional {
            true => Element::Optional(vec![inner]),
            false => inner,
        })
    }

    /// Reports keys that describe a call but are used on a group.
    fn check_group_keys(&mut self, element: &Spanned<ElementConfig>) {
        let fields = &element.0;
        let call = [
            ("args", fields.args.is_some()),
            ("args_match", fields.args_match.is_some()),
            ("ignore", fields.ignore.is_some()),
            ("where", fields.conditions.is_some()),
            ("result", fields.result.is_some()),
            ("status", fields.status.is_some()),
            ("duration", fields.duration.is_some()),
            ("at_step", fields.at_step.is_some()),
            ("before_step", fields.before_step.is_some()),
            ("first", fields.first),
            ("last", fields.last),
            ("count", fields.count.is_some()),
        ];
        for (key, _) in call.into_iter().filter(|(_, is_there)| *is_there) {
            let message = format!("`{key}` describes a call, and cannot be used for a group");
            self.reject(element.span, "invalid-element", message);
        }
    }

    fn branch(&mut self, branch: &Spanned<BranchConfig>) -> Vec<Element> {
        if branch.0.is_empty() {
            let message = "an empty alternative always matches: use `optional` instead";
            self.reject(branch.span, "empty-list", message);
        }
        self.elements(&branch.0)
    }

    fn group_item(&mut self, item: &Spanned<GroupConfig>) -> Option<Item> {
        let fields = &item.0;
        let count = self.count(&fields.count, Ordered::Yes)?;
        self.item(fields.call(&fields.tool), count, fields.optional, item.span)
    }

    fn item(
        &mut self,
        call: Described<'_>,
        count: Count,
        optional: bool,
        span: Span,
    ) -> Option<Item> {
        let pattern = self.call(call, span)?;
        let item =
            Item { id: pattern, column: pattern, count: count.min, more: count.more, optional };
        self.leaves.push(Leaf { item, span });
        Some(item)
    }

    fn want(&mut self, want: &Spanned<WantConfig>) -> Option<Wanted> {
        let count = self.count(&want.0.count, Ordered::No)?;
        let pattern = self.call(want.0.call(&want.0.tool), want.span)?;
        Some(Wanted { pattern, min: count.min, more: count.more, max: count.max })
    }

    fn count(&mut self, count: &Option<Spanned<CountConfig>>, ordered: Ordered) -> Option<Count> {
        let Some(count) = count else { return Some(Count { min: 1, max: None, more: false }) };
        let wrong = match count.value {
            CountConfig::Times(0) => "a count of 0 expects no calls: use `forbidden` or `optional`",
            CountConfig::Times(times) => return Some(Count { min: times, max: None, more: false }),
            CountConfig::Range(range) => match (range.min, range.max) {
                (None, None) => "a count needs `min` or `max`",
                (Some(min), Some(max)) if min > max => "`min` is above `max`",
                (_, Some(0)) => "`max: 0` expects no calls: use `forbidden`",
                (_, Some(_)) if ordered == Ordered::Yes => {
                    "`max` cannot be used in a sequence: use it under `calls`"
                }
                (Some(0), None) => "`min: 0` expects nothing: use `optional`",
                (min, max) => {
                    let min = min.unwrap_or(usize::from(max.is_none()));
                    return Some(Count { min, max, more: true });
                }
            },
        };
        self.reject(count.span, "invalid-count", wrong);
        None
    }

    fn forbidden_sequence(&mut self, sequence: &Spanned<ForbiddenConfig>) -> Option<Follows> {
        let ForbiddenConfig(fields) = &sequence.value;
        if fields.calls.is_empty() {
            let span = fields.calls.span.known().unwrap_or(sequence.span);
            self.reject(span, "empty-list", "the sequence is empty: add a call, or remove it");
            return None;
        }
        let patterns: Vec<_> = fields
            .calls
            .iter()
            .map(|call| self.call(call.0.call(&call.0.tool), call.span))
            .collect();
        let patterns = patterns.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Follows { patterns, is_contiguous: fields.contiguous })
    }

    fn never(&mut self, never: &Spanned<NeverConfig>) -> Option<Never> {
        let part = |builder: &mut Self, call: &Spanned<CallConfig>| {
            builder.call(call.0.call(&call.0.tool), call.span.known().unwrap_or(never.span))
        };
        let (call, before) = (part(self, &never.call), part(self, &never.before));
        let never_itself = Never { call: call?, before: before? };
        if self.patterns[never_itself.call].is(&self.patterns[never_itself.before]) {
            let message = "a call is never before itself: `call` and `before` are the same";
            self.reject(never.span, "contradiction", message);
            return None;
        }
        Some(never_itself)
    }

    /// Reports calls that are both expected and forbidden.
    fn contradictions(&mut self, calls: &[Wanted], forbidden: &[usize], config: &ExpectConfig) {
        let lists = config.forbidden.iter().flat_map(|list| &list.value);
        let spans: Vec<Span> = lists.map(|call| call.span).collect();
        let needed: Vec<(usize, Span)> = self
            .leaves
            .iter()
            .filter(|leaf| !leaf.item.optional)
            .map(|leaf| (leaf.item.id, leaf.span))
            .chain(calls.iter().enumerate().filter(|(_, want)| want.min > 0).map(|(at, want)| {
                let entry = config.calls.as_ref().and_then(|list| list.get(at));
                (want.pattern, entry.map(|entry| entry.span).unwrap_or_default())
            }))
            .collect();
        for (at, &forbids) in forbidden.iter().enumerate() {
            let same =
                |(wants, _): &&(usize, Span)| self.patterns[*wants].is(&self.patterns[forbids]);
            let Some((_, place)) = needed.iter().find(same) else { continue };
            let message = format!("{} is expected and forbidden at once", self.patterns[forbids]);
            let span = spans.get(at).copied().unwrap_or_default();
            let problem = Problem::error("contradiction", message).at(span);
            self.building.problems.push(problem.note(*place, "expected here"));
            self.is_good = false;
        }
    }
}

/// Whether the order of calls matters in a position with counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ordered {
    Yes,
    No,
}

#[derive(Clone, Copy)]
struct Count {
    min: usize,
    max: Option<usize>,
    more: bool,
}
