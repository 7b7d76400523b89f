//! Looks up protected files on this disk: patterns and directories count only if something
//! protected exists there.

use crate::context::FileFacts;
use crate::protect::{ProtectedName, can_be_equal, is_wildcard, without_sets};
use std::cell::RefCell;

/// Maximum number of names that a pattern is taken for.
pub(crate) const MAX_MATCHES: usize = 64;

/// Directories of a disk, listed at most once each.
pub(crate) struct OnDisk<'f> {
    facts: &'f dyn FileFacts,
    listed: RefCell<Vec<(String, Option<Vec<String>>)>>,
}

/// One part of a path: as it is given, and as it is protected.
pub(crate) type DiskStep<'s> = (Option<&'s str>, Option<&'s str>);

impl<'f> OnDisk<'f> {
    pub(crate) fn new(facts: &'f dyn FileFacts) -> Self {
        Self { facts, listed: RefCell::default() }
    }

    /// The names in a directory that fit a step; `None` where they are not known.
    fn fitting(&self, directory: &str, step: DiskStep<'_>) -> Option<Vec<String>> {
        let mut listed = self.listed.borrow_mut();
        let at = listed.iter().position(|(known, _)| known == directory).unwrap_or_else(|| {
            listed.push((directory.to_owned(), self.facts.names(directory)));
            listed.len() - 1
        });
        let names = listed.get(at)?.1.as_ref()?.iter();
        let fits = |name: &&String| {
            step.0.is_none_or(|given| is_match(given, name))
                && step.1.is_none_or(|own| {
                    can_be_equal(own.as_bytes(), name.as_bytes()) || own.eq_ignore_ascii_case(name)
                })
        };
        Some(names.filter(fits).take(MAX_MATCHES).cloned().collect())
    }

    /// Returns whether a path matches all steps. An unreadable directory counts as a match.
    pub(crate) fn has_steps(&self, directory: &str, steps: &[DiskStep<'_>]) -> bool {
        let Some((step, rest)) = steps.split_first() else { return true };
        let is_pattern = |text: &str| text.bytes().any(is_wildcard);
        let literal = match *step {
            (Some(given), _) if !is_pattern(given) => Some(given),
            (None, Some(own)) if !is_pattern(own) => Some(own),
            _ => None,
        };
        let below = |name: &str| match directory {
            "" | "/" => format!("{directory}{name}"),
            directory => format!("{directory}/{name}"),
        };
        if let Some(name) = literal {
            let path = below(name);
            let is_missing = rest.is_empty() && self.facts.exists(&path) == Some(false);
            return !is_missing && self.has_steps(&path, rest);
        }
        match self.fitting(directory, *step) {
            None => true,
            Some(names) => names.iter().any(|name| self.has_steps(&below(name), rest)),
        }
    }

    /// Returns whether a directory has a name that matches both. `find` includes hidden names.
    pub(crate) fn has(
        &self,
        directory: &str,
        own: &str,
        wanted: &ProtectedName<'_>,
    ) -> Option<bool> {
        let names = self.fitting(directory.trim_end_matches('/'), (None, Some(own)))?;
        let pattern = without_sets(wanted.text);
        Some(names.iter().any(|name| can_be_equal(&pattern, name.as_bytes())))
    }
}

/// Returns whether a shell pattern matches this name. Hidden files match only if the pattern starts
/// with a dot.
pub(crate) fn is_match(pattern: &str, name: &str) -> bool {
    let is_hidden = name.starts_with('.') && pattern.starts_with(['*', '?', '[']);
    !is_hidden && can_be_equal(&without_sets(pattern), name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EffectKind, Protected, Protection, ShellContext, analyze};

    const PROTECTED: &[Protected<'_>] = &[
        Protected { path: ".agent/settings*", because: Protection::Settings },
        Protected { path: "policy.yaml", because: Protection::Policy },
        Protected { path: "*.agent-backup", because: Protection::Policy },
        Protected { path: "/home/me/.config/x/policy.yaml", because: Protection::Policy },
    ];

    /// A directory in memory.
    struct DirectoryTree(&'static [&'static str]);

    impl FileFacts for DirectoryTree {
        fn tracked(&self, _: &str) -> Option<bool> {
            None
        }
        fn exists(&self, path: &str) -> Option<bool> {
            let is_it = |own: &&str| {
                own.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            Some(self.0.iter().any(is_it))
        }
        fn is_here(&self) -> bool {
            true
        }
        fn names(&self, directory: &str) -> Option<Vec<String>> {
            let inside =
                |path: &&str| path.strip_prefix(directory)?.strip_prefix('/').map(str::to_owned);
            let first = |rest: String| rest.split('/').next().map(str::to_owned);
            Some(self.0.iter().filter_map(inside).filter_map(first).collect())
        }
    }

    #[test]
    fn what_is_on_disk_decides_about_patterns_and_directories() {
        const FULL: &[&str] = &[
            "/home/me/app/policy.yaml",
            "/home/me/app/a.agent-backup",
            "/home/me/app/.agent/settings.json",
            "/home/me/app/.agent/notes.md",
            "/home/me/.config/x/policy.yaml",
        ];
        const EMPTY: &[&str] = &["/home/me/app/polo.txt", "/home/me/app/.agent/notes.md"];
        for (command, is_there) in [
            ("rm pol*", true),
            ("rm -f *backup*", true),
            ("rm -rf .a*", true),
            ("rm -rf .agent", true),
            ("rm .agent/s*", true),
            ("rm .agent/*.md", false),
            ("git rm *pol*", false),
            ("find . -name '*backup*' -delete", true),
            ("find . -name 'sett*' -delete", true),
            ("find ~ -name '*.md' -delete", false),
            ("find ~ -name '*.yaml' -delete", true),
            ("find . -name '*.txt' -delete", false),
            ("rm -rf ~", true),
            ("rm -rf ~/.config", true),
            ("tar --remove-files -cf x.tar -C ~ d", false),
            ("mv ~ /x", true),
        ] {
            for (files, want) in [(FULL, is_there), (EMPTY, false)] {
                let facts = DirectoryTree(files);
                let context = ShellContext {
                    protected: PROTECTED,
                    cwd: Some("/home/me/app"),
                    home: Some("/home/me"),
                    facts: Some(&facts),
                    ..ShellContext::default()
                };
                let effects = analyze(command, &context).effects;
                let persists = effects.iter().any(|effect| effect.kind == EffectKind::Persist);
                assert_eq!(persists, want, "{command} {files:?} {effects:?}");
            }
        }
    }
}
