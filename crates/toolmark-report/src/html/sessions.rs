//! The sessions of a check for the page, and the assignment of findings to them.

use crate::model::{CheckRun, PrintableFinding, SessionProfile};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use toolmark_check::{ScoreTally, ToolCard};
use toolmark_outcome::{Axis, Printable, Severity, printable};

/// Maximum number of sessions on the page, those with the most faults first.
const MAX_SESSIONS: usize = 1000;
/// Number of characters of a short session ID.
const ID: usize = 8;

/// The sessions with findings.
pub(super) struct HtmlSessions<'r> {
    all: &'r [SessionProfile],
    by_id: HashMap<&'r str, usize>,
    by_file: HashMap<&'r str, usize>,
}

impl<'r> HtmlSessions<'r> {
    pub(super) fn new(run: &'r CheckRun) -> Self {
        let all = &run.checked.profiles[..];
        let mut sessions = Self { all, by_id: HashMap::new(), by_file: HashMap::new() };
        for (at, profile) in all.iter().enumerate() {
            for id in profile.id.iter().chain(&profile.sub_agents) {
                sessions.by_id.entry(id).or_insert(at);
            }
            sessions.by_file.entry(&profile.file).or_insert(at);
        }
        sessions
    }

    /// Returns the session of a finding. If an ID occurs in several files, the file decides.
    pub(super) fn of(&self, finding: &PrintableFinding) -> Option<usize> {
        let in_file = self.by_file.get(&*finding.place.file).copied();
        let by_id = finding.session.as_deref().and_then(|id| self.by_id.get(id)).copied();
        let is_its = |at: &usize| {
            self.all
                .get(*at)
                .is_some_and(|profile| profile.id.as_deref() == finding.session.as_deref())
        };
        in_file.filter(is_its).or(by_id).or(in_file)
    }

    /// Display name of a session.
    pub(super) fn name(&self, at: usize) -> Printable {
        self.all.get(at).map(name).unwrap_or_default()
    }

    /// Returns the session rows of the page.
    pub(super) fn rows(&self, run: &CheckRun) -> io::Result<Value> {
        let mut found = vec![[0_u64; 3]; self.all.len()];
        for finding in run.new_findings()? {
            let finding = finding?;
            if let Some(counts) = self.of(&finding).and_then(|at| found.get_mut(at)) {
                counts[finding.severity as usize] += 1;
            }
        }
        let cards: HashMap<&str, ToolCard> = run
            .checked
            .sessions
            .iter()
            .filter_map(|session| Some((session.id.as_deref()?, session.total())))
            .collect();
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.all[*at].faults));
        let items: Vec<Value> = order
            .into_iter()
            .take(MAX_SESSIONS)
            .map(|at| {
                let profile = &self.all[at];
                let card = profile.id.as_deref().and_then(|id| cards.get(id));
                row(at, profile, found[at], card)
            })
            .collect();
        Ok(json!({ "items": items, "next": null, "total": self.all.len() }))
    }
}

/// A session in the page's data. Unknown values are null, not zero.
fn row(at: usize, profile: &SessionProfile, found: [u64; 3], card: Option<&ToolCard>) -> Value {
    let of = |severity: Severity| found[severity as usize];
    json!({
        "id": id(at),
        "source": "file",
        "host": null,
        "agent": profile.agent,
        "version": null,
        "model": profile.model,
        "project": profile.project,
        "path": profile.file,
        "request": name(profile),
        "started": profile.started,
        "ended": null,
        "live": false,
        "calls": profile.calls.calls,
        "failed": profile.failed.calls,
        "denied": null,
        "tokens": { "total": profile.calls.tokens(), "input": null, "output": null, "cache": null },
        "cost_usd": null,
        "duration_ms": profile.calls.milliseconds(),
        "axes": card.map(axes),
        "findings": {
            "error": of(Severity::Error),
            "warning": of(Severity::Warning),
            "note": of(Severity::Info),
        },
        "gap": null,
        "evaluated_at": null,
    })
}

/// ID of a session in page addresses.
pub(super) fn id(at: usize) -> String {
    format!("s{}", at + 1)
}

/// The four axes of a card.
pub(super) fn axes(card: &ToolCard) -> Value {
    Axis::ALL.iter().map(|axis| (axis.word().to_owned(), share(card.axis(*axis)))).collect()
}

fn share(tally: ScoreTally) -> Value {
    let rate = tally.rate();
    // Rounding must not put the share outside of its own interval.
    let interval =
        tally.interval().zip(rate).map(|((low, high), rate)| (low.min(rate), high.max(rate)));
    json!({
        "good": rate.map_or(0.0, |rate| rate * tally.of as f64),
        "total": tally.of,
        "score": rate,
        "low": interval.map(|(low, _)| low),
        "high": interval.map(|(_, high)| high),
    })
}

fn name(profile: &SessionProfile) -> Printable {
    let end = |path: &Printable| {
        path.reshape(|path| path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
    };
    let place = end(profile.project.as_ref().unwrap_or(&profile.file));
    match &profile.id {
        Some(id) => {
            let start = id.char_indices().nth(ID).map_or(id.len(), |(at, _)| at);
            printable!("{} {}", place, id.reshape(|id| id.get(..start).unwrap_or(id)))
        }
        None => place,
    }
}

/// Returns the command that shows the call at fault in its trace.
pub(super) fn show_command(finding: &PrintableFinding) -> Option<String> {
    let step = finding.evidence.first()?.call.as_ref()?.step_number()?;
    let file = finding.place.file.replace('\'', "'\\''");
    Some(format!("toolmark show '{file}' --step {step}"))
}
