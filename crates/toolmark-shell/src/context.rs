//! What an analysis starts from and what comes out of it: the place a command
//! runs in, the facts a caller may know, and the result.

use crate::decision::{Decision, decide_effect};
use crate::effects::{Coverage, Effect};
use crate::expand::Arg;
use crate::left::Left;
use crate::protect::Protected;
use serde::Serialize;

/// What is known about the place a command runs in. The default is the root of
/// a git work tree outside the home and temp directories.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// The working directory.
    pub cwd: Option<&'a str>,
    /// The directories that may be written to; empty means the working directory.
    pub roots: &'a [&'a str],
    /// Further directories that may be written to, whatever the roots are.
    pub writable: &'a [&'a str],
    /// The home directory.
    pub home: Option<&'a str>,
    /// Further directories for temporary files.
    pub temp: &'a [&'a str],
    /// Programs that only run the command after them.
    pub wrappers: &'a [&'a str],
    /// Files that decide what an agent may do.
    pub protected: &'a [Protected<'a>],
    /// What is known about files.
    pub facts: Option<&'a dyn Facts>,
    /// Files that an earlier command downloaded, absolute.
    pub downloads: &'a [String],
    /// Files into which an earlier command put a secret, absolute.
    pub copies: &'a [String],
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("cwd", &self.cwd)
            .field("roots", &self.roots)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// Facts a caller may know about files; `None` is "not known".
pub trait Facts {
    /// Whether the file is under version control.
    fn tracked(&self, path: &str) -> Option<bool>;
    /// Whether the file exists.
    fn exists(&self, path: &str) -> Option<bool>;
    /// The root of the work tree that the session's directory lies in.
    fn root(&self) -> Option<String> {
        None
    }
    /// Are these files on this machine, so that more may be looked up there?
    fn is_here(&self) -> bool {
        false
    }
    /// Whether the session made this file, or a directory that it lies in.
    fn made(&self, _path: &str) -> bool {
        false
    }
    /// Whether the session changed this file, which was as committed before.
    fn changed(&self, _path: &str) -> bool {
        false
    }
    /// Whether git would lose nothing if it replaced these files of a directory by what
    /// its index has; no files means all of the work tree. With `staged`, what is only
    /// in the index counts too.
    fn is_clean(&self, _directory: &str, _paths: &[String], _staged: bool) -> Option<bool> {
        None
    }
    /// Whether the session made a branch; without a name the branch that is checked out.
    fn is_own_branch(&self, _directory: Option<&str>, _name: Option<&str>) -> bool {
        false
    }
    /// Whether the session started a program whose command line has this text.
    fn started(&self, _text: &str) -> bool {
        false
    }
    /// The text of a script that is not under version control as it is.
    fn script(&self, _path: &str) -> Option<String> {
        None
    }
    /// The program that the session put there under another name.
    fn program(&self, _path: &str) -> Option<String> {
        None
    }
    /// Whether the session downloaded this file.
    fn downloaded(&self, _path: &str) -> bool {
        false
    }
    /// Whether the session put a secret into this file.
    fn holds_secret(&self, _path: &str) -> bool {
        false
    }
}

/// What a command would do, and whether it should.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// The decision.
    pub decision: Decision,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// How much of the text was understood.
    pub coverage: Coverage,
    /// Why, in one line.
    pub reason: String,
    /// The commands that would run, the inner ones of wrappers too.
    #[serde(skip)]
    pub commands: Vec<Command>,
    /// The files it downloads and those that were downloaded before, absolute.
    #[serde(skip)]
    pub downloads: Vec<String>,
    /// The files it puts a secret into and those that held one before, absolute.
    #[serde(skip)]
    pub copies: Vec<String>,
    /// What it leaves behind for later commands.
    #[serde(skip)]
    pub left: Left,
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
            left: Left::default(),
        }
    }
}

impl Analysis {
    /// Adds an effect that was found elsewhere; it can only make the decision
    /// stricter.
    pub fn add(&mut self, effect: Effect) {
        let decision = decide_effect(&effect);
        if decision > self.decision {
            self.decision = decision;
            self.reason = effect.reason();
        }
        self.effects.push(effect);
    }
}

/// The reason where nothing was found.
pub(crate) const HARMLESS: &str = "no destructive effect found";

/// A command that would run.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program without its directory.
    pub program: String,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// The byte range of the command it is part of.
    pub span: (usize, usize),
}
