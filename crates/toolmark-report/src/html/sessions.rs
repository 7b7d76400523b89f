//! The sessions of a check: a table to sort, and each one with its findings in the order of
//! its calls.

use super::safe;
use crate::model::{CheckRun, Finding, SessionProfile};
use crate::shown;
use crate::terminal::text::cut;
use maud::{Markup, html};
use std::collections::HashMap;
use toolmark_outcome::{Printable, printable};

/// So many sessions are on the page, those with the most faults first.
const MAX_SESSIONS: usize = 1000;
/// How much of an id tells sessions apart.
const ID: usize = 8;
/// So much of a finding is repeated here.
const MAX_WORDS: usize = 100;

/// The sessions that findings belong to.
pub(super) struct Sessions<'r> {
    all: &'r [SessionProfile],
    by_id: HashMap<&'r str, usize>,
    by_file: HashMap<&'r str, usize>,
    /// The findings on the page, by session: their numbers there.
    findings: HashMap<usize, Vec<(usize, &'r Finding)>>,
}

impl<'r> Sessions<'r> {
    /// The sessions of a run, and the findings of it that are on the page.
    pub(super) fn new(run: &'r CheckRun, shown: &[&'r Finding]) -> Self {
        let all = &run.checked.profiles[..];
        let mut sessions =
            Self { all, by_id: HashMap::new(), by_file: HashMap::new(), findings: HashMap::new() };
        for (at, profile) in all.iter().enumerate() {
            for id in profile.id.iter().chain(&profile.sub_agents) {
                sessions.by_id.entry(id).or_insert(at);
            }
            sessions.by_file.entry(&profile.file).or_insert(at);
        }
        for (number, finding) in shown.iter().enumerate() {
            if let Some(session) = sessions.of(finding) {
                sessions.findings.entry(session).or_default().push((number, finding));
            }
        }
        // The session's own calls come first, then those of its sub-agents.
        for (at, findings) in &mut sessions.findings {
            let own = all.get(*at).map(|profile| &*profile.file);
            findings.sort_by_key(|(_, finding)| {
                let place = &finding.place;
                (Some(&*place.file) != own, &finding.session, place.line)
            });
        }
        sessions
    }

    /// The session a finding belongs to. The file decides where an id occurs in several.
    pub(super) fn of(&self, finding: &Finding) -> Option<usize> {
        let in_file = self.by_file.get(&*finding.place.file).copied();
        let by_id = finding.session.as_deref().and_then(|id| self.by_id.get(id)).copied();
        let is_its = |at: &usize| {
            self.all
                .get(*at)
                .is_some_and(|profile| profile.id.as_deref() == finding.session.as_deref())
        };
        in_file.filter(is_its).or(by_id).or(in_file)
    }

    /// What people know a session by.
    pub(super) fn name(&self, at: usize) -> Printable {
        self.all.get(at).map(name).unwrap_or_default()
    }
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

/// Where on the page a finding is.
pub(super) fn finding_id(at: usize) -> String {
    format!("f{at}")
}

/// Where on the page a session is.
pub(super) fn session_id(at: usize) -> String {
    format!("s{at}")
}

/// The command that shows the call at fault in its trace.
pub(super) fn show_command(finding: &Finding) -> Option<String> {
    let step = finding.evidence.first()?.call.as_ref()?.step_number()?;
    let file = finding.place.file.replace('\'', "'\\''");
    Some(format!("toolmark show '{file}' --step {step}"))
}

/// The table of sessions, and the sessions with findings.
pub(super) fn section(sessions: &Sessions<'_>) -> Markup {
    let mut order: Vec<usize> = (0..sessions.all.len()).collect();
    let faults = |at: &usize| sessions.all.get(*at).map_or(0, |profile| profile.faults);
    order.sort_by_key(|at| std::cmp::Reverse(faults(at)));
    let left_out = order.len().saturating_sub(MAX_SESSIONS);
    let rows = order.iter().take(MAX_SESSIONS);
    let rows: Vec<(usize, &SessionProfile)> =
        rows.filter_map(|at| Some((*at, sessions.all.get(*at)?))).collect();
    let with_findings: Vec<usize> = {
        let mut all: Vec<usize> = sessions.findings.keys().copied().collect();
        all.sort_by_key(|at| (std::cmp::Reverse(faults(at)), *at));
        all
    };
    html! {
        @if !rows.is_empty() {
            details class="panel group" data-lead="sessions" open aria-label="Sessions" {
                summary { b { "sessions" } span class="dim" { "× " (sessions.all.len()) } }
                div class="scroll tall" {
                    table {
                        thead { tr {
                            @for word in ["session", "agent", "model", "started", "calls", "failed", "faults"] {
                                th scope="col" { button type="button" { (word) } }
                            }
                        } }
                        tbody { @for (at, profile) in &rows { (row(*at, profile, sessions)) } }
                    }
                }
                @if left_out > 0 { p class="dim more" { "and " (left_out) " more" } }
            }
            @for at in with_findings { (session(at, sessions)) }
        }
    }
}

fn row(at: usize, profile: &SessionProfile, sessions: &Sessions<'_>) -> Markup {
    let number = |n: u64| html! { td class="num" data-v=(n) { (n) } };
    let name = safe(&name(profile));
    let unknown = || Printable::from("\u{2013}");
    let started = profile.started.as_deref().and_then(|time| time.get(..16)).unwrap_or("\u{2013}");
    html! {
        tr class="item" {
            td title=(safe(&profile.file)) {
                @if sessions.findings.contains_key(&at) {
                    a href={ "#" (session_id(at)) } { (name) }
                } @else { (name) }
            }
            td { (safe(&profile.agent)) }
            td { (safe(&profile.model.clone().unwrap_or_else(unknown))) }
            td class="when" { (started.replace('T', " ")) }
            (number(profile.calls.calls)) (number(profile.failed.calls)) (number(profile.faults))
        }
    }
}

/// One session: the calls at fault, in order.
fn session(at: usize, sessions: &Sessions<'_>) -> Markup {
    let Some(profile) = sessions.all.get(at) else { return Markup::default() };
    let findings = sessions.findings.get(&at).map(Vec::as_slice).unwrap_or_default();
    let name = safe(&name(profile));
    html! {
        details class="panel group session" id=(session_id(at)) data-lead=(name) {
            summary {
                b { (name) }
                span class="dim" {
                    (shown::things(profile.calls.calls, "call")) ", "
                    (shown::things(profile.faults, "fault"))
                }
            }
            p class="dim more" { code { (safe(&profile.file)) } }
            ol class="findings" {
                @for (number, finding) in findings {
                    li class="item" {
                        @if let Some(call) = finding.evidence.first().and_then(|e| e.call.as_ref()) {
                            span class="dim" { "call " (call.number()) " " (safe(&call.tool)) " " }
                        }
                        a href={ "#" (finding_id(*number)) } {
                            (finding.severity.word()) " " (finding.code) ": "
                            (safe(&cut(&finding.message, MAX_WORDS)))
                        }
                    }
                }
            }
        }
    }
}
