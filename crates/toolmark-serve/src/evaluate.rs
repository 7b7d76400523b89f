//! Converts a trajectory to the rows of the store. The rules, the issue keys and the scorecard are
//! those of `toolmark check` and `toolmark feed`.

use crate::model::{Axes, Axis, FindingCount, SessionRow, SessionSource, Time, TokenCount};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_check::{Checker, ScoreTally, Toolsets};
use toolmark_feed::{Batch, Collector, IssueKey, OccurrenceKind, failure_keys};
use toolmark_outcome::{Axis as Side, Redactor, Severity};
use toolmark_report::terminal::first_words;
use toolmark_session::Session;
use toolmark_trace::{RecordedCalls, Status, Text, Trajectory};

/// Maximum number of stored bytes of the user's request.
const MAX_REQUEST: usize = 400;

/// The rules and issue keys for every session.
pub(crate) struct Evaluator {
    checker: Checker,
    collector: Collector,
    redactor: Redactor,
}

/// A call as stored.
#[derive(Debug, Clone)]
pub(crate) struct CallFact {
    pub(crate) number: u64,
    pub(crate) tool: String,
    pub(crate) status: &'static str,
    pub(crate) ms: Option<i64>,
    pub(crate) at: Option<i64>,
    pub(crate) byte: i64,
    pub(crate) class: Option<String>,
    pub(crate) recovery: Option<&'static str>,
}

/// Result of evaluating a session.
pub(crate) struct Evaluated {
    pub(crate) row: SessionRow,
    pub(crate) calls: Vec<CallFact>,
    pub(crate) batch: Batch,
}

impl Evaluator {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            checker: Checker::default(),
            collector: Collector::new(Checker::default(), None),
            redactor,
        }
    }

    /// Evaluates a run and its sub-agents.
    pub(crate) fn evaluate(&self, run: &Trajectory, source: SessionSource) -> Evaluated {
        let mut batch = Batch::default();
        self.collector.collect(run, &mut batch);
        let calls = calls(run, &batch, self.checker.toolsets());
        batch.redact(self.redactor);
        let row = self.row(run, source);
        Evaluated { row, calls, batch }
    }

    fn row(&self, run: &Trajectory, source: SessionSource) -> SessionRow {
        let text = |text: &Option<Text>| {
            let text = text.as_ref().map(|text| text.get().into_owned());
            text.filter(|text| !text.is_empty()).map(|text| self.redactor.apply(text).into())
        };
        let checked = self.checker.check(run);
        let total = checked.scorecard.total();
        let mut findings = FindingCount::default();
        for finding in &checked.findings {
            match finding.severity {
                Severity::Error => findings.error += 1,
                Severity::Warning => findings.warning += 1,
                Severity::Info => findings.note += 1,
            }
        }
        let all = run.flatten();
        let is_recorded = all.iter().all(|one| one.calls_recorded() != RecordedCalls::Not);
        let count = |is_one: &dyn Fn(Status) -> bool| {
            let calls = all.iter().flat_map(|one| &one.calls);
            is_recorded.then(|| calls.filter(|call| is_one(call.status)).count() as u64)
        };
        let verdict = match findings {
            FindingCount { error: 1.., .. } => "fail",
            _ if checked.declared.failed > 0 => "fail",
            FindingCount { warning: 1.., .. } => "warn",
            _ if !is_recorded => "unknown",
            _ => "ok",
        };
        let host = Session::new(run, self.checker.toolsets()).host().id.to_string();
        let project = checked.profiles.first().and_then(|profile| profile.project.as_ref());
        let request = String::from(first_words(run, self.redactor));
        let started = all.iter().filter_map(|one| one.started).min();
        let ended = all.iter().filter_map(|one| one.ended).max();
        let duration = started.zip(ended).map(|(start, end)| end.duration_since(start).as_millis());
        SessionRow {
            id: run.id.as_ref().map(|id| id.get().into_owned()).unwrap_or_default(),
            source,
            host: Some(host).filter(|host| !host.is_empty()),
            agent: text(&run.agent.name).or_else(|| Some(run.format.to_owned())),
            version: text(&run.agent.version),
            model: text(&run.agent.model),
            project: project.map(|project| self.redactor.apply(project.clone()).into()),
            path: None,
            request: Some(cut(request, MAX_REQUEST)).filter(|words| !words.is_empty()),
            started: started.map(Time),
            ended: ended.map(Time),
            live: false,
            turns: u64::from(run.user_turns),
            steps: all.iter().map(|one| one.steps.len() as u64).sum(),
            calls: count(&|_| true),
            failed: count(&|status| status == Status::Failed),
            denied: count(&|status| status == Status::Denied),
            tokens: tokens(&all),
            cost_usd: cost(&all),
            duration_ms: duration.and_then(|ms| u64::try_from(ms).ok()),
            axes: Axes {
                selection: axis(total.axis(Side::Selection)),
                arguments: axis(total.axis(Side::Arguments)),
                irreversibility: axis(total.axis(Side::Irreversibility)),
                recovery: axis(total.axis(Side::Recovery)),
            },
            findings,
            gap: None,
            evaluated_at: Some(Time(Timestamp::now())),
            verdict: verdict.to_owned(),
        }
    }
}

/// Returns the last character boundary at or before a byte.
pub(crate) fn border(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Truncates a text at a character boundary.
pub(crate) fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(border(&text, bytes));
        text.push('…');
    }
    text
}

fn axis(tally: ScoreTally) -> Axis {
    let interval = tally.interval();
    Axis {
        good: tally.rate().unwrap_or(0.0) * tally.of as f64,
        total: tally.of,
        score: tally.rate(),
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
    }
}

fn tokens(all: &[&Trajectory]) -> TokenCount {
    let mut sum = TokenCount::default();
    let mut add = |field: fn(&mut TokenCount) -> &mut Option<u64>, count: u64| {
        *field(&mut sum).get_or_insert(0) += count;
    };
    for usage in all.iter().filter_map(|one| one.usage.as_ref()) {
        let each = usage.normalised();
        add(|all| &mut all.total, usage.total());
        add(|all| &mut all.input, each.uncached_input);
        add(|all| &mut all.output, each.output);
        add(|all| &mut all.cache, each.cache_read + each.cache_write);
    }
    sum
}

fn cost(all: &[&Trajectory]) -> Option<f64> {
    let costs: Vec<f64> =
        all.iter().filter_map(|one| one.cost.as_ref()).map(|cost| cost.usd()).collect();
    (!costs.is_empty()).then(|| costs.iter().sum())
}

/// Returns every call of a run and its sub-agents, numbered consecutively, beginning with the run's
/// own calls.
fn calls(run: &Trajectory, batch: &Batch, toolsets: &Toolsets) -> Vec<CallFact> {
    let recoveries: HashMap<(&str, u64), &'static str> = batch
        .occurrences
        .iter()
        .filter(|one| one.kind == OccurrenceKind::Failure)
        .filter_map(|one| {
            let file = &*batch.origins.get(one.origin)?.file;
            Some(((file, one.byte), one.recovery.word()))
        })
        .collect();
    let mut facts = Vec::new();
    for one in run.flatten() {
        let classes: HashMap<usize, String> = failure_keys(one, toolsets)
            .into_iter()
            .filter_map(|(index, key)| match key {
                IssueKey::Failure { class, .. } => Some((index, class.word().to_owned())),
                IssueKey::Finding { .. } => None,
            })
            .collect();
        for (index, call) in one.calls.iter().enumerate() {
            let place = call.at.location();
            let result = call.result.as_ref();
            let at = call.started.or_else(|| result.and_then(|result| result.time));
            facts.push(CallFact {
                number: facts.len() as u64 + 1,
                tool: call.name.full().into_owned(),
                status: call.status.word(),
                ms: call.duration.and_then(|took| i64::try_from(took.as_millis()).ok()),
                at: at.map(Timestamp::as_millisecond),
                byte: i64::try_from(place.byte).unwrap_or(i64::MAX),
                class: classes.get(&index).cloned(),
                recovery: recoveries.get(&(&*place.file, place.byte)).copied(),
            });
        }
    }
    facts
}
