//! Trends of sessions over time: measures by week, day, agent version or model, and their
//! significant changes.

mod changes;
mod collect;
mod measures;
mod run;
mod session;

pub use collect::{Trend, TrendOptions};
pub use measures::{MEASURES, needs_rules};
pub use run::{
    Better, Bucket, Change, Point, PricesUsed, Series, Suspect, TrendBy, TrendRun, Unit,
};
pub use session::TrendSession;
