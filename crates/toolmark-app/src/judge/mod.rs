//! Judges: the `judge:` section of a file, opening a judge, and what it was asked.

pub mod config;
pub mod explain;
mod findings;
pub mod rubric;
pub mod samples;

pub use findings::ByRules;

use crate::{ActionEvents, Failure, ProgressStatus, Stop, Tone, Verbosity, human};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_grade::UsualJudge;
use toolmark_judge::calibration::{self, Calibration, Setup};
use toolmark_judge::config::{JudgeSettings, KeySource, Model, ProviderKind};
use toolmark_judge::{Cache, JudgeClient, JudgeMode, JudgeTally, providers};
use toolmark_redact::{printable, redact_named};

/// Options for a judge and its cached answers.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// Default judge model.
    pub model: Option<String>,
    /// File with a `judge:` section.
    pub config: Option<PathBuf>,
    /// Cache of answers.
    pub cache: Option<PathBuf>,
    /// Use of the cache.
    pub mode: JudgeMode,
    /// File for the answers that were used.
    pub export_answers: Option<PathBuf>,
}

/// An open judge and its settings.
pub struct OpenJudge {
    /// The judge.
    pub client: Arc<JudgeClient>,
    /// The default model.
    pub usual: Option<Model>,
    /// Maximum number of concurrent questions.
    pub concurrency: usize,
    /// Progress status with the questions and costs so far.
    pub status: ProgressStatus,
}

/// The purpose of a judge.
pub struct JudgeRequest<'a> {
    /// The file whose judge section applies if no other is named.
    pub part_of: Option<&'a Path>,
    /// Judge defaults in that file outside the section.
    pub usual: &'a UsualJudge,
    /// Whether programs may be run.
    pub may_run: bool,
    /// Whether the answers affect a result, so that the floor applies.
    pub gates: bool,
}

impl JudgeOptions {
    /// Opens the configured judge; fails with a hint if there is none.
    pub fn open_some(
        &self,
        request: &JudgeRequest<'_>,
        events: &mut dyn ActionEvents,
    ) -> Result<OpenJudge, Stop> {
        self.open(request, events)?.ok_or_else(|| {
            let failure = Failure::usage("no judge is configured");
            failure.hint("set --judge-model, or `judge:` in toolmark.yaml").into()
        })
    }

    /// Opens the configured judge; `None` if there is none.
    pub fn open(
        &self,
        request: &JudgeRequest<'_>,
        events: &mut dyn ActionEvents,
    ) -> Result<Option<OpenJudge>, Stop> {
        let JudgeRequest { part_of, usual, may_run, gates } = *request;
        let mut settings = config::open(self.config.as_deref(), part_of, events)?;
        // A command line beats a spec, and a spec beats what is usual here.
        if let Some(word) = self.model.as_ref().or(usual.model.as_ref()) {
            let found = match &self.model {
                Some(word) => settings.model_on_command_line(word),
                None => settings.model(word),
            };
            let model = found.map_err(|error| {
                let option = if self.model.is_some() { "--judge-model: " } else { "" };
                Failure::usage(format!("{option}{error}"))
            });
            match model {
                Ok(model) => settings.default_model = Some(model),
                // A spec may name a model that nothing here knows how to reach.
                Err(_) if self.model.is_none() && settings.default_model.is_none() => {}
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
        if let Some(directory) = &self.cache {
            settings.cache = Some(directory.clone());
        }
        let (usual, concurrency) = (settings.default_model.clone(), settings.concurrency);
        let status = ProgressStatus::default();
        let trust = if gates { trust(&settings)? } else { None };
        let mut client =
            JudgeClient::new(settings, providers::connect, redact_named).mode(self.mode);
        if let Some(trust) = trust {
            client = client.with_objection(trust);
        }
        let watched = status.clone();
        client = client.with_watcher(Box::new(move |tally| {
            watched.show(&so_far(tally), tally.asked + tally.kept + tally.unanswered);
        }));
        Ok(Some(OpenJudge { client: Arc::new(client), usual, concurrency, status }))
    }

    /// Reports what the judge was asked, unless its questions are only explained; returns whether
    /// they are.
    ///
    /// # Errors
    ///
    /// If the answers cannot be written.
    pub fn ends_with_questions(
        &self,
        judge: &OpenJudge,
        events: &mut dyn ActionEvents,
    ) -> Result<bool, Stop> {
        if self.mode == JudgeMode::Explain {
            return Ok(true);
        }
        self.finish(judge, events)?;
        Ok(false)
    }

    /// Reports the number and cost of the questions, and writes the answers if requested.
    pub fn finish(&self, judge: &OpenJudge, events: &mut dyn ActionEvents) -> Result<(), Stop> {
        let tally = judge.client.tally();
        if let Some(path) = &self.export_answers {
            let failed = |error: io::Error| Failure::write(path, &error);
            let mut file = fs::File::create(path).map(io::BufWriter::new).map_err(failed)?;
            Cache::export(&judge.client.answers(), &mut file).map_err(failed)?;
            file.flush().map_err(failed)?;
        }
        if events.verbosity() == Verbosity::Quiet || tally == JudgeTally::default() {
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
        let words = events.redactor().apply(format!("judge: {}", words.join(", ")));
        events.note(Tone::Note, words)?;
        if tally.not_kept > 0 {
            let answers = human::things(tally.not_kept, "answer");
            let words = printable!("{} could not be cached: the cache cannot be written", answers);
            events.note(Tone::Warning, words)?;
        }
        Ok(())
    }
}

/// Summary of the questions and costs so far.
fn so_far(tally: &JudgeTally) -> String {
    let questions = human::things(tally.asked, "question");
    match tally.micro_usd {
        Some(micro) => format!("{questions}, ${:.2}", micro as f64 / 1e6),
        None => format!("{questions}, {}", human::things(tally.tokens, "token")),
    }
}

/// Fails if a judge runs a program. A spec may be from an untrusted author: with `--no-programs`,
/// programs of its judge must not run either.
fn refuse_programs(settings: &JudgeSettings) -> Result<(), Failure> {
    let runs = |model: &Model| {
        model.kind == ProviderKind::Command || matches!(model.key, KeySource::Command(_))
    };
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
fn trust(settings: &JudgeSettings) -> Result<Option<toolmark_judge::Objection>, Failure> {
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
            Err(why) => Some(why.to_string()),
        }
    })))
}
