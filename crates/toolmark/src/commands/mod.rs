//! The commands, one per file.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod feed;
pub(crate) mod formats;
pub(crate) mod grade;
pub(crate) mod graders;
pub(crate) mod guard;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod lint;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod mine;
pub(crate) mod prices;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod trend;
mod watch;
