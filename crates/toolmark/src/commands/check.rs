//! `toolmark check`: the four-axis scorecard of any session, with no
//! configuration.
//!
//! Files are read in parallel, each as a stream: a trajectory is checked and
//! dropped. What was found comes out in one order whatever the number of
//! threads.

use crate::Stop;
use crate::checking::{self, Sessions, config};
use crate::cli::Reading;
use crate::commands::rules;
use crate::exit::{Exit, Failure};
use crate::gold;
use crate::human;
use crate::inputs::{Input, expand};
use crate::judging::{Asking, JudgeArgs, Opened};
use crate::printer::{Line, Printer, Verbosity, style};
use crate::progress::Progress;
use crate::report_file;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use toolmark_check::baseline::Baseline;
use toolmark_check::config::Config;
use toolmark_check::doubts::MOST;
use toolmark_check::gate::{self, Cells, Gate, GateError, GateRow};
use toolmark_check::promote::{self, Alike};
use toolmark_check::{Checked, Checker};
use toolmark_grade::UsualJudge;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Verdict;
use toolmark_outcome::{Confidence, Severity};
use toolmark_report::Options as ReportOptions;
use toolmark_report::check::{CHECK_FORMATS, CheckRun, check_format_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark check                         the newest sessions on this machine
  toolmark check session.jsonl           one session
  toolmark check runs/ --select A        only what is wrong with arguments
  toolmark check --since 7d --project .  this week's sessions of this project
  toolmark check --explain S101          what a rule finds, why, what to do
  toolmark check runs/ --gate            thresholds, for CI
  toolmark check runs/ --gate='recovery[Bash.127] >= 0.8 min support 5'
  toolmark check runs/ --baseline main.json --report sarif=check.sarif
  toolmark check runs/ --promote regressions/ --per bucket
  toolmark check runs/ --judge           a second opinion where the rules are not sure
  toolmark check runs/ --format jsonl | jq 'select(.severity == \"error\")'

Rules are chosen by code, by name, or by the start of a code: S selection,
A arguments, I irreversibility, R recovery; toolmark rules lists them.";

/// Check sessions: selection, arguments, irreversibility and recovery, per tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// Files, directories, patterns, - for stdin [default: the newest sessions of this machine]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print what was found
    #[arg(long, value_name = "FORMAT", value_parser = format_word(), default_value = "text")]
    format: &'static str,
    /// Write a report to a file as well; may be given several times
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report_file)]
    reports: Vec<(&'static str, PathBuf)>,
    /// Rules, gates and toolsets from the check part of this file [default: toolmark.yaml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Hold the numbers against thresholds: those of the file or the usual ones, or this one
    #[arg(long, value_name = "GATE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", help_heading = "Gates")]
    gate: Vec<String>,
    /// Only what is worse than in this report of --format json fails
    #[arg(long, value_name = "FILE", help_heading = "Gates")]
    baseline: Option<PathBuf>,
    /// Write findings to this directory as cases for toolmark grade
    #[arg(long, value_name = "DIR", help_heading = "Regression set")]
    promote: Option<PathBuf>,
    /// Of which findings one is enough
    #[arg(long, value_enum, value_name = "KIND", default_value = "cluster", requires = "promote")]
    #[arg(help_heading = "Regression set")]
    per: Per,
    /// So many cases at most
    #[arg(long, value_name = "N", requires = "promote", help_heading = "Regression set")]
    cases: Option<NonZeroUsize>,
    /// Ask only these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,
    /// Do not ask these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,
    /// Explain a rule instead
    #[arg(long, value_name = "CODE", help_heading = "Rules")]
    explain: Option<String>,
    /// Leave out findings that are less sure: low, medium or high [default: medium]
    #[arg(long, value_name = "LEVEL", value_parser = confidence())]
    #[arg(hide_possible_values = true, help_heading = "Rules")]
    min_confidence: Option<Confidence>,
    /// Ask a judge about calls that the rules are not sure about
    #[arg(long, help_heading = "Judge")]
    judge: bool,
    /// Hold choices of tools against labels: rows of id or prompt, and tool
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// The least severity that fails [default: warning, with gates never]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Exit with 0 whatever is found
    #[arg(long)]
    exit_zero: bool,
    /// How many files to read at once [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Only sessions written to in this time, such as 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = checking::since, help_heading = "Sessions")]
    since: Option<std::time::Duration>,
    /// Only sessions whose working directory is this one or below it
    #[arg(long, value_name = "DIR", help_heading = "Sessions")]
    project: Option<PathBuf>,
    /// Only so many sessions, the newest first [default without paths: 50]
    #[arg(long, value_name = "N", help_heading = "Sessions")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    judging: JudgeArgs,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Per {
    Code,
    Cluster,
    Bucket,
}

impl Per {
    fn alike(self) -> Alike {
        match self {
            Self::Code => Alike::Code,
            Self::Cluster => Alike::Cluster,
            Self::Bucket => Alike::Bucket,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    fn least(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

fn format_word() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(CHECK_FORMATS.iter().map(|format| format.id))
        .map(|id| check_format_by_id(&id).map_or("", |format| format.id))
}

fn report_file(text: &str) -> Result<(&'static str, PathBuf), String> {
    report_file::parse(text, CHECK_FORMATS.iter().map(|format| format.id), "sarif=check.sarif")
}

fn confidence() -> impl TypedValueParser<Value = Confidence> {
    PossibleValuesParser::new(Confidence::ALL.iter().map(|one| one.word()))
        .map(|word| Confidence::from_word(&word).unwrap_or(Confidence::Medium))
}

impl Check {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(code) = &self.explain {
            rules::explain(code, printer)?;
            return Ok(Exit::Ok);
        }
        let started = Instant::now();
        let mut config = config::open(self.config.as_deref(), printer)?;
        let gates = self.gates(config.gates.take())?;
        let baseline = self.read_baseline()?;
        let gold = self.gold.as_deref().map(gold::read).transpose()?;
        let judge = self.judge(printer)?;
        let checker = self.checker(&mut config, !gates.is_empty())?.with_gold(gold.clone());
        if let Some(directory) = &self.promote {
            refuse_to_overwrite(directory)?;
        }
        let project = checking::project(self.project.as_deref())?;
        let sessions = Sessions { since: self.since, limit: self.limit, project };
        let (inputs, mut notes) = self.inputs(&sessions)?;
        let (mut run, unread) = self.check(&checker, &inputs, &sessions, printer)?;
        run.notes.append(&mut notes);
        if run.files == 0 {
            let failure = if unread {
                Failure::unread("nothing could be read")
            } else {
                Failure::unread("found no trace").hint("toolmark formats lists what can be read")
            };
            return Err(failure.into());
        }
        if let Some(gold) = gold {
            let scored = gold.score(&run.checked.pairs);
            let selection = scored.map_err(|why| Failure::unread(format!("--gold: {why}")))?;
            selection.measure(&mut run.checked.scorecard);
            run.checked.selection = Some(selection);
        }
        run.checked.sort();
        if let Some(judge) = judge {
            run.notes.extend(not_asked(&run.checked));
            run.checked.refine(&*judge.client);
            self.judging.finish(&judge, printer)?;
        }
        run.rules = checker.rules().to_vec();
        let usual = if gates.is_empty() { Some(Severity::Warning) } else { None };
        run.fail_on = self.fail_on.map(FailOn::least).or(config.fail_on).unwrap_or(usual);
        run.changes = baseline.as_ref().map(|before| before.mark(&mut run.checked.findings));
        run.gates = rows(&gates, &run, baseline.as_ref());
        checking::redact(&mut run.checked, printer.veil);
        if let Some(directory) = &self.promote {
            self.promote(directory, &run, &inputs, &checker, &sessions, printer)?;
        }
        self.report(&run, started, printer)?;
        Ok(self.exit(&run, unread))
    }

    /// The rules of the command line, or those of the file.
    fn checker(&self, config: &mut Config, gated: bool) -> Result<Checker, Failure> {
        let select = if self.select.is_empty() { &config.select } else { &self.select };
        let ignore: Vec<String> = config.ignore.iter().chain(&self.ignore).cloned().collect();
        let rules = checking::chosen(select, &ignore)?;
        let least = self.min_confidence.or(config.min_confidence).unwrap_or(Confidence::Medium);
        let toolsets = Toolsets::with(std::mem::take(&mut config.toolsets));
        let severities = std::mem::take(&mut config.severity);
        let checker = Checker::new(rules, least, toolsets).severities(severities);
        let compares = gated && self.baseline.is_some();
        let checker = if self.judge { checker.with_doubts() } else { checker };
        Ok(if compares || self.writes("json") { checker.keep_sessions() } else { checker })
    }

    /// Who is asked where the rules are not sure.
    fn judge(&self, printer: &mut Printer) -> Result<Option<Opened>, Stop> {
        if !self.judge {
            if self.judging.is_given() {
                let failure = Failure::usage("options for a judge are given, and --judge is not");
                return Err(failure.hint("add --judge to ask one").into());
            }
            return Ok(None);
        }
        let asking = Asking {
            part_of: self.config.as_deref(),
            usual: &UsualJudge::default(),
            may_run: true,
            gates: true,
        };
        self.judging.open_some(&asking, printer).map(Some)
    }

    fn writes(&self, format: &str) -> bool {
        self.format == format || self.reports.iter().any(|(id, _)| *id == format)
    }

    /// The gates of the file, the usual ones where it has none and they are
    /// asked for, and those of the command line.
    fn gates(&self, of_file: Option<Vec<Gate>>) -> Result<Vec<Gate>, Failure> {
        let wants_usual = self.gate.iter().any(String::is_empty);
        let mut gates = match of_file {
            None if wants_usual => gate::defaults(),
            of_file => of_file.unwrap_or_default(),
        };
        for text in self.gate.iter().filter(|text| !text.is_empty()) {
            gates.push(text.parse().map_err(|error: GateError| {
                let failure = Failure::usage(format!("--gate={text}: {error}"));
                match error.help {
                    Some(help) => failure.hint(help),
                    None => failure,
                }
            })?);
        }
        Ok(gates)
    }

    fn read_baseline(&self) -> Result<Option<Baseline>, Failure> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let failed = |error: String| Failure::usage(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let baseline = Baseline::parse(&text)
            .map_err(|error| failed(error).hint("toolmark check --report json=FILE writes one"))?;
        Ok(Some(baseline))
    }

    fn promote(
        &self,
        directory: &Path,
        run: &CheckRun,
        inputs: &[Input],
        checker: &Checker,
        sessions: &Sessions,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let most = self.cases.map(NonZeroUsize::get);
        let chosen = promote::choose(&run.checked.findings, self.per.alike(), most);
        if chosen.is_empty() {
            printer.notice(&Line::of(style::DIM, "there is nothing to promote"))?;
            return Ok(());
        }
        let options = self.reading.options();
        let cases = checking::promote::cases(&chosen, inputs, checker, sessions, &options)?;
        let count = cases.len() as u64;
        checking::promote::write(cases, directory, printer.veil).map_err(|error| {
            Failure::usage(format!("failed to write to {}: {error}", directory.display()))
        })?;
        if printer.verbosity > Verbosity::Quiet {
            let cases = human::things(count, "case");
            let to = directory.display();
            let words = format!("{cases} in {to}; toolmark grade {to}/toolmark.yaml RUNS");
            printer.notice(&Line::of(style::DIM, &words))?;
        }
        Ok(())
    }

    /// What to read: what was named, or the sessions of this machine.
    fn inputs(&self, sessions: &Sessions) -> Result<(Vec<Input>, Vec<String>), Failure> {
        match self.paths.is_empty() {
            false => Ok((sessions.recent(expand(&self.paths)), Vec::new())),
            true => sessions.found(),
        }
    }

    fn check(
        &self,
        checker: &Checker,
        inputs: &[Input],
        sessions: &Sessions,
        printer: &mut Printer,
    ) -> Result<(CheckRun, bool), Stop> {
        let options = self.reading.options();
        let verbosity = printer.verbosity;
        let progress = Progress::new(inputs.len(), verbosity);
        let work = || -> Vec<checking::File> {
            let one = |input: &Input| {
                let file = checking::check(input, checker, sessions, &options, verbosity);
                progress.bar.inc(1);
                file
            };
            inputs.par_iter().map(one).collect()
        };
        let files = match self.jobs {
            None => work(),
            Some(n) => rayon::ThreadPoolBuilder::new()
                .num_threads(n.get())
                .build()
                .map_err(|error| Failure::usage(format!("failed to start {n} threads: {error}")))?
                .install(work),
        };
        progress.finish();
        let mut run = CheckRun::default();
        let (mut unread, mut foreign) = (false, 0);
        let most = sessions.most(self.paths.is_empty());
        for file in files {
            file.diagnostics.print(printer)?;
            unread |= file.skipped > 0;
            foreign += u64::from(file.is_foreign);
            if file.is_checked && most.is_none_or(|most| run.files < most) {
                run.files += 1;
                run.checked.merge(file.checked);
            }
        }
        if foreign > 0 {
            run.notes.push(human::skipped_files(foreign));
        }
        Ok((run, unread))
    }

    fn report(&self, run: &CheckRun, started: Instant, printer: &mut Printer) -> Result<(), Stop> {
        let plain = ReportOptions {
            colour: false,
            width: printer.width(),
            verbosity: printer.verbosity,
            elapsed: None,
            generated_at: None,
        };
        for (id, path) in &self.reports {
            fs::write(path, written(id, run, &plain)?).map_err(|error| {
                Failure::usage(format!("failed to write {}: {error}", path.display()))
            })?;
        }
        if self.format != "text" {
            let text = written(self.format, run, &plain)?;
            let mut out = printer.sink()?;
            out.write_all(text.as_bytes())?;
            out.flush()?;
            return Ok(());
        }
        // Whoever compares outputs does not want to compare clocks.
        let elapsed = io::stdout().is_terminal().then(|| started.elapsed());
        printer.raw(&written("text", run, &ReportOptions { colour: true, elapsed, ..plain })?)?;
        Ok(())
    }

    fn exit(&self, run: &CheckRun, unread: bool) -> Exit {
        match run.verdict() {
            _ if self.exit_zero => Exit::Ok,
            Verdict::Fail => Exit::Failed,
            Verdict::Unknown(_) => Exit::Unread,
            Verdict::Pass if unread => Exit::Unread,
            Verdict::Pass => Exit::Ok,
        }
    }
}

fn written(id: &str, run: &CheckRun, options: &ReportOptions) -> Result<String, Failure> {
    let format =
        check_format_by_id(id).ok_or_else(|| Failure::usage(format!("there is no format {id}")))?;
    format
        .to_text(run, options)
        .map_err(|error| Failure::usage(format!("failed to write the {id} report: {error}")))
}

/// What was in doubt and is not asked about, because there is too much of it.
fn not_asked(checked: &Checked) -> Option<String> {
    let each: Vec<String> =
        checked.not_asked.iter().map(|(rubric, count)| format!("{rubric} {count}")).collect();
    let calls = human::things(checked.not_asked.values().sum(), "more call");
    (!each.is_empty()).then(|| {
        let each = each.join(", ");
        format!("{calls} in doubt, not asked about ({MOST} of a rubric in a session are): {each}")
    })
}

/// What the gates say, beside the run before where there is one.
fn rows(gates: &[Gate], run: &CheckRun, before: Option<&Baseline>) -> Vec<GateRow> {
    let whole = &run.checked.scorecard;
    let now = Cells::from(whole);
    let mut each: BTreeMap<String, Cells> = BTreeMap::new();
    for session in run.checked.sessions.iter().filter(|_| before.is_some()) {
        if let Some(id) = &session.id {
            let cells = Cells::of_part(&session.card, whole);
            each.entry(id.clone()).or_default().merge(&cells);
        }
    }
    let earlier = before.map(|before| before.earlier(&each));
    gates.iter().flat_map(|gate| gate.rows(&now, earlier.as_ref())).collect()
}

/// A regression set is added to by hand; what is there stays.
fn refuse_to_overwrite(directory: &Path) -> Result<(), Failure> {
    let spec = directory.join("toolmark.yaml");
    if !spec.exists() {
        return Ok(());
    }
    let failure = Failure::usage(format!("{} is already there", spec.display()));
    Err(failure.hint("promote to a new directory"))
}
