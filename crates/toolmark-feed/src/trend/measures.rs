//! Measures, and the contributions of sessions to them.

use super::changes::Share;
use super::run::{Better, NumberUnit};
use super::session::TrendSession;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_check::ScoreTally;

/// Names and descriptions of the measures. The scorecard has more, under the names used by gates.
pub const MEASURES: &[(&str, &str)] = &[
    ("faults", "findings that are errors or warnings, per 100 calls"),
    ("failures", "share of calls that failed, of all tools and of each"),
    ("selection", "share of checked calls without a finding about the choice of tool"),
    ("arguments", "share of checked calls without a finding about their arguments"),
    ("irreversibility", "how well destructive calls were announced"),
    ("recovery", "share of failures that were recovered from"),
    ("latency", "p50, p95 and p99 of how long the calls of a tool take"),
    ("tokens", "tokens of a session (median)"),
    ("cost", "cost of a session by list prices or the price file (median)"),
    ("recorded-cost", "cost of a session as its trace records it (median)"),
];

/// Whether one of these measures needs the rules; with no names, all measures are meant.
#[must_use]
pub fn needs_rules(wanted: &[String]) -> bool {
    const WITHOUT: [&str; 5] = ["failures", "latency", "tokens", "cost", "recorded-cost"];
    let is_without = |name: &String| {
        WITHOUT.iter().any(|known| name == known || name.starts_with(&format!("{known}.")))
    };
    wanted.is_empty() || !wanted.iter().all(is_without)
}

/// Whether a measure is requested, by its name or by the part before a dot.
pub(super) fn is_wanted(name: &str, wanted: &[String]) -> bool {
    let is_one = |one: &String| {
        name == one || name.strip_prefix(one.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    wanted.is_empty() || wanted.iter().any(is_one)
}

/// Values of one measure, by session.
#[derive(Debug, Clone)]
pub(super) enum MeasureNumbers {
    /// A rate: session, points, total.
    Rate(Vec<(u32, f64, u64)>),
    /// A quantile of the durations of calls: session and values.
    Quantile(f64, Vec<(u32, Vec<u32>)>),
    /// The median of one number per session.
    Median(Vec<(u32, f64)>),
}

/// A measure of all sessions.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) tool: Option<Arc<str>>,
    pub(super) unit: NumberUnit,
    pub(super) better: Better,
    pub(super) numbers: MeasureNumbers,
}

/// Minimum number of calls for a tool to have series of its own.
const MIN_CALLS: u64 = 20;

/// Maximum number of tools with series, the most used first.
const MAX_TOOLS: usize = 40;

/// Measures of the scorecard for which lower is better.
const LOW_IS_GOOD: &[&str] = &[
    "recovery.repeat",
    "recovery.blind",
    "recovery.escalation",
    "recovery.evasion",
    "recovery.masked",
];

/// Returns the requested measures of the sessions.
pub(super) fn all(sessions: &[TrendSession], wanted: &[String]) -> Vec<Measured> {
    let mut all = Vec::new();
    let mut add = |name: &str, tool: Option<&Arc<str>>, unit, better, numbers: MeasureNumbers| {
        if is_wanted(name, wanted) && !numbers.is_empty() {
            all.push(Measured { name: name.into(), tool: tool.cloned(), unit, better, numbers });
        }
    };
    let each = || (0_u32..).zip(sessions);
    let faults = each().filter_map(|(at, one)| {
        let calls = one.calls.filter(|calls| *calls > 0)?;
        Some((at, one.faults? as f64, calls))
    });
    add("faults", None, NumberUnit::Per100, Better::Lower, MeasureNumbers::Rate(faults.collect()));
    let failed = each().filter_map(|(at, one)| {
        let known: u64 = one.tools.values().map(|tool| tool.known).sum();
        let failed: u64 = one.tools.values().map(|tool| tool.failed).sum();
        (known > 0).then_some((at, failed as f64, known))
    });
    add("failures", None, NumberUnit::Share, Better::Lower, MeasureNumbers::Rate(failed.collect()));
    for name in tallies(sessions) {
        let rows = each().filter_map(|(at, one)| {
            let tally: &ScoreTally = one.tallies.get(name)?;
            Some((at, tally.rate()? * tally.of as f64, tally.of))
        });
        let better = if LOW_IS_GOOD.contains(&name) { Better::Lower } else { Better::Higher };
        add(name, None, NumberUnit::Share, better, MeasureNumbers::Rate(rows.collect()));
    }
    let tools = by_use(sessions);
    for tool in &tools {
        let rows = each().filter_map(|(at, one)| {
            let calls = one.tools.get(tool).filter(|calls| calls.known > 0)?;
            Some((at, calls.failed as f64, calls.known))
        });
        let rows: Vec<(u32, f64, u64)> = rows.collect();
        if rows.iter().map(|(_, _, of)| of).sum::<u64>() >= MIN_CALLS {
            add(
                "failures",
                Some(tool),
                NumberUnit::Share,
                Better::Lower,
                MeasureNumbers::Rate(rows),
            );
        }
    }
    for tool in &tools {
        let rows = each().filter_map(|(at, one)| {
            let calls = one.tools.get(tool).filter(|calls| !calls.milliseconds.is_empty())?;
            Some((at, calls.milliseconds.clone()))
        });
        let rows: Vec<(u32, Vec<u32>)> = rows.collect();
        if rows.iter().map(|(_, all)| all.len() as u64).sum::<u64>() >= MIN_CALLS {
            for (name, part) in [("latency.p50", 0.5), ("latency.p95", 0.95), ("latency.p99", 0.99)]
            {
                let numbers = MeasureNumbers::Quantile(part, rows.clone());
                add(name, Some(tool), NumberUnit::Milliseconds, Better::Lower, numbers);
            }
        }
    }
    let tokens = each().filter_map(|(at, one)| Some((at, one.tokens? as f64)));
    add(
        "tokens",
        None,
        NumberUnit::Tokens,
        Better::Neither,
        MeasureNumbers::Median(tokens.collect()),
    );
    let cost = each().filter_map(|(at, one)| Some((at, one.spend.usd()?.0)));
    add("cost", None, NumberUnit::Usd, Better::Lower, MeasureNumbers::Median(cost.collect()));
    let recorded = each().filter_map(|(at, one)| Some((at, one.recorded.usd()?.0)));
    add(
        "recorded-cost",
        None,
        NumberUnit::Usd,
        Better::Lower,
        MeasureNumbers::Median(recorded.collect()),
    );
    all
}

/// Returns the names of the scorecard: its columns first.
fn tallies(sessions: &[TrendSession]) -> Vec<&str> {
    let mut names: SortedMap<(bool, &str), ()> = SortedMap::new();
    for name in sessions.iter().flat_map(|one| one.tallies.keys()) {
        names.insert((name.contains('.'), name.as_str()), ());
    }
    names.into_keys().map(|(_, name)| name).collect()
}

fn by_use(sessions: &[TrendSession]) -> Vec<Arc<str>> {
    let mut uses: SortedMap<&Arc<str>, u64> = SortedMap::new();
    for (tool, calls) in sessions.iter().flat_map(|one| &one.tools) {
        *uses.entry(tool).or_default() += calls.known.max(calls.milliseconds.len() as u64);
    }
    let mut tools: Vec<(&Arc<str>, u64)> = uses.into_iter().collect();
    tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    tools.into_iter().take(MAX_TOOLS).map(|(tool, _)| tool.clone()).collect()
}

/// A number, and the count of values it is based on.
pub(super) type MeasuredValue = Option<(f64, u64)>;

impl MeasureNumbers {
    fn is_empty(&self) -> bool {
        match self {
            Self::Rate(rows) => rows.is_empty(),
            Self::Quantile(_, rows) => rows.is_empty(),
            Self::Median(rows) => rows.is_empty(),
        }
    }

    /// Returns the value for the selected sessions.
    pub(super) fn value(&self, is_chosen: impl Fn(u32) -> bool) -> MeasuredValue {
        match self {
            Self::Rate(rows) => {
                let (mut points, mut of) = (0.0, 0_u64);
                for (_, more, count) in rows.iter().filter(|(session, ..)| is_chosen(*session)) {
                    points += more;
                    of += count;
                }
                (of > 0).then(|| (points / of as f64, of))
            }
            Self::Quantile(part, rows) => {
                let chosen = rows.iter().filter(|(session, _)| is_chosen(*session));
                let mut values: Vec<f64> =
                    chosen.flat_map(|(_, all)| all.iter().map(|ms| f64::from(*ms))).collect();
                quantile(&mut values, *part).map(|value| (value, values.len() as u64))
            }
            Self::Median(rows) => {
                let chosen = rows.iter().filter(|(session, _)| is_chosen(*session));
                let mut values: Vec<f64> = chosen.map(|(_, value)| *value).collect();
                quantile(&mut values, 0.5).map(|value| (value, values.len() as u64))
            }
        }
    }

    /// Returns the contributions of sessions to the test: a rate by its points, a median by the
    /// ranks of its values, a higher quantile by the number of its values above that of all
    /// sessions.
    pub(super) fn shares(&self) -> Vec<Share> {
        match self {
            Self::Rate(rows) => rows
                .iter()
                .map(|(session, points, of)| Share {
                    session: *session,
                    distance: *points,
                    weight: *of as f64,
                })
                .collect(),
            Self::Quantile(part, rows) if *part > 0.5 => {
                let mut values: Vec<f64> =
                    rows.iter().flat_map(|(_, all)| all.iter().map(|ms| f64::from(*ms))).collect();
                let limit = quantile(&mut values, *part).unwrap_or(f64::MAX);
                let above = |all: &[u32]| all.iter().filter(|ms| f64::from(**ms) > limit).count();
                let share = |(session, all): &(u32, Vec<u32>)| Share {
                    session: *session,
                    distance: above(all) as f64,
                    weight: all.len() as f64,
                };
                rows.iter().map(share).collect()
            }
            Self::Quantile(_, rows) => {
                ranked(rows.iter().flat_map(|(session, all)| {
                    all.iter().map(move |ms| (*session, f64::from(*ms)))
                }))
            }
            Self::Median(rows) => ranked(rows.iter().copied()),
        }
    }
}

/// Returns the ranks of values, summed by session. Equal values share their ranks.
fn ranked(values: impl Iterator<Item = (u32, f64)>) -> Vec<Share> {
    let mut values: Vec<(u32, f64)> = values.collect();
    values.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    let mut shares: SortedMap<u32, Share> = SortedMap::new();
    let mut start = 0;
    while start < values.len() {
        let same = values[start..].iter().take_while(|(_, value)| *value == values[start].1);
        let end = start + same.count();
        let rank = (start + end - 1) as f64 / 2.0;
        for (session, _) in &values[start..end] {
            let none = Share { session: *session, distance: 0.0, weight: 0.0 };
            let share = shares.entry(*session).or_insert(none);
            share.distance += rank;
            share.weight += 1.0;
        }
        start = end;
    }
    shares.into_values().collect()
}

/// Returns the exact quantile: the smallest value that at least this part of the values does not
/// exceed (nearest rank). The values are reordered.
pub(super) fn quantile(values: &mut [f64], part: f64) -> Option<f64> {
    let rank = (part * values.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    let at = rank.checked_sub(1).filter(|at| *at < values.len())?;
    let (_, value, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    Some(*value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with the definition on the sorted values.
        #[test]
        fn quantiles_are_exact(
            values in prop::collection::vec(0_u32..50, 1..60),
            part in prop::sample::select(vec![0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0]),
        ) {
            let mut floats: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            let got = quantile(&mut floats, part).unwrap();
            let mut sorted = values;
            sorted.sort_unstable();
            let count = sorted.len() as f64;
            let want = sorted.iter().enumerate().find(|(at, _)| {
                (*at + 1) as f64 / count >= part - 1e-9
            });
            prop_assert_eq!(got, f64::from(*want.unwrap().1));
        }

        /// The sum of ranks is invariant for any ties of the values.
        #[test]
        fn ranks_add_up(values in prop::collection::vec((0_u32..5, 0_u32..6), 1..40)) {
            let shares = ranked(values.iter().map(|(session, value)| (*session, f64::from(*value))));
            let sum: f64 = shares.iter().map(|share| share.distance).sum();
            let n = values.len() as f64;
            prop_assert!((sum - n * (n - 1.0) / 2.0).abs() < 1e-6);
            prop_assert_eq!(shares.iter().map(|share| share.weight).sum::<f64>(), n);
        }
    }

    #[test]
    fn of_nothing_there_is_no_quantile() {
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn a_part_of_a_name_names_all_of_it() {
        let wanted =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(is_wanted("latency.p95", &wanted(&["latency"])));
        assert!(is_wanted("latency.p95", &wanted(&["latency.p95"])));
        assert!(!is_wanted("latency.p95", &wanted(&["lat", "latency.p50"])));
        assert!(is_wanted("anything", &[]));
        assert!(needs_rules(&[]) && needs_rules(&wanted(&["faults"])));
        assert!(!needs_rules(&wanted(&["latency.p95", "tokens"])));
    }
}
