//! `run:` and `targets:`: how cases are run, and on which agents.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use toolmark_base::SortedMap;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_grade::Loading;
use toolmark_grade::run_plan::{
    AgentTarget, ArtifactRules, CommandLine, FileSource, GitSource, Home, Isolation, KeepFiles,
    Recordings, RunBudget, RunSettings, Runner, TokenPrice, TraceSource, TrialHook, TrialLimits,
    TrialPermissions, Variable, WorkspaceFile, WorkspacePlan,
};
use toolmark_match::units::{self, Amount};
use toolmark_outcome::{Cause, PassRule};

/// Maximum number of retries of a trial.
const MAX_RETRIES: u32 = 10;

/// Settings for running the cases.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Run")]
pub(super) struct WrittenRun {
    /// Target, or a list of targets; all of `targets` by default.
    #[serde(default)]
    target: Option<Texts>,
    /// Number of trials of each case; 1 by default.
    #[serde(default)]
    #[schemars(range(min = 1))]
    trials: Option<Spanned<u32>>,
    /// Number of trials that must pass: all (the default), any, a number or a share.
    #[serde(default)]
    pass: Option<Spanned<WrittenRule>>,
    /// Whether the remaining trials are skipped once the result is decided; true by default.
    /// pass@k is only available if all trials ran.
    #[serde(default)]
    early_stop: Option<bool>,
    /// Timeout of a trial; 10m by default.
    #[serde(default)]
    timeout: Option<units::Duration>,
    /// Limits of one trial, which is stopped and fails if it exceeds them.
    #[serde(default)]
    limits: WrittenLimits,
    /// Budget of the whole run.
    #[serde(default)]
    budget: WrittenBudget,
    /// Number of retries of a trial that could not run; 1 by default.
    #[serde(default)]
    #[schemars(range(max = 10))]
    retries: Option<Spanned<u32>>,
    /// Causes for which a trial is retried, such as `rate_limit` or `no_trace`.
    #[serde(default)]
    retry_on: Option<Spanned<Vec<Spanned<String>>>>,
    /// Number of trials that run at once; 2 by default.
    #[serde(default)]
    #[schemars(range(min = 1))]
    jobs: Option<Spanned<u32>>,
    /// Isolation of a trial: none, copy (the default) or bwrap.
    #[serde(default)]
    isolate: Option<Spanned<String>>,
    /// The files a trial starts with.
    #[serde(default)]
    workspace: Option<WrittenWorkspace>,
}

/// Limits of one trial.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RunLimits")]
struct WrittenLimits {
    /// Model responses.
    #[serde(default)]
    turns: Option<Amount>,
    /// Tool calls.
    #[serde(default)]
    calls: Option<Amount>,
    /// Tokens, input and output.
    #[serde(default)]
    tokens: Option<Amount>,
    /// US dollars.
    #[serde(default)]
    #[schemars(range(min = 0))]
    usd: Option<Spanned<f64>>,
}

/// Budget of the whole run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RunBudget")]
struct WrittenBudget {
    /// US dollars.
    #[serde(default)]
    #[schemars(range(min = 0))]
    usd: Option<Spanned<f64>>,
    /// Tokens, input and output.
    #[serde(default)]
    tokens: Option<Amount>,
}

/// The files a trial starts with.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RunWorkspace")]
struct WrittenWorkspace {
    /// A directory to copy.
    #[serde(default)]
    from: Option<String>,
    /// A repository to clone.
    #[serde(default)]
    git: Option<WrittenGit>,
    /// More files.
    #[serde(default)]
    files: Vec<WrittenFile>,
    /// Programs that prepare the workspace. They run in it, with JSON on stdin.
    #[serde(default)]
    setup: Vec<WrittenHook>,
    /// Programs that clean up after the trial was graded.
    #[serde(default)]
    teardown: Vec<WrittenHook>,
    /// Environment variables of the agent and of these programs.
    #[serde(default)]
    env: Variables,
    /// Whether the workspace is kept: never, failure (the default) or always.
    #[serde(default)]
    keep: Option<Spanned<String>>,
    /// Files that are kept with the result: patterns such as `dist/**`.
    #[serde(default)]
    artifacts: Option<Texts>,
}

/// A repository at a ref.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GitSource")]
struct WrittenGit {
    /// URL or path of the repository.
    url: String,
    /// A branch, a tag or a commit.
    #[serde(default, rename = "ref")]
    reference: Option<String>,
}

/// A file in a workspace: a copy of `src`, or `content`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WorkspaceFile")]
struct WrittenFile {
    /// A file or directory to copy.
    #[serde(default)]
    src: Option<String>,
    /// The text of the file.
    #[serde(default)]
    content: Option<String>,
    /// Destination in the workspace.
    dest: Spanned<String>,
}

/// An agent that can be run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Target")]
pub(super) struct WrittenTarget {
    /// An agent that toolmark knows: `toolmark run --help` lists them.
    #[serde(default)]
    agent: Option<Spanned<String>>,
    /// A command line of any other program: a list of words, or a line for the shell.
    #[serde(default)]
    command: Option<WrittenCommand>,
    /// For `agent: replay`: a directory or file of traces, named after the cases.
    #[serde(default)]
    traces: Option<String>,
    /// Program of the agent, if it is not found under its usual name.
    #[serde(default)]
    executable: Option<String>,
    /// Model, or a list of models: each is a target of its own.
    #[serde(default)]
    model: Option<Texts>,
    /// Permissions of the agent: read, workspace (the default) or full.
    #[serde(default)]
    permissions: Option<Spanned<String>>,
    /// Home directory: fresh (the default) or inherit.
    #[serde(default)]
    home: Option<Spanned<String>>,
    /// Additional arguments of the agent.
    #[serde(default)]
    args: Vec<String>,
    /// Environment variables: values, or names of variables to pass on. `${{ NAME }}` is replaced
    /// by a variable of your environment.
    #[serde(default)]
    env: Variables,
    /// Location of a command's trace: stdout (the default), output-file, or a path or
    /// pattern in the workspace.
    #[serde(default)]
    trace: Option<String>,
    /// Whether an exit code other than 0 means that the command could not run.
    #[serde(default)]
    needs_success: Option<bool>,
    /// Timeout of a trial, unless `run` sets one.
    #[serde(default)]
    timeout: Option<units::Duration>,
    /// Command whose exit code tells whether the target can be run.
    #[serde(default)]
    health: Option<WrittenHook>,
    /// Price of a million tokens in US dollars, for traces without costs.
    #[serde(default)]
    price: Option<TargetPrice>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TargetPrice")]
struct TargetPrice {
    /// Input tokens.
    #[schemars(range(min = 0))]
    input: f64,
    /// Output tokens.
    #[schemars(range(min = 0))]
    output: f64,
    /// Input read from a cache.
    #[serde(default)]
    cache_read: Option<f64>,
    /// Input written to a cache.
    #[serde(default)]
    cache_write: Option<f64>,
}

/// A text, or a list of texts.
#[derive(Debug, Default)]
struct Texts(Vec<String>);

/// `all`, `any`, a number, or a share such as `80%`.
#[derive(Debug, Clone, Copy)]
struct WrittenRule(PassRule);

/// A line for the shell, or a list of words.
#[derive(Debug, Clone)]
struct WrittenCommand(CommandLine);

/// A command, possibly with a time limit.
#[derive(Debug, Clone)]
struct WrittenHook {
    line: CommandLine,
    timeout: Option<Duration>,
}

/// Names with values, or names of variables to pass on.
#[derive(Debug, Default)]
struct Variables(Vec<Variable>);

/// A text, a list of texts or a map.
enum Loose {
    Text(String),
    Number(u64),
    Texts(Vec<String>),
    Map(SortedMap<String, Option<String>>),
}

struct LooseVisitor(&'static str);

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Loose, E> {
        let wrong = || E::invalid_value(serde::de::Unexpected::Signed(number), &self);
        u64::try_from(number).map(Loose::Number).map_err(|_| wrong())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Loose, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element()? {
            texts.push(text);
        }
        Ok(Loose::Texts(texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Loose, A::Error> {
        let mut map = SortedMap::new();
        while let Some((key, value)) = entries.next_entry()? {
            map.insert(key, value);
        }
        Ok(Loose::Map(map))
    }
}

fn loose<'de, D: Deserializer<'de>>(from: D, expected: &'static str) -> Result<Loose, D::Error> {
    from.deserialize_any(LooseVisitor(expected))
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a text or a list of texts";
        match loose(from, EXPECTED)? {
            Loose::Text(text) => Ok(Self(vec![text])),
            Loose::Texts(texts) => Ok(Self(texts)),
            _ => Err(serde::de::Error::custom(format!("expected {EXPECTED}"))),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "all, any, a number of trials or a share such as 80%";
        let text = match loose(from, EXPECTED)? {
            Loose::Text(text) => text,
            Loose::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let rule = PassRule::parse(&text).map(Self);
        rule.ok_or_else(|| serde::de::Error::custom(format!("expected {EXPECTED}")))
    }
}

impl<'de> Deserialize<'de> for WrittenCommand {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a list of words, or a line for the shell";
        match loose(from, EXPECTED)? {
            Loose::Text(line) if !line.trim().is_empty() => Ok(Self(CommandLine::Shell(line))),
            Loose::Texts(words) if !words.is_empty() => Ok(Self(CommandLine::Words(words))),
            _ => Err(serde::de::Error::custom(format!("expected {EXPECTED}"))),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenHook {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a command: a line for the shell, a list of words, or \
                                {command, timeout}";
        struct HookVisitor;
        impl<'de> Visitor<'de> for HookVisitor {
            type Value = WrittenHook;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: serde::de::Error>(self, line: &str) -> Result<WrittenHook, E> {
                Ok(WrittenHook { line: CommandLine::Shell(line.to_owned()), timeout: None })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<WrittenHook, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = items.next_element()? {
                    words.push(word);
                }
                if words.is_empty() {
                    return Err(serde::de::Error::custom(format!("expected {EXPECTED}")));
                }
                Ok(WrittenHook { line: CommandLine::Words(words), timeout: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<WrittenHook, A::Error> {
                let entries = serde::de::value::MapAccessDeserializer::new(entries);
                let long = LongHook::deserialize(entries)?;
                Ok(WrittenHook { line: long.command.0, timeout: long.timeout.map(duration) })
            }
        }
        from.deserialize_any(HookVisitor)
    }
}

/// A command with a timeout.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Hook")]
struct LongHook {
    /// The command line.
    command: WrittenCommand,
    /// Timeout; 60s by default.
    #[serde(default)]
    timeout: Option<units::Duration>,
}

impl<'de> Deserialize<'de> for Variables {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "names with values, or a list of names to pass on";
        let variables = match loose(from, EXPECTED)? {
            Loose::Texts(names) => names.into_iter().map(Variable::inherited).collect(),
            Loose::Map(map) => map
                .into_iter()
                .map(|(name, value)| match value {
                    Some(value) => Variable::new(name, &value),
                    None => Variable::inherited(name),
                })
                .collect(),
            _ => return Err(serde::de::Error::custom(format!("expected {EXPECTED}"))),
        };
        Ok(Self(variables))
    }
}

macro_rules! schema_as {
    ($($type:ty, $name:literal, $schema:tt;)*) => { $(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )* };
}

schema_as! {
    Texts, "Texts", {"type": ["string", "array"], "items": {"type": "string"}};
    WrittenRule, "PassRule", {
        "type": ["string", "integer"],
        "minimum": 1,
        "pattern": r"^\s*(all|any|[0-9]+|[0-9.]+\s*%)\s*$",
        "description": "all, any, a number of trials, or a share such as 80%."
    };
    WrittenCommand, "Command", {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1};
    Variables, "Variables", {
        "type": ["object", "array"],
        "items": {"type": "string"},
        "additionalProperties": {"type": ["string", "null"]}
    };
}

impl JsonSchema for WrittenHook {
    fn schema_name() -> Cow<'static, str> {
        "HookOrCommand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let long = generator.subschema_for::<LongHook>().to_value();
        let short = generator.subschema_for::<WrittenCommand>().to_value();
        json_schema!({"anyOf": [short, long]})
    }
}

fn duration(written: units::Duration) -> Duration {
    Duration::try_from_secs_f64(written.millis / 1000.0).unwrap_or(Duration::MAX)
}

/// Reads a word from a fixed list of words; other words are reported.
fn word<T: Copy>(
    written: Option<&Spanned<String>>,
    what: &str,
    all: &[(T, &'static str)],
    find: fn(&str) -> Option<T>,
    loading: &mut Loading<'_>,
) -> Option<T> {
    let written = written?;
    let found = find(&written.value);
    if found.is_none() {
        let words = all.iter().map(|(_, word)| *word);
        let message = format!("unknown value {} for {what}", quoted(&written.value));
        let problem = Problem::error("unknown-value", message).at(written.span);
        let list: Vec<&str> = words.clone().collect();
        loading.problems.push(match did_you_mean(&written.value, words) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(format!("one of {}", list.join(", "))),
        });
    }
    found
}

macro_rules! words_of {
    ($type:ty) => {
        <$type>::ALL.iter().map(|one| (*one, one.word())).collect::<Vec<_>>()
    };
}

/// Reads a number that must be at least 1.
fn at_least_one(
    written: Option<&Spanned<u32>>,
    key: &str,
    loading: &mut Loading<'_>,
) -> Option<u32> {
    let written = written?;
    if written.value == 0 {
        loading.error("invalid-number", written.span, format!("{key} must be at least 1"));
    }
    Some(written.value)
}

/// Reads the number of retries, which is limited because each retry takes longer.
fn retries(written: Option<&Spanned<u32>>, loading: &mut Loading<'_>) -> Option<u32> {
    let written = written?;
    if written.value > MAX_RETRIES {
        let message = format!("retries must be at most {MAX_RETRIES}");
        loading.error("invalid-number", written.span, message);
    }
    Some(written.value)
}

/// Causes of trials that could not run, for which another attempt may be made.
const RETRIABLE: &[Cause] = &[
    Cause::Timeout,
    Cause::RateLimit,
    Cause::Server,
    Cause::Network,
    Cause::Signal,
    Cause::Start,
    Cause::NoTrace,
    Cause::Credentials,
    Cause::Model,
];

/// Reads the causes for which a trial is retried.
fn retry_on(
    written: Option<&Spanned<Vec<Spanned<String>>>>,
    loading: &mut Loading<'_>,
) -> Option<Vec<Cause>> {
    let mut causes = Vec::new();
    for word in &written?.value {
        match RETRIABLE.iter().find(|cause| cause.word() == word.value) {
            Some(cause) => causes.push(*cause),
            None => {
                let words: Vec<&str> = RETRIABLE.iter().map(|cause| cause.word()).collect();
                let message = format!("unknown cause {}: {}", word.value, words.join(", "));
                loading.error("unknown-value", word.span, message);
            }
        }
    }
    Some(causes)
}

/// Reads an amount of money.
fn money(written: Option<&Spanned<f64>>, loading: &mut Loading<'_>) -> Option<f64> {
    let written = written?;
    if !written.value.is_finite() || written.value < 0.0 {
        loading.error("invalid-number", written.span, "expected a number of 0 or more");
    }
    Some(written.value)
}

/// Reads the `run:` section of the file or of a case.
pub(super) fn settings(node: &Node, loading: &mut Loading<'_>) -> RunSettings {
    let Some(run) = read::<WrittenRun>(node, &mut loading.problems) else {
        return RunSettings::default();
    };
    let trials = at_least_one(run.trials.as_ref(), "trials", loading);
    if let (Some(Spanned { value: WrittenRule(PassRule::AtLeast(needed)), span }), Some(trials)) =
        (&run.pass, trials)
        && *needed > u64::from(trials)
    {
        let message = format!("{needed} of {trials} trials can never pass");
        loading.error("impossible-rule", *span, message);
    }
    let isolations = words_of!(Isolation);
    RunSettings {
        targets: run.target.map(|texts| texts.0).unwrap_or_default(),
        trials,
        pass: run.pass.map(|rule| rule.value.0),
        early_stop: run.early_stop,
        timeout: run.timeout.map(duration),
        limits: TrialLimits {
            turns: run.limits.turns.map(|amount| amount.0),
            calls: run.limits.calls.map(|amount| amount.0),
            tokens: run.limits.tokens.map(|amount| amount.0),
            usd: money(run.limits.usd.as_ref(), loading),
        },
        budget: RunBudget {
            usd: money(run.budget.usd.as_ref(), loading),
            tokens: run.budget.tokens.map(|amount| amount.0),
        },
        retries: retries(run.retries.as_ref(), loading),
        retry_on: retry_on(run.retry_on.as_ref(), loading),
        jobs: at_least_one(run.jobs.as_ref(), "jobs", loading),
        isolate: word(run.isolate.as_ref(), "isolate", &isolations, Isolation::from_word, loading),
        workspace: run.workspace.map(|workspace| workspace.plan(loading)),
        ..RunSettings::default()
    }
}

impl WrittenWorkspace {
    fn plan(self, loading: &mut Loading<'_>) -> WorkspacePlan {
        let mut files = Vec::new();
        for file in self.files {
            if !stays_inside(Path::new(&file.dest.value)) {
                let message = "dest must be a path inside the workspace";
                loading.error("path-outside", file.dest.span, message);
            }
            let source = match (file.src, file.content) {
                (Some(src), None) => FileSource::Path(loading.path(src)),
                (None, Some(content)) => FileSource::Text(content),
                _ => {
                    let message = "a file needs either src or content";
                    loading.error("missing-key", file.dest.span, message);
                    continue;
                }
            };
            files.push(WorkspaceFile { source, dest: PathBuf::from(file.dest.value) });
        }
        let keeps = words_of!(KeepFiles);
        WorkspacePlan {
            from: self.from.map(|from| loading.path(from)),
            git: self.git.map(|git| GitSource {
                url: local(&git.url, loading),
                reference: git.reference,
                dest: None,
            }),
            files,
            setup: self.setup.into_iter().map(WrittenHook::hook).collect(),
            teardown: self.teardown.into_iter().map(WrittenHook::hook).collect(),
            env: self.env.0,
            keep: word(self.keep.as_ref(), "keep", &keeps, KeepFiles::from_word, loading),
            artifacts: self
                .artifacts
                .map(|patterns| ArtifactRules { include: patterns.0, exclude: Vec::new() }),
            ..WorkspacePlan::default()
        }
    }
}

/// Resolves a path relative to the directory of the spec; a URL is kept.
fn local(url: &str, loading: &Loading<'_>) -> String {
    let is_path = url.starts_with('.') || url.starts_with('/');
    if is_path { loading.path(url).to_string_lossy().into_owned() } else { url.to_owned() }
}

fn stays_inside(path: &Path) -> bool {
    !path.as_os_str().is_empty()
        && path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

impl WrittenHook {
    fn hook(self) -> TrialHook {
        let timeout = self.timeout.unwrap_or(TrialHook::TIMEOUT);
        TrialHook { timeout, ..TrialHook::new(self.line) }
    }
}

/// Reads `targets:`.
pub(super) fn targets(node: &Node, loading: &mut Loading<'_>) -> Vec<AgentTarget> {
    if node.as_map().is_none() {
        let message = format!("targets is a map of names, found {}", node.word());
        loading.error("wrong-type", node.span, message);
        return Vec::new();
    }
    let mut targets = Vec::new();
    for entry in node.entries() {
        let written = read::<WrittenTarget>(&entry.value, &mut loading.problems);
        targets.extend(written.and_then(|one| one.target(&entry.key, &entry.value, loading)));
    }
    targets
}

impl WrittenTarget {
    fn target(self, name: &str, node: &Node, loading: &mut Loading<'_>) -> Option<AgentTarget> {
        let runner = self.runner(node, loading)?;
        let (permissions, homes) = (words_of!(TrialPermissions), words_of!(Home));
        let permissions = word(
            self.permissions.as_ref(),
            "permissions",
            &permissions,
            TrialPermissions::from_word,
            loading,
        );
        let home = word(self.home.as_ref(), "home", &homes, Home::from_word, loading);
        Some(AgentTarget {
            models: self.model.map(|texts| texts.0).unwrap_or_default(),
            permissions: permissions.unwrap_or(TrialPermissions::Workspace),
            home: home.unwrap_or(Home::Fresh),
            env: self.env.0,
            timeout: self.timeout.map(duration),
            health: self.health.map(|health| health.line),
            price: self.price.map(|price| TokenPrice {
                input: price.input,
                output: price.output,
                cache_read: price.cache_read,
                cache_write: price.cache_write,
            }),
            place: loading.place(node.span),
            ..AgentTarget::new(name, runner)
        })
    }

    /// Reads what is run: `agent` or `command`, with its options.
    fn runner(&self, node: &Node, loading: &mut Loading<'_>) -> Option<Runner> {
        let misplaced = |keys: &[(&str, bool)], of: &str, loading: &mut Loading<'_>| {
            for (key, is_given) in keys {
                if *is_given {
                    let span = node.get(key).map_or(node.span, |node| node.span);
                    loading.error("misplaced-key", span, format!("{key} belongs to {of}"));
                }
            }
        };
        let of_command =
            [("trace", self.trace.is_some()), ("needs_success", self.needs_success.is_some())];
        let of_agent = [("executable", self.executable.is_some()), ("args", !self.args.is_empty())];
        match (&self.agent, &self.command) {
            (Some(agent), Some(_)) => {
                let message = "a target has either an agent or a command";
                loading.error("contradiction", agent.span, message);
                None
            }
            (None, None) => {
                let message = "a target needs an agent or a command";
                loading.error("missing-key", node.span, message);
                None
            }
            (None, Some(command)) => {
                misplaced(&of_agent, "an agent", loading);
                misplaced(&[("traces", self.traces.is_some())], "agent: replay", loading);
                let trace = match self.trace.as_deref() {
                    None | Some("stdout") => TraceSource::Stdout,
                    Some("output-file") => TraceSource::OutputFile,
                    Some(pattern) => TraceSource::Files(pattern.to_owned()),
                };
                let needs_success = self.needs_success.unwrap_or(false);
                let line = from_spec(command.0.clone(), loading);
                Some(Runner::Command { line, trace, needs_success })
            }
            (Some(agent), None) if agent.value == "replay" => {
                misplaced(&of_agent, "an agent", loading);
                misplaced(&of_command, "a command", loading);
                match &self.traces {
                    Some(traces) => Some(Runner::Replay(Recordings::at(loading.path(traces)))),
                    None => {
                        let message = "replay needs traces: a file or a directory";
                        loading.error("missing-key", agent.span, message);
                        None
                    }
                }
            }
            (Some(agent), None) => {
                misplaced(&of_command, "a command", loading);
                misplaced(&[("traces", self.traces.is_some())], "agent: replay", loading);
                Some(Runner::Agent {
                    id: agent.value.clone(),
                    executable: self.executable.clone(),
                    args: self.args.clone(),
                })
            }
        }
    }
}

/// Resolves a program beside the spec; any other path is relative to the workspace.
fn from_spec(mut line: CommandLine, loading: &Loading<'_>) -> CommandLine {
    if let CommandLine::Words(words) = &mut line
        && let Some(first) = words.first_mut()
        && first.contains('/')
        && let path = loading.path(&*first)
        && path.is_file()
        && let Ok(path) = std::path::absolute(path)
    {
        *first = path.to_string_lossy().into_owned();
    }
    line
}

/// Returns the schemas of `run:` and `targets:`.
pub(super) fn schemas(generator: &mut SchemaGenerator) -> (Schema, Schema) {
    let target = generator.subschema_for::<WrittenTarget>().to_value();
    let targets = json_schema!({"type": "object", "additionalProperties": target});
    (generator.subschema_for::<WrittenRun>(), targets)
}
