//! Tools: their call counts, failures and durations.

use super::info::Items;
use super::query::{Params, moment};
use super::{ApiAnswer, App, JsonResponse, blocking};
use crate::sessions::Filter;
use axum::extract::State;
use jiff::Timestamp;
use rusqlite::params_from_iter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolmark_check::week_of;

/// Maximum number of listed tools, the most frequent first.
const MAX_TOOLS: usize = 500;

#[derive(Debug, Default, Deserialize)]
pub(super) struct ToolsQuery {
    project: Option<String>,
    agent: Option<String>,
    since: Option<String>,
}

/// Number of failures of one class.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Bucket")]
pub(crate) struct FailureCount {
    /// Class of the failure.
    pub class: String,
    /// Number of failures.
    pub count: u64,
}

/// Recovery from failures.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RecoveryRate {
    /// Share of decided failures with recovery; partial recovery counts half.
    pub rate: Option<f64>,
    /// Number of failures with recovery.
    pub recovered: u64,
    /// Number of decided failures.
    pub decided: u64,
}

/// One week of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolWeek {
    /// ISO week.
    pub week: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
    /// 95th percentile of the duration, in milliseconds.
    pub p95: Option<u64>,
}

/// A tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolRow {
    /// Name of the tool.
    pub tool: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
    /// Share of failed calls.
    pub rate: f64,
    /// Median duration, in milliseconds.
    pub p50: Option<u64>,
    /// 95th percentile of the duration, in milliseconds.
    pub p95: Option<u64>,
    /// 99th percentile of the duration, in milliseconds.
    pub p99: Option<u64>,
    /// Failures by class.
    pub buckets: Vec<FailureCount>,
    /// Recovery from failures.
    pub recovery: RecoveryRate,
    /// Weekly numbers.
    pub weeks: Vec<ToolWeek>,
}

#[derive(Default)]
struct Sum {
    calls: u64,
    failed: u64,
    /// Sorted durations.
    times: Vec<u32>,
    buckets: BTreeMap<String, u64>,
    recovered: u64,
    partial: u64,
    decided: u64,
    weeks: BTreeMap<i64, (u64, u64, Vec<u32>)>,
}

/// Returns the quantile for a share, by the nearest rank.
fn quantile(sorted: &[u32], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).map(|ms| u64::from(*ms))
}

/// Number of a week, beginning on Mondays.
fn week_number(milliseconds: i64) -> i64 {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    // 1970-01-01 was a Thursday.
    (milliseconds.div_euclid(DAY) + 3).div_euclid(7)
}

fn week_name(number: i64) -> Option<String> {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    Timestamp::from_millisecond((number * 7 - 3) * DAY).ok().map(week_of)
}

impl Sum {
    fn row(self, tool: String) -> ToolRow {
        let good = self.recovered as f64 + self.partial as f64 / 2.0;
        let week = |(number, (calls, failed, times)): (i64, (u64, u64, Vec<u32>))| {
            // They come in the order of all times, so those of a week are in order too.
            let p95 = quantile(&times, 0.95);
            Some(ToolWeek { week: week_name(number)?, calls, failed, p95 })
        };
        let mut buckets: Vec<FailureCount> =
            self.buckets.into_iter().map(|(class, count)| FailureCount { class, count }).collect();
        buckets.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.class.cmp(&b.class)));
        ToolRow {
            tool,
            calls: self.calls,
            failed: self.failed,
            rate: self.failed as f64 / self.calls.max(1) as f64,
            p50: quantile(&self.times, 0.5),
            p95: quantile(&self.times, 0.95),
            p99: quantile(&self.times, 0.99),
            buckets,
            recovery: RecoveryRate {
                rate: (self.decided > 0).then(|| good / self.decided as f64),
                recovered: self.recovered,
                decided: self.decided,
            },
            weeks: self.weeks.into_iter().filter_map(week).collect(),
        }
    }
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<ToolsQuery>,
) -> ApiAnswer<Items<ToolRow>> {
    blocking(&app, move |app| {
        let now = Timestamp::now();
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let filter = Filter {
            project: given(query.project),
            agent: given(query.agent),
            since: moment(query.since.as_deref(), now)?,
            ..Filter::default()
        };
        let (condition, values) = filter.condition(now);
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        app.store.read(|db| {
            let mut rows = db.prepare(&format!(
                "SELECT tool, call.status, ms, at, class, recovery FROM call
                 WHERE session IN (SELECT key FROM session WHERE {condition}) ORDER BY tool, ms"
            ))?;
            let mut rows = rows.query(params_from_iter(&values))?;
            while let Some(row) = rows.next()? {
                let tool = row.get_ref(0)?.as_str()?;
                if !sums.contains_key(tool) {
                    sums.insert(tool.to_owned(), Sum::default());
                }
                let Some(sum) = sums.get_mut(tool) else { continue };
                let ms: Option<i64> = row.get(2)?;
                let ms = ms.and_then(|ms| u32::try_from(ms).ok());
                let has_failed = row.get_ref(1)?.as_str()? == "failed";
                sum.calls += 1;
                sum.failed += u64::from(has_failed);
                sum.times.extend(ms);
                if let Some(at) = row.get::<_, Option<i64>>(3)? {
                    let (calls, failed, times) = sum.weeks.entry(week_number(at)).or_default();
                    *calls += 1;
                    *failed += u64::from(has_failed);
                    times.extend(ms);
                }
                if let Some(class) = row.get::<_, Option<String>>(4)? {
                    *sum.buckets.entry(class).or_default() += 1;
                }
                match row.get_ref(5)?.as_str_or_null()? {
                    Some("recovered") => {
                        sum.recovered += 1;
                        sum.decided += 1;
                    }
                    Some("partial") => {
                        sum.partial += 1;
                        sum.decided += 1;
                    }
                    Some("failed") => sum.decided += 1,
                    _ => {}
                }
            }
            Ok(())
        })?;
        let mut items: Vec<ToolRow> = sums.into_iter().map(|(tool, sum)| sum.row(tool)).collect();
        items.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
        items.truncate(MAX_TOOLS);
        Ok(JsonResponse(Items { items }))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_the_nearest_rank() {
        let times: Vec<u32> = (1..=100).collect();
        assert_eq!(quantile(&times, 0.5), Some(50));
        assert_eq!(quantile(&times, 0.95), Some(95));
        assert_eq!(quantile(&times[..1], 0.99), Some(1));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn weeks_begin_on_mondays() {
        for (time, want) in [
            ("2026-11-15T23:59:59Z", "2026-W46"),
            ("2026-11-16T00:00:00Z", "2026-W47"),
            ("2027-01-01T00:00:00Z", "2026-W53"),
            ("1969-12-31T00:00:00Z", "1970-W01"),
        ] {
            let time: Timestamp = time.parse().unwrap();
            assert_eq!(week_name(week_number(time.as_millisecond())).as_deref(), Some(want));
        }
    }
}
