//! `toolmark guard` as a hook: one payload in, one answer out.
//!
//! Agents run it before every call, so it answers before the command line is
//! even parsed where that is possible ([`at_once`]). Whatever goes wrong, the
//! answer says so: a fault of ours neither blocks work nor lets a call pass
//! unseen. There is no thread to watch over it, which would cost as much as the
//! work: everything it does is bounded, and it waits for nothing but its input.

use super::{log, payload};
use crate::exit::Exit;
use crate::guarding;
use clap::Args;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use toolmark_guard::facts::Disk;
use toolmark_hosts::{Answer, Fault, Host, Verdict};
use toolmark_shell::Facts;

/// A host that has not handed over its payload by then is stuck.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How the hook is asked.
#[derive(Debug, Default, Args)]
pub(super) struct Hook {
    /// The host that asks; without it, known by the payload
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
}

/// Answers a hook without parsing the command line, if it is the usual one:
/// `toolmark guard` or `toolmark guard --host HOST`.
pub(crate) fn at_once(args: &[OsString]) -> Option<ExitCode> {
    let hook = match args {
        [_, guard] if guard == "guard" => Hook::default(),
        [_, guard, flag, host] if guard == "guard" && flag == "--host" => {
            Hook { host: Some(host.to_str()?.to_owned()) }
        }
        _ => return None,
    };
    Some(ExitCode::from(hook.answer()))
}

impl Hook {
    pub(super) fn run(self) -> Exit {
        match self.answer() {
            0 => Exit::Ok,
            _ => Exit::Usage,
        }
    }

    /// Reads, decides, answers; the exit code.
    fn answer(self) -> u8 {
        let answer = match payload::read(TIMEOUT) {
            Ok(payload) => catch_unwind(AssertUnwindSafe(|| self.worked_out(&payload)))
                .unwrap_or_else(|_| self.fault(&Fault::new("the guard itself failed"))),
            Err(error) => self.fault(&Fault::new(format!("failed to read the payload: {error}"))),
        };
        say(&answer)
    }

    fn worked_out(&self, payload: &[u8]) -> Answer {
        match self.named() {
            Named::Known(host) => decided(host, payload),
            Named::Not => decided(toolmark_hosts::detect(payload), payload),
            Named::Unknown(fault) => refused(toolmark_hosts::detect(payload), &fault),
        }
    }

    fn named(&self) -> Named {
        match self.host.as_deref().map(|id| (id, toolmark_hosts::by_id(id))) {
            None => Named::Not,
            Some((_, Some(host))) => Named::Known(host),
            Some((id, None)) => Named::Unknown(Fault::new(format!("there is no host `{id}`"))),
        }
    }

    /// The answer where the payload is not known.
    fn fault(&self, fault: &Fault) -> Answer {
        match self.named() {
            Named::Known(host) => refused(host, fault),
            Named::Not | Named::Unknown(_) => refused(toolmark_hosts::detect(b""), fault),
        }
    }
}

/// The host of the command line.
enum Named {
    Not,
    Known(&'static Host),
    Unknown(Fault),
}

fn decided(host: &Host, payload: &[u8]) -> Answer {
    let started = Instant::now();
    let event = match host.read(payload) {
        Ok(event) => event,
        Err(fault) => return refused(host, &fault),
    };
    let opened = guarding::open(event.cwd.as_deref());
    let disk = event.cwd.as_deref().and_then(Disk::at);
    let verdict = opened.verdict(&event, disk.as_ref().map(|disk| disk as &dyn Facts));
    let log = opened.guard.policy().log();
    log::answered(host, Some(&event), &verdict, &log, started.elapsed())
}

/// The answer where no decision could be worked out.
fn refused(host: &Host, fault: &Fault) -> Answer {
    let opened = guarding::open(None);
    let policy = opened.guard.policy();
    let verdict = Verdict::new(policy.on_error(), "error", fault.to_string());
    log::answered(host, None, &verdict, &policy.log(), Duration::ZERO)
}

fn say(answer: &Answer) -> u8 {
    let out = io::stdout().lock().write_all(answer.stdout.as_bytes());
    let err = io::stderr().lock().write_all(answer.stderr.as_bytes());
    match out.and(err) {
        Ok(()) => answer.exit,
        // Nobody heard the answer: the code that hosts take for a block.
        Err(_) => 2,
    }
}
