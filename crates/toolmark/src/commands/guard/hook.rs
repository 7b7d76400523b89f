//! `toolmark guard` as a hook: one payload in, one answer out.
//!
//! Agents run it before every call, so it answers before the command line is
//! even parsed where that is possible ([`at_once`]). Whatever goes wrong, the
//! answer says so: a fault of ours neither blocks work nor lets a call pass
//! unseen. The work is done beside the main thread, which answers in its place
//! when it takes too long or falls over.

use super::log;
use crate::exit::Exit;
use clap::Args;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use toolmark_guard::facts::Disk;
use toolmark_guard::hosts::{self, Answer, Host};
use toolmark_guard::{Fault, Guard, Verdict};
use toolmark_shell::{Decision, Facts};

/// The work takes a millisecond; what takes so long is stuck.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How the hook is asked.
#[derive(Debug, Default, Clone, Args)]
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
        let (done, answers) = mpsc::channel();
        let hook = self.clone();
        let worker = thread::Builder::new().spawn(move || {
            // Nobody is left to hear a failure to send.
            let _ = done.send(hook.worked_out());
        });
        let answer = match worker {
            Err(error) => self.fault(&Fault::new(format!("failed to start: {error}"))),
            Ok(_) => answers.recv_timeout(TIMEOUT).unwrap_or_else(|error| {
                self.fault(&Fault::new(match error {
                    RecvTimeoutError::Timeout => "no decision in time",
                    RecvTimeoutError::Disconnected => "the guard itself failed",
                }))
            }),
        };
        say(&answer)
    }

    fn worked_out(&self) -> Answer {
        let mut payload = Vec::new();
        if let Err(error) = io::stdin().lock().read_to_end(&mut payload) {
            return self.fault(&Fault::new(format!("failed to read the payload: {error}")));
        }
        let host = match self.named() {
            Named::Known(host) => host,
            Named::Not => hosts::detect(&payload),
            Named::Unknown(fault) => return refused(hosts::detect(&payload), &fault),
        };
        decided(host, &payload)
    }

    fn named(&self) -> Named {
        match self.host.as_deref().map(|id| (id, hosts::by_id(id))) {
            None => Named::Not,
            Some((_, Some(host))) => Named::Known(host),
            Some((id, None)) => Named::Unknown(Fault::new(format!("there is no host `{id}`"))),
        }
    }

    /// The answer where the payload is not known.
    fn fault(&self, fault: &Fault) -> Answer {
        match self.named() {
            Named::Known(host) => refused(host, fault),
            Named::Not | Named::Unknown(_) => refused(hosts::detect(b""), fault),
        }
    }
}

/// The host of the command line.
enum Named {
    Not,
    Known(&'static dyn Host),
    Unknown(Fault),
}

fn decided(host: &dyn Host, payload: &[u8]) -> Answer {
    let started = Instant::now();
    let event = match host.read(payload) {
        Ok(event) => event,
        Err(fault) => return refused(host, &fault),
    };
    let disk = event.cwd.as_deref().and_then(Disk::at);
    let facts = disk.as_ref().map(|disk| disk as &dyn Facts);
    let verdict = Guard::default().decide(&event, facts);
    log::answered(host, Some(&event), &verdict, started.elapsed())
}

fn refused(host: &dyn Host, fault: &Fault) -> Answer {
    let verdict = Verdict::new(Decision::Ask, "error", fault.to_string());
    log::answered(host, None, &verdict, Duration::ZERO)
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
