//! Calibration: the trustworthiness of a judge.
//!
//! A [`Calibrator`] asks a judge about labelled samples: unchanged, repeatedly, and with changes
//! that should not matter. The answers give a [`Calibration`]: the agreement of the judge with the
//! labels and with itself, the changes that sway it, and its cost.

mod agreement;
mod consistency;
mod file;
mod labels;
mod opinion;
mod probes;
mod report;
mod sample;

pub use agreement::{Agreement, AgreementRate, ClassAgreement, Kappa};
pub use consistency::Consistency;
pub use file::{CalibrationFile, FileError, VERSION, read_file, write_file};
pub use labels::{
    About, Label, LabelError, LabelProblem, LabelRow, LabelTarget, RawLabel, interpret, read_rows,
};
pub use probes::{ProbeKind, ProbeResult, QuestionChange, Steering};
pub use report::{
    Calibration, Disagreement, JudgementCost, Setup, Uncalibrated, Unknown, find, rubric_digest,
};
pub use sample::{LabelledSample, RubricTask, SampleError};

use crate::prompt;
use opinion::Opinion;
use probes::BeforeAndAfter;
use toolmark_outcome::judging::{AnswerUsage, Judge, JudgeQuestion, Scale};

/// Number of samples asked about at once, to bound memory and show progress.
const BATCH: usize = 64;

/// A measurement of one judge.
#[derive(Debug)]
pub struct Calibrator<'j> {
    /// The judge.
    pub judge: &'j dyn Judge,
    /// Model and its settings.
    pub setup: Setup,
    /// Number of times each question is asked, at least one.
    pub repeats: u32,
    /// Probes that try to sway the judge.
    pub probes: Vec<ProbeKind>,
}

impl Calibrator<'_> {
    /// Returns the number of judgements that a calibration needs.
    #[must_use]
    pub fn count_judgements(&self, task: &RubricTask, samples: &[LabelledSample]) -> u64 {
        let changed = |change: QuestionChange| {
            samples.iter().filter(|sample| change.apply(task, sample).is_some()).count()
        };
        let probes: usize = self.changes().map(|(_, change)| changed(change)).sum();
        samples.len() as u64 * u64::from(self.repeats.max(1)) + probes as u64
    }

    /// Asks about all samples. `tick` is called with the number of new judgements.
    #[must_use]
    pub fn calibrate(
        &self,
        task: &RubricTask,
        samples: &[LabelledSample],
        tick: &dyn Fn(u64),
    ) -> Calibration {
        let mut spent: Vec<AnswerUsage> = Vec::new();
        let mut opinions: Vec<Vec<Opinion>> = Vec::with_capacity(samples.len());
        let repeats = self.repeats.max(1);
        for part in samples.chunks(BATCH) {
            let plain = |sample: &LabelledSample| task.question(sample.materials.clone(), repeats);
            let questions: Vec<JudgeQuestion> = part.iter().map(plain).collect();
            opinions.extend(self.ask(task, &questions, repeats, &mut spent));
            tick(part.len() as u64 * u64::from(repeats));
        }
        let firsts: Vec<&Opinion> = opinions.iter().filter_map(|all| all.first()).collect();
        let probes = self
            .changes()
            .map(|(probe, change)| {
                let mut all = Vec::with_capacity(samples.len());
                for (part, before) in samples.chunks(BATCH).zip(firsts.chunks(BATCH)) {
                    let changed: Vec<Option<JudgeQuestion>> =
                        part.iter().map(|sample| change.apply(task, sample)).collect();
                    let is_changed: Vec<bool> = changed.iter().map(Option::is_some).collect();
                    let questions: Vec<JudgeQuestion> = changed.into_iter().flatten().collect();
                    let mut after = self.ask(task, &questions, 1, &mut spent).into_iter();
                    tick(questions.len() as u64);
                    for ((sample, opinion), is_changed) in part.iter().zip(before).zip(is_changed) {
                        let label_passes = sample.label.passes(task.rubric.scale, task.threshold);
                        let answers = if is_changed { after.next() } else { None };
                        let after = answers.and_then(|all| all.into_iter().next());
                        all.push(BeforeAndAfter { opinion, label_passes, after });
                    }
                }
                ProbeResult::new(probe, change, &all)
            })
            .collect();
        let (disagreements, unknown) = list_differences(task, samples, &firsts);
        Calibration {
            model: self.setup.model.clone(),
            provider: self.setup.provider.clone(),
            server: self.setup.server.clone(),
            effort: self.setup.effort.clone(),
            temperature: self.setup.temperature,
            rubric: task.rubric.name.clone(),
            rubric_digest: rubric_digest(&task.rubric),
            scale: task.rubric.scale,
            threshold: task.threshold,
            prompt_version: prompt::VERSION,
            verdicts: verdicts(task, samples, &firsts),
            marks: marks(task.rubric.scale, samples, &firsts),
            disagreements,
            unknown,
            consistency: (repeats > 1).then(|| Consistency::new(repeats, &opinions)),
            probes,
            cost: JudgementCost::of(spent.into_iter()),
        }
    }

    fn changes(&self) -> impl Iterator<Item = (ProbeKind, QuestionChange)> {
        let chosen = ProbeKind::ALL.iter().filter(|probe| self.probes.contains(probe));
        chosen.flat_map(|probe| probe.changes().iter().map(|change| (*probe, *change)))
    }

    /// Returns the opinions on each question, whose rubric may have its criteria in another order.
    fn ask(
        &self,
        task: &RubricTask,
        questions: &[JudgeQuestion],
        votes: u32,
        spent: &mut Vec<AnswerUsage>,
    ) -> Vec<Vec<Opinion>> {
        if questions.is_empty() {
            return Vec::new();
        }
        let rulings = self.judge.judge(questions);
        let all = questions.iter().enumerate().map(|(n, question)| {
            Opinion::all(&question.rubric, rulings.get(n), votes, task.threshold)
        });
        let all: Vec<Vec<Opinion>> = all.collect();
        spent.extend(all.iter().flatten().filter_map(|opinion| opinion.spent));
        all
    }
}

/// Returns the name of a verdict.
fn verdict_name(passes: bool) -> &'static str {
    if passes { "pass" } else { "fail" }
}

fn verdicts(task: &RubricTask, samples: &[LabelledSample], said: &[&Opinion]) -> Agreement {
    let classes = [false, true].map(|passes| verdict_name(passes).to_owned());
    let pair = |(sample, opinion): (&LabelledSample, &&Opinion)| {
        let label = sample.label.passes(task.rubric.scale, task.threshold);
        (usize::from(label), opinion.passes.map(usize::from))
    };
    let pairs: Vec<_> = samples.iter().zip(said).map(pair).collect();
    Agreement::new(classes.into(), &pairs)
}

/// Returns the agreement on marks, if the scale has more than pass and fail.
fn marks(scale: Scale, samples: &[LabelledSample], said: &[&Opinion]) -> Option<Agreement> {
    let points = scale.points();
    if points.len() < 3 {
        return None;
    }
    let pair = |(sample, opinion): (&LabelledSample, &&Opinion)| match sample.label {
        Label::Mark(mark) => Some((points.iter().position(|point| *point == mark)?, opinion.mark)),
        Label::Verdict(_) => None,
    };
    let pairs: Vec<_> = samples.iter().zip(said).filter_map(pair).collect();
    let classes = points.iter().map(ToString::to_string).collect();
    (!pairs.is_empty()).then(|| Agreement::new(classes, &pairs))
}

/// Returns the samples whose verdict differs from the label, and those left unknown.
fn list_differences(
    task: &RubricTask,
    samples: &[LabelledSample],
    said: &[&Opinion],
) -> (Vec<Disagreement>, Vec<Unknown>) {
    let (mut disagreements, mut unknown) = (Vec::new(), Vec::new());
    for (sample, opinion) in samples.iter().zip(said) {
        let label = sample.label.passes(task.rubric.scale, task.threshold);
        match opinion.passes {
            Some(passes) if passes == label => {}
            Some(passes) => disagreements.push(Disagreement {
                id: sample.id.clone(),
                label: verdict_name(label).to_owned(),
                judge: verdict_name(passes).to_owned(),
                score: opinion.score,
            }),
            None => unknown.push(Unknown {
                id: sample.id.clone(),
                reason: opinion.reason.clone().unwrap_or_else(|| "no reason given".to_owned()),
            }),
        }
    }
    (disagreements, unknown)
}

#[cfg(test)]
mod tests;
