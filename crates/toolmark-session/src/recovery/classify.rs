//! Classifies one failure by the following calls and by the class of its error. The table is
//! in the documentation of the parent module.

use super::writes::{FileWrite, write_of};
use super::{Excuse, RecoveryFault, RecoveryStatus, SessionFailure, effects, excuses, moves};
use crate::call_key::{CallKey, searches};
use crate::claims::notices_trouble;
use crate::error_class::{ErrorClass, classify, is_not_found};
use crate::hidden_failure;
use crate::purpose::Purpose;
use crate::session::{Ended, Session, SessionCall};
use crate::shell::CommandLine;
use crate::tool_effect::ToolEffect;
use toolmark_hosts::toolset::ToolRole;
use toolmark_shell::{EffectKind, Reversibility};
use toolmark_trace::EventKind;

/// Number of calls to examine after a failure.
const WINDOW: usize = 3;
/// Number of calls to examine after failed tests, builds and edits.
const LONG_WINDOW: usize = 10;
/// Number of calls in which to look for another run of the same tests, or for the same call.
const RERUN: usize = 40;
/// Maximum number of identical attempts in cases where one retry is right.
const MAX_ATTEMPTS: usize = 3;

/// A failed call and the following calls.
pub(super) struct Classifier<'s, 'a> {
    pub(super) session: &'s Session<'a>,
    pub(super) at: usize,
    pub(super) failed: &'s SessionCall<'a>,
    pub(super) class: ErrorClass,
    pub(super) key: CallKey,
    /// Following calls, with the key of each.
    pub(super) next: Vec<(usize, &'s SessionCall<'a>, CallKey)>,
}

pub(super) type RecoveryRuling = (RecoveryStatus, &'static str, Option<usize>);

impl<'s, 'a> Classifier<'s, 'a> {
    pub(super) fn new(
        session: &'s Session<'a>,
        at: usize,
        failed: &'s SessionCall<'a>,
        key: CallKey,
        class: ErrorClass,
    ) -> Self {
        let far = match class {
            ErrorClass::Tests
            | ErrorClass::Build
            | ErrorClass::EditNoMatch
            | ErrorClass::EditAmbiguous => LONG_WINDOW,
            _ => WINDOW,
        };
        let keyed = |(at, call): (usize, &'s SessionCall<'a>)| {
            Some((at, call, session.keys().get(at).copied()?))
        };
        let next = moves(session, at).take(far).filter_map(keyed).collect();
        Self { session, at, failed, class, key, next }
    }

    pub(super) fn finish(self, masked: Option<String>, asks: bool) -> SessionFailure {
        let next = self.next.first().map(|(_, call, _)| *call);
        let excuse = excuses::find(self.session, self.at, self.failed, self.class, next);
        let (verdict, why, by) = self.ruling_with(excuse);
        let scripted = matches!(verdict, RecoveryStatus::Recovered) && why == SCRIPTED;
        let repeat = self.repeat();
        let steps = match by {
            Some(by) => self.next.iter().position(|(at, ..)| *at == by).map_or(WINDOW, |n| n + 1),
            None => 0,
        };
        SessionFailure {
            at: self.at,
            class: self.class,
            masked,
            asks,
            verdict,
            why,
            by,
            scripted,
            excuse,
            steps,
            repeat: repeat.map(|(at, _)| at),
            blind: repeat.is_some_and(|(_, blind)| blind),
            escalation: self.escalation(),
        }
    }

    /// Whether this is the same call. Quotes and filters may be the fix, unless the error
    /// happened before they mattered.
    fn is_same(&self, key: CallKey) -> bool {
        match self.class {
            ErrorClass::CommandNotFound | ErrorClass::Denied | ErrorClass::Timeout => {
                key.work == self.key.work
            }
            _ => key.text == self.key.text,
        }
    }

    /// Returns the repetition of the same call, and whether nothing was done before it.
    fn repeat(&self) -> Option<(usize, bool)> {
        let n = self.next.iter().position(|(_, call, key)| {
            (self.is_same(*key) || self.shares_failing_command(call, *key))
                && self.same_rights(call)
                && (self.class != ErrorClass::Timeout || self.same_limits(call))
        })?;
        let (at, ..) = *self.next.get(n)?;
        // Arithmetic changes no arguments, and nothing in a service.
        let changes = self.failed.tool_effect().is_some_and(ToolEffect::is_change);
        let is_idle = |call: &SessionCall<'_>| {
            call.ended == Ended::Failed && call.role != ToolRole::RunsShell
                || changes && is_thought(call)
        };
        let first_of_its_kind = self.next.iter().take(n).all(|(_, call, _)| is_idle(call));
        // A command of the user or a long wait may have changed something.
        Some((at, first_of_its_kind))
    }

    fn same_limits(&self, call: &SessionCall<'_>) -> bool {
        self.same_arguments(
            call,
            &[
                "timeout",
                "timeout_ms",
                "yield_time_ms",
                "initial_wait",
                "run_in_background",
                "is_background",
            ],
        )
    }

    /// Whether the call has the same permissions; additional permissions are a change.
    fn same_rights(&self, call: &SessionCall<'_>) -> bool {
        self.same_arguments(
            call,
            &["sandbox_permissions", "with_escalated_permissions", "dangerouslyDisableSandbox"],
        )
    }

    fn same_arguments(&self, call: &SessionCall<'_>, keys: &[&str]) -> bool {
        let (a, b) = (self.failed.args(), call.args());
        keys.iter().all(|key| a.and_then(|a| a.get(key)) == b.and_then(|b| b.get(key)))
    }

    /// Whether a call runs a part of the failed command again and gets the same error. Tests
    /// and builds are repeated to see more output.
    fn shares_failing_command(&self, call: &SessionCall<'_>, key: CallKey) -> bool {
        let is_there = self.class == ErrorClass::ExitCode && key.place == self.key.place;
        if !is_there || classify(call) != Some(self.class) {
            return false;
        }
        let (Some(then), Some(now)) = (self.failed.result(), call.result()) else { return false };
        let last = |text: &str| {
            let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
            line.filter(|line| line.len() >= MIN_ERROR_LENGTH).map(str::to_owned)
        };
        let error = last(&then);
        if error.is_none() || error != last(&now) {
            return false;
        }
        let (Some(a), Some(b)) = (self.failed.line(), call.line()) else { return false };
        let (a, b) = (a.simple_commands(), b.simple_commands());
        let is_plain = |words: &[String]| {
            words.first().is_some_and(|name| !matches!(name.as_str(), "cd" | "echo" | "export"))
        };
        let mut run = a.commands.iter().filter(|one| is_plain(&one.words));
        !a.opaque && !b.opaque && run.any(|a| b.commands.iter().any(|b| a.words == b.words))
    }

    /// Returns the ruling, given the agent's messages about the failure and its later
    /// actions.
    fn ruling_with(&self, excuse: Option<Excuse>) -> RecoveryRuling {
        let ruling = self.ruling();
        if excuse.is_some_and(|excuse| excuse.contradicted_by.is_some())
            && !matches!(ruling.0, RecoveryStatus::Failed(_) | RecoveryStatus::Evaded)
        {
            let next = self.next.first().map(|(at, ..)| *at);
            return (
                RecoveryStatus::Failed(RecoveryFault::ExplainedAway),
                "it was explained away",
                next,
            );
        }
        match ruling.0 {
            RecoveryStatus::Open if excuse.is_none() => self.later().unwrap_or(ruling),
            _ => ruling,
        }
    }

    /// Returns the ruling if the following calls leave a failure open but the same call works
    /// later in the turn.
    fn later(&self) -> Option<RecoveryRuling> {
        let keys = self.session.keys();
        let works = moves(self.session, self.at).take(RERUN).find(|(at, call)| {
            call.ended == Ended::Ok && keys.get(*at).is_some_and(|key| key.work == self.key.work)
        });
        works.map(|(at, _)| (RecoveryStatus::Recovered, "it worked later", Some(at)))
    }

    fn ruling(&self) -> RecoveryRuling {
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
            ErrorClass::Tests | ErrorClass::Build => {
                self.went_on().unwrap_or_else(|| self.checks())
            }
            ErrorClass::Conflict => self.conflict(),
            ErrorClass::Timeout => self.timeout(),
            _ => self.went_on().unwrap_or_else(|| self.again()),
        }
    }

    /// Returns the ruling if a step of a script failed, and the next step was run as if it
    /// had worked: the same script with another first argument, without any message.
    fn went_on(&self) -> Option<RecoveryRuling> {
        if self.failed.only_looks() {
            return None;
        }
        if let Some(at) = self.publishes_all_the_same() {
            return Some((
                RecoveryStatus::Failed(RecoveryFault::WentOn),
                "it was published all the same",
                Some(at),
            ));
        }
        let failed = steps_of(self.failed.line()?).pop().filter(|step| !looks(step))?;
        let (at, next, _) = self.next.first()?;
        let steps = steps_of(next.line()?);
        let goes_on = next.ended == Ended::Ok
            && steps.iter().any(|step| step.0 == failed.0 && !looks(step))
            && !steps.contains(&failed);
        let is_said = self.session.said_after(self.failed).next().is_some_and(|said| {
            self.session
                .events()
                .get(self.failed.event..next.event)
                .is_some_and(|between| between.iter().any(|event| std::ptr::eq(event, said)))
        });
        let is_made_up_for = || {
            moves(self.session, self.at).take(LONG_WINDOW).any(|(_, call)| {
                call.ended == Ended::Ok
                    && call.line().is_some_and(|command| steps_of(command).contains(&failed))
            })
        };
        let ruling = (
            RecoveryStatus::Failed(RecoveryFault::WentOn),
            "the next step was made all the same",
            Some(*at),
        );
        (goes_on && !is_said && !is_made_up_for()).then_some(ruling)
    }

    /// Returns the commit or push after a failed check, or the push after a failed commit, if
    /// nothing was done and nothing was said about the failure.
    fn publishes_all_the_same(&self) -> Option<usize> {
        let command = self.failed.line()?;
        let is_check = matches!(self.class, ErrorClass::Tests | ErrorClass::Build)
            && !command.checks().is_empty();
        let commits = |command: &str| command.contains("git commit");
        let (at, next, _) = self.next.iter().find(|(_, call, _)| !call.only_looks())?;
        let now = next.command()?;
        let publishes = match is_check {
            true => commits(&now) || now.contains("git push") || now.contains("npm publish"),
            false => commits(command) && now.contains("git push") && !commits(&now),
        };
        let between = self.session.events().get(self.failed.event..next.event)?;
        let is_noticed = between.iter().any(|event| {
            event.kind == EventKind::Message
                && event.text.as_ref().is_some_and(|text| notices_trouble(&text.plain()))
        });
        // A commit that says that tests fail hides nothing.
        let is_said =
            ["failing", "wip", "WIP", "red phase"].iter().any(|words| now.contains(words));
        (publishes && next.ended == Ended::Ok && !is_noticed && !is_said).then_some(*at)
    }

    /// Returns the ruling for a repetition of the same call with nothing done in between.
    fn blind(&self, at: usize) -> RecoveryRuling {
        let repeat = self.session.calls().get(at);
        let worked = repeat.is_some_and(|call| call.ended == Ended::Ok);
        // A different error means that something changed, or that the call got further.
        let is_other = repeat.is_some_and(|call| {
            classify(call).is_some_and(|class| class != self.class && class.is_fault())
        });
        if is_other {
            return self.again();
        }
        match (self.class, worked) {
            (_, true) => {
                (RecoveryStatus::Partial, "the same call worked when it was made again", Some(at))
            }
            // One retry is the right reaction to such an error.
            (ErrorClass::Network, false) => {
                let mut again = self.next.iter().filter(|(_, _, key)| self.is_same(*key));
                match again.nth(MAX_ATTEMPTS - 2) {
                    Some((last, ..)) => (
                        RecoveryStatus::Failed(RecoveryFault::Repeat),
                        "three identical attempts",
                        Some(*last),
                    ),
                    None => self.again(),
                }
            }
            (_, false) => (
                RecoveryStatus::Failed(RecoveryFault::Repeat),
                "the same call was made again",
                Some(at),
            ),
        }
    }

    fn missing(&self) -> RecoveryRuling {
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
                    return (RecoveryStatus::Recovered, "asked", Some(*at));
                }
                Ended::Ok if is_like && (searched.is_some() || proposed) => {
                    return (RecoveryStatus::Recovered, "found it", Some(*at));
                }
                Ended::Ok if searches(call) => searched = Some(*at),
                Ended::Ok if is_like => {
                    return (
                        RecoveryStatus::Partial,
                        "another path that happened to be there",
                        Some(*at),
                    );
                }
                Ended::Failed
                    if is_like
                        && searched.is_none()
                        && call.role == self.failed.role
                        && call.path.is_some()
                        && classify(call) == Some(ErrorClass::Missing) =>
                {
                    return (
                        RecoveryStatus::Failed(RecoveryFault::Guess),
                        "guessed another path that is not there",
                        Some(*at),
                    );
                }
                _ => {}
            }
        }
        match searched {
            Some(at) => (RecoveryStatus::Partial, "searched", Some(at)),
            None => OPEN,
        }
    }

    fn unreadable(&self) -> RecoveryRuling {
        for (at, call, _) in &self.next {
            let names_it = self.names_file(call);
            match call.role {
                ToolRole::RunsShell
                    if names_it
                        && self.class == ErrorClass::TooLarge
                        && call.line().and_then(CommandLine::program) == Some("cat")
                        && !call.command().is_some_and(|c| c.contains('|')) =>
                {
                    return (
                        RecoveryStatus::Failed(RecoveryFault::WrongMove),
                        "showed the whole file with cat",
                        Some(*at),
                    );
                }
                _ if call.ended == Ended::Ok && (names_it || searches(call)) => {
                    return (RecoveryStatus::Recovered, "looked at a part of it", Some(*at));
                }
                _ => {}
            }
        }
        OPEN
    }

    /// Whether a call names the file of the failed call.
    fn names_file(&self, call: &SessionCall<'_>) -> bool {
        let Some(path) = self.failed.path.as_deref() else {
            return call.role == self.failed.role;
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        call.path.as_deref() == Some(path)
            || call.command().is_some_and(|command| !name.is_empty() && command.contains(name))
            || call.patch().is_some_and(|patch| patch.contains(name))
    }

    fn edit(&self) -> RecoveryRuling {
        let mut read = false;
        let is_unknown = matches!(self.class, ErrorClass::EditNoMatch | ErrorClass::EditAmbiguous);
        let is_first = self.is_first_try();
        for (at, call, _) in &self.next {
            let names_it = self.names_file(call);
            if call.ended != Ended::Ok {
                // A second attempt is a reaction; the following calls react to that attempt.
                if is_first && is_unknown && names_it && call.role == ToolRole::Edits {
                    return (
                        RecoveryStatus::Partial,
                        "tried another text, which failed too",
                        Some(*at),
                    );
                }
                continue;
            }
            match call.role {
                ToolRole::Reads | ToolRole::SearchesContent if names_it => read = true,
                ToolRole::SearchesContent => read = true,
                ToolRole::Edits | ToolRole::Patches if names_it => {
                    return match read || self.class == ErrorClass::EditNoop {
                        true => {
                            (RecoveryStatus::Recovered, "read the file and edited it", Some(*at))
                        }
                        false => (RecoveryStatus::Partial, "edited it without a look", Some(*at)),
                    };
                }
                ToolRole::Writes if names_it => {
                    return match (self.failed.role, read) {
                        (ToolRole::Writes, true) => {
                            (RecoveryStatus::Recovered, "read the file and wrote it", Some(*at))
                        }
                        (ToolRole::Writes, false) => OPEN,
                        // The text was known, but had changed.
                        _ if !is_unknown => {
                            (RecoveryStatus::Partial, "wrote the file anew", Some(*at))
                        }
                        _ => (
                            RecoveryStatus::Failed(RecoveryFault::Overwrite),
                            OVERWRITTEN,
                            Some(*at),
                        ),
                    };
                }
                ToolRole::RunsShell if names_it => {
                    let path = self.failed.path.as_deref();
                    let written = path.and_then(|path| write_of(self.session, call, path));
                    match written.filter(|_| self.failed.role == ToolRole::Edits) {
                        Some(FileWrite::Whole | FileWrite::ByLineNumber) if is_unknown => {
                            return (
                                RecoveryStatus::Failed(RecoveryFault::Overwrite),
                                OVERWRITTEN,
                                Some(*at),
                            );
                        }
                        Some(FileWrite::Append) => {
                            return (RecoveryStatus::Partial, "appended to the file", Some(*at));
                        }
                        Some(_) => return (RecoveryStatus::Recovered, SCRIPTED, Some(*at)),
                        None => read = true,
                    }
                }
                _ => {}
            }
        }
        OPEN
    }

    /// Whether no edit of the same file failed just before this one.
    fn is_first_try(&self) -> bool {
        let before = self.session.calls().get(..self.at).unwrap_or_default();
        let mut tries = before.iter().rev().take(LONG_WINDOW).filter(|call| {
            call.turn == self.failed.turn
                && call.role == ToolRole::Edits
                && call.path == self.failed.path
                && call.call.agent == self.failed.call.agent
                && (call.call.step.is_none() || call.call.step != self.failed.call.step)
        });
        tries.next().is_none_or(|call| call.ended != Ended::Failed)
    }

    pub(super) fn same_program(&self, call: &SessionCall<'_>) -> bool {
        match (self.failed.line(), call.line()) {
            (Some(a), Some(b)) => a.errand().is_some() && a.errand() == b.errand(),
            _ => false,
        }
    }

    fn not_found(&self) -> RecoveryRuling {
        let text = self.failed.result().unwrap_or_default();
        let called = || self.failed.line()?.program().map(str::to_owned);
        let name = missing_program(&text).or_else(called).unwrap_or_default();
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
                    return (
                        RecoveryStatus::Failed(RecoveryFault::WrongMove),
                        "the missing program was called again",
                        Some(*at),
                    );
                }
                Ended::Ok if looks => located = true,
                Ended::Ok if is_named || located => {
                    return (RecoveryStatus::Recovered, "found another way to run it", Some(*at));
                }
                Ended::Ok => other = other.or(Some(*at)),
                _ => {}
            }
        }
        match (other, located) {
            (_, true) => (RecoveryStatus::Partial, "looked for the program", None),
            (Some(at), _) => (RecoveryStatus::Partial, "another program", Some(at)),
            _ => OPEN,
        }
    }

    fn dependency(&self) -> RecoveryRuling {
        let mut installed = None;
        for (at, call, _) in &self.next {
            let Some(command) = call.command() else { continue };
            let installs = ["install", " add ", "go get", "bundle", " sync"];
            if call.ended == Ended::Ok && installs.iter().any(|words| command.contains(words)) {
                installed = Some(*at);
            } else if call.ended == Ended::Ok && self.same_program(call) {
                return (RecoveryStatus::Recovered, "it worked in another way", Some(*at));
            }
        }
        match installed {
            Some(at) => (RecoveryStatus::Partial, "installed it", Some(at)),
            None => OPEN,
        }
    }

    fn not_allowed(&self) -> RecoveryRuling {
        for (at, call, _) in &self.next {
            let program = call.line().and_then(CommandLine::program).unwrap_or_default();
            let opens = effects(self.session, call).iter().any(|effect| {
                effect.kind == EffectKind::Privilege
                    && effect.program == "chmod"
                    && effect.reversibility > Reversibility::R0
            });
            if opens {
                return (
                    RecoveryStatus::Failed(RecoveryFault::WrongMove),
                    "opened everything to everybody",
                    Some(*at),
                );
            }
            if call.role == ToolRole::AsksUser {
                return (RecoveryStatus::Recovered, "asked", Some(*at));
            }
            if call.ended == Ended::Ok && !call.only_looks() {
                return match program == "sudo" {
                    true => (RecoveryStatus::Partial, "with more rights", Some(*at)),
                    false => (RecoveryStatus::Recovered, "another way", Some(*at)),
                };
            }
        }
        OPEN
    }

    /// Returns the ruling for tests and builds: whether something was changed, and whether
    /// the next run was better.
    fn checks(&self) -> RecoveryRuling {
        let mut changed = None;
        let mut shown = None;
        for (at, call, key) in &self.next {
            let reruns = key.work == self.key.work;
            if reruns && changed.is_none() {
                if call.ended == Ended::Ok && hidden_failure::find(call).is_none() {
                    return (
                        RecoveryStatus::Partial,
                        "the same run passed without a change",
                        Some(*at),
                    );
                }
                shown = shown.or(Some(*at));
                continue;
            }
            if reruns {
                return self.rerun(call, *at);
            }
            if call.ended == Ended::Ok && !call.only_looks() && !searches(call) {
                let is_run = call.line().is_some_and(|c| c.purpose() != Purpose::Other);
                match is_run {
                    true => shown = shown.or(Some(*at)),
                    false => changed = changed.or(Some(*at)),
                }
            }
        }
        let Some(changed) = changed else {
            return match shown {
                Some(at) => (RecoveryStatus::Partial, "ran it again to see more", Some(at)),
                None => OPEN,
            };
        };
        let wanted = self.failed.line().map(CommandLine::purpose);
        let run = moves(self.session, changed)
            .take(RERUN)
            .find(|(_, call)| call.line().is_some_and(|command| Some(command.purpose()) == wanted));
        match run {
            Some((at, call)) => self.rerun(call, at),
            None => (
                RecoveryStatus::Partial,
                "changed something and did not run it again",
                Some(changed),
            ),
        }
    }

    fn rerun(&self, call: &SessionCall<'_>, at: usize) -> RecoveryRuling {
        let is_green = call.ended == Ended::Ok && hidden_failure::find(call).is_none();
        let is_other = || match (self.failed.result(), call.result()) {
            (Some(then), Some(now)) => failing(&now) < failing(&then),
            _ => false,
        };
        match is_green || is_other() {
            true => (
                RecoveryStatus::Recovered,
                "changed something, and the next run was better",
                Some(at),
            ),
            false => (
                RecoveryStatus::Partial,
                "changed something, and the next run was no better",
                Some(at),
            ),
        }
    }

    fn timeout(&self) -> RecoveryRuling {
        let mut longer = 0;
        for (at, call, key) in &self.next {
            if key.work == self.key.work {
                longer += 1;
                if call.ended != Ended::Failed {
                    return match longer {
                        1 => (RecoveryStatus::Recovered, "gave it more time", Some(*at)),
                        _ => (RecoveryStatus::Partial, "gave it more time again", Some(*at)),
                    };
                }
            } else if call.ended != Ended::Failed
                && (call.role == ToolRole::TalksToShell || call.role == self.failed.role)
                && (self.failed.command().is_none()
                    || self.same_program(call)
                    || call.role == ToolRole::TalksToShell)
            {
                return (RecoveryStatus::Recovered, "in the background, or less of it", Some(*at));
            }
        }
        OPEN
    }

    /// Returns the ruling for any other class: the same tool with other arguments, or the
    /// same call after something was done.
    fn again(&self) -> RecoveryRuling {
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
                return (RecoveryStatus::Recovered, "it worked in another way", Some(*at));
            }
            if !call.only_looks() {
                other = other.or(Some(*at));
            }
        }
        let is_refused = matches!(self.class, ErrorClass::BadArguments | ErrorClass::Network);
        match other {
            Some(at) if is_refused => (RecoveryStatus::Partial, "another tool", Some(at)),
            _ => OPEN,
        }
    }
}

pub(super) const OPEN: RecoveryRuling = (RecoveryStatus::Open, "nothing that would mend it", None);
const OVERWRITTEN: &str = "wrote the whole file anew";
const SCRIPTED: &str = "made the edit with a script";
/// Minimum length of the last line of an error to be compared.
const MIN_ERROR_LENGTH: usize = 20;

/// Whether a step only queries something or cleans up.
fn looks((_, step): &(String, String)) -> bool {
    const ASKING: &[&str] = &[
        "verify", "check", "test", "status", "list", "show", "get", "info", "lint", "validate",
        "diff", "help", "version", "clean", "log", "stop", "down", "reset", "doctor", "debug",
    ];
    ASKING.iter().any(|word| step.starts_with(word))
}

/// Returns the steps of a command: scripts that are called by their path, each with its first
/// argument.
fn steps_of(command: &CommandLine<'_>) -> Vec<(String, String)> {
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
    command
        .simple_commands()
        .commands
        .iter()
        .filter_map(|one| {
            let (program, step) = (one.words.first()?, one.words.get(1)?);
            let is_step = program.contains('/') && is_name(step);
            is_step.then(|| (program.clone(), step.clone()))
        })
        .collect()
}

/// Returns the program that a shell reports as missing.
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

/// Returns the number of lines of a run that report a failure.
fn failing(text: &str) -> usize {
    let words = ["FAIL", "error", "Error", "✗", "✕", "×", "not ok"];
    text.lines().filter(|line| words.iter().any(|word| line.contains(word))).count()
}

/// Whether the call of a named tool only thinks or calculates.
fn is_thought(call: &SessionCall<'_>) -> bool {
    let is_read = call.tool_effect() == Some(ToolEffect::Read);
    let name = call.call.name.full();
    is_read && ["think", "calculate", "compute"].iter().any(|verb| name.starts_with(verb))
}
