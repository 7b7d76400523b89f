//! The issues of all sessions in the store: occurrences are kept in memory, grouped when
//! somebody asks, and grouped again only after something changed.

use crate::store::{Store, StoreError, lock};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toolmark_check::week_of;
use toolmark_feed::{
    Batch, Decision, Decisions, Event, Feed, Issue, IssueId, Listed, Occurrence, Origin,
};

/// So many groupings with filters are kept.
const MAX_KEPT: usize = 8;

/// The state of an issue depends on the time: it is looked at again after a while.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Which occurrences are grouped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    /// Milliseconds.
    pub(crate) since: Option<i64>,
}

impl Filter {
    fn takes(&self, origin: &Origin, one: &Occurrence) -> bool {
        self.project.as_ref().is_none_or(|project| origin.project.as_deref() == Some(project))
            && self.agent.as_ref().is_none_or(|agent| *origin.agent == **agent)
            && self.since.is_none_or(|since| {
                let time = one.time.or(origin.started);
                time.is_none_or(|time| time.as_millisecond() >= since)
            })
    }
}

/// Issues, grouped.
pub(crate) struct Grouped {
    pub(crate) feed: Feed,
    pub(crate) issues: Vec<Issue>,
    pub(crate) decisions: Decisions,
}

impl Grouped {
    /// The issue with this id, or the one it was merged into.
    pub(crate) fn find(&self, id: &str) -> Option<&Issue> {
        let id = IssueId::parse(id)?;
        self.issues.iter().find(|issue| issue.id == id || issue.merged.contains(&id))
    }

    /// The occurrences of an issue, the newest first.
    pub(crate) fn occurrences(&self, id: IssueId) -> Vec<Listed> {
        let mut all = self.feed.occurrences(&self.decisions);
        all.retain(|one| one.issue == id);
        all.reverse();
        all
    }
}

/// A session's occurrences.
struct Held {
    /// The id of the session, as the API has it.
    session: Arc<str>,
    changed: i64,
    batch: Batch,
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
    held: Mutex<HashMap<i64, Held>>,
    kept: Mutex<Vec<Kept>>,
}

impl Issues {
    /// The issues, with the file that holds what people decided about them.
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state, held: Mutex::default(), kept: Mutex::default() }
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
        let mut held = lock(&self.held);
        refresh(store, &mut held)?;
        let mut feed = Feed::default();
        let mut keys: Vec<&i64> = held.keys().collect();
        keys.sort_unstable();
        for one in keys.into_iter().filter_map(|key| held.get(key)) {
            let mut batch = one.batch.clone();
            if *filter != Filter::default() {
                let origins = std::mem::take(&mut batch.origins);
                batch.occurrences.retain(|occurrence| {
                    origins.get(occurrence.origin).is_some_and(|o| filter.takes(o, occurrence))
                });
                let left: HashSet<IssueId> = batch.occurrences.iter().map(|o| o.issue).collect();
                batch.about.retain(|id, _| left.contains(id));
                batch.origins = origins;
            }
            feed.add(batch);
        }
        drop(held);
        let issues = feed.issues(&decisions, Timestamp::now());
        let grouped = Arc::new(Grouped { feed, issues, decisions });
        let mut kept = lock(&self.kept);
        kept.retain(|kept| kept.filter != *filter);
        kept.truncate(MAX_KEPT - 1);
        let one =
            Kept { filter: filter.clone(), seq, at: Instant::now(), grouped: Arc::clone(&grouped) };
        kept.insert(0, one);
        Ok(grouped)
    }

    /// The id of the session that an occurrence is shown in: that of a sub-agent is its
    /// parent's.
    pub(crate) fn sessions(&self) -> HashMap<(Arc<str>, Arc<str>), Arc<str>> {
        let held = lock(&self.held);
        let pairs = held.values().flat_map(|one| {
            let of = |origin: &Origin| {
                ((origin.session.clone(), origin.file.clone()), one.session.clone())
            };
            one.batch.origins.iter().map(of)
        });
        pairs.collect()
    }

    /// How often an issue occurred in each week, by agent and version, and by model.
    pub(crate) fn weeks(&self, id: IssueId, grouped: &Grouped) -> (Weeks, Weeks) {
        let held = lock(&self.held);
        let (mut by_version, mut by_model) = (Weeks::new(), Weeks::new());
        let mut seen = HashSet::new();
        for one in held.values() {
            for occurrence in &one.batch.occurrences {
                let Some(origin) = one.batch.origins.get(occurrence.origin) else { continue };
                let is_of_issue = grouped.decisions.resolve(occurrence.issue) == id;
                if !is_of_issue || !seen.insert((&origin.session, &occurrence.call_id)) {
                    continue;
                }
                let Some(time) = occurrence.time.or(origin.started) else { continue };
                let week = week_of(time);
                let version = origin.version.as_ref().map(ToString::to_string);
                let agent = (origin.agent.to_string(), version);
                *by_version.entry(agent).or_default().entry(week.clone()).or_default() += 1;
                if let Some(model) = &origin.model {
                    let model = (model.to_string(), None);
                    *by_model.entry(model).or_default().entry(week).or_default() += 1;
                }
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

/// Brings what is held up to date with the store.
fn refresh(store: &Store, held: &mut HashMap<i64, Held>) -> Result<(), StoreError> {
    let current: Vec<(i64, i64)> = store.read(|db| {
        let mut all = db.prepare_cached("SELECT key, evaluated FROM session")?;
        let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    })?;
    let keys: HashSet<i64> = current.iter().map(|(key, _)| *key).collect();
    held.retain(|key, _| keys.contains(key));
    let stale = current
        .into_iter()
        .filter(|(key, evaluated)| held.get(key).is_none_or(|one| one.changed != *evaluated));
    let stale: Vec<(i64, i64)> = stale.collect();
    store.read(|db| {
        let mut one = db.prepare_cached("SELECT id, batch FROM session WHERE key = ?1")?;
        for (key, changed) in &stale {
            let (id, text): (String, String) =
                match one.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))) {
                    Ok(found) => found,
                    Err(rusqlite::Error::QueryReturnedNoRows) => continue,
                    Err(error) => return Err(error),
                };
            // What another version wrote is written again when its session is evaluated.
            let batch = Batch::from_text(&text).unwrap_or_default();
            held.insert(*key, Held { session: id.into(), changed: *changed, batch });
        }
        Ok(())
    })
}
