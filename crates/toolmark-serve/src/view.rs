//! A session as shown on the page: turns, messages and calls in order, and the details of a call.

mod shapes;

pub(crate) use shapes::*;

use crate::evaluate::{border, cut};
use crate::evaluators::call_key;
use crate::library::Book;
use crate::model::Time;
use serde_json::Value;
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};
use toolmark_check::Checker;
use toolmark_hosts::install::unified_diff;
use toolmark_outcome::{Finding as Found, Redactor, Severity, TracePlace, excerpt};
use toolmark_report::terminal::{first_words, headline};
use toolmark_session::Session;
use toolmark_trace::{At, Call, Event, EventKind, Trajectory};

/// Maximum number of bytes of a timeline text.
const MAX_TEXT: usize = 16 << 10;
/// Maximum number of bytes of a result.
const MAX_RESULT: usize = 256 << 10;
/// Maximum number of bytes of a source record.
const MAX_RAW: usize = 64 << 10;
/// Maximum size of compared files.
const MAX_DIFF: usize = 512 << 10;
/// Maximum number of search results.
const MAX_HITS: usize = 200;
/// Time limit for aligning two sessions; beyond it, the alignment is approximate.
const ALIGN_FOR: Duration = Duration::from_secs(2);

/// A session prepared for the page.
pub(crate) struct SessionView<'b> {
    book: &'b Book,
    redactor: Redactor,
    /// The run and its sub-agents.
    all: Vec<&'b Trajectory>,
    /// ID of each run; `None` for the main run.
    names: Vec<Option<String>>,
    /// Number of calls before the first call of each run.
    offsets: Vec<usize>,
    /// Events of each run that are timeline entries.
    entries: Vec<Vec<usize>>,
    /// The call that started each run, by its overall index.
    parents: Vec<Option<usize>>,
}

fn is_entry(event: &Event) -> bool {
    match &event.kind {
        EventKind::User | EventKind::Call(_) | EventKind::Compaction | EventKind::Error => true,
        EventKind::Message | EventKind::Reasoning | EventKind::Skill => {
            event.text.as_ref().is_some_and(|text| !text.plain_start(64).trim().is_empty())
        }
        _ => false,
    }
}

/// Name of a severity in the API.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn time(time: Option<jiff::Timestamp>) -> Option<Time> {
    time.map(Time)
}

fn milliseconds(call: &Call) -> Option<u64> {
    call.duration.and_then(|took| u64::try_from(took.as_millis()).ok())
}

fn step(step: Option<u32>) -> Option<u64> {
    step.map(|step| u64::from(step) + 1)
}

impl<'b> SessionView<'b> {
    pub(crate) fn new(book: &'b Book, redactor: Redactor) -> Self {
        let all = book.run().flatten();
        let mut names: Vec<Option<String>> = Vec::with_capacity(all.len());
        let mut used: HashMap<String, u32> = HashMap::new();
        let mut offsets = Vec::with_capacity(all.len());
        let mut before = 0;
        for (at, one) in all.iter().enumerate() {
            let id = one.id.as_ref().map(|id| id.get().into_owned()).unwrap_or_default();
            let id = if id.is_empty() { format!("agent-{at}") } else { id };
            let times = used.entry(id.clone()).or_default();
            *times += 1;
            let id = if *times > 1 { format!("{id}~{times}") } else { id };
            names.push((at > 0).then_some(id));
            offsets.push(before);
            before += one.calls.len();
        }
        let place = |one: &Trajectory| all.iter().position(|other| std::ptr::eq(*other, one));
        let mut parents = vec![None; all.len()];
        for (at, one) in all.iter().enumerate() {
            for (call, children) in one.children_by_call().0 {
                for child in children {
                    if let Some(child) = place(child) {
                        parents[child] = Some(offsets[at] + call as usize);
                    }
                }
            }
        }
        let entries = all
            .iter()
            .map(|one| {
                let events = one.events.iter().enumerate();
                events.filter(|(_, event)| is_entry(event)).map(|(at, _)| at).collect()
            })
            .collect();
        Self { book, redactor, all, names, offsets, entries, parents }
    }

    fn hide(&self, text: impl Into<toolmark_outcome::Untrusted>) -> String {
        self.redactor.apply(text).into()
    }

    fn title(&self, run: &Trajectory, call: &Call) -> String {
        let cwd = run.cwd.as_ref().map(|cwd| cwd.get());
        let words = headline(call, cwd.as_deref(), self.redactor);
        match words.extra.is_empty() {
            true => words.main.into(),
            false => format!("{}  {}", &*words.main, &*words.extra),
        }
    }

    /// Summary of a call, by its number.
    pub(crate) fn title_of(&self, number: u64) -> Option<String> {
        let (at, index) = self.locate(number)?;
        let run = self.all.get(at)?;
        Some(self.title(run, run.calls.get(index)?))
    }

    /// Returns the indices of the run and of the call in it, by the number of the call.
    fn locate(&self, number: u64) -> Option<(usize, usize)> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let at = self.offsets.partition_point(|before| *before <= index).checked_sub(1)?;
        let within = index - self.offsets.get(at)?;
        (within < self.all.get(at)?.calls.len()).then_some((at, within))
    }

    /// Storage key of the answers about a call, by its number.
    pub(crate) fn call_key(&self, number: u64) -> Option<String> {
        let (at, index) = self.locate(number)?;
        self.all.get(at)?.calls.get(index).map(call_key)
    }

    fn number(&self, at: usize, index: usize) -> u64 {
        (self.offsets[at] + index) as u64 + 1
    }

    /// Returns the number of the call at a byte of a file.
    pub(crate) fn call_at(&self, place: &TracePlace) -> Option<u64> {
        self.all.iter().enumerate().find_map(|(at, one)| {
            let index = one.calls.iter().position(|call| {
                let here = call.at.location();
                here.byte == place.byte && *here.file == **place.file.raw()
            })?;
            Some(self.number(at, index))
        })
    }

    fn findings_of(&self, at: usize, index: usize) -> impl Iterator<Item = &Found> {
        let all = self.book.findings().get(at).into_iter().flatten();
        all.filter(move |finding| {
            let first = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
            first.is_some_and(|call| call.index == index)
        })
    }

    fn flags(&self, at: usize, index: usize) -> Vec<Flag> {
        let flag = |finding: &Found| Flag {
            code: finding.code,
            severity: severity(finding.severity),
            title: finding.name,
        };
        self.findings_of(at, index).map(flag).collect()
    }

    fn sub_agent(&self, at: usize) -> SubAgent {
        let one = self.all[at];
        let failed = one.calls.iter().filter(|call| call.status.is_error()).count();
        let name = one.name.as_ref().map(|name| self.hide(name.get().into_owned()));
        // What it was asked is an argument of the call that started it; its own first message
        // was written by the client.
        let asked = || {
            let (at, index) = self.locate(self.parents[at]? as u64 + 1)?;
            let run = self.all[at];
            let cwd = run.cwd.as_ref().map(|cwd| cwd.get());
            let words = headline(run.calls.get(index)?, cwd.as_deref(), self.redactor);
            Some(String::from(words.main)).filter(|words| !words.is_empty())
        };
        let words = || asked().unwrap_or_else(|| first_words(one, self.redactor).into());
        SubAgent {
            id: self.names[at].clone().unwrap_or_default(),
            parent_call: self.parents[at].map(|call| call as u64 + 1),
            title: Some(cut(name.unwrap_or_else(words), 200)).filter(|title| !title.is_empty()),
            calls: one.calls.len() as u64,
            failed: failed as u64,
        }
    }

    /// Returns all sub-agents.
    pub(crate) fn agents(&self) -> Vec<SubAgent> {
        (1..self.all.len()).map(|at| self.sub_agent(at)).collect()
    }

    /// Returns every call in short form.
    pub(crate) fn strip(&self) -> Vec<CallTick> {
        let mut ticks = Vec::new();
        for (at, one) in self.all.iter().enumerate() {
            let mut places: HashMap<u32, u64> = HashMap::new();
            for (n, event) in (1..).zip(&self.entries[at]) {
                if let EventKind::Call(index) = one.events[*event].kind {
                    places.insert(index, n);
                }
            }
            let mut found = vec![false; one.calls.len()];
            for finding in self.book.findings().get(at).into_iter().flatten() {
                let first = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
                if let Some(flag) = first.and_then(|call| found.get_mut(call.index)) {
                    *flag = true;
                }
            }
            for (index, call) in one.calls.iter().enumerate() {
                ticks.push(CallTick {
                    n: self.number(at, index),
                    status: call.status.word(),
                    finding: found[index],
                    agent: self.names[at].clone(),
                    step: step(call.step),
                    ms: milliseconds(call),
                    entry: u32::try_from(index).ok().and_then(|i| places.get(&i)).copied(),
                });
            }
        }
        ticks
    }

    /// Returns the user turns, and the context that the client inserted.
    pub(crate) fn turns(&self) -> Vec<TurnText> {
        let mut turn = 0;
        let mut turns = Vec::new();
        for event in &self.book.run().events {
            let is_turn = event.starts_turn();
            let is_context =
                event.kind == EventKind::Context || event.kind == EventKind::User && !is_turn;
            turn += u64::from(is_turn);
            if is_turn || is_context {
                turns.push(TurnText {
                    turn,
                    text: self.words(event),
                    at: time(event.time),
                    context: is_context,
                });
            }
        }
        turns
    }

    /// Facts that the format did not record.
    pub(crate) fn fidelity(&self) -> Vec<&'static str> {
        self.book.run().fidelity.missing().map(|fact| fact.word()).collect()
    }

    fn words(&self, event: &Event) -> String {
        let text = event.text.as_ref().map(|text| text.plain_start(MAX_TEXT + 4));
        let text = cut(text.unwrap_or_default().into_owned(), MAX_TEXT);
        match &event.kind {
            EventKind::Compaction => format!("context compacted {}", self.hide(text)),
            EventKind::Error => format!("error: {}", self.hide(text)),
            EventKind::Skill => format!("skill: {}", self.hide(text)),
            _ => self.hide(text),
        }
    }

    /// Returns the index of a run by the value of `agent=`.
    pub(crate) fn agent(&self, name: Option<&str>) -> Option<usize> {
        match name.filter(|name| !name.is_empty()) {
            None => Some(0),
            Some(name) => self.names.iter().position(|one| one.as_deref() == Some(name)),
        }
    }

    /// ID of an agent.
    pub(crate) fn agent_name(&self, at: usize) -> Option<String> {
        self.names.get(at).cloned().flatten()
    }

    /// Number of entries in the timeline of an agent.
    pub(crate) fn length(&self, at: usize) -> u64 {
        self.entries[at].len() as u64
    }

    /// Returns the agent that made a call, and the position of the call in its timeline.
    pub(crate) fn entry_of(&self, number: u64) -> Option<(usize, u64)> {
        let (at, index) = self.locate(number)?;
        let is_call = |event: &usize| matches!(self.all[at].events[*event].kind, EventKind::Call(i) if i as usize == index);
        let n = self.entries[at].iter().position(is_call)?;
        Some((at, n as u64 + 1))
    }

    /// Returns a part of the timeline of an agent, beginning at entry `from`.
    pub(crate) fn timeline(&self, at: usize, from: u64, limit: usize) -> Vec<ViewTimelineEntry> {
        let one = self.all[at];
        let start = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        let entries = self.entries[at].get(start..).unwrap_or_default();
        let before = self.entries[at].get(..start).unwrap_or_default();
        let starts = |event: &&usize| one.events[**event].starts_turn();
        let mut turn = before.iter().filter(starts).count() as u64;
        let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, call) in one.calls.iter().enumerate() {
            if let Some(step) = call.step {
                groups.entry(step).or_default().push(index);
            }
        }
        let mut made = Vec::new();
        for (n, event) in (from.max(1)..).zip(entries.iter().take(limit)) {
            let event = &one.events[*event];
            turn += u64::from(event.starts_turn());
            made.push(match &event.kind {
                EventKind::Call(index) => self.call_entry(at, *index as usize, n, &groups),
                EventKind::User => ViewTimelineEntry::Turn {
                    n,
                    turn,
                    text: self.words(event),
                    at: time(event.time),
                },
                kind => ViewTimelineEntry::Text {
                    n,
                    step: step(event.step),
                    kind: if *kind == EventKind::Reasoning { "thought" } else { "said" },
                    text: self.words(event),
                    at: time(event.time),
                },
            });
        }
        made
    }

    fn call_entry(
        &self,
        at: usize,
        index: usize,
        n: u64,
        groups: &BTreeMap<u32, Vec<usize>>,
    ) -> ViewTimelineEntry {
        let run = self.all[at];
        let call = &run.calls[index];
        let group = call.step.and_then(|step| groups.get(&step)).map_or(&[][..], Vec::as_slice);
        let parallel = match (group.first(), group.last()) {
            (Some(first), Some(last)) if first != last => match index {
                _ if *first == index => "first",
                _ if *last == index => "last",
                _ => "middle",
            },
            _ => "single",
        };
        let number = self.number(at, index);
        let started = self
            .parents
            .iter()
            .position(|parent| parent.is_some_and(|parent| parent as u64 + 1 == number));
        ViewTimelineEntry::Call {
            n,
            call: number,
            step: step(call.step),
            parallel,
            tool: self.hide(call.name.full().into_owned()),
            title: self.title(run, call),
            status: call.status.word(),
            exit: call.exit_code,
            ms: milliseconds(call),
            at: time(call.started),
            findings: self.flags(at, index),
            agent: self.names[at].clone(),
            sub_agent: started.map(|at| self.sub_agent(at)),
        }
    }

    fn place(&self, place: &TracePlace) -> TracePosition {
        TracePosition {
            file: self.hide(place.file.raw().to_string()),
            line: place.line,
            column: place.column,
        }
    }

    fn finding(&self, at: usize, found: &Found) -> FindingRow {
        let evidence = found.evidence.iter().map(|proof| {
            let call = proof.call.as_ref();
            let place = proof.place.as_ref().or_else(|| call.and_then(|call| call.place.as_ref()));
            let words = proof.excerpt.as_ref().unwrap_or(&proof.text);
            Proof {
                call: call.map(|call| self.number(at, call.index)),
                place: place.map(|place| self.place(place)),
                excerpt: self.hide(words.clone()),
            }
        });
        FindingRow {
            code: found.code,
            severity: severity(found.severity),
            title: found.name,
            message: self.hide(found.message.clone()),
            axis: found.axis.word(),
            evidence: evidence.collect(),
            fix: Some(self.hide(found.remedy.clone())).filter(|fix| !fix.is_empty()),
            confidence: found.confidence.word(),
        }
    }

    fn raw(&self, at: &At) -> RawRecord {
        let text = at.line_text(MAX_RAW).to_owned();
        let text = match text.starts_with(['{', '[']) {
            true => self.redactor.json_text(text).into(),
            false => self.hide(text),
        };
        RawRecord { place: self.place(&at.location().into()), text }
    }

    /// Returns all details of a call.
    pub(crate) fn call(&self, number: u64) -> Option<CallDetail> {
        let (at, index) = self.locate(number)?;
        let run = self.all[at];
        let call = run.calls.get(index)?;
        let checker = Checker::default();
        let session = Session::new(run, checker.toolsets());
        let known = session.call_at(index);
        let result = call.result.as_ref();
        let text = result.and_then(|result| result.payload.as_ref()).map(|payload| {
            let text = payload.plain();
            let bytes = text.len() as u64;
            let truncated = text.len() > MAX_RESULT;
            ResultText { text: self.hide(cut(text.into_owned(), MAX_RESULT)), truncated, bytes }
        });
        let args = call.args.as_ref();
        let parsed = args.and_then(|args| args.parsed()).cloned().unwrap_or(Value::Null);
        let written = args.map(|args| args.raw().into_owned()).unwrap_or_default();
        let written = match parsed.is_null() {
            true => self.hide(written),
            false => self.redactor.json_text(written).into(),
        };
        let (diff, file_state) = match known {
            Some(known) => self.diff(&session, known),
            None => (None, None),
        };
        let effects = known.and_then(|known| known.analysis()).map(|all| &all.effects[..]);
        let effect = |effect: &toolmark_shell::Effect| EffectRow {
            kind: effect.kind.word(),
            target: self.hide(effect.target.clone()),
            scope: effect.scope.word(),
            reversibility: effect.reversibility.word(),
            certainty: effect.certainty.word(),
        };
        let mut raw = vec![self.raw(&call.at)];
        raw.extend(result.map(|result| self.raw(&result.at)));
        Some(CallDetail {
            call: number,
            call_id: call.id.as_ref().map(|id| self.hide(id.get().into_owned())),
            tool: self.hide(call.name.full().into_owned()),
            title: self.title(run, call),
            status: call.status.word(),
            status_from: call.level.word(),
            exit: call.exit_code,
            ms: milliseconds(call),
            started: time(call.started),
            ended: time(result.and_then(|result| result.time)),
            step: step(call.step),
            turn: known.map_or(0, |known| u64::from(known.turn)),
            agent: self.names[at].clone(),
            arguments: (*self.redactor.json(parsed.into())).clone(),
            arguments_text: written,
            result: text,
            diff,
            file_state,
            findings: self.findings_of(at, index).map(|found| self.finding(at, found)).collect(),
            evaluations: Vec::new(),
            place: Some(self.place(&call.at.location().into())),
            raw,
            effects: effects.unwrap_or_default().iter().map(effect).collect(),
            guard: None,
        })
    }

    /// Returns the change that a call makes to a file, and whether the content of the file is
    /// known.
    fn diff(
        &self,
        session: &Session<'_>,
        call: &toolmark_session::session::SessionCall<'_>,
    ) -> (Option<EditDiff>, Option<&'static str>) {
        let edits = call.edits();
        let content = call.content().filter(|_| edits.is_empty());
        let patch = call.patch();
        if edits.is_empty() && content.is_none() && patch.is_none() {
            return (None, None);
        }
        let path = call.path.clone().unwrap_or_default();
        let hidden = self.hide(path.clone());
        if let Some(patch) = patch {
            let unified = self.hide(cut(patch.into_owned(), MAX_RESULT));
            let diff = EditDiff { path: hidden, before: None, after: None, unified };
            return (Some(diff), Some("unknown"));
        }
        let snapshot = session.files().before(session, call, &path);
        let before = snapshot.content().map(|text| text.to_string());
        let state = if before.is_some() { "known" } else { "unknown" };
        let (before, after) = match (content, before) {
            (Some(content), before) => (before, content.to_owned()),
            (None, Some(before)) => {
                let after = edits.iter().fold(before.clone(), |text, edit| match edit.all {
                    true => text.replace(edit.old, edit.new),
                    false => text.replacen(edit.old, edit.new, edit.count.unwrap_or(1).max(1)),
                });
                (Some(before), after)
            }
            // Only the parts are known: they are compared.
            (None, None) => {
                let side = |one: fn(&toolmark_session::session::Replacement<'_>) -> String| {
                    edits.iter().map(one).collect::<Vec<_>>().join("\n…\n")
                };
                (Some(side(|edit| edit.old.to_owned())), side(|edit| edit.new.to_owned()))
            }
        };
        let is_whole = state == "known" || content.is_some();
        let size = before.as_ref().map_or(0, String::len) + after.len();
        if size > MAX_DIFF {
            return (None, Some(state));
        }
        let (before, after) = (before.map(|text| self.hide(text)), self.hide(after));
        let unified = unified_diff(Path::new(&hidden), before.as_deref(), Some(&after));
        let before = before.filter(|_| is_whole);
        let after = is_whole.then_some(after);
        (Some(EditDiff { path: hidden, before, after, unified }), Some(state))
    }

    /// Searches for a text, ignoring case.
    pub(crate) fn search(&self, words: &str) -> Vec<Hit> {
        let wanted = words.to_lowercase();
        let mut hits = Vec::new();
        if wanted.is_empty() {
            return hits;
        }
        for (at, one) in self.all.iter().enumerate() {
            for (n, event) in (1..).zip(&self.entries[at]) {
                if hits.len() >= MAX_HITS {
                    return hits;
                }
                let event = &one.events[*event];
                let (call, text) = match &event.kind {
                    EventKind::Call(index) => {
                        let Some(call) = one.calls.get(*index as usize) else { continue };
                        let args = call.args.as_ref().map(|args| args.raw());
                        let result = call.result.as_ref().and_then(|r| r.payload.as_ref());
                        let result = result.map(|payload| payload.plain_start(MAX_RESULT));
                        let parts = [
                            call.name.full(),
                            args.unwrap_or_default(),
                            result.unwrap_or_default(),
                        ];
                        (Some(self.number(at, *index as usize)), parts.join("\n"))
                    }
                    _ => (None, self.words(event)),
                };
                if let Some(excerpt) = around(&self.hide(text), &wanted) {
                    hits.push(Hit { call, n, agent: self.names[at].clone(), excerpt });
                }
            }
        }
        hits
    }

    fn calls(&self) -> Vec<PairedCall> {
        let of = |at: usize| {
            let run = self.all[at];
            run.calls.iter().enumerate().map(move |(index, call)| PairedCall {
                call: self.number(at, index),
                tool: self.hide(call.name.full().into_owned()),
                title: self.title(run, call),
                status: call.status.word(),
            })
        };
        (0..self.all.len()).flat_map(of).collect()
    }

    /// Aligns the calls of two sessions.
    pub(crate) fn diff_with(&self, other: &SessionView<'_>) -> Vec<DiffRow> {
        let (left, right) = (self.calls(), other.calls());
        let keys = |all: &[PairedCall]| -> Vec<String> {
            all.iter().map(|call| format!("{}\0{}", call.tool, call.title)).collect()
        };
        let (a, b) = (keys(&left), keys(&right));
        let deadline = Some(Instant::now() + ALIGN_FOR);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &a, &b, deadline);
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        let mut rows = Vec::new();
        for op in ops {
            let (tag, old, new) = op.as_tag_tuple();
            for n in 0..old.len().max(new.len()) {
                let left = if n < old.len() { left.next() } else { None };
                let right = if n < new.len() { right.next() } else { None };
                let same = match (&left, &right) {
                    (Some(_), Some(_)) if tag == DiffTag::Equal => "equal",
                    (Some(_), Some(_)) => "changed",
                    (Some(_), None) => "removed",
                    _ => "added",
                };
                rows.push(DiffRow { left, right, same });
            }
        }
        rows
    }
}

/// Returns an excerpt around a match, on one line.
fn around(text: &str, wanted: &str) -> Option<String> {
    const BEFORE: usize = 40;
    let at = text.to_lowercase().find(wanted)?;
    let start = border(text, at.saturating_sub(BEFORE));
    let words = excerpt(&text[start..]);
    Some(if start > 0 { format!("…{words}") } else { words })
}
