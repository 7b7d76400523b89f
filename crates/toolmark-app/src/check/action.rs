//! Checking of sessions: options, gates, baselines, labels and judges, up to the redacted result.

use super::repeated::Repeated;
use super::rows::Collected;
use super::{CheckedPart, KeepOptions, PrintedSessions, gold, promote as promoting, select_rules};
use crate::inputs::InputFile;
use crate::judge::{JudgeOptions, JudgeRequest, OpenJudge};
use crate::pool::Emit;
use crate::reading::{Continuation, FileReader, ReadSummary, Runs};
use crate::select::{NamedTraces, Selected, SessionFilter};
use crate::{ActionEvents, Failure, Stop, Tone, Verbosity, human};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_base::read_file;
use toolmark_check::config::CheckConfig;
use toolmark_check::doubts::MAX_DOUBTS;
use toolmark_check::gate::{self, Cells, Gate, GateError, GateRow, shares};
use toolmark_check::gold::{TemplateRow, template};
use toolmark_check::promote::{self, Alike};
use toolmark_check::{CheckRun, CheckedTraces, Checker, Toolsets};
use toolmark_compare::Baseline;
use toolmark_grade::UsualJudge;
use toolmark_judge::JudgeClient;
use toolmark_outcome::{Confidence, Printable, Severity, Untrusted};

/// Maximum size of a baseline, in bytes.
const MAX_BASELINE: u64 = 2 << 30;

/// Options of a check.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// File with a `check:` section, whose `judge:` section applies too.
    pub config: Option<PathBuf>,
    /// Gates; an empty one stands for those of the file.
    pub gates: Vec<String>,
    /// JSON report to compare with.
    pub baseline: Option<PathBuf>,
    /// Directory for cases made of findings.
    pub promote: Option<PathBuf>,
    /// Findings that share a case.
    pub alike: Alike,
    /// Maximum number of cases.
    pub max_cases: Option<usize>,
    /// Rules to use; empty for those of the file.
    pub select: Vec<String>,
    /// Rules not to use.
    pub ignore: Vec<String>,
    /// Lowest confidence to report.
    pub min_confidence: Option<Confidence>,
    /// Judge for calls that the rules are unsure about.
    pub judge: Option<JudgeOptions>,
    /// Labels of tool choices.
    pub gold: Option<PathBuf>,
    /// Lowest severity that fails; `Some(None)` for none.
    pub fail_on: Option<Option<Severity>>,
    /// Whether rows of calls are kept.
    pub keeps_calls: bool,
    /// Whether a report has a part per session.
    pub has_cards: bool,
    /// Whether calls with irreversible effects are listed.
    pub lists_destructive: bool,
    /// Named traces.
    pub traces: NamedTraces,
    /// Conditions on sessions.
    pub sessions: SessionFilter,
}

/// Result of a check.
pub enum CheckResult {
    /// The redacted result, and whether something could not be read.
    Checked(Box<CheckRun<Printable>>, bool),
    /// The judge with the questions, which are not asked.
    Questions(Arc<JudgeClient>),
}

impl CheckOptions {
    /// Checks the selected sessions.
    ///
    /// # Errors
    ///
    /// If an option is invalid, or no session could be read.
    pub fn check(
        &self,
        mut config: CheckConfig,
        reader: FileReader,
        events: &mut dyn ActionEvents,
    ) -> Result<CheckResult, Stop> {
        let gates = self.gates(config.gates.take())?;
        let baseline = self.read_baseline()?;
        let gold = self.gold.as_deref().map(gold::read).transpose()?;
        let judge = self.judge.as_ref().map(|judge| self.open_judge(judge, events)).transpose()?;
        let checker = self.checker(&mut config)?.with_gold(gold.clone());
        if let Some(directory) = &self.promote {
            promoting::refuse_to_overwrite(directory)?;
        }
        let mut selected = self.sessions.select(&self.traces)?;
        let reader = reader.within(selected.project.clone());
        let keep = self.keep(events);
        let (mut run, sessions, walked) = check_all(&checker, &reader, &selected, keep, events)?;
        run.notes.extend(selected.notes.drain(..).map(Into::into));
        // A part of the files may have none.
        if run.files == 0 && self.traces.shard.is_none() {
            return Err(selected.nothing_left(&reader, &walked, &self.traces.names()).into());
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
            let progress = events.progress(questions, "questions");
            judge.status.attach(&progress, true);
            run.checked.refine(&*judge.client);
            progress.finish();
            if let Some(options) = &self.judge
                && options.ends_with_questions(&judge, events)?
            {
                return Ok(CheckResult::Questions(judge.client));
            }
        }
        run.rules = checker.rules().to_vec();
        let usual = if gates.is_empty() { Some(Severity::Warning) } else { None };
        let wanted = self.fail_on.or(config.fail_on);
        run.accepts_failed_runs = wanted == Some(None);
        run.fail_on = wanted.unwrap_or(usual);
        run.changes = baseline.as_ref().map(|before| before.mark(&mut run.checked));
        run.gates = rows(&gates, &run, baseline.as_ref());
        if let Some(directory) = &self.promote {
            self.promote(directory, &run, &selected.inputs, &reader, events)?;
        }
        let mut run = run.redact(events.redactor());
        sessions.add_to(&mut run.checked);
        Ok(CheckResult::Checked(Box::new(run), walked.unread))
    }

    /// Returns one row of gold labels per prompt, and whether something could not be read.
    ///
    /// # Errors
    ///
    /// If no session could be read.
    pub fn gold_template(
        &self,
        toolsets: &Toolsets,
        reader: FileReader,
        events: &mut dyn ActionEvents,
    ) -> Result<(Vec<TemplateRow>, bool), Stop> {
        let selected = self.sessions.select(&self.traces)?;
        let reader = reader.within(selected.project.clone());
        let work = |runs: &mut Runs<'_>| {
            let rows: Vec<Vec<_>> = runs.map(|run| template(&run, toolsets)).collect();
            (!rows.is_empty()).then(|| rows.concat())
        };
        let (mut files, mut rows) = (0, Vec::new());
        let walked = reader.each(&selected.inputs, events, work, |found| {
            if let Ok(found) = found {
                files += 1;
                rows.extend(found);
            }
            Ok(if selected.limit == Some(files) {
                Continuation::Enough
            } else {
                Continuation::More
            })
        })?;
        if files == 0 {
            return Err(selected.nothing_left(&reader, &walked, &self.traces.names()).into());
        }
        Ok((rows, walked.unread))
    }

    /// Returns a checker with the rules of the command line or of the file.
    fn checker(&self, config: &mut CheckConfig) -> Result<Checker, Failure> {
        let select = if self.select.is_empty() { &config.select } else { &self.select };
        let ignore: Vec<String> = config.ignore.iter().chain(&self.ignore).cloned().collect();
        let rules = select_rules(select, &ignore)?;
        let least = self.min_confidence.or(config.min_confidence).unwrap_or(Confidence::Medium);
        let toolsets = Toolsets::with(std::mem::take(&mut config.toolsets))
            .with_policy(std::mem::take(&mut config.policy));
        let severities = std::mem::take(&mut config.severity);
        let checker = Checker::new(rules, least, toolsets).severities(severities);
        let compares = self.baseline.is_some();
        let checker = if self.judge.is_some() { checker.with_doubts() } else { checker };
        let keeps_calls = self.keeps_calls;
        let checker = if keeps_calls { checker.keep_calls() } else { checker };
        Ok(if compares || self.has_cards { checker.keep_sessions() } else { checker })
    }

    /// Returns which data to keep of each run: keeping less limits how much memory grows with the
    /// number of runs.
    fn keep(&self, events: &dyn ActionEvents) -> KeepOptions {
        KeepOptions {
            redactor: events.redactor(),
            raw: self.judge.is_some() || self.baseline.is_some() || self.promote.is_some(),
            profiles: self.has_cards,
            destructive: self.has_cards || self.lists_destructive,
        }
    }

    /// Opens the judge for calls that the rules are unsure about.
    fn open_judge(
        &self,
        judge: &JudgeOptions,
        events: &mut dyn ActionEvents,
    ) -> Result<OpenJudge, Stop> {
        let request = JudgeRequest {
            part_of: self.config.as_deref(),
            usual: &UsualJudge::default(),
            may_run: true,
            gates: true,
        };
        judge.open_some(&request, events)
    }

    /// Returns the gates of the file (the default ones if it has none and gates are requested) and
    /// of the command line.
    fn gates(&self, of_file: Option<Vec<Gate>>) -> Result<Vec<Gate>, Failure> {
        let wants_usual = self.gates.iter().any(String::is_empty);
        let mut gates = match of_file {
            None if wants_usual => gate::defaults(),
            of_file => of_file.unwrap_or_default(),
        };
        for text in self.gates.iter().filter(|text| !text.is_empty()) {
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
                .causes([error.to_string()])
                .hint("`toolmark check --report json=FILE` writes one")
        })?;
        Ok(Some(baseline))
    }

    fn promote(
        &self,
        directory: &Path,
        run: &CheckRun,
        inputs: &[InputFile],
        reader: &FileReader,
        events: &mut dyn ActionEvents,
    ) -> Result<(), Stop> {
        let most = self.max_cases;
        let chosen = promote::choose(&run.checked.findings, self.alike, most);
        if chosen.is_empty() {
            events.note(Tone::Note, "no finding to promote".into())?;
            return Ok(());
        }
        let made = promoting::cases(&chosen, self.alike, inputs, reader)?;
        let count = promoting::write(&made.cases, directory, events.redactor())
            .map_err(|error| Failure::write(directory, &error))? as u64;
        if made.unseen > 0 {
            let findings = human::things(made.unseen as u64, "finding");
            let words = format!("{findings} not promoted: graders know only built-in toolsets");
            events.note(Tone::Note, events.redactor().apply(words))?;
        }
        if events.verbosity() > Verbosity::Quiet {
            let cases = human::things(count, "case");
            let to = directory.display();
            let words =
                format!("{cases} written to {to}; next: toolmark grade {to}/toolmark.yaml RUNS");
            events.note(Tone::Note, events.redactor().apply(words))?;
        }
        Ok(())
    }
}

fn check_all(
    checker: &Checker,
    reader: &FileReader,
    selected: &Selected,
    keep: KeepOptions,
    events: &mut dyn ActionEvents,
) -> Result<(CheckRun, PrintedSessions, ReadSummary), Stop> {
    let (mut run, mut stored) = (CheckRun::default(), Collected::default());
    let mut sessions = PrintedSessions::default();
    let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, CheckedPart>| {
        super::check(runs, checker, keep, reader.pool(), emit);
    };
    let mut repeated = Repeated::default();
    let walked = reader.stream(&selected.inputs, events, work, |part| {
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
        Ok(if selected.limit == Some(run.files) {
            Continuation::Enough
        } else {
            Continuation::More
        })
    })?;
    run.stored = Some(Box::new(stored.finish()?));
    run.notes.extend(walked.note(events.verbosity()).map(Into::into));
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
fn unrecorded(checked: &CheckedTraces) -> impl Iterator<Item = String> {
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
fn not_asked(checked: &CheckedTraces) -> Option<String> {
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
    let mut each: SortedMap<Untrusted, Cells> = SortedMap::new();
    for session in run.checked.sessions.iter().filter(|_| before.is_some()) {
        if let Some(id) = &session.id {
            each.entry(id.clone()).or_default().merge(&session.cells(&shares));
        }
    }
    let earlier = before.map(|before| before.earlier(&each));
    gates.iter().flat_map(|gate| gate.rows(&now, earlier.as_ref())).collect()
}
