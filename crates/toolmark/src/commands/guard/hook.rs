//! `toolmark guard` as a hook, which `toolmark-hook` does with less to load.
//!
//! Agents run it before every call, so it answers before the command line is
//! even parsed where that is possible ([`at_once`]).

use crate::exit::Exit;
use crate::guarding::READERS;
use clap::Args;
use std::ffi::OsString;
use std::process::ExitCode;
use toolmark_guard::hook;

/// How the hook is asked.
#[derive(Debug, Args)]
pub(super) struct Hook {
    /// The host that asks; without it, known by the payload
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
}

/// Answers a hook without parsing the command line, if it is the usual one:
/// `toolmark guard` or `toolmark guard --host HOST`.
pub(crate) fn at_once(args: &[OsString]) -> Option<ExitCode> {
    let host = match args {
        [_, guard] if guard == "guard" => None,
        [_, guard, flag, host] if guard == "guard" && flag == "--host" => Some(host.to_str()?),
        _ => return None,
    };
    Some(ExitCode::from(hook::run(host, Some(&READERS))))
}

impl Hook {
    pub(super) fn run(self) -> Exit {
        match hook::run(self.host.as_deref(), Some(&READERS)) {
            0 => Exit::Ok,
            _ => Exit::Usage,
        }
    }
}
