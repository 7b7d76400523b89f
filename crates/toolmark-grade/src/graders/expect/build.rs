//! Builds the `expect` grader from its configuration.

use super::calls::{DescribedCall, Scope};
use super::config::{
    BranchConfig, CountConfig, ElementConfig, ExpectFields, ExtrasWord, FailedCalls,
    ForbiddenConfig, GroupConfig, NeverConfig, RuleCall, WantConfig,
};
use super::links::{Link, Links, Order, Relation};
use super::{Expect, Follows, Leaf, Never, UnorderedCall};
use toolmark_config::{NodeSpan, Problem, Spanned};
use toolmark_match::Building;
use toolmark_match::call_match::CallPattern;
use toolmark_match::engine::{Element, ExpectedItem, Extras};

/// Builds the grader; errors in the configuration are added to the problems.
pub(super) fn build(config: &ExpectFields, building: &mut Building<'_>) -> Option<Expect> {
    let mut builder = ExpectBuilder {
        building,
        patterns: Vec::new(),
        leaves: Vec::new(),
        links: Links::default(),
        bound: super::calls::bound(config),
        is_good: true,
    };
    let scope = super::calls::scope(config);
    let is_none = config.none.as_ref().is_some_and(|none| none.value);
    builder.check_keys(config);
    let has_calls = config.calls.is_some();
    let sequence = config.sequence.as_ref().map(|list| {
        builder.check_list(
            list,
            "the sequence is empty; to expect no calls at all, write `none: true`",
        );
        builder.elements(&list.value, &scope)
    });
    let calls =
        builder.list(&config.calls, EMPTY_CALLS, |builder, want| builder.want(want, &scope));
    let only = builder.list(
        &config.only,
        "the list is empty; to expect no calls at all, write `none: true`",
        |builder, name| name.compile(name.span, builder.building),
    );
    let forbidden = builder.list(
        &config.forbidden,
        "the list is empty: add a call, or remove the key",
        |builder, call| builder.rule_call(call),
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
    let ExpectBuilder { patterns, leaves, links, is_good, .. } = builder;
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
        links,
        binds: !scope.names.is_empty(),
        parallel: config.parallel,
        counts_failed: config.failed_calls == FailedCalls::Count,
        agents: config.agents,
    })
}

const EMPTY_CALLS: &str = "the list is empty; to expect no calls at all, write `none: true`";

pub(super) struct ExpectBuilder<'a, 'b> {
    pub(super) building: &'a mut Building<'b>,
    pub(super) patterns: Vec<CallPattern>,
    leaves: Vec<Leaf>,
    pub(super) links: Links,
    /// Names to which any call binds a value.
    pub(super) bound: Vec<String>,
    is_good: bool,
}

impl ExpectBuilder<'_, '_> {
    pub(super) fn reject(
        &mut self,
        span: NodeSpan,
        code: &'static str,
        message: impl Into<String>,
    ) {
        self.building.reject(span, code, message);
        self.is_good = false;
    }

    fn check_keys(&mut self, config: &ExpectFields) {
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

    /// Compiles a forbidden call, which may refer to the values that it binds itself.
    fn rule_call(&mut self, call: &Spanned<RuleCall>) -> Option<usize> {
        let written = DescribedCall::from(call);
        let scope = Scope::of([&written].into_iter());
        self.call(written, &scope)
    }

    fn elements(&mut self, list: &[Spanned<ElementConfig>], scope: &Scope) -> Vec<Element> {
        let all: Vec<_> = list.iter().map(|element| self.element(element, scope)).collect();
        if all.iter().any(Option::is_none) {
            self.is_good = false;
        }
        all.into_iter().flatten().collect()
    }

    fn element(&mut self, element: &Spanned<ElementConfig>, scope: &Scope) -> Option<Element> {
        let fields = &element.0;
        let written = DescribedCall::from(element);
        let is_call = fields.tool.is_some() || written.has_typed();
        let is_group = fields.any_order.is_some() || fields.one_of.is_some();
        let kinds = usize::from(fields.tool.is_some() || is_call && !is_group)
            + usize::from(fields.any_order.is_some())
            + usize::from(fields.one_of.is_some());
        if kinds != 1 {
            let message = "expected exactly one of `tool`, `any_order` and `one_of`";
            self.reject(element.span, "invalid-element", message);
            return None;
        }
        if !is_group {
            let count = self.count(&fields.count, Ordered::Yes)?;
            let item = self.item(written, count, fields.optional, scope)?;
            return Some(Element::Item(item));
        }
        let mut keys = written.keys();
        keys.extend(fields.count.is_some().then_some("count"));
        for key in keys {
            let message = format!("`{key}` describes a call, and cannot be used for a group");
            self.reject(element.span, "invalid-element", message);
        }
        let inner = match (&fields.any_order, &fields.one_of) {
            (Some(group), _) => {
                self.check_list(group, "the group is empty: add a call, or remove the group");
                let items: Vec<_> = group.iter().map(|item| self.group_item(item, scope)).collect();
                Element::AnyOrder(items.into_iter().collect::<Option<_>>()?)
            }
            (None, Some(branches)) => {
                self.check_list(
                    branches,
                    "the list of alternatives is empty: add a call, or remove it",
                );
                Element::OneOf(branches.iter().map(|branch| self.branch(branch, scope)).collect())
            }
            (None, None) => return None,
        };
        Some(match fields.optional {
            true => Element::Optional(vec![inner]),
            false => inner,
        })
    }

    fn branch(&mut self, branch: &Spanned<BranchConfig>, scope: &Scope) -> Vec<Element> {
        if branch.0.is_empty() {
            let message = "an empty alternative always matches: use `optional` instead";
            self.reject(branch.span, "empty-list", message);
        }
        self.elements(&branch.0, scope)
    }

    fn group_item(&mut self, item: &Spanned<GroupConfig>, scope: &Scope) -> Option<ExpectedItem> {
        let count = self.count(&item.0.count, Ordered::Yes)?;
        self.item(DescribedCall::from(item), count, item.0.optional, scope)
    }

    fn item(
        &mut self,
        call: DescribedCall<'_>,
        count: CallCount,
        optional: bool,
        scope: &Scope,
    ) -> Option<ExpectedItem> {
        let span = call.span;
        let pattern = self.call(call, scope)?;
        let item = ExpectedItem {
            id: pattern,
            column: pattern,
            count: count.min,
            more: count.more,
            optional,
        };
        self.leaves.push(Leaf { item, span });
        Some(item)
    }

    fn want(&mut self, want: &Spanned<WantConfig>, scope: &Scope) -> Option<UnorderedCall> {
        let count = self.count(&want.0.count, Ordered::No)?;
        let pattern = self.call(DescribedCall::from(want), scope)?;
        Some(UnorderedCall { pattern, min: count.min, more: count.more, max: count.max })
    }

    fn count(
        &mut self,
        count: &Option<Spanned<CountConfig>>,
        ordered: Ordered,
    ) -> Option<CallCount> {
        let Some(count) = count else { return Some(CallCount { min: 1, max: None, more: false }) };
        let wrong = match count.value {
            CountConfig::Times(0) => "a count of 0 expects no calls: use `forbidden` or `optional`",
            CountConfig::Times(times) => {
                return Some(CallCount { min: times, max: None, more: false });
            }
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
                    return Some(CallCount { min, max, more: true });
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
        let written: Vec<DescribedCall<'_>> =
            fields.calls.iter().map(DescribedCall::from).collect();
        let scope = Scope::of(written.iter());
        let patterns: Vec<_> = written.into_iter().map(|call| self.call(call, &scope)).collect();
        let patterns = patterns.into_iter().collect::<Option<Vec<_>>>()?;
        let is_bound = !scope.names.is_empty();
        Some(Follows { patterns, is_contiguous: fields.contiguous, is_bound })
    }

    fn never(&mut self, never: &Spanned<NeverConfig>) -> Option<Never> {
        let (order, other) = match (&never.before, &never.after) {
            (Some(other), None) => (Order::NotWith, other),
            (None, Some(other)) => (Order::After, other),
            _ => {
                let message = "expected exactly one of `before` and `after`";
                self.reject(never.span, "invalid-element", message);
                return None;
            }
        };
        let written = DescribedCall::from(&never.call);
        let scope = Scope::of([&written].into_iter());
        let call = self.call(written.or_at(never.span), &scope);
        let other = self.call(DescribedCall::from(other).or_at(never.span), &scope);
        let (call, other) = (call?, other?);
        if order == Order::NotWith && self.patterns[call].is(&self.patterns[other]) {
            let message = "a call is never before itself: `call` and `before` are the same";
            self.reject(never.span, "contradiction", message);
            return None;
        }
        let relations = vec![Relation { order, other, from: None }];
        self.links.add(call, Link { relations, ..Link::default() });
        Some(Never { call, order, other })
    }

    /// Reports calls that are both expected and forbidden.
    fn contradictions(
        &mut self,
        calls: &[UnorderedCall],
        forbidden: &[usize],
        config: &ExpectFields,
    ) {
        let lists = config.forbidden.iter().flat_map(|list| &list.value);
        let spans: Vec<NodeSpan> = lists.map(|call| call.span).collect();
        let needed: Vec<(usize, NodeSpan)> = self
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
                |(wants, _): &&(usize, NodeSpan)| self.patterns[*wants].is(&self.patterns[forbids]);
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
struct CallCount {
    min: usize,
    max: Option<usize>,
    more: bool,
}
