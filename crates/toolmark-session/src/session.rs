//! A prepared trajectory for rules: its calls in order, each with its role, its status and
//! the surrounding messages.
//!
//! A session is built once per trajectory and borrowed by all rules. Only resolved paths are
//! copied, and results are decoded only when a rule needs them.

use crate::call_key::{CallKey, call_keys, directories};
use crate::claims::Statement;
use crate::effects::{Arguments, ToolInput, command_of, directory_of};
use crate::error_class::ErrorClass;
use crate::files::Files;
use crate::hidden_failure::HiddenFailure;
use crate::path::resolve;
use crate::project::Project;
use crate::recovery::SessionFailure;
use crate::result_kind::CallReading;
use crate::shell::CommandLine;
use crate::text::head;
use crate::tool_effect::ToolEffect;
use crate::words::SearchWords;
use foldhash::{HashMap, HashMapExt};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use toolmark_hosts::tool_policy::ToolPolicy;
use toolmark_hosts::toolset::{ChosenToolset, Tool, ToolRole, Toolset, Toolsets};
use toolmark_outcome::{CallRef, Evidence, EvidenceRole, TracePlace, Untrusted, excerpt};
use toolmark_shell::{Analysis, Effect, FileFacts, ShellContext, analyze_parsed};
use toolmark_trace::{
    Actor, At, Call, Event, EventKind, Form, Payload, Status, ToolDefinition, ToolName, Trajectory,
};

/// Maximum total size of decoded results to keep per session.
const MAX_DECODED: usize = 4 << 20;

/// Status of a call for the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The call succeeded.
    Ok,
    /// The call failed: an error, a refusal, an exit code.
    Failed,
    /// Unknown: no status, no result, or cut off.
    Unknown,
}

impl Ended {
    fn of(call: &Call) -> Self {
        match call.status {
            Status::Failed | Status::Denied => Self::Failed,
            Status::Interrupted | Status::Unanswered => Self::Unknown,
            // Hosts that report success for every command that ran.
            _ if call.exit_code.is_some_and(|code| code != 0) => Self::Failed,
            Status::Succeeded => Self::Ok,
            Status::Unknown => Self::Unknown,
        }
    }
}

/// Cached data shared by the calls of a session. Sessions run the same commands and touch the
/// same files many times.
#[derive(Debug, Default)]
struct SessionCache<'a> {
    lines: RefCell<HashMap<&'a str, Rc<CommandLine<'a>>>>,
    analyses: RefCell<HashMap<AnalysisKey<'a>, Rc<Analysis>>>,
}

impl<'a> SessionCache<'a> {
    fn line(&self, text: &'a str) -> Rc<CommandLine<'a>> {
        let mut lines = self.lines.borrow_mut();
        Rc::clone(lines.entry(text).or_insert_with(|| Rc::new(CommandLine::new(text))))
    }
}

/// Inputs of the analysis of a call: its tool and the working directory, of which there is
/// one copy per session, and the command or the path.
type AnalysisKey<'a> = (*const str, Option<*const str>, &'a str);

/// A call of the agent.
#[derive(Debug)]
pub struct SessionCall<'a> {
    /// Index in [`Trajectory::calls`].
    pub index: usize,
    /// The recorded call.
    pub call: &'a Call,
    /// Name of the tool in reports: `Read`, `server/tool`.
    pub tool: Rc<str>,
    /// Description of the tool.
    pub spec: Option<&'a Tool>,
    /// Whether the user provided the description.
    pub spec_by_user: bool,
    /// Role of the call.
    pub role: ToolRole,
    /// Effect that the user declares for the tool.
    declared: Option<ToolEffect>,
    /// Status of the call.
    pub ended: Ended,
    /// User turn of the call, from 1; 0 before the first.
    pub turn: u32,
    /// Index among the events.
    pub event: usize,
    /// Resolved file or directory that the call names.
    pub path: Option<String>,
    /// Working directory of the session at the time of the call.
    cwd: Option<Rc<str>>,
    project: Rc<Project>,
    /// Decoded text of the result, if decoding was necessary and there is room for it.
    decoded: OnceCell<String>,
    room: Rc<Cell<usize>>,
    known: Rc<SessionCache<'a>>,
    line: OnceCell<Option<Rc<CommandLine<'a>>>>,
    analysis: OnceCell<Option<Rc<Analysis>>>,
    effects: OnceCell<Vec<Effect>>,
    class: OnceCell<Option<ErrorClass>>,
    reading: OnceCell<CallReading>,
    hidden: OnceCell<Option<HiddenFailure>>,
}

impl<'a> SessionCall<'a> {
    /// Returns the arguments, if they are JSON.
    #[must_use]
    pub fn args(&self) -> Option<&'a Value> {
        self.call.args.as_ref()?.parsed()
    }

    /// Returns the text of the result. It is decoded only once for all rules, unless it is
    /// very long.
    #[must_use]
    pub fn result(&self) -> Option<Cow<'_, str>> {
        let payload = self.payload()?;
        if let Some(text) = self.decoded.get() {
            return Some(Cow::Borrowed(text));
        }
        let text = payload.plain();
        let text = match wrapped_output(&text) {
            Some(output) => Cow::Owned(output),
            None => text,
        };
        match text {
            Cow::Owned(text) if text.len() <= self.room.get() => {
                self.room.set(self.room.get() - text.len());
                Some(Cow::Borrowed(self.decoded.get_or_init(|| text)))
            }
            text => Some(text),
        }
    }

    fn payload(&self) -> Option<&'a Payload> {
        self.call.result.as_ref()?.payload.as_ref()
    }

    /// Whether its result has the same text as that of another call; `None` if one of them was
    /// not. Most answers differ in the file already, and nothing is decoded for them.
    pub fn has_result_of(&self, other: &SessionCall<'_>) -> Option<bool> {
        let (one, two) = (self.payload()?, other.payload()?);
        if one.form() == Form::Text && two.form() == Form::Text {
            let (a, b) = (one.source().raw(), two.source().raw());
            if a == b {
                return Some(true);
            }
            if differs_plainly(a.as_bytes(), b.as_bytes()) {
                return Some(false);
            }
        }
        Some(self.result() == other.result())
    }

    /// Returns the start of the result, at most `bytes` long; the rest is not decoded.
    #[must_use]
    pub fn result_start(&self, bytes: usize) -> Option<Cow<'a, str>> {
        let start = self.payload()?.plain_start(bytes);
        match start.starts_with(WRAPPER) {
            true => {
                let output = wrapped_output(&self.payload()?.plain());
                output.map(|output| Cow::Owned(head(&output, bytes).to_owned())).or(Some(start))
            }
            false => Some(start),
        }
    }

    /// Whether the result may contain one of these words. The raw bytes of the file are searched,
    /// so that a result without them is never decoded.
    pub fn may_say(&self, words: &SearchWords) -> bool {
        self.payload().is_some_and(|payload| words.may_be_in(payload.source().raw()))
    }

    /// Whether the call has a result.
    #[must_use]
    pub fn has_result(&self) -> bool {
        self.payload().is_some()
    }

    /// Whether the result is certainly longer than this many bytes, without decoding
    /// it: no escape is longer than six bytes for one.
    pub fn result_is_longer_than(&self, bytes: usize) -> bool {
        self.payload().is_some_and(|payload| {
            payload.form() == Form::Text && payload.source().raw().len() > bytes.saturating_mul(6)
        })
    }

    /// Returns the call as input for the analysis.
    #[must_use]
    pub fn as_input(&self) -> ToolInput<'_> {
        ToolInput {
            name: self.call.name.full(),
            tool: self.spec,
            args: self.arguments(),
            cwd: self.cwd.as_deref(),
        }
    }

    fn arguments(&self) -> Arguments<'a> {
        match self.call.args.as_ref() {
            None => Arguments::None,
            Some(payload) => match payload.parsed() {
                Some(value) => Arguments::Json(value),
                None if payload.form() == Form::Text => Arguments::Text(payload.raw()),
                None => Arguments::None,
            },
        }
    }

    /// Returns the shell command as text.
    #[must_use]
    pub fn command(&self) -> Option<Cow<'a, str>> {
        self.line().map(|line| line.text().clone())
    }

    /// Returns the shell command with cached properties; it is parsed only once.
    #[must_use]
    pub fn line(&self) -> Option<&CommandLine<'a>> {
        if self.role != ToolRole::RunsShell {
            return None;
        }
        let line = || {
            Some(match command_of(self.spec?, self.args()?)? {
                Cow::Borrowed(text) => self.known.line(text),
                Cow::Owned(text) => Rc::new(CommandLine::new(text)),
            })
        };
        self.line.get_or_init(line).as_deref()
    }

    /// Returns the working directory of the session at the time of the call.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// Returns the directory in which the command runs.
    #[must_use]
    pub fn directory(&self) -> Option<Cow<'_, str>> {
        directory_of(self.spec, self.args(), self.cwd.as_deref())
    }

    /// Returns the effects of the command or write, computed on first use. `None` for calls
    /// that neither run a command nor touch a file.
    #[must_use]
    pub fn analysis(&self) -> Option<&Analysis> {
        let analyze = || self.analyze_with(&[], &[]).map(Rc::new);
        let analysis = self.analysis.get_or_init(|| {
            let Some(key) = self.analysis_key() else { return analyze() };
            let known = self.known.analyses.borrow().get(&key).cloned();
            known.or_else(|| {
                let analysis = analyze()?;
                self.known.analyses.borrow_mut().insert(key, Rc::clone(&analysis));
                Some(analysis)
            })
        });
        analysis.as_deref()
    }

    /// Returns the key of the analysis, if it depends on a single text.
    fn analysis_key(&self) -> Option<AnalysisKey<'a>> {
        let (spec, args) = (self.spec?, self.args()?);
        if spec.selector.is_some() || spec.directory.get(args).is_some() {
            return None;
        }
        let text = match self.role {
            ToolRole::RunsShell => match command_of(spec, args)? {
                Cow::Borrowed(text) => text,
                Cow::Owned(_) => return None,
            },
            ToolRole::Reads | ToolRole::Writes | ToolRole::Edits => {
                let mut texts = spec.path.texts(args);
                let path = texts.next()?;
                texts.next().is_none().then_some(path)?
            }
            _ => return None,
        };
        Some((Rc::as_ptr(&self.tool), self.cwd.as_ref().map(Rc::as_ptr), text))
    }

    /// Analyzes the call, given files that earlier calls downloaded or filled with secrets.
    #[must_use]
    pub fn analyze_with(&self, downloads: &[String], copies: &[String]) -> Option<Analysis> {
        self.analyze_in(&ShellContext { downloads, copies, ..ShellContext::default() })
    }

    /// Analyzes the call, given the earlier actions of the session.
    #[must_use]
    pub fn analyze_knowing(&self, past: &dyn FileFacts) -> Option<Analysis> {
        self.analyze_in(&ShellContext { facts: Some(past), ..ShellContext::default() })
    }

    fn analyze_in(&self, context: &ShellContext<'_>) -> Option<Analysis> {
        let roots: Vec<&str> = self.project.roots().iter().map(String::as_str).collect();
        // A working directory that is the root itself needs no other roots.
        let is_own = matches!(roots[..], [root] if Some(root) == self.directory().as_deref());
        let roots = if is_own { &[] } else { &roots[..] };
        self.as_input().analyze_parsed(&ShellContext { roots, ..*context }, self.line())
    }

    /// Effects of its command that do not depend on the project.
    pub fn effects_anywhere(&self, cwd: Option<&str>) -> &[Effect] {
        self.effects.get_or_init(|| {
            let Some(line) = self.line() else { return Vec::new() };
            let context = ShellContext { cwd, ..ShellContext::default() };
            analyze_parsed(line, line.script(), &context).effects
        })
    }

    /// The class of its error, as `classify` finds it when first asked for.
    pub fn class(&self, classify: impl FnOnce() -> Option<ErrorClass>) -> Option<ErrorClass> {
        *self.class.get_or_init(classify)
    }

    /// Meaning of its result, as `read` finds it when first asked for.
    pub(crate) fn reading(&self, read: impl FnOnce() -> CallReading) -> &CallReading {
        self.reading.get_or_init(read)
    }

    /// The failure that it hides, as `find` finds it when first asked for.
    pub(crate) fn hidden(
        &self,
        find: impl FnOnce() -> Option<HiddenFailure>,
    ) -> Option<&HiddenFailure> {
        self.hidden.get_or_init(find).as_ref()
    }

    /// Returns the content that the call writes.
    #[must_use]
    pub fn content(&self) -> Option<&'a str> {
        self.spec?.content.text(self.args()?)
    }

    /// Returns the replacements of an edit, in order.
    #[must_use]
    pub fn edits(&self) -> Vec<Replacement<'a>> {
        let (Some(spec), Some(args)) = (self.spec, self.args()) else { return Vec::new() };
        if self.role != ToolRole::Edits {
            return Vec::new();
        }
        let one = |edit: &'a Value| {
            let count = spec.count.number(edit).and_then(|n| usize::try_from(n).ok());
            Some(Replacement {
                old: spec.old.text(edit)?,
                new: spec.new.text(edit).unwrap_or(""),
                all: spec.all.get(edit).and_then(Value::as_bool).unwrap_or(false),
                count,
            })
        };
        match spec.edits.get(args).and_then(Value::as_array) {
            Some(list) => list.iter().filter_map(one).collect(),
            None => one(args).into_iter().collect(),
        }
    }

    /// Returns the patch.
    #[must_use]
    pub fn patch(&self) -> Option<Cow<'a, str>> {
        if self.role != ToolRole::Patches {
            return None;
        }
        match self.arguments() {
            Arguments::Json(args) => self.spec?.patch.text(args).map(Cow::Borrowed),
            Arguments::Text(text) => Some(text),
            Arguments::None => None,
        }
    }

    /// Returns the lines that a read requests: the first, from 1, and their number.
    #[must_use]
    pub fn lines(&self) -> LineRange {
        let (Some(spec), Some(args)) = (self.spec, self.args()) else {
            return LineRange::default();
        };
        if let Some(Value::Array(range)) = spec.range.get(args) {
            let at = |n: usize| range.get(n).and_then(Value::as_i64);
            let from = at(0);
            let count = match (from, at(1)) {
                (Some(from), Some(to)) if to >= from => Some(to - from + 1),
                _ => None,
            };
            return LineRange { from, count };
        }
        LineRange { from: spec.offset.number(args), count: spec.limit.number(args) }
    }

    /// Returns the effect that the user declares for the tool, otherwise the one that its name
    /// suggests. `None` for tools that a toolset describes, and for names without a known verb.
    #[must_use]
    pub fn tool_effect(&self) -> Option<ToolEffect> {
        let is_named = self.role == ToolRole::Other;
        let by_name = || is_named.then(|| ToolEffect::of_name(&self.call.name.full())).flatten();
        self.declared.or_else(by_name)
    }

    /// Whether the call certainly changed no file.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        let is_undone = self.ended == Ended::Failed
            && (self.call.status == Status::Denied || self.role != ToolRole::RunsShell);
        is_undone || self.role.only_looks() || self.line().is_some_and(CommandLine::only_looks)
    }
}

/// A text and its replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// Text to be replaced.
    pub old: &'a str,
    /// Replacement text.
    pub new: &'a str,
    /// Whether every occurrence is replaced.
    pub all: bool,
    /// Number of occurrences, as given by the agent.
    pub count: Option<usize>,
}

/// Range of lines of a file; missing numbers stand for the defaults of the tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineRange {
    /// First line, from 1.
    pub from: Option<i64>,
    /// Number of lines.
    pub count: Option<i64>,
}

impl LineRange {
    /// Whether the range is the whole file.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.from.is_none_or(|from| from <= 1) && self.count.is_none_or(|count| count < 0)
    }
}

/// Start of a result that wraps the output of a command in an object, as Codex once did.
const WRAPPER: &str = "{\"output\":\"";

/// Returns the output in such an object.
fn wrapped_output(text: &str) -> Option<String> {
    if !text.starts_with(WRAPPER) {
        return None;
    }
    let Ok(Value::Object(mut wrapped)) = serde_json::from_str(text) else { return None };
    wrapped.get("metadata")?;
    match wrapped.remove("output") {
        Some(Value::String(output)) => Some(output),
        _ => None,
    }
}

/// Whether the first difference between two texts is outside of any escape, so that the
/// decoded texts differ too.
fn differs_plainly(a: &[u8], b: &[u8]) -> bool {
    /// Maximum length of an escaped character: a surrogate pair has two escapes of six bytes.
    const LONGEST: usize = 12;
    /// Number of bytes to compare at once.
    const BLOCK: usize = 64;
    let alike = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    let (rest, of_b) = (a.get(alike..).unwrap_or_default(), b.get(alike..).unwrap_or_default());
    let differs = rest.iter().zip(of_b).position(|(a, b)| a != b);
    let at = differs.map_or(a.len().min(b.len()), |at| alike + at);
    let around = a.get(at.saturating_sub(LONGEST)..at).unwrap_or_default();
    let is_escape = |text: &[u8]| text.get(at) == Some(&b'\\');
    !around.contains(&b'\\') && !is_escape(a) && !is_escape(b)
}

/// Description of the tools with one name.
#[derive(Clone)]
struct ToolDescription<'a> {
    label: Rc<str>,
    spec: Option<&'a Tool>,
    by_user: bool,
    effect: Option<ToolEffect>,
}

impl<'a> ToolDescription<'a> {
    fn new(call: &Call, toolset: &ChosenToolset<'a>, policy: &ToolPolicy) -> Self {
        let canonical = call.name.canonical();
        let described = toolset.describe_split(&call.name, &canonical);
        let label = match &canonical.server {
            Some(server) => format!("{server}/{}", canonical.tool),
            None => canonical.tool,
        };
        Self {
            label: label.into(),
            spec: described.map(|found| found.tool),
            by_user: described.is_some_and(|found| found.by_user),
            effect: match policy.tools.is_empty() {
                true => None,
                false => policy.effect(&call.name.full()),
            },
        }
    }
}

/// A trajectory that is ready to be checked.
pub struct Session<'a> {
    trajectory: &'a Trajectory,
    toolset: ChosenToolset<'a>,
    policy: &'a ToolPolicy,
    calls: Vec<SessionCall<'a>>,
    project: Rc<Project>,
    files: OnceCell<Files>,
    failures: OnceCell<Vec<SessionFailure>>,
    keys: OnceCell<Vec<CallKey>>,
    words: OnceCell<Messages>,
    directories: OnceCell<Vec<String>>,
    statements: OnceCell<Vec<Statement>>,
}

/// Indexes of the events with text. A turn may have thousands of other events.
struct Messages {
    /// Messages of the model, and the events that start a turn.
    said: Vec<usize>,
    /// Texts that the user, a skill or the host provided.
    given: Vec<usize>,
}

impl Messages {
    fn new(events: &[Event]) -> Self {
        let at = |is_one: fn(&Event) -> bool| {
            events.iter().enumerate().filter(|(_, event)| is_one(event)).map(|(at, _)| at).collect()
        };
        Self {
            said: at(|event| event.starts_turn() || event.kind == EventKind::Message),
            given: at(|event| {
                matches!(event.kind, EventKind::User | EventKind::Context | EventKind::Skill)
            }),
        }
    }
}

impl<'a> Session<'a> {
    /// Prepares the agent's calls with the descriptions of their tools.
    #[must_use]
    pub fn new(trajectory: &'a Trajectory, toolsets: &'a Toolsets) -> Self {
        let (toolset, policy) = (toolsets.choose(trajectory), toolsets.policy());
        let mut places = vec![(0, 0); trajectory.calls.len()];
        let mut turn = 0;
        for (at, event) in trajectory.events.iter().enumerate() {
            match event.kind {
                EventKind::Call(index) => {
                    if let Some(place) = places.get_mut(index as usize) {
                        *place = (at, turn);
                    }
                }
                EventKind::User if event.starts_turn() => turn += 1,
                _ => {}
            }
        }
        let mut cwd: Option<Rc<str>> = trajectory.cwd.as_ref().map(|cwd| cwd.get().as_ref().into());
        let moves = trajectory.moves.iter().map(|moved| &moved.to);
        let directories = trajectory.cwd.iter().chain(moves).map(|directory| directory.get());
        let project = Rc::new(Project::new(directories));
        let mut moves = trajectory.moves.iter().peekable();
        let mut names: HashMap<(&str, Option<&str>), ToolDescription<'a>> = HashMap::new();
        let mut calls = Vec::with_capacity(trajectory.calls.len());
        let room = Rc::new(Cell::new(MAX_DECODED));
        let known = Rc::new(SessionCache::default());
        for ((index, call), (event, turn)) in trajectory.calls.iter().enumerate().zip(places) {
            while let Some(moved) = moves.next_if(|moved| moved.call <= index) {
                cwd = Some(moved.to.get().as_ref().into());
            }
            if call.actor == Actor::User {
                continue;
            }
            let name = &call.name;
            let key = (name.original.raw(), name.namespace.as_ref().map(|n| n.raw()));
            let named = names
                .entry(key)
                .or_insert_with(|| ToolDescription::new(call, &toolset, policy))
                .clone();
            let args = || call.args.as_ref().and_then(|args| args.parsed());
            let path = named.spec.filter(|spec| !spec.path.is_empty()).and_then(|spec| {
                let path = spec.path.text(args()?)?;
                Some(resolve(cwd.as_deref(), path))
            });
            let role = named.spec.map_or(ToolRole::Other, |spec| match spec.selector {
                Some(_) => spec.role_of(args()),
                None => spec.role,
            });
            calls.push(SessionCall {
                index,
                call,
                tool: named.label,
                spec: named.spec,
                spec_by_user: named.by_user,
                role,
                declared: named.effect,
                ended: crate::ended::by_answer(Ended::of(call), call, role, named.spec),
                turn,
                event,
                path,
                cwd: cwd.clone(),
                project: Rc::clone(&project),
                decoded: OnceCell::new(),
                room: Rc::clone(&room),
                known: Rc::clone(&known),
                line: OnceCell::new(),
                analysis: OnceCell::new(),
                effects: OnceCell::new(),
                class: OnceCell::new(),
                reading: OnceCell::new(),
                hidden: OnceCell::new(),
            });
        }
        Self {
            trajectory,
            toolset,
            policy,
            calls,
            project,
            files: OnceCell::new(),
            failures: OnceCell::new(),
            keys: OnceCell::new(),
            words: OnceCell::new(),
            directories: OnceCell::new(),
            statements: OnceCell::new(),
        }
    }

    /// Returns the underlying trajectory.
    #[must_use]
    pub fn trajectory(&self) -> &'a Trajectory {
        self.trajectory
    }

    /// Returns the agent's calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[SessionCall<'a>] {
        &self.calls
    }

    /// Returns the call at this index of [`Trajectory::calls`], if the agent made it.
    #[must_use]
    pub fn call_at(&self, index: usize) -> Option<&SessionCall<'a>> {
        let at = self.calls.binary_search_by_key(&index, |call| call.index).ok()?;
        self.calls.get(at)
    }

    /// Returns the directories in which the session works.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the calls before a call, nearest first.
    pub fn before<'s>(
        &'s self,
        call: &SessionCall<'_>,
    ) -> impl Iterator<Item = &'s SessionCall<'a>> + use<'s, 'a> {
        let end = self.calls.partition_point(|other| other.index < call.index);
        self.calls[..end].iter().rev()
    }

    /// Returns the calls after a call, nearest first.
    pub fn after<'s>(
        &'s self,
        call: &SessionCall<'_>,
    ) -> impl Iterator<Item = &'s SessionCall<'a>> + use<'s, 'a> {
        let start = self.calls.partition_point(|other| other.index <= call.index);
        self.calls[start..].iter()
    }

    /// Returns the effects and conditions that the user declares for named tools.
    #[must_use]
    pub fn policy(&self) -> &'a ToolPolicy {
        self.policy
    }

    /// Returns the host's tools.
    #[must_use]
    pub fn host(&self) -> &'static Toolset {
        self.toolset.host()
    }

    /// Whether the host is only guessed from the names of its tools.
    #[must_use]
    pub fn is_host_guessed(&self) -> bool {
        self.toolset.is_guessed()
    }

    /// Returns the definition of a tool recorded in the trace.
    #[must_use]
    pub fn definition(&self, call: &SessionCall<'_>) -> Option<&'a ToolDefinition> {
        let tools = self.trajectory.tools.as_ref()?;
        tools.iter().find(|tool| tool.name == call.call.name.original)
    }

    /// Returns the description of the tool with this name.
    #[must_use]
    pub fn describe(&self, name: &ToolName) -> Option<&'a Tool> {
        self.toolset.describe(name).map(|found| found.tool)
    }

    /// Returns all events, in order.
    #[must_use]
    pub fn events(&self) -> &'a [Event] {
        &self.trajectory.events
    }

    fn words(&self) -> &Messages {
        self.words.get_or_init(|| Messages::new(self.events()))
    }

    /// Returns the events at these indexes before an event, latest first.
    fn latest<'w>(&self, places: &'w [usize], before: usize) -> impl Iterator<Item = &'a Event> + 'w
    where
        'a: 'w,
    {
        let events = self.events();
        let end = places.partition_point(|at| *at < before);
        let places = places.get(..end).unwrap_or_default();
        places.iter().rev().filter_map(|at| events.get(*at))
    }

    /// Returns the texts that the user, a skill or the host provided before an event, latest
    /// first.
    pub fn given_before(&self, event: usize) -> impl Iterator<Item = &'a Event> {
        self.latest(&self.words().given, event)
    }

    /// Returns the messages of the model before a call in the same response.
    pub fn said_before(&self, call: &SessionCall<'_>) -> impl Iterator<Item = &'a Event> {
        let step = call.call.step;
        // Responses follow each other.
        let is_earlier = move |event: &&Event| event.step.is_some() && event.step < step;
        let in_step = move |event: &&Event| step.is_some() && event.step == step;
        self.said_in_turn(call).take_while(move |event| !is_earlier(event)).filter(in_step)
    }

    /// Returns the messages of the model between the user's last message and a call, latest
    /// first.
    pub fn said_in_turn(&self, call: &SessionCall<'_>) -> impl Iterator<Item = &'a Event> {
        self.latest(&self.words().said, call.event).take_while(|event| !event.starts_turn())
    }

    /// Returns the messages of the model after a call, until the user's next message.
    pub fn said_after(&self, call: &SessionCall<'_>) -> impl Iterator<Item = &'a Event> {
        let (events, said) = (self.events(), &self.words().said);
        let after = said.get(said.partition_point(|at| *at < call.event)..).unwrap_or_default();
        let after = after.iter().filter_map(|at| events.get(*at));
        after.take_while(|event| !event.starts_turn())
    }

    /// Returns the facts that the trace proves about files.
    #[must_use]
    pub fn files(&self) -> &Files {
        self.files.get_or_init(|| Files::new(self))
    }

    /// Returns the failed calls and their outcomes.
    #[must_use]
    pub fn failures(&self) -> &[SessionFailure] {
        self.failures.get_or_init(|| crate::recovery::failures(self))
    }

    /// Request of each call, to find calls with the same request.
    pub fn keys(&self) -> &[CallKey] {
        self.keys.get_or_init(|| call_keys(self))
    }

    /// Returns what the agent states about its work, in order of the messages.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        self.statements.get_or_init(|| crate::claims::statements(self))
    }

    /// The directory that the shell is in before each call.
    pub fn directories(&self) -> &[String] {
        self.directories.get_or_init(|| directories(self))
    }

    /// Returns the position of an item in the trace.
    #[must_use]
    pub fn place(&self, at: &At) -> TracePlace {
        at.location().into()
    }

    /// Returns a path relative to the working directory, for display.
    #[must_use]
    pub fn shown<'p>(&self, path: &'p str) -> &'p str {
        let cwd = self.trajectory.cwd.as_ref().map(|cwd| cwd.get());
        let below = cwd.and_then(|cwd| path.strip_prefix(cwd.trim_end_matches('/')));
        below
            .and_then(|rest| rest.strip_prefix('/'))
            .filter(|rest| !rest.is_empty())
            .unwrap_or(path)
    }

    /// Creates evidence about a call.
    #[must_use]
    pub fn evidence(
        &self,
        role: EvidenceRole,
        text: impl Into<Untrusted>,
        call: &SessionCall<'_>,
    ) -> Evidence {
        Evidence::call(role, text, self.call_ref(call))
    }

    /// Creates a reference to a call.
    #[must_use]
    pub fn call_ref(&self, call: &SessionCall<'_>) -> CallRef {
        CallRef::new(call.index, call.call, Some(self.place(&call.call.at)))
    }

    /// Creates evidence about a call, with an excerpt of its result.
    #[must_use]
    pub fn result_evidence(
        &self,
        role: EvidenceRole,
        text: impl Into<Untrusted>,
        call: &SessionCall<'_>,
    ) -> Evidence {
        let evidence = self.evidence(role, text, call);
        match call.result() {
            Some(result) => evidence.with_excerpt(&result),
            None => evidence,
        }
    }

    /// Creates evidence about a message.
    #[must_use]
    pub fn event_evidence(
        &self,
        role: EvidenceRole,
        text: impl Into<Untrusted>,
        event: &Event,
    ) -> Evidence {
        let evidence = Evidence::words(role, text).at(self.place(&event.at));
        match &event.text {
            Some(words) => evidence.with_excerpt(&excerpt(&words.plain())),
            None => evidence,
        }
    }
}
