//! Rule selection and the redacted results that `toolmark check` keeps, file by file.

pub mod action;
pub mod config;
pub mod gold;
pub mod promote;
pub mod repeated;
pub mod rows;

use crate::Failure;
use crate::pool::{Emit, Pool};
use crate::reading::Runs;
use toolmark_check::config::chooses;
use toolmark_check::{
    CallRow, CheckedTraces, Checker, OverviewSums, RULES, Rule, SessionCard, SessionProfile,
};
use toolmark_config::did_you_mean;
use toolmark_outcome::{Finding, Printable, Redactor};
use toolmark_trace::Trajectory;

/// Returns the rules selected by `--select` and `--ignore`. A preview rule must be selected by its
/// own code or name.
pub fn select_rules(select: &[String], ignore: &[String]) -> Result<Vec<&'static Rule>, Failure> {
    for word in select.iter().chain(ignore) {
        if !RULES.iter().any(|rule| chooses(word, rule)) {
            return Err(unknown(word));
        }
    }
    let any = |words: &[String], rule: &Rule| words.iter().any(|word| chooses(word, rule));
    let is_selected = |rule: &Rule| match rule.is_preview() {
        true => select.iter().any(|w| w.eq_ignore_ascii_case(rule.code) || w == rule.name),
        false => select.is_empty() || any(select, rule),
    };
    let left = RULES.iter().copied().filter(|rule| is_selected(rule) && !any(ignore, rule));
    let left: Vec<_> = left.collect();
    if left.is_empty() {
        return Err(Failure::usage("--select and --ignore leave no rule")
            .hint("every rule that is selected is ignored; `toolmark rules` lists them"));
    }
    Ok(left)
}

/// Failure for an unknown code or name of a rule.
pub fn unknown(word: &str) -> Failure {
    let failure = Failure::usage(format!("unknown rule {}", toolmark_config::quoted(word)));
    match did_you_mean(word, RULES.iter().flat_map(|rule| [rule.code, rule.name])) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("`toolmark rules` lists them"),
    }
}

/// Maximum number of runs of a file in memory while idle threads help, and of their calls in total.
const MAX_RUNS: usize = 64;
const MAX_CALLS: usize = 500;

/// Maximum number of runs of a file that are sent together: waking the receiving thread costs more
/// than checking a small run.
const MAX_RUNS_OF_PART: usize = 128;

/// Data to keep of each run.
#[derive(Debug, Clone, Copy)]
pub struct KeepOptions {
    /// Redacts what is kept.
    pub redactor: Redactor,
    /// Unredacted findings and sessions, for comparisons, judge questions and cases.
    pub raw: bool,
    /// Profile and cost of each session.
    pub profiles: bool,
    /// Calls with irreversible effects.
    pub destructive: bool,
}

/// Result of a part of a file.
pub struct CheckedPart {
    /// The sums, and the unredacted results.
    pub checked: CheckedTraces,
    /// Sums of the profiles.
    pub sums: OverviewSums,
    /// Redacted findings.
    pub findings: Vec<Finding<Printable>>,
    /// Redacted rows of calls.
    pub calls: Vec<CallRow<Printable>>,
    /// Redacted sessions.
    pub sessions: PrintedSessions,
    /// Whether this is the last part of its file.
    pub is_last: bool,
}

/// Redacted profiles and cards of sessions.
#[derive(Default)]
pub struct PrintedSessions {
    profiles: Vec<SessionProfile<Printable>>,
    cards: Vec<SessionCard<Printable>>,
}

impl PrintedSessions {
    /// Takes the profiles and cards out of a part and redacts them.
    fn of(checked: &mut CheckedTraces, redactor: Redactor) -> Self {
        let profiles = std::mem::take(&mut checked.profiles).into_iter();
        let cards = std::mem::take(&mut checked.sessions).into_iter();
        Self {
            profiles: profiles.map(|one| one.redact(redactor)).collect(),
            cards: cards.map(|one| one.redact(redactor)).collect(),
        }
    }

    /// Appends the sessions of a later part.
    pub fn extend(&mut self, other: Self) {
        self.profiles.extend(other.profiles);
        self.cards.extend(other.cards);
    }

    /// Appends the sessions to a check result.
    pub fn add_to(self, checked: &mut CheckedTraces<Printable>) {
        checked.profiles.extend(self.profiles);
        checked.sessions.extend(self.cards);
    }
}

impl CheckedPart {
    fn new(mut checked: CheckedTraces, keep: KeepOptions) -> Self {
        let sums = OverviewSums::of(&checked.profiles);
        if !keep.profiles {
            checked.profiles = Vec::new();
        }
        if !keep.destructive {
            checked.destructive = Vec::new();
        }
        let (findings, sessions) = match keep.raw {
            true => Default::default(),
            false => {
                let sessions = PrintedSessions::of(&mut checked, keep.redactor);
                (std::mem::take(&mut checked.findings), sessions)
            }
        };
        let calls = std::mem::take(&mut checked.calls);
        Self {
            findings: findings.into_iter().map(|one| one.redact(keep.redactor)).collect(),
            calls: calls.into_iter().map(|one| one.redact(keep.redactor)).collect(),
            checked,
            sums,
            sessions,
            is_last: false,
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.checked.merge(other.checked);
        self.sums.merge(other.sums);
        self.findings.extend(other.findings);
        self.calls.extend(other.calls);
        self.sessions.extend(other.sessions);
        self
    }
}

/// Checks every run of a file with the help of idle threads, and emits the results part by part.
pub fn check(
    runs: &mut Runs<'_>,
    checker: &Checker,
    keep: KeepOptions,
    pool: &Pool,
    emit: &mut Emit<'_, CheckedPart>,
) {
    let (mut ready, mut ready_runs, mut ready_calls): (Option<CheckedPart>, _, _) = (None, 0, 0);
    loop {
        let batch = next_runs(runs, pool.has_idle());
        let parts = pool.map(&batch, |run| CheckedPart::new(checker.check(run), keep));
        let Some(part) = parts.into_iter().reduce(CheckedPart::merge) else { break };
        let calls: usize = batch.iter().map(|run| run.calls.len()).sum();
        let is_full =
            ready_runs + batch.len() > MAX_RUNS_OF_PART || ready_calls + calls > MAX_CALLS;
        if is_full {
            if ready.take().is_some_and(|before| emit(before).is_break()) {
                return;
            }
            (ready_runs, ready_calls) = (0, 0);
        }
        ready = Some(match ready {
            Some(before) => before.merge(part),
            None => part,
        });
        (ready_runs, ready_calls) = (ready_runs + batch.len(), ready_calls + calls);
    }
    if let Some(last) = ready {
        let _ = emit(CheckedPart { is_last: true, ..last });
    }
}

/// Reads the next run, or several runs if idle threads can help.
fn next_runs(runs: &mut Runs<'_>, can_help: bool) -> Vec<Trajectory> {
    let (mut batch, mut calls) = (Vec::new(), 0);
    for run in runs.take(if can_help { MAX_RUNS } else { 1 }) {
        calls += run.calls.len();
        batch.push(run);
        if calls >= MAX_CALLS {
            break;
        }
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::judging::{
        CriterionMark, Judge, JudgeAnswer, JudgeQuestion, JudgeRuling, Quote, Vote,
    };

    #[test]
    fn what_a_judge_says_is_masked_too() {
        const KEY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

        #[derive(Debug)]
        struct Talkative;

        impl Judge for Talkative {
            fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
                let mark = || CriterionMark {
                    mark: Some(1.0),
                    reason: format!("it shows {KEY}"),
                    quotes: vec![Quote { text: KEY.into(), material: 0, piece: 0 }],
                    discarded: None,
                };
                let answer = || JudgeAnswer { marks: vec![mark()], ..JudgeAnswer::default() };
                let vote = || Vote { model: "m".into(), answer: Ok(answer()) };
                questions.iter().map(|_| JudgeRuling { votes: vec![vote()] }).collect()
            }
        }

        let run = toolmark_session::notation::parse(&format!(
            "user: ship it with {KEY}\n\
             Bash {{\"command\":\"git push --force https://x:{KEY}@github.com/a/b main\"}} -> \"ok\"\n\
             assistant: I force-pushed the branch to main."
        ));
        let mut checked = Checker::default().with_doubts().check(&run.unwrap());
        checked.refine(&Talkative);
        let raw = checked.judged.as_ref().unwrap().iter();
        assert!(raw.map(|one| one.reason.raw()).any(|reason| reason.contains(KEY)));
        let checked = checked.redact(Redactor::new(true));
        let text = format!("{:?}{:?}", checked.judged, checked.findings);
        assert!(!checked.judged.as_ref().unwrap().is_empty());
        assert!(!text.contains(KEY), "{text}");
    }

    #[test]
    fn rules_by_code_name_and_prefix() {
        let codes = |select: &[&str], ignore: &[&str]| -> Option<Vec<&str>> {
            let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
            let rules = select_rules(&owned(select), &owned(ignore)).ok()?;
            Some(rules.iter().map(|rule| rule.code).collect())
        };
        assert_eq!(codes(&["s101"], &[]).unwrap(), ["S101"]);
        assert!(codes(&["A"], &[]).unwrap().iter().all(|code| code.starts_with('A')));
        assert!(!codes(&[], &["repeated-read"]).unwrap().contains(&"S101"));
        assert_eq!(codes(&["S101"], &["S"]), None);
        assert_eq!(codes(&["Q1"], &[]), None);
        let preview = RULES.iter().find(|rule| rule.is_preview()).unwrap();
        assert!(!codes(&[], &[]).unwrap().contains(&preview.code));
        assert!(!codes(&[&preview.code[..1]], &[]).unwrap().contains(&preview.code));
        assert_eq!(codes(&[preview.name], &[]).unwrap(), [preview.code]);
    }
}
