//! `toolmark check`: the four-axis scorecard of any session, with no
//! configuration.
//!
//! Each file is read as a stream: a trajectory is checked and dropped.

use crate::args::{InputArgs, ReportArgs, SessionArgs, at_least_one, format_of, report_of};
use crate::commands::rules;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::judging::JudgeArgs;
use crate::printer::{Line, Printer, Verbosity, style};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use toolmark_app::Events;
use toolmark_app::Stop;
use toolmark_app::check::gold;
use toolmark_app::check::repeated::Repeated;
use toolmark_app::check::rows::Collected;
use toolmark_app::check::{self, Keep, Part, PrintedSessions, config};
use toolmark_app::inputs::Input;
use toolmark_app::judge::{JudgeRequest, OpenJudge};
use toolmark_app::pool::Emit;
use toolmark_app::reading::{Next, ReadSummary, Reader, Runs};
use toolmark_app::select::Selected;
use toolmark_base::read_file;
use toolmark_check::baseline::Baseline;
use toolmark_check::config::Config;
use toolmark_check::doubts::MAX_DOUBTS;
use toolmark_check::gate::{self, Cells, Gate, GateError, GateRow, shares};
use toolmark_check::gold::template;
use toolmark_check::promote::{self, Alike};
use toolmark_check::{CheckRun, Checked, Checker};
use toolmark_grade::UsualJudge;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::{Confidence, Printable, Severity, Untrusted};
use toolmark_report::Rows;

/// Maximum size of a baseline, in bytes.
const MAX_BASELINE: u64 = 2 << 30;

const EXAMPLES: &str = "\
Examples:
  toolmark check                         the newest sessions on this machine
  toolmark check session.jsonl           one session
  toolmark check runs/ --select A        only findings about arguments
  toolmark check --since 7d --project .  this week's sessions of this project
  toolmark check --explain S101          explain a rule
  toolmark check runs/ --gate            thresholds, for CI
  toolmark check runs/ --gate 'recovery[Bash.127] >= 0.8'
  toolmark check runs/ --gate article    the article's five thresholds
  toolmark check runs/ --baseline main.json --report sarif=check.sarif
  toolmark check runs/ --promote regressions/ --per bucket
  toolmark check runs/ --gold-template > gold.yaml
  toolmark check runs/ --gold gold.yaml  compare tool choices with labels
  toolmark check runs/ --judge           ask a judge where the rules are unsure
  toolmark check runs/ --format csv --rows calls > calls.csv
  toolmark check runs/ --format jsonl | jq 'select(.severity == \"error\")'

Rules are selected by code, by name, or by code prefix: S selection,
A arguments, I irreversibility, R recovery; `toolmark rules` lists them.";

/// Check sessions: selection, arguments, irreversibility and recovery, per tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("traces", SessionArgs::by_default))]
#[command(mut_arg("format", format_of::<CheckRun<Printable>>), mut_arg("reports", report_of::<CheckRun<Printable>>))]
pub(crate) struct Check {
    #[command(flatten)]
    report: ReportArgs,
    /// Content of the rows in the formats csv and parquet
    #[arg(long, value_enum, value_name = "KIND", default_value = "findings")]
    rows: RowKind,
    /// File with a `check:` section: rules, gates and toolsets [default: toolmark.yaml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the scorecard against a threshold, or against those of a preset: article, default
    /// [default: those of the file, or the preset default]
    #[arg(long, value_name = "GATE", num_args = 0..=1)]
    #[arg(default_missing_value = "", help_heading = "Gates")]
    gate: Vec<String>,
    /// Fail only on regressions against this JSON report
    #[arg(long, value_name = "FILE", help_heading = "Gates")]
    baseline: Option<PathBuf>,
    /// Write findings to this directory as cases for `toolmark grade`
    #[arg(long, value_name = "DIR", help_heading = "Regression set")]
    promote: Option<PathBuf>,
    /// Write one case per code, cluster or bucket of findings
    #[arg(long, value_enum, value_name = "KIND", default_value = "cluster", requires = "promote")]
    #[arg(help_heading = "Regression set")]
    per: Per,
    /// Write at most this many cases
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "promote")]
    #[arg(help_heading = "Regression set")]
    cases: Option<NonZeroUsize>,
    /// Use only these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    select: Vec<String>,
    /// Do not use these rules
    #[arg(long, value_name = "CODE", value_delimiter = ',', help_heading = "Rules")]
    ignore: Vec<String>,
    /// Explain a rule instead
    #[arg(long, value_name = "CODE", help_heading = "Rules")]
    explain: Option<String>,
    /// Lowest confidence to report: low, medium or high [default: medium]
    #[arg(long, value_name = "LEVEL", value_parser = confidence())]
    #[arg(hide_possible_values = true, help_heading = "Rules")]
    min_confidence: Option<Confidence>,
    /// Ask a judge about calls that the rules are unsure about
    #[arg(long, help_heading = "Judge")]
    judge: bool,
    /// Compare tool choices with labels: rows with id or prompt, and tool
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// Print labels to start from instead: every prompt with the tool that was called for it
    #[arg(long, conflicts_with_all = ["gold", "judge", "promote", "baseline"])]
    gold_template: bool,
    /// Lowest severity that fails [default: warning; never with gates]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Exit with 0 whatever the result
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
    #[command(flatten)]
    judging: JudgeArgs,
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
enum RowKind {
    Findings,
    Calls,
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

fn confidence() -> impl TypedValueParser<Value = Confidence> {
    PossibleValuesParser::new(Confidence::ALL.iter().map(|one| one.word()))
        .map(|word| Confidence::from_word(&word).unwrap_or(Confidence::Medium))
}

impl Check {
    pub(crate) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(code) = &self.explain {
            rules::explain(code, printer)?;
            return Ok(Exit::Ok);
        }
        let started = Instant::now();
        self.take_traces_for_gates();
        if self.rows == RowKind::Calls {
            self.report.set_rows(Rows::Calls, "calls")?;
        }
        let mut config = config::open(self.config.as_deref(), printer)?;
        if self.gold_template {
            return self.print_gold_template(&Toolsets::with(config.toolsets), printer);
        }
        let gates = self.gates(config.gates.take())?;
        let baseline = self.read_baseline()?;
        let gold = self.gold.as_deref().map(gold::read).transpose()?;
        let judge = self.judge(printer)?;
        let checker = self.checker(&mut config)?.with_gold(gold.clone());
        if let Some(directory) = &self.promote {
            check::promote::refuse_to_overwrite(directory)?;
        }
        let mut selected = self.sessions.select(&self.input)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let keep = self.keep(printer);
        let (mut run, sessions, walked) = check(&checker, &reader, &selected, keep, printer)?;
        run.notes.extend(selected.notes.drain(..).map(Into::into));
        // A part of the files may have none.
        if run.files == 0 && !self.input.is_part() {
            return Err(selected.nothing_left(&reader, &walked, &self.input.names()).into());
        }
        if let Some(gold) = gold {
            let scored = gold.score(&run.checked.pairs);
            let selection = scored.map_err(|why| Failure::unread(format!("--gold: {why}")))?;
            selection.measure(&mut run.checked.scorecard);
            run.checked.selection = Some(selection);
        }
        run.checked.sort();
        if let Some(judge) = judge {
            run.notes.extend(not_asked(&run.checked).map(Into::into));
            let questions = run.checked.doubts.len() as u64;
            let progress = printer.progress(questions, "questions");
            judge.status.attach(&progress, true);
            run.checked.refine(&*judge.client);
            progress.finish();
            if self.judging.finish(&judge, printer)? {
                return Ok(Exit::Ok);
            }
        }
        run.rules = checker.rules().to_vec();
        let usual = if gates.is_empty() { Some(Severity::Warning) } else { None };
        let wanted = self.fail_on.map(FailOn::least).or(config.fail_on);
        run.accepts_failed_runs = wanted == Some(None);
        run.fail_on = wanted.unwrap_or(usual);
        run.changes = baseline.as_ref().map(|before| before.mark(&mut run.checked));
        run.gates = rows(&gates, &run, baseline.as_ref());
        if let Some(directory) = &self.promote {
            self.promote(directory, &run, &selected.inputs, &reader, printer)?;
        }
        let mut run = run.redact(printer.redactor);
        sessions.add_to(&mut run.checked);
        self.report.write(&run, started, printer)?;
        // An empty part of a list must not stop a pipeline.
        // Without a threshold, neither must a session that could not be judged.
        let is_undemanding = run.accepts_failed_runs && run.gates.is_empty();
        let is_fine = self.exit_zero || (run.is_empty() || is_undemanding) && !walked.unread;
        Ok(if is_fine { Exit::Ok } else { Exit::of(run.verdict(), walked.unread) })
    }

    /// Prints one row of gold labels per prompt.
    fn print_gold_template(
        &self,
        toolsets: &Toolsets,
        printer: &mut Printer,
    ) -> Result<Exit, Stop> {
        let selected = self.sessions.select(&self.input)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let work = |runs: &mut Runs<'_>| {
            let rows: Vec<Vec<_>> = runs.map(|run| template(&run, toolsets)).collect();
            (!rows.is_empty()).then(|| rows.concat())
        };
        let (mut files, mut rows) = (0, Vec::new());
        let walked = reader.each(&selected.inputs, printer, work, |found| {
            if let Ok(found) = found {
                files += 1;
                rows.extend(found);
            }
            Ok(if selected.limit == Some(files) { Next::Enough } else { Next::More })
        })?;
        if files == 0 {
            return Err(selected.nothing_left(&reader, &walked, &self.input.names()).into());
        }
        printer.raw(gold::TEMPLATE_HEAD)?;
        for row in rows {
            let line = gold::template_line(row, printer.redactor)?;
            printer.raw(&line)?;
        }
        Ok(if walked.unread { Exit::Unread } else { Exit::Ok })
    }

    /// Returns a checker with the rules of the command line or of the file.
    fn checker(&self, config: &mut Config) -> Result<Checker, Failure> {
        let select = if self.select.is_empty() { &config.select } else { &self.select };
        let ignore: Vec<String> = config.ignore.iter().chain(&self.ignore).cloned().collect();
        let rules = check::select_rules(select, &ignore)?;
        let least = self.min_confidence.or(config.min_confidence).unwrap_or(Confidence::Medium);
        let toolsets = Toolsets::with(std::mem::take(&mut config.toolsets));
        let severities = std::mem::take(&mut config.severity);
        let checker = Checker::new(rules, least, toolsets).severities(severities);
        let compares = self.baseline.is_some();
        let checker = if self.judge { checker.with_doubts() } else { checker };
        let keeps_calls = self.rows == RowKind::Calls;
        let checker = if keeps_calls { checker.keep_calls() } else { checker };
        Ok(if compares || self.has_cards() { checker.keep_sessions() } else { checker })
    }

    /// Returns which data to keep of each run: keeping less limits how much memory grows with the
    /// number of runs.
    fn keep(&self, printer: &Printer) -> Keep {
        let has_cards = self.has_cards();
        let lists_destructive =
            self.report.wants("text") && printer.verbosity == Verbosity::Verbose;
        Keep {
            redactor: printer.redactor,
            raw: self.judge || self.baseline.is_some() || self.promote.is_some(),
            profiles: has_cards,
            destructive: has_cards || lists_destructive,
        }
    }

    /// Whether a report has a part per session.
    fn has_cards(&self) -> bool {
        ["json", "html"].iter().any(|format| self.report.wants(format))
    }

    /// Opens the judge for calls that the rules are unsure about.
    fn judge(&self, printer: &mut Printer) -> Result<Option<OpenJudge>, Stop> {
        if !self.judge {
            if self.judging.is_given() {
                let failure = Failure::usage("judge options need --judge");
                return Err(failure.hint("add --judge to ask a judge").into());
            }
            return Ok(None);
        }
        let request = JudgeRequest {
            part_of: self.config.as_deref(),
            usual: &UsualJudge::default(),
            may_run: true,
            gates: true,
        };
        self.judging.open_some(&request, printer).map(Some)
    }

    /// Moves the trace that clap parsed as the value of `--gate` to the traces: every gate other
    /// than a preset contains a comparison.
    fn take_traces_for_gates(&mut self) {
        for text in &mut self.gate {
            let is_gate = text.contains(['<', '>', '=']) || gate::preset(text.trim()).is_some();
            let is_path =
                text == "-" || text.contains(['/', '\\', '*']) || Path::new(text).exists();
            if !is_gate && is_path {
                self.input.traces.push(std::mem::take(text).into());
            }
        }
    }

    /// Returns the gates of the file (the default ones if it has none and gates are requested) and
    /// of the command line.
    fn gates(&self, of_file: Option<Vec<Gate>>) -> Result<Vec<Gate>, Failure> {
        let wants_usual = self.gate.iter().any(String::is_empty);
        let mut gates = match of_file {
            None if wants_usual => gate::defaults(),
            of_file => of_file.unwrap_or_default(),
        };
        for text in self.gate.iter().filter(|text| !text.is_empty()) {
            gates.extend(gate::parse_gates(text).map_err(|error: GateError| {
                Failure::usage(format!("--gate={text} is invalid"))
                    .because(&error)
                    .hints(error.help)
            })?);
        }
        Ok(gates)
    }

    fn read_baseline(&self) -> Result<Option<Baseline>, Failure> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let text = read_file::read_text(path, MAX_BASELINE)?;
        let baseline = Baseline::parse(&text).map_err(|error| {
            Failure::usage(format!("{} is not a valid report", path.display()))
                .causes([error])
                .hint("`toolmark check --report json=FILE` writes one")
        })?;
        Ok(Some(baseline))
    }

    fn promote(
        &self,
        directory: &Path,
        run: &CheckRun,
        inputs: &[Input],
        reader: &Reader,
        printer: &mut Printer,
    ) -> Result<(), Stop> {
        let most = self.cases.map(NonZeroUsize::get);
        let chosen = promote::choose(&run.checked.findings, self.per.alike(), most);
        if chosen.is_empty() {
            printer.notice(&Line::of(style::DIM, "no finding to promote"))?;
            return Ok(());
        }
        let made = check::promote::cases(&chosen, self.per.alike(), inputs, reader)?;
        let count = check::promote::write(&made.cases, directory, printer.redactor)
            .map_err(|error| Failure::write(directory, &error))? as u64;
        if made.unseen > 0 {
            let findings = human::things(made.unseen as u64, "finding");
            let words = format!("{findings} not promoted: graders know only built-in toolsets");
            printer.notice(&Line::of(style::DIM, printer.redact(words)))?;
        }
        if printer.verbosity > Verbosity::Quiet {
            let cases = human::things(count, "case");
            let to = directory.display();
            let words =
                format!("{cases} written to {to}; next: toolmark grade {to}/toolmark.yaml RUNS");
            printer.notice(&Line::of(style::DIM, printer.redact(words)))?;
        }
        Ok(())
    }
}

fn check(
    checker: &Checker,
    reader: &Reader,
    selected: &Selected,
    keep: Keep,
    printer: &mut Printer,
) -> Result<(CheckRun, PrintedSessions, ReadSummary), Stop> {
    let (mut run, mut stored) = (CheckRun::default(), Collected::default());
    let mut sessions = PrintedSessions::default();
    let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, Part>| {
        check::check(runs, checker, keep, reader.pool(), emit);
    };
    let mut repeated = Repeated::default();
    let walked = reader.stream(&selected.inputs, printer, work, |part| {
        if let Ok(mut part) = part {
            repeated.remove(&mut part.checked.findings, |id| id.raw().len());
            repeated.remove(&mut part.findings, |id| id.len());
            run.files += u64::from(part.is_last);
            run.checked.merge(part.checked);
            run.sums.merge(part.sums);
            sessions.extend(part.sessions);
            stored.add_findings(part.findings)?;
            stored.add_calls(&part.calls)?;
        }
        Ok(if selected.limit == Some(run.files) { Next::Enough } else { Next::More })
    })?;
    run.stored = Some(Box::new(stored.finish()?));
    run.notes.extend(walked.note(printer.verbosity).map(Into::into));
    run.notes.extend(unrecorded(&run.checked).map(Into::into));
    run.notes.extend(again(repeated.count).map(Into::into));
    Ok((run, sessions, walked))
}

/// Findings that are not counted a second time.
fn again(count: u64) -> Option<String> {
    let what = human::things(count, "finding");
    (count > 0).then(|| {
        format!("{what} not counted again: a resumed or forked session repeats the calls of another file")
    })
}

/// Notes about sessions without a complete record of their calls.
fn unrecorded(checked: &Checked) -> impl Iterator<Item = String> {
    let card = &checked.scorecard;
    let said = [
        (
            card.unrecorded,
            "has no record of its calls: nothing can be said about it",
            "have no record of their calls: nothing can be said about them",
        ),
        (card.partly_recorded, "records only some of its calls", "record only some of their calls"),
    ];
    let of = card.sessions + card.sub_agents;
    said.into_iter().filter(|(n, ..)| *n > 0).map(move |(n, one, many)| {
        let what = if n == 1 { one } else { many };
        format!("{n} of {} {what}", human::things(of, "session"))
    })
}

/// A note about unsure calls that were not sent to the judge because of the limit.
fn not_asked(checked: &Checked) -> Option<String> {
    let each: Vec<String> =
        checked.not_asked.iter().map(|(rubric, count)| format!("{rubric} {count}")).collect();
    let calls = human::things(checked.not_asked.values().sum(), "unsure call");
    (!each.is_empty()).then(|| {
        let each = each.join(", ");
        format!(
            "{calls} not put to the judge (at most {MAX_DOUBTS} per rubric and session): {each}"
        )
    })
}

/// Results of the gates, compared with the previous run if there is one.
fn rows(gates: &[Gate], run: &CheckRun, before: Option<&Baseline>) -> Vec<GateRow> {
    let whole = &run.checked.scorecard;
    let (now, shares) = (Cells::from(whole), shares(whole));
    let mut each: BTreeMap<Untrusted, Cells> = BTreeMap::new();
    for session in run.checked.sessions.iter().filter(|_| before.is_some()) {
        if let Some(id) = &session.id {
            each.entry(id.clone()).or_default().merge(&session.cells(&shares));
        }
    }
    let earlier = before.map(|before| before.earlier(&each));
    gates.iter().flat_map(|gate| gate.rows(&now, earlier.as_ref())).collect()
}
