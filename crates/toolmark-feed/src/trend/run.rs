//! What a run of `toolmark trend` came to.

use crate::issue::Tally;
use crate::sparkline::sparkline;
use serde::Serialize;
use toolmark_base::word_enum;
use toolmark_outcome::{Printable, Redactor, Untrusted};

word_enum! {
    /// What sessions are put into buckets by.
    pub enum TrendBy {
        /// The ISO week they started in, in UTC.
        Week = "week",
        /// The day they started on, in UTC.
        Day = "day",
        /// The agent and its version.
        Version = "version",
        /// The model.
        Model = "model",
    }
}

word_enum! {
    /// What a number counts.
    pub enum Unit {
        /// A share, from 0 to 1.
        Share = "share",
        /// So many for 100 calls.
        Per100 = "per 100 calls",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Tokens.
        Tokens = "tokens",
        /// US dollars.
        Usd = "usd",
    }
}

word_enum! {
    /// Which way is good.
    pub enum Better {
        /// More is better.
        Higher = "higher",
        /// Less is better.
        Lower = "lower",
        /// Neither is.
        Neither = "neither",
    }
}

/// Sessions that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bucket<T = Untrusted> {
    /// The week, the day, the version or the model.
    pub name: T,
    /// How many sessions.
    pub sessions: u64,
    /// How many calls; none where no session has a record of them.
    pub calls: Option<u64>,
    /// With which versions of agents.
    pub versions: Vec<Tally<T>>,
    /// With which models.
    pub models: Vec<Tally<T>>,
}

/// The number of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The number.
    pub value: f64,
    /// Of how many calls or sessions it is made.
    pub of: u64,
    /// Its 95 % interval, for shares.
    pub interval: Option<(f64, f64)>,
}

/// Something that changed at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspect<T = Untrusted> {
    /// `version` or `model`.
    pub what: &'static str,
    /// The most frequent before.
    pub from: Option<T>,
    /// The most frequent after, or the one that is seen first.
    pub to: T,
}

/// A border at which a measure changes by more than chance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change<T = Untrusted> {
    /// The first bucket behind it.
    pub at: T,
    /// Its index.
    pub bucket: usize,
    /// The number before, back to the change before it.
    pub before: f64,
    /// The number after, up to the next change.
    pub after: f64,
    /// How likely so large a difference is where nothing changed, whatever was looked at.
    pub p: f64,
    /// What else changed there.
    pub suspects: Vec<Suspect<T>>,
}

/// One measure over all buckets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series<T = Untrusted> {
    /// Its name.
    pub measure: String,
    /// The tool, where it is about one.
    pub tool: Option<T>,
    /// What it counts.
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
    /// The number over everything.
    pub total: Point,
    /// The number of each bucket; none where nothing was measured.
    pub points: Vec<Option<Point>>,
    /// Where it changes.
    pub changes: Vec<Change<T>>,
    /// Why no change was looked for, where none was.
    pub untested: Option<&'static str>,
}

impl<T> Series<T> {
    /// The numbers as signs.
    #[must_use]
    pub fn sparkline(&self, most: usize) -> String {
        let points = &self.points[self.points.len().saturating_sub(most)..];
        sparkline(points.iter().map(|point| point.map(|point| point.value)))
    }
}

/// The prices that costs were made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PricesUsed<T = Untrusted> {
    /// The file.
    pub file: T,
    /// The day they were valid.
    pub date: String,
}

/// Measures over time, and where they change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendRun<T = Untrusted> {
    /// What sessions are put into buckets by.
    pub by: TrendBy,
    /// How many files were read.
    pub files: u64,
    /// How many sessions are in the buckets.
    pub sessions: u64,
    /// How many are in none, because the trace does not say.
    pub left_out: u64,
    /// The chance to mark anything where nothing changed.
    pub level: f64,
    /// How often sessions were shuffled to find out.
    pub permutations: u64,
    /// The prices that costs were made with.
    pub prices: Option<PricesUsed<T>>,
    /// The buckets, in order.
    pub buckets: Vec<Bucket<T>>,
    /// The measures.
    pub series: Vec<Series<T>>,
    /// What the reader should know besides.
    pub notes: Vec<T>,
}

impl TrendRun {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> TrendRun<Printable> {
        let tallies = |all: Vec<Tally>| -> Vec<Tally<Printable>> {
            let one = |Tally { name, count }: Tally| Tally { name: redactor.apply(name), count };
            all.into_iter().map(one).collect()
        };
        let bucket = |one: Bucket| Bucket {
            name: redactor.apply(one.name),
            sessions: one.sessions,
            calls: one.calls,
            versions: tallies(one.versions),
            models: tallies(one.models),
        };
        let suspect = |one: Suspect| Suspect {
            what: one.what,
            from: one.from.map(|from| redactor.apply(from)),
            to: redactor.apply(one.to),
        };
        let change = |one: Change| Change {
            at: redactor.apply(one.at),
            bucket: one.bucket,
            before: one.before,
            after: one.after,
            p: one.p,
            suspects: one.suspects.into_iter().map(suspect).collect(),
        };
        let series = |one: Series| Series {
            measure: one.measure,
            tool: one.tool.map(|tool| redactor.apply(tool)),
            unit: one.unit,
            better: one.better,
            total: one.total,
            points: one.points,
            changes: one.changes.into_iter().map(change).collect(),
            untested: one.untested,
        };
        TrendRun {
            by: self.by,
            files: self.files,
            sessions: self.sessions,
            left_out: self.left_out,
            level: self.level,
            permutations: self.permutations,
            prices: self
                .prices
                .map(|prices| PricesUsed { file: redactor.apply(prices.file), date: prices.date }),
            buckets: self.buckets.into_iter().map(bucket).collect(),
            series: self.series.into_iter().map(series).collect(),
            notes: redactor.apply_all(self.notes),
        }
    }
}
