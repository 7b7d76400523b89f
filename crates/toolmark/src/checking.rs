//! What `toolmark check` asks and keeps: which rules, file by file, without
//! secrets.

pub(crate) mod config;
pub(crate) mod promote;

use crate::exit::Failure;
use crate::reading::Runs;
use crate::redact::Veil;
use std::borrow::Cow;
use toolmark_check::config::chooses;
use toolmark_check::{Checked, Checker, RULES, Rule};
use toolmark_config::did_you_mean;
use toolmark_outcome::Evidence;

/// The rules that are left by `--select` and `--ignore`.
pub(crate) fn select_rules(
    select: &[String],
    ignore: &[String],
) -> Result<Vec<&'static Rule>, Failure> {
    for word in select.iter().chain(ignore) {
        if !RULES.iter().any(|rule| chooses(word, rule)) {
            return Err(unknown(word));
        }
    }
    let any = |words: &[String], rule: &Rule| words.iter().any(|word| chooses(word, rule));
    let left = RULES
        .iter()
        .copied()
        .filter(|rule| (select.is_empty() || any(select, rule)) && !any(ignore, rule));
    let left: Vec<_> = left.collect();
    if left.is_empty() {
        return Err(Failure::usage("--select and --ignore leave no rule"));
    }
    Ok(left)
}

/// There is no rule with this code or name.
pub(crate) fn unknown(word: &str) -> Failure {
    let failure = Failure::usage(format!("unknown rule {word}"));
    match did_you_mean(word, RULES.iter().flat_map(|rule| [rule.code, rule.name])) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("`toolmark rules` lists them"),
    }
}

/// Checks every run of a file; `None` where there is none.
pub(crate) fn check(runs: &mut Runs<'_>, checker: &Checker) -> Option<Checked> {
    runs.map(|run| checker.check(&run)).reduce(|mut all, one| {
        all.merge(one);
        all
    })
}

/// Masks every text that comes from a trace.
pub(crate) fn redact(checked: &mut Checked, veil: Veil) {
    let hide = |text: &mut String| {
        if let Cow::Owned(shown) = veil.shown(text) {
            *text = shown;
        }
    };
    for stop in &mut checked.decisions.stops {
        hide(&mut stop.reason);
        stop.call.args.iter_mut().for_each(hide);
    }
    let hide_all = |evidence: &mut [Evidence]| {
        for evidence in evidence {
            hide(&mut evidence.text);
            evidence.excerpt.iter_mut().for_each(hide);
            evidence.call.iter_mut().flat_map(|call| &mut call.args).for_each(hide);
        }
    };
    for finding in &mut checked.findings {
        hide(&mut finding.message);
        hide(&mut finding.remedy);
        finding.judge.iter_mut().for_each(|judge| hide(&mut judge.reason));
        hide_all(&mut finding.evidence);
    }
    for refined in checked.judged.iter_mut().flatten() {
        hide(&mut refined.why);
        hide(&mut refined.reason);
        refined.call.args.iter_mut().for_each(hide);
        refined.notes.iter_mut().for_each(hide);
        hide_all(&mut refined.evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::judging::{Answer, Judge, Mark, Question, Quote, Ruling, Vote};

    #[test]
    fn what_a_judge_says_is_masked_too() {
        const KEY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

        #[derive(Debug)]
        struct Talkative;

        impl Judge for Talkative {
            fn judge(&self, questions: &[Question]) -> Vec<Ruling> {
                let mark = || Mark {
                    mark: Some(1.0),
                    reason: format!("it shows {KEY}"),
                    quotes: vec![Quote { text: KEY.into(), material: 0, piece: 0 }],
                    discarded: None,
                };
                let answer = || Answer { marks: vec![mark()], ..Answer::default() };
                let vote = || Vote { model: "m".into(), answer: Ok(answer()) };
                questions.iter().map(|_| Ruling { votes: vec![vote()] }).collect()
            }
        }

        let run = toolmark_check::notation::parse(&format!(
            "user: ship it with {KEY}\n\
             Bash {{\"command\":\"git push --force https://x:{KEY}@github.com/a/b main\"}} -> \"ok\"\n\
             assistant: I force-pushed the branch to main."
        ));
        let mut checked = Checker::default().with_doubts().check(&run.unwrap());
        checked.refine(&Talkative);
        let text = |checked: &Checked| format!("{:?}{:?}", checked.judged, checked.findings);
        assert!(text(&checked).contains(KEY));
        redact(&mut checked, Veil::new(true));
        assert!(!checked.judged.as_ref().unwrap().is_empty());
        assert!(!text(&checked).contains(KEY), "{}", text(&checked));
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
    }
}
