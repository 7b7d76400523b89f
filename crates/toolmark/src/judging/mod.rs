//! Judge options shared by `grade`, `check` and `judge calibrate`.

use crate::printer::Printer;
use clap::Args;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::judge::{JudgeOptions, JudgeRequest, OpenJudge, explain};
use toolmark_judge::{JudgeClient, JudgeMode};

/// Options for judges and cached answers.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Judge")]
pub(crate) struct JudgeArgs {
    /// Default judge model, such as claude-… or openai-chat:qwen3
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge_model: Option<String>,
    /// File with a `judge:` section [default: the spec, then toolmark.yaml]
    #[arg(long, value_name = "FILE")]
    judge_config: Option<PathBuf>,
    /// Cache of answers [default: .toolmark/judge]
    #[arg(long, value_name = "DIR")]
    judge_cache: Option<PathBuf>,
    /// Ask again even if the answer is cached
    #[arg(long, conflicts_with = "offline")]
    refresh: bool,
    /// Use cached answers only; without one the verdict is unknown
    #[arg(long)]
    offline: bool,
    /// Print the prompts with an estimate of tokens and cost, and ask no model
    #[arg(long, conflicts_with_all = ["offline", "refresh", "export_answers"])]
    explain_prompt: bool,
    /// Write the answers that were used to this file (see `toolmark judge cache import`)
    #[arg(long, value_name = "FILE")]
    export_answers: Option<PathBuf>,
}

impl JudgeArgs {
    /// Whether any of the options is set.
    pub(crate) fn is_given(&self) -> bool {
        self.judge_model.is_some()
            || self.judge_config.is_some()
            || self.judge_cache.is_some()
            || self.export_answers.is_some()
            || self.refresh
            || self.offline
            || self.explain_prompt
    }

    /// The options of the action.
    pub(crate) fn options(&self) -> JudgeOptions {
        JudgeOptions {
            model: self.judge_model.clone(),
            config: self.judge_config.clone(),
            cache: self.judge_cache.clone(),
            mode: match (self.offline, self.refresh) {
                _ if self.explain_prompt => JudgeMode::Explain,
                (true, _) => JudgeMode::Offline,
                (_, true) => JudgeMode::Refresh,
                _ => JudgeMode::CacheFirst,
            },
            export_answers: self.export_answers.clone(),
        }
    }

    /// Opens the configured judge; fails with a hint if there is none.
    pub(crate) fn open_some(
        &self,
        request: &JudgeRequest<'_>,
        printer: &mut Printer,
    ) -> Result<OpenJudge, Stop> {
        self.options().open_some(request, printer)
    }

    /// Reports what the judge was asked. Returns true if the questions are printed instead.
    pub(crate) fn finish(&self, judge: &OpenJudge, printer: &mut Printer) -> Result<bool, Stop> {
        if self.explain(&judge.client, printer)? {
            return Ok(true);
        }
        self.options().finish(judge, printer)?;
        Ok(false)
    }

    /// Prints the questions if only these are requested.
    pub(crate) fn explain(&self, judge: &JudgeClient, printer: &mut Printer) -> Result<bool, Stop> {
        if self.explain_prompt {
            for line in explain::lines(judge, printer.redactor) {
                printer.line(&line)?;
            }
        }
        Ok(self.explain_prompt)
    }
}
