//! Policy files: where they lie, and what they say together.
//!
//! The user's file is the one `TOOLMARK_GUARD_POLICY` names, or
//! `toolmark/toolmark.yaml` in the directory for settings. The project's is the
//! nearest `toolmark.yaml` or `.toolmark/toolmark.yaml` with a `guard:` part, from
//! the directory of the session up to the root of its git work tree; without
//! one, only that directory is looked at. `TOOLMARK_GUARD` may raise the preset.

mod file;
pub mod settings;

use crate::Guard;
use crate::audit;
use crate::policy::{Base, Import, Layer, Origin, Policy, Whose};
use file::File;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_config::{Node, Problem, Source};
use toolmark_grade::call_match::{CompiledSchema, SchemaCompiler};
use toolmark_hosts::toolset::{Toolset, Toolsets};
use toolmark_hosts::{Event, Verdict, moved_settings, own};
use toolmark_shell::{Decision, Facts, Protection};

/// The variable that names the user's file.
const POLICY: &str = "TOOLMARK_GUARD_POLICY";
/// The variable that raises the preset.
const PRESET: &str = "TOOLMARK_GUARD";

/// Readers of the parts of a policy that few policies have. They need most of
/// the program: `toolmark-hook` does without them and leaves such policies to
/// `toolmark`.
#[derive(Debug, Clone, Copy)]
pub struct Readers {
    /// Compiles the JSON Schemas of conditions.
    pub schemas: SchemaCompiler,
    /// Reads the toolsets of a `check:` part.
    pub toolsets: fn(&Node, &mut Vec<Problem>) -> Vec<Toolset>,
}

/// A policy file and what is wrong with it.
#[derive(Debug)]
pub struct Read {
    /// Whose file it is.
    pub whose: Whose,
    /// The file.
    pub source: Source,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// The guard as the files want it.
#[derive(Debug, Default)]
pub struct Opened {
    /// The guard; what could not be read of the files is not in it.
    pub guard: Guard,
    /// The files, the user's first.
    pub files: Vec<Read>,
    /// What is wrong without a file to show it in.
    pub faults: Vec<String>,
    /// Do the files have a part for which the reader is missing? The guard is
    /// without that part.
    pub lacks_reader: bool,
}

impl Opened {
    /// Why the policy cannot be relied on, and what to decide then.
    #[must_use]
    pub fn broken(&self) -> Option<(Decision, String)> {
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
    #[must_use]
    pub fn verdict(&self, event: &Event<'_>, facts: Option<&dyn Facts>) -> Verdict {
        let verdict = self.guard.decide(event, facts);
        match self.broken() {
            Some((decision, words)) if decision > verdict.decision => {
                Verdict::new(decision, "error", words)
            }
            _ => verdict,
        }
    }

    /// With everything said about the files that takes longer to find out:
    /// examples, suggestions, and what a project's file would loosen.
    #[must_use]
    pub fn checked(mut self) -> Self {
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

/// The guard for a session in a directory.
#[must_use]
pub fn open(cwd: Option<&str>, readers: Option<&Readers>) -> Opened {
    let mut opened = Opened::default();
    let home = home();
    let user = user_file(home.as_deref()).and_then(|(path, named)| {
        let file = opened.take(File::read(&path, named))?;
        let base = Base { directory: None, home: home.clone() };
        opened.layer(file, Whose::User, base, cwd, readers)
    });
    let project = cwd.map(Path::new).and_then(|cwd| {
        let (file, directory) = nearest(cwd, &mut opened)?;
        let directory = directory.to_string_lossy().into_owned();
        let base = Base { directory: Some(directory), home: home.clone() };
        opened.layer(file, Whose::Project, base, Some(&cwd.to_string_lossy()), readers)
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
    let (user, toolsets) = user.map_or((None, Vec::new()), |(user, sets)| (Some(user), sets));
    let project = project.map(|(layer, _)| layer);
    let policy = Policy::new(user, project, raised);
    let own = own_files(&policy, home.as_deref());
    let moved = moved_settings(|name| env::var_os(name));
    let policy = policy.protecting(own, Protection::Policy).protecting(moved, Protection::Settings);
    opened.guard = Guard::new(policy, Toolsets::with(toolsets));
    opened
}

/// The user's policy and the log, where variables or the policy have put them. A
/// log that was put aside has a number behind its name.
fn own_files(policy: &Policy, home: Option<&str>) -> Vec<String> {
    let log = policy.log().path.map(PathBuf::from);
    let log = log.or_else(|| audit::place(|name| env::var_os(name)).ok().flatten());
    let absolute = |path: &Path| Some(std::path::absolute(path).ok()?.to_str()?.to_owned());
    let file = user_file(home).and_then(|(path, _)| absolute(&path));
    file.into_iter().chain(log.and_then(|log| Some(absolute(&log)? + "*"))).collect()
}

/// What the user's own file says; its mistakes are not looked at.
#[must_use]
pub fn user_layer(schemas: SchemaCompiler) -> Option<Layer> {
    let home = home();
    let (path, named) = user_file(home.as_deref())?;
    let File { source, node, .. } = File::read(&path, named).ok()??;
    let origin = Origin {
        whose: Whose::User,
        file: source.name.to_string(),
        base: Base { directory: None, home },
    };
    Some(Layer::read(node?.get("guard")?, origin, schemas, &mut Vec::new()))
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
        readers: Option<&Readers>,
    ) -> Option<(Layer, Vec<Toolset>)> {
        let File { source, node, mut problems } = file;
        let origin = Origin { whose, file: source.name.to_string(), base };
        let schemas = readers.map_or(no_schemas as SchemaCompiler, |readers| readers.schemas);
        let layer = node.as_ref().and_then(|root| root.get("guard")).map(|part| {
            self.lacks_reader |= readers.is_none() && has_key(part, "schema");
            let layer = Layer::read(part, origin, schemas, &mut problems);
            match layer.imports(Import::ClaudeCode) {
                true => {
                    let (permissions, faults) = settings::of_session(whose, cwd);
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
        let toolsets = match (described, readers) {
            (Some(check), Some(readers)) => (readers.toolsets)(check, &mut problems),
            (described, _) => {
                self.lacks_reader |= described.is_some();
                Vec::new()
            }
        };
        self.files.push(Read { whose, source, problems });
        Some((layer?, toolsets))
    }
}

/// The compiler of a program without the validator. A policy that needs it is
/// not decided by there.
fn no_schemas(_: &serde_json::Value) -> Result<Arc<dyn CompiledSchema>, String> {
    Err("this program has no validator".to_owned())
}

/// Is there such a key anywhere in a tree?
fn has_key(node: &Node, key: &str) -> bool {
    let mut entries = node.entries();
    entries.any(|entry| entry.key == key || has_key(&entry.value, key))
        || node.items().any(|item| has_key(item, key))
}

/// The home directory.
#[must_use]
pub fn home() -> Option<String> {
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
    Some((settings.join(own::USER_POLICY), false))
}

/// Is it the user's own file?
#[must_use]
pub fn is_user_file(path: &Path) -> bool {
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
        for name in own::PROJECT_POLICIES {
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
