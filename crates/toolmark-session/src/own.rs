//! Files that the agent created in a session and may therefore remove.

use crate::path::resolve;
use crate::session::{Ended, Session, SessionCall};
use crate::shell::{CommandLine, FileEffect};
use std::cell::LazyCell;
use std::collections::BTreeSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_shell::{Analysis, Effect, EffectKind};

/// Files that the agent created in this session.
#[derive(Default)]
pub struct Own {
    paths: BTreeSet<String>,
    /// Files that existed before: read or edited before they were written.
    seen: BTreeSet<String>,
}

impl Own {
    /// A file that is read existed before.
    pub fn see(&mut self, call: &SessionCall<'_>) {
        if let Some(path) = call.path.as_ref().filter(|_| call.ended == Ended::Ok) {
            self.seen.insert(path.clone());
        }
    }

    /// Whether the path, or something below it, is known to be older than the session.
    fn is_older(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        let mut below = self.seen.range(inside.clone()..);
        let is_seen =
            self.seen.contains(path) || below.next().is_some_and(|seen| seen.starts_with(&inside));
        is_seen && !self.paths.contains(path)
    }

    fn add(&mut self, path: String) {
        if !self.is_older(&path) {
            self.paths.insert(path);
        }
    }

    /// Records what a call has made.
    pub fn note(&mut self, call: &SessionCall<'_>, analysis: &Analysis) {
        let directory = LazyCell::new(|| call.directory());
        let at = |path: &str| resolve(directory.as_deref(), path);
        match call.role {
            ToolRole::Writes => {
                call.path.clone().into_iter().for_each(|path| self.add(path));
            }
            ToolRole::Edits => self.see(call),
            ToolRole::RunsShell => {
                for command in &analysis.commands {
                    let words = command.args.iter().filter(|arg| !arg.dynamic);
                    let words = words.map(|arg| arg.text.as_str()).filter(|w| !w.starts_with('-'));
                    match command.program.as_str() {
                        "mkdir" | "touch" | "tee" => words.for_each(|word| self.add(at(word))),
                        "git" => {
                            let words: Vec<_> = words.collect();
                            if let ["clone", _, to] | ["worktree", "add", to, ..] = words[..] {
                                self.add(at(to));
                            }
                            if let ["init", to] = words[..] {
                                self.add(at(to));
                            }
                        }
                        _ => {}
                    }
                }
                for effect in call.line().map(CommandLine::file_effects).unwrap_or_default() {
                    if let FileEffect::Written(path) = effect {
                        self.add(at(path));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the effect only changes what the agent created.
    pub fn holds(&self, session: &Session<'_>, call: &SessionCall<'_>, effect: &Effect) -> bool {
        let is_of_files = matches!(
            effect.kind,
            EffectKind::Delete | EffectKind::Overwrite | EffectKind::DiscardVcs
        );
        if !is_of_files || effect.target.is_empty() || self.paths.is_empty() {
            return false;
        }
        // The directory of the command is not tracked here.
        let ending = format!("/{}", effect.target.trim_start_matches("./"));
        if effect.kind == EffectKind::DiscardVcs
            && self.paths.iter().any(|own| own.ends_with(&ending))
        {
            return true;
        }
        let cwd = session.trajectory().cwd.as_ref().map(|cwd| cwd.get());
        let directory = call.directory();
        [cwd.as_deref(), directory.as_deref()].into_iter().any(|base| {
            let path = resolve(base, &effect.target);
            let mut part = Some(path.as_str());
            while let Some(path) = part.filter(|path| !path.is_empty()) {
                if self.paths.contains(path) {
                    return true;
                }
                part = path.rsplit_once('/').map(|(parent, _)| parent);
            }
            false
        })
    }
}
