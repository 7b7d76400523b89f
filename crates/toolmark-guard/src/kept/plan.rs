//! The paths that a call is about to destroy, from its effects, and the decision to keep them.

use super::commands::{self, Wanted};
use super::copy::{Copier, CopyMethod, KeepError};
use super::store::{KeptEntry, KeptStore};
use super::{refs, tree};
use crate::git_index::git_directory;
use std::path::{Path, PathBuf};
use toolmark_base::text::head;
use toolmark_hosts::{GuardAnswer, HookEvent};
use toolmark_redact::Redactor;
use toolmark_session::path::resolve;
use toolmark_shell::decision::decide_effect;
use toolmark_shell::{Certainty, Coverage, Decision, Effect, EffectKind, EffectScope, FileFacts};

/// Version of the manifest.
const VERSION: u32 = 1;
/// Maximum size kept of a command, in bytes.
const MAX_COMMAND: usize = 400;
/// Programs that delete a file without writing to it.
const UNLINKS: &[&str] = &["rm", "unlink", "rmdir", "find", "git", "del", "rd", "remove-item"];
/// Programs for databases in one file.
const DATABASES: &[&str] = &["sqlite3", "sqlite", "litecli", "duckdb"];
/// Maximum number of paths that a pattern may match.
const MAX_MATCHES: usize = 2_000;

/// Result of keeping what a call would destroy.
#[derive(Debug)]
pub enum Keeping {
    /// The call destroys nothing that could be kept.
    Nothing,
    /// Everything it destroys here is kept; with the effects that this does not cover.
    Kept {
        /// The entry.
        entry: Box<KeptEntry>,
        /// Whether all effects for which the call would be stopped are covered.
        covers_all: bool,
    },
    /// Something could not be kept, for this reason.
    Failed(String),
}

/// Everything that a call is about to destroy.
#[derive(Debug, Default)]
pub struct Losses {
    /// Paths that are deleted.
    deleted: Vec<PathBuf>,
    /// Paths that may be written to.
    overwritten: Vec<PathBuf>,
    /// Discarded states of the work tree.
    discards: Vec<Discards>,
    /// Directory in that work tree.
    tree: PathBuf,
    /// References that are deleted or moved.
    refs: Option<Wanted>,
    /// Whether an effect that stops the call is not among them.
    is_partial: bool,
    /// Whether a program that deletes files may write to them first.
    writes: bool,
}

/// Discarded state of a work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Discards {
    /// Changes of files that git knows.
    Changes,
    /// Files that git does not know.
    Untracked,
}

/// Keeps what a call is about to destroy.
#[must_use]
pub fn before(
    store: &KeptStore,
    event: &HookEvent<'_>,
    verdict: &GuardAnswer,
    command: Option<&str>,
    facts: &dyn FileFacts,
) -> Keeping {
    let Some(cwd) = event.cwd.as_deref().filter(|cwd| Path::new(cwd).is_absolute()) else {
        return Keeping::Nothing;
    };
    let losses = Losses::of(verdict, cwd, command, facts);
    if losses.is_empty() {
        return Keeping::Nothing;
    }
    match keep(store, event, cwd, command, &losses) {
        Ok(Some(entry)) => Keeping::Kept { entry: entry.into(), covers_all: !losses.is_partial },
        Ok(None) => Keeping::Nothing,
        Err(error) => Keeping::Failed(error.to_string()),
    }
}

fn keep(
    store: &KeptStore,
    event: &HookEvent<'_>,
    cwd: &str,
    command: Option<&str>,
    losses: &Losses,
) -> Result<Option<KeptEntry>, KeepError> {
    let draft = store.begin().map_err(KeepError::at(store.root()))?;
    // What is written to would change under its second name too.
    let is_only_deleted = losses.overwritten.is_empty() && !losses.writes;
    let by = if is_only_deleted { CopyMethod::Link } else { CopyMethod::Copy };
    let mut copier = Copier::new(&draft);
    for path in losses.deleted.iter().chain(&losses.overwritten) {
        copier.keep(path, by, &[])?;
    }
    let mut git = None;
    // Only `git clean` deletes; another command may leave a file, which then changes under both
    // names.
    let only_cleans = losses.discards.iter().all(|discards| *discards == Discards::Untracked);
    let by = if only_cleans { by } else { CopyMethod::Copy };
    for discards in &losses.discards {
        let kept = tree::keep(&losses.tree, (*discards, by), &mut copier, &draft);
        // A call that is not asked about has the log of `HEAD`.
        git = match losses.refs.as_ref().is_some_and(|refs| !refs.is_needed) {
            true => kept.ok().or(git),
            false => Some(kept?),
        };
    }
    let refs = losses.refs.as_ref().map(|wanted| match refs::keep(wanted, &draft) {
        Err(_) if !wanted.is_needed => Ok(None),
        kept => kept,
    });
    let refs = refs.transpose()?.flatten();
    if copier.items.is_empty() && git.is_none() && refs.is_none() {
        return Ok(None);
    }
    let (items, bytes) = (copier.items, copier.bytes);
    let redactor = Redactor::new(true);
    let command = command.map(|text| redactor.apply(head(text, MAX_COMMAND).to_owned()).into());
    let entry = KeptEntry {
        id: String::new(),
        version: VERSION,
        time: draft.time.to_string(),
        host: event.host.to_string(),
        session: event.session.as_deref().map(str::to_owned),
        cwd: cwd.to_owned(),
        tool: event.tool.to_string(),
        command,
        items,
        git,
        refs,
        bytes,
    };
    store.prune(draft.time);
    let entry = store.finish(draft, entry).map_err(KeepError::at(store.root()))?;
    super::after::expect_result(store, &entry, event);
    Ok(Some(entry))
}

impl Losses {
    fn of(verdict: &GuardAnswer, cwd: &str, command: Option<&str>, facts: &dyn FileFacts) -> Self {
        let mut losses = Self::default();
        let Some(found) = &verdict.analysis else { return losses };
        for effect in &found.effects {
            if !losses.add(effect, cwd, command) && decide_effect(effect) != Decision::Allow {
                losses.is_partial = true;
            }
        }
        losses.is_partial |= found.coverage != Coverage::Complete;
        losses.add_moved(cwd, command);
        // Files that are written without an effect of their own: by tools that edit.
        let written = found.left.made.iter().chain(&found.left.changed);
        losses
            .overwritten
            .extend(written.filter(|path| !path.contains(PATTERN)).map(PathBuf::from));
        losses.overwritten.extend(command.iter().flat_map(|line| commands::linked(line, cwd)));
        losses.overwritten.retain(|path| path.is_file());
        // A write follows links.
        let real: Vec<PathBuf> = losses
            .overwritten
            .iter()
            .filter(|path| path.is_symlink())
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        losses.overwritten.extend(real);
        let is_made = |path: &str| facts.made(path) || facts.changed(path);
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        losses.overwritten.retain(|path| {
            text(path).is_some_and(|path| !is_made(&path) && !is_committed(&path, facts))
        });
        losses.deleted.retain(|path| text(path).is_some_and(|path| !facts.made(&path)));
        losses.overwritten.sort_unstable();
        losses.overwritten.dedup();
        losses
    }

    /// Adds the loss of an effect; false if it cannot be kept.
    fn add(&mut self, effect: &Effect, cwd: &str, command: Option<&str>) -> bool {
        if effect.scope == EffectScope::TreeArtefact && decide_effect(effect) == Decision::Allow {
            return true;
        }
        let is_local = matches!(
            effect.scope,
            EffectScope::TreeTracked
                | EffectScope::TreeUntracked
                | EffectScope::TreeArtefact
                | EffectScope::Home
        );
        if !is_local || effect.certainty == Certainty::Unresolved {
            return false;
        }
        // Outside the work tree a copy does not replace the question.
        let is_inside = effect.scope != EffectScope::Home;
        match effect.kind {
            EffectKind::Delete if DATABASES.contains(&effect.program.as_str()) => {
                is_inside && self.add_database(effect, cwd, command)
            }
            EffectKind::Delete | EffectKind::Overwrite => {
                let Some(paths) = paths(&effect.target, cwd) else { return false };
                // What is not there yet, is behind a link or is a repository is lost all the same.
                let takes_link = matches!(effect.program.as_str(), "rm" | "unlink")
                    && !effect.target.ends_with('/');
                let is_whole = |path: &PathBuf| is_whole(path, takes_link);
                let is_whole = !paths.is_empty() && paths.iter().all(is_whole);
                match effect.kind {
                    EffectKind::Delete => self.deleted.extend(paths),
                    _ => self.overwritten.extend(paths),
                }
                self.writes |= !UNLINKS.contains(&effect.program.as_str());
                is_inside && is_whole
            }
            EffectKind::DiscardVcs if effect.program == "git" => {
                command.is_some_and(|command| self.add_git(effect, cwd, command))
            }
            _ => false,
        }
    }

    /// Adds the file of a database; false if it is not known, or if another program writes to it.
    fn add_database(&mut self, effect: &Effect, cwd: &str, command: Option<&str>) -> bool {
        let (start, end) = effect.span;
        let Some(own) = command.and_then(|command| command.get(start..end)) else { return false };
        let mut words = own.split_ascii_whitespace().map(|word| word.trim_matches(['\'', '"']));
        let is_program = |word: &str| word.rsplit('/').next() == Some(effect.program.as_str());
        if command.is_some_and(|command| command.contains("cd ")) || !words.any(is_program) {
            return false;
        }
        let file = words.find(|word| !word.starts_with('-')).and_then(|word| paths(word, cwd));
        let Some([file]) = file.as_deref() else { return false };
        let is_database = file.is_file() && !file.is_symlink() && open_log(file).is_none();
        if is_database {
            self.overwritten.push(file.clone());
        }
        is_database
    }

    /// Adds what a git command discards; false if it cannot be kept.
    fn add_git(&mut self, effect: &Effect, cwd: &str, command: &str) -> bool {
        if let Some((discards, tree)) =
            commands::discards(effect.span, &effect.target, command, cwd)
        {
            let is_same = self.tree.as_os_str().is_empty() || self.tree == tree;
            self.tree = tree;
            self.discards.extend(discards);
            return is_same;
        }
        // A branch of the session itself.
        if decide_effect(effect) == Decision::Allow {
            return true;
        }
        if let Some(path) = commands::removed_tree(effect.span, command, cwd) {
            // Its part of the repository goes with it.
            let Some(git) = git_directory(&path.join(".git")).filter(|git| *git != path) else {
                return false;
            };
            self.deleted.extend([path, git]);
            return true;
        }
        let mut wanted = self.refs.take().unwrap_or_default();
        let is_known = commands::add_refs(&mut wanted, effect.span, command, cwd);
        self.refs = (is_known || !wanted.directory.as_os_str().is_empty()).then_some(wanted);
        is_known
    }

    /// Adds what git commands move without being asked about.
    fn add_moved(&mut self, cwd: &str, command: Option<&str>) {
        if self.refs.is_some() || !self.discards.is_empty() {
            return;
        }
        let found = command.and_then(|command| commands::moves(command, cwd));
        let Some((wanted, moves_head)) = found else { return };
        if moves_head {
            self.tree.clone_from(&wanted.directory);
            self.discards.push(Discards::Changes);
        }
        self.refs = Some(wanted);
    }

    fn is_empty(&self) -> bool {
        self.deleted.is_empty()
            && self.overwritten.is_empty()
            && self.discards.is_empty()
            && self.refs.is_none()
    }
}

/// Returns the log of a database that a program has open.
pub(super) fn open_log(file: &Path) -> Option<PathBuf> {
    let beside = |end: &str| {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(end);
        file.with_file_name(name)
    };
    ["-wal", "-journal"]
        .map(beside)
        .into_iter()
        .find(|log| log.metadata().is_ok_and(|about| about.is_file() && about.len() > 0))
}

/// Whether keeping a path keeps everything that deleting it, or writing to it, destroys.
/// `takes_link` says that of a link only the link itself is deleted.
fn is_whole(path: &Path, takes_link: bool) -> bool {
    let Ok(about) = path.symlink_metadata() else { return false };
    match about.is_symlink() {
        true => takes_link,
        false => !path.join(".git").exists(),
    }
}

/// Characters of patterns and of values known only at run time.
const PATTERN: [char; 5] = ['*', '?', '[', '$', '`'];

/// Returns the paths that the target of an effect names; `None` if they are not known.
pub(super) fn paths(target: &str, cwd: &str) -> Option<Vec<PathBuf>> {
    let target = match target.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", crate::files::home()?)
        }
        Some(_) => return None,
        None => target.to_owned(),
    };
    if target.contains(['$', '`', '{', '\n']) {
        return None;
    }
    let path = resolve(Some(cwd), &target);
    if !path.contains(PATTERN) {
        return Some(vec![PathBuf::from(path)]);
    }
    let options = glob::MatchOptions { require_literal_leading_dot: false, ..Default::default() };
    let mut found = Vec::new();
    for path in glob::glob_with(&path, options).ok()? {
        found.push(path.ok()?);
        if found.len() > MAX_MATCHES {
            return None;
        }
    }
    Some(found)
}

/// Whether git has a file as it is.
fn is_committed(path: &str, facts: &dyn FileFacts) -> bool {
    let directory = || Path::new(path).parent().and_then(Path::to_str);
    facts.tracked(path) == Some(true)
        && Path::new(path).is_file()
        && directory().and_then(|at| facts.is_clean(at, &[path.to_owned()], true)) == Some(true)
}
