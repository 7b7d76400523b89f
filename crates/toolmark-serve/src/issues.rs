//! The issues of all sessions in the store. Occurrences are kept in memory, without the sessions
//! that they come from. Only changed sessions are read again and replaced.

use crate::store::{SessionStore, StoreError, lock};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use toolmark_base::read_file;
use toolmark_check::week_of;
use toolmark_feed::{
    Batch, DecisionEvent, Feed, Issue, IssueDecision, IssueDecisions, IssueId, ListedOccurrence,
    SessionOrigin,
};

/// Maximum size of the file of decisions, in bytes.
const MAX_DECISIONS: u64 = 256 << 20;

/// Maximum number of cached lists with filters.
const MAX_KEPT: usize = 8;

/// Maximum age of a cached list: the state of an issue depends on the time.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Maximum number of changed sessions that are updated individually; above it, all are read again.
const MAX_CHANGED: i64 = 500;

/// Filter of the occurrences to group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    /// Start time, in milliseconds.
    pub(crate) since: Option<i64>,
}

impl Filter {
    fn takes(&self, origin: &SessionOrigin, time: Option<Timestamp>) -> bool {
        self.project.as_ref().is_none_or(|project| origin.project.as_deref() == Some(project))
            && self.agent.as_ref().is_none_or(|agent| *origin.agent == **agent)
            && self.since.is_none_or(|since| {
                let time = time.or(origin.started);
                time.is_none_or(|time| time.as_millisecond() >= since)
            })
    }
}

/// Grouped issues with the decisions about them.
pub(crate) struct Grouped {
    pub(crate) issues: Vec<Issue>,
    pub(crate) decisions: IssueDecisions,
}

impl Grouped {
    /// Returns the issue with this ID, or the issue that it was merged into.
    pub(crate) fn find(&self, id: &str) -> Option<&Issue> {
        let id = IssueId::parse(id)?;
        self.issues.iter().find(|issue| issue.id == id || issue.merged.contains(&id))
    }
}

/// A session whose occurrences are in the feed.
struct Held {
    /// ID of the session, if it differs from the ID of its run.
    session: Option<Box<str>>,
    /// Index of the session's origin in the feed.
    own: u32,
    others: Box<[u32]>,
}

/// All occurrences.
#[derive(Default)]
struct Collected {
    feed: Feed,
    held: HashMap<i64, Held>,
    /// Number of the last evaluation that is included.
    evaluated: i64,
}

struct StoredIssues {
    filter: Filter,
    seq: u64,
    at: Instant,
    grouped: Arc<Grouped>,
}

/// Number of occurrences per week, by name and version.
pub(crate) type Weeks = BTreeMap<(String, Option<String>), BTreeMap<String, u64>>;

/// The issues of the store.
pub(crate) struct Issues {
    state: PathBuf,
    collected: Mutex<Collected>,
    kept: Mutex<Vec<StoredIssues>>,
    /// Number of issues; empty until they are grouped for the first time.
    count: OnceLock<Mutex<u64>>,
}

impl Issues {
    /// Returns the issues, with the file of decisions about them.
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state, collected: Mutex::default(), kept: Mutex::default(), count: OnceLock::new() }
    }

    /// Returns the issues of the filtered occurrences, as of change number `seq`.
    pub(crate) fn grouped(
        &self,
        store: &SessionStore,
        filter: &Filter,
        seq: u64,
    ) -> Result<Arc<Grouped>, StoreError> {
        let is_same = |kept: &StoredIssues| {
            kept.filter == *filter && kept.seq == seq && kept.at.elapsed() < MAX_AGE
        };
        if let Some(kept) = lock(&self.kept).iter().find(|kept| is_same(kept)) {
            return Ok(Arc::clone(&kept.grouped));
        }
        let decisions = self.decisions()?;
        let mut collected = lock(&self.collected);
        collected.refresh(store)?;
        let takes = |origin: &SessionOrigin, time| filter.takes(origin, time);
        let issues = collected.feed.issues_where(&decisions, Timestamp::now(), takes);
        drop(collected);
        if *filter == Filter::default() {
            *lock(self.count.get_or_init(Mutex::default)) = issues.len() as u64;
        }
        let grouped = Arc::new(Grouped { issues, decisions });
        let mut kept = lock(&self.kept);
        kept.retain(|kept| kept.filter != *filter);
        kept.truncate(MAX_KEPT - 1);
        let one = StoredIssues {
            filter: filter.clone(),
            seq,
            at: Instant::now(),
            grouped: Arc::clone(&grouped),
        };
        kept.insert(0, one);
        Ok(grouped)
    }

    /// Number of issues when they were last grouped; `None` before that.
    pub(crate) fn count(&self) -> Option<u64> {
        self.count.get().map(|count| *lock(count))
    }

    /// The occurrences of an issue, the newest first.
    pub(crate) fn occurrences(&self, id: IssueId, grouped: &Grouped) -> Vec<ListedOccurrence> {
        let mut all = lock(&self.collected).feed.occurrences_of(id, &grouped.decisions);
        all.reverse();
        all
    }

    /// Returns the IDs of the sessions that show occurrences, by session and file of the
    /// occurrence: occurrences of a sub-agent are shown in its parent's session.
    pub(crate) fn owners<'o>(
        &self,
        origins: impl Iterator<Item = (&'o str, &'o str)>,
    ) -> HashMap<(&'o str, &'o str), String> {
        let wanted: Vec<(&str, &str)> = origins.collect();
        let numbers: HashMap<(&str, &str), usize> =
            wanted.iter().enumerate().map(|(number, origin)| (*origin, number)).collect();
        let collected = lock(&self.collected);
        let mut owners = HashMap::new();
        for one in collected.held.values() {
            for number in one.origins() {
                let Some(origin) = collected.feed.origin_at(number) else { continue };
                if let Some(at) = numbers.get(&(&*origin.session, &*origin.file)) {
                    owners.insert(wanted[*at], one.session_in(&collected.feed).to_owned());
                }
            }
        }
        owners
    }

    /// Number of occurrences of an issue per week, by agent and version, and by model.
    pub(crate) fn weeks(&self, id: IssueId, grouped: &Grouped) -> (Weeks, Weeks) {
        let collected = lock(&self.collected);
        let (mut by_version, mut by_model) = (Weeks::new(), Weeks::new());
        for (origin, time) in collected.feed.places_of(id, &grouped.decisions) {
            let Some(time) = time.or(origin.started) else { continue };
            let week = week_of(time);
            let version = origin.version.as_ref().map(ToString::to_string);
            let agent = (origin.agent.to_string(), version);
            *by_version.entry(agent).or_default().entry(week.clone()).or_default() += 1;
            if let Some(model) = &origin.model {
                let model = (model.to_string(), None);
                *by_model.entry(model).or_default().entry(week).or_default() += 1;
            }
        }
        (by_version, by_model)
    }

    fn decisions(&self) -> Result<IssueDecisions, StoreError> {
        let failed = |error: String| {
            StoreError::Other(format!("failed to read {}: {error}", self.state.display()))
        };
        match read_file::read_text(&self.state, MAX_DECISIONS) {
            Ok(text) => IssueDecisions::parse(&text).map_err(|error| failed(error.to_string())),
            Err(error) if error.is_missing() || error.is_empty() => Ok(IssueDecisions::default()),
            Err(error) => Err(StoreError::Other(error.to_string())),
        }
    }

    /// Adds a decision to the file.
    pub(crate) fn decide(
        &self,
        id: IssueId,
        event: DecisionEvent,
        by: Option<String>,
    ) -> io::Result<()> {
        if let Some(folder) = self.state.parent().filter(|path| !path.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let decision = IssueDecision { at: Timestamp::now(), id, event, by };
        let line = serde_json::to_string(&decision)? + "\n";
        let mut file = OpenOptions::new().create(true).append(true).open(&self.state)?;
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
        lock(&self.kept).clear();
        Ok(())
    }
}

impl Held {
    fn new(session: String, feed: &Feed, origins: &[u32]) -> Self {
        let (own, others) = origins.split_first().unwrap_or((&u32::MAX, &[]));
        let is_same = feed.origin_at(*own).is_some_and(|origin| *origin.session == *session);
        let session = (!is_same).then(|| session.into_boxed_str());
        Self { session, own: *own, others: others.into() }
    }

    fn origins(&self) -> impl Iterator<Item = u32> {
        [self.own].into_iter().chain(self.others.iter().copied())
    }

    /// ID of the session in the API.
    fn session_in<'f>(&'f self, feed: &'f Feed) -> &'f str {
        let own = || feed.origin_at(self.own).map_or("", |origin| &origin.session);
        self.session.as_deref().unwrap_or_else(own)
    }
}

impl Collected {
    /// Updates the occurrences from the store.
    fn refresh(&mut self, store: &SessionStore) -> Result<(), StoreError> {
        let (count, changed): (i64, i64) = store.read(|db| {
            db.prepare_cached(
                "SELECT (SELECT count(*) FROM session_feed),
                   (SELECT count(*) FROM session_feed WHERE evaluated > ?1)",
            )?
            .query_row([self.evaluated], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        if changed == 0 && count == self.held.len() as i64 {
            return Ok(());
        }
        let is_small = changed <= MAX_CHANGED && !self.held.is_empty();
        if !(is_small && self.replace(store)?) {
            *self = Self::default();
            read(store, 0, |one| {
                let origins = self.feed.add(one.batch);
                self.held.insert(one.key, Held::new(one.session, &self.feed, &origins));
                self.evaluated = self.evaluated.max(one.evaluated);
            })?;
        }
        Ok(())
    }

    /// Replaces changed sessions; returns false if all must be read again.
    fn replace(&mut self, store: &SessionStore) -> Result<bool, StoreError> {
        let mut changed = Vec::new();
        read(store, self.evaluated, |one| changed.push(one))?;
        let evaluated = changed.iter().map(|one| one.evaluated).max();
        let is_new = |one: &&Changed| !self.held.contains_key(&one.key);
        let count = self.held.len() + changed.iter().filter(is_new).count();
        let gone = self.gone(store, count)?;
        let old: Vec<u32> = changed
            .iter()
            .map(|one| &one.key)
            .chain(&gone)
            .filter_map(|key| self.held.get(key))
            .flat_map(Held::origins)
            .collect();
        let (sessions, batches): (Vec<(i64, String)>, Vec<Batch>) =
            changed.into_iter().map(|one| ((one.key, one.session), one.batch)).unzip();
        let origins = match old.is_empty() {
            // Only new ones: nothing has to be removed.
            true => batches.into_iter().map(|batch| self.feed.add(batch)).collect(),
            false => match self.feed.replace(&old, batches) {
                Some(origins) => origins,
                None => return Ok(false),
            },
        };
        gone.iter().for_each(|key| drop(self.held.remove(key)));
        for ((key, session), origins) in sessions.into_iter().zip(origins) {
            self.held.insert(key, Held::new(session, &self.feed, &origins));
        }
        self.evaluated = self.evaluated.max(evaluated.unwrap_or_default());
        Ok(true)
    }

    /// Returns the sessions that were removed from the store; there are some if the store has fewer
    /// than `count`.
    fn gone(&self, store: &SessionStore, count: usize) -> Result<Vec<i64>, StoreError> {
        let kept: HashSet<i64> = store.read(|db| {
            let now: i64 = db
                .prepare_cached("SELECT count(*) FROM session_feed")?
                .query_row([], |row| row.get(0))?;
            if now == count as i64 {
                return Ok(HashSet::new());
            }
            let mut keys = db.prepare_cached("SELECT session FROM session_feed")?;
            let keys = keys.query_map([], |row| row.get(0))?;
            keys.collect()
        })?;
        if kept.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.held.keys().filter(|key| !kept.contains(key)).copied().collect())
    }
}

/// A session of the store with its occurrences.
struct Changed {
    key: i64,
    session: String,
    evaluated: i64,
    batch: Batch,
}

/// Reads the sessions with an evaluation number above `after`, one by one.
fn read(store: &SessionStore, after: i64, mut take: impl FnMut(Changed)) -> Result<(), StoreError> {
    store.read(|db| {
        let mut some = db.prepare_cached(
            "SELECT session, id, evaluated, batch FROM session_feed WHERE evaluated > ?1",
        )?;
        let mut rows = some.query([after])?;
        while let Some(row) = rows.next()? {
            // What another version wrote is written again when its session is evaluated.
            let batch = Batch::from_bytes(row.get_ref(3)?.as_blob()?).unwrap_or_default();
            let (key, session, evaluated) = (row.get(0)?, row.get(1)?, row.get(2)?);
            take(Changed { key, session, evaluated, batch });
        }
        Ok(())
    })
}
