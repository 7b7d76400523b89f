//! Classifies one failure: walks the moves after it and decides by the class
//! of its error. The table stands in the documentation of the module above.

use super::risk::overwrites;
use super::{Failure, Verdict, effects, moves};
use crate::call_key::{CallKey, errand, program, searches};
use crate::error_class::{ErrorClass, classify, is_not_found};
use crate::hidden_failure;
use crate::purpose::{Purpose, purpose};
use crate::session::{Ended, Session, SessionCall};
use toolmark_hosts::toolset::ToolRole;
use toolmark_shell::{Kind, Reversibility};

/// Calls that are looked at after a failure.
const WINDOW: usize = 3;
/// The same after tests and builds.
const LONG_WINDOW: usize = 10;
/// A later run of the same tests is looked for so far.
const RERUN: usize = 40;

/// A failed call and the moves after it.
pub(super) struct Classifier<'s, 'a> {
    pub(super) session: &'s Session<'a>,
    pub(super) at: usize,
    pub(super) failed: &'s SessionCall<'a>,
    pub(super) class: ErrorClass,
    pub(super) key: CallKey,
    /// What came next, with the key of each.
    pub(super) next: Vec<(usize, &'s SessionCall<'a>, CallKey)>,
}

pub(super) type Ruling = (Verdict, &'static str, Option<usize>);

impl<'s, 'a> Classifier<'s, 'a> {
    pub(super) fn new(
        session: &'s Session<'a>,
        at: usize,
        failed: &'s SessionCall<'a>,
        key: CallKey,
        class: ErrorClass,
    ) -> Self {
        let far = match class {
            ErrorClass::Tests | ErrorClass::Build => LONG_WINDOW,
            _ => WINDOW,
        };
        let keyed = |(at, call): (usize, &'s SessionCall<'a>)| {
            Some((at, call, session.keys().get(at).copied()?))
        };
        let next = moves(session, at).take(far).filter_map(keyed).collect();
        Self { session, at, failed, class, key, next }
    }

    pub(super) fn finish(self, masked: Option<String>) -> Failure {
        let (verdict, why, by) = self.ruling();
        let repeat = self.repeat();
        let steps = match by {
            Some(by) => self.next.iter().position(|(at, ..)| *at == by).map_or(WINDOW, |n| n + 1),
            None => 0,
        };
        Failure {
            at: self.at,
            class: self.class,
            masked,
            verdict,
            why,
            by,
            steps,
            repeat: repeat.map(|(at, _)| at),
            blind: repeat.is_some_and(|(_, blind)| blind),
            escalation: self.escalation(),
        }
    }

    /// Is this the same call again? Quotes and filters may be what mends it,
    /// unless the error came before they mattered.
    fn is_same(&self, key: CallKey) -> bool {
        match self.class {
            ErrorClass::CommandNotFound | ErrorClass::Denied | ErrorClass::Timeout => {
                key.work == self.key.work
            }
            _ => key.text == self.key.text,
        }
    }

    /// The same call again, and whether nothing was done before it.
    fn repeat(&self) -> Option<(usize, bool)> {
        let n = self.next.iter().position(|(_, call, key)| {
            self.is_same(*key) && (self.class != ErrorClass::Timeout || self.same_limits(call))
        })?;
        let (at, ..) = *self.next.get(n)?;
        let is_idle = |call: &SessionCall<'_>| {
            call.ended == Ended::Failed && call.role != ToolRole::RunsShell
        };
        let first_of_its_kind = self.next.iter().take(n).all(|(_, call, _)| is_idle(call));
        // A user's own command or a long wait may have changed something.
        Some((at, first_of_its_kind))
    }

    fn same_limits(&self, call: &SessionCall<'_>) -> bool {
        let (a, b) = (self.failed.args(), call.args());
        [
            "timeout",
            "timeout_ms",
            "yield_time_ms",
            "initial_wait",
            "run_in_background",
            "is_background",
        ]
        .iter()
        .all(|key| a.and_then(|a| a.get(key)) == b.and_then(|b| b.get(key)))
    }

    fn ruling(&self) -> Ruling {
        if self.class == ErrorClass::Denied {
            return self.denied();
        }
        if let Some((at, true)) = self.repeat() {
            return self.blind(at);
        }
        match self.class {
            ErrorClass::Missing => self.missing(),
            ErrorClass::TooLarge | ErrorClass::Binary => self.unreadable(),
            ErrorClass::EditNoMatch
            | ErrorClass::EditAmbiguous
            | ErrorClass::EditStale
            | ErrorClass::EditNoop => self.edit(),
            ErrorClass::CommandNotFound => self.not_found(),
            ErrorClass::Dependency => self.dependency(),
            ErrorClass::NotExecutable | ErrorClass::NoPermission => self.not_allowed(),
            ErrorClass::Tests | ErrorClass::Build => self.checks(),
            ErrorClass::Conflict => self.conflict(),
            ErrorClass::Timeout => self.timeout(),
            _ => self.again(),
        }
    }

    /// The same call with nothing done in between.
    fn blind(&self, at: usize) -> Ruling {
        let repeat = self.session.calls().get(at);
        let worked = repeat.is_some_and(|call| call.ended == Ended::Ok);
        match (self.class, worked) {
            (_, true) => {
                (Verdict::Partial, "the same call worked when it was made again", Some(at))
            }
            (ErrorClass::Network, false) => {
                let again = self.next.iter().filter(|(_, _, key)| self.is_same(*key)).count();
                match again >= 2 {
                    true => (Verdict::Failed, "three identical attempts", Some(at)),
                    false => self.again(),
                }
            }
            (_, false) => (Verdict::Failed, "the same call was made again", Some(at)),
        }
    }

    fn missing(&self) -> Ruling {
        let mut searched = None;
        let proposed = self.failed.result().is_some_and(|text| text.contains("Did you mean"));
        for (at, call, _) in &self.next {
            let is_like = match (self.failed.role, call.role) {
                (ToolRole::RunsShell, ToolRole::RunsShell) => self.same_program(call),
                (ToolRole::RunsShell, _) => call.role == ToolRole::Reads,
                (a, b) => a == b || b == ToolRole::Reads,
            };
            match call.ended {
                _ if call.role == ToolRole::AsksUser => {
                    return (Verdict::Recovered, "asked", Some(*at));
                }
                Ended::Ok if is_like && (searched.is_some() || proposed) => {
                    return (Verdict::Recovered, "found it", Some(*at));
                }
                Ended::Ok if searches(call) => searched = Some(*at),
                Ended::Ok if is_like => {
                    return (Verdict::Partial, "another path that happened to be there", Some(*at));
                }
                Ended::Failed
                    if is_like
                        && searched.is_none()
                        && call.role == self.failed.role
                        && call.path.is_some()
                        && classify(call) == Some(ErrorClass::Missing) =>
                {
                    return (Verdict::Failed, "guessed another path that is not there", Some(*at));
                }
                _ => {}
            }
        }
        match searched {
            Some(at) => (Verdict::Partial, "searched", Some(at)),
            None => OPEN,
        }
    }

    fn unreadable(&self) -> Ruling {
        for (at, call, _) in &self.next {
            let names_it = self.names_file(call);
            match call.role {
                ToolRole::RunsShell
                    if names_it
                        && self.class == ErrorClass::TooLarge
                        && call.command().and_then(|c| program(&c)).as_deref() == Some("cat")
                        && !call.command().is_some_and(|c| c.contains('|')) =>
                {
                    return (Verdict::Failed, "showed the whole file with cat", Some(*at));
                }
                _ if call.ended == Ended::Ok && (names_it || searches(call)) => {
                    return (Verdict::Recovered, "looked at a part of it", Some(*at));
                }
                _ => {}
            }
        }
        OPEN
    }

    /// Does a call name the file the failed one was about?
    fn names_file(&self, call: &SessionCall<'_>) -> bool {
        let Some(path) = self.failed.path.as_deref() else {
            return call.role == self.failed.role;
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        call.path.as_deref() == Some(path)
            || call.command().is_some_and(|command| !name.is_empty() && command.contains(name))
            || call.patch().is_some_and(|patch| patch.contains(name))
    }

    fn edit(&self) -> Ruling {
        let mut read = false;
        for (at, call, _) in &self.next {
            if call.ended != Ended::Ok {
                continue;
            }
            let names_it = self.names_file(call);
            match call.role {
                ToolRole::Reads | ToolRole::SearchesContent if names_it => read = true,
                ToolRole::SearchesContent => read = true,
                ToolRole::Edits | ToolRole::Patches if names_it => {
                    return match read || self.class == ErrorClass::EditNoop {
                        true => (Verdict::Recovered, "read the file and edited it", Some(*at)),
                        false => (Verdict::Partial, "edited it without a look", Some(*at)),
                    };
                }
                ToolRole::Writes if names_it => {
                    return match (self.failed.role, read) {
                        (ToolRole::Writes, true) => {
                            (Verdict::Recovered, "read the file and wrote it", Some(*at))
                        }
                        (ToolRole::Writes, false) => OPEN,
                        _ => (Verdict::Failed, "wrote over the file", Some(*at)),
                    };
                }
                ToolRole::RunsShell if names_it => {
                    match self
                        .failed
                        .path
                        .as_deref()
                        .is_some_and(|path| overwrites(self.session, call, path))
                    {
                        true => return (Verdict::Failed, "wrote over the file", Some(*at)),
                        false => read = true,
                    }
                }
                _ => {}
            }
        }
        OPEN
    }

    pub(super) fn same_program(&self, call: &SessionCall<'_>) -> bool {
        match (self.failed.command(), call.command()) {
            (Some(a), Some(b)) => {
                let a = errand(&a);
                a.is_some() && a == errand(&b)
            }
            _ => false,
        }
    }

    fn not_found(&self) -> Ruling {
        let command = self.failed.command().unwrap_or_default();
        let text = self.failed.result().unwrap_or_default();
        let name = missing_program(&text).or_else(|| program(&command)).unwrap_or_default();
        let mut located = false;
        let mut other = None;
        for (at, call, _) in &self.next {
            let Some(command) = call.command() else { continue };
            // The same name in another directory is another program.
            let is_call = command.split_whitespace().any(|word| word == name);
            let looks =
                ["which ", "command -v", "whereis ", "install", "type ", "ls ", "find ", " add "]
                    .iter()
                    .any(|words| command.contains(words));
            let is_named = !name.is_empty() && command.contains(&name);
            match call.ended {
                Ended::Failed
                    if !located
                        && is_call
                        && classify(call) == Some(ErrorClass::CommandNotFound) =>
                {
                    return (Verdict::Failed, "the missing program was called again", Some(*at));
                }
                Ended::Ok if looks => located = true,
                Ended::Ok if is_named || located => {
                    return (Verdict::Recovered, "found another way to run it", Some(*at));
                }
                Ended::Ok => other = other.or(Some(*at)),
                _ => {}
            }
        }
        match (other, located) {
            (_, true) => (Verdict::Partial, "looked for the program", None),
            (Some(at), _) => (Verdict::Partial, "another program", Some(at)),
            _ => OPEN,
        }
    }

    fn dependency(&self) -> Ruling {
        let mut installed = None;
        for (at, call, _) in &self.next {
            let Some(command) = call.command() else { continue };
            let installs = ["install", " add ", "go get", "bundle", " sync"];
            if call.ended == Ended::Ok && installs.iter().any(|words| command.contains(words)) {
                installed = Some(*at);
            } else if call.ended == Ended::Ok && self.same_program(call) {
                return (Verdict::Recovered, "it worked in another way", Some(*at));
            }
        }
        match installed {
            Some(at) => (Verdict::Partial, "installed it", Some(at)),
            None => OPEN,
        }
    }

    fn not_allowed(&self) -> Ruling {
        for (at, call, _) in &self.next {
            let command = call.command().unwrap_or_default();
            let program = program(&command).unwrap_or_default();
            let opens = effects(self.session, call).into_iter().any(|effect| {
                effect.kind == Kind::Privilege
                    && effect.program == "chmod"
                    && effect.reversibility > Reversibility::R0
            });
            if opens {
                return (Verdict::Failed, "opened everything to everybody", Some(*at));
            }
            if call.role == ToolRole::AsksUser {
                return (Verdict::Recovered, "asked", Some(*at));
            }
            if call.ended == Ended::Ok && !call.only_looks() {
                return match program == "sudo" {
                    true => (Verdict::Partial, "with more rights", Some(*at)),
                    false => (Verdict::Recovered, "another way", Some(*at)),
                };
            }
        }
        OPEN
    }

    /// Tests and builds: was something changed, and did the next run do better?
    fn checks(&self) -> Ruling {
        let mut changed = None;
        let mut shown = None;
        for (at, call, key) in &self.next {
            let reruns = key.work == self.key.work;
            if reruns && changed.is_none() {
                if call.ended == Ended::Ok && hidden_failure::find(call).is_none() {
                    return (Verdict::Partial, "the same run passed without a change", Some(*at));
                }
                shown = shown.or(Some(*at));
                continue;
            }
            if reruns {
                return self.rerun(call, *at);
            }
            if call.ended == Ended::Ok && !call.only_looks() && !searches(call) {
                let is_run = call.command().is_some_and(|c| purpose(&c) != Purpose::Other);
                match is_run {
                    true => shown = shown.or(Some(*at)),
                    false => changed = changed.or(Some(*at)),
                }
            }
        }
        let Some(changed) = changed else {
            return match shown {
                Some(at) => (Verdict::Partial, "ran it again to see more", Some(at)),
                None => OPEN,
            };
        };
        let wanted = self.failed.command().map(|command| purpose(&command));
        let run = moves(self.session, changed).take(RERUN).find(|(_, call)| {
            call.command().is_some_and(|command| Some(purpose(&command)) == wanted)
        });
        match run {
            Some((at, call)) => self.rerun(call, at),
            None => (Verdict::Partial, "changed something and did not run it again", Some(changed)),
        }
    }

    fn rerun(&self, call: &SessionCall<'_>, at: usize) -> Ruling {
        let is_green = call.ended == Ended::Ok && hidden_failure::find(call).is_none();
        let is_other = || match (self.failed.result(), call.result()) {
            (Some(then), Some(now)) => failing(&now) < failing(&then),
            _ => false,
        };
        match is_green || is_other() {
            true => {
                (Verdict::Recovered, "changed something, and the next run was better", Some(at))
            }
            false => {
                (Verdict::Partial, "changed something, and the next run was no better", Some(at))
            }
        }
    }

    fn timeout(&self) -> Ruling {
        let mut longer = 0;
        for (at, call, key) in &self.next {
            if key.work == self.key.work {
                longer += 1;
                if call.ended != Ended::Failed {
                    return match longer {
                        1 => (Verdict::Recovered, "gave it more time", Some(*at)),
                        _ => (Verdict::Partial, "gave it more time again", Some(*at)),
                    };
                }
            } else if call.ended != Ended::Failed
                && (call.role == ToolRole::TalksToShell || call.role == self.failed.role)
                && (self.failed.command().is_none()
                    || self.same_program(call)
                    || call.role == ToolRole::TalksToShell)
            {
                return (Verdict::Recovered, "in the background, or less of it", Some(*at));
            }
        }
        OPEN
    }

    /// Any other class: the same tool with other arguments, or the same call
    /// after something was done.
    fn again(&self) -> Ruling {
        let mut other = None;
        for (at, call, key) in &self.next {
            if call.ended != Ended::Ok {
                continue;
            }
            let is_like = match self.failed.role {
                ToolRole::RunsShell => {
                    self.same_program(call) && (!call.only_looks() || self.failed.only_looks())
                }
                _ => call.tool == self.failed.tool,
            };
            if is_like || key.work == self.key.work {
                return (Verdict::Recovered, "it worked in another way", Some(*at));
            }
            if !call.only_looks() {
                other = other.or(Some(*at));
            }
        }
        let is_refused = matches!(self.class, ErrorClass::BadArguments | ErrorClass::Network);
        match other {
            Some(at) if is_refused => (Verdict::Partial, "another tool", Some(at)),
            _ => OPEN,
        }
    }
}

pub(super) const OPEN: Ruling = (Verdict::Open, "nothing that would mend it", None);

/// The program a shell says it does not have.
fn missing_program(text: &str) -> Option<String> {
    let line = text.lines().take(40).map(str::trim).find(|line| is_not_found(line))?;
    let name = match line.split_once("command not found: ") {
        Some((_, name)) => name,
        None => {
            let who =
                line.strip_suffix(": command not found").or(line.strip_suffix(": not found"))?;
            who.rsplit(": ").next()?
        }
    };
    Some(name.trim().to_owned())
}

/// How many lines of a run say that something failed.
fn failing(text: &str) -> usize {
    let words = ["FAIL", "error", "Error", "✗", "✕", "×", "not ok"];
    text.lines().filter(|line| words.iter().any(|word| line.contains(word))).count()
}
