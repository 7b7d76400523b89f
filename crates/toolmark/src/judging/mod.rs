//! Who is asked what no rule can decide: the options that `grade`, `check` and
//! `judge calibrate` share, and the `judge:` part of a file.

pub(crate) mod config;
mod findings;

pub(crate) use findings::ByRules;

use crate::Stop;
use crate::exit::Failure;
use crate::human;
use crate::printer::{Line, Printer, Verbosity, style};
use clap::Args;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_grade::UsualJudge;
use toolmark_judge::calibration::{self, Calibration};
use toolmark_judge::config::{KeySource, Kind, Model, Settings};
use toolmark_judge::{Cache, JudgeClient, Mode, providers};
use toolmark_redact::redact;

/// Who judges, and where answers come from.
#[derive(Debug, Args)]
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
    /// Write the answers that were used to this file (see `toolmark judge cache import`)
    #[arg(long, value_name = "FILE")]
    export_answers: Option<PathBuf>,
}

/// A judge that can be asked, and what is known about it.
pub(crate) struct OpenJudge {
    pub(crate) client: Arc<JudgeClient>,
    /// The model that is asked where no other is named.
    pub(crate) usual: Option<Model>,
    /// How many questions are asked at once.
    pub(crate) concurrency: usize,
}

/// What a judge is wanted for.
pub(crate) struct JudgeRequest<'a> {
    /// The file whose own judge part counts where no other is named.
    pub(crate) part_of: Option<&'a Path>,
    /// What that file says about judges apart from it.
    pub(crate) usual: &'a UsualJudge,
    /// May programs be run?
    pub(crate) may_run: bool,
    /// Does something hang on the answers, so that the floor counts?
    pub(crate) gates: bool,
}

impl JudgeArgs {
    /// Is any of the options given?
    pub(crate) fn is_given(&self) -> bool {
        self.judge_model.is_some()
            || self.judge_config.is_some()
            || self.judge_cache.is_some()
            || self.export_answers.is_some()
            || self.refresh
            || self.offline
    }

    /// The judge that is configured, or what to do about there being none.
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

    /// The judge that is configured; `None` where none is.
    pub(crate) fn open(
        &self,
        request: &JudgeRequest<'_>,
        printer: &mut Printer,
    ) -> Result<Option<OpenJudge>, Stop> {
        let JudgeRequest { part_of, usual, may_run, gates } = *request;
        let mut settings = config::open(self.judge_config.as_deref(), part_of, printer)?;
        // A command line beats a spec, and a spec beats what is usual here.
        if let Some(word) = self.judge_model.as_ref().or(usual.model.as_ref()) {
            let model = settings.model(word).map_err(|error| {
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
            (true, _) => Mode::Offline,
            (_, true) => Mode::Refresh,
            _ => Mode::CacheFirst,
        };
        let (usual, concurrency) = (settings.default_model.clone(), settings.concurrency);
        let trust = if gates { trust(&settings)? } else { None };
        let mut client = JudgeClient::new(settings, providers::connect, redact).mode(mode);
        if let Some(trust) = trust {
            client = client.with_objection(trust);
        }
        Ok(Some(OpenJudge { client: Arc::new(client), usual, concurrency }))
    }

    /// Says what was asked, and writes the answers where they are wanted.
    pub(crate) fn finish(&self, judge: &OpenJudge, printer: &mut Printer) -> Result<(), Stop> {
        let tally = judge.client.tally();
        if let Some(path) = &self.export_answers {
            let failed = |error: io::Error| Failure::write(path, &error);
            let mut file = fs::File::create(path).map(io::BufWriter::new).map_err(failed)?;
            Cache::export(&judge.client.answers(), &mut file).map_err(failed)?;
            file.flush().map_err(failed)?;
        }
        if printer.verbosity == Verbosity::Quiet || tally == toolmark_judge::Tally::default() {
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
        words.push(human::things(tally.tokens, "token"));
        if let Some(micro) = tally.micro_usd {
            words.push(format!("${:.4}", micro as f64 / 1e6));
        }
        printer.notice(&Line::of(style::DIM, &format!("judge: {}", words.join(", "))))?;
        if tally.not_kept > 0 {
            let answers = human::things(tally.not_kept, "answer");
            let words = format!("{answers} could not be cached: the cache cannot be written");
            printer.notice(&Line::of(style::WARN, &words))?;
        }
        Ok(())
    }
}

/// A spec may be a stranger's: where its programs must not run, neither may
/// those of its judge.
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

/// Who may not be asked about what: judges whose agreement with people is below
/// the floor, or was never measured.
fn trust(settings: &Settings) -> Result<Option<toolmark_judge::Objection>, Failure> {
    let (Some(floor), Some(path)) = (settings.floor, &settings.calibration) else {
        return Ok(None);
    };
    let calibrations: Vec<Calibration> = calibration::read_file(path).map_err(|error| {
        Failure::usage(error.to_string())
            .hint("`toolmark judge calibrate LABELS --output FILE` writes one")
    })?;
    Ok(Some(Box::new(move |model, rubric| {
        let digest = calibration::rubric_digest(rubric);
        match calibration::find(&calibrations, &model.name, &digest) {
            Some(measured) => measured.below(&floor),
            None => Some(format!("{} has not been calibrated on this rubric", model.name)),
        }
    })))
}
