//! Options shared by several commands, so that they have the same names, help and defaults
//! everywhere.

use crate::cli::ReadingArgs;
use crate::exit::Failure;
use crate::printer::Printer;
use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, Args, ValueEnum};
use jiff::{Timestamp, Zoned};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Instant, SystemTime};
use toolmark_app::Stop;
use toolmark_app::grade::stream::{Ordered, StreamTarget};
use toolmark_app::pool::Pool;
use toolmark_app::reading::FileReader;
use toolmark_app::select::{NamedTraces, Selected, SessionFilter, Shard};
use toolmark_app::when::{self, TimeError};
use toolmark_check::CheckRun;
use toolmark_compare::Comparison;
use toolmark_feed::FeedRun;
use toolmark_feed::trend::TrendRun;
use toolmark_outcome::{Printable, RunResult};
use toolmark_report::{
    FORMATS, Report, ReportError, ReportFormat, ReportOptions, ReportStream, RowContent,
};
use toolmark_trace::Format;

/// Options that select and split the input traces.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Trace files, directories, patterns, or - for stdin
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

impl InputArgs {
    /// The traces that the user names.
    pub(crate) fn named(&self) -> NamedTraces {
        let ListArgs { files_from, shard } = &self.list;
        NamedTraces { traces: self.traces.clone(), files_from: files_from.clone(), shard: *shard }
    }

    /// The names given by the user, for messages.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        self.named().names()
    }

    /// Whether only a shard of the files is read. A shard may be empty.
    pub(crate) fn is_part(&self) -> bool {
        self.list.shard.is_some()
    }
}

/// Options for a list of traces, and the shard to read.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Read the names of traces from this file, one per line or NUL-separated; - for stdin
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// Read part I of N of the files
    #[arg(long, value_name = "I/N", value_parser = Shard::from_str)]
    shard: Option<Shard>,
}

/// Options for reading trace files.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Number of files to read at once [default: one per core]
    #[arg(long, short, alias = "threads", value_name = "N", value_parser = at_least_one)]
    pub(crate) jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl FileArgs {
    /// Returns a reader with the requested number of threads.
    pub(crate) fn reader(&self, printer: &Printer) -> FileReader {
        self.reader_with(Pool::new(self.jobs), printer)
    }

    /// The requested format.
    pub(crate) fn format(&self) -> Option<&'static dyn Format> {
        self.reading.format()
    }

    /// Returns a reader with the given threads.
    pub(crate) fn reader_with(&self, pool: Pool, printer: &Printer) -> FileReader {
        self.reading.reader_with(pool, printer)
    }
}

/// Reason why the value of an option is invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueError {
    /// The value has another form.
    #[error("{0}")]
    Syntax(&'static str),
    /// The value is none of these words.
    #[error("the scales are {0}")]
    Scale(String),
    /// The value is outside a range.
    #[error("{0} is a number from {1} to {2}")]
    Range(String, f64, f64),
    /// There is no format, as in this example.
    #[error("write FORMAT=FILE, such as {0}")]
    Report(&'static str),
    /// The format is unknown.
    #[error("unknown report format {0}; the formats are {1}")]
    Format(String, String),
}

/// Parses a number that must be at least one.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, ValueError> {
    text.parse().map_err(|_| ValueError::Syntax("expected a whole number of at least 1"))
}

/// Parses a number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, ValueError> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or(ValueError::Syntax("expected a number from 0 to 1"))
}

/// Options that select sessions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct SessionArgs {
    /// Only sessions modified since: 12h, 7d, yesterday, monday or 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = since, allow_hyphen_values = true)]
    since: Option<SystemTime>,
    /// Only sessions modified until: a time, or the end of a day
    #[arg(long, value_name = "TIME", value_parser = until, allow_hyphen_values = true)]
    until: Option<SystemTime>,
    /// Only sessions whose working directory is this directory or below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// At most this many sessions [default without traces: the newest 50]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<NonZeroUsize>,
}

impl SessionArgs {
    /// Adds the default (the newest sessions) to the help of the traces.
    pub(crate) fn by_default(traces: Arg) -> Arg {
        let help = traces.get_help().map(ToString::to_string).unwrap_or_default();
        traces.help(format!("{help} [default: the newest sessions of this machine]"))
    }

    /// Adds the default (all sessions) to the help of the traces.
    pub(crate) fn all_by_default(traces: Arg) -> Arg {
        let help = traces.get_help().map(ToString::to_string).unwrap_or_default();
        traces.help(format!("{help} [default: all sessions of this machine]"))
    }

    /// Changes the help of the limit: all sessions are read by default.
    pub(crate) fn unlimited(limit: Arg) -> Arg {
        limit.help("At most this many sessions, the newest first [default: all]")
    }

    /// The conditions of the command line.
    pub(crate) fn filter(&self) -> SessionFilter {
        let project = self.project.clone();
        SessionFilter { since: self.since, until: self.until, project, limit: self.limit }
    }

    /// Returns the named traces, or the newest sessions of this machine.
    pub(crate) fn select(&self, input: &InputArgs) -> Result<Selected, Failure> {
        self.filter().select(&input.named())
    }

    /// Returns the named traces, or all sessions of this machine.
    pub(crate) fn select_all(&self, input: &InputArgs) -> Result<Selected, Failure> {
        self.filter().select_at_most(&input.named(), None)
    }
}

/// Parses the start of a period.
fn since(text: &str) -> Result<SystemTime, TimeError> {
    when::parse_start(text, &Zoned::now())
}

/// Parses the end of a period.
fn until(text: &str) -> Result<SystemTime, TimeError> {
    when::parse_end(text, &Zoned::now())
}

/// Text for people, or JSON for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    Text,
    Json,
}

/// Text for people, or JSON for programs: one document, or one row per line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    Text,
    Json,
    Jsonl,
}

/// A result that can be written as a report.
pub(crate) trait Reported: Sized {
    /// Example value for `--report`.
    const EXAMPLE: &str;

    /// Whether a format can represent the result.
    fn fits(format: &ReportFormat) -> bool;

    /// The result as the reports take it.
    fn as_report(&self) -> Report<'_>;

    /// The formats that can represent the result.
    fn formats() -> impl Iterator<Item = &'static ReportFormat> {
        FORMATS.iter().filter(|format| Self::fits(format))
    }
}

impl Reported for RunResult<Printable> {
    const EXAMPLE: &str = "junit=results.xml";

    fn fits(_: &ReportFormat) -> bool {
        true
    }

    fn as_report(&self) -> Report<'_> {
        self.into()
    }
}

impl Reported for CheckRun<Printable> {
    const EXAMPLE: &str = "sarif=check.sarif";

    fn fits(format: &ReportFormat) -> bool {
        format.has_findings
    }

    fn as_report(&self) -> Report<'_> {
        self.into()
    }
}

impl Reported for FeedRun<Printable> {
    const EXAMPLE: &str = "html=feed.html";

    fn fits(format: &ReportFormat) -> bool {
        format.has_issues
    }

    fn as_report(&self) -> Report<'_> {
        self.into()
    }
}

impl Reported for TrendRun<Printable> {
    const EXAMPLE: &str = "html=trend.html";

    fn fits(format: &ReportFormat) -> bool {
        format.has_trends
    }

    fn as_report(&self) -> Report<'_> {
        self.into()
    }
}

/// A grading result and its changes since another run.
pub(crate) struct GradedRun {
    pub(crate) result: RunResult<Printable>,
    pub(crate) comparison: Option<Comparison>,
}

impl Reported for GradedRun {
    const EXAMPLE: &str = RunResult::<Printable>::EXAMPLE;

    fn fits(format: &ReportFormat) -> bool {
        RunResult::<Printable>::fits(format)
    }

    fn as_report(&self) -> Report<'_> {
        Report { compared: self.comparison.as_ref(), ..self.result.as_report() }
    }
}

impl Reported for Comparison {
    const EXAMPLE: &str = "html=compare.html";

    fn fits(format: &ReportFormat) -> bool {
        format.has_comparisons
    }

    fn as_report(&self) -> Report<'_> {
        self.into()
    }
}

/// Output options of a result. A command with these options declares its result type with
/// [`format_of`] and [`report_of`].
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: String,
    /// Write a report to a file as well; may be given several times
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report::<RunResult<Printable>>)]
    reports: Vec<(String, PathBuf)>,
    /// Content of the rows of tables.
    #[arg(skip)]
    rows: RowContent,
}

/// Adds the formats of a result to `--format`.
pub(crate) fn format_of<R: Reported>(arg: Arg) -> Arg {
    arg.value_parser(PossibleValuesParser::new(R::formats().map(|format| format.id)))
}

/// Adds the formats of a result to `--report`.
pub(crate) fn report_of<R: Reported + 'static>(arg: Arg) -> Arg {
    arg.value_parser(ValueParser::new(report::<R>))
}

/// Parses a format and the file to write.
fn report<R: Reported>(text: &str) -> Result<(String, PathBuf), ValueError> {
    let (wanted, file) = text.split_once('=').ok_or(ValueError::Report(R::EXAMPLE))?;
    let formats: Vec<&str> = R::formats().map(|format| format.id).collect();
    if !formats.contains(&wanted) {
        return Err(ValueError::Format(wanted.to_owned(), formats.join(", ")));
    }
    if file.is_empty() {
        return Err(ValueError::Syntax("the name of the file is missing"));
    }
    Ok((wanted.to_owned(), PathBuf::from(file)))
}

impl ReportArgs {
    /// Whether a report of this format is requested.
    pub(crate) fn wants(&self, format: &str) -> bool {
        self.format == format || self.reports.iter().any(|(wanted, _)| wanted == format)
    }

    /// Selects another kind of rows, which only some formats have.
    pub(crate) fn set_rows(&mut self, rows: RowContent, word: &str) -> Result<(), Failure> {
        if !["csv", "parquet"].iter().any(|id| self.wants(id)) {
            let failure = Failure::usage(format!("--rows {word} needs a report with rows"));
            return Err(failure.hint("add --format csv or --report csv=FILE"));
        }
        self.rows = rows;
        Ok(())
    }

    /// Writes the reports to their files, and prints the result.
    pub(crate) fn write<R: Reported>(
        &self,
        result: &R,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let for_files = self.for_files(printer);
        for (format, path) in &self.reports {
            let failed = |error: io::Error| Failure::write(path, &error);
            let mut file = File::create(path).map(BufWriter::new).map_err(failed)?;
            write(result, format, &for_files, &mut file)?;
            file.flush().map_err(failed)?;
        }
        if self.format != "text" {
            let is_text = R::formats().any(|format| format.id == self.format && format.is_text);
            if !is_text && io::stdout().is_terminal() {
                let failure = Failure::usage(format!("{} is not text", self.format));
                let hint = format!("write it to a file: --report {}=FILE", self.format);
                return Err(failure.hint(hint).into());
            }
            let mut out = printer.sink()?;
            write(result, &self.format, &for_files, &mut out)?;
            return Ok(out.flush()?);
        }
        let options = for_people(for_files);
        let elapsed = io::stdout().is_terminal().then(|| started.elapsed());
        let options = ReportOptions { elapsed, ..options };
        write(result, &self.format, &options, &mut printer.text_sink())
    }

    fn for_files(&self, printer: &Printer) -> ReportOptions {
        ReportOptions {
            colour: false,
            width: printer.width(),
            verbosity: printer.verbosity,
            elapsed: None,
            generated_at: now(),
            rows: self.rows,
            describe: |id| toolmark_spec::grader_by_id(id).map(|info| (info.summary, info.docs)),
            directory: std::env::current_dir().ok().map(|path| path.to_string_lossy().into()),
        }
    }

    /// Returns the report targets if every one of them can be streamed. The last one is printed.
    pub(crate) fn streams(&self, printer: &Printer) -> Option<Vec<StreamTarget>> {
        let for_files = self.for_files(printer);
        let file = |(format, path): &(String, PathBuf)| {
            let stream = ReportStream::new(format, for_files.clone())?;
            Some(StreamTarget { stream, path: Some(path.clone()) })
        };
        let mut all = self.reports.iter().map(file).collect::<Option<Vec<_>>>()?;
        let options = match self.format == "text" {
            true => for_people(for_files.clone()),
            false => for_files.clone(),
        };
        all.push(StreamTarget { stream: ReportStream::new(&self.format, options)?, path: None });
        Some(all)
    }

    /// Writes the streamed reports.
    pub(crate) fn write_streams(
        &self,
        targets: &[StreamTarget],
        run: &RunResult<Printable>,
        outcomes: &mut Ordered<'_>,
        started: Instant,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let failed = |error| match error {
            ReportError::Write(error) => Stop::from(error),
            error => Failure::usage("failed to write a report").because(&error).into(),
        };
        for (n, target) in targets.iter().enumerate() {
            let outcomes = outcomes.of(n);
            if let Some(path) = &target.path {
                let failed_file = |error: io::Error| Failure::write(path, &error);
                let mut file = File::create(path).map(BufWriter::new).map_err(failed_file)?;
                target.stream.write(run, outcomes, &mut file).map_err(failed)?;
                file.flush().map_err(failed_file)?;
            } else if self.format == "text" {
                let elapsed = io::stdout().is_terminal().then(|| started.elapsed());
                let stream = target.stream.clone().after(elapsed);
                stream.write(run, outcomes, &mut printer.text_sink()).map_err(failed)?;
            } else {
                let mut out = printer.sink()?;
                target.stream.write(run, outcomes, &mut out).map_err(failed)?;
                out.flush()?;
            }
        }
        Ok(())
    }
}

/// Options for printed text. The creation time is printed on terminals only, so that redirected
/// outputs can be compared.
fn for_people(options: ReportOptions) -> ReportOptions {
    let generated_at = options.generated_at.filter(|_| io::stdout().is_terminal());
    ReportOptions { colour: true, generated_at, ..options }
}

/// The time of the report. `SOURCE_DATE_EPOCH` overrides it, so that builds that create reports are
/// reproducible byte by byte.
pub(crate) fn now() -> Option<Timestamp> {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let time = match fixed {
        Some(seconds) => Timestamp::from_second(seconds),
        None => Timestamp::from_second(Timestamp::now().as_second()),
    };
    time.ok()
}

fn write<R: Reported>(
    result: &R,
    format: &str,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), Stop> {
    let found = R::formats().find(|found| found.id == format);
    let found = found.ok_or_else(|| Failure::usage(format!("unknown format {format}")))?;
    (found.write)(&result.as_report(), options, out).map_err(|error| match error {
        ReportError::Write(error) => error.into(),
        error => {
            Failure::usage(format!("failed to write the {format} report")).because(&error).into()
        }
    })
}
