//! Files that a command line makes before it uses them: scripts it writes and then runs, programs
//! it copies and then starts, links it follows, repositories it clones.

use crate::pipes::Flow;

/// Maximum number of files remembered of each kind.
const MAX_FILES: usize = 64;
/// Maximum total size of remembered text, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// Files that a command line made, by absolute path.
#[derive(Debug, Clone, Default)]
pub(crate) struct CreatedFiles {
    texts: Vec<(String, String)>,
    programs: Vec<(String, String)>,
    links: Vec<(String, String)>,
    compiled: Vec<(String, String)>,
    clones: Vec<String>,
    git_settings: Vec<(String, String)>,
    bytes: usize,
}

impl CreatedFiles {
    /// Records output written to a file.
    pub(crate) fn write(&mut self, path: &str, output: &Flow, appends: bool) {
        let path = plain(path);
        let known = self.texts.iter().position(|(known, _)| known == path);
        let Flow::Text(text) = output else {
            // The content of the file is unknown now.
            if let Some(at) = known {
                self.texts.remove(at);
            }
            return;
        };
        if self.bytes + text.len() > MAX_BYTES {
            return;
        }
        self.bytes += text.len();
        if let Some((_, content)) = known.and_then(|at| self.texts.get_mut(at)) {
            if !appends {
                content.clear();
            }
            content.push_str(text);
        } else if self.texts.len() < MAX_FILES {
            self.texts.push((path.to_owned(), text.clone()));
        }
    }

    /// Returns the content of a file that was just written.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        let path = plain(path);
        self.texts.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the path to which a file of this name was written.
    pub(crate) fn named(&self, name: &str) -> Option<&str> {
        let is_it = |path: &str| path.rsplit('/').next() == Some(name);
        self.texts.iter().find(|(path, _)| is_it(path)).map(|(path, _)| path.as_str())
    }

    /// Records that the program at `path` was compiled from this source.
    pub(crate) fn compile(&mut self, path: &str, text: &str) {
        if self.compiled.len() < MAX_FILES && self.bytes + text.len() <= MAX_BYTES {
            self.bytes += text.len();
            self.compiled.push((plain(path).to_owned(), text.to_owned()));
        }
    }

    /// Returns the source of the program at a path.
    pub(crate) fn source(&self, path: &str) -> Option<&str> {
        let path = plain(path);
        self.compiled.iter().rev().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
    }

    /// Records that a program is also found at `path`, or under this name.
    pub(crate) fn copy(&mut self, path: &str, program: &str) {
        if self.programs.len() < MAX_FILES {
            self.programs.push((path.to_owned(), program.to_owned()));
        }
    }

    /// Returns the program that was copied to a path or given a name.
    pub(crate) fn program(&self, path: &str) -> Option<&str> {
        self.programs.iter().rev().find(|(known, _)| known == path).map(|(_, name)| name.as_str())
    }

    /// Records that a third-party repository was cloned to a path.
    pub(crate) fn clone_of(&mut self, path: &str) {
        if self.clones.len() < MAX_FILES {
            self.clones.push(path.to_owned());
        }
    }

    /// Whether a file is part of such a repository.
    pub(crate) fn is_cloned(&self, path: &str) -> bool {
        let rest = |clone: &String| path.strip_prefix(clone.as_str());
        self.clones.iter().filter_map(rest).any(|rest| rest.starts_with('/'))
    }

    /// Records a setting of git.
    pub(crate) fn set_git(&mut self, name: &str, value: &str) {
        if self.git_settings.len() < MAX_FILES {
            self.git_settings.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }

    /// Returns the number of settings of git.
    pub(crate) fn count_git_settings(&self) -> usize {
        self.git_settings.len()
    }

    /// Forgets this many settings of git, from the `known`th on.
    pub(crate) fn forget_git_settings(&mut self, known: usize, given: usize) {
        let end = (known + given).min(self.git_settings.len());
        self.git_settings.drain(known.min(end)..end);
    }

    /// Returns the settings of git from the `known`th on, the last one of each name.
    pub(crate) fn git_settings(&self, known: usize) -> Vec<(String, String)> {
        let new = self.git_settings.get(known..).unwrap_or_default();
        let is_last = |(at, (name, _)): &(usize, &(String, String))| {
            !new.iter().skip(at + 1).any(|(other, _)| other == name)
        };
        new.iter().enumerate().filter(is_last).map(|(_, setting)| setting.clone()).collect()
    }

    /// Returns the value of a setting of git, by its name in lower case.
    pub(crate) fn git_setting(&self, name: &str) -> Option<&str> {
        let found = self.git_settings.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the command of a git alias.
    pub(crate) fn git_alias(&self, name: &str) -> Option<String> {
        let value = self.git_setting(&format!("alias.{}", name.to_ascii_lowercase()))?;
        Some(match value.strip_prefix('!') {
            Some(command) => command.to_owned(),
            None => format!("git {value}"),
        })
    }

    /// Records that `path` is a link to `target`.
    pub(crate) fn link(&mut self, path: &str, target: &str) {
        if self.links.len() < MAX_FILES && path != target {
            self.links.push((path.to_owned(), target.to_owned()));
        }
    }

    /// `from` is moved or copied to `to`: if it is a link, that is one too.
    pub(crate) fn move_link(&mut self, from: &str, to: &str) {
        let found = self.links.iter().rev().find(|(link, _)| link == from);
        if let Some(target) = found.map(|(_, target)| target.clone()) {
            self.link(to, &target);
        }
    }

    /// Returns the target of a path that goes through links made by the script, or that is such a
    /// link and is followed.
    pub(crate) fn behind_link(&self, path: &str, follows: bool) -> Option<String> {
        /// Longer chains of links are not followed.
        const MAX_LINKS: usize = 8;
        let step = |path: &str| {
            self.links.iter().rev().find_map(|(link, target)| {
                let rest = path.strip_prefix(link.as_str())?;
                let is_through = rest.starts_with('/') || rest.is_empty() && follows;
                is_through.then(|| format!("{}{rest}", target.trim_end_matches('/')))
            })
        };
        let mut found = step(path)?;
        for _ in 0..MAX_LINKS {
            let Some(next) = step(&found) else { break };
            found = next;
        }
        Some(found)
    }
}

/// Normalizes a path whose directory is unknown.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}
