//! Proposes expectations from the runs alone. The graders decide whether they hold.

use crate::mine::atom::{ValueTest, most_telling, tool_config};
use crate::mine::budget::budgets;
use crate::mine::generalize::escaped;
use crate::mine::item::{ExpectationFamily, MinedItem, SpecPart};
use crate::mine::order::{CallOrder, Repeats};
use crate::mine::sample::{MinedRun, bare, is_writable, tools_of};
use crate::mine::template::{Template, templates};
use serde_json::{Value, json};
use toolmark_base::{SortedMap, SortedSet};
use toolmark_redact::Redactor;

/// Maximum number of call pairs whose order is written in addition to the sequence.
const MAX_PAIRS: usize = 16;

/// Maximum number of arguments per tool that are the same in all calls.
const MAX_SAME: usize = 3;

/// Minimum number of runs for expecting arguments: two runs have much in common by chance.
pub(crate) const MIN_FOR_ARGUMENTS: usize = 3;

/// Up to this number, tools that are never called get a line each; more of them share one.
const MAX_LINES: usize = 2;

/// Minimum number of runs from which a constant number is expected.
const SURE: usize = 5;

/// Minimum share of runs with a tool for a comment about tools that some runs lack.
const OFTEN: f64 = 0.8;

/// The runs to compare.
pub(crate) struct RunEvidence<'s, 't> {
    pub(crate) passing: Vec<&'s MinedRun<'t>>,
    pub(crate) failing: Vec<&'s MinedRun<'t>>,
    /// Tools called in runs of other cases.
    pub(crate) elsewhere: &'s SortedSet<String>,
    pub(crate) redactor: Redactor,
    /// Whether arguments are expected; otherwise they are comments.
    pub(crate) uses_arguments: bool,
}

impl<'s, 't> RunEvidence<'s, 't> {
    /// Returns the runs that show what is always present: those that record all calls, if any.
    fn complete(&self) -> Vec<&'s MinedRun<'t>> {
        let complete: Vec<_> = self.passing.iter().copied().filter(|s| s.is_complete()).collect();
        if complete.is_empty() { self.passing.clone() } else { complete }
    }

    /// Returns all possible expectations.
    pub(crate) fn propose(&self) -> Vec<MinedItem> {
        let runs = self.complete();
        let mut items = Vec::new();
        if !runs.is_empty() && runs.iter().all(|run| run.calls.is_empty()) {
            items.push(MinedItem::expect(
                ExpectationFamily::Tools,
                "none".into(),
                SpecPart::NoCalls,
            ));
        } else {
            let always = self.always(&runs);
            self.calls(&runs, &always, &mut items);
            self.dependent(&runs, &always, &mut items);
            counts(&runs, &always, &mut items);
            self.same_arguments(&runs, &mut items);
            self.often(&runs, &always, &mut items);
            self.never(&mut items);
        }
        budgets(&self.passing, &mut items);
        items
    }

    /// Returns the tools that every run calls successfully.
    fn always(&self, runs: &[&MinedRun<'_>]) -> Vec<String> {
        let mut all: Vec<String> = tools_of(runs, self.redactor)
            .into_iter()
            .filter(|tool| runs.iter().all(|run| run.done(tool).next().is_some()))
            .collect();
        // In the order of the first run, as a person would tell it.
        let place =
            |tool: &String| runs.first().and_then(|run| run.tools().position(|t| t == tool));
        all.sort_by_key(place);
        all
    }

    /// Adds the calls that every run makes, and their order.
    fn calls(&self, runs: &[&MinedRun<'_>], always: &[String], items: &mut Vec<MinedItem>) {
        let mut expected: Vec<Template> = Vec::new();
        for tool in always {
            let found = templates(tool, runs);
            let has_arguments = found.iter().any(|template| !template.atoms.is_empty());
            if self.uses_arguments {
                expected.extend(found);
                continue;
            }
            expected.push(Template::bare(tool));
            if has_arguments {
                let doubtful = found.iter().map(|template| item_of(template).doubtful(true));
                items.extend(doubtful);
            }
        }
        let first = items.len();
        items.extend(expected.iter().map(item_of));
        let place = |template: usize| first + template;
        let order = CallOrder::new(&expected, runs, Repeats::Apart);
        sequence(&order, &place, items);
        if order.layers.iter().flatten().any(|event| event.time > 0) {
            sequence(&CallOrder::new(&expected, runs, Repeats::Once), &place, items);
        }
        let mut pairs = order.inside.clone();
        // A call that is made again fits a sequence though its first one came too early.
        for two in order.layers.windows(2) {
            if let [before, after] = two
                && let ([a], [b]) = (before.as_slice(), after.as_slice())
                && a.time == 0
                && b.time == 0
                && runs.iter().any(|run| expected[b.template].batches(run).len() > 1)
            {
                pairs.push((a.template, b.template));
            }
        }
        for (a, b) in pairs.into_iter().take(MAX_PAIRS) {
            items.push(never_before(&expected[b], &expected[a]).at_least(2));
        }
    }

    /// Adds the tools that some runs call, and only after another tool.
    fn dependent(&self, runs: &[&MinedRun<'_>], always: &[String], items: &mut Vec<MinedItem>) {
        let tools = tools_of(runs, self.redactor);
        let mut left = MAX_PAIRS;
        for tool in tools.iter().filter(|tool| !always.contains(tool)) {
            let callers: Vec<&MinedRun<'_>> =
                runs.iter().copied().filter(|run| run.calls_tool(tool)).collect();
            if callers.len() < 2 {
                continue;
            }
            let first = |run: &MinedRun<'_>, tool: &str| {
                run.calls.iter().find(|call| call.tool == tool).map(|call| call.batch)
            };
            let done = |run: &MinedRun<'_>, tool: &str| run.done(tool).map(|call| call.batch).min();
            let comes_before = |other: &&String| {
                *other != tool
                    && callers.iter().all(|run| match (done(run, other), first(run, tool)) {
                        (Some(other), Some(own)) => other < own,
                        _ => false,
                    })
            };
            let before: Vec<&String> = tools.iter().filter(comes_before).collect();
            // The last of them: what comes before it comes before the tool anyway.
            let is_last = |other: &&&String| {
                before.iter().all(|third| {
                    third == *other
                        || !callers.iter().all(|run| done(run, other) < done(run, third))
                })
            };
            for other in before.iter().filter(is_last).take(1) {
                if left == 0 {
                    return;
                }
                left -= 1;
                let item = never_before(&Template::bare(tool), &Template::bare(other));
                items.push(item.at_least(SURE).in_runs(callers.len(), runs.len()));
            }
        }
    }

    /// Adds arguments that are the same in all calls of a tool that is called more than
    /// once or not always, because no expected call covers them.
    fn same_arguments(&self, runs: &[&MinedRun<'_>], items: &mut Vec<MinedItem>) {
        for tool in tools_of(runs, self.redactor) {
            let calls: Vec<_> =
                runs.iter().flat_map(|run| &run.calls).filter(|call| call.tool == tool).collect();
            let callers = runs.iter().filter(|run| run.calls_tool(&tool)).count();
            let is_once = runs.iter().all(|run| run.done(&tool).count() == 1);
            let Some((first, others)) = calls.split_first() else { continue };
            if calls.len() < 3 || callers < 2 || is_once {
                continue;
            }
            let common = first.atoms.iter().filter(|atom| {
                matches!(atom.test, ValueTest::Equals(_) | ValueTest::Tail(_))
                    && others.iter().all(|call| call.atoms.contains(*atom))
            });
            for atom in most_telling(common).into_iter().take(MAX_SAME) {
                let condition = json!({ "not": atom.test.condition() });
                let entry = json!({
                    "tool": tool_config(&tool), "where": { atom.path.clone(): condition },
                });
                let slot = format!("same {tool} {}", atom.path);
                let item = MinedItem::expect(
                    ExpectationFamily::Arguments,
                    slot,
                    SpecPart::Forbidden(entry),
                );
                let words = format!("all {} calls", calls.len());
                let item = item.at_least(MIN_FOR_ARGUMENTS).about([tool.clone()]).remark(words);
                items.push(item.in_runs(callers, runs.len()).doubtful(!self.uses_arguments));
            }
        }
    }

    /// Adds the tools that most runs call.
    fn often(&self, runs: &[&MinedRun<'_>], always: &[String], items: &mut Vec<MinedItem>) {
        for tool in tools_of(runs, self.redactor).iter().filter(|tool| !always.contains(tool)) {
            let callers = runs.iter().filter(|run| run.done(tool).next().is_some()).count();
            if runs.len() >= 5 && callers as f64 >= OFTEN * runs.len() as f64 {
                items.push(item_of(&Template::bare(tool)).doubtful(true));
            }
        }
    }

    /// Adds the tools that no run calls although it could have: failing runs or runs of other
    /// cases call them, or they were offered.
    fn never(&self, items: &mut Vec<MinedItem>) {
        let is_known = self.passing.iter().any(|run| run.is_complete());
        if !is_known {
            return;
        }
        let called: SortedSet<String> =
            self.passing.iter().flat_map(|run| run.tools()).map(bare).collect();
        let is_unused =
            |tool: &String| !called.contains(&bare(tool)) && is_writable(tool, self.redactor);
        let mut origins: SortedMap<String, ToolOrigin> = SortedMap::new();
        for run in &self.passing {
            for tool in run.offered.iter().filter(|tool| is_unused(tool)) {
                origins.insert(tool.clone(), ToolOrigin::Offered);
            }
        }
        for tool in self.elsewhere.iter().filter(|tool| is_unused(tool)) {
            origins.insert(tool.clone(), ToolOrigin::Elsewhere);
        }
        for tool in tools_of(&self.failing, self.redactor).into_iter().filter(is_unused) {
            origins.insert(tool, ToolOrigin::Failing);
        }
        let of = |wanted: ToolOrigin| {
            let all = origins.iter().filter(move |(_, origin)| **origin == wanted);
            all.map(|(tool, _)| tool).collect::<Vec<_>>()
        };
        for tool in of(ToolOrigin::Failing) {
            never_call(&[tool], 1, "failing runs call it", items);
        }
        for (origin, one, many) in [
            (ToolOrigin::Elsewhere, "runs of other cases call it", "runs of other cases call them"),
            (ToolOrigin::Offered, "it was offered", "they were offered"),
        ] {
            let tools = of(origin);
            match tools.len() {
                0..=MAX_LINES => {
                    tools.iter().for_each(|tool| never_call(&[*tool], SURE, one, items));
                }
                _ => never_call(&tools, SURE, many, items),
            }
        }
    }

    /// Returns the tools that a run calls or could have called.
    pub(crate) fn known_tools(&self) -> SortedSet<String> {
        let mut all = tools_of(&self.passing, self.redactor);
        all.extend(tools_of(&self.failing, self.redactor));
        all.extend(self.elsewhere.iter().cloned());
        all.extend(self.passing.iter().flat_map(|run| run.offered.iter().cloned()));
        all
    }
}

/// Adds the expectation that none of these tools is called.
fn never_call(tools: &[&String], least: usize, why: &str, items: &mut Vec<MinedItem>) {
    let entry = match tools {
        [one] => match tool_config(one) {
            name @ Value::String(_) => name,
            pattern => json!({ "tool": pattern }),
        },
        many => {
            let names: Vec<String> = many.iter().map(|tool| escaped(tool)).collect();
            json!({ "tool": { "regex": format!("^({})$", names.join("|")) } })
        }
    };
    let item = MinedItem::expect(
        ExpectationFamily::Never,
        format!("never {entry}"),
        SpecPart::Forbidden(entry),
    );
    items.push(item.at_least(least).remark(why.to_owned()));
}

/// Source of a known tool that no passing run calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolOrigin {
    Offered,
    Elsewhere,
    Failing,
}

fn item_of(template: &Template) -> MinedItem {
    let config = template.config();
    let slot = format!("call {config}");
    let has_arguments = !template.atoms.is_empty();
    let family =
        if has_arguments { ExpectationFamily::Arguments } else { ExpectationFamily::Tools };
    let least = if has_arguments { MIN_FOR_ARGUMENTS } else { 1 };
    let item = MinedItem::expect(family, slot, SpecPart::Call(config)).at_least(least);
    item.about([template.tool.clone()])
}

fn never_before(call: &Template, before: &Template) -> MinedItem {
    let (call_config, before_config) = (call.config(), before.config());
    let slot = format!("never {call_config} before {before_config}");
    let entry = json!({ "call": call_config, "before": before_config });
    let item = MinedItem::expect(ExpectationFamily::Order, slot, SpecPart::Never(entry));
    item.about([call.tool.clone(), before.tool.clone()])
}

/// Adds the sequence of an order, if it has any content.
fn sequence(order: &CallOrder, place: &impl Fn(usize) -> usize, items: &mut Vec<MinedItem>) {
    if order.layers.len() < 2 {
        return;
    }
    let layers: Vec<Vec<usize>> = order
        .layers
        .iter()
        .map(|layer| layer.iter().map(|event| place(event.template)).collect())
        .collect();
    let entry = |at: &usize| match items.get(*at).map(|item| &item.part) {
        Some(SpecPart::Call(entry)) => entry.clone(),
        _ => Value::Null,
    };
    let elements: Vec<Value> = layers
        .iter()
        .map(|layer| match layer.as_slice() {
            [one] => entry(one),
            many => json!({ "any_order": many.iter().map(entry).collect::<Vec<_>>() }),
        })
        .collect();
    let tools: SortedSet<String> = layers
        .iter()
        .flatten()
        .filter_map(|at| items.get(*at))
        .flat_map(|item| item.tools.clone())
        .collect();
    let mut item =
        MinedItem::expect(ExpectationFamily::Order, "sequence".into(), SpecPart::Sequence(layers));
    item.config = json!({ "sequence": elements });
    items.push(item.at_least(2).about(tools));
}

/// Adds the number of calls of the tools that every run calls.
fn counts(runs: &[&MinedRun<'_>], always: &[String], items: &mut Vec<MinedItem>) {
    for tool in always {
        let counts = runs.iter().map(|run| run.done(tool).count());
        let (Some(fewest), Some(most)) = (counts.clone().min(), counts.max()) else { continue };
        let words = match fewest == most {
            true => format!("{most} in every run"),
            false => format!("{fewest} to {most} in these runs"),
        };
        let count = match fewest == most && runs.len() >= SURE {
            true => json!({ "min": most, "max": most }),
            false => json!({ "max": with_room(most) }),
        };
        let entry = json!({ "tool": tool_config(tool), "count": count });
        let part = SpecPart::Count { entry, tool: tool.clone() };
        let item = MinedItem::expect(ExpectationFamily::Counts, format!("count {tool}"), part);
        items.push(item.at_least(3).about([tool.clone()]).remark(words));
    }
}

/// Returns a limit with room for half as many again.
pub(crate) fn with_room(most: usize) -> usize {
    most + most.div_ceil(2).max(1)
}
