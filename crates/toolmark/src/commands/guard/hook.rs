//! `toolmark guard` as a hook; `toolmark-hook` does the same with less to load.
//!
//! Agents run it before every call, so it answers before the command line is parsed where possible
//! ([`at_once`]).

use crate::exit::Exit;
use crate::guarding::READERS;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use toolmark_guard::hook::{self, HookArgs};

/// Options of the hook.
#[derive(Debug, Args)]
pub(super) struct HookCommand {
    /// Host of the call [default: detected from the payload]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The user's policy, as set by `install` [default: the one in the home directory that the
    /// system has for the user]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The log, as set by `install`, or `off` [default: as in the user's policy, or in that home
    /// directory]
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Answers a hook call without parsing the command line if it is the usual one: `toolmark guard`
/// with or without `--host HOST`, `--policy FILE` and `--log FILE`.
pub(crate) fn at_once(args: &[OsString]) -> Option<ExitCode> {
    let [_, guard, words @ ..] = args else { return None };
    let asked = HookArgs::parse(words).filter(|_| guard == "guard")?;
    Some(ExitCode::from(hook::run(asked, Some(&READERS))))
}

impl HookCommand {
    pub(super) fn run(self) -> Exit {
        let asked = HookArgs {
            host: self.host.as_deref(),
            policy: self.policy.as_deref(),
            log: self.log.as_deref(),
        };
        match hook::run(asked, Some(&READERS)) {
            0 => Exit::Ok,
            _ => Exit::Usage,
        }
    }
}
