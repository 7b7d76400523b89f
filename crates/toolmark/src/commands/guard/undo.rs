//! `toolmark guard undo`: puts back what a call deleted or overwrote.

use crate::Stop;
use crate::args::TextFormat;
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, style};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolmark_app::guard::undo::{UndoChoice, difference, open_store, summary, words};
use toolmark_guard::kept::{ItemKind, KeptEntry, KeptStore, Outcome, Restored, Restoring};
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark guard undo                          what is kept, the newest first
  toolmark guard undo --last                   put back what the last call destroyed
  toolmark guard undo 20261119T0803 src/a.rs   one file of an entry, by the start of its ID
  toolmark guard undo --last --diff            what is different now, without changing anything

Exit codes:
  0  everything is as it was, or the entries are listed
  1  a file was changed since: the kept one is beside it, under another name
  2  the command line is invalid
  3  something could not be put back";

/// Put back what a call deleted or overwrote
///
/// Before a call that destroys files of the work tree, the guard keeps a copy of them.
/// Without an argument, the entries are listed. A file that was changed since the call
/// is not replaced: the kept one is written beside it. What is replaced is kept first,
/// so that undoing can be undone too.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Undo {
    /// Start of the ID of an entry
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Only these files and directories of the entry
    #[arg(value_name = "PATH", requires = "id")]
    paths: Vec<PathBuf>,
    /// The newest entry of this directory
    #[arg(long, conflicts_with = "id")]
    last: bool,
    /// Everything that this session destroyed, the newest call first
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["id", "last"])]
    session: Option<String>,
    /// List the entries, which is the default
    #[arg(long, conflicts_with_all = ["last", "session", "diff"])]
    list: bool,
    /// Show what is different now, and change nothing
    #[arg(long)]
    diff: bool,
    /// Also replace files that were changed since the call
    #[arg(long, conflicts_with = "diff")]
    replace: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: TextFormat,
}

impl Undo {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let store = open_store()?;
        let chosen = self.chosen(&store)?;
        let Some(chosen) = chosen else { return self.list(&store, printer) };
        if self.diff {
            return self.show(&store, &chosen, printer);
        }
        let only = self.absolute_paths()?;
        let mut rows = Vec::new();
        for entry in &chosen {
            let restoring = Restoring { store: &store, entry, only: &only, replaces: self.replace };
            let restored = restoring.run().map_err(|error| {
                let words = "failed to keep the present state; nothing was changed".to_owned();
                Failure::unread(words).because(&error)
            })?;
            if restored.is_empty() {
                let words = format!("the entry {} has none of these paths", entry.id);
                return Err(Failure::usage(words).hint("`--diff` lists its paths").into());
            }
            rows.extend(restored);
        }
        self.report(&rows, printer)?;
        let is = |test: fn(&Outcome) -> bool| rows.iter().any(|row| test(&row.outcome));
        Ok(match () {
            () if is(|outcome| matches!(outcome, Outcome::Failed(_))) => Exit::Unread,
            () if is(|outcome| matches!(outcome, Outcome::Beside(_))) => Exit::Failed,
            () => Exit::Ok,
        })
    }

    /// Returns the entries to restore, the newest first; `None` to list them.
    fn chosen(&self, store: &KeptStore) -> Result<Option<Vec<KeptEntry>>, Stop> {
        let choice = match (&self.session, &self.id) {
            (Some(session), _) => UndoChoice::Session(session),
            (None, Some(id)) => UndoChoice::Id(id),
            (None, None) if self.last => UndoChoice::LastIn(std::env::current_dir()?),
            (None, None) if self.diff => {
                let failure = Failure::usage("--diff needs an entry");
                return Err(failure.hint("add --last or an ID").into());
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(choice.entries(store)?))
    }

    fn absolute_paths(&self) -> Result<Vec<PathBuf>, Stop> {
        self.paths.iter().map(|path| Ok(std::path::absolute(path)?)).collect()
    }

    fn list(&self, store: &KeptStore, printer: &mut Printer) -> Result<Exit, Stop> {
        let entries = store.entries();
        if self.format == TextFormat::Json {
            let rows: Vec<Value> = entries.iter().map(summary).collect();
            return json_out(printer, &json!({"schema_version": 1, "entries": rows}));
        }
        if entries.is_empty() {
            let place = printer.redact(store.root().display().to_string());
            printer
                .line(&StyledLine::of(style::DIM, printable!("nothing is kept in {}", place)))?;
        }
        for entry in &entries {
            let files = entry.contents();
            let call = entry.command.clone().unwrap_or_else(|| entry.tool.clone());
            let call = call.lines().next().unwrap_or_default().to_owned();
            let what = printer.redact(format!("{files}, {} bytes  ", entry.bytes));
            let line = StyledLine::of(style::STRONG, printer.redact(entry.id.clone()));
            let line = line.with(style::DIM, printable!("  {}", what));
            printer.line(&line.with(style::PLAIN, printer.redact(call)))?;
        }
        Ok(Exit::Ok)
    }

    /// Shows the differences between the kept files and those there now.
    fn show(
        &self,
        store: &KeptStore,
        entries: &[KeptEntry],
        printer: &mut Printer,
    ) -> Result<Exit, Stop> {
        let only = self.absolute_paths()?;
        let mut rows = Vec::new();
        for entry in entries {
            let items = entry.items.iter().filter(|item| item.kind != ItemKind::Directory);
            for item in items {
                if only.is_empty() || only.iter().any(|only| item.path.starts_with(only)) {
                    rows.push((item, difference(store, entry, item)));
                }
            }
        }
        if self.format == TextFormat::Json {
            let rows: Vec<Value> = rows
                .iter()
                .map(|(item, (state, diff))| {
                    json!({"path": text(printer, &item.path), "state": state,
                        "diff": diff.clone().map(|diff| printer.redact(diff).to_string())})
                })
                .collect();
            return json_out(printer, &json!({"schema_version": 1, "paths": rows}));
        }
        for (item, (state, diff)) in rows {
            let path = printer.redact(item.path.display().to_string());
            printer.line(
                &StyledLine::of(style::STRONG, path).with(style::DIM, printable!("  {}", state)),
            )?;
            for line in diff.unwrap_or_default().lines() {
                let tone = match line.as_bytes().first() {
                    Some(b'+') => style::GOOD,
                    Some(b'-') => style::BAD,
                    _ => style::DIM,
                };
                printer.line(&StyledLine::of(tone, printer.redact(line.to_owned())))?;
            }
        }
        Ok(Exit::Ok)
    }

    fn report(&self, rows: &[Restored], printer: &mut Printer) -> Result<(), Stop> {
        if self.format == TextFormat::Json {
            let rows: Vec<Value> = rows
                .iter()
                .map(|row| {
                    let (word, detail) = words(&row.outcome);
                    json!({"path": text(printer, &row.path), "outcome": word,
                        "detail": detail.map(|detail| printer.redact(detail).to_string())})
                })
                .collect();
            json_out(printer, &json!({"schema_version": 1, "paths": rows}))?;
            return Ok(());
        }
        for row in rows.iter().filter(|row| row.outcome != Outcome::Unchanged) {
            let tone = match row.outcome {
                Outcome::Restored | Outcome::Unchanged => style::GOOD,
                Outcome::Beside(_) => style::WARN,
                Outcome::Failed(_) => style::BAD,
            };
            let (word, detail) = words(&row.outcome);
            let path = printer.redact(row.path.display().to_string());
            let line = StyledLine::of(tone, printable!("{}", word))
                .with(style::PLAIN, printable!("  {}", path));
            let detail = detail.map(|detail| printer.redact(format!("  {detail}")));
            printer.line(&match detail {
                Some(detail) => line.with(style::DIM, detail),
                None => line,
            })?;
        }
        let is_done = rows.iter().all(|row| row.outcome == Outcome::Unchanged);
        if is_done {
            printer.line(&StyledLine::of(style::GOOD, printable!("everything is as it was")))?;
        }
        Ok(())
    }
}

fn text(printer: &Printer, path: &Path) -> String {
    printer.redact(path.display().to_string()).to_string()
}

fn json_out(printer: &mut Printer, value: &Value) -> Result<Exit, Stop> {
    printer.json(value)?;
    Ok(Exit::Ok)
}
