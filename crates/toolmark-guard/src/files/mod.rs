//! Policy files: their locations and their combined content.
//!
//! The user's file is the one that was fixed when the hook was installed, or
//! `.config/toolmark/toolmark.yaml` in the user's home directory according to the system. A file
//! named by the environment instead may come from a project, so it can only make things stricter
//! ([`Trust`]). The project's file is the nearest `toolmark.yaml` or `.toolmark/toolmark.yaml` with
//! a `guard:` or a `tools:` part, from the directory of the session up to the root of its git work tree; without
//! a work tree, only that directory is searched. `TOOLMARK_GUARD` may raise the preset.

mod file;
pub mod settings;

use crate::allowed::{self, Allowed};
use crate::audit;
use crate::guard::{Guard, TranscriptReader};
use crate::policy::{Base, Import, Layer, Policy, PolicyOrigin, Whose};
use file::{File, PolicyFileError};
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_config::{Node, Problem, SourceText};
use toolmark_hosts::tool_policy::ToolPolicy;
use toolmark_hosts::toolset::{Toolset, Toolsets};
use toolmark_hosts::{GuardAnswer, HookEvent, Moment, moved_settings, own};
use toolmark_match::call_match::{CompiledSchema, SchemaCompiler, SchemaError};
use toolmark_session::tool_rules::Past;
use toolmark_shell::{Decision, Effect, FileFacts, Protection};

/// Environment variable with the path of the user's file.
const POLICY: &str = "TOOLMARK_GUARD_POLICY";
/// Environment variable that raises the preset.
const PRESET: &str = "TOOLMARK_GUARD";

/// Source that is trusted for the path of the user's file.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// The environment, set by a user at a terminal.
    Environment,
    /// A path that was fixed when the hook was installed; without one, the user's home directory
    /// according to the system. Agents run hooks in an environment that the settings of a project
    /// can change.
    Fixed(Option<&'a Path>),
}

/// Readers for the parts of a policy that few policies have. They need most of the program:
/// `toolmark-hook` has none of them and delegates such policies to `toolmark`.
#[derive(Debug, Clone, Copy)]
pub struct Readers {
    /// Compiles the JSON Schemas of conditions.
    pub schemas: SchemaCompiler,
    /// Reads the toolsets of a `check:` part.
    pub toolsets: fn(&Node, &mut Vec<Problem>) -> Vec<Toolset>,
    /// Reads the file in which a host keeps a session.
    pub transcripts: TranscriptReader,
}

/// A policy file and its errors.
#[derive(Debug)]
pub struct PolicyRead {
    /// Owner of the file.
    pub whose: Whose,
    /// The file.
    pub source: SourceText,
    /// Errors in the file.
    pub problems: Vec<Problem>,
}

/// The guard as configured by the files.
#[derive(Debug, Default)]
pub struct Opened {
    /// The guard, without the parts of the files that could not be read.
    pub guard: Guard,
    /// The files, the user's first.
    pub files: Vec<PolicyRead>,
    /// Errors that cannot be shown in a file.
    pub faults: Vec<String>,
    /// Whether the files have a part without a reader. The guard lacks that part.
    pub lacks_reader: bool,
    /// File that the environment names in place of the user's; the stricter of both decisions
    /// counts.
    other: Option<Box<Other>>,
    /// Policy of the machine, which users cannot loosen.
    system: Option<Box<Opened>>,
    /// Path of the file with the commands that the user has allowed by hand.
    allowed: Option<PathBuf>,
}

/// A file that the environment names as the user's but that is not.
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
    /// Returns the decision for an internal failure of the guard.
    #[must_use]
    pub fn on_error(&self) -> Decision {
        let own = self.guard.policy().on_error();
        let own = self.other.as_ref().map_or(own, |other| other.opened.on_error().max(own));
        self.system.as_ref().map_or(own, |system| system.on_error().max(own))
    }

    /// Whether copies of what calls destroy are kept.
    pub(crate) fn keeps(&self) -> bool {
        let system = self.system.as_ref();
        self.guard.policy().keeps()
            || system.is_some_and(|system| system.guard.policy().user().wants_copies())
    }

    /// Returns the settings without effect, because they would loosen the user's policy.
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

    /// Returns the path of the hook's log, independent of the environment: the path fixed at
    /// installation, else the one in the user's policy, else one in the user's home directory
    /// according to the system.
    ///
    /// # Errors
    ///
    /// No path is configured or known.
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

    /// Sets the log path fixed at installation, which must not be changed.
    #[must_use]
    pub fn with_log(mut self, fixed: Option<&Path>) -> Self {
        let path = fixed.filter(|path| *path != "off").and_then(|path| path.to_str());
        if let Some(path) = path {
            let guard = std::mem::take(&mut self.guard);
            self.guard = guard.protecting(vec![format!("{path}*")]);
        }
        self
    }

    /// Sets the file in which the host records the session. Nothing else may change it, because the
    /// files that the session made are read from it.
    #[must_use]
    pub fn with_transcript(mut self, path: Option<&str>) -> Self {
        if let Some(path) = path.filter(|path| Path::new(path).is_absolute()) {
            let guard = std::mem::take(&mut self.guard);
            self.guard = guard.protecting(vec![path.to_owned()]);
        }
        self
    }

    /// Returns the setting of the environment about the log that has no effect.
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

    /// Returns why the policy is unreliable, with the decision for that case.
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

    /// Returns the verdict of the policy files about a call. If they are unreliable, the verdict is
    /// at least as strict as the decision for that case.
    #[must_use]
    pub fn verdict(&self, event: &HookEvent<'_>, facts: Option<&dyn FileFacts>) -> GuardAnswer {
        self.verdict_after(event, facts, None)
    }

    /// Returns the verdict about a call, given the calls and messages before it.
    #[must_use]
    pub fn verdict_after(
        &self,
        event: &HookEvent<'_>,
        facts: Option<&dyn FileFacts>,
        past: Option<&dyn Past>,
    ) -> GuardAnswer {
        let own = self.own_verdict(event, facts, past);
        let own = match &self.other {
            Some(other) => stricter(own, other.opened.own_verdict(event, facts, past)),
            None => own,
        };
        let Some(system) = &self.system else { return own };
        let mut verdict = system.own_verdict(event, facts, past);
        // Without a preset of its own, the file of the machine only adds rules.
        let has_preset = system.guard.policy().user().has_preset();
        if verdict.rule == BY_EFFECT && !has_preset {
            return own;
        }
        verdict.rule = format!("{SYSTEM}{}", verdict.rule);
        stricter(own, verdict)
    }

    fn own_verdict(
        &self,
        event: &HookEvent<'_>,
        facts: Option<&dyn FileFacts>,
        past: Option<&dyn Past>,
    ) -> GuardAnswer {
        let verdict = self.guard.decide_after(event, facts, past);
        match self.broken() {
            Some((decision, words)) if decision > verdict.decision => {
                GuardAnswer::new(decision, "error", words)
            }
            _ => verdict,
        }
    }

    /// Returns the verdict, or an allowing one if the user has allowed this exact command by hand.
    /// A call that would disarm the guard stays stopped.
    #[must_use]
    pub fn lifted(&self, event: &HookEvent<'_>, verdict: GuardAnswer) -> GuardAnswer {
        let disarms =
            || verdict.analysis.iter().flat_map(|found| &found.effects).any(Effect::disarms);
        let is_own = !verdict.rule.starts_with(SYSTEM);
        if event.moment != Moment::Before
            || verdict.decision == Decision::Allow
            || !is_own
            || disarms()
        {
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
                GuardAnswer {
                    analysis,
                    ..GuardAnswer::new(Decision::Allow, format!("allowed.{how}"), reason)
                }
            }
        }
    }

    /// Adds how a person lifts a decision that stops a command.
    pub(crate) fn with_way_out(
        &self,
        event: &HookEvent<'_>,
        mut verdict: GuardAnswer,
    ) -> GuardAnswer {
        let disarms =
            || verdict.analysis.iter().flat_map(|found| &found.effects).any(Effect::disarms);
        let is_liftable = event.moment == Moment::Before
            && verdict.decision != Decision::Allow
            && !verdict.rule.starts_with(SYSTEM)
            && self.allowed.is_some()
            && self.guard.command(event).is_some()
            && !disarms();
        if is_liftable {
            let way = "a person lets it pass once with `toolmark guard allow --last`";
            verdict.suggestion = Some(match verdict.suggestion {
                Some(words) => format!("{words}; {way}"),
                None => way.to_owned(),
            });
        }
        verdict
    }

    /// Adds the problems in the files that take longer to find: examples, suggestions, and rules
    /// with which a project's file would loosen the policy.
    #[must_use]
    pub fn checked(mut self) -> Self {
        let checked = self.guard.policy().check_all();
        let loosened = self.guard.policy().loosened();
        let project = self.guard.policy().project().map(|layer| layer.origin().file.clone());
        let is_project = |file: &PolicyRead| project.as_deref() == Some(&file.source.name);
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

/// Rule of a decision that only the effects of a call led to.
pub(crate) const BY_EFFECT: &str = "effect";
/// Start of the rules of the machine's policy.
const SYSTEM: &str = "system.";
/// Maximum number of settings without effect that are named.
const MAX_IGNORED: usize = 4;

/// Opens the guard for a session in a directory.
#[must_use]
pub fn open(cwd: Option<&str>, trust: Trust<'_>, readers: Option<&Readers>) -> Opened {
    let mut opened = open_own(cwd, trust, readers);
    if Path::new(own::SYSTEM_POLICY).exists() {
        opened.add_system(Path::new(own::SYSTEM_POLICY), readers);
    }
    opened
}

fn open_own(cwd: Option<&str>, trust: Trust<'_>, readers: Option<&Readers>) -> Opened {
    let named = ConfiguredFile::by_environment();
    let Trust::Fixed(fixed) = trust else { return open_with(cwd, named.as_ref(), readers) };
    let Some(own) = ConfiguredFile::trusted(fixed) else {
        return open_with(cwd, named.as_ref(), readers);
    };
    let mut opened = open_with(cwd, Some(&own), readers);
    if let Some(named) = named.filter(|named| named.is_foreign(&own)) {
        let other = open_with(cwd, Some(&named), readers);
        opened.lacks_reader |= other.lacks_reader;
        let words = named.words(&own);
        opened.other = Some(Box::new(Other { opened: other, words }));
    }
    opened
}

/// Describes the file named by the environment in place of the user's; a hook installed without
/// `--policy` uses only its stricter parts.
#[must_use]
pub fn named_by_environment() -> Option<String> {
    let own = ConfiguredFile::trusted(None)?;
    let named = ConfiguredFile::by_environment()?;
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

impl Opened {
    /// Adds the policy of the machine.
    fn add_system(&mut self, path: &Path, readers: Option<&Readers>) {
        let named = ConfiguredFile { path: path.to_owned(), by: "the machine" };
        let system = open_with(None, Some(&named), readers);
        self.lacks_reader |= system.lacks_reader;
        self.system = Some(Box::new(system));
    }

    /// Returns the policy of the machine.
    #[must_use]
    pub fn system(&self) -> Option<&Self> {
        self.system.as_deref()
    }
}

fn stricter(one: GuardAnswer, other: GuardAnswer) -> GuardAnswer {
    if other.decision > one.decision { other } else { one }
}

/// Returns the path of the user's file according to the environment, whether it exists or not.
#[must_use]
pub fn user_policy() -> Option<PathBuf> {
    Some(ConfiguredFile::by_environment()?.path)
}

/// Returns the path of the file with the commands that the user allows by hand.
#[must_use]
pub fn allowed_file() -> Option<PathBuf> {
    Some(allowed::beside(&std::path::absolute(ConfiguredFile::by_environment()?.path).ok()?))
}

/// Returns the path of the user's file that must be passed to a hook; `None` if the hook finds it
/// itself.
#[must_use]
pub fn to_be_fixed() -> Option<PathBuf> {
    let named = ConfiguredFile::by_environment()?;
    let path = std::path::absolute(&named.path).ok()?;
    (system_policy().as_ref() != Some(&path)).then_some(path)
}

/// Returns the path of the log that must be passed to a hook; `None` if the hook finds it itself.
#[must_use]
pub fn log_to_be_fixed() -> Option<PathBuf> {
    let named = env::var_os(audit::VARIABLE).filter(|value| !value.is_empty());
    if named.as_deref().is_some_and(|value| value == "off") {
        return Some("off".into());
    }
    let path = audit::place(|name| env::var_os(name)).ok()??;
    let path = std::path::absolute(path).ok()?;
    // The user's policy applies if no variable names the log itself.
    let is_usual = named.is_none() && system_log().as_ref() == Some(&path);
    let by_policy = || named.is_none() && user_names_log();
    (!is_usual && !by_policy()).then_some(path)
}

/// Whether the user's policy sets the path of the log.
fn user_names_log() -> bool {
    let opened = open(None, Trust::Environment, None);
    opened.guard.policy().log().path.is_some()
}

/// Returns the log in the user's home directory according to the system; without one, according to
/// the environment.
#[must_use]
pub fn log_of_system() -> Option<PathBuf> {
    system_log().or_else(|| audit::place(|name| env::var_os(name)).ok().flatten())
}

fn system_log() -> Option<PathBuf> {
    Some(system_home()?.join(".local/state").join(own::AUDIT_LOG))
}

/// Configured path of the user's file.
struct ConfiguredFile {
    path: PathBuf,
    /// Variable with the path.
    by: &'static str,
}

impl ConfiguredFile {
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

    /// Whether the file must exist. A file named by a variable is not skipped silently.
    fn must_exist(&self) -> bool {
        self.by == POLICY
    }

    /// Whether the file is not the user's own and has any effect.
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

fn open_with(
    cwd: Option<&str>,
    named: Option<&ConfiguredFile>,
    readers: Option<&Readers>,
) -> Opened {
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
    let transcripts = readers.map(|readers| readers.transcripts);
    opened.guard = Guard::new(policy, Toolsets::with(toolsets)).reading(transcripts);
    opened
}

/// Returns the user's policy and the log as configured by variables or the policy. A rotated log
/// has a number after its name.
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

/// Returns the programs of the guard: those beside the running one, and the name it was called by.
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

/// Reads the layer of the user's own file, ignoring its errors.
#[must_use]
pub fn user_layer(schemas: SchemaCompiler) -> Option<Layer> {
    let home = home();
    let named = ConfiguredFile::by_environment()?;
    let read = File::read(&named.path, named.must_exist(), Whose::User);
    let File { source, node, .. } = read.ok()??;
    let origin = PolicyOrigin {
        whose: Whose::User,
        file: source.name.to_string(),
        base: Base { directory: None, home },
    };
    Some(Layer::read(node?.get("guard")?, origin, schemas, &mut Vec::new()))
}

impl Opened {
    fn take(&mut self, read: Result<Option<File>, PolicyFileError>) -> Option<File> {
        match read {
            Ok(file) => file,
            Err(error) => {
                self.faults.push(error.to_string());
                None
            }
        }
    }

    /// Reads the layer of a file, and the user's toolsets defined in it.
    fn layer(
        &mut self,
        file: File,
        whose: Whose,
        base: Base,
        cwd: Option<&str>,
        readers: Option<&Readers>,
    ) -> Option<(Layer, Vec<Toolset>)> {
        let File { source, node, mut problems } = file;
        let origin = PolicyOrigin { whose, file: source.name.to_string(), base };
        let schemas = readers.map_or(no_schemas as SchemaCompiler, |readers| readers.schemas);
        let conditions = node.as_ref().filter(|root| file::has_conditions(root));
        let conditions = conditions.map(|root| ToolPolicy::read(root, &mut problems));
        // The conditions are about earlier calls, which only a reader of transcripts knows.
        self.lacks_reader |= readers.is_none() && conditions.is_some();
        let layer = node.as_ref().and_then(|root| root.get("guard")).map(|part| {
            self.lacks_reader |= readers.is_none() && has_key(part, "schema");
            let layer = Layer::read(part, origin.clone(), schemas, &mut problems);
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
        let layer = match conditions {
            Some(conditions) => {
                let layer = layer.unwrap_or_else(|| Layer::without_guard(origin));
                Some(layer.with_conditions(conditions))
            }
            None => layer,
        };
        self.files.push(PolicyRead { whose, source, problems });
        Some((layer?, toolsets))
    }
}

/// Fails to compile a schema, in a program without the validator. Such a program does not
/// decide by a policy that needs schemas.
fn no_schemas(_: &serde_json::Value) -> Result<Arc<dyn CompiledSchema>, SchemaError> {
    Err(SchemaError::NoValidator)
}

/// Whether a tree contains a key at any depth.
fn has_key(node: &Node, key: &str) -> bool {
    let mut entries = node.entries();
    entries.any(|entry| entry.key == key || has_key(&entry.value, key))
        || node.items().any(|item| has_key(item, key))
}

/// Returns the home directory.
#[must_use]
pub fn home() -> Option<String> {
    env::var("HOME").ok().filter(|home| home.starts_with('/') && home.len() > 1)
}

/// Returns the user's file in the home directory according to the system, independent of the
/// environment; `None` if the system does not know the user.
fn system_policy() -> Option<PathBuf> {
    Some(system_home()?.join(".config").join(own::USER_POLICY))
}

/// Returns the directory of the user's file according to the system.
pub(crate) fn policy_directory() -> Option<PathBuf> {
    system_policy()?.parent().map(Path::to_owned)
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

/// Returns the home directory of a user: `name:password:uid:gid:comment:home:shell`.
#[cfg(unix)]
fn home_of(users: &str, uid: u32) -> Option<&str> {
    let uid = uid.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        let is_it = fields.next() == Some(&uid);
        fields.nth(2).filter(|home| is_it && home.starts_with('/') && home.len() > 1)
    })
}

/// Whether a path is the user's own file.
#[must_use]
pub fn is_user_file(path: &Path) -> bool {
    ConfiguredFile::by_environment().is_some_and(|named| is_same(&named.path, path))
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Maximum number of parent directories searched.
const UPWARDS: usize = 64;

/// Finds the project's file and the directory it applies to.
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
    use super::*;
    use toolmark_hosts::Args;

    #[test]
    fn users_cannot_loosen_the_policy_of_the_machine() {
        let dir = tempfile::tempdir().unwrap();
        let (user, system) = (dir.path().join("user.yaml"), dir.path().join("system.yaml"));
        let decide = |users: &str, systems: &str, command: &str| {
            std::fs::write(&user, users).unwrap();
            std::fs::write(&system, systems).unwrap();
            let mut opened = open(None, Trust::Fixed(Some(&user)), None);
            opened.add_system(&system, None);
            let mut event = HookEvent::new(Moment::Before, "claude-code", "Bash");
            event.args = Args::Json(serde_json::json!({"command": command}));
            event.cwd = Some("/w".into());
            let verdict = opened.verdict(&event, None);
            allowed::add(
                &allowed::beside(&user),
                &Allowed { command: command.to_owned(), directory: "/".to_owned(), once: true },
            )
            .unwrap();
            (verdict.decision, opened.lifted(&event, verdict).decision)
        };
        let rule = |decision: &str| {
            format!(
                "guard:\n  rules:\n    - {{name: r, command: make *, decision: {decision}, \
                examples: {{match: [make x], not_match: [ls]}}}}\n"
            )
        };
        let observe = "guard: {preset: observe}\n";
        use Decision::{Allow, Ask, Deny};
        for (users, systems, command, want) in [
            (observe, &*rule("deny"), "make x", (Deny, Deny)),
            (&*rule("allow"), &rule("ask"), "make x", (Ask, Ask)),
            (observe, &rule("deny"), "git push --force", (Allow, Allow)),
            (observe, "guard: {preset: standard}\n", "git push --force", (Deny, Deny)),
            ("guard: {}\n", &rule("allow"), "git push --force", (Deny, Allow)),
            (observe, "guard: {preset: no}\n", "ls", (Ask, Ask)),
        ] {
            assert_eq!(decide(users, systems, command), want, "{users} {systems} {command}");
        }
    }

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
