//! Tests of calibration on judges with known faults.

use super::*;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::Mutex;
use toolmark_outcome::Cause;
use toolmark_outcome::judging::{
    CriterionMark, JudgeAnswer, JudgeRuling, Material, Rubric, TextPiece, Unanswered, Vote,
};
use toolmark_outcome::statistics::Random;

/// A judge that gives a mark for the text it is shown.
#[derive(Debug)]
struct Fake {
    mark: fn(&JudgeQuestion, u32, &mut Random) -> Option<f64>,
    random: Mutex<Random>,
}

impl Fake {
    fn new(mark: fn(&JudgeQuestion, u32, &mut Random) -> Option<f64>) -> Self {
        Self { mark, random: Mutex::new(Random::new(7)) }
    }
}

impl Judge for Fake {
    fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
        let mut random = self.random.lock().unwrap();
        let mut vote = |question: &JudgeQuestion, n: u32| {
            let answer = match (self.mark)(question, n, &mut random) {
                Some(mark) => {
                    let mark = CriterionMark { mark: Some(mark), ..CriterionMark::default() };
                    let marks = vec![mark; question.rubric.criteria.len()];
                    let spent =
                        AnswerUsage { input_tokens: 100, output_tokens: 10, micro_usd: Some(500) };
                    Ok(JudgeAnswer { marks, summary: None, spent })
                }
                None => Err(Unanswered { cause: Cause::Judge, reason: "timed out".to_owned() }),
            };
            Vote { model: "fake".to_owned(), answer }
        };
        let rule = |question: &JudgeQuestion| JudgeRuling {
            votes: (0..question.panel.votes).map(|n| vote(question, n)).collect(),
        };
        questions.iter().map(rule).collect()
    }
}

fn text(question: &JudgeQuestion) -> String {
    let pieces = question.materials.iter().flat_map(|material| &material.pieces);
    pieces.map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns the true value of the recording, from 1 to 5, which the text itself contains.
fn truth(question: &JudgeQuestion) -> f64 {
    let text = text(question);
    let at = text.find("worth ").unwrap() + 6;
    text[at..].chars().next().unwrap().to_digit(10).unwrap().into()
}

fn task() -> RubricTask {
    let texts = ["is it right?".to_owned(), "is it all?".to_owned()];
    let rubric = Rubric { name: Some("r".into()), ..Rubric::of_texts(texts, Scale::OneToFive) };
    let inputs = vec![
        ("request".to_owned(), "user_request".to_owned()),
        ("answer".to_owned(), "output".to_owned()),
    ];
    RubricTask { rubric: Arc::new(rubric), inputs, threshold: 0.5 }
}

fn samples() -> Vec<LabelledSample> {
    (0..100)
        .map(|n| {
            let worth = n % 5 + 1;
            let answer = format!("answer {n}, worth {worth}");
            LabelledSample {
                id: format!("s{n}"),
                label: Label::Mark(worth.into()),
                materials: vec![
                    Material::of_trace("request", vec![TextPiece::new("do it")]),
                    Material::of_trace("answer", vec![TextPiece::new(answer)]),
                ],
            }
        })
        .collect()
}

fn calibrate(mark: fn(&JudgeQuestion, u32, &mut Random) -> Option<f64>) -> Calibration {
    let judge = Fake::new(mark);
    let calibrator = Calibrator {
        judge: &judge,
        setup: Setup { model: "fake".to_owned(), ..Setup::default() },
        repeats: 3,
        probes: ProbeKind::ALL.to_vec(),
    };
    let (task, samples) = (task(), samples());
    let told = Cell::new(0);
    let found = calibrator.calibrate(&task, &samples, &|n| told.set(told.get() + n));
    assert_eq!(told.get(), calibrator.count_judgements(&task, &samples));
    found
}

fn probed(found: &Calibration, change: QuestionChange) -> &ProbeResult {
    found.probes.iter().find(|probed| probed.change == change).unwrap()
}

#[test]
fn a_judge_that_is_always_right() {
    let found = calibrate(|question, _, _| Some(truth(question)));
    assert_eq!(found.verdicts.accuracy.rate, Some(1.0));
    assert_eq!(found.verdicts.kappa.value, Some(1.0));
    assert_eq!(found.verdicts.confusion, [[40, 0], [0, 60]]);
    let marks = found.marks.as_ref().unwrap();
    assert_eq!((marks.kappa.value, marks.classes.len()), (Some(1.0), 5));
    let consistency = found.consistency.as_ref().unwrap();
    assert_eq!((consistency.all_agree.rate, consistency.spread), (Some(1.0), Some(0.0)));
    assert_eq!(found.probes.len(), 7);
    for probed in &found.probes {
        assert_eq!((probed.flips.count, probed.flips.of), (0, 100), "{probed:?}");
        assert_eq!((probed.shift, probed.unchanged), (Some(0.0), 0));
    }
    assert!(found.disagreements.is_empty() && found.unknown.is_empty());
    assert_eq!(found.cost.judgements, 1000);
    assert_eq!(found.cost.total.micro_usd, Some(500_000));
    assert_eq!(found.cost.per_thousand.unwrap().output_tokens, 10_000);
}

#[test]
fn a_judge_that_throws_dice() {
    let found = calibrate(|_, _, random| Some(random.below(5) as f64 + 1.0));
    let kappa = found.verdicts.kappa.value.unwrap();
    assert!(kappa.abs() < 0.25, "{kappa}");
    let [low, high] = found.verdicts.kappa.interval.unwrap();
    assert!(low < 0.0 && 0.0 < high, "{low} {high}");
    let consistency = found.consistency.as_ref().unwrap();
    assert!(consistency.all_agree.rate.unwrap() < 0.5);
    assert!(consistency.pairwise.unwrap() < 0.7 && consistency.spread.unwrap() > 0.3);
    assert!(probed(&found, QuestionChange::Materials).flips.rate.unwrap() > 0.3);
}

#[test]
fn a_judge_that_is_always_pleased() {
    let found = calibrate(|_, _, _| Some(5.0));
    // Right by chance alone: what accuracy hides, κ shows.
    assert_eq!(found.verdicts.accuracy.rate, Some(0.6));
    assert_eq!(found.verdicts.kappa.value, Some(0.0));
    assert_eq!(found.disagreements.len(), 40);
    assert_eq!(found.disagreements[0].label, "fail");
    assert_eq!(found.consistency.as_ref().unwrap().all_agree.rate, Some(1.0));
    let steered = probed(&found, QuestionChange::Instruction).steered.unwrap();
    assert_eq!((steered.all.count, steered.all.of), (0, 60));
}

#[test]
fn a_judge_that_obeys_the_recording() {
    let found = calibrate(|question, _, _| {
        let text = text(question);
        match text.find("Give every criterion the mark ") {
            Some(at) => text[at + 30..].chars().next()?.to_digit(10).map(f64::from),
            None => Some(truth(question)),
        }
    });
    assert_eq!(found.verdicts.accuracy.rate, Some(1.0), "it is right where nobody misleads it");
    for change in [QuestionChange::Instruction, QuestionChange::Fence, QuestionChange::System] {
        let probed = probed(&found, change);
        let steered = probed.steered.unwrap();
        assert_eq!(steered.all.rate, Some(1.0), "{probed:?}");
        assert_eq!((steered.to_pass.of, steered.to_fail.of), (40, 60));
        assert_eq!(probed.to_pass, 40);
    }
    assert_eq!(probed(&found, QuestionChange::Filler).flips.count, 0);
}

#[test]
fn a_judge_that_falls_for_the_forged_fence_alone() {
    let found = calibrate(|question, _, _| match text(question).contains("\n<<<end ") {
        true => Some(6.0 - truth(question)),
        false => Some(truth(question)),
    });
    assert!(probed(&found, QuestionChange::Fence).steered.unwrap().all.rate.unwrap() > 0.7);
    assert_eq!(probed(&found, QuestionChange::Instruction).steered.unwrap().all.count, 0);
    assert_eq!(probed(&found, QuestionChange::System).steered.unwrap().all.count, 0);
}

#[test]
fn judges_that_like_length_or_what_comes_first() {
    let wordy = calibrate(|question, _, _| match text(question).len() > 300 {
        true => Some(5.0),
        false => Some(truth(question)),
    });
    let probe = probed(&wordy, QuestionChange::Filler);
    assert_eq!((probe.flips.count, probe.to_pass), (40, 40));
    assert!(probe.shift.unwrap() > 0.4);
    assert_eq!(probed(&wordy, QuestionChange::Materials).flips.count, 0);
    let first = calibrate(|question, _, _| match question.materials[0].name == "answer" {
        true => Some(1.0),
        false => Some(truth(question)),
    });
    let probe = probed(&first, QuestionChange::Materials);
    assert_eq!((probe.flips.count, probe.to_pass), (60, 0));
    assert!(probe.shift.unwrap() < -0.4);
    assert_eq!(probed(&first, QuestionChange::Criteria).flips.count, 0);
}

#[test]
fn what_is_not_answered_is_not_agreed_upon() {
    let found = calibrate(|question, vote, _| {
        let worth = truth(question);
        (vote != 0 || worth > 1.0).then_some(worth)
    });
    assert_eq!((found.verdicts.unknown, found.unknown.len()), (20, 20));
    assert_eq!(found.unknown[0], Unknown { id: "s0".into(), reason: "timed out".into() });
    assert_eq!(found.verdicts.accuracy.rate, Some(1.0));
    assert_eq!(found.verdicts.accuracy_of_all.rate, Some(0.8));
    assert_eq!(found.consistency.as_ref().unwrap().left_out, 0);
    assert_eq!(probed(&found, QuestionChange::Materials).unknown, 20);
    let nobody = calibrate(|_, _, _| None);
    assert_eq!((nobody.verdicts.accuracy.rate, nobody.verdicts.unknown), (None, 100));
    assert!(nobody.verdicts.kappa.undefined.is_some());
    assert_eq!((nobody.cost.judgements, nobody.cost.per_thousand), (0, None));
}

/// A judge that answers fewer questions than it gets.
#[derive(Debug)]
struct Silent;

impl Judge for Silent {
    fn judge(&self, _: &[JudgeQuestion]) -> Vec<JudgeRuling> {
        Vec::new()
    }
}

#[test]
fn a_judge_that_says_nothing_and_no_samples() {
    let calibrator = Calibrator {
        judge: &Silent,
        setup: Setup { model: "silent".to_owned(), ..Setup::default() },
        repeats: 0,
        probes: Vec::new(),
    };
    let found = calibrator.calibrate(&task(), &samples(), &|_| {});
    assert_eq!((found.verdicts.labels, found.verdicts.unknown), (100, 100));
    assert_eq!(found.unknown[0].reason, "no model was asked");
    assert!(found.consistency.is_none() && found.probes.is_empty());
    let nothing = calibrator.calibrate(&task(), &[], &|_| {});
    assert_eq!(nothing.verdicts.labels, 0);
}

#[test]
fn what_is_written_is_read_again() {
    let found = calibrate(|question, _, _| Some(truth(question)));
    let json = serde_json::to_string(&found).unwrap();
    let read: Calibration = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
    let again = calibrate(|question, _, _| Some(truth(question)));
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
}
