//! Conversion of sessions to buckets, measures and changes.

use super::changes::{self, LEVEL, MIN_SESSIONS, PERMUTATIONS};
use super::measures::{self, Measured};
use super::run::{
    NumberUnit, Point, Series, SessionBucket, Suspect, TrendBy, TrendChange, TrendRun,
};
use super::session::TrendSession;
use crate::issue::NameTally;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use std::collections::HashMap;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_check::week_of;
use toolmark_outcome::Untrusted;
use toolmark_outcome::statistics::wilson_of_rate;

/// Maximum number of buckets up to which days and weeks without sessions are included.
const MAX_BUCKETS: i64 = 400;

/// Maximum number of versions and models named per bucket.
const MAX_NAMES: usize = 12;

/// Minimum share of sessions with a new version or model for it to be a suspect.
const NEW_SHARE: f64 = 0.2;

/// Options of a trend.
#[derive(Debug, Clone)]
pub struct TrendOptions {
    /// Property by which sessions are put into buckets.
    pub by: TrendBy,
    /// Names of the measures, including those below them; empty means all.
    pub measures: Vec<String>,
}

/// Sessions to be put into buckets. A session in several files counts once.
#[derive(Debug, Default)]
pub struct SessionTrend {
    sessions: HashMap<Arc<str>, TrendSession>,
    /// Number of sessions that were repeated in another file.
    pub repeated: u64,
}

impl SessionTrend {
    /// Adds a session. If it is in several files, the copy with most calls is used.
    pub fn add(&mut self, session: TrendSession) {
        let rank =
            |one: &TrendSession| (one.calls, one.tokens, std::cmp::Reverse(one.file.clone()));
        match self.sessions.get_mut(&session.session) {
            None => drop(self.sessions.insert(session.session.clone(), session)),
            Some(known) => {
                self.repeated += 1;
                if rank(&session) > rank(known) {
                    *known = session;
                }
            }
        }
    }

    /// Returns the number of sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are no sessions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Returns the measures over time.
    #[must_use]
    pub fn finish(self, options: &TrendOptions) -> TrendRun {
        let mut sessions: Vec<TrendSession> = self.sessions.into_values().collect();
        // The order of the input does not matter.
        sessions.sort_by(|a, b| (a.started, &a.session).cmp(&(b.started, &b.session)));
        let all = sessions.len();
        sessions.retain(|session| name_of(session, options.by).is_some());
        let names = bucket_names(&sessions, options.by);
        let places: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0_u32..).collect();
        let buckets: Vec<u32> = sessions
            .iter()
            .filter_map(|session| places.get(name_of(session, options.by)?.as_str()).copied())
            .collect();
        let measured = measures::all(&sessions, &options.measures);
        let shares: Vec<_> = measured.iter().map(|one| one.numbers.shares()).collect();
        let borders = changes::find(&buckets, names.len(), &shares);
        let about: Vec<SessionBucket> = names
            .iter()
            .zip(0_u32..)
            .map(|(name, at)| {
                let inside = || members(&sessions, &buckets, at..at + 1);
                let calls = inside().filter_map(|one| one.calls);
                SessionBucket {
                    name: name.as_str().into(),
                    sessions: inside().count() as u64,
                    calls: calls.reduce(|a, b| a + b),
                    versions: tally(inside().filter_map(|one| one.version.as_ref())),
                    models: tally(inside().filter_map(|one| one.model.as_ref())),
                }
            })
            .collect();
        let context = TrendContext { buckets: &buckets, about: &about, options };
        let series = measured
            .iter()
            .zip(&shares)
            .zip(borders)
            .filter_map(|((one, shares), borders)| context.series(one, shares.len(), &borders))
            .collect();
        TrendRun {
            by: options.by,
            files: 0,
            sessions: sessions.len() as u64,
            left_out: (all - sessions.len()) as u64,
            level: LEVEL,
            permutations: PERMUTATIONS,
            prices: None,
            series,
            buckets: about,
            notes: Vec::new(),
        }
    }
}

fn members<'s>(
    sessions: &'s [TrendSession],
    buckets: &'s [u32],
    which: std::ops::Range<u32>,
) -> impl Iterator<Item = &'s TrendSession> {
    let inside = sessions.iter().zip(buckets).filter(move |(_, bucket)| which.contains(bucket));
    inside.map(|(session, _)| session)
}

struct TrendContext<'c> {
    buckets: &'c [u32],
    about: &'c [SessionBucket],
    options: &'c TrendOptions,
}

impl TrendContext<'_> {
    fn series(
        &self,
        measured: &Measured,
        sessions: usize,
        borders: &[changes::Border],
    ) -> Option<Series> {
        let count = self.about.len();
        let value = |from: usize, to: usize| {
            let is_inside = |session: u32| {
                let bucket = self.buckets.get(session as usize).map(|bucket| *bucket as usize);
                bucket.is_some_and(|bucket| (from..to).contains(&bucket))
            };
            let scale = if measured.unit == NumberUnit::Per100 { 100.0 } else { 1.0 };
            measured.numbers.value(is_inside).map(|(value, of)| (value * scale, of))
        };
        let point = |(value, of): (f64, u64)| {
            let is_share = measured.unit == NumberUnit::Share;
            let interval = is_share.then(|| wilson_of_rate(of, value)).flatten();
            Point { value, of, interval }
        };
        let changes = borders.iter().enumerate().filter_map(|(at, border)| {
            let from = at.checked_sub(1).map_or(0, |before| borders[before].bucket);
            let to = borders.get(at + 1).map_or(count, |next| next.bucket);
            Some(TrendChange {
                at: self.about.get(border.bucket)?.name.clone(),
                bucket: border.bucket,
                before: value(from, border.bucket)?.0,
                after: value(border.bucket, to)?.0,
                p: border.p,
                suspects: self.suspects(border.bucket),
            })
        });
        let untested = match () {
            () if count < 2 => Some("there is only one bucket"),
            () if sessions < 2 * MIN_SESSIONS => Some("too few sessions have it"),
            () => None,
        };
        Some(Series {
            measure: measured.name.clone(),
            tool: measured.tool.as_ref().map(|tool| tool.as_ref().into()),
            unit: measured.unit,
            better: measured.better,
            total: point(value(0, count)?),
            points: (0..count).map(|at| value(at, at + 1).map(point)).collect(),
            changes: changes.collect(),
            untested,
        })
    }

    /// Returns the versions and models that change at a border: a different one is the most
    /// frequent in the next bucket, or one is first seen there.
    fn suspects(&self, border: usize) -> Vec<Suspect> {
        let mut suspects = Vec::new();
        let (before, after) = self.about.split_at(border.min(self.about.len()));
        let last = before.iter().rev().find(|bucket| bucket.sessions > 0);
        let first = after.iter().find(|bucket| bucket.sessions > 0);
        let (Some(last), Some(first)) = (last, first) else { return suspects };
        type TrendNames = fn(&SessionBucket) -> &[NameTally];
        let kinds: [(&'static str, TrendBy, TrendNames); 2] = [
            ("version", TrendBy::Version, |bucket| &bucket.versions),
            ("model", TrendBy::Model, |bucket| &bucket.models),
        ];
        for (what, by, names) in kinds {
            // The buckets themselves say that they differ in it.
            if by == self.options.by {
                continue;
            }
            let (old, new) = (names(last).first(), names(first).first());
            let Some(new) = new else { continue };
            if old.is_some_and(|old| old.name != new.name) {
                let (from, to) = (old.map(|old| old.name.clone()), new.name.clone());
                suspects.push(Suspect { what, from, to });
                continue;
            }
            let is_known = |name: &Untrusted| {
                before.iter().any(|bucket| names(bucket).iter().any(|one| one.name == *name))
            };
            let is_many = |one: &&NameTally| one.count as f64 >= NEW_SHARE * first.sessions as f64;
            let unseen = names(first).iter().filter(is_many).find(|one| !is_known(&one.name));
            suspects.extend(unseen.map(|one| Suspect { what, from: None, to: one.name.clone() }));
        }
        suspects
    }
}

fn tally<'n>(names: impl Iterator<Item = &'n Arc<str>>) -> Vec<NameTally> {
    let mut counts: SortedMap<&str, u64> = SortedMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<NameTally> =
        counts.into_iter().map(|(name, count)| NameTally { name: name.into(), count }).collect();
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    counts.truncate(MAX_NAMES);
    counts
}

fn day_of(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

/// Returns the bucket of a session; `None` if the trace does not contain the property.
fn name_of(session: &TrendSession, by: TrendBy) -> Option<String> {
    match by {
        TrendBy::Week => session.started.map(week_of),
        TrendBy::Day => session.started.map(|time| day_of(time).to_string()),
        TrendBy::Version => session.version.as_ref().map(ToString::to_string),
        TrendBy::Model => session.model.as_ref().map(ToString::to_string),
    }
}

/// Returns the names of buckets in order: days and weeks without gaps, versions and models by the
/// time they were first seen.
fn bucket_names(sessions: &[TrendSession], by: TrendBy) -> Vec<String> {
    let days: i64 = match by {
        TrendBy::Week => 7,
        TrendBy::Day => 1,
        TrendBy::Version | TrendBy::Model => 0,
    };
    let times = || sessions.iter().filter_map(|session| session.started);
    if days > 0
        && let Some((first, last)) = times().min().zip(times().max())
        && (last.as_second() - first.as_second()) / (days * 86_400) < MAX_BUCKETS
    {
        let mut names = Vec::new();
        let mut at = first;
        // A week more, so that the last one is reached whatever day it starts on.
        let end = last.checked_add((24 * days).hours()).unwrap_or(last);
        while at < end {
            let name = if days == 7 { week_of(at) } else { day_of(at).to_string() };
            names.push(name);
            match at.checked_add((24 * days).hours()) {
                Ok(next) => at = next,
                Err(_) => break,
            }
        }
        let wanted = sessions.last().and_then(|session| name_of(session, by));
        while names.len() > 1 && names.last() != wanted.as_ref() {
            names.pop();
        }
        return names;
    }
    // Sessions are in the order of their start.
    let mut names: Vec<String> = Vec::new();
    for name in sessions.iter().filter_map(|session| name_of(session, by)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Prices;
    use toolmark_check::Checker;
    use toolmark_session::notation;

    /// Builds a session that started on a day of March, with these numbers of calls and failures.
    fn session(n: usize, day: usize, calls: usize, failed: usize, version: &str) -> TrendSession {
        let mut text = String::new();
        for call in 0..calls {
            let end = if call < failed { "!> \"Error: no\"" } else { "-> \"ok\"" };
            text.push_str(&format!("Tool {{\"n\":{call}}} {end}\n"));
        }
        let mut run = notation::parse(&text).unwrap();
        run.id = Some(format!("s{n}").as_str().into());
        run.started = format!("2026-03-{day:02}T10:00:00Z").parse().ok();
        run.agent.name = Some("agent".into());
        run.agent.version = Some(version.into());
        TrendSession::of(&run, Some(&Checker::default()), &Prices::new(None))
    }

    fn options(by: TrendBy) -> TrendOptions {
        TrendOptions { by, measures: Vec::new() }
    }

    /// Builds a trend in which another version, from the 16th on, fails in half of its calls.
    fn trend() -> SessionTrend {
        let mut trend = SessionTrend::default();
        for day in 2..30 {
            let (failed, version) = if day < 16 { (1, "1.0") } else { (5, "1.1") };
            trend.add(session(day, day, 10, failed, version));
        }
        trend
    }

    fn failures(run: &TrendRun) -> &Series {
        run.series.iter().find(|one| one.measure == "failures" && one.tool.is_none()).unwrap()
    }

    #[test]
    fn a_change_is_marked_with_its_suspect() {
        let run = trend().finish(&options(TrendBy::Week));
        let names: Vec<&str> = run.buckets.iter().map(|bucket| bucket.name.raw()).collect();
        assert_eq!(names, ["2026-W10", "2026-W11", "2026-W12", "2026-W13"]);
        let series = failures(&run);
        assert_eq!(series.points[0].unwrap().value, 0.1);
        assert_eq!(series.points[3].unwrap().of, 70);
        let [change] = &series.changes[..] else { panic!("{:?}", series.changes) };
        assert_eq!((change.at.raw(), change.before, change.after), ("2026-W12", 0.1, 0.5));
        assert!(change.p <= 0.05);
        assert_eq!(change.suspects[0].what, "version");
        assert_eq!(change.suspects[0].to.raw(), "agent 1.1");
        let by_version = trend().finish(&options(TrendBy::Version));
        let names: Vec<&str> = by_version.buckets.iter().map(|one| one.name.raw()).collect();
        assert_eq!(names, ["agent 1.0", "agent 1.1"]);
        assert!(failures(&by_version).changes[0].suspects.is_empty());
    }

    #[test]
    fn what_was_not_measured_is_no_number() {
        let mut trend = SessionTrend::default();
        trend.add(session(1, 2, 4, 0, "1"));
        trend.add(session(2, 5, 4, 0, "1"));
        let mut unknown = session(3, 6, 4, 0, "1");
        unknown.started = None;
        trend.add(unknown);
        let run = trend.finish(&options(TrendBy::Day));
        assert_eq!((run.sessions, run.left_out, run.buckets.len()), (2, 1, 4));
        let series = failures(&run);
        assert_eq!((series.points[0].unwrap().value, series.points[1]), (0.0, None));
        assert_eq!(series.untested, Some("too few sessions have it"));
        // No tokens are recorded, so that there are no series of them.
        assert!(run.series.iter().all(|one| one.measure != "tokens"));
    }

    #[test]
    fn the_order_of_sessions_and_repetitions_change_nothing() {
        let forwards = trend().finish(&options(TrendBy::Week));
        let mut backwards = SessionTrend::default();
        for day in (2..30).rev() {
            let (failed, version) = if day < 16 { (1, "1.0") } else { (5, "1.1") };
            backwards.add(session(day, day, 3, 0, version));
            backwards.add(session(day, day, 10, failed, version));
        }
        assert_eq!(backwards.repeated, 28);
        assert_eq!(backwards.finish(&options(TrendBy::Week)), forwards);
    }
}
