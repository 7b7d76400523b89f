//! The result of a calibration, as stored and printed.

use super::agreement::Agreement;
use super::consistency::Consistency;
use super::probes::ProbeResult;
use crate::client;
use crate::config::{Floor, Model, ProviderKind};
use crate::fence::hex;
use crate::prompt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolmark_outcome::judging::{AnswerUsage, Rubric, Scale};
use toolmark_outcome::reaches;

/// Result of calibrating one judge with one rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Name of the model in specs and reports.
    pub model: String,
    /// Provider of the model.
    pub provider: String,
    /// Host and path of the server, or the command.
    pub server: String,
    /// Reasoning effort; the provider's default if unset.
    pub effort: Option<String>,
    /// Temperature; the provider's default if unset.
    pub temperature: Option<f64>,
    /// Name of the rubric, if any.
    pub rubric: Option<String>,
    /// Digest of the rubric, from [`rubric_digest`].
    pub rubric_digest: String,
    /// Scale of the marks.
    pub scale: Scale,
    /// Minimum score to pass.
    pub threshold: f64,
    /// Version of the prompts used for the measurement.
    pub prompt_version: u32,
    /// Agreement on pass and fail.
    pub verdicts: Agreement,
    /// Agreement on marks, if the scale has more than two and labels are marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Agreement>,
    /// Samples whose verdict differs from the label.
    pub disagreements: Vec<Disagreement>,
    /// Samples the judge left unknown.
    pub unknown: Vec<Unknown>,
    /// Agreement with itself, if every question was asked more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<Consistency>,
    /// Results of the probes.
    pub probes: Vec<ProbeResult>,
    /// Cost of the calibration.
    pub cost: JudgementCost,
}

/// A model, with all settings that may change its answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setup {
    /// Name of the model in specs and reports.
    pub model: String,
    /// Provider of the model.
    pub provider: String,
    /// Host and path of the server, or the command.
    pub server: String,
    /// Reasoning effort; the provider's default if unset.
    pub effort: Option<String>,
    /// Temperature; the provider's default if unset.
    pub temperature: Option<f64>,
}

impl Setup {
    /// Returns the setup of a model.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        Self {
            model: model.name.clone(),
            provider: model.kind.word().to_owned(),
            server: match model.kind {
                ProviderKind::Command => model.command.join(" "),
                _ => client::place(&model.base_url),
            },
            effort: model.effort.map(|effort| effort.word().to_owned()),
            temperature: model.temperature,
        }
    }

    /// Describes the difference to another setup.
    fn difference(&self, other: &Self) -> Option<String> {
        let or_own = |text: Option<&str>| text.unwrap_or("the provider's own").to_owned();
        let number = |value: Option<f64>| or_own(value.map(|v| v.to_string()).as_deref());
        let effort = |setup: &Self| or_own(setup.effort.as_deref());
        let rows = [
            ("provider", self.provider.clone(), other.provider.clone()),
            ("server", self.server.clone(), other.server.clone()),
            ("effort", effort(self), effort(other)),
            ("temperature", number(self.temperature), number(other.temperature)),
        ];
        let changed = rows.into_iter().find(|(_, mine, others)| mine != others);
        changed.map(|(what, mine, others)| format!("{what} {mine}, not {others}"))
    }
}

/// A sample about which the label and the judge disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// ID of the sample.
    pub id: String,
    /// Verdict of the label.
    pub label: String,
    /// Verdict of the judge.
    pub judge: String,
    /// Score of the judge, if any.
    pub score: Option<f64>,
}

/// A sample the judge left unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// ID of the sample.
    pub id: String,
    /// Reason.
    pub reason: String,
}

/// Cost of judgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JudgementCost {
    /// Number of judgements.
    pub judgements: u64,
    /// Total cost; without a price if one of them has none.
    pub total: AnswerUsage,
    /// Average cost of a thousand judgements; `None` if there were none.
    pub per_thousand: Option<AnswerUsage>,
}

impl JudgementCost {
    pub(super) fn of(spent: impl Iterator<Item = AnswerUsage>) -> Self {
        let mut judgements = 0;
        let total = spent.inspect(|_| judgements += 1).reduce(AnswerUsage::plus);
        let per_thousand = |n: u64| {
            let rounded = (u128::from(n) * 1000 + judgements / 2) / judgements.max(1);
            u64::try_from(rounded).unwrap_or(u64::MAX)
        };
        Self {
            judgements: u64::try_from(judgements).unwrap_or(u64::MAX),
            per_thousand: total.map(|total| AnswerUsage {
                input_tokens: per_thousand(total.input_tokens),
                output_tokens: per_thousand(total.output_tokens),
                micro_usd: total.micro_usd.map(per_thousand),
            }),
            total: total.unwrap_or_default(),
        }
    }
}

impl Calibration {
    /// Returns the setup with which the model was measured.
    #[must_use]
    pub fn setup(&self) -> Setup {
        Setup {
            model: self.model.clone(),
            provider: self.provider.clone(),
            server: self.server.clone(),
            effort: self.effort.clone(),
            temperature: self.temperature,
        }
    }

    /// Returns why the calibration does not reach a floor; `None` if it does. Only labels the judge
    /// answered count.
    #[must_use]
    pub fn below(&self, floor: &Floor) -> Option<String> {
        let verdicts = &self.verdicts;
        if self.prompt_version != prompt::VERSION {
            return Some(format!(
                "it was measured with version {} of the prompts, which are now version {}",
                self.prompt_version,
                prompt::VERSION
            ));
        }
        if let Some(least) = floor.labels
            && verdicts.answered() < least
        {
            return Some(format!(
                "it was measured on {} labels, fewer than {least}",
                verdicts.answered()
            ));
        }
        if let Some(least) = floor.accuracy {
            match verdicts.accuracy.rate {
                None => return Some("it answered none of the labels".to_owned()),
                Some(rate) if !reaches(rate, least) => {
                    return Some(format!("its accuracy is {rate:.2}, below {least}"));
                }
                Some(_) => {}
            }
        }
        if let Some(least) = floor.kappa {
            let kappa = &verdicts.kappa;
            match (kappa.value, &kappa.undefined) {
                (Some(value), _) if reaches(value, least) => {}
                (Some(value), _) => return Some(format!("its κ is {value:.2}, below {least}")),
                (None, why) => {
                    let why = why.as_deref().unwrap_or("it has no value");
                    return Some(format!("its κ is undefined: {why}"));
                }
            }
        }
        self.sways(floor)
    }

    /// Returns why the judge agrees too little with itself, or is steered too easily.
    fn sways(&self, floor: &Floor) -> Option<String> {
        if let Some(least) = floor.consistency {
            match self.consistency.as_ref().and_then(|found| found.all_agree.rate) {
                None => return Some("its consistency was not measured".to_owned()),
                Some(rate) if !reaches(rate, least) => {
                    return Some(format!("its consistency is {rate:.2}, below {least}"));
                }
                Some(_) => {}
            }
        }
        let most = floor.steering?;
        let rates = self.probes.iter().filter_map(|probe| probe.steered.as_ref()?.all.rate);
        match rates.reduce(f64::max) {
            None => Some("it was not measured how far it can be steered".to_owned()),
            Some(rate) if !reaches(most, rate) => {
                Some(format!("{rate:.2} of its verdicts can be steered, above {most}"))
            }
            Some(_) => None,
        }
    }
}

/// Reason why no calibration counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncalibrated {
    /// The model was not calibrated on the rubric.
    #[error("{0} has not been calibrated on this rubric")]
    Never(String),
    /// The model was calibrated with another setting.
    #[error("{0} was calibrated on this rubric with {1}")]
    Otherwise(String, String),
}

/// Finds the calibration of a model for a rubric and a threshold, or returns why none counts.
pub fn find<'c>(
    all: &'c [Calibration],
    setup: &Setup,
    rubric_digest: &str,
    threshold: f64,
) -> Result<&'c Calibration, Uncalibrated> {
    let model = &setup.model;
    let alike = || {
        let is_it = |one: &&Calibration| one.model == *model && one.rubric_digest == rubric_digest;
        all.iter().filter(is_it)
    };
    let fits = |one: &&Calibration| one.setup() == *setup && one.threshold == threshold;
    if let Some(found) = alike().find(fits) {
        return Ok(found);
    }
    let Some(near) = alike().next() else {
        return Err(Uncalibrated::Never(model.clone()));
    };
    let difference = near.setup().difference(setup);
    let difference =
        difference.unwrap_or_else(|| format!("the threshold {}, not {threshold}", near.threshold));
    Err(Uncalibrated::Otherwise(model.clone(), difference))
}

/// Returns the identity of a rubric without its name: SHA-256 of its JSON, in hexadecimal.
#[must_use]
pub fn rubric_digest(rubric: &Rubric) -> String {
    let unnamed = Rubric { name: None, ..rubric.clone() };
    // A rubric consists of strings and numbers, so this never fails.
    let json = serde_json::to_vec(&unnamed).unwrap_or_default();
    hex(&Sha256::digest(json))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds a calibration with these numbers of right and wrong labels.
    pub(in super::super) fn calibration(model: &str, right: usize, wrong: usize) -> Calibration {
        let class = |n: usize| n % 2;
        let pairs: Vec<_> = (0..right)
            .map(|n| (class(n), Some(class(n))))
            .chain((0..wrong).map(|n| (class(n), Some(1 - class(n)))))
            .collect();
        let rubric = Rubric::of_text("is it right?", Scale::Binary);
        Calibration {
            model: model.to_owned(),
            provider: String::new(),
            server: String::new(),
            effort: None,
            temperature: None,
            rubric: None,
            rubric_digest: rubric_digest(&rubric),
            scale: rubric.scale,
            threshold: 0.5,
            prompt_version: prompt::VERSION,
            verdicts: Agreement::new(vec!["fail".into(), "pass".into()], &pairs),
            marks: None,
            disagreements: Vec::new(),
            unknown: vec![Unknown { id: "x".into(), reason: "timed out".into() }],
            consistency: None,
            probes: Vec::new(),
            cost: JudgementCost::default(),
        }
    }

    #[test]
    fn floors() {
        let floor = |accuracy, kappa, labels| Floor { accuracy, kappa, labels, ..Floor::default() };
        let good = calibration("m", 9, 1);
        for (floor, want) in [
            (floor(None, None, None), None),
            (floor(Some(0.9), Some(0.7), Some(10)), None),
            (floor(Some(0.95), None, None), Some("its accuracy is 0.90, below 0.95")),
            (floor(None, Some(0.9), None), Some("its κ is 0.80, below 0.9")),
            (floor(None, None, Some(11)), Some("measured on 10 labels, fewer than 11")),
        ] {
            let why = good.below(&floor);
            assert_eq!(why.is_some(), want.is_some(), "{floor:?}: {why:?}");
            assert!(why.unwrap_or_default().contains(want.unwrap_or_default()), "{floor:?}");
        }
        let one_class = calibration("m", 1, 0);
        assert!(one_class.below(&floor(None, Some(0.1), None)).unwrap().contains("undefined"));
        let nothing = calibration("m", 0, 0);
        assert!(nothing.below(&floor(Some(0.1), None, None)).unwrap().contains("none"));
        let old = Calibration { prompt_version: prompt::VERSION + 1, ..good };
        assert!(old.below(&floor(None, None, None)).unwrap().contains("prompts"));
    }

    #[test]
    fn the_digest_knows_every_part_of_a_rubric() {
        let rubric = Rubric::of_text("is it right?", Scale::Binary);
        let digest = rubric_digest(&rubric);
        assert_eq!(digest.len(), 64);
        assert_eq!(digest, rubric_digest(&rubric.clone()));
        let mut others = [rubric.clone(), rubric.clone(), rubric.clone(), rubric.clone(), rubric];
        others[0].scale = Scale::Half;
        others[1].criteria[0].weight = 2.0;
        others[2].criteria[0].needs = Some(1.0);
        others[3].instructions = "x".to_owned();
        others[4].criteria[0].anchors = vec![("1".into(), "good".into())];
        for other in &others {
            assert_ne!(rubric_digest(other), digest, "{other:?}");
        }
    }

    #[test]
    fn costs_add_up_or_have_no_price() {
        let spent = |micro_usd| AnswerUsage { input_tokens: 100, output_tokens: 7, micro_usd };
        let cost = JudgementCost::of([spent(Some(3)), spent(Some(4)), spent(Some(4))].into_iter());
        assert_eq!((cost.judgements, cost.total.input_tokens), (3, 300));
        let thousand = cost.per_thousand.unwrap();
        assert_eq!((thousand.input_tokens, thousand.micro_usd), (100_000, Some(3_667)));
        let cost = JudgementCost::of([spent(Some(3)), spent(None)].into_iter());
        assert_eq!((cost.total.micro_usd, cost.per_thousand.unwrap().micro_usd), (None, None));
        assert_eq!(JudgementCost::of(std::iter::empty()).per_thousand, None);
    }

    #[test]
    fn a_floor_can_name_consistency_and_steering() {
        let plain = calibration("m", 9, 1);
        let steady = Floor { consistency: Some(0.9), ..Floor::default() };
        let firm = Floor { steering: Some(0.1), ..Floor::default() };
        assert!(plain.below(&steady).unwrap().contains("not measured"));
        assert!(plain.below(&firm).unwrap().contains("not measured"));
        let consistency = |same| Consistency {
            repeats: 3,
            all_agree: super::super::agreement::AgreementRate::new(same, 10),
            pairwise: None,
            spread: None,
            left_out: 0,
        };
        let torn = Calibration { consistency: Some(consistency(8)), ..plain.clone() };
        assert_eq!(torn.below(&steady).unwrap(), "its consistency is 0.80, below 0.9");
        let same = Calibration { consistency: Some(consistency(9)), ..plain };
        assert_eq!(same.below(&steady), None);
    }

    #[test]
    fn a_calibration_belongs_to_how_the_model_was_asked() {
        let all = [calibration("a", 1, 1), calibration("b", 1, 1)];
        let digest = all[0].rubric_digest.clone();
        let setup = Setup { model: "b".into(), ..Setup::default() };
        assert_eq!(find(&all, &setup, &digest, 0.5).unwrap().model, "b");
        let why = |setup: &Setup, digest: &str, threshold| {
            find(&all, setup, digest, threshold).unwrap_err().to_string()
        };
        let other = Setup { model: "c".into(), ..Setup::default() };
        assert!(why(&other, &digest, 0.5).contains("has not been calibrated"));
        assert!(why(&setup, "0", 0.5).contains("has not been calibrated"));
        assert!(why(&setup, &digest, 0.8).contains("the threshold 0.5, not 0.8"));
        let hard = Setup { effort: Some("high".into()), ..setup.clone() };
        assert!(why(&hard, &digest, 0.5).contains("effort the provider's own, not high"));
        let warm = Setup { temperature: Some(0.7), ..setup.clone() };
        assert!(why(&warm, &digest, 0.5).contains("temperature the provider's own, not 0.7"));
        let moved = Setup { server: "gate/v1".into(), ..setup };
        assert!(why(&moved, &digest, 0.5).contains("not gate/v1"));
    }
}
