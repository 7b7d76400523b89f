//! Static analysis of shell commands: maps a command line to its effects and a decision.
//!
//! [`parse`] reads shell text into a command representation. [`analyze`] walks it with
//! everything that can be proven about variables, the working directory and pipes,
//! collects [`Effect`]s from the rules of each program, and [`decision::decide`] reduces
//! them to a decision. Nothing is executed, no file is read, and nothing is prepared at
//! start-up.
//!
//! ```
//! use toolmark_shell::{ShellContext, Decision, analyze};
//!
//! let context = ShellContext { cwd: Some("/home/ada/shop"), home: Some("/home/ada"), ..ShellContext::default() };
//! assert_eq!(analyze("cd .. && rm -rf photos", &context).decision, Decision::Deny);
//! assert_eq!(analyze("echo 'rm -rf /'", &context).decision, Decision::Allow);
//! ```

#![forbid(unsafe_code)]

mod analyze;
mod attach;
pub mod catalog;
mod context;
pub mod decision;
mod dos;
mod effects;
mod expand;
mod fallback;
mod forks;
mod inline;
pub mod ir;
mod left;
mod lookup;
mod made;
mod on_disk;
mod options;
mod parse;
mod paths;
mod pipelines;
mod pipes;
mod program;
mod programs;
mod protect;
pub mod results;
mod run;
mod secrets;
mod simple;
mod sql;
mod walk;
mod windows;
mod words;
mod write;

pub use analyze::{analyze, analyze_parsed};
pub use context::{Analysis, FileFacts, PlannedCommand, ShellContext};
pub use decision::Decision;
pub use effects::{Certainty, Coverage, Effect, EffectKind, EffectScope, Reversibility};
pub use expand::Arg;
pub use left::{LeftState, is_shared_branch};
pub use parse::parse;
pub use paths::has_plain_parts;
pub use protect::{Protected, Protection, changes_operands};
pub use secrets::is_secret;
pub use sql::is_statement as is_sql_statement;
pub use walk::{CommandPosition, Visit, commands, key, masks_failure};
pub use write::{analyze_read, analyze_write};
