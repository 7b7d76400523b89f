//! Puts back references and stashes with their objects. A reference that was moved since the call
//! stays where it is; the kept one gets another name.

use super::after::left_refs;
use super::refs::{CONFIG, PACK, Ref, Refs, Repository, STASH, STASHES, stashes};
use super::restore::{Outcome, Restored, Restoring, git};
use std::fs;
use std::io;
use std::path::Path;

/// Message in the logs of references.
const NOTE: &str = "toolmark guard undo";

/// Restores the references of an entry.
pub(super) fn run(restoring: &Restoring<'_>, refs: &Refs) -> Vec<Restored> {
    let kept = restoring.store.directory(&restoring.entry.id);
    let Some(at) = Repository::around(&refs.root) else {
        let outcome = Outcome::Failed("the repository cannot be read".to_owned());
        return vec![Restored { path: refs.root.join(".git"), outcome }];
    };
    let left = left_refs(restoring.store, restoring.entry);
    let mut restored = Vec::new();
    if let Err(error) = put_packs(&kept, &at.common.join("objects/pack")) {
        let outcome = Outcome::Failed(error.to_string());
        restored.push(Restored { path: at.common.join("objects/pack"), outcome });
        return restored;
    }
    let put = Put { at: &at, kept: &kept, replaces: restoring.replaces };
    for known in &refs.refs {
        let after = left.as_ref().and_then(|left| {
            left.refs
                .iter()
                .find(|(name, _)| *name == known.name)
                .map(|(_, value)| value.as_deref())
        });
        let outcome = put.reference(known, after);
        restored.push(Restored { path: at.common.join(&known.name), outcome });
    }
    if refs.stashes {
        let after = left.as_ref().and_then(|left| left.stashes.as_deref());
        let outcome = put.stashes(after);
        restored.push(Restored { path: at.common.join(STASH), outcome });
    }
    restored
}

/// Copies packs to the objects of the repository.
fn put_packs(kept: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut names: Vec<_> = fs::read_dir(kept)?.flatten().map(|entry| entry.file_name()).collect();
    // The index comes last: a pack without it is not looked at.
    names.sort_unstable_by_key(|name| Path::new(name).extension().is_some_and(|end| end == "idx"));
    for name in names.iter().filter(|name| is_pack(Path::new(name))) {
        let place = to.join(name);
        if !place.exists() {
            fs::copy(kept.join(name), &place)?;
        }
    }
    Ok(())
}

fn is_pack(name: &Path) -> bool {
    let is_part = name.extension().is_some_and(|end| end == "pack" || end == "idx");
    is_part && name.to_str().is_some_and(|name| name.starts_with(PACK))
}

struct Put<'a> {
    at: &'a Repository,
    kept: &'a Path,
    replaces: bool,
}

impl Put<'_> {
    fn git(&self, words: &[&str]) -> Result<String, String> {
        match git(&self.at.root, words) {
            Ok((true, text)) => Ok(text),
            Ok((false, text)) => Err(text),
            Err(error) => Err(format!("failed to run git: {error}")),
        }
    }

    /// Restores one reference; `after` is what the call left, if that is known.
    fn reference(&self, known: &Ref, after: Option<Option<&str>>) -> Outcome {
        let now = self.at.value(&known.name);
        if now.as_deref() == Some(&known.value) {
            return Outcome::Unchanged;
        }
        let may_replace = now.is_none() || after == Some(now.as_deref()) || self.replaces;
        let name = match may_replace {
            true => known.name.clone(),
            false => format!("{}.kept", known.name),
        };
        if let Err(why) = self.git(&["update-ref", "-m", NOTE, "--no-deref", &name, &known.value]) {
            return Outcome::Failed(why);
        }
        if !may_replace {
            return Outcome::Beside(self.at.common.join(name));
        }
        if now.is_none() {
            if let Some(log) = &known.log {
                // Without the log, only its history is missing.
                let _ = fs::copy(self.kept.join(log), self.at.log(&known.name));
            }
            self.settings(&known.name);
        }
        Outcome::Restored
    }

    /// Restores the settings of a deleted branch that it has no more.
    fn settings(&self, name: &str) {
        let Some(branch) = name.strip_prefix("refs/heads/") else { return };
        let start = format!("branch.{branch}.");
        let Some(file) = self.kept.join(CONFIG).to_str().map(str::to_owned) else { return };
        let list = self.git(&["config", "--file", &file, "--null", "--list"]).unwrap_or_default();
        let settings = list.split('\0').filter_map(|setting| setting.split_once('\n'));
        for (name, value) in settings.filter(|(name, _)| name.starts_with(&start)) {
            if self.git(&["config", "--local", "--get", name]).is_err() {
                let _ = self.git(&["config", "--local", name, value]);
            }
        }
    }

    fn stashes(&self, after: Option<&str>) -> Outcome {
        let log = self.at.log(STASH);
        let kept = match fs::read_to_string(self.kept.join(STASHES)) {
            Ok(kept) => kept,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        let now = fs::read_to_string(&log).unwrap_or_default();
        if now == kept {
            return Outcome::Unchanged;
        }
        let newest = stashes(&kept).next_back().map(|(value, _)| value.to_owned());
        if let Some(newest) = newest.filter(|_| after == Some(&now) || now.is_empty()) {
            // The list is as the call left it: all of it is put back.
            let put = self.git(&["update-ref", STASH, &newest]).and_then(|_| {
                log.parent().map(fs::create_dir_all);
                fs::write(&log, &kept).map_err(|error| error.to_string())
            });
            return put.map_or_else(Outcome::Failed, |()| Outcome::Restored);
        }
        for (value, message) in stashes(&kept) {
            if stashes(&now).any(|(known, _)| known == value) {
                continue;
            }
            if let Err(why) = self.git(&["stash", "store", "-m", message, value]) {
                return Outcome::Failed(why);
            }
        }
        Outcome::Restored
    }
}
