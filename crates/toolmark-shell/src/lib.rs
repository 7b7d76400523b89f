//! What a shell command would do: a command line in, effects and a decision out.
//!
//! [`parse`] reads shell text into its own representation, [`analyze`] walks it
//! with the little that can be proven about variables, the working directory
//! and pipes, asks the rules of each program for [`Effect`]s, and
//! [`decision::decide`] reduces them. Nothing is executed, no file is read,
//! and nothing is prepared at start-up.

#![forbid(unsafe_code)]

mod analyze;
mod attach;
mod context;
pub mod decision;
mod effects;
mod expand;
mod fallback;
mod inline;
pub mod ir;
mod options;
mod parse;
mod paths;
mod pipes;
mod programs;
mod run;
mod secrets;
mod simple;
mod sql;
mod unwrap;
mod walk;
mod windows;
mod words;
mod write;

pub use analyze::analyze;
pub use context::{Analysis, Command, Context, Facts};
pub use decision::Decision;
pub use effects::{Certainty, Coverage, Effect, Kind, Reversibility, Scope};
pub use expand::Arg;
pub use parse::parse;
pub use secrets::is_secret;
pub use walk::{Position, Visit, commands, key, masks_failure};
pub use write::{analyze_read, analyze_write};
