//! Input and output of an analysis: the environment of a command, the facts a caller may know, and
//! the result.

use crate::decision::{Decision, decide_effect};
use crate::effects::{Coverage, Effect};
use crate::expand::Arg;
use crate::left::LeftState;
use crate::protect::Protected;
use serde::Serialize;

/// Known facts about the environment in which a command runs. The default is the root of a git work
/// tree outside the home and temp directories.
#[derive(Clone, Copy, Default)]
pub struct ShellContext<'a> {
    /// Working directory.
    pub cwd: Option<&'a str>,
    /// Directories that may be written to; empty means the working directory.
    pub roots: &'a [&'a str],
    /// Further directories that may be written to, independent of the roots.
    pub writable: &'a [&'a str],
    /// Home directory.
    pub home: Option<&'a str>,
    /// Further directories for temporary files.
    pub temp: &'a [&'a str],
    /// Programs that only run the command given as their arguments.
    pub wrappers: &'a [&'a str],
    /// Files that control what an agent may do.
    pub protected: &'a [Protected<'a>],
    /// Known facts about files.
    pub facts: Option<&'a dyn FileFacts>,
    /// Absolute paths of files that an earlier command downloaded.
    pub downloads: &'a [String],
    /// Absolute paths of files into which an earlier command put a secret.
    pub copies: &'a [String],
}

impl std::fmt::Debug for ShellContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("cwd", &self.cwd)
            .field("roots", &self.roots)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// Facts a caller may know about files; `None` means unknown.
pub trait FileFacts {
    /// Returns whether the file is under version control.
    fn tracked(&self, path: &str) -> Option<bool>;
    /// Returns whether the file exists.
    fn exists(&self, path: &str) -> Option<bool>;
    /// Returns the target of a path, if a directory on the way to it is a link. With `follows`, a
    /// link at the path itself is followed too.
    fn behind_link(&self, _path: &str, _follows: bool) -> Option<String> {
        None
    }
    /// The names in a directory; none where there is no such directory.
    fn names(&self, _directory: &str) -> Option<Vec<String>> {
        None
    }
    /// Returns the root of the work tree that contains the session's directory.
    fn root(&self) -> Option<String> {
        None
    }
    /// Returns whether the files are on this machine, so that more facts may be looked up there.
    fn is_here(&self) -> bool {
        false
    }
    /// Returns whether the session made this file or a directory that contains it.
    fn made(&self, _path: &str) -> bool {
        false
    }
    /// Returns whether the session changed this file, which was in its committed state before.
    fn changed(&self, _path: &str) -> bool {
        false
    }
    /// Returns whether git would lose nothing if it replaced these files of a directory with the
    /// content of its index; no files means the whole work tree. With `staged`, content that is
    /// only in the index counts too.
    fn is_clean(&self, _directory: &str, _paths: &[String], _staged: bool) -> Option<bool> {
        None
    }
    /// Returns whether the session made a branch; without a name, the checked-out branch.
    fn is_own_branch(&self, _directory: Option<&str>, _name: Option<&str>) -> bool {
        false
    }
    /// Returns whether the session started a program whose command line contains this text.
    fn started(&self, _text: &str) -> bool {
        false
    }
    /// Returns the text of a script whose current content is not under version control.
    fn script(&self, _path: &str) -> Option<String> {
        None
    }
    /// Returns the program that the session put at this path under another name.
    fn program(&self, _path: &str) -> Option<String> {
        None
    }
    /// Returns whether the session downloaded this file.
    fn downloaded(&self, _path: &str) -> bool {
        false
    }
    /// Returns whether the session put a secret into this file.
    fn holds_secret(&self, _path: &str) -> bool {
        false
    }
}

/// Effects of a command, and the decision about it.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// The decision.
    pub decision: Decision,
    /// Effects of the command.
    pub effects: Vec<Effect>,
    /// Share of the text that was understood.
    pub coverage: Coverage,
    /// Reason for the decision, in one line.
    pub reason: String,
    /// Commands that would run, including the inner ones of wrappers.
    #[serde(skip)]
    pub commands: Vec<PlannedCommand>,
    /// Absolute paths of the files it downloads and of those downloaded before.
    #[serde(skip)]
    pub downloads: Vec<String>,
    /// Absolute paths of the files it puts a secret into and of those that held one before.
    #[serde(skip)]
    pub copies: Vec<String>,
    /// State left behind for later commands.
    #[serde(skip)]
    pub left: LeftState,
}

impl Default for Analysis {
    fn default() -> Self {
        Self {
            decision: Decision::Allow,
            effects: Vec::new(),
            coverage: Coverage::Complete,
            reason: HARMLESS.to_owned(),
            commands: Vec::new(),
            downloads: Vec::new(),
            copies: Vec::new(),
            left: LeftState::default(),
        }
    }
}

impl Analysis {
    /// Adds an effect found elsewhere; it can only make the decision stricter.
    pub fn add(&mut self, effect: Effect) {
        let decision = decide_effect(&effect);
        if decision > self.decision {
            self.decision = decision;
            self.reason = effect.reason();
        }
        self.effects.push(effect);
    }
}

/// Reason used when nothing was found.
pub(crate) const HARMLESS: &str = "no destructive effect found";

/// A command that would run.
#[derive(Debug, Clone)]
pub struct PlannedCommand {
    /// Program name without its directory.
    pub program: String,
    /// Arguments of the command.
    pub args: Vec<Arg>,
    /// Byte range of the command that contains this one.
    pub span: (usize, usize),
}
