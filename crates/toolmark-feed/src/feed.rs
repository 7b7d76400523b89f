//! Occurrences of many files, grouped into issues. Rows are small, and the issues do not depend on
//! their order.

use crate::class::FailureClass;
use crate::facts::IssueFacts;
use crate::feed_run::ListedOccurrence;
use crate::fix::fix;
use crate::issue::{Category, Issue, Lost, NameTally, Recoveries, Representative, Week, grader};
use crate::key::{IssueId, IssueKey};
use crate::occurrence::{About, Batch, OccurrenceExample, OccurrenceKind, Recovery, SessionOrigin};
use crate::similar::similar;
use crate::state::{IssueDecisions, IssueHistory, SeenOnce, is_escalating};
use crate::subject::Subject;
use crate::title::title;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use toolmark_base::sorted::MapEntry as MergedEntry;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_check::{rule_by_code, week_of};
use toolmark_outcome::TracePlace;
use toolmark_trace::Location;

/// Maximum number of names kept per property of an issue.
const MAX_NAMES: usize = 12;

/// Maximum number of weeks in an issue's history.
const MAX_WEEKS: usize = 104;

/// Size of the call IDs, in bytes, from which unused ones are dropped.
const MAX_TEXTS: usize = 16 << 20;

/// A compact occurrence.
#[derive(Debug, Clone)]
struct FeedOccurrenceRow {
    issue: IssueId,
    /// Identity of the call, equal in every file.
    identity: u64,
    origin: u32,
    tool: u32,
    subject: u32,
    line: u32,
    column: u32,
    byte: u64,
    /// Time in milliseconds; the minimum if unknown.
    time: i64,
    call: (u32, u32),
    kind: OccurrenceKind,
    recovery: Recovery,
    /// Number of tokens; the maximum, as in the following fields, if unknown.
    tokens: u32,
    output_tokens: u32,
    milliseconds: u32,
}

const UNKNOWN: u32 = u32::MAX;

/// Occurrences of many files.
#[derive(Debug, Default)]
pub struct Feed {
    rows: Vec<FeedOccurrenceRow>,
    seen: HashMap<u64, u32>,
    /// Calls that occur in more than one file.
    shared: HashSet<u64>,
    origins: Vec<SessionOrigin>,
    origin_ids: HashMap<u64, u32>,
    names: Vec<Arc<str>>,
    name_ids: HashMap<Arc<str>, u32>,
    subjects: Vec<Subject>,
    subject_ids: HashMap<Subject, u32>,
    calls_text: String,
    about: HashMap<IssueId, About>,
    /// Number of sessions read.
    pub sessions: u64,
    /// Number of calls in the sessions.
    pub calls: u64,
    /// Number of sessions without a record of their calls.
    pub unrecorded: u64,
    /// Number of occurrences that were repeated in another file.
    pub repeated: u64,
}

impl Feed {
    /// Adds the occurrences of a file; returns the numbers of its origins, for [`Feed::replace`]
    /// and [`Feed::origin_at`].
    pub fn add(&mut self, batch: Batch) -> Vec<u32> {
        self.sessions += batch.sessions;
        self.calls += batch.calls;
        self.unrecorded += batch.unrecorded;
        for (id, about) in batch.about {
            match self.about.entry(id) {
                Entry::Vacant(entry) => drop(entry.insert(about)),
                Entry::Occupied(mut entry) => entry.get_mut().merge(about),
            }
        }
        let origins: Vec<u32> = batch.origins.into_iter().map(|one| self.origin(one)).collect();
        for one in batch.occurrences {
            let Some(origin) = origins.get(one.origin).copied() else { continue };
            let session = self.origins.get(origin as usize).map_or("", |one| &one.session);
            let row = FeedOccurrenceRow {
                issue: one.issue,
                identity: identity(session, &one.call_id, one.kind, one.issue),
                origin,
                tool: self.name(&one.tool),
                subject: self.subject(one.subject),
                line: one.line,
                column: one.column,
                byte: one.byte,
                time: one.time.map_or(i64::MIN, |time| time.as_millisecond()),
                call: (0, 0),
                kind: one.kind,
                recovery: one.recovery,
                tokens: bounded(one.spent.tokens(), one.spent.counted),
                output_tokens: bounded(one.spent.output_tokens(), one.spent.counted),
                milliseconds: bounded(one.spent.milliseconds(), one.spent.timed),
            };
            self.insert(row, &one.call_id);
        }
        origins
    }

    /// Returns the origin of occurrences by the number that [`Feed::add`] returned.
    #[must_use]
    pub fn origin_at(&self, number: u32) -> Option<&SessionOrigin> {
        self.origins.get(number as usize)
    }

    /// Adds a row, or replaces the row of the same call in another file.
    fn insert(&mut self, mut row: FeedOccurrenceRow, call_id: &str) {
        match self.seen.entry(row.identity) {
            Entry::Vacant(entry) => {
                entry.insert(self.rows.len() as u32);
                let start = self.calls_text.len() as u32;
                self.calls_text.push_str(call_id);
                row.call = (start, call_id.len() as u32);
                self.rows.push(row);
            }
            Entry::Occupied(entry) => {
                self.repeated += 1;
                self.shared.insert(row.identity);
                let origins = &self.origins;
                let Some(known) = self.rows.get_mut(*entry.get() as usize) else { return };
                // The file that shows more of what followed is the one to believe.
                let rank = |row: &FeedOccurrenceRow| {
                    let file = &origins[row.origin as usize].file;
                    (std::cmp::Reverse(row.recovery), file.clone(), row.byte, row.issue)
                };
                if rank(&row) < rank(known) {
                    row.call = known.call;
                    *known = row;
                }
            }
        }
    }

    /// Replaces the occurrences of some origins with those of the batches; returns what
    /// [`Feed::add`] returns for each batch. `None` if that is impossible and everything must be
    /// added again: a call is in another file too, or the example of an issue is from a session
    /// that no longer has it. The counts of sessions and calls still include the replaced ones.
    pub fn replace(&mut self, old: &[u32], batches: Vec<Batch>) -> Option<Vec<Vec<u32>>> {
        let old: HashSet<u32> = old.iter().copied().collect();
        let is_gone = |row: &FeedOccurrenceRow| old.contains(&row.origin);
        let mut left: HashSet<IssueId> = HashSet::new();
        let mut texts = 0;
        for row in &self.rows {
            texts += row.call.1 as usize;
            if is_gone(row) {
                if self.shared.contains(&row.identity) {
                    return None;
                }
                left.insert(row.issue);
            }
        }
        let sessions: HashSet<Arc<str>> =
            old.iter().filter_map(|at| Some(self.origin_at(*at)?.session.clone())).collect();
        let is_kept = |id: &IssueId, example: &OccurrenceExample| {
            let now = batches.iter().filter_map(|batch| batch.about.get(id)?.example.as_ref());
            now.into_iter().any(|now| now.rank <= example.rank)
        };
        let has_examples = left.iter().all(|id| {
            let example = self.about.get(id).and_then(|about| about.example.as_ref());
            example.is_none_or(|example| {
                !sessions.contains(&*example.rank.session) || is_kept(id, example)
            })
        });
        if !has_examples || self.calls_text.len() > MAX_TEXTS.max(2 * texts) {
            return None;
        }
        for id in &left {
            // The same example may know more of what followed by now.
            let Some(about) = self.about.get_mut(id) else { continue };
            about.example.take_if(|example| sessions.contains(&*example.rank.session));
        }
        if !left.is_empty() {
            self.rows.retain(|row| !is_gone(row));
            self.seen.clear();
            self.seen.extend((0..).zip(&self.rows).map(|(at, row)| (row.identity, at)));
        }
        Some(batches.into_iter().map(|batch| self.add(batch)).collect())
    }

    fn origin(&mut self, mut origin: SessionOrigin) -> u32 {
        let mut hasher = DefaultHasher::new();
        origin.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(id) = self.origin_ids.get(&hash) {
            return *id;
        }
        let id = self.origins.len() as u32;
        // Many sessions have the same few agents, models and projects.
        origin.agent = self.shared(&origin.agent);
        origin.host = self.shared(&origin.host);
        for text in [&mut origin.project, &mut origin.model, &mut origin.version] {
            *text = text.take().map(|text| self.shared(&text));
        }
        self.origins.push(origin);
        self.origin_ids.insert(hash, id);
        id
    }

    /// Returns the shared copy of a text.
    fn shared(&mut self, text: &Arc<str>) -> Arc<str> {
        let id = self.name(text);
        self.names.get(id as usize).unwrap_or(text).clone()
    }

    fn name(&mut self, name: &Arc<str>) -> u32 {
        if let Some(id) = self.name_ids.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.clone());
        self.name_ids.insert(name.clone(), id);
        id
    }

    fn subject(&mut self, subject: Subject) -> u32 {
        if let Some(id) = self.subject_ids.get(&subject) {
            return *id;
        }
        let id = self.subjects.len() as u32;
        self.subjects.push(subject.clone());
        self.subject_ids.insert(subject, id);
        id
    }

    fn call_id(&self, row: &FeedOccurrenceRow) -> &str {
        let start = row.call.0 as usize;
        self.calls_text.get(start..start + row.call.1 as usize).unwrap_or_default()
    }

    fn origin_of(&self, row: &FeedOccurrenceRow) -> &SessionOrigin {
        &self.origins[row.origin as usize]
    }

    /// Returns the rows in the order of issue, time, session and call.
    fn order(
        &self,
        decisions: &IssueDecisions,
        takes: impl Fn(IssueId, &FeedOccurrenceRow) -> bool,
    ) -> Vec<(IssueId, u32)> {
        let rows = (0..).zip(&self.rows).map(|(at, row)| (decisions.resolve(row.issue), at, row));
        let rows = rows.filter(|(issue, _, row)| takes(*issue, row));
        let mut order: Vec<(IssueId, u32)> = rows.map(|(issue, at, _)| (issue, at)).collect();
        order.sort_unstable_by(|(a, at), (b, bt)| {
            let by_time = || self.by_time(&self.rows[*at as usize], &self.rows[*bt as usize]);
            a.cmp(b).then_with(by_time)
        });
        order
    }

    /// Compares by time, session and call.
    fn by_time(&self, one: &FeedOccurrenceRow, other: &FeedOccurrenceRow) -> Ordering {
        let key = |row: &FeedOccurrenceRow| (row.time, row.byte, row.issue);
        // Rows of one origin are of one session.
        let by_session = || match one.origin == other.origin {
            true => Ordering::Equal,
            false => self.origin_of(one).session.cmp(&self.origin_of(other).session),
        };
        one.time
            .cmp(&other.time)
            .then_with(by_session)
            .then_with(|| self.call_id(one).cmp(self.call_id(other)))
            .then_with(|| key(one).cmp(&key(other)))
    }

    /// Returns rows by issue, in the order of issues. The counts of an issue do not depend on the
    /// order of its rows, so they are not sorted.
    fn groups(
        &self,
        decisions: &IssueDecisions,
        is_taken: impl Fn(&FeedOccurrenceRow) -> bool,
    ) -> Vec<(IssueId, Vec<&FeedOccurrenceRow>)> {
        let mut at: HashMap<IssueId, usize> = HashMap::new();
        let mut groups: Vec<(IssueId, Vec<&FeedOccurrenceRow>)> = Vec::new();
        for row in self.rows.iter().filter(|row| is_taken(row)) {
            let at = *at.entry(row.issue).or_insert_with(|| {
                groups.push((row.issue, Vec::new()));
                groups.len() - 1
            });
            groups[at].1.push(row);
        }
        let mut merged: SortedMap<IssueId, Vec<&FeedOccurrenceRow>> = SortedMap::new();
        for (id, mut rows) in groups {
            match merged.entry(decisions.resolve(id)) {
                MergedEntry::Vacant(entry) => drop(entry.insert(rows)),
                MergedEntry::Occupied(mut entry) => entry.get_mut().append(&mut rows),
            }
        }
        merged.into_iter().collect()
    }

    /// Returns every occurrence, by issue and time.
    #[must_use]
    pub fn occurrences(&self, decisions: &IssueDecisions) -> Vec<ListedOccurrence> {
        self.listed(self.order(decisions, |_, _| true))
    }

    /// Returns every occurrence of one issue, by time.
    #[must_use]
    pub fn occurrences_of(&self, id: IssueId, decisions: &IssueDecisions) -> Vec<ListedOccurrence> {
        self.listed(self.order(decisions, |issue, _| issue == id))
    }

    /// Returns the origins and times of an issue's occurrences, in no order.
    pub fn places_of<'f>(
        &'f self,
        id: IssueId,
        decisions: &'f IssueDecisions,
    ) -> impl Iterator<Item = (&'f SessionOrigin, Option<Timestamp>)> {
        let rows = self.rows.iter().filter(move |row| decisions.resolve(row.issue) == id);
        rows.map(|row| (self.origin_of(row), time_of(row)))
    }

    fn listed(&self, order: Vec<(IssueId, u32)>) -> Vec<ListedOccurrence> {
        let listed = order.into_iter().map(|(issue, at)| {
            let row = &self.rows[at as usize];
            let origin = self.origin_of(row);
            ListedOccurrence {
                issue,
                session: origin.session.as_ref().into(),
                call_id: self.call_id(row).into(),
                place: place(&origin.file, row.line, row.column, row.byte),
                time: time_of(row),
                kind: row.kind,
                recovery: row.recovery,
            }
        });
        listed.collect()
    }

    /// Returns the issues, sorted by state and number of occurrences.
    #[must_use]
    pub fn issues(&self, decisions: &IssueDecisions, now: Timestamp) -> Vec<Issue> {
        self.issues_where(decisions, now, |_, _| true)
    }

    /// Returns the issues among the occurrences selected by session and time. The representative of
    /// an issue may be another of its occurrences.
    #[must_use]
    pub fn issues_where(
        &self,
        decisions: &IssueDecisions,
        now: Timestamp,
        takes: impl Fn(&SessionOrigin, Option<Timestamp>) -> bool,
    ) -> Vec<Issue> {
        let is_taken = |row: &FeedOccurrenceRow| takes(self.origin_of(row), time_of(row));
        let groups = self.groups(decisions, is_taken);
        let mut issues = Vec::new();
        let mut keys: Vec<(IssueId, &IssueKey)> = Vec::new();
        for (id, rows) in &groups {
            // An issue that others were merged into may not have occurred itself.
            let about = self.about.get(id).or_else(|| {
                let first = rows.iter().min_by(|a, b| self.by_time(a, b))?;
                self.about.get(&first.issue)
            });
            let Some(about) = about else { continue };
            keys.push((*id, &about.key));
            let mut issue = self.issue(*id, about, rows, decisions, now);
            issue.same_calls = self.same_calls(rows, decisions, is_taken);
            issues.push(issue);
        }
        for (issue, similar) in issues.iter_mut().zip(similar(&keys)) {
            issue.similar = similar;
        }
        issues.sort_by(|a, b| {
            (a.state, is_quiet(a)).cmp(&(b.state, is_quiet(b))).then_with(|| {
                b.count
                    .cmp(&a.count)
                    .then_with(|| b.sessions.cmp(&a.sessions))
                    .then_with(|| a.id.cmp(&b.id))
            })
        });
        issues
    }

    fn issue(
        &self,
        id: IssueId,
        about: &About,
        rows: &[&FeedOccurrenceRow],
        decisions: &IssueDecisions,
        now: Timestamp,
    ) -> Issue {
        let of_origin = count_by(rows, |row| row.origin);
        let of_tool = count_by(rows, |row| row.tool);
        let origins = || of_origin.iter().map(|(at, count)| (&self.origins[*at as usize], *count));
        let mut recovery = Recoveries::default();
        let mut lost = Lost::default();
        let mut sessions: SortedSet<&str> = SortedSet::new();
        for row in rows {
            recovery.add(row.recovery);
            lost.add(row);
        }
        sessions.extend(origins().map(|(origin, _)| &*origin.session));
        let subjects = self.subjects_of(rows);
        let tools = tally(
            of_tool.iter().filter_map(|(at, n)| Some((&**self.names.get(*at as usize)?, *n))),
        );
        let hosts = tally(origins().map(|(origin, count)| (&*origin.host, count)));
        let agents: Vec<(String, u64)> = origins()
            .map(|(origin, count)| match &origin.version {
                Some(version) => (format!("{} {version}", origin.agent), count),
                None => (origin.agent.to_string(), count),
            })
            .collect();
        let weeks = weeks(rows);
        let seen = IssueHistory {
            all: rows
                .iter()
                .map(|row| {
                    let origin = self.origin_of(row);
                    let version = origin.version.as_deref();
                    SeenOnce { time: time_of(row), started: origin.started, version }
                })
                .collect(),
            is_escalating: escalates(rows, now),
        };
        let said = about.example.as_ref().map_or("", |example| &example.said);
        let facts = IssueFacts {
            key: &about.key,
            subjects: &subjects,
            tool: tools.first().map_or("", |(name, _)| name),
            host: hosts.first().map_or("", |(name, _)| name),
            count: rows.len() as u64,
            remedy: about.remedy.as_deref(),
            said,
        };
        // A line for a project's instructions names things of that project.
        let projects = tally(
            origins().filter_map(|(origin, count)| Some((origin.project.as_deref()?, count))),
        );
        let main_project = projects.first().map(|(name, _)| *name);
        let in_project: Vec<&FeedOccurrenceRow> = rows
            .iter()
            .copied()
            .filter(|row| self.origin_of(row).project.as_deref() == main_project)
            .collect();
        let of_project = self.subjects_of(&in_project);
        let fix =
            fix(&IssueFacts { subjects: &of_project, count: in_project.len() as u64, ..facts });
        let fix = fix.map(|mut fix| {
            fix.project = main_project.filter(|_| fix.file.is_some()).map(Into::into);
            fix
        });
        let times = || rows.iter().filter_map(|row| time_of(row));
        let (category, subtype, code) = kind_of(&about.key);
        let merged: SortedSet<IssueId> =
            rows.iter().map(|row| row.issue).filter(|one| *one != id).collect();
        Issue {
            id,
            kind: if code.is_some() { OccurrenceKind::Finding } else { OccurrenceKind::Failure },
            category,
            subtype,
            code,
            title: title(&facts).into(),
            role: match &about.key {
                IssueKey::Failure { role, .. } => role.word().into(),
                IssueKey::Finding { tool, .. } => tool.into(),
            },
            template: about.key.template().into(),
            count: rows.len() as u64,
            sessions: sessions.len() as u64,
            projects: tallies(projects),
            first_seen: times().min(),
            last_seen: times().max(),
            weeks,
            models: tallies(tally(
                origins().filter_map(|(origin, count)| Some((origin.model.as_deref()?, count))),
            )),
            agents: tallies(tally(agents.iter().map(|(name, count)| (name.as_str(), *count)))),
            subjects: tallies(facts.names(MAX_NAMES)),
            recovery: code.is_none().then_some(recovery),
            lost,
            representative: about.example.as_ref().map(|example| Representative {
                session: example.rank.session.as_ref().into(),
                call_id: example.rank.call_id.as_str().into(),
                place: place(
                    &example.rank.file,
                    example.rank.line,
                    example.rank.column,
                    example.rank.byte,
                ),
                call: example.call.as_str().into(),
                said: example.said.as_str().into(),
                followed: example.followed.as_deref().map(Into::into),
            }),
            similar: Vec::new(),
            same_calls: None,
            state: decisions.state(id, &seen, now),
            merged: merged.into_iter().collect(),
            notes: decisions.notes(id).map(Into::into).collect(),
            fix,
            case: grader(&about.key).into(),
            tools: tallies(tools),
        }
    }

    /// Returns the subjects of rows, the most frequent first.
    fn subjects_of(&self, rows: &[&FeedOccurrenceRow]) -> Vec<(Subject, u64)> {
        let counts = count_by(rows, |row| row.subject);
        let named =
            |(at, count): (u32, u64)| Some((self.subjects.get(at as usize)?.clone(), count));
        let mut subjects: Vec<(Subject, u64)> = counts.into_iter().filter_map(named).collect();
        subjects.sort_by(|a, b| {
            b.1.cmp(&a.1).then_with(|| (&a.0.what, &a.0.detail).cmp(&(&b.0.what, &b.0.detail)))
        });
        subjects
    }

    /// Returns, for an issue of findings, the issue of failures that contains most of its calls.
    fn same_calls(
        &self,
        rows: &[&FeedOccurrenceRow],
        decisions: &IssueDecisions,
        is_taken: impl Fn(&FeedOccurrenceRow) -> bool,
    ) -> Option<IssueId> {
        let mut shared: SortedMap<IssueId, u64> = SortedMap::new();
        for row in rows.iter().filter(|row| row.kind == OccurrenceKind::Finding) {
            let session = &self.origin_of(row).session;
            let failed = identity(session, self.call_id(row), OccurrenceKind::Failure, row.issue);
            let failed = self.seen.get(&failed).and_then(|at| self.rows.get(*at as usize));
            if let Some(failed) = failed.filter(|failed| is_taken(failed)) {
                *shared.entry(decisions.resolve(failed.issue)).or_default() += 1;
            }
        }
        let most = shared.iter().max_by_key(|(_, count)| **count)?;
        // Four of five: a few findings are about calls that nothing says failed.
        (*most.1 * 5 >= rows.len() as u64 * 4).then_some(*most.0)
    }

    /// Returns the key of an issue.
    #[must_use]
    pub fn key(&self, id: IssueId) -> Option<&IssueKey> {
        self.about.get(&id).map(|about| &about.key)
    }

    /// Returns the number of occurrences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no occurrences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Whether an issue is not a mistake of the agent: an empty result or a cancelled call.
fn is_quiet(issue: &Issue) -> bool {
    [FailureClass::Cancelled, FailureClass::NothingFound].iter().any(|c| c.word() == issue.subtype)
}

impl About {
    fn merge(&mut self, other: Self) {
        self.remedy = self.remedy.take().into_iter().chain(other.remedy).min();
        self.example = match (self.example.take(), other.example) {
            (Some(one), Some(other)) => Some(if other.rank < one.rank { other } else { one }),
            (one, other) => one.or(other),
        };
    }
}

impl Lost {
    fn add(&mut self, row: &FeedOccurrenceRow) {
        if row.tokens != UNKNOWN {
            self.counted += 1;
            *self.tokens.get_or_insert(0) += u64::from(row.tokens);
            *self.output_tokens.get_or_insert(0) += u64::from(row.output_tokens);
        }
        if row.milliseconds != UNKNOWN {
            self.timed += 1;
            *self.duration_ms.get_or_insert(0) += u64::from(row.milliseconds);
        }
    }
}

fn bounded(number: Option<u64>, known: u64) -> u32 {
    match number {
        Some(number) if known > 0 => number.min(u64::from(UNKNOWN) - 1) as u32,
        _ => UNKNOWN,
    }
}

fn time_of(row: &FeedOccurrenceRow) -> Option<Timestamp> {
    (row.time != i64::MIN).then(|| Timestamp::from_millisecond(row.time).ok()).flatten()
}

fn place(file: &Arc<str>, line: u32, column: u32, byte: u64) -> TracePlace {
    Location { file: file.clone(), line, column, byte }.into()
}

/// Returns the identity of a call, equal in every file; findings of several rules have different
/// ones.
fn identity(session: &str, call_id: &str, kind: OccurrenceKind, issue: IssueId) -> u64 {
    let mut hasher = DefaultHasher::new();
    (session, call_id, kind).hash(&mut hasher);
    if kind == OccurrenceKind::Finding {
        issue.hash(&mut hasher);
    }
    hasher.finish()
}

/// Counts the rows of each number, in the order of numbers.
fn count_by(
    rows: &[&FeedOccurrenceRow],
    number: impl Fn(&FeedOccurrenceRow) -> u32,
) -> Vec<(u32, u64)> {
    let mut numbers: Vec<u32> = rows.iter().map(|row| number(row)).collect();
    numbers.sort_unstable();
    numbers.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
}

/// Counts names, the most frequent first.
fn tally<'n>(names: impl Iterator<Item = (&'n str, u64)>) -> Vec<(&'n str, u64)> {
    let mut counts: SortedMap<&str, u64> = SortedMap::new();
    for (name, count) in names {
        *counts.entry(name).or_default() += count;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    counts
}

fn tallies(counts: Vec<(&str, u64)>) -> Vec<NameTally> {
    let one = |(name, count): (&str, u64)| NameTally { name: name.into(), count };
    counts.into_iter().take(MAX_NAMES).map(one).collect()
}

fn day(row: &FeedOccurrenceRow) -> Option<Date> {
    Some(time_of(row)?.to_zoned(TimeZone::UTC).date())
}

/// Returns the Monday of a day's week.
fn monday(day: Date) -> Option<Date> {
    day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

/// Counts the occurrences of an issue in each week from the first to the last.
fn weeks(rows: &[&FeedOccurrenceRow]) -> Vec<Week> {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let mut days: SortedMap<i64, (u64, &FeedOccurrenceRow)> = SortedMap::new();
    for row in rows.iter().filter(|row| row.time != i64::MIN) {
        days.entry(row.time.div_euclid(DAY)).or_insert((0, row)).0 += 1;
    }
    let mut counts: SortedMap<Date, u64> = SortedMap::new();
    for (count, row) in days.into_values() {
        if let Some(monday) = day(row).and_then(monday) {
            *counts.entry(monday).or_default() += count;
        }
    }
    let (Some((first, _)), Some((last, _))) = (counts.first_key_value(), counts.last_key_value())
    else {
        return Vec::new();
    };
    let (mut at, last) = (*first, *last);
    let earliest = last.checked_sub((7 * (MAX_WEEKS as i64 - 1)).days()).unwrap_or(at);
    at = at.max(earliest);
    let mut weeks = Vec::new();
    while at <= last && weeks.len() < MAX_WEEKS {
        let week = at.to_zoned(TimeZone::UTC).map(|time| week_of(time.timestamp()));
        let count = counts.get(&at).copied().unwrap_or(0);
        weeks.extend(week.ok().map(|week| Week { week, count }));
        match at.checked_add(7.days()) {
            Ok(next) => at = next,
            Err(_) => break,
        }
    }
    weeks
}

/// Whether this week's count is far above that of the four weeks before.
fn escalates(rows: &[&FeedOccurrenceRow], now: Timestamp) -> bool {
    const WEEK: i64 = 7 * 24 * 60 * 60 * 1000;
    let now = now.as_millisecond();
    let mut counts = [0; 5];
    for row in rows.iter().filter(|row| row.time != i64::MIN) {
        let age = now.saturating_sub(row.time).max(0) / WEEK;
        if let Some(count) = usize::try_from(age).ok().and_then(|age| counts.get_mut(age)) {
            *count += 1;
        }
    }
    let [this_week, before @ ..] = counts;
    is_escalating(this_week, before)
}

/// Returns category, subtype and code.
fn kind_of(key: &IssueKey) -> (Category, &'static str, Option<&'static str>) {
    match key {
        IssueKey::Finding { code, .. } => match rule_by_code(code) {
            Some(rule) => (rule.axis.into(), rule.name, Some(rule.code)),
            None => (Category::Recovery, "", Some(code)),
        },
        IssueKey::Failure { class, .. } => {
            let category = match class {
                FailureClass::RefusedByUser => Category::Selection,
                FailureClass::RefusedByPolicy => Category::Irreversibility,
                FailureClass::EditNoMatch
                | FailureClass::EditAmbiguous
                | FailureClass::EditNotRead
                | FailureClass::EditChanged
                | FailureClass::EditNoChange
                | FailureClass::MissingPath
                | FailureClass::TooLarge
                | FailureClass::BadArguments
                | FailureClass::NothingFound => Category::Arguments,
                _ => Category::Environment,
            };
            (category, class.word(), None)
        }
    }
}
