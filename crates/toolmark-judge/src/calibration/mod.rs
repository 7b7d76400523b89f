//! How far a judge can be trusted.
//!
//! A [`Calibrator`] asks a judge about labelled samples: as they are, several
//! times, and changed in ways that should not matter. Out of the answers it
//! makes a [`Calibration`]: the agreement with the labels, the agreement of the
//! judge with itself, what sways it, and what it costs.

mod agreement;
mod consistency;
mod file;
mod labels;
mod opinion;
mod probes;
mod random;
mod report;
mod sample;

pub use agreement::{Agreement, Kappa, OfClass, Rate};
pub use consistency::Consistency;
pub use file::{CalibrationFile, FileError, VERSION, read_file, write_file};
pub use labels::{About, Label, LabelProblem, LabelRow, Place, Written, read_rows, settle};
pub use probes::{Change, ProbeKind, Probed, Steered};
pub use report::{Calibration, Cost, Disagreement, Unknown, find, rubric_digest};
pub use sample::{Asked, Sample};

use crate::prompt;
use opinion::Opinion;
use probes::Before;
use toolmark_outcome::judging::{Judge, Question, Scale, Spent};

/// So many samples are asked about at once: what is held in memory stays small,
/// and progress can be shown.
const AT_ONCE: usize = 64;

/// Measures one judge.
#[derive(Debug)]
pub struct Calibrator<'j> {
    /// Who is asked.
    pub judge: &'j dyn Judge,
    /// What specs and reports call the model.
    pub model: String,
    /// Whose wire format it speaks.
    pub provider: String,
    /// How often each question is asked, at least once.
    pub repeats: u32,
    /// What is tried to sway it.
    pub probes: Vec<ProbeKind>,
}

impl Calibrator<'_> {
    /// How many judgements a calibration takes.
    #[must_use]
    pub fn judgements(&self, asked: &Asked, samples: &[Sample]) -> u64 {
        let changed = |change: Change| {
            samples.iter().filter(|sample| change.make(asked, sample).is_some()).count()
        };
        let probes: usize = self.changes().map(|(_, change)| changed(change)).sum();
        samples.len() as u64 * u64::from(self.repeats.max(1)) + probes as u64
    }

    /// Asks about all samples. `tick` is told how many judgements came in.
    #[must_use]
    pub fn calibrate(&self, asked: &Asked, samples: &[Sample], tick: &dyn Fn(u64)) -> Calibration {
        let mut spent: Vec<Spent> = Vec::new();
        let mut opinions: Vec<Vec<Opinion>> = Vec::with_capacity(samples.len());
        let repeats = self.repeats.max(1);
        for part in samples.chunks(AT_ONCE) {
            let plain = |sample: &Sample| asked.question(sample.materials.clone(), repeats);
            let questions: Vec<Question> = part.iter().map(plain).collect();
            opinions.extend(self.ask(asked, &questions, repeats, &mut spent));
            tick(part.len() as u64 * u64::from(repeats));
        }
        let firsts: Vec<&Opinion> = opinions.iter().filter_map(|all| all.first()).collect();
        let probes = self
            .changes()
            .map(|(probe, change)| {
                let mut all = Vec::with_capacity(samples.len());
                for (part, before) in samples.chunks(AT_ONCE).zip(firsts.chunks(AT_ONCE)) {
                    let changed: Vec<Option<Question>> =
                        part.iter().map(|sample| change.make(asked, sample)).collect();
                    let is_changed: Vec<bool> = changed.iter().map(Option::is_some).collect();
                    let questions: Vec<Question> = changed.into_iter().flatten().collect();
                    let mut after = self.ask(asked, &questions, 1, &mut spent).into_iter();
                    tick(questions.len() as u64);
                    for ((sample, opinion), is_changed) in part.iter().zip(before).zip(is_changed) {
                        let label_passes = sample.label.passes(asked.rubric.scale, asked.threshold);
                        let answers = if is_changed { after.next() } else { None };
                        let after = answers.and_then(|all| all.into_iter().next());
                        all.push(Before { opinion, label_passes, after });
                    }
                }
                Probed::new(probe, change, &all)
            })
            .collect();
        let (disagreements, unknown) = listed(asked, samples, &firsts);
        Calibration {
            model: self.model.clone(),
            provider: self.provider.clone(),
            rubric: asked.rubric.name.clone(),
            rubric_digest: rubric_digest(&asked.rubric),
            scale: asked.rubric.scale,
            threshold: asked.threshold,
            prompt_version: prompt::VERSION,
            verdicts: verdicts(asked, samples, &firsts),
            marks: marks(asked.rubric.scale, samples, &firsts),
            disagreements,
            unknown,
            consistency: (repeats > 1).then(|| Consistency::new(repeats, &opinions)),
            probes,
            cost: Cost::of(spent.into_iter()),
        }
    }

    fn changes(&self) -> impl Iterator<Item = (ProbeKind, Change)> {
        let chosen = ProbeKind::ALL.iter().filter(|probe| self.probes.contains(probe));
        chosen.flat_map(|probe| probe.changes().iter().map(|change| (*probe, *change)))
    }

    /// What is said to each question. Criteria may stand in another order in
    /// it: its own rubric decides.
    fn ask(
        &self,
        asked: &Asked,
        questions: &[Question],
        votes: u32,
        spent: &mut Vec<Spent>,
    ) -> Vec<Vec<Opinion>> {
        if questions.is_empty() {
            return Vec::new();
        }
        let rulings = self.judge.judge(questions);
        let all = questions.iter().enumerate().map(|(n, question)| {
            Opinion::all(&question.rubric, rulings.get(n), votes, asked.threshold)
        });
        let all: Vec<Vec<Opinion>> = all.collect();
        spent.extend(all.iter().flatten().filter_map(|opinion| opinion.spent));
        all
    }
}

/// The word for a verdict.
fn word(passes: bool) -> &'static str {
    if passes { "pass" } else { "fail" }
}

fn verdicts(asked: &Asked, samples: &[Sample], said: &[&Opinion]) -> Agreement {
    let classes = [false, true].map(|passes| word(passes).to_owned());
    let pair = |(sample, opinion): (&Sample, &&Opinion)| {
        let label = sample.label.passes(asked.rubric.scale, asked.threshold);
        (usize::from(label), opinion.passes.map(usize::from))
    };
    let pairs: Vec<_> = samples.iter().zip(said).map(pair).collect();
    Agreement::new(classes.into(), &pairs)
}

/// The marks themselves, where there is more to them than pass and fail.
fn marks(scale: Scale, samples: &[Sample], said: &[&Opinion]) -> Option<Agreement> {
    let points = scale.points();
    if points.len() < 3 {
        return None;
    }
    let pair = |(sample, opinion): (&Sample, &&Opinion)| match sample.label {
        Label::Mark(mark) => Some((points.iter().position(|point| *point == mark)?, opinion.mark)),
        Label::Verdict(_) => None,
    };
    let pairs: Vec<_> = samples.iter().zip(said).filter_map(pair).collect();
    let classes = points.iter().map(ToString::to_string).collect();
    (!pairs.is_empty()).then(|| Agreement::new(classes, &pairs))
}

/// The samples that were judged otherwise than labelled, and those left unknown.
fn listed(
    asked: &Asked,
    samples: &[Sample],
    said: &[&Opinion],
) -> (Vec<Disagreement>, Vec<Unknown>) {
    let (mut disagreements, mut unknown) = (Vec::new(), Vec::new());
    for (sample, opinion) in samples.iter().zip(said) {
        let label = sample.label.passes(asked.rubric.scale, asked.threshold);
        match opinion.passes {
            Some(passes) if passes == label => {}
            Some(passes) => disagreements.push(Disagreement {
                id: sample.id.clone(),
                label: word(label).to_owned(),
                judge: word(passes).to_owned(),
                score: opinion.score,
            }),
            None => unknown.push(Unknown {
                id: sample.id.clone(),
                reason: opinion.reason.clone().unwrap_or_else(|| "it does not say why".to_owned()),
            }),
        }
    }
    (disagreements, unknown)
}

#[cfg(test)]
mod tests;
