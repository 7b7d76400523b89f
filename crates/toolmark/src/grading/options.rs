//! Options of every command that grades: spec loading and judges.

use crate::exit::Failure;
use crate::judging::JudgeArgs;
use crate::printer::Printer;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_app::Stop;
use toolmark_app::grade::types;
use toolmark_app::judge::{ByRules, JudgeRequest, OpenJudge};
use toolmark_grade::{LoadOptions, Plan};
use toolmark_outcome::judging::Judge;
use toolmark_outcome::{Environment, Findings, Profile};

/// Options for loading a spec.
#[derive(Debug, Args)]
pub(crate) struct SpecArgs {
    /// Score that every case must reach; overrides the spec
    #[arg(long, value_name = "0..1", value_parser = share)]
    threshold: Option<f64>,
    /// Grade with the rules of another system
    #[arg(long, value_name = "PROFILE", value_parser = profile())]
    profile: Option<Profile>,
    /// Grader type of a plugin: not run here, so unknown; may be given several times
    #[arg(long = "grader-type", value_name = "NAME")]
    grader_types: Vec<String>,
    /// Dataset with the cases: JSONL, JSON, CSV or Parquet
    #[arg(long, value_name = "FILE", help_heading = "Pairing")]
    dataset: Option<PathBuf>,
    /// Value for ${NAME} in the spec; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = pair, help_heading = "Pairing")]
    params: Vec<(String, String)>,
}

impl SpecArgs {
    /// Converts the options for loading.
    pub(crate) fn load_options(&self, spec: &Path) -> Result<LoadOptions, Failure> {
        Ok(LoadOptions {
            params: self.params.iter().cloned().collect(),
            profile: self.profile,
            threshold: self.threshold,
            dataset: self.dataset.clone(),
            grader_types: types::declared(spec, &self.grader_types)?,
            is_lint: false,
            stores_cases: false,
        })
    }

    /// A key that changes with the options that affect results.
    pub(crate) fn key(&self) -> String {
        format!("{:?} {:?} {:?} {:?}", self.threshold, self.profile, self.dataset, self.params)
    }
}

/// Options for what graders may use.
#[derive(Debug, Args)]
pub(crate) struct GraderArgs {
    /// Do not run programs; graders that need one are unknown
    #[arg(long, help_heading = "Environment")]
    pub(crate) no_programs: bool,
    /// Do not ask a judge; graders that need one are unknown
    #[arg(long, conflicts_with_all = ["judge_model", "refresh", "offline", "explain_prompt"], help_heading = "Judge")]
    no_judge: bool,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

impl GraderArgs {
    /// Opens the judge if any grader needs one.
    pub(crate) fn open_judge(
        &self,
        plans: &[(PathBuf, Plan)],
        printer: &mut Printer,
    ) -> Result<Option<OpenJudge>, Stop> {
        let asks = |(_, plan): &&(PathBuf, Plan)| plan.asks_judge();
        let Some((path, plan)) = plans.iter().find(asks).filter(|_| !self.no_judge) else {
            return Ok(None);
        };
        let request = JudgeRequest {
            part_of: Some(path),
            usual: &plan.judge,
            may_run: !self.no_programs,
            gates: true,
        };
        self.judge.options().open(&request, printer)
    }

    /// The environment of the graders.
    pub(crate) fn environment(&self, judge: Option<&OpenJudge>) -> Environment {
        Environment {
            may_run: !self.no_programs,
            judge: judge.map(|judge| Arc::clone(&judge.client) as Arc<dyn Judge>),
            findings: judge.map(|_| Arc::new(ByRules::default()) as Arc<dyn Findings>),
            ..Environment::default()
        }
    }
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.iter().map(|profile| profile.word()))
        .map(|word| Profile::from_word(&word).unwrap_or_default())
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
