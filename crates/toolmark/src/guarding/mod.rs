//! Policy files: where they lie, and what they say together.
//!
//! The user's file is the one `TOOLMARK_GUARD_POLICY` names, or
//! `toolmark/toolmark.yaml` in the directory for settings. The project's is the
//! nearest `toolmark.yaml` or `.toolmark/toolmark.yaml` with a `guard:` part, from
//! the directory of the session up to the root of its git work tree; without
//! one, only that directory is looked at. `TOOLMARK_GUARD` may raise the preset.

mod file;
mod lint;
mod permissions;

pub(crate) use lint::lint;
pub(crate) use permissions::{read as read_settings, settings_at, settings_files};

use crate::Stop;
use crate::exit::Failure;
use crate::grading::spec::print;
use crate::printer::{Line, Printer, style};
use file::File;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_check::config::read_config;
use toolmark_config::Problem;
use toolmark_config::Source;
use toolmark_guard::policy::{Base, Import, Layer, Origin, Policy, Whose};
use toolmark_guard::{Event, Guard, Verdict};
use toolmark_hosts::toolset::Toolsets;
use toolmark_shell::{Decision, Facts};

/// The variable that names the user's file.
const POLICY: &str = "TOOLMARK_GUARD_POLICY";
/// The variable that raises the preset.
const PRESET: &str = "TOOLMARK_GUARD";

/// A policy file and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Read {
    /// The file.
    pub(crate) source: Source,
    /// What is wrong with it.
    pub(crate) problems: Vec<Problem>,
}

/// The guard as the files want it.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// The guard; what could not be read of the files is not in it.
    pub(crate) guard: Guard,
    /// The files, the user's first.
    pub(crate) files: Vec<Read>,
    /// What is wrong without a file to show it in.
    pub(crate) faults: Vec<String>,
}

impl Opened {
    /// Why the policy cannot be relied on, and what to decide then.
    pub(crate) fn broken(&self) -> Option<(Decision, String)> {
        let mut words: Vec<String> = self.faults.clone();
        for file in &self.files {
            if let Some(problem) = file.problems.iter().find(|problem| problem.is_error()) {
                let place = problem.span.map(|span| file.source.place(span.start));
                let line = place.map_or(String::new(), |place| format!(":{}", place.line));
                words.push(format!("{}{line}: {}", &file.source.name, problem.message));
            }
        }
        let all = words.join("; ");
        let decision = self.guard.policy().on_error();
        (!all.is_empty()).then(|| (decision, format!("the policy cannot be read: {all}")))
    }

    /// What the policy files say about a call. Where they cannot be relied on,
    /// what to decide then is the least that is decided.
    pub(crate) fn verdict(&self, event: &Event<'_>, facts: Option<&dyn Facts>) -> Verdict {
        let verdict = self.guard.decide(event, facts);
        match self.broken() {
            Some((decision, words)) if decision > verdict.decision => {
                Verdict::new(decision, "error", words)
            }
            _ => verdict,
        }
    }

    /// Shows everything that is wrong with the files; without errors, the guard.
    pub(crate) fn usable(self, printer: &mut Printer) -> Result<Guard, Stop> {
        let opened = self.checked();
        opened.show(printer)?;
        match opened.broken() {
            None => Ok(opened.guard),
            Some((_, words)) => {
                let failure = Failure::usage(words);
                Err(failure.hint("`toolmark guard policy` shows which files are used").into())
            }
        }
    }

    /// Shows what is wrong with the files.
    pub(crate) fn show(&self, printer: &mut Printer) -> io::Result<()> {
        for file in &self.files {
            print(printer, &file.source, &file.problems)?;
        }
        for fault in &self.faults {
            let line = Line::of(style::BAD.bold(), "error").with(style::PLAIN, ": ");
            printer.notice(&line.with(style::PLAIN, fault))?;
        }
        Ok(())
    }

    /// With everything said about the files that takes longer to find out:
    /// examples, suggestions, and what a project's file would loosen.
    pub(crate) fn checked(mut self) -> Self {
        let checked = self.guard.policy().check_all();
        let loosened = self.guard.policy().loosened();
        let project = self.guard.policy().project().map(|layer| layer.origin().file.clone());
        let is_project = |file: &Read| project.as_deref() == Some(&file.source.name);
        let at = self.files.iter().position(is_project);
        for (index, file) in self.files.iter_mut().enumerate() {
            match Some(index) == at {
                true => file.problems.extend(checked.project.iter().chain(&loosened).cloned()),
                false => file.problems.extend(checked.user.iter().cloned()),
            }
            file.problems.sort_by_key(|problem| problem.span);
        }
        self
    }
}

/// The guard for a session in the current directory.
pub(crate) fn here() -> Opened {
    let cwd = env::current_dir().ok();
    open(cwd.as_deref().and_then(Path::to_str))
}

/// The guard for a session in a directory.
pub(crate) fn open(cwd: Option<&str>) -> Opened {
    let mut opened = Opened::default();
    let home = home();
    let user = user_file(home.as_deref()).and_then(|(path, named)| {
        let file = opened.take(File::read(&path, named))?;
        let base = Base { directory: None, home: home.clone() };
        opened.layer(file, Whose::User, base, cwd)
    });
    let toolsets = user.as_ref().map(|(_, toolsets)| toolsets.clone()).unwrap_or_default();
    let project = cwd.map(Path::new).and_then(|cwd| {
        let (file, directory) = nearest(cwd, &mut opened)?;
        let directory = directory.to_string_lossy().into_owned();
        let base = Base { directory: Some(directory), home: home.clone() };
        opened.layer(file, Whose::Project, base, Some(&cwd.to_string_lossy()))
    });
    let raised = match env::var(PRESET) {
        Ok(word) => {
            let preset = Policy::preset_named(&word);
            if preset.is_none() {
                opened.faults.push(format!("{PRESET}={word}: unknown preset"));
            }
            preset
        }
        Err(_) => None,
    };
    let (user, project) = (user.map(|(layer, _)| layer), project.map(|(layer, _)| layer));
    opened.guard = Guard::new(Policy::new(user, project, raised), Toolsets::with(toolsets));
    opened
}

impl Opened {
    fn take(&mut self, read: Result<Option<File>, String>) -> Option<File> {
        match read {
            Ok(file) => file,
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// What a file says, and the toolsets of the user's own it describes.
    fn layer(
        &mut self,
        file: File,
        whose: Whose,
        base: Base,
        cwd: Option<&str>,
    ) -> Option<(Layer, Vec<toolmark_hosts::toolset::Toolset>)> {
        let File { source, node, mut problems } = file;
        let origin = Origin { whose, file: source.name.to_string(), base };
        let layer = node.as_ref().and_then(|root| root.get("guard")).map(|part| {
            let layer = Layer::read(part, origin, &mut problems);
            match layer.imports(Import::ClaudeCode) {
                true => {
                    let (permissions, faults) = permissions::of_session(whose, cwd);
                    self.faults.extend(faults);
                    layer.with_permissions(permissions)
                }
                false => layer,
            }
        });
        // A project that described the tools could hide what they do.
        let check = node.as_ref().and_then(|root| root.get("check"));
        let described =
            check.filter(|check| whose == Whose::User && check.get("toolsets").is_some());
        let toolsets = described.map(|check| read_config(check, &mut problems).toolsets);
        self.files.push(Read { source, problems });
        Some((layer?, toolsets.unwrap_or_default()))
    }
}

/// The home directory.
pub(crate) fn home() -> Option<String> {
    env::var("HOME").ok().filter(|home| home.starts_with('/') && home.len() > 1)
}

/// The user's file, and whether it was named.
fn user_file(home: Option<&str>) -> Option<(PathBuf, bool)> {
    if let Some(named) = env::var_os(POLICY).filter(|named| !named.is_empty()) {
        return Some((named.into(), true));
    }
    let settings =
        env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let settings = settings.or_else(|| home.map(|home| Path::new(home).join(".config")))?;
    Some((settings.join("toolmark/toolmark.yaml"), false))
}

/// Is it the user's own file?
pub(crate) fn is_user_file(path: &Path) -> bool {
    let same = |own: &Path| match (own.canonicalize(), path.canonicalize()) {
        (Ok(own), Ok(path)) => own == path,
        _ => own == path,
    };
    user_file(home().as_deref()).is_some_and(|(own, _)| same(&own))
}

/// How many directories upwards are looked at.
const UPWARDS: usize = 64;

/// The project's file, and the directory it speaks about.
fn nearest(cwd: &Path, opened: &mut Opened) -> Option<(File, PathBuf)> {
    let upwards = || cwd.ancestors().take(UPWARDS);
    let root = upwards().find(|directory| directory.join(".git").exists());
    for directory in upwards() {
        for name in ["toolmark.yaml", ".toolmark/toolmark.yaml"] {
            let path = directory.join(name);
            let file = opened.take(File::read(&path, false));
            if let Some(file) = file.filter(|_| !is_user_file(&path)) {
                return Some((file, directory.to_owned()));
            }
        }
        if root.is_none_or(|root| root == directory) {
            return None;
        }
    }
    None
}
