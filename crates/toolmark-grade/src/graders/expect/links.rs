//! Links between the calls of an expectation: alternatives, order, and values that one call
//! binds and another one uses.
//!
//! Patterns are compared with calls one by one; this narrows their answers. Expectations
//! without such links skip it.

use serde_json::Value;
use std::cell::Cell;
use std::ops::Range;
use toolmark_config::CompactString;
use toolmark_hosts::toolset::ArgClass;
use toolmark_match::call_match::{
    CallPattern, CallTable, Fits, KeyPath, Lack, Needle, Truth, Values, arguments,
};
use toolmark_match::engine::{CallColumn, TooLarge};
use toolmark_pattern::Pattern;
use toolmark_trace::Fact;

/// Values by the names to which calls bind them, each in all of its spellings.
pub(super) type BoundValues = Vec<(CompactString, Vec<Value>)>;

/// Maximum number of questions about pairs of calls.
const MAX_QUESTIONS: usize = 1 << 22;

/// Maximum number of combinations of bound values.
const MAX_VALUES: usize = 4096;

/// Place of another call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Earlier.
    After,
    /// Not earlier.
    NotAfter,
    /// Not earlier, and not at the same time.
    NotWith,
    /// Not later, and not at the same time.
    AfterLast,
    /// Later.
    Before,
    /// Not later.
    NotBefore,
}

impl Order {
    /// Returns the words before the other call.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::After => "after",
            Self::NotAfter | Self::NotWith => "not after",
            Self::AfterLast => "after the last",
            Self::Before => "before",
            Self::NotBefore => "not before",
        }
    }

    /// Whether the other call must be absent.
    fn excludes(self) -> bool {
        !matches!(self, Self::After | Self::Before)
    }

    /// Returns the calls among which the order looks for the other one, seen from `call`.
    fn range(self, table: &CallTable<'_>, call: usize) -> Range<usize> {
        let batches = table.batches();
        let own = batches.of(call);
        match self {
            Self::After | Self::NotAfter => 0..batches.start(own),
            Self::NotWith => 0..batches.end(own),
            Self::AfterLast => batches.start(own)..table.len(),
            Self::Before | Self::NotBefore => batches.end(own)..table.len(),
        }
    }
}

/// Place of a value in a call.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// An argument.
    Argument(KeyPath),
    /// The arguments of a class.
    Typed(ArgClass),
    /// A value in the result, or the whole result.
    Result(Option<KeyPath>),
    /// The first group of a pattern in the text of the result.
    Found(Pattern),
}

/// A value that a call binds to a name.
#[derive(Debug, Clone)]
pub(super) struct Bind {
    pub(super) name: CompactString,
    pub(super) source: Source,
}

/// A condition on another call.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub(super) order: Order,
    /// Pattern of the other call.
    pub(super) other: usize,
    /// Value of this call that the result of the other one must contain.
    pub(super) from: Option<Source>,
}

/// Links of one pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    /// Alternatives, if the pattern stands for any of several.
    pub(super) parts: Vec<usize>,
    pub(super) binds: Vec<Bind>,
    pub(super) relations: Vec<Relation>,
}

/// Links by pattern.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<Option<Box<Link>>>);

impl Links {
    /// Adds links of a pattern.
    pub(super) fn add(&mut self, pattern: usize, link: Link) {
        let Link { parts, binds, relations } = link;
        if parts.is_empty() && binds.is_empty() && relations.is_empty() {
            return;
        }
        if self.0.len() <= pattern {
            self.0.resize_with(pattern + 1, || None);
        }
        let own = self.0[pattern].get_or_insert_default();
        own.parts.extend(parts);
        own.binds.extend(binds);
        own.relations.extend(relations);
    }

    /// Whether a call must not be made, or not in its place.
    pub(super) fn has_exclusions(&self) -> bool {
        let relations = self.0.iter().flatten().flat_map(|link| &link.relations);
        relations.into_iter().any(|relation| relation.order.excludes())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the links of a pattern.
    pub(super) fn of(&self, pattern: usize) -> Option<&Link> {
        self.0.get(pattern)?.as_deref()
    }

    /// Returns the patterns that stand for a pattern: its alternatives, or itself.
    pub(super) fn parts(&self, pattern: usize) -> Vec<usize> {
        match self.of(pattern) {
            Some(link) if !link.parts.is_empty() => link.parts.clone(),
            _ => vec![pattern],
        }
    }

    /// Returns the patterns of other calls.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> {
        let links = self.0.iter().flatten();
        links.flat_map(|link| link.relations.iter().map(|relation| relation.other))
    }

    /// Returns the patterns that stand for several.
    pub(super) fn unions(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let linked = self.0.iter().enumerate();
        let linked = linked.filter_map(|(pattern, link)| Some((pattern, link.as_deref()?)));
        linked
            .filter(|(_, link)| !link.parts.is_empty())
            .map(|(pattern, link)| (pattern, link.parts.as_slice()))
    }

    /// Returns the patterns with links.
    pub(super) fn patterns(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(|pattern| self.0[*pattern].is_some())
    }
}

/// Answers questions about calls that are linked.
pub(super) struct Linker<'l, 't, 'a> {
    pub(super) links: &'l Links,
    pub(super) patterns: &'l [CallPattern],
    pub(super) table: &'t CallTable<'a>,
    pub(super) fits: &'l Fits,
    pub(super) questions: Cell<usize>,
}

impl<'l, 't, 'a> Linker<'l, 't, 'a> {
    pub(super) fn new(
        links: &'l Links,
        patterns: &'l [CallPattern],
        table: &'t CallTable<'a>,
        fits: &'l Fits,
    ) -> Self {
        Self { links, patterns, table, fits, questions: Cell::new(0) }
    }

    /// Returns the calls that match a pattern, and those that match or may match it, with these
    /// values.
    pub(super) fn columns(
        &self,
        pattern: usize,
        values: &Values,
    ) -> Result<(CallColumn, CallColumn), TooLarge> {
        let calls = self.table.len();
        let (mut sure, mut possible) = (CallColumn::new(calls), CallColumn::new(calls));
        for call in self.fits.possible(pattern).iter() {
            match self.truth(pattern, call, values)? {
                Truth::Yes => {
                    sure.set(call);
                    possible.set(call);
                }
                Truth::Unknown(_) => possible.set(call),
                Truth::No => {}
            }
        }
        Ok((sure, possible))
    }

    /// Whether a call matches a pattern, and is linked with others as the pattern asks.
    fn truth(&self, pattern: usize, call: usize, values: &Values) -> Result<Truth, TooLarge> {
        let Some(link) = self.links.of(pattern) else { return self.alone(pattern, call, values) };
        let own = match link.parts.is_empty() {
            true => self.alone(pattern, call, values)?,
            false => {
                let parts: Result<Vec<Truth>, TooLarge> =
                    link.parts.iter().map(|part| self.bound(*part, call, values)).collect();
                Truth::any(parts?)
            }
        };
        if own == Truth::No || (link.binds.is_empty() && link.relations.is_empty()) {
            return Ok(own);
        }
        if self.lacks_values(link, call) {
            return Ok(own.and(Truth::Unknown(Lack::Results)));
        }
        // One of the values that the call binds must be linked with the other calls.
        let mut any = Truth::No;
        for mut known in self.own_values(link, call, values)? {
            known.extend(values.iter().cloned());
            let mut all = own;
            for relation in &link.relations {
                all = all.and(self.holds(relation, call, &known)?);
                if all == Truth::No {
                    break;
                }
            }
            any = Truth::any([any, all]);
            if any == Truth::Yes {
                break;
            }
        }
        Ok(any)
    }

    /// Whether a call matches an alternative, and binds the values as it says.
    fn bound(&self, pattern: usize, call: usize, values: &Values) -> Result<Truth, TooLarge> {
        let own = self.alone(pattern, call, values)?;
        match self.links.of(pattern) {
            Some(link) if own != Truth::No && self.lacks_values(link, call) => {
                Ok(own.and(Truth::Unknown(Lack::Results)))
            }
            Some(link) if own != Truth::No && !link.binds.is_empty() => {
                let is_empty = self.own_values(link, call, values)?.is_empty();
                Ok(if is_empty { Truth::No } else { own })
            }
            _ => Ok(own),
        }
    }

    /// Whether a call by itself matches a pattern.
    fn alone(&self, pattern: usize, call: usize, values: &Values) -> Result<Truth, TooLarge> {
        self.questions.set(self.questions.get() + 1);
        if self.questions.get() > MAX_QUESTIONS {
            return Err(TooLarge);
        }
        let of_fits = match self.fits.sure[pattern].get(call) {
            true => Truth::Yes,
            false if self.fits.possible(pattern).get(call) => {
                let open = self.fits.open.iter().find(|o| (o.0, o.1) == (pattern, call));
                Truth::Unknown(open.map_or(Lack::Pattern, |open| open.2))
            }
            false => Truth::No,
        };
        let own = &self.patterns[pattern];
        Ok(match of_fits == Truth::No || values.is_empty() || !own.refers() {
            true => of_fits,
            false => of_fits.and(own.with_values(values).fits(self.table, call)),
        })
    }

    /// Whether the trace does not record a value that a call binds.
    fn lacks_values(&self, link: &Link, call: usize) -> bool {
        link.binds.iter().any(|bind| self.values_at(&bind.source, call).is_none())
    }

    /// Returns the values that a call binds, in all combinations; empty if one has another value
    /// already, or if the call lacks it.
    fn own_values(
        &self,
        link: &Link,
        call: usize,
        values: &Values,
    ) -> Result<Vec<BoundValues>, TooLarge> {
        let mut all: Vec<BoundValues> = vec![Vec::new()];
        for bind in &link.binds {
            let found = self.values_at(&bind.source, call).unwrap_or_default();
            let known = values.iter().find(|(name, _)| *name == bind.name);
            let found: Vec<Vec<Value>> = match known {
                Some((_, known)) => {
                    found.into_iter().filter(|one| one.iter().any(|v| known.contains(v))).collect()
                }
                None => found,
            };
            let mut next = Vec::new();
            for before in &all {
                for one in &found {
                    let mut with = before.clone();
                    with.push((bind.name.clone(), one.clone()));
                    next.push(with);
                }
            }
            if next.len() > MAX_VALUES {
                return Err(TooLarge);
            }
            all = next;
        }
        Ok(all)
    }

    /// Returns the things at a place of a call, each in all of its spellings; `None` if the trace
    /// does not record them.
    fn values_at(&self, source: &Source, call: usize) -> Option<Vec<Vec<Value>>> {
        let made = self.table.calls().get(call)?;
        Some(match source {
            Source::Argument(path) => {
                let args = arguments(made)?;
                path.get(&args).map(|value| vec![value.clone()]).into_iter().collect()
            }
            Source::Typed(class) => self.table.values(call, *class),
            Source::Result(path) => {
                let Some(result) = &made.seen.call.result else {
                    return (!made.fidelity.lacks(Fact::Results)).then(Vec::new);
                };
                let payload = result.payload.as_ref()?;
                let value = match path {
                    None => Some(Value::String(payload.plain().trim().to_owned())),
                    Some(path) => path.get(&payload.to_value()).cloned(),
                };
                value.map(|value| vec![value]).into_iter().collect()
            }
            Source::Found(pattern) => {
                if made.seen.call.result.is_none() && !made.fidelity.lacks(Fact::Results) {
                    return Some(Vec::new());
                }
                let text = self.table.result_text(call)?;
                let Some(found) = pattern.captures(&text).ok()? else { return Some(Vec::new()) };
                let group = found.get(1).or_else(|| found.first()).cloned().flatten();
                let value = group.and_then(|group| text.get(group.start..group.end));
                value.map(|v| vec![Value::String(v.to_owned())]).into_iter().collect()
            }
        })
    }

    /// Whether other calls are where a relation asks for them.
    fn holds(&self, relation: &Relation, call: usize, values: &Values) -> Result<Truth, TooLarge> {
        let needle = match &relation.from {
            None => None,
            Some(source) => match self.values_at(source, call) {
                None => return Ok(Truth::Unknown(Lack::Arguments)),
                Some(found) if found.is_empty() => return Ok(Truth::No),
                Some(found) => Some(Needle::words(&found.concat())),
            },
        };
        let mut any = Truth::No;
        let column = self.fits.possible(relation.other);
        let range = relation.order.range(self.table, call);
        let mut next = column.next(range.start);
        while let Some(other) = next.filter(|other| *other < range.end) {
            next = column.next(other + 1);
            if other == call && relation.order != Order::NotWith {
                continue;
            }
            let mut truth = self.truth_of_other(relation.other, other, values)?;
            if let (Some(needle), true) = (&needle, truth != Truth::No) {
                truth = truth.and(match self.table.result_text(other) {
                    Some(text) => Truth::of(needle.is_in(&text)),
                    None => Truth::Unknown(Lack::Results),
                });
            }
            any = Truth::any([any, truth]);
            if any == Truth::Yes {
                break;
            }
        }
        Ok(if relation.order.excludes() { any.negated() } else { any })
    }

    /// Whether a call matches the pattern of another call, which has no relations of its own.
    fn truth_of_other(
        &self,
        pattern: usize,
        call: usize,
        values: &Values,
    ) -> Result<Truth, TooLarge> {
        match self.links.of(pattern) {
            None => self.alone(pattern, call, values),
            Some(link) if link.parts.is_empty() => self.bound(pattern, call, values),
            Some(link) => {
                let parts: Result<Vec<Truth>, TooLarge> =
                    link.parts.iter().map(|part| self.bound(*part, call, values)).collect();
                Ok(Truth::any(parts?))
            }
        }
    }

    /// Returns the combinations of values that calls of these patterns bind, without values first.
    pub(super) fn combinations(
        &self,
        patterns: impl Iterator<Item = usize>,
    ) -> Result<Vec<BoundValues>, TooLarge> {
        let mut by_name: Vec<(CompactString, Vec<Vec<Value>>)> = Vec::new();
        for pattern in patterns {
            for part in self.links.parts(pattern).into_iter().chain([pattern]) {
                let Some(link) = self.links.of(part) else { continue };
                for bind in &link.binds {
                    let known = by_name.iter().position(|(name, _)| *name == bind.name);
                    let at = known.unwrap_or_else(|| {
                        by_name.push((bind.name.clone(), Vec::new()));
                        by_name.len() - 1
                    });
                    for call in self.fits.possible(part).iter() {
                        for one in self.values_at(&bind.source, call).unwrap_or_default() {
                            if !by_name[at].1.contains(&one) {
                                by_name[at].1.push(one);
                            }
                        }
                    }
                }
            }
        }
        let mut all = vec![Vec::new()];
        for (name, found) in by_name.into_iter().filter(|(_, found)| !found.is_empty()) {
            if all.len().saturating_mul(found.len()) > MAX_VALUES {
                return Err(TooLarge);
            }
            let with = |before: &BoundValues, one: &Vec<Value>| {
                let mut all = before.clone();
                all.push((name.clone(), one.clone()));
                all
            };
            all = all
                .iter()
                .flat_map(|before| found.iter().map(|one| with(before, one)).collect::<Vec<_>>())
                .collect();
        }
        Ok(all)
    }
}
