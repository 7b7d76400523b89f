//! toolmark's own reading of `trajectory-match`: one to one, by optimal assignment; failed
//! calls do not count, and calls of one step have no order.

use super::calls::{ActualCall, ScoredCall, at, object};
use super::system::{
    Answered, ArgsMatch, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, Override, System,
    SystemOptions,
};
use toolmark_match::engine::{
    Batches, CallColumn, Element, ExpectedItem, Extras, Grid, arrange, assign,
};
use toolmark_outcome::{Cause, NumberRules, Profile, equal};

pub(crate) static TOOLMARK: System = System {
    profile: Profile::Toolmark,
    version: "toolmark",
    threshold: 1.0,
    options: &["args_match", "args_match_overrides"],
    modes: &[
        ComparisonMode {
            word: "exact",
            aliases: &["strict"],
            own: None,
            score: |asked| score(asked, in_order, larger),
        },
        ComparisonMode {
            word: "in_order",
            aliases: &[],
            own: None,
            score: |asked| score(asked, in_order, |asked| asked.expected.len()),
        },
        ComparisonMode {
            word: "any_order",
            aliases: &["superset"],
            own: None,
            score: |asked| score(asked, any_order, |asked| asked.expected.len()),
        },
        ComparisonMode {
            word: "unordered",
            aliases: &[],
            own: None,
            score: |asked| score(asked, any_order, larger),
        },
        ComparisonMode {
            word: "within",
            aliases: &["subset"],
            own: None,
            score: |asked| score(asked, any_order, |asked| asked.made.len()),
        },
    ],
};

fn larger(asked: &ModeInput<'_>) -> usize {
    asked.expected.len().max(asked.made.len())
}

type OwnPairs = Result<Vec<Option<usize>>, NoAnswer>;
type Meets<'m> = &'m dyn Fn(&ScoredCall, &ActualCall<'_>) -> bool;

/// Returns the number of pairs divided by the denominator. If only unrecorded arguments could
/// decide, the verdict is unknown.
fn score(
    asked: &ModeInput<'_>,
    pair: fn(&ModeInput<'_>, Meets<'_>) -> OwnPairs,
    whole: fn(&ModeInput<'_>) -> usize,
) -> Answered {
    let options = asked.options;
    let meets = |expected: &ScoredCall, made: &ActualCall<'_>, unrecorded: bool| {
        expected.name == made.name
            && !made.failed
            && (arguments_fit(options, expected, made)
                || unrecorded && made.args.is_none() && !asked.has_arguments)
            && output_fits(expected, made)
    };
    let pairs = pair(asked, &|expected, made| meets(expected, made, false))?;
    if !asked.has_arguments {
        let perhaps = pair(asked, &|expected, made| meets(expected, made, true))?;
        if perhaps.iter().flatten().count() != pairs.iter().flatten().count() {
            let why = "the trace does not record the arguments of calls".to_owned();
            return Err(NoAnswer::Unknown(Cause::MissingEvidence, why));
        }
    }
    let (matched, whole) = (pairs.iter().flatten().count(), whole(asked));
    let score = if whole == 0 { 1.0 } else { matched as f64 / whole as f64 };
    let missing = asked.expected.len() - matched;
    Ok(ModeAnswer::of(score)
        .with("matched", matched)
        .with("missing", missing)
        .with("extra", asked.made.len() - matched)
        .paired(pairs))
}

fn any_order(asked: &ModeInput<'_>, meets: Meets<'_>) -> OwnPairs {
    Ok(assign(&Grid::from_fn(asked.made.len(), asked.expected.len(), |made, expected| {
        meets(&asked.expected[expected], &asked.made[made])
    })))
}

fn in_order(asked: &ModeInput<'_>, meets: Meets<'_>) -> OwnPairs {
    let calls = asked.made.len();
    let columns: Vec<CallColumn> = asked
        .expected
        .iter()
        .map(|expected| CallColumn::from_fn(calls, |made| meets(expected, &asked.made[made])))
        .collect();
    let item = |id| ExpectedItem { id, column: id, count: 1, more: false, optional: false };
    let sequence: Vec<Element> = (0..columns.len()).map(|id| Element::Item(item(id))).collect();
    let batches = Batches::of_keys(asked.made.iter().map(|made| made.seen.call.step));
    let alignment = arrange(&sequence, &columns, &batches, Extras::Allowed)?;
    let mut pairs = vec![None; asked.expected.len()];
    for place in &alignment.places {
        pairs[place.id] = place.calls.first().copied();
    }
    Ok(pairs)
}

fn output_fits(expected: &ScoredCall, made: &ActualCall<'_>) -> bool {
    let same =
        |output| made.output.as_ref().is_some_and(|had| equal(output, had, NumberRules::Json));
    expected.output.as_ref().is_none_or(same)
}

fn arguments_fit(options: &SystemOptions, expected: &ScoredCall, made: &ActualCall<'_>) -> bool {
    let Some(wanted) = &expected.args else { return true };
    let rule = options.overrides.get(&expected.name);
    let mode = match rule {
        Some(Override::Paths(paths)) => {
            let Some(had) = &made.args else { return false };
            let same = |path: &String| match (at(wanted, path), at(had, path)) {
                (Some(wanted), Some(had)) => equal(wanted, had, NumberRules::Json),
                _ => false,
            };
            return paths.iter().all(same);
        }
        Some(Override::Mode(mode)) => *mode,
        None => options.args_match,
    };
    let (Some(wanted), Some(had)) = (object(Some(wanted)), object(made.args.as_ref())) else {
        let same = |had| equal(wanted, had, NumberRules::Json);
        return mode == ArgsMatch::Ignore || made.args.as_ref().is_some_and(same);
    };
    let within = |part: &serde_json::Map<_, _>, whole: &serde_json::Map<String, _>| {
        let has = |(key, value): (&String, _)| {
            whole.get(key).is_some_and(|other| equal(value, other, NumberRules::Json))
        };
        part.iter().all(has)
    };
    match mode {
        ArgsMatch::Ignore => true,
        ArgsMatch::Exact => wanted.len() == had.len() && within(&wanted, &had),
        ArgsMatch::Superset => within(&wanted, &had),
        ArgsMatch::Subset => within(&had, &wanted),
    }
}
