//! The hook: one payload on the standard input, one answer.
//!
//! Agents run it before every call. Whatever goes wrong, the answer says so: a
//! fault of ours neither blocks work nor lets a call pass unseen. There is no
//! thread to watch over it, which would cost as much as the work: everything it
//! does is bounded, and it waits for nothing but its input.
//!
//! Two programs call [`run`]: `toolmark guard`, and `toolmark-hook`, which has
//! nothing else in it and so starts faster. The small one has no
//! [`Readers`]; where a policy needs them, it runs the large one.

mod log;
mod payload;
mod sibling;

use crate::facts::Disk;
use crate::files::{self, Readers};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use toolmark_hosts::{Answer, Fault, Host, Verdict};
use toolmark_shell::Facts;

/// A host that has not handed over its payload by then is stuck.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Reads, decides, answers; the exit code. Without a name the host is known by
/// its payload.
#[must_use]
pub fn run(host: Option<&str>, readers: Option<&Readers>) -> u8 {
    let hook = Hook { host, readers };
    let payload = match payload::read(TIMEOUT) {
        Ok(payload) => payload,
        Err(error) => return hook.fail(&format!("failed to read the payload: {error}")),
    };
    match catch_unwind(AssertUnwindSafe(|| hook.answer(&payload))) {
        Ok(Reply::Answer(answer)) => say(&answer),
        Ok(Reply::LacksReader) => sibling::run(host, &payload).unwrap_or_else(|why| {
            let policy = "the policy has JSON Schemas or toolsets, which need `toolmark guard`";
            hook.fail(&format!("{policy}: {why}"))
        }),
        Err(_) => hook.fail("the guard itself failed"),
    }
}

/// How the hook is asked.
struct Hook<'a> {
    host: Option<&'a str>,
    readers: Option<&'a Readers>,
}

/// What came of a payload.
enum Reply {
    Answer(Answer),
    /// The policy cannot be read in full by this program.
    LacksReader,
}

/// The host of the command line.
enum Named {
    Not,
    Known(&'static Host),
    Unknown(Fault),
}

impl Hook<'_> {
    fn answer(&self, payload: &[u8]) -> Reply {
        match self.named() {
            Named::Known(host) => self.decide(host, payload),
            Named::Not => self.decide(toolmark_hosts::detect(payload), payload),
            Named::Unknown(fault) => {
                Reply::Answer(self.refuse(toolmark_hosts::detect(payload), &fault))
            }
        }
    }

    fn named(&self) -> Named {
        match self.host.map(|id| (id, toolmark_hosts::by_id(id))) {
            None => Named::Not,
            Some((_, Some(host))) => Named::Known(host),
            Some((id, None)) => Named::Unknown(Fault::new(format!("unknown host `{id}`"))),
        }
    }

    fn decide(&self, host: &Host, payload: &[u8]) -> Reply {
        let started = Instant::now();
        let event = match host.read(payload) {
            Ok(event) => event,
            Err(fault) => return Reply::Answer(self.refuse(host, &fault)),
        };
        let opened = files::open(event.cwd.as_deref(), self.readers);
        if opened.lacks_reader {
            return Reply::LacksReader;
        }
        let disk = event.cwd.as_deref().and_then(Disk::at);
        let verdict = opened.verdict(&event, disk.as_ref().map(|disk| disk as &dyn Facts));
        let log = opened.guard.policy().log();
        Reply::Answer(log::answer(host, Some(&event), &verdict, &log, started.elapsed()))
    }

    /// The answer where no decision could be worked out.
    fn refuse(&self, host: &Host, fault: &Fault) -> Answer {
        let opened = files::open(None, self.readers);
        let policy = opened.guard.policy();
        let verdict = Verdict::new(policy.on_error(), "error", fault.to_string());
        log::answer(host, None, &verdict, &policy.log(), Duration::ZERO)
    }

    /// Answers where the payload is not known, or could not be dealt with.
    fn fail(&self, why: &str) -> u8 {
        let host = match self.named() {
            Named::Known(host) => host,
            Named::Not | Named::Unknown(_) => toolmark_hosts::detect(b""),
        };
        say(&self.refuse(host, &Fault::new(why)))
    }
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
