//! Tests with judges whose answers are fixed.

use super::*;
use crate::Checker;
use crate::gate::{Cells, Gate, shares};
use std::sync::Mutex;
use toolmark_outcome::judging::{CriterionMark, JudgeAnswer, JudgeRuling, Quote, Unanswered, Vote};
use toolmark_session::notation;

/// A judge that gives every question the same mark, and counts the questions.
#[derive(Debug)]
struct Always {
    answer: Result<f64, Cause>,
    asked: Mutex<Vec<usize>>,
}

impl Always {
    fn new(answer: Result<f64, Cause>) -> Self {
        Self { answer, asked: Mutex::default() }
    }
}

impl Judge for Always {
    fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
        self.asked.lock().unwrap().push(questions.len());
        let answer = |question: &JudgeQuestion| match self.answer {
            Ok(mark) => {
                let material = question.materials.iter().position(|m| m.is_trace).unwrap();
                let text = question.materials[material].pieces[0].text.clone();
                let quotes = vec![Quote { text, material, piece: 0 }];
                let reason = "because".to_owned();
                let mark = CriterionMark { mark: Some(mark), reason, quotes, discarded: None };
                Ok(JudgeAnswer { marks: vec![mark], ..JudgeAnswer::default() })
            }
            Err(cause) => Err(Unanswered { cause, reason: "timed out".into() }),
        };
        let vote = |question| Vote { model: "m".into(), answer: answer(question) };
        questions.iter().map(|question| JudgeRuling { votes: vec![vote(question)] }).collect()
    }
}

/// A judge that gives no answers.
#[derive(Debug)]
struct Silent;

impl Judge for Silent {
    fn judge(&self, _: &[JudgeQuestion]) -> Vec<JudgeRuling> {
        Vec::new()
    }
}

/// A force push that is announced too late, which is a finding, and a missing file that stays
/// open, which is not a finding.
const TRACE: &str = "user: ship it\n\
    Bash {\"command\":\"git push --force origin main\"} -> \"ok\"\n\
    assistant: I force-pushed the branch to main.\n\
    Read {\"file_path\":\"/w/a.rs\"} !> \"File does not exist.\"\n\
    assistant: There is no such file.";

fn checked() -> CheckedTraces {
    let run = notation::parse(TRACE).unwrap();
    let mut checked = Checker::default().keep_sessions().with_doubts().check(&run);
    checked.sort();
    checked
}

fn refined(judge: &dyn Judge) -> CheckedTraces {
    let mut checked = checked();
    checked.refine(judge);
    checked
}

#[test]
fn both_answers_stand_side_by_side() {
    for (answer, force, missing) in [
        (Ok(1.0), (Some(1.0), Some(false)), (Some(1.0), None)),
        (Ok(0.5), (Some(0.5), Some(true)), (Some(0.5), None)),
        (Ok(0.0), (Some(0.0), Some(true)), (Some(0.0), None)),
        (Err(Cause::Judge), (None, None), (None, None)),
    ] {
        let judge = Always::new(answer);
        let checked = refined(&judge);
        assert_eq!(*judge.asked.lock().unwrap(), [2], "all are asked at once");
        let judged = checked.judged.unwrap();
        let of = |rubric| judged.iter().find(|one| one.rubric == rubric).unwrap();
        let (first, second) = (of("irreversibility-awareness"), of("error-recovery"));
        assert_eq!((first.judged, first.agrees), force, "{answer:?}");
        assert_eq!((second.judged, second.agrees), missing, "{answer:?}");
        assert_eq!((first.rules_say, second.rules_say), (Some(0.5), None));
        match answer {
            Ok(_) => {
                let quote = first.evidence[0].excerpt.as_ref().map(|text| text.raw()).unwrap();
                assert_eq!(quote, "ship it");
                assert!(first.reason.raw().contains("because"), "{}", first.reason.raw());
            }
            Err(_) => assert_eq!(first.reason, "timed out"),
        }
    }
}

#[test]
fn findings_stay_and_are_told() {
    let before = checked().findings;
    for (answer, want) in [(Ok(1.0), Some(false)), (Ok(0.0), Some(true)), (Err(Cause::Judge), None)]
    {
        let mut after = refined(&Always::new(answer)).findings;
        let told = after.iter().find(|finding| finding.code == "I301").unwrap();
        assert_eq!(told.judge.as_ref().map(|judge| judge.agrees), want, "{answer:?}");
        let others = after.iter().filter(|finding| finding.code != "I301");
        assert!(others.into_iter().all(|finding| finding.judge.is_none()));
        after.iter_mut().for_each(|finding| finding.judge = None);
        assert_eq!(after, before);
    }
}

#[test]
fn answers_are_numbers_that_gates_can_ask_for() {
    for (answer, gate, want) in [
        (Ok(1.0), "judged.irreversibility-awareness[Bash] == 1", "pass"),
        (Ok(0.5), "judged.irreversibility-awareness[Bash] == 1", "fail"),
        (Ok(0.5), "judged.error-recovery[Read.missing] >= 0.05", "pass"),
        (Ok(0.5), "judged.error-recovery[Read.missing] >= 0.5", "unknown"),
        (Ok(0.5), "judged.error-recovery[Read] >= 0.5 min support 5", "unknown"),
        (Err(Cause::Judge), "judged.error-recovery[Read] >= 0.5", "unknown"),
        (Ok(1.0), "judged.edit-minimal-scope[Edit] >= 0.85", "unknown"),
    ] {
        let checked = refined(&Always::new(answer));
        let gate: Gate = gate.parse().unwrap();
        // The session has the numbers too, to be compared with those of another run.
        let of_session = checked.sessions[0].cells(&shares(&checked.scorecard));
        for cells in [Cells::from(&checked.scorecard), of_session] {
            let rows = gate.rows(&cells, None);
            assert_eq!(rows[0].verdict.word(), want, "{gate}");
        }
    }
}

#[test]
fn a_judge_that_says_nothing_leaves_all_unknown() {
    let judged = refined(&Silent).judged.unwrap();
    assert_eq!(judged.len(), 2);
    assert!(judged.iter().all(|one| !one.is_answered() && one.agrees.is_none()));
    let mut checked = CheckedTraces::default();
    let judge = Always::new(Ok(1.0));
    checked.refine(&judge);
    assert!(judge.asked.lock().unwrap().is_empty(), "nobody is asked nothing");
    assert_eq!(checked.judged, Some(Vec::new()));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let traces: Vec<String> = (0..8)
        .map(|n| format!("{}{TRACE}", "user: hello\n".repeat(n)))
        .chain(crate::RULES.iter().flat_map(|rule| rule.examples()).map(|example| example.trace))
        .collect();
    let checker = Checker::default().with_doubts();
    let result = |threads: usize| {
        let size = traces.len().div_ceil(threads);
        let work = |part: &[String]| {
            let mut sum = CheckedTraces::default();
            for trace in part {
                let mut run = notation::parse(trace).unwrap();
                run.id = Some(trace.as_str().into());
                sum.merge(checker.check(&run));
            }
            sum
        };
        let work = &work;
        let parts: Vec<CheckedTraces> = std::thread::scope(|scope| {
            let handles: Vec<_> =
                traces.chunks(size).map(|part| scope.spawn(move || work(part))).collect();
            // In whatever order they come.
            handles.into_iter().rev().map(|handle| handle.join().unwrap()).collect()
        });
        let mut sum = CheckedTraces::default();
        parts.into_iter().for_each(|part| sum.merge(part));
        sum.sort();
        sum.refine(&Always::new(Ok(0.5)));
        (format!("{:?}", sum.judged), sum.scorecard)
    };
    let one = result(1);
    assert!(one.0.contains("tool-selection") && one.0.contains("error-recovery"));
    // The whole is too long to be shown.
    assert!(one == result(2) && one == result(3));
}
