//! What `toolmark check` asks and keeps: which rules, file by file, without
//! secrets.

pub(crate) mod config;
pub(crate) mod promote;

use crate::exit::Failure;
use crate::reading::Runs;
use toolmark_check::config::chooses;
use toolmark_check::{Checked, Checker, RULES, Rule};
use toolmark_config::did_you_mean;

/// The rules that are left by `--select` and `--ignore`. A rule in preview has to
/// be selected by its own code or name.
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

/// There is no rule with this code or name.
pub(crate) fn unknown(word: &str) -> Failure {
    let failure = Failure::usage(format!("unknown rule {}", toolmark_config::quoted(word)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::Redactor;
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
