//! The hook: reads one payload from the standard input and writes one answer.
//!
//! Agents run it before every call. The answer reports every failure: an internal error neither
//! blocks work nor silently lets a call pass. No thread watches over the hook, which would cost as
//! much as the work: all its operations are bounded, and it waits only for its input.
//!
//! Two programs call [`run`]: `toolmark guard`, and `toolmark-hook`, which contains nothing else
//! and so starts faster. The small one has no [`Readers`]; if a policy needs them, it runs the
//! large one.

mod keep;
mod log;
mod payload;
mod sibling;

use crate::facts::Disk;
use crate::files::{self, Opened, Readers, Trust};
use crate::policy::Preset;
use crate::session::Live;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use toolmark_hosts::{GuardAnswer, HookOutput, Host, Moment, PayloadError};
use toolmark_shell::{Decision, FileFacts};

/// Time limit for a host to pass its payload.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Command-line arguments of the hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct HookArgs<'a> {
    /// Host; without a name it is detected from the payload.
    pub host: Option<&'a str>,
    /// Path of the user's policy, fixed when the hook was installed.
    pub policy: Option<&'a Path>,
    /// Path of the log, fixed when the hook was installed; `off` disables it.
    pub log: Option<&'a Path>,
}

impl<'a> HookArgs<'a> {
    /// Parses the words after the command; `None` if they are not those of the hook.
    #[must_use]
    pub fn parse(words: &'a [OsString]) -> Option<Self> {
        let mut asked = Self::default();
        for pair in words.chunks(2) {
            match pair {
                [flag, host] if flag == "--host" => asked.host = Some(host.to_str()?),
                [flag, path] if flag == "--policy" => asked.policy = Some(Path::new(path)),
                [flag, path] if flag == "--log" => asked.log = Some(Path::new(path)),
                _ => return None,
            }
        }
        Some(asked)
    }
}

/// Reads the payload, decides and answers; returns the exit code.
#[must_use]
pub fn run(asked: HookArgs<'_>, readers: Option<&Readers>) -> u8 {
    let hook = GuardHook { asked, readers };
    let payload = match payload::read(TIMEOUT) {
        Ok(payload) => payload,
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return hook.turn_away(format!("the payload is not looked at: {error}"));
        }
        Err(error) => return hook.fail(&format!("failed to read the payload: {error}")),
    };
    match catch_unwind(AssertUnwindSafe(|| hook.answer(&payload))) {
        Ok(Reply::Answer(answer)) => say(&answer),
        Ok(Reply::LacksReader) => sibling::run(asked, &payload).unwrap_or_else(|why| {
            let policy = "the policy has JSON Schemas or toolsets, which need `toolmark guard`";
            hook.fail(&format!("{policy}: {why}"))
        }),
        Err(_) => hook.fail("the guard itself failed"),
    }
}

/// Arguments and readers of the hook.
struct GuardHook<'a> {
    asked: HookArgs<'a>,
    readers: Option<&'a Readers>,
}

/// Result of handling a payload.
enum Reply {
    Answer(HookOutput),
    /// This program cannot read the policy completely.
    LacksReader,
}

/// Host named on the command line.
enum NamedHost {
    Not,
    Known(&'static Host),
    Unknown(PayloadError),
}

impl GuardHook<'_> {
    fn answer(&self, payload: &[u8]) -> Reply {
        match self.named() {
            NamedHost::Known(host) => self.decide(host, payload),
            NamedHost::Not => self.decide(toolmark_hosts::detect(payload), payload),
            NamedHost::Unknown(fault) => {
                Reply::Answer(self.refuse(toolmark_hosts::detect(payload), &fault))
            }
        }
    }

    fn named(&self) -> NamedHost {
        match self.asked.host.map(|id| (id, toolmark_hosts::by_id(id))) {
            None => NamedHost::Not,
            Some((_, Some(host))) => NamedHost::Known(host),
            Some((id, None)) => {
                NamedHost::Unknown(PayloadError::new(format!("unknown host `{id}`")))
            }
        }
    }

    fn decide(&self, host: &Host, payload: &[u8]) -> Reply {
        let started = Instant::now();
        let event = match host.read(payload) {
            Ok(event) => event,
            Err(fault) => return Reply::Answer(self.refuse(host, &fault)),
        };
        let opened = self.open(event.cwd.as_deref()).with_transcript(event.transcript.as_deref());
        if opened.lacks_reader {
            return Reply::LacksReader;
        }
        let place = opened.log_place(self.asked.log);
        let disk = event.cwd.as_deref().and_then(Disk::at);
        let log = place.as_ref().ok().and_then(Option::as_deref);
        let live = disk.map(|disk| Live::new(disk, log, event.session.as_deref()));
        let live = live.map(|live| live.with_transcript(&event));
        let verdict = opened.verdict(&event, live.as_ref().map(|live| live as &dyn FileFacts));
        let verdict = opened.lifted(&event, verdict);
        let verdict = match (log, &live) {
            (Some(log), Some(live)) => keep::around(&opened, log, &event, verdict, live),
            _ => verdict,
        };
        let is_question = event.moment == Moment::Before && verdict.decision == Decision::Ask;
        let verdict = match is_question.then(|| host.unasked(&event)).flatten() {
            Some(why) => verdict.unasked(&why),
            None => verdict,
        };
        let verdict = opened.with_way_out(&event, verdict);
        let runs = event.moment == Moment::Before && verdict.decision != Decision::Deny;
        let left = verdict.analysis.as_ref().filter(|_| runs).map(|effects| &effects.left);
        let left = left.filter(|left| !left.is_empty() && log.is_some()).zip(live.as_ref());
        let left = left.map(|(left, live)| live.refine(left.clone()));
        let basis = log::Basis {
            place,
            limits: opened.guard.policy().log().limits(),
            ignored: opened.ignored(self.asked.log),
            left,
            took: started.elapsed(),
        };
        Reply::Answer(log::answer(host, Some(&event), &verdict, basis))
    }

    fn open(&self, cwd: Option<&str>) -> Opened {
        files::open(cwd, Trust::Fixed(self.asked.policy), self.readers).with_log(self.asked.log)
    }

    /// Returns the answer if no decision could be made.
    fn refuse(&self, host: &Host, fault: &PayloadError) -> HookOutput {
        let decision = self.open(None).on_error();
        self.stop(host, GuardAnswer::new(decision, "error", fault.to_string()))
    }

    /// Returns the answer to an unknown call.
    fn stop(&self, host: &Host, verdict: GuardAnswer) -> HookOutput {
        let opened = self.open(None);
        let basis = log::Basis {
            place: opened.log_place(self.asked.log),
            limits: opened.guard.policy().log().limits(),
            ignored: opened.ignored(self.asked.log),
            left: None,
            took: Duration::ZERO,
        };
        log::answer(host, None, &verdict, basis)
    }

    /// Answers if the payload is unknown or could not be handled.
    fn fail(&self, why: &str) -> u8 {
        say(&self.refuse(self.host(), &PayloadError::new(why)))
    }

    /// Denies a payload for its size. The mode of the session is then unknown, as is whether the
    /// user would be prompted, and enlarging a call must not bypass the guard.
    fn turn_away(&self, why: String) -> u8 {
        let mut verdict = GuardAnswer::new(Decision::Deny, "size", why);
        // A policy that only observes stops nothing.
        if self.open(None).guard.policy().preset() == Preset::Observe {
            verdict = GuardAnswer {
                decision: Decision::Allow,
                observed: Some(Decision::Deny),
                ..verdict
            };
        }
        say(&self.stop(self.host(), verdict))
    }

    /// Returns the host if there is no payload to detect it from.
    fn host(&self) -> &'static Host {
        match self.named() {
            NamedHost::Known(host) => host,
            NamedHost::Not | NamedHost::Unknown(_) => toolmark_hosts::detect(b""),
        }
    }
}

fn say(answer: &HookOutput) -> u8 {
    let out = io::stdout().lock().write_all(answer.stdout.as_bytes());
    let err = io::stderr().lock().write_all(answer.stderr.as_bytes());
    match out.and(err) {
        Ok(()) if !(answer.stops() && is_lost()) => answer.exit,
        // The answer was not received: exit with the code that hosts treat as a denial.
        _ => 2,
    }
}

/// Whether the standard output goes nowhere. If the host has closed it, it was reopened on the null
/// device before this program began.
#[cfg(unix)]
fn is_lost() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let Ok(output) = io::stdout().as_fd().try_clone_to_owned() else { return true };
    let Ok(about) = std::fs::File::from(output).metadata() else { return true };
    let null = std::fs::metadata("/dev/null");
    about.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == about.rdev())
}

#[cfg(not(unix))]
fn is_lost() -> bool {
    false
}

#[cfg(test)]
mod tests;
