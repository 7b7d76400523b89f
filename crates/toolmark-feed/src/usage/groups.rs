//! The usage of many sessions in groups: by day, month, project, model or tool.

use super::parts::{CallUsage, Owner, SessionUsage, UsagePart};
use super::prices::{NoPrice, Prices};
use super::spend::{RecordedCost, Spend, Usd};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde::ser::SerializeStruct;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use toolmark_base::{SortedMap, SortedSet, word_enum};
use toolmark_check::week_of;
use toolmark_outcome::{Printable, Redactor, Untrusted};
use toolmark_trace::{Normalised, Usage};

word_enum! {
    /// Property by which usage is grouped.
    pub enum GroupBy {
        /// Day, in UTC.
        Day = "day",
        /// ISO week, in UTC.
        Week = "week",
        /// Month, in UTC.
        Month = "month",
        /// Session.
        Session = "session",
        /// Working directory of sessions.
        Project = "project",
        /// Program that ran the model, such as Claude Code.
        Agent = "agent",
        /// Model.
        Model = "model",
        /// Tool.
        Tool = "tool",
    }
}

/// Tokens in one convention for all sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GroupTokens {
    /// Tokens by kind.
    #[serde(flatten)]
    pub kinds: Normalised,
    /// Total number of tokens.
    pub total: u64,
}

impl GroupTokens {
    fn add(&mut self, usage: &Usage, share: u64) {
        let (tokens, of) = (usage.normalised(), share.max(1));
        let sums = &mut self.kinds;
        for (sum, count) in [
            (&mut sums.uncached_input, tokens.uncached_input),
            (&mut sums.cache_read, tokens.cache_read),
            (&mut sums.cache_write, tokens.cache_write),
            (&mut sums.output, tokens.output),
            (&mut sums.reasoning, tokens.reasoning),
            (&mut self.total, usage.total()),
        ] {
            *sum = sum.saturating_add(count / of);
        }
    }
}

/// Usage of one group. `None` means not recorded, or not applicable to such groups.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageGroup<T = Untrusted> {
    /// Day, project, model or tool; `None` if not recorded.
    pub name: Option<T>,
    /// Number of sessions in the group.
    pub sessions: u64,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls known to have failed.
    pub failed: Option<u64>,
    /// Number of complete model responses.
    pub steps: Option<u64>,
    /// Number of user messages.
    pub turns: Option<u64>,
    /// Tokens.
    pub tokens: Option<GroupTokens>,
    /// Total duration of the sessions; for tools, of the calls.
    pub milliseconds: Option<u64>,
    /// Cost of the tokens by the price file.
    pub spend: Spend,
    /// Cost recorded in the traces.
    pub recorded: RecordedCost,
}

impl<T> Default for UsageGroup<T> {
    fn default() -> Self {
        Self {
            name: None,
            sessions: 0,
            calls: 0,
            failed: None,
            steps: None,
            turns: None,
            tokens: None,
            milliseconds: None,
            spend: Spend::default(),
            recorded: RecordedCost::default(),
        }
    }
}

/// Tokens without a price, in JSON.
#[derive(Serialize)]
struct Unpriced<'w> {
    #[serde(flatten)]
    why: &'w NoPrice,
    tokens: u64,
}

impl Serialize for UsageGroup<Printable> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let unpriced = self.spend.unpriced().iter();
        let unpriced: Vec<Unpriced<'_>> =
            unpriced.map(|(why, tokens)| Unpriced { why, tokens: *tokens }).collect();
        let mut out = to.serialize_struct("UsageGroup", 11)?;
        out.serialize_field("name", &self.name)?;
        out.serialize_field("sessions", &self.sessions)?;
        out.serialize_field("calls", &self.calls)?;
        out.serialize_field("failed", &self.failed)?;
        out.serialize_field("steps", &self.steps)?;
        out.serialize_field("turns", &self.turns)?;
        out.serialize_field("tokens", &self.tokens)?;
        out.serialize_field("duration_ms", &self.milliseconds)?;
        out.serialize_field("cost_usd", &self.cost())?;
        out.serialize_field("recorded_cost_usd", &self.recorded.usd())?;
        out.serialize_field("unpriced", &unpriced)?;
        out.end()
    }
}

impl<T> UsageGroup<T> {
    /// Returns the cost of the tokens if all of them have a price.
    #[must_use]
    pub fn cost(&self) -> Option<Usd> {
        self.spend.usd()
    }

    fn add_part(&mut self, part: &UsagePart, cost: Option<&Result<u128, NoPrice>>) {
        add(&mut self.steps, part.steps);
        for call in &part.calls {
            self.add_call(call);
        }
        self.add_usage(part.usage.as_ref(), cost, 1);
    }

    fn add_call(&mut self, call: &CallUsage) {
        self.calls += 1;
        add(&mut self.failed, call.is_failed.map(u64::from));
    }

    fn add_usage(&mut self, usage: Option<&Usage>, cost: Option<&Result<u128, NoPrice>>, of: u64) {
        let Some(usage) = usage else { return };
        self.tokens.get_or_insert_default().add(usage, of);
        if let Some(cost) = cost {
            self.spend.add_share(cost.clone(), usage.total(), of);
        }
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

impl UsageGroup {
    /// Returns the group in printable form.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> UsageGroup<Printable> {
        UsageGroup {
            name: self.name.map(|name| redactor.apply(name)),
            sessions: self.sessions,
            calls: self.calls,
            failed: self.failed,
            steps: self.steps,
            turns: self.turns,
            tokens: self.tokens,
            milliseconds: self.milliseconds,
            spend: self.spend.redact(redactor),
            recorded: self.recorded,
        }
    }
}

/// Known properties of one session, from any of its files.
#[derive(Debug, Clone, Default)]
struct SessionFacts {
    started: Option<Timestamp>,
    owner: Owner,
    milliseconds: Option<u64>,
    turns: Option<u64>,
    recorded: RecordedCost,
}

type GroupName = Option<Arc<str>>;

/// Usage of sessions, in groups.
#[derive(Debug)]
pub struct UsageTable {
    by: GroupBy,
    groups: SortedMap<GroupName, (UsageGroup, SortedSet<usize>)>,
    total: UsageGroup,
    sessions: HashMap<Arc<str>, usize>,
    known: Vec<SessionFacts>,
    seen: HashSet<u64>,
    /// Number of responses that were repeated in another file.
    pub repeated: u64,
}

impl UsageTable {
    /// Creates a table without sessions.
    #[must_use]
    pub fn new(by: GroupBy) -> Self {
        Self {
            by,
            groups: SortedMap::new(),
            total: UsageGroup::default(),
            sessions: HashMap::new(),
            known: Vec::new(),
            seen: HashSet::new(),
            repeated: 0,
        }
    }

    /// Adds a session, at these prices. A repeated response counts once.
    pub fn add(&mut self, usage: SessionUsage, prices: &Prices) {
        let next = self.known.len();
        let session = *self.sessions.entry(usage.owner.session.clone()).or_insert(next);
        if session == next {
            self.known.push(SessionFacts::default());
        }
        for part in &usage.parts {
            if part.identity.is_some_and(|identity| !self.seen.insert(identity)) {
                self.repeated += 1;
                continue;
            }
            let usage_of_part = part.usage.as_ref();
            let cost = usage_of_part.map(|usage| prices.cost(part.model.as_deref(), usage));
            self.total.add_part(part, cost.as_ref());
            match self.by {
                GroupBy::Tool => self.add_tools(session, part, cost.as_ref()),
                by => {
                    let time = part.time.or(usage.started);
                    let name = usage.owner.name(by, time, part.model.as_ref());
                    let (group, sessions) = self.groups.entry(name).or_default();
                    group.add_part(part, cost.as_ref());
                    sessions.insert(session);
                }
            }
        }
        if let Some(known) = self.known.get_mut(session) {
            known.merge(usage);
        }
    }

    /// Adds the calls of a response, each with an equal share of its tokens and its cost.
    fn add_tools(
        &mut self,
        session: usize,
        part: &UsagePart,
        cost: Option<&Result<u128, NoPrice>>,
    ) {
        for call in &part.calls {
            let (group, sessions) = self.groups.entry(Some(call.tool.clone())).or_default();
            group.add_call(call);
            add(&mut group.milliseconds, call.milliseconds);
            group.add_usage(part.usage.as_ref(), cost, part.calls.len() as u64);
            sessions.insert(session);
        }
    }

    /// Returns the groups, and the sum of everything. Days and months are in chronological order,
    /// other groups in the order of their tokens.
    #[must_use]
    pub fn finish(mut self) -> (Vec<UsageGroup>, UsageGroup) {
        for (at, known) in self.known.iter().enumerate() {
            known.add_to(&mut self.total);
            if self.by != GroupBy::Tool {
                let name = known.owner.name(self.by, known.started, None);
                let (group, sessions) = self.groups.entry(name).or_default();
                known.add_to(group);
                sessions.insert(at);
            }
        }
        self.total.sessions = self.known.len() as u64;
        let mut groups: Vec<UsageGroup> = self
            .groups
            .into_iter()
            .map(|(name, (group, sessions))| UsageGroup {
                name: name.map(|name| name.as_ref().into()),
                sessions: sessions.len() as u64,
                ..group
            })
            .collect();
        if !matches!(self.by, GroupBy::Day | GroupBy::Week | GroupBy::Month) {
            let size = |group: &UsageGroup| (group.tokens.map(|tokens| tokens.total), group.calls);
            groups.sort_by_key(|group| std::cmp::Reverse(size(group)));
        }
        (groups, self.total)
    }
}

impl SessionFacts {
    /// Merges the properties of a session that is in several files, recorded at different times.
    fn merge(&mut self, usage: SessionUsage) {
        self.started = self.started.into_iter().chain(usage.started).min();
        self.owner.complete(usage.owner);
        self.milliseconds = self.milliseconds.max(usage.milliseconds);
        self.turns = self.turns.max(usage.turns);
        if usage.recorded.usd() > self.recorded.usd() {
            self.recorded = usage.recorded;
        }
    }

    fn add_to(&self, group: &mut UsageGroup) {
        add(&mut group.turns, self.turns);
        add(&mut group.milliseconds, self.milliseconds);
        group.recorded.merge(self.recorded);
    }
}

impl Owner {
    /// Returns the group of a response, at a time and of a model; without a model, that of the
    /// session.
    fn name(&self, by: GroupBy, time: Option<Timestamp>, model: Option<&Arc<str>>) -> GroupName {
        let day = |format: &str| {
            let day = time?.to_zoned(TimeZone::UTC).strftime(format).to_string();
            Some(day.into())
        };
        match by {
            GroupBy::Day => day("%Y-%m-%d"),
            GroupBy::Week => time.map(|time| week_of(time).into()),
            GroupBy::Month => day("%Y-%m"),
            GroupBy::Session => Some(self.session.clone()),
            GroupBy::Project => self.project.clone(),
            GroupBy::Agent => self.agent.clone(),
            GroupBy::Model | GroupBy::Tool => model.or(self.model.as_ref()).cloned(),
        }
    }

    /// Adds what another file of the session records.
    fn complete(&mut self, other: Self) {
        self.session = other.session;
        self.project = self.project.take().or(other.project);
        self.model = self.model.take().or(other.model);
        self.agent = self.agent.take().or(other.agent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::FilePrices;
    use toolmark_config::SourceText;
    use toolmark_trace::{Convention, UsageTokens};

    fn part(day: &str, model: &str, input: u64, tools: &[&str]) -> UsagePart {
        let tokens = UsageTokens { input, ..UsageTokens::default() };
        UsagePart {
            identity: None,
            time: format!("{day}T10:00:00Z").parse().ok(),
            model: Some(model.into()),
            steps: Some(1),
            usage: Some(Usage::new(tokens, Convention::ANTHROPIC)),
            calls: tools
                .iter()
                .map(|tool| CallUsage {
                    tool: (*tool).into(),
                    is_failed: Some(*tool == "Edit"),
                    milliseconds: None,
                })
                .collect(),
        }
    }

    fn session(id: &str, parts: Vec<UsagePart>) -> SessionUsage {
        SessionUsage {
            owner: Owner {
                session: id.into(),
                project: Some("/w".into()),
                agent: Some("codex".into()),
                model: parts.first().and_then(|part| part.model.clone()),
            },
            started: parts.first().and_then(|part| part.time),
            milliseconds: Some(1000),
            turns: Some(1),
            recorded: RecordedCost::default(),
            parts,
        }
    }

    fn table(by: GroupBy, sessions: Vec<SessionUsage>) -> (Vec<UsageGroup>, UsageGroup) {
        let file = "date: 2026-01-01\nmodels: {a: {input: 1}}\n";
        let prices = Prices::new(FilePrices::read(&SourceText::new("p", file)).0);
        let mut table = UsageTable::new(by);
        sessions.into_iter().for_each(|one| table.add(one, &prices));
        table.finish()
    }

    fn two() -> Vec<SessionUsage> {
        vec![
            session(
                "one",
                vec![
                    part("2026-03-01", "a", 1_000_000, &["Read", "Edit"]),
                    part("2026-03-02", "b", 10, &["Read"]),
                ],
            ),
            session("two", vec![part("2026-03-02", "a", 2_000_000, &[])]),
        ]
    }

    #[test]
    fn responses_count_on_their_day_and_with_their_model() {
        let (days, total) = table(GroupBy::Day, two());
        let tokens = |group: &UsageGroup| group.tokens.unwrap().total;
        let names: Vec<&str> = days.iter().map(|day| day.name.as_ref().unwrap().raw()).collect();
        assert_eq!(names, ["2026-03-01", "2026-03-02"]);
        assert_eq!((tokens(&days[0]), tokens(&days[1])), (1_000_000, 2_000_010));
        assert_eq!((days[0].sessions, days[1].sessions), (1, 2));
        // A part without a price takes the cost of its group with it.
        assert_eq!((days[0].cost(), days[1].cost(), total.cost()), (Some(Usd(1.0)), None, None));
        assert_eq!(total.spend.known_usd(), Some(Usd(3.0)));
        assert_eq!((total.sessions, total.turns, total.milliseconds), (2, Some(2), Some(2000)));
        for (by, names) in [
            (GroupBy::Agent, vec!["codex"]),
            (GroupBy::Session, vec!["one", "two"]),
            (GroupBy::Project, vec!["/w"]),
        ] {
            let (groups, _) = table(by, two());
            let mut found: Vec<&str> =
                groups.iter().map(|one| one.name.as_ref().unwrap().raw()).collect();
            found.sort_unstable();
            assert_eq!(found, names, "{by:?}");
        }
        let (models, _) = table(GroupBy::Model, two());
        let names: Vec<&str> = models.iter().map(|one| one.name.as_ref().unwrap().raw()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(models[0].cost(), Some(Usd(3.0)));
    }

    #[test]
    fn calls_share_their_response() {
        let (tools, total) = table(GroupBy::Tool, two());
        let of = |name: &str| {
            tools.iter().find(|tool| tool.name.as_ref().unwrap().raw() == name).unwrap()
        };
        assert_eq!(of("Edit").tokens.unwrap().total, 500_000);
        assert_eq!((of("Edit").cost(), of("Read").cost()), (Some(Usd(0.5)), None));
        assert_eq!((of("Read").calls, of("Read").failed, of("Edit").failed), (2, Some(0), Some(1)));
        assert_eq!((total.calls, tools.len()), (3, 2));
    }

    #[test]
    fn a_response_in_two_files_counts_once() {
        let mut repeated = part("2026-03-01", "a", 10, &["Read"]);
        repeated.identity = Some(7);
        let sessions = vec![session("one", vec![repeated.clone()]), session("two", vec![repeated])];
        let (_, total) = table(GroupBy::Day, sessions);
        assert_eq!((total.tokens.unwrap().total, total.calls, total.sessions), (10, 1, 2));
    }
}
