//! Paths and patterns of a policy: `~`, `$HOME` and relative ones made absolute, and compared
//! without accessing the file system.

use super::call::Touched;
use toolmark_config::{NodeSpan, Problem, Spanned, quoted};
use toolmark_pattern::Glob;
use toolmark_session::path::resolve;

/// Base of the paths of a policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base {
    /// Directory that relative paths start from; without one, the directory of the session.
    pub directory: Option<String>,
    /// Home directory.
    pub home: Option<String>,
}

impl Base {
    /// Resolves a path of the policy, as far as its directory is known.
    #[must_use]
    pub fn resolve(&self, path: &str, session: Option<&str>) -> String {
        let from = self.directory.as_deref().or(session);
        let tail = ["~", "$HOME", "${HOME}"].iter().find_map(|home| {
            path.strip_prefix(home).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        match (tail, &self.home) {
            (Some(rest), Some(home)) => resolve(None, &format!("{home}{rest}")),
            (Some(rest), None) => resolve(None, &format!("~{rest}")),
            (None, _) => resolve(from, path),
        }
    }

    /// Adds the `~` form of paths in the home directory, as commands write them.
    #[must_use]
    pub fn both_ways(&self, mut paths: Vec<String>) -> Vec<String> {
        let home = self.home.as_deref().unwrap_or("~");
        let in_home = |path: &String| {
            let rest = path.strip_prefix(home)?;
            (rest.starts_with('/') && home != "~").then(|| format!("~{rest}"))
        };
        let more: Vec<String> = paths.iter().filter_map(in_home).collect();
        paths.extend(more);
        paths
    }

    /// Whether the touched path is a file, or a directory above it.
    #[must_use]
    pub fn is_at_or_above(&self, touched: &Touched, file: &str) -> bool {
        let path = self.of_call(&touched.path);
        (path == file && touched.names.is_none()) || reaches(touched, &path, file)
    }

    /// Returns a path of a call with the home directory in place of `~`.
    fn of_call(&self, path: &str) -> String {
        match (path.strip_prefix('~'), &self.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                resolve(None, &format!("{home}{rest}"))
            }
            _ => path.to_owned(),
        }
    }
}

/// A list of directories.
#[derive(Debug, Clone, Default)]
pub(super) struct Roots(Vec<String>);

impl Roots {
    /// Reads a list of directories.
    pub(super) fn read(written: Vec<Spanned<String>>, problems: &mut Vec<Problem>) -> Self {
        let good = written.into_iter().filter(|path| is_path(path, false, problems));
        Self(good.map(|path| path.value).collect())
    }

    /// Whether the list is empty.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all directories as absolute paths.
    #[must_use]
    pub(super) fn all(&self, base: &Base, session: Option<&str>) -> Vec<String> {
        self.0.iter().map(|path| base.resolve(path, session)).collect()
    }

    /// Whether the path is below one of the directories. A directory is not below itself.
    #[must_use]
    pub(super) fn hold(&self, path: &str, base: &Base, session: Option<&str>) -> bool {
        let path = base.of_call(path);
        self.all(base, session).iter().any(|root| {
            let rest = path.strip_prefix(root.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
        })
    }
}

/// A list of path patterns. A pattern without a slash matches a file or directory of that name
/// anywhere; everything below a match matches too.
#[derive(Debug, Clone, Default)]
pub struct Paths(Vec<String>);

impl Paths {
    /// Reads a list of patterns.
    pub fn read(written: Vec<Spanned<String>>, problems: &mut Vec<Problem>) -> Self {
        let good = written.into_iter().filter(|path| is_path(path, true, problems));
        Self(good.map(|path| path.value).collect())
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the pattern that matches a changed path.
    #[must_use]
    pub fn stop(&self, touched: &Touched, base: &Base, session: Option<&str>) -> Option<&str> {
        let path = base.of_call(&touched.path);
        self.find(
            |pattern| covers(pattern, &path) || reaches(touched, &path, fixed(pattern)),
            base,
            session,
        )
    }

    /// Returns the pattern that matches a path being read; the path may have wildcards.
    #[must_use]
    pub fn hold(&self, path: &str, base: &Base, session: Option<&str>) -> Option<&str> {
        let path = base.of_call(path);
        let wild = path.contains(['*', '?', '[']);
        self.find(
            |pattern| {
                covers(pattern, &path)
                    || (wild && fixed(pattern) == pattern && shell_glob_means(&path, pattern))
            },
            base,
            session,
        )
    }

    fn find(
        &self,
        hits: impl Fn(&str) -> bool,
        base: &Base,
        session: Option<&str>,
    ) -> Option<&str> {
        let all = self.0.iter().map(String::as_str);
        all.into_iter().find(|written| hits(&absolute(written, base, session)))
    }
}

/// Makes a pattern absolute.
fn absolute(pattern: &str, base: &Base, session: Option<&str>) -> String {
    match pattern.contains('/') || pattern.starts_with(['~', '$']) {
        true => base.resolve(pattern, session),
        false => format!("/**/{pattern}"),
    }
}

fn covers(pattern: &str, path: &str) -> bool {
    Glob::new(&rooted(pattern)).is_ok_and(|glob| glob.covers(&rooted(path)))
}

/// Returns a path relative to the file system root; an unknown home directory is represented by a
/// placeholder.
fn rooted(path: &str) -> String {
    match path.strip_prefix('~') {
        Some(rest) => format!("\u{1}home{rest}"),
        None => path.trim_start_matches('/').to_owned(),
    }
}

/// Returns the directory that contains everything a pattern matches.
fn fixed(pattern: &str) -> &str {
    match pattern.find(['*', '?', '[', '{']) {
        None => pattern,
        Some(at) => pattern
            .get(..at)
            .and_then(|head| head.rfind('/'))
            .map_or("", |end| pattern.get(..end).unwrap_or("")),
    }
}

/// Whether `path` is the directory `other` or one above it.
fn is_above(path: &str, other: &str) -> bool {
    let rest = other.strip_prefix(path.trim_end_matches('/'));
    !other.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a change of everything below `path`, or of the names there that a pattern matches,
/// affects `other`.
fn reaches(touched: &Touched, path: &str, other: &str) -> bool {
    if !touched.below || !is_above(path, other) {
        return false;
    }
    let Some(names) = &touched.names else { return true };
    let rest = other.strip_prefix(path.trim_end_matches('/')).unwrap_or_default();
    match rest.trim_start_matches('/').split('/').next() {
        Some(name) if !name.is_empty() => shell_glob_means(names, name),
        // The protected pattern is one of names in this very directory.
        _ => true,
    }
}

/// Whether a shell pattern may match this path. A wildcard at the start of a name does not match a
/// dot.
fn shell_glob_means(pattern: &str, path: &str) -> bool {
    let hidden = path.split('/').zip(pattern.split('/'));
    let dotted = |(name, part): (&str, &str)| name.starts_with('.') && !part.starts_with('.');
    !hidden.clone().any(dotted) && covers(pattern, path)
}

/// Whether this can be a path or, if `pattern` is set, a pattern.
fn is_path(path: &Spanned<String>, pattern: bool, problems: &mut Vec<Problem>) -> bool {
    let wrong = match path.value.trim() {
        "" => Some("the path is empty".to_owned()),
        text if text.contains('\0') => Some("the path contains a zero byte".to_owned()),
        text if !pattern && text.contains(['*', '?']) => {
            Some(format!("expected a directory, found the pattern {}", quoted(text)))
        }
        text if pattern && text.starts_with('!') => {
            Some("a pattern cannot start with `!`: exceptions are not supported".to_owned())
        }
        text => match pattern {
            true => Glob::new(plain(text)).err().map(|error| error.to_string()),
            false => None,
        },
    };
    let is_good = wrong.is_none();
    problems.extend(wrong.map(|wrong| invalid(wrong, path.span)));
    is_good
}

/// Returns the part of a pattern that does not depend on its base.
fn plain(pattern: &str) -> &str {
    let rest = pattern.trim_start_matches(['/', '~', '$', '{', '}']);
    let rest = rest.strip_prefix("HOME").unwrap_or(rest).trim_start_matches(['}', '/']);
    let mut rest = rest;
    while let Some(after) = rest.strip_prefix("../").or_else(|| rest.strip_prefix("./")) {
        rest = after;
    }
    if rest.is_empty() || rest == ".." || rest == "." { "x" } else { rest }
}

fn invalid(message: String, span: NodeSpan) -> Problem {
    Problem::error("invalid-path", message).at(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Base {
        Base { directory: Some("/work/app".into()), home: Some("/home/me".into()) }
    }

    fn paths(patterns: &[&str]) -> Paths {
        let mut problems = Vec::new();
        let written = patterns.iter().map(|text| (*text).to_owned().into()).collect();
        let read = Paths::read(written, &mut problems);
        assert_eq!(problems, [], "{patterns:?}");
        read
    }

    #[test]
    fn what_is_changed() {
        for (pattern, path, below, want) in [
            (".env", "/work/app/.env", false, true),
            (".env", "/work/app/a/b/.env", false, true),
            (".env", "/elsewhere/.env", false, true),
            (".env", "/work/app/env", false, false),
            ("migrations/", "/work/app/migrations/1.sql", false, true),
            ("migrations/", "/work/app/x/migrations/1.sql", false, false),
            ("./migrations", "/work/app/migrations", false, true),
            ("migrations/*.sql", "/work/app/migrations", false, false),
            ("migrations/*.sql", "/work/app/migrations", true, true),
            ("migrations/*.sql", "/work/app", true, true),
            ("migrations/*.sql", "/work/app/src", true, false),
            ("*.pem", "/work/app/build", true, false),
            ("../shared/**", "/work/shared/x", false, true),
            ("~/.ssh/**", "/home/me/.ssh/id", false, true),
            ("~/.ssh/**", "~/.ssh/id", false, true),
            ("$HOME/.ssh", "~", true, true),
            ("${HOME}/x", "/home/me/x/y", false, true),
            ("/etc/**", "/etc/passwd", false, true),
            ("/etc/**", "/etcetera", false, false),
        ] {
            let touched = Touched { path: path.into(), below, names: None };
            let hit = paths(&[pattern]).stop(&touched, &base(), None).is_some();
            assert_eq!(hit, want, "{pattern} {path} {below}");
        }
    }

    #[test]
    fn a_pattern_touches_the_policy_only_by_its_name() {
        for (names, want) in [
            (None, true),
            (Some("*"), true),
            (Some("tool*"), true),
            (Some("*.o"), false),
            (Some("a?"), false),
        ] {
            let touched =
                Touched { path: "/work/app".into(), below: true, names: names.map(str::to_owned) };
            assert_eq!(
                base().is_at_or_above(&touched, "/work/app/toolmark.yaml"),
                want,
                "{names:?}"
            );
            let hit = paths(&["./toolmark.yaml"]).stop(&touched, &base(), None).is_some();
            assert_eq!(hit, want, "{names:?}");
        }
    }

    #[test]
    fn what_is_read() {
        for (pattern, path, want) in [
            ("secrets/", "/work/app/secrets/a", true),
            ("./.env", "/work/app/.e*", true),
            ("./.env", "/work/app/*", false),
            ("./key.txt", "/work/app/*", true),
            ("./key.txt", "/work/app/*.md", false),
        ] {
            let hit = paths(&[pattern]).hold(path, &base(), None).is_some();
            assert_eq!(hit, want, "{pattern} {path}");
        }
    }

    #[test]
    fn without_a_directory_paths_start_where_the_session_runs() {
        let base = Base { directory: None, home: None };
        let touched = Touched::file("/w/gen/x".into());
        assert!(paths(&["gen/**"]).stop(&touched, &base, Some("/w")).is_some());
        assert!(paths(&["gen/**"]).stop(&touched, &base, Some("/v")).is_none());
        let home = Touched::file("~/.ssh/x".into());
        assert!(paths(&["~/.ssh"]).stop(&home, &base, None).is_some());
    }

    #[test]
    fn roots_hold_what_lies_below() {
        let mut problems = Vec::new();
        let roots = Roots::read(vec!["~/notes".to_owned().into()], &mut problems);
        for (path, want) in [
            ("/home/me/notes/x", true),
            ("~/notes/x", true),
            ("/home/me/notes", false),
            ("/home/me/notesx", false),
            ("/home/me", false),
        ] {
            assert_eq!(roots.hold(path, &base(), None), want, "{path}");
        }
        assert_eq!(problems, []);
    }

    #[test]
    fn mistakes() {
        for (pattern, text) in
            [(true, ""), (true, "!x"), (false, "a/*"), (false, " "), (true, "a\0b")]
        {
            let mut problems = Vec::new();
            assert!(!is_path(&text.to_owned().into(), pattern, &mut problems), "{text}");
            assert_eq!(problems.first().map(|p| p.code), Some("invalid-path"), "{text}");
        }
    }
}
