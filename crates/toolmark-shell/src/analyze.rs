//! The analyzer: walks a script in execution order, tracks the working directory, variables and
//! pipes, and collects effects.

use crate::context::{Analysis, HARMLESS, PlannedCommand, ShellContext};
use crate::decision::{Decision, decide, decide_effect};
use crate::dos;
use crate::effects::{Certainty, Coverage, Effect, EffectKind, EffectScope, Reversibility};
use crate::expand::{Arg, ShellVariable, Variables, expand};
use crate::fallback;
use crate::forks;
use crate::ir::{
    CompoundKind, IrNode, Operator, Partial, Pipeline, Redirection, RedirectionKind, Script,
    Simple, Word, scripts_of,
};
use crate::left::LeftState;
use crate::made::CreatedFiles;
use crate::parse::parse;
use crate::paths::{PathLocation, is_harmless_device};
use crate::pipelines;
use crate::pipes::{Flow, makes_temporary};
use crate::programs;
use crate::run::CommandRun;

/// Maximum nesting depth of analyzed texts.
const MAX_TEXT_DEPTH: usize = 16;
/// Maximum number of effects kept.
const MAX_EFFECTS: usize = 256;
/// Maximum number of commands analyzed.
const MAX_COMMANDS: usize = 600;

/// Determines the effects of a command line.
pub fn analyze(command: &str, context: &ShellContext<'_>) -> Analysis {
    analyze_parsed(command, &parse(command), context)
}

/// Determines the effects of a command line that is already parsed.
pub fn analyze_parsed(command: &str, script: &Script, context: &ShellContext<'_>) -> Analysis {
    let mut analyzer = Analyzer::new(context);
    analyzer.note(script.partial);
    analyzer.is_powershell = programs::powershell_text::is_powershell(command);
    analyzer.script(script, &CommandContext::default());
    if let Some(text) = dos::as_shell(command) {
        let call = CommandContext { span: (0, command.len()), ..CommandContext::default() };
        analyzer.text(&text, &call);
    }
    if analyzer.is_powershell {
        let call =
            CommandContext { span: (0, command.len()), fixed: true, ..CommandContext::default() };
        let mut run =
            CommandRun { analyzer: &mut analyzer, name: "powershell", args: &[], call: &call };
        programs::powershell_text::run(&mut run, command);
    }
    analyzer.run_traps();
    if script.partial == Some(Partial::TooDeep) {
        // The part that was not read may contain anything: look for words.
        fallback::scan(command, &mut analyzer);
    }
    analyzer.finish()
}

/// The context of a command.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandContext {
    /// Byte range in the source.
    pub(crate) span: (usize, usize),
    /// Whether the range is that of an outer text.
    pub(crate) fixed: bool,
    /// Standard input of the command.
    pub(crate) input: Flow,
    /// Variables set for this command only.
    pub(crate) env: Vec<(String, Arg)>,
    /// Whether the command runs inside a substitution, a trap or at the end of a pipe.
    pub(crate) indirect: bool,
    /// Whether the words of the command contain a secret.
    pub(crate) secret: bool,
    /// Whether the words of the command contain a download.
    pub(crate) remote: bool,
    /// Outputs of its process substitutions `<(…)`.
    pub(crate) processes: Vec<Flow>,
    /// Whether another command reads the output.
    pub(crate) piped: bool,
    /// Whether the command is repeated for every word of an unknown list.
    pub(crate) is_repeated: bool,
}

pub(crate) struct Analyzer<'c> {
    pub(crate) context: &'c ShellContext<'c>,
    pub(crate) cwd: Option<String>,
    pub(crate) variables: Variables,
    functions: Vec<(String, IrNode)>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) commands: Vec<PlannedCommand>,
    /// Downloaded files; the field below holds the files that contain secrets.
    pub(crate) downloads: Vec<String>,
    pub(crate) copies: Vec<String>,
    /// Targets in temporary directories to which files from elsewhere were moved, with the original
    /// arguments.
    pub(crate) moved: Vec<(String, Arg)>,
    /// Files, programs and links that the command line itself made.
    pub(crate) made: CreatedFiles,
    /// State left behind for later commands.
    pub(crate) left: LeftState,
    /// Content readable from descriptors other than the three standard ones.
    descriptors: Vec<(u32, Flow)>,
    /// Remotes that the command line adds to a repository.
    pub(crate) remotes: Vec<String>,
    /// Programs that the analyzed texts start themselves.
    pub(crate) builders: Vec<String>,
    /// Whether the whole text is also read as PowerShell.
    pub(crate) is_powershell: bool,
    /// The program started by `coproc`.
    pub(crate) coprocess: Option<String>,
    /// Texts to run after everything else.
    traps: Vec<(String, CommandContext)>,
    pub(crate) depth: usize,
    budget: usize,
    overrun: bool,
    partial: bool,
}

impl<'c> Analyzer<'c> {
    pub(crate) fn new(context: &'c ShellContext<'c>) -> Self {
        Self {
            context,
            cwd: Some(context.start()),
            variables: Variables::default(),
            functions: Vec::new(),
            effects: Vec::new(),
            commands: Vec::new(),
            downloads: context.downloads.to_vec(),
            copies: context.copies.to_vec(),
            moved: Vec::new(),
            made: CreatedFiles::default(),
            left: LeftState::default(),
            descriptors: Vec::new(),
            remotes: Vec::new(),
            builders: Vec::new(),
            is_powershell: false,
            coprocess: None,
            traps: Vec::new(),
            depth: 0,
            budget: MAX_COMMANDS,
            overrun: false,
            partial: false,
        }
    }

    pub(crate) fn note(&mut self, partial: Option<Partial>) {
        self.partial |= partial.is_some();
        self.overrun |= partial == Some(Partial::TooDeep);
    }

    pub(crate) fn finish(self) -> Analysis {
        let mut decision = decide(&self.effects);
        let coverage =
            if self.partial || self.overrun { Coverage::Partial } else { Coverage::Complete };
        let deciding = self.effects.iter().filter(|effect| decide_effect(effect) == decision);
        // The first of those that are equally bad.
        let worst = deciding.rev().max_by_key(|effect| effect.weight());
        let reason = match worst {
            _ if self.overrun && decision == Decision::Allow => {
                decision = Decision::Ask;
                "is nested too deeply or too long to analyze".to_owned()
            }
            Some(effect) if decision != Decision::Allow => effect.reason(),
            _ => HARMLESS.to_owned(),
        };
        let new = |files: &[String], known: &[String]| {
            files.iter().filter(|file| !known.contains(file)).take(64).cloned().collect()
        };
        let left = LeftState {
            downloads: new(&self.downloads, self.context.downloads),
            copies: new(&self.copies, self.context.copies),
            ..self.left
        };
        Analysis {
            decision,
            effects: self.effects,
            coverage,
            reason,
            commands: self.commands,
            downloads: self.downloads,
            copies: self.copies,
            left,
        }
    }

    /// Returns the scope of a path. A name that makes everything below it harmless, such as
    /// `build`, counts only if the path is not a link to something else.
    pub(crate) fn place(&self, path: &str) -> PathLocation {
        let place = self.context.place(self.cwd.as_deref(), path);
        let is_harmless = matches!(place.scope, EffectScope::TreeArtefact | EffectScope::Temp);
        self.follow_links(path, place, is_harmless)
    }

    /// The place of a path that is deleted.
    pub(crate) fn place_to_delete(&self, path: &str) -> PathLocation {
        let place = self.context.place(self.cwd.as_deref(), path);
        let in_tree = matches!(place.scope, EffectScope::TreeTracked | EffectScope::TreeUntracked);
        let may_be_linked =
            in_tree || matches!(place.scope, EffectScope::TreeArtefact | EffectScope::Temp);
        self.follow_links(path, place, may_be_linked)
    }

    /// Follows the links that the command line made, and those on disk where that is wanted.
    /// Behind the last part of a path a link is followed only if a slash says so.
    fn follow_links(&self, path: &str, place: PathLocation, on_disk: bool) -> PathLocation {
        let follows = path.ends_with('/') || path.ends_with("/.");
        let made = self.made.behind_link(&place.path, follows);
        let facts = self.context.facts.filter(|facts| on_disk && facts.is_here());
        let behind = made.or_else(|| facts?.behind_link(&place.path, follows));
        match behind {
            Some(path) => PathLocation {
                through_link: true,
                ..self.context.place(self.cwd.as_deref(), &path)
            },
            None => place,
        }
    }

    /// Analyzes text that a command executes.
    pub(crate) fn text(&mut self, text: &str, call: &CommandContext) {
        if self.depth >= MAX_TEXT_DEPTH {
            self.overrun = true;
            return;
        }
        self.depth += 1;
        let script = parse(text);
        self.note(script.partial);
        let call = CommandContext { fixed: true, ..call.clone() };
        self.script(&script, &call);
        self.depth -= 1;
    }

    /// Registers text to run at the end, with the variables as they are then.
    pub(crate) fn at_end(&mut self, text: &str, call: CommandContext) {
        if self.traps.len() < 16 {
            self.traps.push((text.to_owned(), call));
        } else {
            self.text(text, &call);
        }
    }

    fn run_traps(&mut self) {
        // A trap can set another one.
        for _ in 0..MAX_TEXT_DEPTH {
            for (text, call) in std::mem::take(&mut self.traps) {
                self.text(&text, &call);
            }
        }
        self.overrun |= !self.traps.is_empty();
    }

    pub(crate) fn script(&mut self, script: &Script, call: &CommandContext) {
        if forks::starts_itself_twice(script) {
            self.report_forks(call, "$0");
        }
        let known = self.builders.len();
        let stages = script.items.iter().flat_map(|item| &item.pipeline.stages);
        let programs = stages.filter_map(|node| match node {
            IrNode::Simple(simple) => simple.words.first()?.fixed(),
            IrNode::Compound(_) => None,
        });
        let programs = programs.map(|word| crate::run::program_name(&word)).take(MAX_EFFECTS);
        self.builders.extend(programs);
        for item in &script.items {
            let before = self.commands.len();
            self.pipeline(&item.pipeline, call);
            if item.after == Operator::Background {
                let started = self.commands.get(before..).unwrap_or_default();
                started.iter().for_each(|command| self.left.start(command));
            }
        }
        // Programs started by the outermost text are kept for the other ways of reading it.
        if self.depth > 0 {
            self.builders.truncate(known);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, call: &CommandContext) -> Flow {
        let mut flow = call.input.clone();
        if pipeline.stages.len() > 1 {
            self.look_at_pipeline(pipeline, call);
        }
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let call = CommandContext {
                input: std::mem::take(&mut flow),
                indirect: call.indirect || index > 0,
                piped: call.piped || index + 1 < pipeline.stages.len(),
                ..call.clone()
            };
            flow = self.node(stage, &call);
        }
        flow
    }

    /// Detects effects that only the stages of a pipeline have together.
    fn look_at_pipeline(&mut self, pipeline: &Pipeline, call: &CommandContext) {
        let call = &CommandContext { span: span_of(pipeline).unwrap_or(call.span), ..call.clone() };
        if let Some((kind, target, level, why)) = pipelines::effect(pipeline) {
            let certainty = Certainty::Likely;
            self.push(call, "pipeline", kind, target, EffectScope::System, level, certainty, why);
        }
    }

    fn node(&mut self, node: &IrNode, call: &CommandContext) -> Flow {
        match node {
            IrNode::Simple(simple) => self.simple(simple, call),
            IrNode::Compound(compound) => {
                let call = &self.call_at(call, &compound.span);
                let mut call = call.clone();
                self.substitutions_of_redirections(&compound.redirections, &mut call);
                let text = self.redirections(&compound.redirections, "group", &call);
                if text != Flow::None {
                    call.input = text;
                }
                self.compound(&compound.kind, &call)
            }
        }
    }

    fn call_at(&self, call: &CommandContext, span: &std::ops::Range<usize>) -> CommandContext {
        let mut call = call.clone();
        if !call.fixed {
            call.span = (span.start, span.end);
        }
        call
    }

    fn compound(&mut self, kind: &CompoundKind, call: &CommandContext) -> Flow {
        match kind {
            CompoundKind::Subshell(script) => {
                let (cwd, variables) = (self.cwd.clone(), self.variables.clone());
                let functions = self.functions.len();
                self.script(script, call);
                (self.cwd, self.variables) = (cwd, variables);
                self.functions.truncate(functions);
            }
            CompoundKind::Group(script) => self.script(script, call),
            CompoundKind::Branches(scripts) => {
                for script in scripts {
                    self.script(script, call);
                }
            }
            CompoundKind::Loop { until, parts } => {
                if let [condition, body, ..] = parts.as_slice()
                    && forks::is_endless(condition, *until)
                    && forks::only_starts(body)
                {
                    self.report_forks(call, "loop");
                }
                for script in parts {
                    self.script(script, call);
                }
            }
            CompoundKind::Case { word, arms } => {
                let mut call = call.clone();
                self.substitutions(&word.parts, &mut call);
                for script in arms {
                    self.script(script, &call);
                }
            }
            CompoundKind::For { name, words, body } => {
                let mut call = call.clone();
                if forks::is_endless_for(words) && forks::only_starts(body) {
                    self.report_forks(&call, "loop");
                }
                let mut values = Vec::new();
                let mut known = true;
                for word in words {
                    self.substitutions(&word.parts, &mut call);
                    for arg in expand(word, &self.variables, self.cwd.as_deref()) {
                        known &= !arg.dynamic;
                        values.push(arg.text);
                    }
                }
                let value = if known && !values.is_empty() {
                    ShellVariable::Texts(values)
                } else {
                    ShellVariable::Dynamic
                };
                call.is_repeated |= !known;
                self.variables.set(name, value);
                self.script(body, &call);
            }
            CompoundKind::Function { name, body } => self.define(name, body, call),
            CompoundKind::Test(words) => {
                let mut call = call.clone();
                for word in words {
                    self.substitutions(&word.parts, &mut call);
                }
            }
        }
        Flow::Unknown
    }

    /// Defines a function, which is analyzed when it is called; one that only starts copies of
    /// itself is reported at once.
    fn define(&mut self, name: &str, body: &IrNode, call: &CommandContext) {
        if forks::multiplies(body, name) {
            return self.report_forks(call, name);
        }
        if self.functions.len() < 64 {
            self.functions.push((name.to_owned(), body.clone()));
        }
        // The shell calls these itself.
        if matches!(name, "command_not_found_handle" | "command_not_found_handler") {
            self.node(body, &CommandContext { fixed: true, indirect: true, ..call.clone() });
        }
    }

    fn report_forks(&mut self, call: &CommandContext, program: &str) {
        let (kind, scope, level) =
            (EffectKind::StopService, EffectScope::System, Reversibility::R4);
        let why = "starts copies of itself endlessly";
        self.push(call, program, kind, "the machine", scope, level, Certainty::Proven, why);
    }

    #[allow(clippy::too_many_arguments, reason = "one effect has this many parts")]
    pub(crate) fn push(
        &mut self,
        call: &CommandContext,
        program: &str,
        kind: EffectKind,
        target: &str,
        scope: EffectScope,
        reversibility: Reversibility,
        certainty: Certainty,
        why: &'static str,
    ) {
        let effect = Effect {
            kind,
            target: target.to_owned(),
            scope,
            reversibility,
            certainty,
            span: call.span,
            program: program.to_owned(),
            why,
        };
        // Of very many, those that make the decision stricter are kept.
        let decision = decide_effect(&effect);
        let is_covered = |known: &Effect| decide_effect(known) >= decision;
        if self.effects.len() < MAX_EFFECTS || !self.effects.iter().any(is_covered) {
            self.effects.push(effect);
        }
    }

    /// Runs the substitutions in a word, each in a subshell.
    pub(crate) fn substitutions(
        &mut self,
        parts: &[crate::ir::WordPart],
        call: &mut CommandContext,
    ) {
        let mut scripts = Vec::new();
        scripts_of(parts, &mut scripts);
        for part in parts {
            if let crate::ir::WordPart::Parameter { name, .. } = part {
                match self.variables.get(name) {
                    Some(ShellVariable::Secret) => call.secret = true,
                    Some(ShellVariable::Remote) => call.remote = true,
                    _ => {}
                }
            }
        }
        // The shell runs substitutions in a subscript even if it is quoted.
        let hidden: Vec<Script> = parts.iter().filter_map(hidden_script).collect();
        scripts.extend(&hidden);
        let process = |script: &Script| {
            parts.iter().find_map(|part| match part {
                crate::ir::WordPart::Process { script: own, reads } => {
                    std::ptr::eq(own, script).then_some(*reads)
                }
                _ => None,
            })
        };
        for script in scripts {
            let process = process(script);
            // `>(…)` runs after the command, on what it wrote.
            if process == Some(true) {
                continue;
            }
            let (cwd, variables) = (self.cwd.clone(), self.variables.clone());
            let before = self.effects.len();
            let inner = CommandContext { indirect: true, input: Flow::None, ..call.clone() };
            let mut flow = Flow::None;
            self.depth += 1;
            if self.depth > 40 {
                self.overrun = true;
            } else {
                for item in &script.items {
                    flow = self.pipeline(&item.pipeline, &inner);
                }
            }
            self.depth -= 1;
            call.remote |= flow == Flow::Remote;
            if process.is_some() {
                call.processes.push(flow.clone());
            }
            call.secret |= flow == Flow::Secret
                || self
                    .effects
                    .iter()
                    .skip(before)
                    .any(|effect| effect.kind == EffectKind::ReadSecret);
            (self.cwd, self.variables) = (cwd, variables);
            let text = match flow {
                Flow::Text(text) => Some(text.trim_end_matches('\n').to_owned()),
                _ => None,
            };
            self.variables.set_output(script, text);
        }
    }

    fn substitutions_of_redirections(
        &mut self,
        redirections: &[Redirection],
        call: &mut CommandContext,
    ) {
        for redirection in redirections {
            self.substitutions(&redirection.target.parts, call);
            if let Some(body) = &redirection.body {
                self.substitutions(&body.parts, call);
            }
        }
    }

    fn simple(&mut self, simple: &Simple, call: &CommandContext) -> Flow {
        if self.budget == 0 {
            self.overrun = true;
            return Flow::Unknown;
        }
        self.budget -= 1;
        let mut call = self.call_at(call, &simple.span);
        call.processes.clear();
        for assignment in &simple.assignments {
            let mut inside = CommandContext { secret: false, remote: false, ..call.clone() };
            self.substitutions(&assignment.subscript, &mut inside);
            for word in &assignment.values {
                self.substitutions(&word.parts, &mut inside);
            }
            call.secret |= inside.secret;
            call.remote |= inside.remote;
            let value = self.assigned(assignment, &inside);
            // Arrays are not environment variables: `declare` sets them.
            if simple.words.is_empty() || assignment.is_array {
                self.variables.set(&assignment.name, value);
            } else {
                let args = assignment
                    .values
                    .first()
                    .map(|word| expand(word, &self.variables, self.cwd.as_deref()))
                    .unwrap_or_default();
                let arg = args.into_iter().next().unwrap_or_default();
                call.env.push((assignment.name.clone(), arg));
            }
        }
        for word in &simple.words {
            self.substitutions(&word.parts, &mut call);
        }
        self.substitutions_of_redirections(&simple.redirections, &mut call);
        let mut args = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            args.extend(expand(word, &self.variables, self.cwd.as_deref()));
        }
        let program = args.first().map_or("redirection", |arg| arg.text.as_str()).to_owned();
        let before = self.effects.len();
        let text = self.redirections(&simple.redirections, &program, &call);
        if text != Flow::None {
            call.input = text;
        }
        if args.is_empty() {
            return Flow::None;
        }
        if program == "exec" && args.len() == 1 {
            self.report_opened(&simple.redirections, &call);
        }
        if simple.redirections.iter().any(|given| self.goes_to_file(given))
            && let Some((first, rest)) = args.split_first()
            && programs::writes_endlessly(&crate::run::program_name(&first.text), &{
                let mut all = rest.to_vec();
                let reads = |given: &&Redirection| given.kind == RedirectionKind::Read;
                let files = simple.redirections.iter().filter(reads);
                all.extend(
                    files.filter_map(|given| given.target.fixed()).map(|text| Arg::plain(&text)),
                );
                all
            })
        {
            self.report_endless(&call, &first.text);
        }
        self.report_read_after_emptying(simple, &args, &call);
        let output = self.run(args, &call);
        let targets = simple.redirections.iter().map(|redirection| &redirection.target);
        for script in simple.words.iter().chain(targets).flat_map(Word::readers) {
            let (cwd, variables) = (self.cwd.clone(), self.variables.clone());
            let input = if output == Flow::None { Flow::Unknown } else { output.clone() };
            self.script(script, &CommandContext { indirect: true, input, ..call.clone() });
            (self.cwd, self.variables) = (cwd, variables);
        }
        let reads =
            self.effects.iter().skip(before).any(|effect| effect.kind == EffectKind::ReadSecret);
        let output = if reads { Flow::Secret } else { output };
        // `env > FILE`: all of it, to be read later.
        let is_dump = matches!(program.as_str(), "env" | "printenv" | "export" | "set")
            && simple.words.len() == 1
            && reads;
        if is_dump && simple.redirections.iter().any(|given| self.goes_to_file(given)) {
            let (kind, level) = (EffectKind::ReadSecret, Reversibility::R1);
            let why = "writes the environment to a file";
            let scope = EffectScope::Unknown;
            self.push(
                &call,
                &program,
                kind,
                "the environment",
                scope,
                level,
                Certainty::Proven,
                why,
            );
        }
        self.remember_written(&simple.redirections, &output, &call);
        let is_fed = |given: &Redirection| {
            let is_output = matches!(
                given.kind,
                RedirectionKind::Duplicate | RedirectionKind::Write | RedirectionKind::Append
            );
            is_output && given.target.fixed().is_none()
        };
        if simple.redirections.iter().any(is_fed) {
            self.feed_coprocess(&output, &call);
        }
        output
    }

    /// Reports the files that `exec 3>FILE` empties. Locks and logs are opened that way to be used.
    fn report_opened(&mut self, redirections: &[Redirection], call: &CommandContext) {
        let is_meant = |path: &str| {
            [".lock", ".log", ".pid", ".fifo", ".lck"].iter().any(|end| path.ends_with(end))
        };
        let opens = |given: &&Redirection| {
            given.kind == RedirectionKind::Write && given.descriptor.is_some_and(|fd| fd > 2)
        };
        for given in redirections.iter().filter(opens) {
            for arg in expand(&given.target, &self.variables, self.cwd.as_deref()) {
                if !is_meant(&arg.text) {
                    self.empty_file(&arg, "exec", call);
                }
            }
        }
    }

    /// Reports a file that the shell empties before the command reads it: `jq . f > f`.
    fn report_read_after_emptying(&mut self, simple: &Simple, args: &[Arg], call: &CommandContext) {
        let Some((first, rest)) = args.split_first() else { return };
        if !programs::reads_operands(&crate::run::program_name(&first.text)) {
            return;
        }
        let writes = |given: &&Redirection| given.kind == RedirectionKind::Write;
        for given in simple.redirections.iter().filter(writes) {
            if !self.goes_to_file(given) {
                continue;
            }
            let targets = expand(&given.target, &self.variables, self.cwd.as_deref());
            for target in targets.iter().filter(|target| !target.dynamic) {
                let path = self.place(&target.text).path;
                let is_it = |arg: &Arg| !arg.dynamic && self.place(&arg.text).path == path;
                if rest.iter().any(is_it) {
                    self.empty_file(target, &first.text, call);
                }
            }
        }
    }

    fn goes_to_file(&self, redirection: &Redirection) -> bool {
        matches!(redirection.kind, RedirectionKind::Write | RedirectionKind::Append)
            && redirection.descriptor.is_none_or(|number| number == 1)
            && redirection.target.fixed().is_some_and(|path| !self.is_sink(&path))
    }

    fn assigned(
        &self,
        assignment: &crate::ir::Assignment,
        inside: &CommandContext,
    ) -> ShellVariable {
        let value = self.value_of(assignment, inside);
        match self.variables.get(&assignment.name) {
            Some(known) if assignment.appends => known.clone().with(value, assignment.is_array),
            // The elements of the array are not tracked.
            Some(_) if !assignment.subscript.is_empty() => ShellVariable::Dynamic,
            _ => value,
        }
    }

    fn value_of(
        &self,
        assignment: &crate::ir::Assignment,
        inside: &CommandContext,
    ) -> ShellVariable {
        if let [word] = assignment.values.as_slice()
            && let [crate::ir::WordPart::Command { script, .. }] = word.parts.as_slice()
            && makes_temporary(script)
        {
            return ShellVariable::Temporary;
        }
        if inside.secret {
            return ShellVariable::Secret;
        }
        if inside.remote {
            return ShellVariable::Remote;
        }
        let mut texts = Vec::new();
        for word in &assignment.values {
            for arg in expand(word, &self.variables, self.cwd.as_deref()) {
                if arg.temporary {
                    return ShellVariable::Temporary;
                }
                if arg.dynamic {
                    return ShellVariable::Dynamic;
                }
                texts.push(arg.text);
            }
        }
        ShellVariable::Texts(texts)
    }

    /// Remembers files just written from a download or a secret.
    fn remember_written(
        &mut self,
        redirections: &[Redirection],
        output: &Flow,
        call: &CommandContext,
    ) {
        for redirection in redirections {
            let writes =
                matches!(redirection.kind, RedirectionKind::Write | RedirectionKind::Append);
            if !writes || redirection.descriptor.is_some_and(|d| d != 1) {
                continue;
            }
            let appends = redirection.kind == RedirectionKind::Append;
            // `echo -n > FILE`
            if let Flow::Text(text) = output
                && text.trim().is_empty()
                && !appends
            {
                for arg in expand(&redirection.target, &self.variables, self.cwd.as_deref()) {
                    // A line end may as well be the start of a new file.
                    let exists = || self.context.facts?.exists(&self.place(&arg.text).path);
                    if text.is_empty() || exists() == Some(true) {
                        self.empty_file(&arg, "redirection", call);
                    }
                }
            }
            let Some(name) = redirection.target.literal() else { continue };
            let path = self.place(&name).path;
            self.made.write(&path, output, appends);
            if !appends {
                self.replace_by_version(&path, output, call);
            }
            // Hooks that a project keeps are run by git.
            if path.contains("/.husky/")
                && let Flow::Text(text) = output
            {
                let text = text.clone();
                let mut run = CommandRun { analyzer: self, name: "hook", args: &[], call };
                programs::suspect(&mut run, |run| run.shell_text(&text));
            }
            match output {
                Flow::Remote => self.downloads.push(path),
                Flow::Secret => self.copies.push(path),
                _ => {}
            }
        }
    }

    /// Adds the effects of redirections and returns the input that they give the command.
    fn redirections(
        &mut self,
        redirections: &[Redirection],
        program: &str,
        call: &CommandContext,
    ) -> Flow {
        let mut flow = Flow::None;
        for redirection in redirections {
            let before = flow.clone();
            match redirection.kind {
                RedirectionKind::HereDocument => {
                    if let Some(body) = &redirection.body {
                        flow = Flow::Text(body.text.clone());
                    }
                }
                RedirectionKind::HereString => {
                    let args = expand(&redirection.target, &self.variables, self.cwd.as_deref());
                    flow = match args.first().and_then(Arg::literal) {
                        Some(text) => Flow::Text(text.to_owned()),
                        None if call.remote => Flow::Remote,
                        None if call.secret => Flow::Secret,
                        None => Flow::Unknown,
                    };
                }
                RedirectionKind::Duplicate => {
                    let args = expand(&redirection.target, &self.variables, self.cwd.as_deref());
                    let from = args.first().and_then(|arg| arg.literal()?.parse().ok());
                    let known = |(number, _): &&(u32, Flow)| Some(*number) == from;
                    if let Some((_, known)) = self.descriptors.iter().rev().find(known) {
                        flow = known.clone();
                    }
                }
                RedirectionKind::Read => {
                    let process = redirection
                        .target
                        .parts
                        .iter()
                        .any(|part| matches!(part, crate::ir::WordPart::Process { .. }));
                    for arg in expand(&redirection.target, &self.variables, self.cwd.as_deref()) {
                        self.read_file(&arg, program, call);
                        flow = if process && call.remote {
                            Flow::Remote
                        } else if let Some(written) = call.processes.last().filter(|_| process) {
                            written.clone()
                        } else {
                            Flow::File(arg.text.clone())
                        };
                    }
                }
                RedirectionKind::Write | RedirectionKind::Append => {
                    let append = redirection.kind == RedirectionKind::Append;
                    for arg in expand(&redirection.target, &self.variables, self.cwd.as_deref()) {
                        self.write_file(&arg, append, program, call);
                    }
                }
            }
            let reads = matches!(
                redirection.kind,
                RedirectionKind::HereString | RedirectionKind::HereDocument | RedirectionKind::Read
            );
            if reads && self.remember_descriptor(redirection, &flow) {
                flow = before;
            }
        }
        flow
    }

    /// Remembers what a descriptor other than the three standard ones reads: `exec 3<<<text`.
    fn remember_descriptor(&mut self, redirection: &Redirection, flow: &Flow) -> bool {
        /// The first descriptor that the shell chooses itself.
        const FIRST_CHOSEN: u32 = 10;
        let chosen = || u32::try_from(self.descriptors.len()).ok().map(|at| at + FIRST_CHOSEN);
        let number = match &redirection.variable {
            Some(_) => chosen(),
            None => redirection.descriptor.filter(|number| *number > 2),
        };
        let Some(number) = number.filter(|_| self.descriptors.len() < 64) else { return false };
        if let Some(name) = &redirection.variable {
            self.variables.set(name, ShellVariable::Texts(vec![number.to_string()]));
        }
        for directory in ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"] {
            let path = format!("{directory}/{number}");
            self.made.write(&path, flow, false);
            if *flow == Flow::Remote {
                self.downloads.push(path);
            }
        }
        self.descriptors.push((number, flow.clone()));
        true
    }

    /// Takes one command from the budget.
    pub(crate) fn spend(&mut self) -> bool {
        if self.budget == 0 || self.depth > 40 {
            self.overrun = true;
            return false;
        }
        self.budget -= 1;
        true
    }

    /// Runs a function of the script if one has that name.
    pub(crate) fn call_function(
        &mut self,
        name: &str,
        args: &[Arg],
        call: &CommandContext,
    ) -> bool {
        let found = self.functions.iter().rev().find(|(known, _)| known == name);
        let Some(body) = found.map(|(_, body)| body.clone()) else { return false };
        if self.depth >= MAX_TEXT_DEPTH {
            self.overrun = true;
            return true;
        }
        self.depth += 1;
        let saved = self.variables.clone();
        self.variables.set_arguments(args);
        self.node(&body, &CommandContext { fixed: true, ..call.clone() });
        self.variables = saved;
        self.depth -= 1;
        true
    }

    /// Whether writing to the path changes nothing, as with harmless devices.
    pub(crate) fn is_sink(&self, path: &str) -> bool {
        is_harmless_device(path)
    }
}

/// Returns the commands in quoted text that is an array element when evaluated.
fn hidden_script(part: &crate::ir::WordPart) -> Option<Script> {
    let crate::ir::WordPart::Text { text, quoted: true } = part else { return None };
    let (name, rest) = text.contains('[').then(|| text.split_once("[$("))??;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let (command, _) = rest.rsplit_once(")]").filter(|_| is_name)?;
    Some(parse(command))
}

/// Returns the byte range of a pipeline in the text.
fn span_of(pipeline: &Pipeline) -> Option<(usize, usize)> {
    let span = |node: &IrNode| match node {
        IrNode::Simple(simple) => simple.span.clone(),
        IrNode::Compound(compound) => compound.span.clone(),
    };
    let (first, last) = (pipeline.stages.first()?, pipeline.stages.last()?);
    Some((span(first).start, span(last).end))
}
