//! Judge options shared by `grade`, `check` and `judge calibrate`, and the `judge:` section of a
//! file.

pub(crate) mod config;
mod findings;

pub(crate) use findings::ByRules;

use crate::Stop;
use crate::exit::Failure;
use crate::human;
use crate::printer::{Line, Printer, Verbosity, style};
use crate::progress::Status;
use clap::Args;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_grade::UsualJudge;
use toolmark_judge::calibration::{self, Calibration, Setup};
use toolmark_judge::config::{KeySource, Kind, Model, Settings};
use toolmark_judge::{Cache, ExplainedQuestion, JudgeClient, Mode, Tally, providers};
use toolmark_redact::{printable, redact_named};

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

/// An open judge and its settings.
pub(crate) struct OpenJudge {
    pub(crate) client: Arc<JudgeClient>,
    /// The default model.
    pub(crate) usual: Option<Model>,
    /// Maximum number of concurrent questions.
    pub(crate) concurrency: usize,
    /// Progress status with the questions and costs so far.
    pub(crate) status: Status,
}

/// The purpose of a judge.
pub(crate) struct JudgeRequest<'a> {
    /// The file whose judge section applies if no other is named.
    pub(crate) part_of: Option<&'a Path>,
    /// Judge defaults in that file outside the section.
    pub(crate) usual: &'a UsualJudge,
    /// Whether programs may be run.
    pub(crate) may_run: bool,
    /// Whether the answers affect a result, so that the floor applies.
    pub(crate) gates: bool,
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

    /// Opens the configured judge; fails with a hint if there is none.
    pub(crate) fn open_some(
        &self,
        request: &JudgeRequest<'_>,
        printer: &mut Printer,
    ) -> Result<OpenJudge, Stop> {
        self.open(request, printer)?.ok_or_else(|| {
            let failure = Failure::usage("no judge is configured");
            failure.hint("set --judge-model, or `judge:` in toolmark.yaml").into()
        })
    }

    /// Opens the configured judge; `None` if there is none.
    pub(crate) fn open(
        &self,
        request: &JudgeRequest<'_>,
        printer: &mut Printer,
    ) -> Result<Option<OpenJudge>, Stop> {
        let JudgeRequest { part_of, usual, may_run, gates } = *request;
        let mut settings = config::open(self.judge_config.as_deref(), part_of, printer)?;
        // A command line beats a spec, and a spec beats what is usual here.
        if let Some(word) = self.judge_model.as_ref().or(usual.model.as_ref()) {
            let found = match &self.judge_model {
                Some(word) => settings.model_on_command_line(word),
                None => settings.model(word),
            };
            let model = found.map_err(|error| {
                let option = if self.judge_model.is_some() { "--judge-model: " } else { "" };
                Failure::usage(format!("{option}{error}"))
            });
            match model {
                Ok(model) => settings.default_model = Some(model),
                // A spec may name a model that nothing here knows how to reach.
                Err(_) if self.judge_model.is_none() && settings.default_model.is_none() => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        if let (Some(effort), Some(model)) = (usual.effort, &mut settings.default_model) {
            model.effort = model.effort.or(Some(effort));
        }
        if settings.default_model.is_none() && settings.models.is_empty() {
            return Ok(None);
        }
        if !may_run {
            refuse_programs(&settings)?;
        }
        if let Some(directory) = &self.judge_cache {
            settings.cache = Some(directory.clone());
        }
        let mode = match (self.offline, self.refresh) {
            _ if self.explain_prompt => Mode::Explain,
            (true, _) => Mode::Offline,
            (_, true) => Mode::Refresh,
            _ => Mode::CacheFirst,
        };
        let (usual, concurrency) = (settings.default_model.clone(), settings.concurrency);
        let status = Status::default();
        let trust = if gates { trust(&settings)? } else { None };
        let mut client = JudgeClient::new(settings, providers::connect, redact_named).mode(mode);
        if let Some(trust) = trust {
            client = client.with_objection(trust);
        }
        let watched = status.clone();
        client = client.with_watcher(Box::new(move |tally| {
            watched.show(&so_far(tally), tally.asked + tally.kept + tally.unanswered);
        }));
        Ok(Some(OpenJudge { client: Arc::new(client), usual, concurrency, status }))
    }

    /// Prints the questions if only these are requested.
    pub(crate) fn explain(&self, judge: &OpenJudge, printer: &mut Printer) -> Result<bool, Stop> {
        if !self.explain_prompt {
            return Ok(false);
        }
        let all = judge.client.explained();
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

    /// Prints the number and cost of the questions, and writes the answers if requested.
    pub(crate) fn finish(&self, judge: &OpenJudge, printer: &mut Printer) -> Result<(), Stop> {
        let tally = judge.client.tally();
        if let Some(path) = &self.export_answers {
            let failed = |error: io::Error| Failure::write(path, &error);
            let mut file = fs::File::create(path).map(io::BufWriter::new).map_err(failed)?;
            Cache::export(&judge.client.answers(), &mut file).map_err(failed)?;
            file.flush().map_err(failed)?;
        }
        if printer.verbosity == Verbosity::Quiet || tally == Tally::default() {
            return Ok(());
        }
        let mut words = vec![
            format!("{} asked", human::things(tally.asked, "question")),
            format!("{} cached", tally.kept),
        ];
        for (count, what) in [
            (tally.retried, "retried"),
            (tally.unanswered, "unanswered"),
            (tally.over_budget, "over budget"),
        ] {
            if count > 0 {
                words.push(format!("{count} {what}"));
            }
        }
        let tokens = human::things(tally.tokens, "token");
        words.push(match tally.estimated {
            0 => tokens.into(),
            n => format!("about {tokens} ({} estimated)", human::things(n, "attempt")),
        });
        if let Some(micro) = tally.micro_usd {
            words.push(format!("${:.4}", micro as f64 / 1e6));
        }
        let words = printer.redact(format!("judge: {}", words.join(", ")));
        printer.notice(&Line::of(style::DIM, words))?;
        if tally.not_kept > 0 {
            let answers = human::things(tally.not_kept, "answer");
            let words = printable!("{} could not be cached: the cache cannot be written", answers);
            printer.notice(&Line::of(style::WARN, words))?;
        }
        Ok(())
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

/// Summary of the questions and costs so far.
fn so_far(tally: &Tally) -> String {
    let questions = human::things(tally.asked, "question");
    match tally.micro_usd {
        Some(micro) => format!("{questions}, ${:.2}", micro as f64 / 1e6),
        None => format!("{questions}, {}", human::things(tally.tokens, "token")),
    }
}

/// Fails if a judge runs a program. A spec may be from an untrusted author: with `--no-programs`,
/// programs of its judge must not run either.
fn refuse_programs(settings: &Settings) -> Result<(), Failure> {
    let runs =
        |model: &Model| model.kind == Kind::Command || matches!(model.key, KeySource::Command(_));
    let all = settings.default_model.iter().chain(settings.models.values());
    match all.into_iter().find(|model| runs(model)) {
        None => Ok(()),
        Some(model) => {
            let message =
                format!("the judge {} runs a program, which --no-programs forbids", model.name);
            Err(Failure::usage(message))
        }
    }
}

/// Returns the check that rejects judges whose agreement with human labels is below the floor or
/// was never measured.
fn trust(settings: &Settings) -> Result<Option<toolmark_judge::Objection>, Failure> {
    let (Some(floor), Some(path)) = (settings.floor, &settings.calibration) else {
        return Ok(None);
    };
    let calibrations: Vec<Calibration> = calibration::read_file(path).map_err(|error| {
        let failure = match error {
            calibration::FileError::Read(error) => Failure::from(error),
            error => Failure::usage(error.to_string()),
        };
        failure.hint("`toolmark judge calibrate LABELS --output FILE` writes one")
    })?;
    Ok(Some(Box::new(move |model, question| {
        let digest = calibration::rubric_digest(&question.rubric);
        let setup = Setup::of(model);
        match calibration::find(&calibrations, &setup, &digest, question.threshold) {
            Ok(measured) => measured.below(&floor),
            Err(why) => Some(why),
        }
    })))
}
