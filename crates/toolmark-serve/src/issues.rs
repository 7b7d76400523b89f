//! The issues of all sessions in the store. Occurrences are kept in memory, without the
//! sessions they were read from; a session that changed is put in the place of what it was,
//! so that an answer never waits for all of them to be read again.

use crate::store::{Store, StoreError, lock};
use jiff::Timestamp;
use rusqlite::params_from_iter;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use toolmark_check::week_of;
use toolmark_feed::{Batch, Decision, Decisions, Event, Feed, Issue, IssueId, Listed, Origin};

/// So many lists with filters are kept.
const MAX_KEPT: usize = 8;

/// The state of an issue depends on the time: it is looked at again after a while.
const MAX_AGE: Duration = Duration::from_secs(60);

/// With more sessions that changed at once, all are read again.
const MAX_CHANGED: usize = 500;

/// So many sessions are asked for at once.
const CHUNK: usize = 200;

/// Which occurrences are grouped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    /// Milliseconds.
    pub(crate) since: Option<i64>,
}

impl Filter {
    fn takes(&self, origin: &Origin, time: Option<Timestamp>) -> bool {
        self.project.as_ref().is_none_or(|project| origin.project.as_deref() == Some(project))
            && self.agent.as_ref().is_none_or(|agent| *origin.agent == **agent)
            && self.since.is_none_or(|since| {
                let time = time.or(origin.started);
                time.is_none_or(|time| time.as_millisecond() >= since)
            })
    }
}

/// Issues, grouped.
pub(crate) struct Grouped {
    pub(crate) issues: Vec<Issue>,
    pub(crate) decisions: Decisions,
}

impl Grouped {
    /// The issue with this id, or the one it was merged into.
    pub(crate) fn find(&self, id: &str) -> Option<&Issue> {
        let id = IssueId::parse(id)?;
        self.issues.iter().find(|issue| issue.id == id || issue.merged.contains(&id))
    }
}

/// A session whose occurrences are in the feed.
struct Held {
    /// The id of the session, as the API has it.
    session: Arc<str>,
    evaluated: i64,
    /// The names its occurrences have: session and file, of it and its sub-agents.
    origins: Vec<(Arc<str>, Arc<str>)>,
}

/// All occurrences.
#[derive(Default)]
struct Collected {
    feed: Feed,
    held: HashMap<i64, Held>,
}

struct Kept {
    filter: Filter,
    seq: u64,
    at: Instant,
    grouped: Arc<Grouped>,
}

/// How often an issue occurred in each week, by a name.
pub(crate) type Weeks = BTreeMap<(String, Option<String>), BTreeMap<String, u64>>;

/// The issues of the store.
pub(crate) struct Issues {
    state: PathBuf,
    collected: Mutex<Collected>,
    kept: Mutex<Vec<Kept>>,
    /// How many issues there are; nothing before they were grouped for the first time.
    count: OnceLock<Mutex<u64>>,
}

impl Issues {
    /// The issues, with the file that holds what people decided about them.
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state, collected: Mutex::default(), kept: Mutex::default(), count: OnceLock::new() }
    }

    /// The issues among some occurrences, as of change number `seq`.
    pub(crate) fn grouped(
        &self,
        store: &Store,
        filter: &Filter,
        seq: u64,
    ) -> Result<Arc<Grouped>, StoreError> {
        let is_same =
            |kept: &Kept| kept.filter == *filter && kept.seq == seq && kept.at.elapsed() < MAX_AGE;
        if let Some(kept) = lock(&self.kept).iter().find(|kept| is_same(kept)) {
            return Ok(Arc::clone(&kept.grouped));
        }
        let decisions = self.decisions()?;
        let mut collected = lock(&self.collected);
        collected.refresh(store)?;
        let takes = |origin: &Origin, time| filter.takes(origin, time);
        let issues = collected.feed.issues_where(&decisions, Timestamp::now(), takes);
        drop(collected);
        if *filter == Filter::default() {
            *lock(self.count.get_or_init(Mutex::default)) = issues.len() as u64;
        }
        let grouped = Arc::new(Grouped { issues, decisions });
        let mut kept = lock(&self.kept);
        kept.retain(|kept| kept.filter != *filter);
        kept.truncate(MAX_KEPT - 1);
        let one =
            Kept { filter: filter.clone(), seq, at: Instant::now(), grouped: Arc::clone(&grouped) };
        kept.insert(0, one);
        Ok(grouped)
    }

    /// How many issues there were when they were last grouped; nothing before that.
    pub(crate) fn count(&self) -> Option<u64> {
        self.count.get().map(|count| *lock(count))
    }

    /// The occurrences of an issue, the newest first.
    pub(crate) fn occurrences(&self, id: IssueId, grouped: &Grouped) -> Vec<Listed> {
        let mut all = lock(&self.collected).feed.occurrences_of(id, &grouped.decisions);
        all.reverse();
        all
    }

    /// The id of the session that an occurrence is shown in: that of a sub-agent is its
    /// parent's.
    pub(crate) fn sessions(&self) -> HashMap<(Arc<str>, Arc<str>), Arc<str>> {
        let collected = lock(&self.collected);
        let pairs = collected.held.values().flat_map(|one| {
            one.origins.iter().map(|origin| (origin.clone(), Arc::clone(&one.session)))
        });
        pairs.collect()
    }

    /// How often an issue occurred in each week, by agent and version, and by model.
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

    fn decisions(&self) -> Result<Decisions, StoreError> {
        let failed = |error: String| {
            StoreError::Other(format!("failed to read {}: {error}", self.state.display()))
        };
        match fs::read_to_string(&self.state) {
            Ok(text) => Decisions::parse(&text).map_err(|error| failed(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Decisions::default()),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Adds a decision to the file.
    pub(crate) fn decide(&self, id: IssueId, event: Event, by: Option<String>) -> io::Result<()> {
        if let Some(folder) = self.state.parent().filter(|path| !path.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let decision = Decision { at: Timestamp::now(), id, event, by };
        let line = serde_json::to_string(&decision)? + "\n";
        let mut file = OpenOptions::new().create(true).append(true).open(&self.state)?;
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
        lock(&self.kept).clear();
        Ok(())
    }
}

impl Collected {
    /// Brings what is collected up to date with the store.
    fn refresh(&mut self, store: &Store) -> Result<(), StoreError> {
        let current: HashMap<i64, i64> = store.read(|db| {
            let mut all = db.prepare_cached("SELECT key, evaluated FROM session")?;
            let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let is_changed = |(key, evaluated): &(&i64, &i64)| {
            self.held.get(key).is_none_or(|one| one.evaluated != **evaluated)
        };
        let changed: Vec<i64> = current.iter().filter(is_changed).map(|(key, _)| *key).collect();
        let gone: Vec<i64> =
            self.held.keys().filter(|key| !current.contains_key(key)).copied().collect();
        if changed.is_empty() && gone.is_empty() {
            return Ok(());
        }
        let is_small = changed.len() + gone.len() <= MAX_CHANGED && !self.held.is_empty();
        if !(is_small && self.replace(store, &changed, &gone)?) {
            *self = Self::default();
            let mut keys: Vec<i64> = current.into_keys().collect();
            keys.sort_unstable();
            for keys in keys.chunks(CHUNK) {
                for (key, held, batch) in read(store, keys)? {
                    self.held.insert(key, held);
                    self.feed.add(batch);
                }
            }
        }
        Ok(())
    }

    /// Puts sessions in the place of what they were; false where all must be read again.
    fn replace(
        &mut self,
        store: &Store,
        changed: &[i64],
        gone: &[i64],
    ) -> Result<bool, StoreError> {
        let mut rows = Vec::new();
        for keys in changed.chunks(CHUNK) {
            rows.extend(read(store, keys)?);
        }
        let old: std::collections::HashSet<(Arc<str>, Arc<str>)> = changed
            .iter()
            .chain(gone)
            .filter_map(|key| self.held.get(key))
            .flat_map(|one| one.origins.iter().cloned())
            .collect();
        let (kept, batches): (Vec<(i64, Held)>, Vec<Batch>) =
            rows.into_iter().map(|(key, held, batch)| ((key, held), batch)).unzip();
        let is_gone =
            |origin: &Origin| old.contains(&(origin.session.clone(), origin.file.clone()));
        let is_replaced = match old.is_empty() {
            // Only new ones: nothing has to be taken out.
            true => {
                batches.into_iter().for_each(|batch| self.feed.add(batch));
                true
            }
            false => self.feed.replace(is_gone, batches),
        };
        if is_replaced {
            gone.iter().for_each(|key| drop(self.held.remove(key)));
            self.held.extend(kept);
        }
        Ok(is_replaced)
    }
}

/// Sessions of the store with their occurrences.
fn read(store: &Store, keys: &[i64]) -> Result<Vec<(i64, Held, Batch)>, StoreError> {
    let marks = vec!["?"; keys.len()].join(",");
    store.read(|db| {
        let mut some = db.prepare(&format!(
            "SELECT key, id, evaluated, batch FROM session WHERE key IN ({marks}) ORDER BY key"
        ))?;
        let rows = some.query_map(params_from_iter(keys), |row| {
            let (id, text): (String, String) = (row.get(1)?, row.get(3)?);
            // What another version wrote is written again when its session is evaluated.
            let batch = Batch::from_text(&text).unwrap_or_default();
            let origins = batch.origins.iter().map(|one| (one.session.clone(), one.file.clone()));
            let held =
                Held { session: id.into(), evaluated: row.get(2)?, origins: origins.collect() };
            Ok((row.get(0)?, held, batch))
        })?;
        rows.collect()
    })
}
