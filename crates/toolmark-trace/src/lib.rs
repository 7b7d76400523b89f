//! Reads agent traces of every common format into one [`Trajectory`] model.
//!
//! [`read_path`] and [`read`] find out by content what a file is and return an
//! iterator of trajectories; a file that holds many runs is never in memory
//! whole where its format allows. Text is not copied: a trajectory holds
//! pointers into the blocks that were read ([`Text`]), decodes on demand, and
//! knows the file, line and column of everything in it ([`At`]).
//!
//! [`EXPORTERS`] write a trajectory in the formats of other tools.

#![forbid(unsafe_code)]

mod builder;
mod detect;
mod diagnostic;
mod export;
mod format;
mod formats;
mod input;
mod join;
mod model;
mod read;
mod summary;
#[cfg(test)]
mod testing;

pub use builder::{Answer, Builder, NewCall};
pub use diagnostic::{Diagnostic, Severity};
pub use export::{EXPORTERS, ExportInfo, Exporter, Losses, Part, exporter_by_id};
pub use format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record, Shape};
pub use formats::FORMATS;
pub use input::limits::Limits;
pub use join::{Joined, Loaded, join_sub_agents, load_path};
pub use model::*;
pub use read::{Options, ReadError, Trajectories, format_by_id, read, read_path};
pub use summary::{Summary, TokenCounts};
