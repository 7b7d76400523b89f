//! Text about the counts of many sessions, for reports for people.

use crate::model::{CheckRun, Overview, PrintableGroup};
use crate::shown::{in_trace, millis, things};
use crate::terminal::human;
use toolmark_check::CallCost;
use toolmark_outcome::{Printable, printable};

/// Returns the counts of a run.
pub(crate) fn of(run: &CheckRun) -> Overview {
    run.sums.overview()
}

/// Returns the groups of an overview by dimension; dimensions with a single group are omitted.
pub(crate) fn parts(
    overview: &Overview,
) -> impl Iterator<Item = (&'static str, &[PrintableGroup])> {
    let all: [(&str, &[PrintableGroup]); 4] = [
        ("model", &overview.by_model),
        ("agent", &overview.by_agent),
        ("project", &overview.by_project),
        ("week", &overview.by_week),
    ];
    all.into_iter().filter(|(_, groups)| groups.len() > 1)
}

/// Name of a group.
pub(crate) fn name(group: &PrintableGroup) -> Printable {
    group.name.clone().unwrap_or_else(|| "unknown".into())
}

/// Formats a rate with one digit; a dash if nothing was counted.
pub(crate) fn rate(value: Option<f64>) -> Printable {
    value.map_or("\u{2013}".into(), |value| printable!("{:.1}", value))
}

/// Formats `4.2 faults per 100 calls, 1.5 per session; 12 of 50 sessions affected`.
pub(crate) fn rates(group: &PrintableGroup) -> Printable {
    printable!(
        "{} faults per 100 calls, {} per session; {} of {} affected",
        rate(group.per_100_calls()),
        rate(group.per_session()),
        group.affected,
        things(group.sessions, "session")
    )
}

/// Returns the headline: a run that failed by its own record, or that nothing could be judged;
/// otherwise the rates, if they are meaningful.
pub(crate) fn headline(run: &CheckRun) -> Printable {
    let rates = || rates(&of(run).total);
    let parts = [declared(run), incomplete(run), Some(not_assessed(run).unwrap_or_else(rates))];
    Printable::join(parts.iter().flatten(), "; ")
}

/// `not assessed: 1 session, 2 calls, none that a rule could judge`
pub(crate) fn not_assessed(run: &CheckRun) -> Option<Printable> {
    let card = &run.checked.scorecard;
    let (sessions, calls) = (things(card.sessions, "session"), things(card.total().calls, "call"));
    run.is_unassessed()
        .then(|| printable!("not assessed: {}, {}, none that a rule could judge", sessions, calls))
}

/// `incomplete: 2 records of the trace cannot be read`
fn incomplete(run: &CheckRun) -> Option<Printable> {
    let declared = &run.checked.declared;
    let gap = declared.gap.as_ref()?;
    let sessions = run.checked.scorecard.sessions;
    Some(match (declared.incomplete, sessions) {
        (1, 1) => printable!("incomplete: {}", gap),
        (count, _) => {
            printable!("{} of {} incomplete, first: {}", count, things(sessions, "run"), gap)
        }
    })
}

/// `run failed: reward 0.0 (runs.json:3)`
pub(crate) fn declared(run: &CheckRun) -> Option<Printable> {
    let declared = &run.checked.declared;
    let first = declared.first.as_ref()?;
    let place = in_trace(&first.place);
    let sessions = run.checked.scorecard.sessions;
    Some(match (declared.failed, sessions) {
        (1, 1) => printable!("run failed: {} ({})", first.says, place),
        (failed, _) => printable!(
            "{} of {} failed by their own record, first: {} ({})",
            failed,
            things(sessions, "run"),
            first.says,
            place
        ),
    })
}

/// Cost of failed and repeated calls; `None` if there are none.
pub(crate) fn costs(group: &PrintableGroup) -> Option<Printable> {
    let told = [("failed call", group.failed), ("repeated call", group.repeated)];
    let told: Vec<Printable> = told
        .iter()
        .filter(|(_, spent)| spent.calls > 0)
        .map(|(word, spent)| printable!("{} ({})", things(spent.calls, word), cost(*spent)))
        .collect();
    (!told.is_empty()).then(|| printable!("cost: {}", Printable::join(&told, ", ")))
}

/// Formats `12.5 s, 3.4k tokens`, with the number of calls if not all are known.
pub(crate) fn cost(spent: CallCost) -> Printable {
    if spent.timed + spent.counted == 0 {
        return "time and tokens unknown".into();
    }
    let of = |known: u64| match known == spent.calls {
        true => Printable::default(),
        false => printable!(" of {}", known),
    };
    let time = match spent.milliseconds() {
        Some(ms) => printable!("{}{}", millis(ms as f64), of(spent.timed)),
        None => "time unknown".into(),
    };
    let tokens = match spent.tokens() {
        Some(tokens) => printable!("{} tokens{}", human::count(tokens), of(spent.counted)),
        None => "tokens unknown".into(),
    };
    printable!("{}, {}", time, tokens)
}
