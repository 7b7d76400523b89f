//! Result of a run of `toolmark trend`.

use crate::issue::NameTally;
use crate::sparkline::sparkline;
use serde::Serialize;
use toolmark_base::word_enum;
use toolmark_outcome::{Printable, Redactor, Untrusted};

word_enum! {
    /// Property by which sessions are put into buckets.
    pub enum TrendBy {
        /// ISO week of the start, in UTC.
        Week = "week",
        /// Day of the start, in UTC.
        Day = "day",
        /// Agent and its version.
        Version = "version",
        /// Model.
        Model = "model",
    }
}

word_enum! {
    /// Unit of a number.
    pub enum NumberUnit {
        /// A share, from 0 to 1.
        Share = "share",
        /// Number per 100 calls.
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
    /// Direction of improvement.
    pub enum Better {
        /// Higher is better.
        Higher = "higher",
        /// Lower is better.
        Lower = "lower",
        /// No direction is better.
        Neither = "neither",
    }
}

/// A group of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionBucket<T = Untrusted> {
    /// Week, day, version or model.
    pub name: T,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of calls; `None` if no session has a record of them.
    pub calls: Option<u64>,
    /// Versions of agents.
    pub versions: Vec<NameTally<T>>,
    /// Models.
    pub models: Vec<NameTally<T>>,
}

/// Value of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Value.
    pub value: f64,
    /// Number of calls or sessions it is based on.
    pub of: u64,
    /// 95 % interval, for shares.
    pub interval: Option<(f64, f64)>,
}

/// A version or model that changed at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspect<T = Untrusted> {
    /// Property: `version` or `model`.
    pub what: &'static str,
    /// Most frequent value before.
    pub from: Option<T>,
    /// Most frequent value after, or the one first seen.
    pub to: T,
}

/// A border at which a measure changes significantly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendChange<T = Untrusted> {
    /// First bucket after the border.
    pub at: T,
    /// Index of the bucket.
    pub bucket: usize,
    /// Value before, back to the previous change.
    pub before: f64,
    /// Value after, up to the next change.
    pub after: f64,
    /// Probability of such a large difference at any border and measure if nothing changed.
    pub p: f64,
    /// Other changes at the border.
    pub suspects: Vec<Suspect<T>>,
}

/// One measure over all buckets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series<T = Untrusted> {
    /// Name of the measure.
    pub measure: String,
    /// Tool, if the measure is about one.
    pub tool: Option<T>,
    /// Unit of the values.
    pub unit: NumberUnit,
    /// Direction of improvement.
    pub better: Better,
    /// Value over all buckets.
    pub total: Point,
    /// Value of each bucket; `None` if nothing was measured.
    pub points: Vec<Option<Point>>,
    /// Significant changes.
    pub changes: Vec<TrendChange<T>>,
    /// Reason why no change was searched for, if none was.
    pub untested: Option<&'static str>,
}

impl<T> Series<T> {
    /// Returns the values as block characters.
    #[must_use]
    pub fn sparkline(&self, most: usize) -> String {
        let points = &self.points[self.points.len().saturating_sub(most)..];
        sparkline(points.iter().map(|point| point.map(|point| point.value)))
    }
}

/// Prices used for the costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PricesUsed<T = Untrusted> {
    /// Path of the price file, if there is one.
    pub file: Option<T>,
    /// Date of the prices of the file.
    pub date: Option<String>,
    /// Date of the list prices, which models have that the file does not name.
    pub list_date: String,
}

/// Measures over time, with their changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendRun<T = Untrusted> {
    /// Property by which sessions are put into buckets.
    pub by: TrendBy,
    /// Number of files read.
    pub files: u64,
    /// Number of sessions in the buckets.
    pub sessions: u64,
    /// Number of sessions without a bucket, because the trace lacks the property.
    pub left_out: u64,
    /// Probability of marking anything if nothing changed.
    pub level: f64,
    /// Number of shuffles.
    pub permutations: u64,
    /// Prices used for the costs.
    pub prices: Option<PricesUsed<T>>,
    /// Buckets, in order.
    pub buckets: Vec<SessionBucket<T>>,
    /// Series of the measures.
    pub series: Vec<Series<T>>,
    /// Further notes for the reader.
    pub notes: Vec<T>,
}

impl TrendRun {
    /// Returns the result in printable form.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> TrendRun<Printable> {
        let tallies = |all: Vec<NameTally>| -> Vec<NameTally<Printable>> {
            let one = |NameTally { name, count }: NameTally| NameTally {
                name: redactor.apply(name),
                count,
            };
            all.into_iter().map(one).collect()
        };
        let bucket = |one: SessionBucket| SessionBucket {
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
        let change = |one: TrendChange| TrendChange {
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
            prices: self.prices.map(|prices| PricesUsed {
                file: prices.file.map(|file| redactor.apply(file)),
                date: prices.date,
                list_date: prices.list_date,
            }),
            buckets: self.buckets.into_iter().map(bucket).collect(),
            series: self.series.into_iter().map(series).collect(),
            notes: redactor.apply_all(self.notes),
        }
    }
}
