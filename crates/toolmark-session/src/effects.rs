//! Effects of one call, from its tool, its arguments and its working directory. Recorded
//! calls of `toolmark check` and pending calls of the guard are analyzed alike, so that
//! both report the same effects for the same call.

mod addresses;
mod by_name;

use crate::past::divide;
use crate::path::resolve;
use crate::project::{checkout_of, is_project};
use crate::shell::CommandLine;
pub use addresses::is_suspicious_address;
use serde_json::Value;
use std::borrow::Cow;
use toolmark_hosts::Args;
use toolmark_hosts::toolset::{Tool, ToolRole};
use toolmark_shell::{
    Analysis, Decision, Effect, EffectKind, FileFacts, ShellContext, analyze, analyze_parsed,
    analyze_read, analyze_write,
};

/// Arguments of a call.
#[derive(Debug, Clone, Default)]
pub enum Arguments<'a> {
    /// No readable arguments.
    #[default]
    None,
    /// A JSON value.
    Json(&'a Value),
    /// Text that is not JSON: a patch.
    Text(Cow<'a, str>),
}

impl<'a> Arguments<'a> {
    /// Returns the value, if it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<&'a Value> {
        match self {
            Self::Json(value) => Some(*value),
            Self::None | Self::Text(_) => None,
        }
    }
}

impl<'a> From<&'a Args> for Arguments<'a> {
    fn from(args: &'a Args) -> Self {
        match args {
            Args::None => Self::None,
            Args::Json(value) => Self::Json(value),
            Args::Text(text) => Self::Text(Cow::Borrowed(text)),
        }
    }
}

/// Arguments by which a command is to run on while others are made.
pub const IN_BACKGROUND: &[&str] = &["run_in_background", "is_background"];

/// Whether one of these arguments is enabled. Calls have few.
pub fn is_set(args: &Value, keys: &[&str]) -> bool {
    let mut fields = args.as_object().into_iter().flatten();
    fields.any(|(key, value)| *value == Value::Bool(true) && keys.contains(&key.as_str()))
}

/// A call: its tool, its arguments, and the directory of the session.
#[derive(Debug, Clone)]
pub struct ToolInput<'a> {
    /// Name of the tool as the host writes it.
    pub name: Cow<'a, str>,
    /// Description of the tool.
    pub tool: Option<&'a Tool>,
    /// Arguments.
    pub args: Arguments<'a>,
    /// Working directory of the session.
    pub cwd: Option<&'a str>,
}

/// Project directories in the containers in which agents run.
const PROJECTS: &[&str] = &["/workspace", "/workspaces", "/testbed", "/repo", "/app"];

impl<'a> ToolInput<'a> {
    /// Returns the role of the call.
    #[must_use]
    pub fn role(&self) -> ToolRole {
        self.tool.map_or(ToolRole::Other, |tool| tool.role_of(self.args.json()))
    }

    /// Returns the resolved file or directory that the call names.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        let path = self.tool?.path.text(self.args.json()?)?;
        Some(resolve(self.cwd, path))
    }

    /// Returns all files and directories that the call names: a tool that moves a file names
    /// two.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        let args = self.args.json();
        let given = self.tool.zip(args).into_iter().flat_map(|(tool, args)| tool.path.texts(args));
        let given: Vec<&str> = given.collect();
        // The argument may have another name than the known one.
        let touches = matches!(self.role(), ToolRole::Reads | ToolRole::Writes | ToolRole::Edits);
        let other = args.filter(|_| given.is_empty() && touches).map(by_name::paths);
        given.into_iter().chain(other.into_iter().flatten()).map(|path| resolve(self.cwd, path))
    }

    /// Returns the shell command as text.
    #[must_use]
    pub fn command(&self) -> Option<Cow<'a, str>> {
        if self.role() != ToolRole::RunsShell {
            return None;
        }
        let args = self.args.json()?;
        let named = || by_name::command(args);
        let command = command_of(self.tool?, args).or_else(named)?;
        // In PowerShell, a backslash is part of a path and not an escape.
        match self.name.eq_ignore_ascii_case("powershell") {
            true => Some(Cow::Owned(command.replace('\\', "/"))),
            false => Some(command),
        }
    }

    /// Returns the directory in which the command runs.
    #[must_use]
    pub fn directory(&self) -> Option<Cow<'a, str>> {
        directory_of(self.tool, self.args.json(), self.cwd)
    }

    /// Returns the patch.
    #[must_use]
    pub fn patch(&self) -> Option<&str> {
        match &self.args {
            _ if self.role() != ToolRole::Patches => None,
            Arguments::Json(args) => self.tool?.patch.text(args),
            Arguments::Text(text) => Some(text),
            Arguments::None => None,
        }
    }

    /// Analyzes the effects of the call; `None` for calls that neither run a command nor
    /// touch a file. `base` provides additional facts; missing directories in it are filled
    /// in.
    #[must_use]
    pub fn analyze(&self, base: &ShellContext<'_>) -> Option<Analysis> {
        self.analyze_parsed(base, None)
    }

    /// The same, where its command may be parsed already.
    pub fn analyze_parsed(
        &self,
        base: &ShellContext<'_>,
        line: Option<&CommandLine<'_>>,
    ) -> Option<Analysis> {
        let directory = self.directory();
        let on_disk = base.facts.filter(|_| base.roots.is_empty()).and_then(FileFacts::root);
        let known = || on_disk.as_deref().or_else(|| self.cwd.map(checkout_of));
        let cwd = directory.as_deref();
        let root: Option<&str> = match base.roots {
            [] => known().filter(|root| is_project(root)),
            _ => None,
        };
        // If the session has no directory, the usual locations in containers are assumed.
        let is_unknown = self.cwd.is_none() && cwd.is_none() && root.is_none();
        let roots = match base.roots {
            [] if is_unknown => PROJECTS,
            // A working directory that is the root itself needs no other roots.
            [] if cwd == root => &[],
            [] => root.as_slice(),
            declared => declared,
        };
        let home = base.home.or_else(|| self.cwd.and_then(home_of));
        let protected = match base.protected {
            [] => toolmark_hosts::protected(),
            declared => declared,
        };
        let context = ShellContext { cwd, roots, home, protected, ..*base };
        match self.role() {
            ToolRole::RunsShell => {
                let command = self.command()?;
                let mut analysis = match line.filter(|line| ***line == *command) {
                    Some(line) => analyze_parsed(&command, line.script(), &context),
                    None => analyze(&command, &context),
                };
                if let Some(effect) = addresses::in_commands(&command, &analysis.commands) {
                    analysis.add(effect);
                }
                // `apply_patch <<EOF`
                if command.contains(crate::patch::BEGIN) {
                    let files = crate::patch::parse(&command);
                    let paths = files.iter().flat_map(|file| file.paths());
                    if let Some(written) = analyze_writes(paths, &context) {
                        written.effects.into_iter().for_each(|effect| analysis.add(effect));
                        let (made, changed) = divide(written.left.made, &command);
                        analysis.left.made.extend(made);
                        analysis.left.changed.extend(changed);
                    }
                }
                Some(analysis)
            }
            ToolRole::TalksToShell => {
                Some(analyze(&by_name::command(self.args.json()?)?, &context))
            }
            ToolRole::FetchesWeb => {
                let mut analysis = Analysis::default();
                if let Some(effect) = addresses::in_arguments(self.args.json()?) {
                    analysis.add(effect);
                }
                Some(analysis)
            }
            // A tool that deletes files does not write them, but files that must not be
            // written must not be deleted either.
            ToolRole::Writes if by_name::says(&self.name) == by_name::Says::Deletes => {
                let written = analyze_writes(self.paths(), &context);
                let protected = written.filter(|analysis| analysis.decision == Decision::Deny);
                all_of(protected.into_iter().chain(self.analyze_unknown(&context)))
            }
            ToolRole::Writes | ToolRole::Edits => analyze_writes(self.paths(), &context),
            ToolRole::Reads => all_of(self.paths().map(|path| analyze_read(&path, &context))),
            ToolRole::SearchesContent => self.analyze_search(&context),
            ToolRole::Patches => {
                let files = crate::patch::parse(self.patch()?);
                analyze_writes(files.iter().flat_map(|file| file.paths()), &context)
            }
            ToolRole::Other => self.analyze_unknown(&context),
            _ => None,
        }
    }

    /// Analyzes a search, which shows the contents of the searched files.
    fn analyze_search(&self, context: &ShellContext<'_>) -> Option<Analysis> {
        let args = self.args.json()?;
        let text = |key: &str| args.get(key).and_then(Value::as_str);
        if text("output_mode").is_some_and(|mode| mode != "content") {
            return None;
        }
        let globs = ["glob", "include", "file_pattern"].into_iter().filter_map(text);
        let named = globs.map(|glob| glob.trim_end_matches('*').to_owned());
        all_of(self.paths().chain(named).map(|path| analyze_read(&path, context)))
            .filter(|analysis| !analysis.effects.is_empty())
    }

    /// Analyzes a tool without a description, from its name and its arguments alone.
    fn analyze_unknown(&self, context: &ShellContext<'_>) -> Option<Analysis> {
        let args = self.args.json()?;
        let name = by_name::ToolName::new(&self.name);
        let named = by_name::analyze_named(&name, args, context);
        if named.as_ref().is_some_and(|analysis| !analysis.effects.is_empty()) {
            return named;
        }
        let paths = by_name::paths(args).into_iter().map(|path| resolve(self.cwd, path));
        let paths: Vec<String> = self.paths().chain(paths).collect();
        let writes = name.says == by_name::Says::Writes;
        // The effect on a file is unknown, but some files must not be touched at all.
        let is_told = |e: &Effect| writes || e.kind == EffectKind::Persist;
        let written = analyze_writes(paths.iter(), context);
        let read = || all_of(paths.iter().map(|path| analyze_read(path, context)));
        written
            .filter(|analysis| analysis.effects.iter().any(is_told))
            .or_else(|| read().filter(|analysis| !analysis.effects.is_empty()))
            .or(named)
    }
}

/// Analyzes writing to all of these files; `None` if there are none.
fn analyze_writes(
    paths: impl Iterator<Item = impl AsRef<str>>,
    context: &ShellContext<'_>,
) -> Option<Analysis> {
    all_of(paths.map(|path| analyze_write(path.as_ref(), context)))
}

/// Merges several analyses; `None` if there are none.
fn all_of(analyses: impl Iterator<Item = Analysis>) -> Option<Analysis> {
    analyses.reduce(|mut all, one| {
        if one.decision > all.decision {
            all.decision = one.decision;
            all.reason = one.reason;
        }
        all.effects.extend(one.effects);
        all.left.made.extend(one.left.made);
        all
    })
}

/// Returns the command line of a call to a shell tool.
pub fn command_of<'a>(tool: &Tool, args: &'a Value) -> Option<Cow<'a, str>> {
    match tool.command.get(args)? {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(words) => Some(Cow::Owned(command_line(words))),
        _ => None,
    }
}

/// Returns the directory that a call names for its command.
pub fn directory_of<'a>(
    tool: Option<&Tool>,
    args: Option<&Value>,
    cwd: Option<&'a str>,
) -> Option<Cow<'a, str>> {
    match tool.and_then(|tool| tool.directory.text(args?)) {
        Some(own) => Some(Cow::Owned(resolve(cwd, own))),
        None => cwd.map(Cow::Borrowed),
    }
}

/// Returns the home directory that contains a working directory, by the usual locations of
/// homes.
fn home_of(cwd: &str) -> Option<&str> {
    let mut parts = cwd.strip_prefix('/')?.split('/');
    let length = match (parts.next()?, parts.next()?, parts.next()) {
        ("root", ..) => "/root".len(),
        (top @ ("home" | "Users"), user, Some(_)) => 2 + top.len() + user.len(),
        _ => return None,
    };
    cwd.get(..length)
}

/// Formats the words of a command as typed in a shell.
fn command_line(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        // A shell around the command is irrelevant. For other programs `-c` is their own code.
        [shell, "-c" | "-lc" | "-ic", script] if is_shell(shell) => (*script).to_owned(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh")
}

fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_deletes_files_does_not_write_them() {
        use toolmark_hosts::toolset::Toolsets;
        use toolmark_shell::Decision;
        for (tool, path, deletes, want) in [
            ("mcp__files__delete_file", "/home/me/thesis.tex", true, Decision::Ask),
            ("mcp__files__delete_file", "/srv/x", true, Decision::Ask),
            ("mcp__files__delete_file", "src/a.rs", true, Decision::Allow),
            ("mcp__files__write_file", "/srv/x", false, Decision::Ask),
        ] {
            let trace = format!("{tool} {{\"path\":\"{path}\",\"content\":\"\"}}");
            let run = crate::notation::parse(&trace).unwrap();
            let toolsets = Toolsets::default();
            let session = crate::session::Session::new(&run, &toolsets);
            let analysis = session.calls()[0].analysis().unwrap();
            assert_eq!(analysis.decision, want, "{tool} {path}");
            let is_delete = |effect: &Effect| effect.kind == EffectKind::Delete;
            assert_eq!(analysis.effects.iter().any(is_delete), deletes, "{tool} {path}");
        }
    }

    #[test]
    fn homes() {
        for (cwd, home) in [
            ("/home/me/app", Some("/home/me")),
            ("/Users/me/a/b", Some("/Users/me")),
            ("/root/app", Some("/root")),
            ("/root", None),
            ("/home/me", None),
            ("/workspace/app", None),
            ("", None),
        ] {
            assert_eq!(home_of(cwd), home, "{cwd}");
        }
    }

    #[test]
    fn commands_that_are_lists_of_words() {
        for (words, want) in [
            (serde_json::json!(["bash", "-lc", "rm -rf x"]), "rm -rf x"),
            (serde_json::json!(["rm", "-rf", "a b"]), "rm -rf 'a b'"),
            (serde_json::json!(["/usr/bin/zsh", "-c", "rm -rf x"]), "rm -rf x"),
            (serde_json::json!(["python3", "-c", "rm('x')"]), r"python3 -c 'rm('\''x'\'')'"),
            (serde_json::json!(["echo", "it's"]), r"echo 'it'\''s'"),
        ] {
            assert_eq!(command_line(words.as_array().unwrap()), want);
        }
    }
}
