//! One line per time bucket, and one per measure.

use super::versioned;
use crate::ReportError;
use crate::model::{Series, TrendRun};
use serde::Serialize;
use std::io::Write;
use toolmark_feed::trend::SessionBucket;
use toolmark_outcome::Printable;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TrendRow<'r> {
    Bucket(&'r SessionBucket<Printable>),
    Series(&'r Series),
}

pub(super) fn write(run: &TrendRun, out: &mut dyn Write) -> Result<(), ReportError> {
    let buckets = run.buckets.iter().map(TrendRow::Bucket);
    for row in buckets.chain(run.series.iter().map(TrendRow::Series)) {
        versioned(row, out)?;
    }
    Ok(())
}
