//! How sessions change over time: measures by week, day, version of the agent or model,
//! and where they change by more than chance.

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
