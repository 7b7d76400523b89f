//! `toolmark runs`: lists the stored runs.

use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Line, Printer, style};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::run::stored::{LAST, find};
use toolmark_base::ReadFileError;
use toolmark_redact::{Printable, printable};
use toolmark_run::store::{RUNS, Store};

const EXAMPLES: &str = "\
Examples:
  toolmark runs                      the runs of this directory, the newest last
  toolmark runs 20261117T2030        one run: its trials, attempts and files
  toolmark grade DIR                 grade a run again, without running anything";

/// List the runs of `toolmark run`, or show one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Runs {
    /// A run: its directory, or a prefix of its name; `last` for the newest
    #[arg(value_name = "RUN")]
    run: Option<PathBuf>,
    /// Directory of the runs
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    dir: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
}

impl Runs {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match &self.run {
            None => self.list(printer),
            Some(named) => match find(named, &self.dir)? {
                Some(store) => self.show(&store, printer),
                None if named.as_os_str() == LAST => Err(nothing(&self.dir).into()),
                None => {
                    let message = format!("there is no run {}", named.display());
                    Err(Failure::usage(message).hint("`toolmark runs` lists them").into())
                }
            },
        }
    }

    fn list(&self, printer: &mut Printer) -> Result<Exit, Stop> {
        let all = Store::list(&self.dir);
        if self.format == TextFormat::Json {
            let rows: Vec<Value> = all.iter().map(row).collect();
            printer.json(&rows)?;
            return Ok(Exit::Ok);
        }
        if all.is_empty() {
            return Err(nothing(&self.dir).into());
        }
        for store in &all {
            let summary = store.summary();
            let count = |key: &str| {
                summary.as_ref().and_then(|all| all.pointer(&format!("/summary/{key}"))?.as_u64())
            };
            let (verdict, tone) = match summary.as_ref().and_then(verdict_of) {
                Some("pass") => ("pass", style::GOOD),
                Some("fail") => ("fail", style::BAD),
                Some(_) => ("unknown", style::WARN),
                None => ("unfinished", style::WARN),
            };
            let id = printer.redact(store.id());
            let mut line = Line::of(style::STRONG, id);
            line.pad(26);
            line.push(tone, verdict);
            line.pad(38);
            if let (Some(passed), Some(outcomes)) = (count("passed"), count("outcomes")) {
                line.push(style::PLAIN, printable!("{} of {} passed", passed, outcomes));
            }
            line.pad(60);
            let spec = store.info().map(|info| info.spec.to_string_lossy().into_owned());
            let spec = printer.redact(spec.unwrap_or_default());
            line.push(style::DIM, spec);
            printer.line(&line)?;
        }
        Ok(Exit::Ok)
    }

    fn show(&self, store: &Store, printer: &mut Printer) -> Result<Exit, Stop> {
        let records = store.records();
        if self.format == TextFormat::Json {
            let trials: Vec<Value> = records.iter().map(|record| record.line()).collect();
            let mut value = row(store);
            value["trials"] = json!(trials);
            printer.json(&value)?;
            return Ok(Exit::Ok);
        }
        let info = store.info().map_err(|error| ReadFileError::io(store.root(), error))?;
        let field = |name: &'static str, words: String, printer: &mut Printer| {
            let words = printer.redact(words);
            let line = Line::of(style::DIM, printable!("{:<10}", name));
            printer.line(&line.with(style::PLAIN, words))
        };
        let id = printer.redact(store.id());
        printer.line(&Line::of(style::STRONG, id))?;
        field("spec", info.spec.to_string_lossy().into_owned(), printer)?;
        field("started", info.started.clone(), printer)?;
        for target in &info.targets {
            let model = target.model.as_deref().unwrap_or_default();
            let words =
                [target.name.as_str(), target.runner.as_str(), target.version.as_str(), model];
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            field("target", words.join("  "), printer)?;
        }
        field("directory", store.root().to_string_lossy().into_owned(), printer)?;
        printer.line(&Line::new())?;
        for record in &records {
            let tone = match record.verdict() {
                "pass" => style::GOOD,
                "fail" => style::BAD,
                _ => style::WARN,
            };
            let verdict = printer.redact(record.verdict());
            let mut line = Line::of(tone, verdict);
            line.pad(9);
            let name = format!("{} [{}] {}", record.case, record.target, record.trial + 1);
            line.push(style::PLAIN, printer.redact(name));
            let mut parts = vec![human::things(record.used.calls, "call")];
            parts.extend(record.used.tokens.map(|n| printable!("{} tokens", human::count(n))));
            parts.extend(record.used.usd.map(human::usd));
            let seconds = record.duration_ms as f64 / 1000.0;
            parts.push(printable!("{:.1} s", seconds));
            line.push(style::DIM, printable!("  {}", Printable::join(&parts, ", ")));
            printer.line(&line)?;
            if record.verdict() != "pass" {
                let reason = record.outcome.get("reason").and_then(Value::as_str);
                let reason = printer.redact(reason.unwrap_or_default());
                printer.line(&Line::of(style::PLAIN, printable!("         {}", reason)))?;
            }
            if record.attempts.len() > 1 {
                for attempt in &record.attempts {
                    let why = attempt.why.as_deref().unwrap_or_default();
                    let words = format!("attempt {}: {} {why}", attempt.number, attempt.ended);
                    let words = printer.redact(words);
                    printer.line(&Line::of(style::DIM, printable!("         {}", words)))?;
                }
            }
            if let Some(workspace) = &record.workspace {
                let path = printer.redact(workspace.to_string_lossy());
                printer.line(&Line::of(style::DIM, printable!("         workspace {}", path)))?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn nothing(dir: &Path) -> Failure {
    Failure::unread(format!("no runs in {}", dir.display()))
        .hint("`toolmark run SPEC` makes one; `toolmark init --run` writes an example")
}

fn verdict_of(summary: &Value) -> Option<&str> {
    summary.pointer("/summary/verdict")?.as_str()
}

/// A run in the JSON output.
fn row(store: &Store) -> Value {
    let info = store.info().ok();
    json!({
        "id": store.id(),
        "directory": store.root(),
        "run": info,
        "summary": store.summary(),
    })
}
