//! Reads agent traces of every common format into one [`Trajectory`] model.
//!
//! [`read_path`] and [`read`] detect the format of a file by its content and return
//! an iterator of trajectories; a file with many runs is never entirely in memory if
//! its format allows that. Text is not copied: a trajectory holds pointers into the
//! blocks that were read ([`Text`]), decodes on demand, and keeps the file, line and
//! column of all its items ([`At`]).
//!
//! # Run by run
//!
//! ```no_run
//! use toolmark_trace::{ReadOptions, read_path};
//!
//! let mut runs = read_path("sessions.jsonl", &ReadOptions::default())?;
//! for run in runs.by_ref() {
//!     println!("{} calls", run.calls.len());
//! }
//! println!("{} lines could not be read", runs.skipped());
//! # Ok::<(), toolmark_trace::ReadError>(())
//! ```
//!
//! # With sub-agents
//!
//! [`load_path`] also reads the files of a session's sub-agents.
//!
//! ```no_run
//! use toolmark_trace::{ReadOptions, load_path};
//!
//! let loaded = load_path("session.jsonl", &ReadOptions::default())?;
//! let calls: usize = loaded.runs.iter().flat_map(|run| run.flatten()).map(|r| r.calls.len()).sum();
//! # Ok::<(), toolmark_trace::ReadError>(())
//! ```
//!
//! # Payloads and positions
//!
//! Arguments and results are [`Payload`]s: as written, parsed on demand, or as
//! human-readable text. Positions become file, line and column on demand.
//!
//! ```
//! use toolmark_trace::{ReadOptions, Status, read};
//!
//! let trace = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"ls","arguments":"{\"path\":\"/tmp\"}"}}]}
//! {"role":"tool","tool_call_id":"1","content":"a b"}"#;
//! let run = read(trace.as_bytes(), "chat.jsonl", &ReadOptions::default())?.next().unwrap();
//! let call = &run.calls[0];
//! let args = call.args.as_ref().unwrap();
//! assert_eq!(args.raw(), r#"{"path":"/tmp"}"#);
//! assert_eq!(args.parsed().unwrap()["path"], "/tmp");
//! let result = call.result.as_ref().unwrap();
//! assert_eq!(result.payload.as_ref().unwrap().plain(), "a b");
//! assert_eq!(result.at.location().line, 2);
//! // Nothing here says whether the call failed, so its status is unknown.
//! assert_eq!(call.status, Status::Unknown);
//! # Ok::<(), toolmark_trace::ReadError>(())
//! ```
//!
//! # Writing
//!
//! [`EXPORTERS`] write a trajectory in the formats of other tools and count what
//! is lost; [`FileSummary`] counts what `toolmark stats` prints.

#![forbid(unsafe_code)]

mod builder;
mod call_shapes;
mod denials;
mod detect;
mod diagnostic;
mod export;
mod format;
mod formats;
mod ids;
mod input;
mod join;
mod model;
mod read;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod summary;
#[cfg(test)]
mod testing;

pub use builder::{NewCall, ReaderResult, TrajectoryBuilder};
pub use call_shapes::{LooseCall, NotCalls, calls_in};
pub use denials::{Denial, DeniedBy, denial};
pub use diagnostic::{Diagnostic, DiagnosticSeverity};
pub use export::{
    EXPORTERS, ExportInfo, Exporter, Losses, TrajectoryPart, exporter_by_id, rewrite,
};
pub use format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record, RecordLayout};
pub use formats::{CONVERSATION_ATTRIBUTES, FORMATS};
pub use input::limits::ReadLimits;
pub use join::{Joined, LoadedFile, join_sub_agents, load_path};
pub use model::*;
pub use read::{ReadError, ReadOptions, Trajectories, format_by_id, read, read_path};
pub use summary::{FileSummary, TokenCounts};
