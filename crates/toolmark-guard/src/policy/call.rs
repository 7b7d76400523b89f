//! A call as seen by a policy: its names, its parsed command lines, and the paths it affects.

use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use toolmark_hosts::HookEvent;
use toolmark_hosts::toolset::{Tool, ToolRole};
use toolmark_session::effects::ToolInput;
use toolmark_session::patch;
use toolmark_session::path::resolve;
use toolmark_shell::ir::{Redirection, RedirectionKind};
use toolmark_shell::{Analysis, Effect, EffectKind, EffectScope};
use toolmark_trace::{Canonical, ToolName};

/// A call with the known properties of its tool and its effects.
pub struct PolicySubject<'a> {
    /// Event of the host.
    pub event: &'a HookEvent<'a>,
    /// Known properties of the tool.
    pub tool: Option<&'a Tool>,
    /// Effects of the call, if known.
    pub analysis: Option<&'a Analysis>,
    /// Whether the call writes the project's policy without changing the `guard:` part.
    pub(super) keeps_policy: bool,
    roots: Vec<String>,
    lines: OnceCell<Vec<String>>,
}

impl<'a> PolicySubject<'a> {
    /// Creates a call that has not been made yet.
    #[must_use]
    pub fn new(
        event: &'a HookEvent<'a>,
        tool: Option<&'a Tool>,
        analysis: Option<&'a Analysis>,
    ) -> Self {
        let (keeps_policy, roots) = (false, Vec::new());
        Self { event, tool, analysis, keeps_policy, roots, lines: OnceCell::new() }
    }

    /// Marks the call as leaving the project's `guard:` part unchanged, although it writes the
    /// file.
    #[must_use]
    pub(super) fn keeping_policy(mut self) -> Self {
        self.keeps_policy = true;
        self
    }

    /// Adds directories that count as parts of the work tree; the targets of effects in them are
    /// relative to those directories.
    #[must_use]
    pub fn with_roots(mut self, roots: Vec<String>) -> Self {
        self.roots = roots;
        self
    }

    fn input(&self) -> ToolInput<'a> {
        let cwd = self.event.cwd.as_deref();
        ToolInput {
            name: self.event.tool.as_ref().into(),
            tool: self.tool,
            args: (&self.event.args).into(),
            cwd,
        }
    }

    /// Returns the role of the tool.
    #[must_use]
    pub fn role(&self) -> ToolRole {
        self.input().role()
    }

    /// Returns the names by which a list may refer to the tool: the host's own, and `server/tool`
    /// for tools of servers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![self.event.tool.to_string()];
        let Canonical { server, tool } = ToolName::new(self.event.tool.as_ref()).canonical();
        if let Some(server) = server {
            names.push(format!("{server}/{tool}"));
            names.push(format!("mcp__{server}__{tool}"));
        }
        names.dedup();
        names
    }

    /// Returns the command line that the call runs.
    #[must_use]
    pub fn command(&self) -> Option<Cow<'a, str>> {
        self.input().command()
    }

    /// Returns the arguments as a map.
    #[must_use]
    pub fn args(&self) -> Cow<'a, Value> {
        match self.event.args.json() {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(Value::Object(serde_json::Map::new())),
        }
    }

    /// Returns the commands of the command line, one per line: the inner ones of wrappers and
    /// compounds, quotes removed.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.lines.get_or_init(|| {
            let commands = self.analysis.map(|analysis| analysis.commands.as_slice());
            let line = |command: &toolmark_shell::PlannedCommand| {
                let words = command.args.iter().map(|arg| arg.text.as_str());
                std::iter::once(command.program.as_str()).chain(words).collect::<Vec<_>>().join(" ")
            };
            commands.unwrap_or_default().iter().map(line).collect()
        })
    }

    /// Returns all lines, and the git ones also without the options before the sub-command, which
    /// do not affect the meaning.
    pub fn spellings(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let commands = self.analysis.iter().flat_map(|analysis| &analysis.commands);
        let plain = commands.filter(|command| command.program == "git").filter_map(plain_git);
        self.lines().iter().map(|line| Cow::Borrowed(line.as_str())).chain(plain.map(Cow::Owned))
    }

    /// Whether the command line redirects output into a file.
    #[must_use]
    pub fn redirects(&self) -> bool {
        let writes = |redirection: &Redirection| {
            matches!(redirection.kind, RedirectionKind::Write | RedirectionKind::Append)
                && redirection.target.literal().as_deref() != Some("/dev/null")
        };
        self.command().is_some_and(|command| {
            let script = toolmark_shell::parse(&command);
            let simple = toolmark_shell::commands(&script);
            simple.iter().any(|visit| visit.command.redirections.iter().any(writes))
        })
    }

    /// Returns the directories that a relative path may start from: the directory of the command,
    /// that of the session, and those that the command changes to.
    fn directories(&self) -> Vec<String> {
        let mut all: Vec<String> = self.roots.clone();
        let mut add = |directory: String| {
            if !all.contains(&directory) && all.len() < 32 {
                all.push(directory);
            }
        };
        if let Some(own) = self.input().directory() {
            add(resolve(None, &own));
        }
        if let Some(session) = self.event.cwd.as_deref() {
            add(resolve(None, session));
        }
        for command in self.analysis.iter().flat_map(|analysis| &analysis.commands) {
            if matches!(command.program.as_str(), "cd" | "pushd")
                && let Some(target) = command.args.first().filter(|arg| !arg.dynamic)
            {
                for from in all.clone() {
                    let at = resolve(Some(&from), &target.text);
                    if !all.contains(&at) && all.len() < 32 {
                        all.push(at);
                    }
                }
            }
        }
        all
    }

    /// Returns the absolute paths that an effect may refer to; one inside the work tree is written
    /// relative to the root of the tree.
    fn of_effect(&self, effect: &Effect, from: &[String]) -> Vec<String> {
        let is_path = !matches!(effect.scope, EffectScope::Remote);
        let target = effect.target.as_str();
        match target.starts_with(['/', '~']) {
            _ if !is_path => Vec::new(),
            true => vec![resolve(None, target)],
            false => from.iter().map(|from| resolve(Some(from), target)).collect(),
        }
    }

    /// Returns the paths an effect may refer to, relative to the roots of the work tree.
    #[must_use]
    pub fn targets(&self, effect: &Effect) -> Vec<String> {
        let session = self.event.cwd.as_deref().map(|cwd| resolve(None, cwd));
        let roots: Vec<String> = session.into_iter().chain(self.roots.iter().cloned()).collect();
        self.of_effect(effect, &roots)
    }

    /// Returns the paths that the call changes, each with whether everything below is affected.
    #[must_use]
    pub fn written(&self) -> Vec<Touched> {
        let mut all = Vec::new();
        if matches!(self.role(), ToolRole::Writes | ToolRole::Edits) {
            all.extend(self.input().paths().map(Touched::file));
        }
        if let Some(patch) = self.input().patch() {
            let cwd = self.event.cwd.as_deref();
            for file in patch::parse(patch) {
                let paths = file.paths().map(|path| resolve(cwd, path));
                all.extend(paths.map(Touched::file));
            }
        }
        let Some(analysis) = self.analysis else { return all };
        let from = self.directories();
        for effect in &analysis.effects {
            if !changes(effect.kind) {
                continue;
            }
            let below = matches!(
                effect.kind,
                EffectKind::Delete | EffectKind::DiscardVcs | EffectKind::Privilege
            );
            for path in self.of_effect(effect, &from) {
                // A pattern at the end names what is in the directory.
                all.push(match path.rsplit_once('/') {
                    Some((stem, end)) if end.contains(['*', '?', '[']) => {
                        Touched { path: stem.to_owned(), below, names: Some(end.to_owned()) }
                    }
                    _ => Touched { path, below, names: None },
                });
            }
        }
        for command in &analysis.commands {
            if !toolmark_shell::changes_operands(&command.program, &command.args) {
                continue;
            }
            for arg in command.args.iter().filter(|arg| !arg.dynamic && !arg.text.starts_with('-'))
            {
                let paths = from.iter().map(|from| resolve(Some(from), &arg.text));
                all.extend(paths.map(|path| Touched { path, below: true, names: None }));
            }
        }
        all
    }

    /// Returns the paths whose content the call may show. A pattern in a command stays a pattern.
    #[must_use]
    pub fn read(&self) -> Vec<String> {
        let mut all = Vec::new();
        if matches!(self.role(), ToolRole::Reads | ToolRole::SearchesContent) {
            all.extend(self.input().path());
        }
        let Some(analysis) = self.analysis else { return all };
        let from = self.directories();
        let secrets =
            analysis.effects.iter().filter(|effect| effect.kind == EffectKind::ReadSecret);
        all.extend(secrets.flat_map(|effect| self.of_effect(effect, &from)));
        let mut words: Vec<Cow<'_, str>> = Vec::new();
        for command in analysis.commands.iter().filter(|command| shows(&command.program)) {
            for arg in command.args.iter().filter(|arg| !arg.dynamic) {
                words.push(Cow::Borrowed(arg.text.as_str()));
            }
        }
        if let Some(command) = self.command() {
            let script = toolmark_shell::parse(&command);
            for visit in toolmark_shell::commands(&script) {
                let read = |r: &&Redirection| r.kind == RedirectionKind::Read;
                let files = visit.command.redirections.iter().filter(read);
                words.extend(files.filter_map(|r| r.target.literal()).map(Cow::Owned));
            }
        }
        for word in words {
            // `--file=PATH`, `if=PATH`, `@PATH`.
            let value = word.split_once('=').map(|(_, value)| value);
            let parts = [Some(word.as_ref()), value, word.strip_prefix('@')];
            for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
                all.extend(from.iter().map(|from| resolve(Some(from), part)));
            }
        }
        all
    }
}

/// Returns a git command without the options before its sub-command; `None` if it has none.
fn plain_git(command: &toolmark_shell::PlannedCommand) -> Option<String> {
    let mut words = command.args.iter().map(|arg| arg.text.as_str()).peekable();
    let mut dropped = false;
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        dropped = true;
        let takes = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];
        if takes.contains(&option) {
            words.next();
        }
    }
    dropped.then(|| std::iter::once("git").chain(words).collect::<Vec<_>>().join(" "))
}

/// A changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Path, absolute if known.
    pub path: String,
    /// Whether everything below the path is affected too.
    pub below: bool,
    /// Pattern of the affected names in the directory; without one, all of them.
    pub names: Option<String>,
}

impl Touched {
    /// Returns one file.
    pub(super) fn file(path: String) -> Self {
        Self { path, below: false, names: None }
    }
}

/// Whether an effect of this kind changes files.
fn changes(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Delete
            | EffectKind::Overwrite
            | EffectKind::DiscardVcs
            | EffectKind::RewriteHistory
            | EffectKind::Privilege
            | EffectKind::Persist
    )
}

/// Whether the program may show the content of its file operands.
fn shows(program: &str) -> bool {
    !matches!(
        program,
        "ls" | "stat"
            | "test"
            | "["
            | "cd"
            | "pushd"
            | "mkdir"
            | "rm"
            | "rmdir"
            | "touch"
            | "chmod"
            | "chown"
            | "echo"
            | "printf"
            | "find"
            | "basename"
            | "dirname"
            | "realpath"
            | "which"
    )
}
