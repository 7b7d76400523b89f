//! The mined expectations, and the spec built from them.

use crate::mine::group::groups;
use crate::mine::hold_out::HeldOut;
use crate::mine::item::{ExpectationFamily, MinedItem};
use crate::mine::propose::{MIN_FOR_ARGUMENTS, RunEvidence};
use crate::mine::sample::{MinedRun, tools_of};
use crate::mine::settle::{ExpectationResult, drop_vacuous, settle};
use crate::mine::write::{scalar, write_graders};
use crate::mine::{MineSettings, Observed};
use toolmark_base::SortedSet;

/// Expectations mined from the runs of one case.
#[derive(Debug)]
pub struct MinedCase {
    /// Case ID; `None` if the spec has no cases.
    pub id: Option<String>,
    /// Prompt of its runs, if it may be written.
    pub prompt: Option<String>,
    /// Number of passing runs used for mining.
    pub passing: usize,
    /// Number of failing runs used for comparison.
    pub failing: usize,
    /// Number of passing runs that do not record all their calls.
    pub incomplete: usize,
    /// Results on held-out runs.
    pub held_out: HeldOut,
    /// Runs of the case, by index.
    pub(crate) members: Vec<usize>,
    pub(crate) items: Vec<MinedItem>,
    pub(crate) judged: Vec<ExpectationResult>,
}

impl MinedCase {
    /// Returns the number of expectations.
    #[must_use]
    pub fn expected(&self) -> usize {
        self.judged.iter().filter(|judged| judged.is_expected()).count()
    }

    /// Returns the number of comments.
    #[must_use]
    pub fn comments(&self) -> usize {
        self.judged.iter().filter(|judged| !judged.is_expected() && !judged.is_dropped()).count()
    }
}

/// Result of mining.
#[derive(Debug)]
pub struct Mined {
    /// The cases, in the order of their first runs.
    pub cases: Vec<MinedCase>,
    /// Number of runs skipped because they record no calls.
    pub unrecorded: usize,
    /// Number of runs skipped because no other run has the same prompt.
    pub alone: usize,
    /// Number of cases skipped because none of their runs passed.
    pub failed: usize,
}

/// Mines expectations from runs.
#[must_use]
pub fn mine(observed: &[Observed], options: &MineSettings) -> Mined {
    let groups = groups(observed, options.by, options.redactor);
    let samples: Vec<MinedRun<'_>> =
        observed.iter().map(|one| MinedRun::new(&one.run, options.redactor)).collect();
    let of = |places: &[usize]| places.iter().map(|at| &samples[*at]).collect::<Vec<_>>();
    let mut cases = Vec::new();
    for (at, group) in groups.groups.iter().enumerate() {
        let mut elsewhere = SortedSet::new();
        for (_, other) in groups.groups.iter().enumerate().filter(|(other, _)| *other != at) {
            elsewhere.extend(tools_of(&of(&other.passing), options.redactor));
        }
        let mut evidence = RunEvidence {
            passing: of(&group.passing),
            failing: of(&group.failing),
            elsewhere: &elsewhere,
            redactor: options.redactor,
            uses_arguments: group.passing.len() >= MIN_FOR_ARGUMENTS,
        };
        let mut held_out = HeldOut::new(&evidence, options.folds);
        if evidence.uses_arguments && !held_out.trusts(ExpectationFamily::Arguments) {
            evidence.uses_arguments = false;
            let arguments = held_out.families.get(&ExpectationFamily::Arguments).copied();
            held_out = HeldOut::new(&evidence, options.folds);
            // Why they are comments is worth knowing.
            held_out.families.extend(arguments.map(|share| (ExpectationFamily::Arguments, share)));
        }
        let items = evidence.propose();
        let mut judged = settle(&items, &evidence.passing, &evidence.failing, 0);
        held_out.doubt(&items, &mut judged);
        drop_vacuous(&items, &mut judged, &evidence.passing, &evidence.known_tools());
        cases.push(MinedCase {
            id: group.id.clone(),
            prompt: group.prompt.clone(),
            passing: group.passing.len(),
            failing: group.failing.len(),
            incomplete: evidence.passing.iter().filter(|sample| !sample.is_complete()).count(),
            held_out,
            members: [&group.passing[..], &group.failing[..]].concat(),
            items,
            judged,
        });
    }
    let (unrecorded, alone, failed) = (groups.unrecorded, groups.alone, groups.failed);
    Mined { cases, unrecorded, alone, failed }
}

impl Mined {
    /// Whether there are no expectations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cases.iter().all(|case| case.expected() == 0)
    }

    /// Returns the spec as YAML. Everything from traces is quoted; comments contain only numbers.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut out = String::from(
            "# Mined by toolmark from runs. Every line says in how many passing runs it holds.\n\
             # Lines that are commented out hold too, but are less certain: remove the # of those\n\
             # that are meant.\n\
             version: 1\nname: mined\n",
        );
        let has_cases = self.cases.iter().any(|case| case.id.is_some());
        if has_cases {
            out.push_str("cases:\n");
        }
        for case in &self.cases {
            let indent = if has_cases { 4 } else { 0 };
            let margin = " ".repeat(indent);
            // A case that asks nothing is an error.
            if case.expected() == 0 {
                let id = case.id.as_deref().map(scalar).unwrap_or_default();
                out.push_str(&format!(
                    "{margin}# Nothing is certain enough to be expected of {id} ({}).\n",
                    runs(case.passing)
                ));
                continue;
            }
            let mut text = String::new();
            if let Some(id) = &case.id {
                text.push_str(&format!("  - id: {}\n", scalar(id)));
            }
            if let Some(prompt) = &case.prompt {
                text.push_str(&format!("{margin}prompt: {}\n", scalar(prompt)));
            }
            for words in about(case) {
                text.push_str(&format!("{margin}# {words}\n"));
            }
            text.push_str(&format!("{margin}graders:\n"));
            write_graders(case, indent + 2, &mut text);
            out.push_str(&text);
        }
        out
    }
}

/// Returns remarks that apply to all expectations of a case.
fn about(case: &MinedCase) -> Vec<String> {
    let failing = match case.failing {
        0 => String::new(),
        failing => format!(", compared with {failing} that failed"),
    };
    let mut all = vec![format!("From {} that passed{failing}.", runs(case.passing))];
    if case.incomplete > 0 {
        all.push(format!(
            "{} not record all calls: what is never called is unknown there.",
            if case.incomplete == 1 {
                "1 run does".to_owned()
            } else {
                format!("{} runs do", case.incomplete)
            }
        ));
    }
    let held = &case.held_out;
    if held.folds == 0 {
        all.push("No cross-validation: one run does not tell what others will do.".to_owned());
        return all;
    }
    let rejected = match held.rejected.of {
        0 => String::new(),
        of => format!(", rejects {} of {of} that failed", held.rejected.held),
    };
    all.push(format!(
        "Cross-validation ({} folds): accepts {} of {} held-out runs{rejected}.",
        held.folds, held.accepted.held, held.accepted.of
    ));
    let families: Vec<String> = ExpectationFamily::ALL
        .iter()
        .filter_map(|family| Some((family, held.families.get(family)?)))
        .map(|(family, share)| format!("{family} {} of {}", share.held, share.of))
        .collect();
    if !families.is_empty() {
        all.push(format!("Held on held-out runs: {}.", families.join(", ")));
    }
    all
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}
