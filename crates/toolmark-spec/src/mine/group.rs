//! Groups runs that belong together: those with the same prompt.

use crate::mine::{Observed, RunGrouping};
use toolmark_base::{SortedMap, SortedSet};
use toolmark_grade::folded;
use toolmark_outcome::TrajectoryView;
use toolmark_redact::Redactor;
use toolmark_trace::RecordedCalls;

/// Maximum length of prompts that are written.
const MAX_PROMPT: usize = 16 << 10;

/// Maximum number of prompt words in a case ID.
const ID_WORDS: usize = 6;

/// Runs of one case, by index.
#[derive(Debug, Default)]
pub(crate) struct RunGroup {
    /// Case ID; `None` if the spec has no cases.
    pub(crate) id: Option<String>,
    /// Prompt of all its runs.
    pub(crate) prompt: Option<String>,
    pub(crate) passing: Vec<usize>,
    pub(crate) failing: Vec<usize>,
}

/// The groups, and the numbers of runs outside of any group.
pub(crate) struct Groups {
    pub(crate) groups: Vec<RunGroup>,
    /// Number of runs that record no calls.
    pub(crate) unrecorded: usize,
    /// Number of runs whose prompt no other run shares.
    pub(crate) alone: usize,
    /// Number of cases without a passing run.
    pub(crate) failed: usize,
}

/// Key shared by the runs of one case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey {
    /// Case name.
    Case(String),
    /// Prompt of the user.
    Prompt(String),
    /// No key.
    None,
}

/// Groups runs.
pub(crate) fn groups(observed: &[Observed], by: RunGrouping, redactor: Redactor) -> Groups {
    let usable: Vec<usize> = (0..observed.len())
        .filter(|at| observed[*at].run.calls_recorded() != RecordedCalls::Not)
        .collect();
    let unrecorded = observed.len() - usable.len();
    let keys = keys(observed, &usable);
    let mut members: SortedMap<&GroupKey, Vec<usize>> = SortedMap::new();
    // In the order in which their first runs come.
    let mut order: Vec<&GroupKey> = Vec::new();
    for (key, at) in keys.iter().zip(&usable) {
        members.entry(key).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        members.entry(key).or_default().push(*at);
    }
    let is_case = |key: &GroupKey| *key != GroupKey::None;
    let has_cases = match by {
        RunGrouping::All => false,
        RunGrouping::Case => order.iter().any(|key| is_case(key)),
        RunGrouping::Auto => order.iter().any(|key| {
            let runs = members.get(key);
            is_case(key) && (runs.is_some_and(|runs| runs.len() > 1) || is_given(observed, runs))
        }),
    };
    if !has_cases {
        let mut all = RunGroup::default();
        usable.iter().for_each(|at| all.add(*at, observed));
        let (groups, failed) = match all.passing.is_empty() {
            true => (Vec::new(), usize::from(!all.failing.is_empty())),
            false => (vec![all], 0),
        };
        return Groups { groups, unrecorded, alone: 0, failed };
    }
    let (mut groups, mut alone, mut failed) = (Vec::new(), 0, 0);
    let mut ids = SortedSet::new();
    for key in order {
        let runs = members.remove(key).unwrap_or_default();
        let is_single =
            runs.len() == 1 && by == RunGrouping::Auto && !is_given(observed, Some(&runs));
        if *key == GroupKey::None || is_single {
            alone += runs.len();
            continue;
        }
        let mut group = RunGroup::default();
        runs.iter().for_each(|at| group.add(*at, observed));
        if group.passing.is_empty() {
            failed += 1;
            continue;
        }
        group.prompt = prompt_of(observed, &runs, redactor);
        group.id = Some(id_of(key, &mut ids, redactor));
        groups.push(group);
    }
    Groups { groups, unrecorded, alone, failed }
}

impl RunGroup {
    fn add(&mut self, at: usize, observed: &[Observed]) {
        match observed[at].passed {
            true => self.passing.push(at),
            false => self.failing.push(at),
        }
    }
}

/// Whether the case of any of these runs was specified.
fn is_given(observed: &[Observed], runs: Option<&Vec<usize>>) -> bool {
    runs.is_some_and(|runs| runs.iter().any(|at| observed[*at].case.is_some()))
}

/// Returns the keys of the runs: the specified case, a name that several runs share, or the prompt.
fn keys(observed: &[Observed], usable: &[usize]) -> Vec<GroupKey> {
    let name = |at: usize| observed[at].run.name.as_ref().map(|name| name.get().into_owned());
    let mut named: SortedMap<String, usize> = SortedMap::new();
    for at in usable {
        if let Some(name) = name(*at) {
            *named.entry(name).or_default() += 1;
        }
    }
    let key = |at: &usize| {
        if let Some(case) = &observed[*at].case {
            return GroupKey::Case(case.clone());
        }
        if let Some(name) = name(*at).filter(|name| named.get(name).is_some_and(|n| *n > 1)) {
            return GroupKey::Case(name);
        }
        let prompt =
            TrajectoryView::whole(&observed[*at].run).prompt().map(|prompt| folded(&prompt));
        match prompt.filter(|prompt| !prompt.is_empty()) {
            Some(prompt) => GroupKey::Prompt(prompt),
            None => GroupKey::None,
        }
    };
    usable.iter().map(key).collect()
}

/// Returns the prompt shared by all runs, if it may be written.
fn prompt_of(observed: &[Observed], runs: &[usize], redactor: Redactor) -> Option<String> {
    let mut prompts = runs.iter().map(|at| {
        TrajectoryView::whole(&observed[*at].run).prompt().map(|prompt| prompt.into_owned())
    });
    let first = prompts.next()??;
    let is_same = |other: Option<String>| other.is_some_and(|p| folded(&p) == folded(&first));
    let may_be_written = first.len() <= MAX_PROMPT && *redactor.apply(first.as_str()) == *first;
    (prompts.all(is_same) && may_be_written && !first.trim().is_empty()).then_some(first)
}

/// Returns the ID of a case: its name, or the first words of its prompt.
fn id_of(key: &GroupKey, ids: &mut SortedSet<String>, redactor: Redactor) -> String {
    let named = match key {
        GroupKey::Case(name) => name.clone(),
        GroupKey::Prompt(prompt) => {
            let words = prompt.split(|c: char| !c.is_ascii_alphanumeric());
            let words = words.filter(|word| !word.is_empty()).take(ID_WORDS);
            words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
        }
        GroupKey::None => String::new(),
    };
    let is_good = !named.trim().is_empty() && named.len() <= 200;
    let named =
        if is_good && *redactor.apply(named.as_str()) == *named { named } else { "case".into() };
    let mut id = named.clone();
    let mut number = 2;
    while !ids.insert(id.clone()) {
        id = format!("{named}-{number}");
        number += 1;
    }
    id
}
