//! The inputs of a comparison: report files, directories of reports and run directories.

use crate::Failure;
use crate::run::stored;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use toolmark_base::{ReadFileError, read_file};
use toolmark_compare::{ComparedRun, Comparison, FailOn, Grouping, ReportReadError};
use toolmark_outcome::{Printable, Redactor, RunResult, printable};
use toolmark_run::store::{RUNS, RunStore, VERSION};

/// Hint of an empty report.
const WRITE_REPORT: &str =
    "`toolmark grade` and `toolmark check` write reports with --report json=FILE";

/// Maximum size of a report.
const MAX_BYTES: u64 = 2 << 30;

/// Reads a run: a report, a directory of reports, a run directory, or a run by ID.
pub fn read(named: &Path, redactor: Redactor) -> Result<ComparedRun, Failure> {
    if named == Path::new("-") {
        let text = io::read_to_string(io::stdin().lock().take(MAX_BYTES));
        let text = text.map_err(|error| ReadFileError::io(named, error))?;
        return parse(named, &text, redactor);
    }
    let path = locate(named)?;
    if !path.is_dir() {
        return read_file(&path, redactor);
    }
    let mut run = match RunStore::open(&path) {
        Some(store) => read_run(&store, redactor)?,
        None => read_directory(&path, redactor)?,
    };
    run.name = name(named, redactor);
    Ok(run)
}

/// Compares the targets of one run.
///
/// # Errors
///
/// If the user wants something else than the targets side by side, or there are not several.
pub fn targets(
    named: &Path,
    is_by_target: bool,
    asks_gates: bool,
    redactor: Redactor,
) -> Result<Comparison, Failure> {
    if !is_by_target {
        let hint = "`toolmark compare RUN --by target` compares the targets of one run";
        return Err(Failure::usage("the second run is missing").hint(hint));
    }
    if asks_gates {
        let message = "--fail-on needs two runs: of one run the targets are only shown";
        return Err(Failure::usage(message));
    }
    let message = || format!("{} has not several targets", named.display());
    Comparison::of_targets(&read(named, redactor)?).ok_or_else(|| Failure::usage(message()))
}

/// Reads a graded run as the baseline of another one.
pub fn read_baseline(named: &Path, redactor: Redactor) -> Result<ComparedRun, Failure> {
    let run = read(named, redactor)?;
    if run.is_graded() {
        return Ok(run);
    }
    let message = format!("--baseline {} was not graded", named.display());
    Err(Failure::usage(message).hint("`toolmark grade --report json=FILE` writes a baseline"))
}

/// Returns the changes since the baseline, and whether there is a regression.
pub fn with_baseline(
    before: &ComparedRun,
    result: &RunResult<Printable>,
) -> Result<Comparison, Failure> {
    let after = ComparedRun::of("this run".into(), result);
    let comparison = Comparison::new(before, &after, Grouping::Case)
        .map_err(|error| Failure::usage("the runs cannot be compared").because(&error))?;
    Ok(comparison.with_gates(&[FailOn::Baseline]))
}

/// Resolves a path; a path that does not exist may be the ID of a run.
fn locate(named: &Path) -> Result<PathBuf, Failure> {
    if named.exists() {
        return Ok(named.to_owned());
    }
    let run = stored::find(named, Path::new(RUNS))?;
    Ok(run.map_or_else(|| named.to_owned(), |store| store.root().to_owned()))
}

/// Reads the trials of a run in the order in which they finished, so that a stopped run can be
/// compared too.
fn read_run(store: &RunStore, redactor: Redactor) -> Result<ComparedRun, Failure> {
    let root = store.root();
    let info = store.info().map_err(|error| ReadFileError::io(root, error))?;
    if info.version != VERSION {
        let message = format!("version {} of the files of a run, this is {VERSION}", info.version);
        let hint = "update toolmark, or run it again with this version";
        return Err(not_valid(root).causes([message]).hint(hint));
    }
    let lines: Vec<String> =
        store.records().iter().map(|record| record.line().to_string()).collect();
    if lines.is_empty() {
        let message = format!("{} holds no finished trial", root.display());
        return Err(Failure::usage(message).hint("`toolmark run --resume` finishes a run"));
    }
    let mut run = parse(root, &lines.join("\n"), redactor)?;
    if let Some(summary) = store.summary() {
        run.take_summary(&summary.to_string(), redactor).map_err(|error| invalid(root, &error))?;
    }
    Ok(run)
}

/// Reads all reports of a directory in the order of their names. Other files are ignored.
fn read_directory(directory: &Path, redactor: Redactor) -> Result<ComparedRun, Failure> {
    let failed = |error| ReadFileError::io(directory, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_json = path.extension().is_some_and(|e| e == "json" || e == "jsonl");
        if is_json && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let mut runs = files.iter().map(|file| read_file(file, redactor));
    let Some(first) = runs.next() else {
        let message = format!("found no report in {}", directory.display());
        let hint = "expected the directory of a run, or files that end in .json or .jsonl";
        return Err(Failure::usage(message).hint(hint));
    };
    let mut all = first?;
    for run in runs {
        all.append(run?);
    }
    Ok(all)
}

fn read_file(path: &Path, redactor: Redactor) -> Result<ComparedRun, Failure> {
    let text = read_file::read_text(path, MAX_BYTES).map_err(|error| {
        let is_empty = error.is_empty();
        let failure = Failure::from(error);
        if is_empty { failure.hint(WRITE_REPORT) } else { failure }
    })?;
    parse(path, &text, redactor)
}

fn parse(path: &Path, text: &str, redactor: Redactor) -> Result<ComparedRun, Failure> {
    ComparedRun::parse(name(path, redactor), text, redactor).map_err(|error| invalid(path, &error))
}

fn invalid(path: &Path, error: &ReportReadError) -> Failure {
    not_valid(path).causes([error.to_string()]).hint(error.help)
}

fn name(path: &Path, redactor: Redactor) -> Printable {
    if path == Path::new("-") {
        return "standard input".into();
    }
    printable!("{}", redactor.apply(path.display().to_string()))
}

fn not_valid(path: &Path) -> Failure {
    Failure::usage(format!("{} is not a valid report", path.display()))
}
