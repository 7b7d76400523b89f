//! Usage of sessions: calls, tokens, time and money, by day, project, model or tool.

mod groups;
mod parts;
mod prices;
mod public;
mod spend;

pub use groups::{GroupBy, UsageGroup, UsageTable};
pub use parts::{SessionUsage, UsagePart, call_milliseconds, session_duration};
pub use prices::{FilePrices, ModelPrice, NoPrice, Prices, Rates};
pub use public::PublicPrices;
pub use spend::{RecordedCost, Spend, Usd};
