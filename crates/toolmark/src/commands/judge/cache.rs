//! `toolmark judge cache`: exports and imports cached answers, so that they can be shared with the
//! results.

use crate::commands::help::HelpBelow;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::{Args, Subcommand};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::inputs::open_lines;
use toolmark_app::judge::config;
use toolmark_base::ReadFileError;
use toolmark_judge::Cache as Answers;

const EXAMPLES: &str = "\
Examples:
  toolmark judge cache                       cached answers by model
  toolmark judge cache export answers.jsonl  all answers as JSON lines
  toolmark judge cache import answers.jsonl  import them, on another machine";

/// List, export, import or delete cached answers
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cache {
    /// Cache of answers [default: that of the `judge:` section, or .toolmark/judge]
    #[arg(long = "judge-cache", value_name = "DIR", global = true)]
    directory: Option<PathBuf>,
    /// File with a `judge:` section [default: toolmark.yaml]
    #[arg(long, value_name = "FILE", global = true)]
    judge_config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<CacheCommand>,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Write all answers to a file or stdout
    Export {
        /// File, or - for stdout
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Import answers from a file
    Import {
        /// File, or - for stdin
        file: PathBuf,
    },
    /// Delete all answers
    Clear,
    Help(HelpBelow),
}

impl Cache {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let place = match &self.directory {
            Some(directory) => directory.clone(),
            None => {
                let settings = config::open(self.judge_config.as_deref(), None, printer)?;
                settings.cache.ok_or_else(|| {
                    Failure::usage("the cache is disabled: `cache: false` in the `judge:` section")
                        .hint("--judge-cache names a directory")
                })?
            }
        };
        let answers = Answers::new(&place);
        let directory = place.display();
        let refused = |error: io::Error| {
            Stop::from(Failure::unread(format!("failed to read {directory}")).because(&error))
        };
        match self.command {
            None => list(&answers, printer)?,
            Some(CacheCommand::Help(help)) => return help.run(&["judge", "cache"], printer),
            Some(CacheCommand::Export { file }) => {
                let all = answers.all().map_err(refused)?;
                if all.is_empty() {
                    return Err(Failure::unread(format!("no answers in {directory}")).into());
                }
                export(&all, &file, printer)?;
                say(printer, &format!("{} written", human::things(all.len() as u64, "answer")))?;
            }
            Some(CacheCommand::Import { file }) => {
                let count = match file.as_os_str() == "-" {
                    true => answers.import(&mut io::stdin().lock()),
                    false => answers.import(&mut open_lines(&file)?),
                };
                let count = count.map_err(|error| ReadFileError::io(&file, error))?;
                let words =
                    format!("{} imported into {directory}", human::things(count as u64, "answer"));
                say(printer, &words)?;
            }
            Some(CacheCommand::Clear) => {
                let count = answers.clear().map_err(refused)?;
                say(printer, &format!("{} deleted", human::things(count as u64, "answer")))?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn list(answers: &Answers, printer: &mut Printer) -> Result<(), Stop> {
    let directory = answers.directory().display();
    let all = answers
        .all()
        .map_err(|error| Failure::unread(format!("failed to read {directory}")).because(&error))?;
    let mut by_model = std::collections::BTreeMap::<(String, String), (u64, u64)>::new();
    for kept in &all {
        let rubric = kept.rubric.clone().unwrap_or_else(|| "-".to_owned());
        let entry = by_model.entry((kept.model.clone(), rubric)).or_default();
        entry.0 += 1;
        entry.1 += kept.spent.input_tokens + kept.spent.output_tokens;
    }
    for ((model, rubric), (count, tokens)) in by_model {
        let words = format!(
            "{model}  {rubric}  {}, {}",
            human::things(count, "answer"),
            human::things(tokens, "token")
        );
        printer.line(&StyledLine::of(style::PLAIN, printer.redact(words)))?;
    }
    let total = human::things(all.len() as u64, "answer");
    say(printer, &format!("{total} in {directory}"))?;
    Ok(())
}

fn export(
    all: &[toolmark_judge::CachedAnswer],
    file: &Path,
    printer: &mut Printer,
) -> Result<(), Stop> {
    if file.as_os_str() == "-" {
        let mut out = printer.sink()?;
        Answers::export(all, &mut out)?;
        out.flush()?;
        return Ok(());
    }
    let failed = |error: io::Error| Failure::write(file, &error);
    let mut out = File::create(file).map(BufWriter::new).map_err(failed)?;
    Answers::export(all, &mut out).map_err(failed)?;
    out.flush().map_err(failed)?;
    Ok(())
}

fn say(printer: &mut Printer, words: &str) -> Result<(), Stop> {
    if printer.verbosity > Verbosity::Quiet {
        printer.notice(&StyledLine::of(style::DIM, printer.redact(words)))?;
    }
    Ok(())
}
