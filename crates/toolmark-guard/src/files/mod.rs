//! Policy files: where they lie, and what they say together.
//!
//! The user's file is the one that was fixed when the hook was installed, or
//! `.config/toolmark/toolmark.yaml` in the home directory that the system has for
//! the user. What the environment names instead may come from a project, so it can
//! only make things stricter ([`Trust`]). The project's is the
//! nearest `toolmark.yaml` or `.toolmark/toolmark.yaml` with a `guard:` part, from
//! the directory of the session up to the root of its git work tree; without
//! one, only that directory is looked at. `TOOLMARK_GUARD` may raise the preset.

mod file;
pub mod settings;

use crate::Guard;
use crate::allowed::{self, Allowed};
use crate::audit;
use crate::policy::{Base, Import, Layer, Origin, Policy, Whose};
use file::File;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_config::{Node, Problem, Source};
use toolmark_hosts::toolset::{Toolset, Toolsets};
use toolmark_hosts::{Event, Moment, Verdict, moved_settings, own};
use toolmark_match::call_match::{CompiledSchema, SchemaCompiler};
use toolmark_shell::{Decision, Effect, Facts, Protection};

/// The variable that names the user's file.
const POLICY: &str = "TOOLMARK_GUARD_POLICY";
/// The variable that raises the preset.
const PRESET: &str = "TOOLMARK_GUARD";

/// Whose word counts for where the user's file is.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// The environment's: a person at a terminal has set it.
    Environment,
    /// A path that was fixed when the hook was installed; without one, the home
    /// directory that the system has for the user. Agents run hooks in an
    /// environment that the settings of a project can change.
    Fixed(Option<&'a Path>),
}

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
    /// The file that the environment names in place of the user's: of both
    /// decisions the stricter counts.
    other: Option<Box<Other>>,
    /// Where the commands stand that the user has allowed by hand.
    allowed: Option<PathBuf>,
}

/// A file that is not the user's, though the environment says so.
#[derive(Debug)]
struct Other {
    opened: Opened,
    words: String,
}

impl From<Guard> for Opened {
    fn from(guard: Guard) -> Self {
        Self { guard, ..Self::default() }
    }
}

impl Opened {
    /// What to decide when the guard itself fails.
    #[must_use]
    pub fn on_error(&self) -> Decision {
        let own = self.guard.policy().on_error();
        self.other.as_ref().map_or(own, |other| other.opened.on_error().max(own))
    }

    /// What is said somewhere without effect, because it would loosen the user's
    /// policy.
    #[must_use]
    pub fn ignored(&self, log: Option<&Path>) -> Option<String> {
        let other = self.other.iter().map(|other| other.words.clone());
        let other = other.chain(self.ignored_log(log));
        let loosened = self.guard.policy().loosened();
        let project = self.guard.policy().project().map(|layer| layer.origin().file.as_str());
        let of_project = loosened
            .iter()
            .map(|problem| format!("{}: {}", project.unwrap_or_default(), problem.message));
        let all: Vec<String> = other.chain(of_project).take(MAX_IGNORED).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Where the hook keeps its log, whatever the environment says: as it was fixed when it
    /// was installed, else as the user's policy has it, else in the home directory that the
    /// system has for the user.
    ///
    /// # Errors
    ///
    /// Nothing says where.
    pub fn log_place(&self, fixed: Option<&Path>) -> io::Result<Option<PathBuf>> {
        let by_policy = self.guard.policy().log().path;
        match fixed.or(by_policy.as_deref().map(Path::new)) {
            Some(path) if path == "off" => Ok(None),
            Some(path) => Ok(Some(path.to_owned())),
            None => match log_of_system() {
                Some(path) => Ok(Some(path)),
                None => Err(io::Error::other("the home directory is not known")),
            },
        }
    }

    /// With the log where it was fixed, which nobody may change.
    #[must_use]
    pub fn with_log(mut self, fixed: Option<&Path>) -> Self {
        let path = fixed.filter(|path| *path != "off").and_then(|path| path.to_str());
        if let Some(path) = path {
            let guard = std::mem::take(&mut self.guard);
            self.guard = guard.protecting(vec![format!("{path}*")]);
        }
        self
    }

    /// What the environment says about the log without effect.
    fn ignored_log(&self, fixed: Option<&Path>) -> Option<String> {
        let place = self.log_place(fixed).ok()?;
        let named = env::var_os(audit::VARIABLE).filter(|value| !value.is_empty())?;
        let is_it = match &place {
            Some(place) => place.as_os_str() == named,
            None => named == "off",
        };
        (!is_it).then(|| {
            let stays = place.map_or("off".to_owned(), |place| place.display().to_string());
            format!(
                "{} names {}: the log stays where `install` found it ({stays})",
                audit::VARIABLE,
                Path::new(&named).display()
            )
        })
    }

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
        let own = self.own_verdict(event, facts);
        let Some(other) = &self.other else { return own };
        let other = other.opened.own_verdict(event, facts);
        if other.decision > own.decision { other } else { own }
    }

    fn own_verdict(&self, event: &Event<'_>, facts: Option<&dyn Facts>) -> Verdict {
        let verdict = self.guard.decide(event, facts);
        match self.broken() {
            Some((decision, words)) if decision > verdict.decision => {
                Verdict::new(decision, "error", words)
            }
            _ => verdict,
        }
    }

    /// The verdict, or what the user has allowed by hand for this very command. What
    /// would disarm the guard is not lifted.
    #[must_use]
    pub fn lifted(&self, event: &Event<'_>, verdict: Verdict) -> Verdict {
        let disarms =
            || verdict.analysis.iter().flat_map(|found| &found.effects).any(Effect::disarms);
        if event.moment != Moment::Before || verdict.decision == Decision::Allow || disarms() {
            return verdict;
        }
        let command = self.guard.command(event);
        let Some((path, command)) = self.allowed.as_ref().zip(command) else { return verdict };
        match allowed::take(path, &command, event.cwd.as_deref()) {
            None => verdict,
            Some(Allowed { once, .. }) => {
                let how = if once { "once" } else { "always" };
                let reason = format!("the user has allowed this command {how}");
                let analysis = verdict.analysis;
                Verdict {
                    analysis,
                    ..Verdict::new(Decision::Allow, format!("allowed.{how}"), reason)
                }
            }
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

/// So much of what has no effect is named.
const MAX_IGNORED: usize = 4;

/// The guard for a session in a directory.
#[must_use]
pub fn open(cwd: Option<&str>, trust: Trust<'_>, readers: Option<&Readers>) -> Opened {
    let named = Named::by_environment();
    let Trust::Fixed(fixed) = trust else { return open_with(cwd, named.as_ref(), readers) };
    let Some(own) = Named::trusted(fixed) else { return open_with(cwd, named.as_ref(), readers) };
    let mut opened = open_with(cwd, Some(&own), readers);
    if let Some(named) = named.filter(|named| named.is_foreign(&own)) {
        let other = open_with(cwd, Some(&named), readers);
        opened.lacks_reader |= other.lacks_reader;
        let words = named.words(&own);
        opened.other = Some(Box::new(Other { opened: other, words }));
    }
    opened
}

/// What the environment names in place of the user's file, in words; a hook that
/// was installed without `--policy` takes from it only what is stricter.
#[must_use]
pub fn named_by_environment() -> Option<String> {
    let own = Named::trusted(None)?;
    let named = Named::by_environment()?;
    named.is_foreign(&own).then(|| {
        format!(
            "{} names {}, not {}: a hook takes from it only what is stricter, unless `install` \
             fixed it with --policy",
            named.by,
            named.path.display(),
            own.path.display()
        )
    })
}

/// The user's file as the environment has it, whether it is there or not.
#[must_use]
pub fn user_policy() -> Option<PathBuf> {
    Some(Named::by_environment()?.path)
}

/// The file of the commands that the user allows by hand.
#[must_use]
pub fn allowed_file() -> Option<PathBuf> {
    Some(allowed::beside(&std::path::absolute(Named::by_environment()?.path).ok()?))
}

/// The user's file as a hook has to be told where it is: `None` where it finds it
/// by itself.
#[must_use]
pub fn to_be_fixed() -> Option<PathBuf> {
    let named = Named::by_environment()?;
    let path = std::path::absolute(&named.path).ok()?;
    (system_policy().as_ref() != Some(&path)).then_some(path)
}

/// The log as a hook has to be told where it is: `None` where it finds it by itself.
#[must_use]
pub fn log_to_be_fixed() -> Option<PathBuf> {
    let named = env::var_os(audit::VARIABLE).filter(|value| !value.is_empty());
    if named.as_deref().is_some_and(|value| value == "off") {
        return Some("off".into());
    }
    let path = audit::place(|name| env::var_os(name)).ok()??;
    let path = std::path::absolute(path).ok()?;
    // What the user's policy says counts where no variable names the log itself.
    let is_usual = named.is_none() && system_log().as_ref() == Some(&path);
    let by_policy = || named.is_none() && user_names_log();
    (!is_usual && !by_policy()).then_some(path)
}

/// Does the user's policy say where the log is?
fn user_names_log() -> bool {
    let opened = open(None, Trust::Environment, None);
    opened.guard.policy().log().path.is_some()
}

/// The log in the home directory that the system has for the user; without one, where the
/// environment has it.
#[must_use]
pub fn log_of_system() -> Option<PathBuf> {
    system_log().or_else(|| audit::place(|name| env::var_os(name)).ok().flatten())
}

fn system_log() -> Option<PathBuf> {
    Some(system_home()?.join(".local/state").join(own::AUDIT_LOG))
}

/// Where the user's file is said to be.
struct Named {
    path: PathBuf,
    /// The variable that says so.
    by: &'static str,
}

impl Named {
    fn by_environment() -> Option<Self> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        if let Some(path) = set(POLICY) {
            return Some(Self { path: path.into(), by: POLICY });
        }
        if let Some(settings) = set("XDG_CONFIG_HOME") {
            let path = Path::new(&settings).join(own::USER_POLICY);
            return Some(Self { path, by: "XDG_CONFIG_HOME" });
        }
        let path = Path::new(&home()?).join(".config").join(own::USER_POLICY);
        Some(Self { path, by: "HOME" })
    }

    fn trusted(fixed: Option<&Path>) -> Option<Self> {
        match fixed {
            Some(path) => Some(Self { path: path.to_owned(), by: "--policy" }),
            None => Some(Self { path: system_policy()?, by: "HOME" }),
        }
    }

    /// Must it be there? What a variable names is not left out in silence.
    fn must_exist(&self) -> bool {
        self.by == POLICY
    }

    /// Is it none of the user's own, and does it say anything?
    fn is_foreign(&self, own: &Self) -> bool {
        let is_own = self.path == own.path || Some(&self.path) == system_policy().as_ref();
        !is_own && (self.must_exist() || self.path.exists())
    }

    fn words(&self, own: &Self) -> String {
        format!(
            "{} names {}, which is not the user's policy ({}): only what is stricter in it counts",
            self.by,
            self.path.display(),
            own.path.display()
        )
    }
}

fn open_with(cwd: Option<&str>, named: Option<&Named>, readers: Option<&Readers>) -> Opened {
    let mut opened = Opened::default();
    let home = home();
    let user = named.and_then(|named| {
        let file = opened.take(File::read(&named.path, named.must_exist(), Whose::User))?;
        let base = Base { directory: None, home: home.clone() };
        opened.layer(file, Whose::User, base, cwd, readers)
    });
    let is_own = |path: &Path| named.is_some_and(|named| is_same(&named.path, path));
    let project = cwd.map(Path::new).and_then(|cwd| {
        let (file, directory) = nearest(cwd, is_own, &mut opened)?;
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
    let own = own_files(&policy, named.map(|named| named.path.as_path()));
    let moved = moved_settings(|name| env::var_os(name));
    let policy = policy.protecting(own, Protection::Policy).protecting(moved, Protection::Settings);
    opened.allowed = named.map(|named| allowed::beside(&named.path));
    opened.guard = Guard::new(policy, Toolsets::with(toolsets));
    opened
}

/// The user's policy and the log, where variables or the policy have put them. A
/// log that was put aside has a number behind its name.
fn own_files(policy: &Policy, user: Option<&Path>) -> Vec<String> {
    let log = policy.log().path.map(PathBuf::from).or_else(log_of_system);
    let named = audit::place(|name| env::var_os(name)).ok().flatten();
    let absolute = |path: &Path| Some(std::path::absolute(path).ok()?.to_str()?.to_owned());
    let file = user.and_then(absolute).into_iter().flat_map(|file| {
        let allowed = allowed::beside(Path::new(&file)).to_str().map(str::to_owned);
        std::iter::once(file).chain(allowed)
    });
    let logs = log.into_iter().chain(named);
    let logs = logs.filter_map(|log| Some(absolute(&log)? + "*")).collect::<Vec<_>>();
    file.chain(logs).chain(programs()).collect()
}

/// The programs of the guard: beside the one that runs, under the name it was
/// called by too.
fn programs() -> Vec<String> {
    let called = env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
    let running = env::current_exe().ok().into_iter().chain(called);
    let beside = running.flat_map(|path| {
        ["toolmark", "toolmark-hook"]
            .map(|name| path.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX)))
    });
    let mut all: Vec<String> = beside.filter_map(|path| Some(path.to_str()?.to_owned())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What the user's own file says; its mistakes are not looked at.
#[must_use]
pub fn user_layer(schemas: SchemaCompiler) -> Option<Layer> {
    let home = home();
    let named = Named::by_environment()?;
    let read = File::read(&named.path, named.must_exist(), Whose::User);
    let File { source, node, .. } = read.ok()??;
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

/// The user's file in the home directory that the system has for the user, whatever
/// the environment says; `None` where the system does not know the user.
fn system_policy() -> Option<PathBuf> {
    Some(system_home()?.join(".config").join(own::USER_POLICY))
}

#[cfg(unix)]
pub(crate) fn system_home() -> Option<PathBuf> {
    static HOME: std::sync::OnceLock<Option<PathBuf>> = std::sync::OnceLock::new();
    let find = || {
        let users = std::fs::read_to_string("/etc/passwd").ok()?;
        home_of(&users, rustix::process::getuid().as_raw()).map(PathBuf::from)
    };
    HOME.get_or_init(find).clone()
}

#[cfg(not(unix))]
pub(crate) fn system_home() -> Option<PathBuf> {
    None
}

/// The home directory of a user: `name:password:uid:gid:comment:home:shell`.
#[cfg(unix)]
fn home_of(users: &str, uid: u32) -> Option<&str> {
    let uid = uid.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        let is_it = fields.next() == Some(&uid);
        fields.nth(2).filter(|home| is_it && home.starts_with('/') && home.len() > 1)
    })
}

/// Is it the user's own file?
#[must_use]
pub fn is_user_file(path: &Path) -> bool {
    Named::by_environment().is_some_and(|named| is_same(&named.path, path))
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// How many directories upwards are looked at.
const UPWARDS: usize = 64;

/// The project's file, and the directory it speaks about.
fn nearest(
    cwd: &Path,
    is_own: impl Fn(&Path) -> bool,
    opened: &mut Opened,
) -> Option<(File, PathBuf)> {
    let upwards = || cwd.ancestors().take(UPWARDS);
    let root = upwards().find(|directory| directory.join(".git").exists());
    for directory in upwards() {
        for name in own::PROJECT_POLICIES {
            let path = directory.join(name);
            // The user's own may be larger.
            let read = || opened.take(File::read(&path, false, Whose::Project));
            let exists = path.symlink_metadata().is_ok();
            if let Some(file) = (exists && !is_own(&path)).then(read).flatten() {
                return Some((file, directory.to_owned()));
            }
        }
        if root.is_none_or(|root| root == directory) {
            return None;
        }
    }
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::home_of;

    #[test]
    fn homes_of_users() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\nme:x:1000:1000:Me,,:/home/me:/bin/sh\n\
                     nobody:x:65534:65534::/:/bin/false\n";
        for (uid, home) in
            [(0, Some("/root")), (1000, Some("/home/me")), (100, None), (65534, None)]
        {
            assert_eq!(home_of(users, uid), home, "{uid}");
        }
    }
}
