//! `toolmark guard` as a hook: one payload in, one answer out.
//!
//! Agents run it before every call, so it answers before the command line is
//! even parsed where that is possible ([`at_once`]). Whatever goes wrong, the
//! answer says so: a fault of ours neither blocks work nor lets a call pass
//! unseen.

use crate::exit::Exit;
use crate::guarding;
use clap::Args;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use toolmark_guard::hosts::{self, Answer, Host};
use toolmark_guard::{Event, Fault, Moment, Verdict};
use toolmark_shell::Decision;

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
    fn answer(&self) -> u8 {
        let payload = read_payload();
        let seen = payload.as_deref().unwrap_or_default();
        let (host, unknown) = match self.host.as_deref() {
            None => (hosts::detect(seen), None),
            Some(id) => match hosts::by_id(id) {
                Some(host) => (host, None),
                None => (hosts::detect(seen), Some(format!("there is no host `{id}`"))),
            },
        };
        let answer = match (&payload, unknown) {
            (_, Some(words)) => fault(host, &Fault::new(words)),
            (Err(error), None) => {
                fault(host, &Fault::new(format!("failed to read the payload: {error}")))
            }
            (Ok(payload), None) => catch_unwind(AssertUnwindSafe(|| decided(host, payload)))
                .unwrap_or_else(|_| fault(host, &Fault::new("the guard itself failed"))),
        };
        say(&answer)
    }
}

fn read_payload() -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    io::stdin().lock().read_to_end(&mut payload)?;
    Ok(payload)
}

fn decided(host: &dyn Host, payload: &[u8]) -> Answer {
    let event: Event<'_> = match host.read(payload) {
        Ok(event) => event,
        Err(error) => return fault(host, &error),
    };
    let verdict = match event.moment {
        Moment::Before | Moment::Permission => guarding::verdict(&event, None),
        Moment::After | Moment::Other => Verdict::allow(),
    };
    host.answer(Some(&event), &verdict)
}

fn fault(host: &dyn Host, fault: &Fault) -> Answer {
    host.answer(None, &Verdict::new(Decision::Ask, "error", fault.to_string()))
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
