//! Finds the order that holds in every run, as far as a sequence can express it.

use crate::mine::sample::MinedRun;
use crate::mine::template::Template;

/// Maximum number of calls of one kind that get an event each.
const MAX_TIMES: usize = 3;

/// Maximum number of events that are ordered.
const MAX_EVENTS: usize = 48;

/// The n-th call that matches a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderEvent {
    /// Template index.
    pub(crate) template: usize,
    /// Occurrence, counted from 0.
    pub(crate) time: usize,
}

/// Known order of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CallOrder {
    /// Layers: every event of one layer comes before every event of the next; within a layer
    /// the order is unspecified.
    pub(crate) layers: Vec<Vec<OrderEvent>>,
    /// Pairs of templates whose first calls are always in this order, although the layers
    /// do not express it.
    pub(crate) inside: Vec<(usize, usize)>,
}

/// Whether a repeated call of one kind may become an event of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Apart,
    Once,
}

impl CallOrder {
    /// Finds the order of the calls that match these templates in all runs.
    pub(crate) fn new(templates: &[Template], samples: &[&MinedRun<'_>], repeats: Repeats) -> Self {
        let places: Vec<Vec<Vec<usize>>> = samples
            .iter()
            .map(|sample| templates.iter().map(|template| template.batches(sample)).collect())
            .collect();
        let mut events = Vec::new();
        for template in 0..templates.len() {
            let times = places.iter().map(|run| run[template].len()).min().unwrap_or(0);
            let most = if repeats == Repeats::Apart { MAX_TIMES } else { 1 };
            events.extend((0..times.min(most)).map(|time| OrderEvent { template, time }));
        }
        events.truncate(MAX_EVENTS);
        let is_before = |a: OrderEvent, b: OrderEvent| {
            places.iter().all(|run| run[a.template][a.time] < run[b.template][b.time])
        };
        // A repeated call says something where another comes in between.
        let all = events.clone();
        events.retain(|event| {
            event.time == 0
                || all.iter().any(|other| {
                    let previous = OrderEvent { time: event.time - 1, ..*event };
                    other.template != event.template
                        && is_before(previous, *other)
                        && is_before(*other, *event)
                })
        });
        // What a dropped one stood between is gone, too.
        let kept = events.clone();
        events.retain(|event| {
            (0..event.time).all(|time| kept.contains(&OrderEvent { time, ..*event }))
        });
        let before: Vec<Vec<bool>> =
            events.iter().map(|a| events.iter().map(|b| is_before(*a, *b)).collect()).collect();
        let layers = layers(&before);
        let inside = inside(&events, &layers, &before);
        let layers = layers.into_iter();
        Self {
            layers: layers.map(|all| all.into_iter().map(|at| events[at]).collect()).collect(),
            inside,
        }
    }
}

/// Groups events that no order separates; the groups are totally ordered.
fn layers(before: &[Vec<bool>]) -> Vec<Vec<usize>> {
    let count = before.len();
    let mut layer: Vec<usize> = (0..count).collect();
    for a in 0..count {
        for b in 0..a {
            if !before[a][b] && !before[b][a] {
                let (from, to) = (layer[a], layer[b]);
                layer.iter_mut().filter(|one| **one == from).for_each(|one| *one = to);
            }
        }
    }
    let mut all: Vec<Vec<usize>> = Vec::new();
    for event in 0..count {
        match all.iter_mut().find(|other| layer[other[0]] == layer[event]) {
            Some(same) => same.push(event),
            None => all.push(vec![event]),
        }
    }
    // Between two layers all pairs have the same order.
    all.sort_by_key(|one| {
        let first = one[0];
        (0..count).filter(|other| before[*other][first] && layer[*other] != layer[first]).count()
    });
    all
}

/// Returns pairs within a layer whose order always holds, without those implied by others.
fn inside(
    events: &[OrderEvent],
    layers: &[Vec<usize>],
    before: &[Vec<bool>],
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for layer in layers {
        let firsts: Vec<usize> = layer.iter().copied().filter(|at| events[*at].time == 0).collect();
        for &a in &firsts {
            for &b in &firsts {
                let follows = firsts.iter().any(|&c| before[a][c] && before[c][b]);
                if before[a][b] && !follows {
                    pairs.push((events[a].template, events[b].template));
                }
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::testing::{run, sample};
    use serde_json::json;

    fn order(runs: &[&str]) -> (String, Vec<String>) {
        let runs: Vec<_> = runs
            .iter()
            .map(|tools| {
                let calls: Vec<(String, _)> =
                    tools.chars().map(|c| (c.to_string(), json!({}))).collect();
                let calls: Vec<(&str, _)> =
                    calls.iter().map(|(c, v)| (c.as_str(), v.clone())).collect();
                run(&calls)
            })
            .collect();
        let samples: Vec<_> = runs.iter().map(sample).collect();
        let samples: Vec<&MinedRun<'_>> = samples.iter().collect();
        let mut tools: Vec<&str> = samples[0].tools().collect();
        tools.sort_unstable();
        tools.dedup();
        tools.retain(|tool| samples.iter().all(|sample| sample.calls_tool(tool)));
        let templates: Vec<Template> = tools.iter().map(|tool| Template::bare(tool)).collect();
        let found = CallOrder::new(&templates, &samples, Repeats::Apart);
        let name = |event: &OrderEvent| templates[event.template].tool.clone();
        let layers: Vec<String> =
            found.layers.iter().map(|layer| layer.iter().map(name).collect::<String>()).collect();
        let pair =
            |(a, b): &(usize, usize)| format!("{}{}", templates[*a].tool, templates[*b].tool);
        (layers.join(" "), found.inside.iter().map(pair).collect())
    }

    #[test]
    fn partial_orders_become_layers() {
        for (runs, layers, inside) in [
            (&["abc", "abc"][..], "a b c", &[][..]),
            (&["abcd", "acbd"], "a bc d", &[]),
            (&["ab", "ba"], "ab", &[]),
            // Work that is repeated after something else was done.
            (&["tet", "txet"], "t e t", &[]),
            (&["ttee", "ttee"], "t e", &[]),
            // `a` is always before `b`, `c` anywhere.
            (&["abc", "cab"], "abc", &["ab"]),
            (&["xa", "a"], "a", &[]),
        ] {
            let inside: Vec<String> = inside.iter().map(|pair: &&str| (*pair).to_owned()).collect();
            assert_eq!(order(runs), (layers.to_owned(), inside), "{runs:?}");
        }
    }
}
