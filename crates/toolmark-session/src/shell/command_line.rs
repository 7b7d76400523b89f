//! A command line with cached properties: it is parsed once, and every property is computed
//! once for all rules.

use super::script_edit::script_edit;
use super::stand_in::{ShownFiles, StandIn, shown_files, stand_in};
use super::{FileEffect, ShellScript, file_effects, only_looks, rewrites_many, simple_commands};
use crate::call_key::{errand, first_program};
use crate::purpose::{Purpose, check_commands, purpose};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;
use toolmark_shell::{ir, masks_failure, parse};

/// Maximum length of a text to parse.
const LONGEST: usize = 64 << 10;

/// A command line; dereferences to its text.
#[derive(Debug)]
pub struct CommandLine<'a> {
    text: Cow<'a, str>,
    script: OnceCell<ir::Script>,
    simple: OnceCell<ShellScript>,
    only_looks: OnceCell<bool>,
    rewrites_many: OnceCell<bool>,
    proves_nothing: OnceCell<bool>,
    file_effects: OnceCell<Vec<FileEffect>>,
    stand_in: OnceCell<Option<StandIn>>,
    shown_files: OnceCell<Option<ShownFiles>>,
    purpose: OnceCell<Purpose>,
    checks: OnceCell<Vec<String>>,
    program: OnceCell<Option<String>>,
    errand: OnceCell<Option<String>>,
}

impl<'a> CommandLine<'a> {
    /// Creates a command line without any computed properties.
    #[must_use]
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            script: OnceCell::new(),
            simple: OnceCell::new(),
            only_looks: OnceCell::new(),
            rewrites_many: OnceCell::new(),
            proves_nothing: OnceCell::new(),
            file_effects: OnceCell::new(),
            stand_in: OnceCell::new(),
            shown_files: OnceCell::new(),
            purpose: OnceCell::new(),
            checks: OnceCell::new(),
            program: OnceCell::new(),
            errand: OnceCell::new(),
        }
    }

    /// Returns the text, which outlives the command line if it was borrowed.
    #[must_use]
    pub fn text(&self) -> &Cow<'a, str> {
        &self.text
    }

    /// Returns the parsed script, regardless of the length of the text.
    #[must_use]
    pub fn script(&self) -> &ir::Script {
        self.script.get_or_init(|| parse(self))
    }

    /// Returns the parsed script; `None` if the text is too long.
    #[must_use]
    pub fn parsed(&self) -> Option<&ir::Script> {
        (self.len() <= LONGEST).then(|| self.script())
    }

    /// Returns the simple commands.
    #[must_use]
    pub fn simple_commands(&self) -> &ShellScript {
        self.simple.get_or_init(|| match self.parsed() {
            Some(script) => simple_commands(script),
            None => ShellScript { opaque: true, ..ShellScript::default() },
        })
    }

    /// Whether the command certainly changes no file.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        *self.only_looks.get_or_init(|| self.parsed().is_some_and(only_looks))
    }

    /// Whether the command may have replaced many files.
    #[must_use]
    pub fn rewrites_many(&self) -> bool {
        *self.rewrites_many.get_or_init(|| rewrites_many(self, self.simple_commands()))
    }

    /// Whether the exit code proves nothing.
    #[must_use]
    pub fn proves_nothing(&self) -> bool {
        *self.proves_nothing.get_or_init(|| {
            // Most commands have nothing that could hide a failure.
            let may = self.contains(['|', ';', '\n', '&']);
            may && self.parsed().is_some_and(masks_failure)
        })
    }

    /// Returns the certain effects on files.
    #[must_use]
    pub fn file_effects(&self) -> &[FileEffect] {
        self.file_effects.get_or_init(|| self.parsed().map(file_effects).unwrap_or_default())
    }

    /// Returns the tool that the command substitutes, if it does nothing else.
    #[must_use]
    pub fn stand_in(&self) -> Option<&StandIn> {
        self.stand_in.get_or_init(|| self.parsed().and_then(stand_in)).as_ref()
    }

    /// Returns the edit of one file that an inline script of the command makes.
    #[must_use]
    pub fn script_edit(&self) -> Option<StandIn> {
        let may_edit = self.contains(".replace(") && self.contains(['(', '<']);
        may_edit.then(|| self.parsed().and_then(script_edit)).flatten()
    }

    /// Returns the files that the command shows, if it does nothing else.
    #[must_use]
    pub fn shown_files(&self) -> Option<&ShownFiles> {
        let shown = || self.parsed().and_then(shown_files);
        self.shown_files.get_or_init(shown).as_ref()
    }

    /// Purpose of the command.
    pub fn purpose(&self) -> Purpose {
        *self.purpose.get_or_init(|| self.parsed().map_or(Purpose::Other, purpose))
    }

    /// The commands of it that test or build, each as its words.
    pub fn checks(&self) -> &[String] {
        self.checks.get_or_init(|| self.parsed().map(check_commands).unwrap_or_default())
    }

    /// The first real program: what it runs.
    pub fn program(&self) -> Option<&str> {
        let passed = &["cd", "sleep", "echo", "export", "set"];
        let program = self.program.get_or_init(|| first_program(self.parsed()?, passed));
        program.as_deref()
    }

    /// Subject of the command: its program, and the first word for programs that do many
    /// things.
    pub fn errand(&self) -> Option<&str> {
        self.errand.get_or_init(|| errand(self)).as_deref()
    }
}

impl Deref for CommandLine<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}
