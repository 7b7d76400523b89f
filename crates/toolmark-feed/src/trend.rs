//! Trends of sessions over time: measures by week, day, agent version or model, and their
//! significant changes.

mod changes;
mod collect;
mod measures;
mod run;
mod session;

pub use collect::{SessionTrend, TrendOptions};
pub use measures::{MEASURES, needs_rules};
pub use run::{
    Better, NumberUnit, Point, PricesUsed, Series, SessionBucket, Suspect, TrendBy, TrendChange,
    TrendRun,
};
pub use session::TrendSession;
