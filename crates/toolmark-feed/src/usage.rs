//! Usage of sessions: calls, tokens, time and money, by day, project, model or tool.

mod groups;
mod parts;
mod prices;
mod spend;

pub use groups::{GroupBy, UsageGroup, UsageTable};
pub use parts::{SessionUsage, UsagePart, call_milliseconds, session_duration};
pub use prices::{ModelPrice, NoPrice, Prices};
pub use spend::{RecordedCost, Spend, Usd};
