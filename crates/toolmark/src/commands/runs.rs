//! `toolmark runs`: lists the stored runs.

use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::run::list;
use toolmark_app::run::stored::{LAST, find};
use toolmark_run::store::{RUNS, RunStore};

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
        let all = RunStore::list(&self.dir);
        if self.format == TextFormat::Json {
            let rows: Vec<Value> = all.iter().map(list::row).collect();
            printer.json(&rows)?;
            return Ok(Exit::Ok);
        }
        if all.is_empty() {
            return Err(nothing(&self.dir).into());
        }
        for store in &all {
            printer.line(&list::line(store, printer.redactor))?;
        }
        Ok(Exit::Ok)
    }

    fn show(&self, store: &RunStore, printer: &mut Printer) -> Result<Exit, Stop> {
        let records = store.records();
        if self.format == TextFormat::Json {
            let trials: Vec<Value> = records.iter().map(|record| record.line()).collect();
            let mut value = list::row(store);
            value["trials"] = json!(trials);
            printer.json(&value)?;
            return Ok(Exit::Ok);
        }
        for line in list::lines(store, printer.redactor)? {
            printer.line(&line)?;
        }
        Ok(Exit::Ok)
    }
}

fn nothing(dir: &Path) -> Failure {
    Failure::unread(format!("no runs in {}", dir.display()))
        .hint("`toolmark run SPEC` makes one; `toolmark init --run` writes an example")
}
