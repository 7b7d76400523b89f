//! Judge options shared by `grade`, `check` and `judge calibrate`.

use crate::human;
use crate::printer::{Line, Printer, style};
use clap::Args;
use std::fmt;
use std::io;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::judge::{JudgeOptions, JudgeRequest, OpenJudge};
use toolmark_judge::{ExplainedQuestion, JudgeClient, Mode};
use toolmark_redact::printable;

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
                _ if self.explain_prompt => Mode::Explain,
                (true, _) => Mode::Offline,
                (_, true) => Mode::Refresh,
                _ => Mode::CacheFirst,
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
        if !self.explain_prompt {
            return Ok(false);
        }
        let all = judge.explained();
        let of = all.len();
        let mut total = Estimate::default();
        for (n, one) in all.iter().enumerate() {
            let estimate = Estimate::of(one);
            let cached = if one.is_cached { ", cached" } else { "" };
            let number = n + 1;
            let head = format!("question {number} of {of} to {}: {estimate}{cached}", one.model);
            printer.line(&Line::of(style::STRONG, printer.redact(head)))?;
            let schema = serde_json::to_string(&one.schema).map_err(io::Error::other)?;
            for (name, text) in [("system", &one.system), ("user", &one.user), ("schema", &schema)]
            {
                printer.line(&Line::of(style::DIM, printable!("--- {}", name)))?;
                for line in text.lines() {
                    printer.line(&Line::of(style::PLAIN, printer.redact(line)))?;
                }
            }
            printer.line(&Line::new())?;
            if !one.is_cached {
                total.add(estimate);
            }
        }
        let cached = all.iter().filter(|one| one.is_cached).count();
        let questions = human::things(of as u64, "question");
        let words = format!("{questions}, {cached} cached; to ask the others: {total}");
        printer.line(&Line::of(style::STRONG, printer.redact(words)))?;
        Ok(true)
    }
}

/// Estimated tokens and cost of questions.
#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    input: u64,
    output: u64,
    /// Cost; `None` if the price of a question is unknown.
    micro_usd: Option<u64>,
    questions: u64,
}

impl Estimate {
    fn of(one: &ExplainedQuestion) -> Self {
        let (input, output) = (one.input_tokens, one.output_tokens);
        Self { input, output, micro_usd: one.micro_usd, questions: 1 }
    }

    fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.micro_usd = match (self.questions, self.micro_usd, other.micro_usd) {
            (0, _, first) => first,
            (_, Some(a), Some(b)) => Some(a + b),
            _ => None,
        };
        self.questions += other.questions;
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = human::things(self.input, "token");
        write!(f, "about {input} in, at most {} out", human::things(self.output, "token"))?;
        match self.micro_usd {
            Some(micro) => write!(f, ", at most ${:.4}", micro as f64 / 1e6),
            None if self.questions == 0 => Ok(()),
            None => write!(f, ", price unknown"),
        }
    }
}
