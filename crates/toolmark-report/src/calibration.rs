//! A calibration as text, for people at a terminal.

use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, glance, human, style};
use anstyle::Style;
use toolmark_judge::calibration::{
    Agreement, AgreementRate, Calibration, Consistency, JudgementCost, Kappa, ProbeKind,
    ProbeResult,
};
use toolmark_outcome::judging::AnswerUsage;
use toolmark_redact::{Printable, Redactor, printable};

/// Column in which values begin.
const COLUMN: usize = 14;
/// Maximum number of named samples.
const MAX_SAMPLES_NAMED: usize = 5;
/// Maximum length of a name.
const NAME: usize = 40;
/// Share of flips that is unlikely to be due to chance.
const MANY: f64 = 0.05;

/// Formats the calibration. `reached` is `Some` if a floor was set, and contains the reason if it
/// is not reached.
#[must_use]
pub fn lines(
    found: &Calibration,
    reached: Option<Option<&str>>,
    redactor: Redactor,
    room: usize,
) -> Vec<StyledLine> {
    let mut page = CalibrationPage { room, redactor, lines: Vec::new() };
    let rubric = found.rubric.as_deref().unwrap_or("a rubric without a name");
    let mut head = StyledLine::of(style::STRONG, redactor.apply(&found.model));
    head.push(style::PLAIN, printable!(" ({}) on ", redactor.apply(&found.provider)));
    head.push(style::STRONG, redactor.apply(rubric));
    let scale = printable!("  {}, passes at {}", found.scale.word(), found.threshold);
    page.lines.push(head.with(style::DIM, scale).fit(room));
    page.agreement(found);
    page.matrix(&found.verdicts);
    if let Some(marks) = &found.marks {
        page.marks(marks);
    }
    page.listed(found);
    page.consistency(found.consistency.as_ref());
    page.probes(&found.probes, found.consistency.as_ref());
    page.cost(&found.cost);
    match reached {
        None => {}
        Some(None) => page.row("floor", style::GOOD, "reached", ""),
        Some(Some(why)) => {
            page.row("floor", style::BAD, "not reached", redactor.apply(format!("  {why}")));
        }
    }
    page.lines.into_iter().map(|line| line.fit(room)).collect()
}

struct CalibrationPage {
    room: usize,
    redactor: Redactor,
    lines: Vec<StyledLine>,
}

impl CalibrationPage {
    fn head(&mut self, words: &'static str) {
        self.lines.push(StyledLine::new());
        self.lines.push(StyledLine::of(style::STRONG, words));
    }

    fn row(
        &mut self,
        name: &'static str,
        tone: Style,
        value: impl Into<Printable>,
        more: impl Into<Printable>,
    ) {
        let mut line = StyledLine::of(style::DIM, printable!("  {}", name));
        line.pad(COLUMN);
        line.push(tone, value.into());
        // What does not fit goes on below.
        let left = self.room.saturating_sub(line.width()).max(16);
        let more = more.into();
        if more.width() <= left {
            self.lines.push(line.with(style::DIM, more));
            return;
        }
        self.lines.push(line);
        let more = more.reshape(str::trim_start);
        for part in more.wrap(self.room.saturating_sub(COLUMN).max(16)) {
            self.lines.push(StyledLine::indent(COLUMN).with(style::DIM, part).fit(self.room));
        }
    }

    fn agreement(&mut self, found: &Calibration) {
        let verdicts = &found.verdicts;
        self.head("agreement with people");
        let unknown = match verdicts.unknown {
            0 => Printable::default(),
            n => printable!("  {} of them unknown", n),
        };
        self.row("labels", style::PLAIN, printable!("{}", verdicts.labels), unknown);
        let beside = match verdicts.unknown {
            0 => Printable::default(),
            _ => printable!("; {} counting unknown as wrong", percents(verdicts.accuracy_of_all)),
        };
        let accuracy = verdicts.accuracy;
        let counts = printable!("  {}{}", of(accuracy), beside);
        self.row("accuracy", tone(accuracy.rate, 0.8, 0.9), percents(accuracy), counts);
        self.kappa("\u{3ba}", &verdicts.kappa);
    }

    fn kappa(&mut self, name: &'static str, kappa: &Kappa) {
        let Some(value) = kappa.value else {
            let why = kappa.undefined.as_deref().unwrap_or_default();
            let why = self.redactor.apply(format!("  {why}"));
            return self.row(name, style::WARN, "undefined", why);
        };
        let interval = kappa
            .interval
            .map(|[low, high]| printable!("  {:.2}\u{2013}{:.2}", low, high))
            .unwrap_or_default();
        let means = printable!("{}  {}", interval, strength(value));
        self.row(name, tone(Some(value), 0.4, 0.6), printable!("{:.2}", value), means);
    }

    /// Adds the table of human labels against verdicts of the judge.
    fn matrix(&mut self, verdicts: &Agreement) {
        let heads = ["judge: fail", "judge: pass", "unknown", "precision", "recall", "F1"];
        let column = |at: usize| COLUMN + at * 13;
        let fits = |at: usize| column(at + 1) <= self.room + 2;
        let mut head = StyledLine::new();
        for (at, word) in heads.into_iter().enumerate().filter(|(at, _)| fits(*at)) {
            head.pad(column(at));
            head.push(style::DIM, word);
        }
        self.lines.push(head);
        let rows = verdicts.of_classes.iter().zip(&verdicts.confusion).enumerate();
        let rows: Vec<StyledLine> = rows
            .map(|(class, (of_class, cells))| {
                let class_name = self.redactor.apply(format!("  is {}", of_class.class));
                let mut line = StyledLine::of(style::DIM, class_name);
                let counts = cells.iter().enumerate().map(|(said, count)| {
                    let tone = match (said == class, *count) {
                        (true, _) => style::GOOD,
                        (false, 0) => style::DIM,
                        (false, _) => style::BAD,
                    };
                    (tone, printable!("{}", count))
                });
                let f1 = of_class.f1.map_or("\u{2013}".into(), |f1| printable!("{:.2}", f1));
                let others = [
                    (style::DIM, printable!("{}", of_class.unknown)),
                    (style::PLAIN, percents(of_class.precision)),
                    (style::PLAIN, percents(of_class.recall)),
                    (style::PLAIN, f1),
                ];
                let cells = counts.chain(others).enumerate();
                for (at, (tone, text)) in cells.filter(|(at, _)| fits(*at)) {
                    line.pad(column(at));
                    line.push(tone, text);
                }
                line
            })
            .collect();
        self.lines.extend(rows);
    }

    fn marks(&mut self, marks: &Agreement) {
        self.head("agreement on the mark itself");
        let accuracy = marks.accuracy;
        let counts = printable!("  {}", of(accuracy));
        self.row("the same", style::PLAIN, percents(accuracy), counts);
        self.kappa("\u{3ba}", &marks.kappa);
        if let Some(weighted) = &marks.weighted_kappa {
            self.kappa("weighted \u{3ba}", weighted);
        }
    }

    /// Adds the samples that need a review.
    fn listed(&mut self, found: &Calibration) {
        if found.disagreements.is_empty() && found.unknown.is_empty() {
            return;
        }
        self.head("samples to review");
        let redactor = self.redactor;
        let name = |id: &str| redactor.apply(id).cut(NAME);
        for one in found.disagreements.iter().take(MAX_SAMPLES_NAMED) {
            let score = one.score.map(|score| printable!(" with {:.2}", score)).unwrap_or_default();
            let (label, judge) = (redactor.apply(&one.label), redactor.apply(&one.judge));
            let words = printable!("  {}: {}, judged ", name(&one.id), label);
            let line = StyledLine::of(style::PLAIN, words);
            let line = line.with(style::BAD, judge).with(style::DIM, score);
            self.lines.push(line.fit(self.room));
        }
        for one in found.unknown.iter().take(MAX_SAMPLES_NAMED) {
            let line = StyledLine::of(style::PLAIN, printable!("  {}: ", name(&one.id)));
            let line = line.with(style::WARN, "unknown").with(style::DIM, ": ");
            self.lines.push(line.with(style::DIM, glance(redactor, &one.reason)).fit(self.room));
        }
        let left = |n: usize| n.saturating_sub(MAX_SAMPLES_NAMED);
        let more = left(found.disagreements.len()) + left(found.unknown.len());
        if more > 0 {
            let words = printable!("  {} more; --format json lists all", more);
            self.lines.push(StyledLine::of(style::DIM, words));
        }
    }

    fn consistency(&mut self, consistency: Option<&Consistency>) {
        self.head("self-consistency");
        let Some(found) = consistency else {
            let why = "  asked once; --repeats 2 or more measures this";
            return self.row("verdicts", style::WARN, "unknown", why);
        };
        let left_out = match found.left_out {
            0 => Printable::default(),
            n => printable!("; {} not answered twice", n),
        };
        let same = found.all_agree;
        let counts = printable!("  {} the same {} times{}", of(same), found.repeats, left_out);
        self.row("verdicts", tone(same.rate, 0.8, 0.9), percents(same), counts);
        let number =
            |value: Option<f64>| value.map_or("\u{2013}".into(), |n| printable!("{:.2}", n));
        self.row("pairs", style::PLAIN, number(found.pairwise), "  of two answers are the same");
        let means = "  between the highest and the lowest score";
        self.row("spread", style::PLAIN, number(found.spread), means);
    }

    fn probes(&mut self, probes: &[ProbeResult], consistency: Option<&Consistency>) {
        if probes.is_empty() {
            return;
        }
        self.head("probes");
        for probed in probes {
            let word = probed.change.word();
            // What an instruction reaches is the question there.
            let (rate, verb) = match probed.steered {
                Some(steered) => (steered.all, "obeyed"),
                None => (probed.flips, "turned"),
            };
            if rate.of == 0 {
                let why = match (probed.unchanged, probed.unknown + probed.lost) {
                    (_, 1..) => "no verdict before and after the change",
                    (1.., _) => "nothing to change in these samples",
                    _ => "nothing it could flip",
                };
                self.lines.push(StyledLine::of(style::DIM, printable!("  {}", word)));
                self.row("", style::DIM, "\u{2013}", printable!("  {}", why));
                continue;
            }
            let tone = match rate.rate {
                Some(rate) if rate > MANY => style::BAD,
                Some(rate) if rate > 0.0 => style::WARN,
                _ => style::GOOD,
            };
            let mut line = StyledLine::of(style::PLAIN, printable!("  {}", word));
            line.pad(26);
            line.push(tone, printable!("{} of {} {}", rate.count, rate.of, verb));
            line.push(style::DIM, printable!("  {}", percents(rate)));
            if let Some(steered) = probed.steered {
                let to_pass = steered.to_pass;
                let words = printable!("  {} of {} to pass", to_pass.count, to_pass.of);
                line.push(style::DIM, words);
            } else if probed.flips.count > 0 {
                line.push(style::DIM, printable!("  {} to pass", probed.to_pass));
            }
            if let Some(shift) = probed.shift.filter(|shift| shift.abs() >= 0.005) {
                line.push(style::DIM, printable!("  score {:+.2}", shift));
            }
            if probed.lost > 0 {
                line.push(style::DIM, printable!("  {} became unknown", probed.lost));
            }
            self.lines.push(line.fit(self.room));
        }
        let turned =
            |probed: &ProbeResult| probed.probe != ProbeKind::Injection && probed.flips.of > 0;
        if let Some(pairwise) = consistency.and_then(|found| found.pairwise)
            && pairwise < 1.0
            && probes.iter().any(turned)
        {
            let share = percent(1.0 - pairwise);
            let words = printable!("{:.0}% flip without any change: that much is noise", share);
            for part in words.wrap(self.room.saturating_sub(2)) {
                self.lines.push(StyledLine::of(style::DIM, printable!("  {}", part)));
            }
        }
    }

    fn cost(&mut self, cost: &JudgementCost) {
        self.head("cost");
        let spent = |spent: AnswerUsage| {
            let tokens = printable!(
                "{} + {} tokens",
                human::count(spent.input_tokens),
                human::count(spent.output_tokens)
            );
            match spent.micro_usd {
                Some(micro) => printable!("{}, {}", tokens, human::usd(micro as f64 / 1e6)),
                None => printable!("{}, price unknown", tokens),
            }
        };
        let Some(thousand) = cost.per_thousand else {
            return self.row("in all", style::WARN, "no judgements", "");
        };
        let made = printable!("  for {}", human::things(cost.judgements, "judgement"));
        self.row("in all", style::PLAIN, spent(cost.total), made);
        self.row("per 1,000", style::PLAIN, spent(thousand), "");
    }
}

fn of(rate: AgreementRate) -> Printable {
    printable!("{} of {}", rate.count, rate.of)
}

/// A share in percent, rounded, but to 0 or 100 only if it is exactly none or all.
fn percent(share: f64) -> f64 {
    let rounded = (share * 100.0).round();
    match share {
        share if share <= 1e-9 => 0.0,
        share if share >= 1.0 - 1e-9 => 100.0,
        _ => rounded.clamp(1.0, 99.0),
    }
}

/// A share with its interval.
fn percents(rate: AgreementRate) -> Printable {
    let (Some(value), Some([low, high])) = (rate.rate, rate.interval) else {
        return "\u{2013}".into();
    };
    printable!("{:.0}% {:.0}\u{2013}{:.0}", percent(value), percent(low), percent(high))
}

fn tone(value: Option<f64>, fair: f64, good: f64) -> Style {
    match value {
        None => style::WARN,
        Some(value) if value >= good => style::GOOD,
        Some(value) if value >= fair => style::WARN,
        Some(_) => style::BAD,
    }
}

/// The terms of Landis and Koch (1977) for a κ.
fn strength(kappa: f64) -> &'static str {
    match kappa {
        k if k < 0.0 => "less than chance",
        k if k <= 0.2 => "slight",
        k if k <= 0.4 => "fair",
        k if k <= 0.6 => "moderate",
        k if k <= 0.8 => "substantial",
        _ => "almost perfect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text::width;
    use std::sync::Arc;
    use toolmark_judge::calibration::{Calibrator, Label, LabelledSample, RubricTask};
    use toolmark_outcome::Cause;
    use toolmark_outcome::judging::{
        CriterionMark, Judge, JudgeAnswer, JudgeQuestion, JudgeRuling, Material, Rubric, Scale,
        TextPiece, Unanswered, Vote,
    };

    /// A judge that believes the last word of a recording and cannot read the rest.
    #[derive(Debug)]
    struct Gullible;

    impl Judge for Gullible {
        fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
            let vote = |question: &JudgeQuestion, n: u32| {
                let text: String =
                    question.materials.iter().flat_map(|m| &m.pieces).map(|p| &*p.text).collect();
                let marks = [
                    ("unreadable", None),
                    ("best of the scale", Some(1.0)),
                    ("worst of the scale", Some(0.0)),
                    ("torn", Some(f64::from(n % 2))),
                    ("good", Some(1.0)),
                ];
                let said = marks.iter().find(|(word, _)| text.contains(word));
                let mark = said.map_or(Some(0.5), |(_, mark)| *mark);
                let spent = AnswerUsage { input_tokens: 1200, output_tokens: 80, micro_usd: None };
                let answer = match mark {
                    Some(mark) => {
                        let marks =
                            vec![CriterionMark { mark: Some(mark), ..CriterionMark::default() }];
                        Ok(JudgeAnswer { marks, summary: None, spent })
                    }
                    None => Err(Unanswered { cause: Cause::Judge, reason: "timed out".into() }),
                };
                Vote { model: "m".into(), answer }
            };
            let rule = |question: &JudgeQuestion| JudgeRuling {
                votes: (0..question.panel.votes).map(|n| vote(question, n)).collect(),
            };
            questions.iter().map(rule).collect()
        }
    }

    fn found(repeats: u32) -> Calibration {
        let rubric = Rubric { name: Some("tidy".into()), ..Rubric::of_text("tidy?", Scale::Half) };
        let asked = RubricTask { rubric: Arc::new(rubric), inputs: Vec::new(), threshold: 0.75 };
        let texts = ["good", "good", "poor", "poor", "torn", "unreadable", "poor\u{1b}[2J"];
        let labels = [1.0, 1.0, 0.5, 0.0, 0.0, 1.0, 1.0];
        let sample = |(at, (text, label)): (usize, (&&str, &f64))| LabelledSample {
            id: format!("{at} {text}"),
            label: Label::Mark(*label),
            materials: vec![
                Material::of_trace("request", vec![TextPiece::new("do")]),
                Material::of_trace("output", vec![TextPiece::new(*text)]),
            ],
        };
        let samples: Vec<LabelledSample> =
            texts.iter().zip(&labels).enumerate().map(sample).collect();
        let calibrator = Calibrator {
            judge: &Gullible,
            setup: toolmark_judge::calibration::Setup {
                model: "claude-x".into(),
                provider: "anthropic".into(),
                ..Default::default()
            },
            repeats,
            probes: ProbeKind::ALL.to_vec(),
        };
        calibrator.calibrate(&asked, &samples, &|_| {})
    }

    fn text(found: &Calibration, reached: Option<Option<&str>>, room: usize) -> String {
        let mut text = String::new();
        for line in lines(found, reached, Redactor::new(true), room) {
            line.write_plain(&mut text);
            text.push('\n');
        }
        text
    }

    #[test]
    fn the_page_says_it_all() {
        let page = text(&found(3), Some(Some("its κ is 0.67, below 0.9")), 100);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn it_fits_and_obeys_nobody() {
        for room in [40, 60, 80, 120] {
            for repeats in [1, 3] {
                let page = text(&found(repeats), Some(None), room);
                assert!(!page.contains('\u{1b}'), "{page}");
                for line in page.lines() {
                    assert!(width(line) <= room, "{room}: {line}");
                }
            }
        }
    }

    #[test]
    fn nothing_bad_looks_like_nothing() {
        assert!(percents(AgreementRate::new(999, 1000)).starts_with("99%"));
        assert!(percents(AgreementRate::new(1, 1000)).starts_with("1%"));
        assert!(percents(AgreementRate::new(2, 3)).starts_with("67%"));
        assert!(percents(AgreementRate::new(1, 3)).starts_with("33%"));
        assert!(percents(AgreementRate::new(0, 10)).starts_with("0% 0"));
        assert_eq!(percents(AgreementRate::new(0, 0)), "\u{2013}");
    }
}
