//! Options of every command that grades: spec loading and judges.

use crate::args::{ValueError, share};
use crate::judging::JudgeArgs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use toolmark_app::grade::options::{GraderOptions, SpecOptions};
use toolmark_outcome::Profile;

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
    /// The options of the action.
    pub(crate) fn options(&self) -> SpecOptions {
        SpecOptions {
            threshold: self.threshold,
            profile: self.profile,
            grader_types: self.grader_types.clone(),
            dataset: self.dataset.clone(),
            params: self.params.clone(),
        }
    }
}

/// Options for what graders may use.
#[derive(Debug, Args)]
pub(crate) struct GraderArgs {
    /// Do not run programs; graders that need one are unknown
    #[arg(long, help_heading = "Environment")]
    no_programs: bool,
    /// Do not ask a judge; graders that need one are unknown
    #[arg(long, conflicts_with_all = ["judge_model", "refresh", "offline", "explain_prompt"], help_heading = "Judge")]
    no_judge: bool,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

impl GraderArgs {
    /// The options of the action.
    pub(crate) fn options(&self) -> GraderOptions {
        let (may_run, may_ask) = (!self.no_programs, !self.no_judge);
        GraderOptions { may_run, may_ask, judge: self.judge.options() }
    }
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.iter().map(|profile| profile.word()))
        .map(|word| Profile::from_word(&word).unwrap_or_default())
}

fn pair(text: &str) -> Result<(String, String), ValueError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(ValueError::Syntax("write NAME=VALUE")),
    }
}
