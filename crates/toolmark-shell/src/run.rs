//! Interpretation of one command: removes its wrappers, then applies the rules of its program. Also
//! the effects that all programs share: reading, writing and deleting files.

use crate::analyze::{Analyzer, CommandContext};
use crate::context::PlannedCommand;
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::{Arg, ShellVariable};
use crate::paths::{PathLocation, is_artefact, is_rebuilt};
use crate::pipes::{Flow, filtered, printed};
use crate::programs;
use crate::programs::launchers::{Unwrapped, unwrap};
use crate::protect::Reach;
use crate::secrets::{Secrecy, secrecy};
use crate::write;

/// One command, its context, and the analyzer that collects its effects.
pub(crate) struct CommandRun<'r, 'c> {
    pub(crate) analyzer: &'r mut Analyzer<'c>,
    pub(crate) name: &'r str,
    pub(crate) args: &'r [Arg],
    pub(crate) call: &'r CommandContext,
}

impl CommandRun<'_, '_> {
    /// Adds a proven effect.
    pub(crate) fn effect(
        &mut self,
        kind: EffectKind,
        target: &str,
        scope: EffectScope,
        reversibility: Reversibility,
        why: &'static str,
    ) {
        self.sure(kind, target, scope, reversibility, Certainty::Proven, why);
    }

    /// Adds an effect with a certainty.
    pub(crate) fn sure(
        &mut self,
        kind: EffectKind,
        target: &str,
        scope: EffectScope,
        reversibility: Reversibility,
        certainty: Certainty,
        why: &'static str,
    ) {
        self.analyzer.push(
            self.call,
            self.name,
            kind,
            target,
            scope,
            reversibility,
            certainty,
            why,
        );
    }

    /// Adds a permanent change at a service.
    pub(crate) fn remote(&mut self, target: &str, why: &'static str) {
        self.effect(EffectKind::RemoteState, target, EffectScope::Remote, Reversibility::R5, why);
    }

    /// Adds a change at a service that the user should review.
    pub(crate) fn ask(
        &mut self,
        kind: EffectKind,
        target: &str,
        scope: EffectScope,
        why: &'static str,
    ) {
        self.effect(kind, target, scope, Reversibility::R3, why);
    }

    /// Returns the arguments as one line, for targets.
    pub(crate) fn line(&self) -> String {
        let words: Vec<&str> = self.args.iter().map(|arg| arg.text.as_str()).collect();
        words.join(" ")
    }

    /// Runs other words as a command.
    pub(crate) fn inner(&mut self, args: Vec<Arg>, input: Flow) -> Flow {
        let call = CommandContext { input, ..self.call.clone() };
        self.analyzer.run(args, &call)
    }

    /// Analyzes text that the program passes to a shell.
    pub(crate) fn shell_text(&mut self, text: &str) {
        self.analyzer.text(text, &CommandContext { input: Flow::None, ..self.call.clone() });
    }

    /// Returns the value of a variable set for this command.
    pub(crate) fn env(&self, name: &str) -> Option<&str> {
        self.call
            .env
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, arg)| arg.text.as_str())
    }

    /// Returns the value of a variable set for this command or by an earlier one.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let earlier = || match self.analyzer.variables.get(name) {
            Some(ShellVariable::Texts(texts)) => texts.first().cloned(),
            _ => None,
        };
        self.env(name).map(str::to_owned).or_else(earlier)
    }
}

/// Returns the program's name without directory and extension, in lower case, because some file
/// systems ignore case.
pub(crate) fn program_name(text: &str) -> String {
    let base = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let lower = base.to_ascii_lowercase();
    lower.strip_suffix(".exe").map(str::to_owned).unwrap_or(lower)
}

impl Analyzer<'_> {
    /// Runs a command; returns its output.
    pub(crate) fn run(&mut self, args: Vec<Arg>, call: &CommandContext) -> Flow {
        if !self.spend() {
            return Flow::Unknown;
        }
        self.depth += 1;
        let flow = self.run_words(args, call);
        self.depth -= 1;
        flow
    }

    fn run_words(&mut self, mut args: Vec<Arg>, call: &CommandContext) -> Flow {
        let Some(first) = args.first().cloned() else { return Flow::None };
        // `"$cmd"` and `/bin/r?` can be any program.
        if first.dynamic || first.glob && first.text.len() > 1 && first.text != "[[" {
            self.note(Some(crate::ir::Partial::Syntax));
            return self.run_unknown(&args, call);
        }
        let name = program_name(&first.text);
        // `uv run https://…/x.py`
        if first.text.contains("://") {
            let (kind, scope, level) =
                (EffectKind::ExecuteUntrusted, EffectScope::Remote, Reversibility::R3);
            let why = "runs a program from a URL";
            self.push(call, &name, kind, &first.text, scope, level, Certainty::Proven, why);
        }
        // `./x.sh` after `curl -o x.sh`.
        let is_file = first.text.contains('/')
            || [".exe", ".bat", ".cmd", ".ps1"].iter().any(|end| first.text.ends_with(end));
        if is_file && self.is_download(&self.place(&first.text).path) {
            self.push(
                call,
                &name,
                EffectKind::ExecuteUntrusted,
                &first.text,
                EffectScope::Remote,
                Reversibility::R5,
                Certainty::Proven,
                "runs what was downloaded",
            );
        }
        if first.text.contains('/') && self.made.is_cloned(&self.place(&first.text).path) {
            let (scope, level) = (EffectScope::Remote, Reversibility::R1);
            let why = "runs a program of a repository that was just cloned";
            let (kind, certainty) = (EffectKind::ExecuteUntrusted, Certainty::Proven);
            self.push(call, &name, kind, &first.text, scope, level, certainty, why);
        }
        args.remove(0);
        if is_file && let Some(text) = self.script_text(&first.text) {
            return self.run_script(&first.text, &text, args, call);
        }
        if first.text.contains('/')
            && let Some(text) = self.made.source(&self.place(&first.text).path).map(str::to_owned)
        {
            let mut run = CommandRun { analyzer: self, name: &name, args: &args, call };
            programs::run_source(&mut run, &text);
            return Flow::Unknown;
        }
        // `PATH=/tmp/bin:$PATH` after `/tmp/bin/ls` was written.
        let has_path = self.variables.get("PATH").is_some()
            || call.env.iter().any(|(variable, _)| variable == "PATH");
        if has_path
            && !first.text.contains('/')
            && let Some(path) = self.made.named(&first.text).map(str::to_owned)
            && let Some(text) = self.made.text(&path).map(str::to_owned)
        {
            return self.run_script(&path, &text, args, call);
        }
        let copied = self.made.program(&first.text).map(str::to_owned).or_else(|| {
            let path = first.text.contains('/').then(|| self.place(&first.text).path)?;
            let before = || self.context.facts.and_then(|facts| facts.program(&path));
            self.made.program(&path).map(str::to_owned).or_else(before)
        });
        let name = copied.unwrap_or(name);
        if self.call_function(&first.text, &args, call) {
            return Flow::Unknown;
        }
        let command = PlannedCommand { program: name.clone(), args, span: call.span };
        let flow = self.run_program(&name, &command.args, call);
        self.commands.push(command);
        flow
    }

    /// Runs a file as a program: with the interpreter named in its first line, or with the shell.
    fn run_script(
        &mut self,
        path: &str,
        text: &str,
        args: Vec<Arg>,
        call: &CommandContext,
    ) -> Flow {
        let line = text.strip_prefix("#!").and_then(|rest| rest.lines().next()).unwrap_or("");
        let mut words = line.split_whitespace().map(program_name);
        let first = words.next().unwrap_or_default();
        let named = if first == "env" { words.find(|word| !word.starts_with('-')) } else { None };
        let interpreter = named.unwrap_or(first);
        let is_shell = interpreter.is_empty() || interpreter.ends_with("sh");
        let mut words = vec![Arg::plain(if is_shell { "sh" } else { &interpreter })];
        words.push(Arg::plain(path));
        words.extend(args);
        self.run(words, call)
    }

    /// Returns the text of a script that the command line wrote, or that the session wrote before.
    /// Files of the work tree are not read.
    pub(crate) fn script_text(&self, path: &str) -> Option<String> {
        let place = self.place(path);
        let is_fit = match place.scope {
            EffectScope::System
            | EffectScope::Device
            | EffectScope::Remote
            | EffectScope::Unknown => false,
            EffectScope::TreeArtefact => {
                self.context.facts.is_some_and(|facts| facts.made(&place.path))
            }
            _ => true,
        };
        let before = || self.context.facts.filter(|_| is_fit)?.script(&place.path);
        self.made.text(&place.path).map(str::to_owned).or_else(before)
    }

    /// Whether a file was downloaded by this command line or earlier in the session.
    pub(crate) fn is_download(&self, path: &str) -> bool {
        self.downloads.iter().any(|known| known == path)
            || self.context.facts.is_some_and(|facts| facts.downloaded(path))
    }

    /// Whether a secret was put into a file by this command line or earlier in the session.
    pub(crate) fn is_copy(&self, path: &str) -> bool {
        self.copies.iter().any(|known| known == path)
            || self.context.facts.is_some_and(|facts| facts.holds_secret(path))
    }

    fn run_program(&mut self, name: &str, args: &[Arg], call: &CommandContext) -> Flow {
        if self.context.wrappers.contains(&name) {
            return self.run(args.to_vec(), call);
        }
        let mut run = CommandRun { analyzer: self, name, args, call };
        match unwrap(&mut run) {
            Unwrapped::No => {}
            Unwrapped::Done => return Flow::Unknown,
            Unwrapped::Words { words, env } => {
                let mut call = call.clone();
                call.env.extend(env);
                return self.run(words, &call);
            }
            Unwrapped::Text(text) => {
                self.text(&text, call);
                return Flow::Unknown;
            }
        }
        let mut run = CommandRun { analyzer: self, name, args, call };
        programs::run(&mut run);
        self.protect(name, args, call);
        self.remember_made(name, args, call);
        if let Some(text) = printed(name, args) {
            return Flow::Text(text);
        }
        if let Some(path) = programs::printed_version(name, args) {
            return Flow::Version(path.to_owned());
        }
        if programs::downloads_to_output(name, args) {
            return Flow::Remote;
        }
        if matches!(name, "echo" | "printf") {
            return if call.remote {
                Flow::Remote
            } else if call.secret {
                Flow::Secret
            } else {
                Flow::Unknown
            };
        }
        filtered(name, args, &call.input)
    }

    /// Remembers files that a command copies, links and writes, for later commands.
    fn remember_made(&mut self, name: &str, args: &[Arg], call: &CommandContext) {
        let operands = || args.iter().filter(|arg| !arg.text.starts_with('-'));
        match name {
            "tee" | "gtee" => {
                let appends = args.iter().any(|arg| matches!(arg.text.as_str(), "-a" | "--append"));
                for arg in operands().filter(|arg| !arg.dynamic) {
                    let path = self.place(&arg.text).path;
                    self.made.write(&path, &call.input, appends);
                    if call.input == Flow::Remote {
                        self.downloads.push(path.clone());
                    }
                    self.replace_by_version(&path, &call.input, call);
                }
            }
            // `mapfile -C COMMAND` runs it for every line.
            "mapfile" | "readarray" => {
                let given = args.windows(2).find_map(|pair| match pair {
                    [flag, text] if flag.text == "-C" => Some(text.text.clone()),
                    _ => None,
                });
                if let Some(text) = given {
                    let fed = match &call.input {
                        Flow::Text(input) => format!("{text} 0 {input}"),
                        _ => text,
                    };
                    self.text(
                        &fed,
                        &CommandContext { input: Flow::None, indirect: true, ..call.clone() },
                    );
                }
                self.remember_read(name, args, call);
            }
            "enable" if args.iter().any(|arg| arg.text == "-f") => {
                let (kind, scope, level) =
                    (EffectKind::ExecuteUntrusted, EffectScope::Unknown, Reversibility::R3);
                let target = args.get(1).map_or("", |arg| arg.text.as_str());
                let why = "loads a library into the shell";
                self.push(call, name, kind, target, scope, level, Certainty::Proven, why);
            }
            "coproc" => self.start_coprocess(args),
            // Another file system is mounted there from now on.
            "mount" => self.left.bring("/"),
            "mkdir" | "gmkdir" | "touch" | "gtouch" => {
                for arg in operands().filter(|arg| !arg.dynamic && !arg.glob) {
                    let path = self.place(&arg.text).path;
                    self.left.make(&path);
                }
            }
            "read" => self.remember_read(name, args, call),
            // `hash -p PATH NAME`
            "hash" => {
                if let [path, name] = operands().collect::<Vec<_>>().as_slice() {
                    self.made.copy(&name.text, &program_name(&path.text));
                }
            }
            "cp" | "gcp" | "mv" | "gmv" | "ln" | "install" | "ginstall" => {
                self.remember_copied(name, args);
                self.remember_content(name, args, call);
            }
            _ => {}
        }
    }

    /// Reports a file being replaced by another version of itself: `git show HEAD:f > f`.
    pub(crate) fn replace_by_version(&mut self, path: &str, output: &Flow, call: &CommandContext) {
        let Flow::Version(version) = output else { return };
        let place = self.place(path);
        let is_it = place.path.strip_suffix(version.as_str());
        if is_it.is_some_and(|rest| rest.ends_with('/'))
            && matches!(place.scope, EffectScope::TreeTracked | EffectScope::TreeUntracked)
        {
            let mut run = CommandRun { analyzer: self, name: "git", args: &[], call };
            programs::replace_files(&mut run, &[&place.display], false);
        }
    }

    /// Records the content that a command copies or moves into one file.
    fn remember_content(&mut self, name: &str, args: &[Arg], call: &CommandContext) {
        let all: Vec<&Arg> = args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
        // `install -m 755 SOURCE TARGET`
        let at = if name.ends_with("install") { all.len().saturating_sub(2) } else { 0 };
        let here = Arg::plain("./");
        let (source, target) = match all.get(at..).unwrap_or_default() {
            [source, target] => (*source, *target),
            // `ln -s SOURCE` makes a link in the working directory.
            [source] if name == "ln" => (*source, &here),
            _ => return,
        };
        if source.dynamic || target.dynamic {
            return;
        }
        let program = program_name(&source.text);
        let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let from = self.place(&source.text).path;
        let mut to = self.place(&target.text).path;
        if target.text.ends_with('/') || target.text == "." {
            to = format!("{}/{base}", to.trim_end_matches('/'));
        }
        self.remember_link(name, args, source, &to);
        if self.is_download(&from) {
            self.downloads.push(to.clone());
        }
        if matches!(&*source.text, "/dev/stdin" | "/dev/fd/0") {
            self.made.write(&to, &call.input, false);
        } else if let Some(text) = self.made.text(&from).map(str::to_owned) {
            self.made.write(&to, &Flow::Text(text), false);
        } else if from.contains("/bin/") && programs::is_known(&program) {
            self.made.copy(&to, &program);
            self.left.program(&to, &program);
        }
    }

    /// The link that a command makes or moves.
    fn remember_link(&mut self, name: &str, args: &[Arg], source: &Arg, to: &str) {
        let from = self.place(&source.text).path;
        let has = |letter: char| {
            args.iter().any(|arg| {
                arg.text
                    .strip_prefix('-')
                    .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
            })
        };
        let is_symbolic = has('s') || args.iter().any(|arg| arg.text.starts_with("--symbolic"));
        if name == "ln" || is_symbolic && matches!(name, "cp" | "gcp") {
            // The target of a symbolic link is seen from where the link is.
            let is_relative = is_symbolic && !source.text.starts_with(['/', '~']);
            let directory = to.rsplit_once('/').map_or("", |(directory, _)| directory);
            let seen = format!("{directory}/{}", source.text);
            let from = if is_relative { self.place(&seen).path } else { from };
            self.made.link(to, &from);
        } else if matches!(name, "mv" | "gmv") || has('a') || has('P') || has('d') {
            self.made.move_link(&from, to);
        }
    }

    /// Starts a coprocess (`coproc sh`), whose input is what is written to its descriptor.
    fn start_coprocess(&mut self, args: &[Arg]) {
        let program = args
            .iter()
            .map(|arg| program_name(&arg.text))
            .find(|name| name == "{" || name.ends_with("sh") || programs::is_known(name));
        let program = program.filter(|name| name != "{").unwrap_or_else(|| "sh".to_owned());
        self.coprocess = Some(program);
    }

    /// Passes output to the coprocess when it is written to a descriptor whose number is not in the
    /// text.
    pub(crate) fn feed_coprocess(&mut self, output: &Flow, call: &CommandContext) {
        if let Some(program) = self.coprocess.clone() {
            let call = CommandContext { input: output.clone(), indirect: true, ..call.clone() };
            self.run(vec![Arg::plain(&program)], &call);
        }
    }

    /// Remembers the targets of copies, moves and links. Whether a target is a directory is unknown
    /// here.
    fn remember_copied(&mut self, name: &str, args: &[Arg]) {
        let mut operands: Vec<&Arg> =
            args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
        let given = args.iter().position(|arg| matches!(&*arg.text, "-t" | "--target-directory"));
        let given = given.and_then(|at| args.get(at + 1));
        if let Some(given) = given {
            operands.retain(|arg| !std::ptr::eq(*arg, given));
        }
        let Some(target) = given.or_else(|| operands.pop()).filter(|arg| !arg.dynamic) else {
            return;
        };
        let to = self.place(&target.text).path;
        let is_one = given.is_none() && operands.len() == 1;
        for source in operands {
            let from = self.place(&source.text).path;
            let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
            let inside = format!("{}/{base}", to.trim_end_matches('/'));
            let is_new = match name {
                "ln" => false,
                "mv" | "gmv" => self.context.facts.is_some_and(|facts| facts.made(&from)),
                _ => !source.dynamic && !source.glob,
            };
            for path in is_one.then_some(&to).into_iter().chain([&inside]) {
                if is_new { self.left.make(path) } else { self.left.bring(path) }
            }
        }
    }

    /// Sets the variables that `read` and `mapfile` fill from known text.
    fn remember_read(&mut self, name: &str, args: &[Arg], call: &CommandContext) {
        let names: Vec<&Arg> = args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
        let Flow::Text(text) = &call.input else {
            names.iter().for_each(|arg| self.variables.set(&arg.text, ShellVariable::Dynamic));
            return;
        };
        let is_array = |arg: &Arg| matches!(arg.text.as_str(), "-a" | "-ra");
        if name != "read" || args.iter().any(is_array) {
            let words: Vec<String> = match name {
                "read" => text.split_whitespace().map(str::to_owned).collect(),
                _ => text.lines().map(str::to_owned).collect(),
            };
            if let Some(array) = names.last() {
                self.variables.set(&array.text, ShellVariable::Texts(words));
            }
            return;
        }
        let mut rest = text.lines().next().unwrap_or("").trim();
        for (at, arg) in names.iter().enumerate() {
            let is_last = at + 1 == names.len();
            let (word, after) = match rest.split_once(char::is_whitespace).filter(|_| !is_last) {
                Some((word, after)) => (word, after.trim_start()),
                None => (rest, ""),
            };
            self.variables.set(&arg.text, ShellVariable::Texts(vec![word.to_owned()]));
            rest = after;
        }
    }

    /// Analyzes a program known only at run time, whose arguments may still show its effects.
    fn run_unknown(&mut self, args: &[Arg], call: &CommandContext) -> Flow {
        let first = args.first().map_or("", |arg| arg.text.as_str());
        let rest = args.get(1..).unwrap_or_default();
        if first.contains("/dev/fd/63") || call.remote {
            self.push(
                call,
                first,
                EffectKind::ExecuteUntrusted,
                "a download",
                EffectScope::Remote,
                Reversibility::R5,
                Certainty::Proven,
                "runs downloaded code",
            );
            return Flow::Unknown;
        }
        let Some(next) = rest.first() else { return Flow::Unknown };
        // `${0##*/}` is the shell that reads the text.
        if matches!(first, "$SHELL" | "$BASH") || first.starts_with("$0") {
            let mut words = vec![Arg::plain("sh")];
            words.extend(rest.iter().cloned());
            return self.run(words, call);
        }
        let confirms = |arg: &Arg| {
            matches!(&*arg.text, "--yes" | "-y" | "--force" | "--auto-approve" | "--no-confirm")
        };
        if rest.iter().any(confirms) {
            let why = "an unknown program that is told to ask nobody";
            let (level, certainty) = (Reversibility::R3, Certainty::Unresolved);
            let kind = EffectKind::ExecuteUntrusted;
            self.push(call, first, kind, first, EffectScope::Unknown, level, certainty, why);
        }
        let flags = next.text.strip_prefix('-').unwrap_or("");
        let deletes =
            flags.len() < 5 && flags.contains(['r', 'R']) && flags.contains('f') && rest.len() > 1;
        if deletes {
            let target = rest.get(1).map_or("", |arg| arg.text.as_str());
            self.push(
                call,
                first,
                EffectKind::Delete,
                target,
                EffectScope::Unknown,
                Reversibility::R4,
                Certainty::Unresolved,
                "an unknown program with the options of a recursive delete",
            );
        } else if !next.dynamic && programs::is_known(&program_name(&next.text)) {
            return self.run(rest.to_vec(), call);
        }
        Flow::Unknown
    }

    /// Reports a file whose content is shown, copied or sent.
    pub(crate) fn read_file(&mut self, arg: &Arg, program: &str, call: &CommandContext) {
        let place = self.place(&arg.text);
        let copied = self.is_copy(&place.path);
        // `.env*` matches `.env`.
        let secrecy = |path: &str| {
            let stem = path.trim_end_matches(['*', '?']).trim_end_matches(['.', '-', '_']);
            let of_stem = || arg.glob.then(|| self.context.secrecy(stem)).flatten();
            self.context.secrecy(path).or_else(of_stem)
        };
        let secrecy = secrecy(&arg.text).or_else(|| secrecy(&place.path).filter(|_| !arg.dynamic));
        let (reversibility, certainty, why) = match secrecy {
            Some(Secrecy::Secret) => (Reversibility::R3, Certainty::Proven, "reads a secret"),
            _ if copied => (Reversibility::R1, Certainty::Proven, "reads a secret"),
            Some(Secrecy::Private) => {
                (Reversibility::R0, Certainty::Likely, "reads a private file")
            }
            None => return,
        };
        let kind = EffectKind::ReadSecret;
        self.push(call, program, kind, &arg.text, place.scope, reversibility, certainty, why);
    }

    /// Reports a file written by redirection, `tee`, `dd` or similar.
    pub(crate) fn write_file(
        &mut self,
        arg: &Arg,
        append: bool,
        program: &str,
        call: &CommandContext,
    ) {
        if self.is_sink(&arg.text) {
            return;
        }
        if arg.text.starts_with("/dev/tcp/") || arg.text.starts_with("/dev/udp/") {
            let level = if call.secret || call.input == Flow::Secret {
                Reversibility::R5
            } else {
                Reversibility::R3
            };
            self.push(
                call,
                program,
                EffectKind::SendOut,
                &arg.text,
                EffectScope::Remote,
                level,
                Certainty::Proven,
                "opens a raw network connection",
            );
            return;
        }
        let place = self.place(&arg.text);
        if !arg.dynamic && !arg.glob {
            self.left.make(&place.path);
        }
        if arg.dynamic {
            self.disturb(arg, Reach::Itself, program, call);
            // A new file under an unknown name is ordinary; only known bad
            // places in its literal part matter.
            if matches!(place.scope, EffectScope::System | EffectScope::Device)
                && arg.text.starts_with('/')
            {
                self.push(
                    call,
                    program,
                    EffectKind::Overwrite,
                    &arg.text,
                    place.scope,
                    Reversibility::R4,
                    Certainty::Unresolved,
                    "writes to a system path",
                );
            }
            return;
        }
        if matches!(program, ":" | "true" | "redirection") && !append {
            self.empty_file(arg, program, call);
        }
        if let Some((kind, reversibility, why)) = write::classify(self.context, &place, append) {
            self.push(
                call,
                program,
                kind,
                &place.display,
                place.scope,
                reversibility,
                Certainty::Proven,
                why,
            );
        }
    }

    /// Reports a file of the work tree that is emptied.
    pub(crate) fn empty_file(&mut self, arg: &Arg, program: &str, call: &CommandContext) {
        let place = self.place(&arg.text);
        let in_tree = matches!(place.scope, EffectScope::TreeTracked | EffectScope::TreeUntracked);
        let is_missing =
            || self.context.facts.and_then(|facts| facts.exists(&place.path)) == Some(false);
        if arg.dynamic
            || !in_tree
            || write::persists(self.context, &place.path).is_some()
            || place.path.ends_with("/.gitkeep")
            || place.path.ends_with("/.keep")
            || is_missing()
        {
            return;
        }
        let (kind, level, why) = (EffectKind::Overwrite, Reversibility::R3, "empties a file");
        let certainty = Certainty::Proven;
        self.push(call, program, kind, &place.display, place.scope, level, certainty, why);
    }

    /// Reports the loss of files that were moved to a temporary path which is then deleted.
    fn delete_moved(&mut self, path: &str, recursive: bool, program: &str, call: &CommandContext) {
        let path = path.trim_end_matches('/');
        let is_at = |to: &str| {
            to.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let moved = self.moved.iter().filter(|(to, _)| is_at(to)).map(|(_, source)| source.clone());
        let mut moved: Vec<Arg> = moved.collect();
        moved.dedup_by(|a, b| a.text == b.text);
        for source in moved {
            self.delete(&source, recursive, program, call);
        }
    }

    /// Reports a deletion. `recursive` includes directories.
    pub(crate) fn delete(
        &mut self,
        arg: &Arg,
        recursive: bool,
        program: &str,
        call: &CommandContext,
    ) {
        use Reversibility::{R2, R3, R4};
        let text = arg.text.as_str();
        if arg.temporary {
            self.push(
                call,
                program,
                EffectKind::Delete,
                text,
                EffectScope::Temp,
                R2,
                Certainty::Proven,
                "deletes its own temporary files",
            );
            return;
        }
        let place = self.place_to_delete(text);
        self.disturb(arg, Reach::of(recursive), program, call);
        if arg.dynamic {
            self.delete_unknown(arg, &place, recursive, program, call);
            return;
        }
        if self.is_sink(text) {
            return;
        }
        if place.scope == EffectScope::Temp {
            self.delete_moved(&place.path, recursive, program, call);
        }
        let facts = self.context.facts;
        let tracked = facts.and_then(|facts| facts.tracked(&place.path));
        let is_fit =
            !place.whole && !matches!(place.scope, EffectScope::System | EffectScope::Device);
        let is_own = is_fit
            && !self.left.has_brought(&place.path)
            && facts.is_some_and(|facts| facts.made(&place.path));
        // Files that earlier commands may move there are not considered.
        let is_gone = is_fit
            && !arg.glob
            && self.commands.iter().all(|command| brings_nothing(&command.program))
            && facts.and_then(|facts| facts.exists(&place.path)) == Some(false);
        let (reversibility, why) = match place.scope {
            _ if is_own => (R2, "deletes what the session made"),
            _ if is_gone => (Reversibility::R0, "deletes what does not exist"),
            EffectScope::TreeArtefact => (R2, "deletes regenerable files"),
            EffectScope::TreeTracked | EffectScope::TreeUntracked
                if is_fit && !arg.glob && is_rebuilt(&place.display, &self.builders) =>
            {
                (R2, "deletes what the same command builds anew")
            }
            EffectScope::Temp if call.indirect && recursive => {
                (R4, "deletes temporary files indirectly")
            }
            EffectScope::Temp => (R2, "deletes temporary files"),
            EffectScope::VcsMetadata if place.path.ends_with(".lock") => (R2, "removes a lock"),
            EffectScope::VcsMetadata => (R4, "deletes version control data"),
            EffectScope::TreeTracked | EffectScope::TreeUntracked if place.whole => {
                (R4, "deletes the whole work tree")
            }
            EffectScope::TreeTracked if recursive => (R3, "deletes a directory of the work tree"),
            EffectScope::TreeTracked => (R2, "deletes a file under version control"),
            EffectScope::TreeUntracked if recursive => (R4, "deletes a directory of the work tree"),
            EffectScope::TreeUntracked if arg.glob && is_wide(text) => {
                (R3, "deletes every file that matches")
            }
            // Keys and passwords are usually kept out of version control.
            EffectScope::TreeUntracked
                if tracked.is_none() && secrecy(text) == Some(Secrecy::Secret) =>
            {
                (R3, "deletes a file with secrets")
            }
            EffectScope::TreeUntracked if tracked.is_none() && is_data(text) => {
                (R3, "deletes a database")
            }
            EffectScope::TreeUntracked if tracked == Some(false) => {
                (R3, "deletes a file that is not under version control")
            }
            EffectScope::TreeUntracked => (R2, "deletes a named file of the work tree"),
            EffectScope::Device => (R4, "deletes a device"),
            EffectScope::System => (R4, "deletes system files"),
            EffectScope::Home if secrecy(text).is_some() => (R4, "deletes a key"),
            EffectScope::Home | EffectScope::Outside
                if elsewhere_artefact(&place.path)
                    || place.through_link && is_artefact(&place.path) =>
            {
                (R3, "deletes regenerable files of another tree")
            }
            EffectScope::Home if is_home_cache(&place.path) => (R2, "deletes a cache"),
            EffectScope::Home if recursive || place.whole => (R4, "deletes in the home directory"),
            EffectScope::Home => (R3, "deletes a file in the home directory"),
            EffectScope::Outside if recursive || place.whole => {
                (R4, "deletes outside the work tree")
            }
            EffectScope::Outside | EffectScope::Remote | EffectScope::Unknown => {
                (R3, "deletes outside the work tree")
            }
        };
        // A recursive delete of one named file-like operand is as likely a file.
        let certainty = if place.scope == EffectScope::Unknown {
            Certainty::Unresolved
        } else {
            Certainty::Proven
        };
        self.push(
            call,
            program,
            EffectKind::Delete,
            &place.display,
            place.scope,
            reversibility,
            certainty,
            why,
        );
    }

    fn delete_unknown(
        &mut self,
        arg: &Arg,
        place: &PathLocation,
        recursive: bool,
        program: &str,
        call: &CommandContext,
    ) {
        let text = arg.text.as_str();
        let known = |scope: EffectScope| scope == place.scope;
        // `/tmp/$X`, `build/$X`: wherever it points, unless it climbs.
        let below = !text.starts_with('$')
            && !text.contains("..")
            && (known(EffectScope::Temp) || known(EffectScope::TreeArtefact));
        let (reversibility, why) =
            if below || (known(EffectScope::TreeArtefact) && !text.contains("..")) {
                (Reversibility::R2, "deletes temporary or regenerable files")
            } else if recursive {
                (Reversibility::R4, "deletes a path known only at run time")
            } else if call.input != Flow::None || call.is_repeated {
                (Reversibility::R3, "deletes the paths in its input")
            } else if matches!(
                place.scope,
                EffectScope::System | EffectScope::Home | EffectScope::Outside
            ) && !text.starts_with('$')
            {
                (Reversibility::R3, "deletes a path known only at run time")
            } else {
                (Reversibility::R2, "deletes a file known only at run time")
            };
        self.push(
            call,
            program,
            EffectKind::Delete,
            text,
            EffectScope::Unknown,
            reversibility,
            Certainty::Unresolved,
            why,
        );
    }
}

/// Whether a path is an artefact at least two directories below the home or the root.
fn elsewhere_artefact(path: &str) -> bool {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let absolute_home = parent.starts_with("/home/") || parent.starts_with("/Users/");
    let least = if absolute_home { 3 } else { 1 };
    parent.matches('/').count() >= least && is_artefact(name)
}

/// Whether a path is data that programs keep in the home and can fetch again: a cache directory,
/// but not all of them.
fn is_home_cache(path: &str) -> bool {
    const CACHES: &[&str] = &[
        "/.cache/",
        "/.npm/_cacache",
        "/.gradle/caches",
        "/.cargo/registry",
        "/Library/Caches/",
        "/.pnpm-store/",
        "/.yarn/cache",
        "/.nuget/packages",
        "/go/pkg/mod",
    ];
    let rest =
        CACHES.iter().find_map(|cache| path.split_once(cache).map(|(_, rest)| (cache, rest)));
    rest.is_some_and(|(cache, rest)| !cache.ends_with('/') || !matches!(rest, "" | "*"))
}

/// Whether a program is known not to move anything to a new path.
fn brings_nothing(program: &str) -> bool {
    matches!(
        program,
        "cd" | "pushd"
            | "popd"
            | "echo"
            | "printf"
            | "ls"
            | "test"
            | "["
            | "true"
            | ":"
            | "pwd"
            | "set"
            | "export"
            | "mkdir"
            | "touch"
            | "rm"
            | "rmdir"
            | "cat"
            | "sleep"
            | "which"
            | "date"
            | "head"
            | "tail"
            | "grep"
            | "wc"
    )
}

/// Whether a pattern matches more than one kind of file.
fn is_wide(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    // `*(.)` of zsh chooses by the kind of file.
    let name = name.split('(').next().unwrap_or(name);
    let stem = name.trim_matches(['*', '?']);
    stem.is_empty()
        || stem == "."
        || (name.starts_with('*') && stem.starts_with('.') && !is_scratch(stem))
}

/// Whether a file is a database that is not one of a test.
pub(crate) fn is_data(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let ending = lower.rsplit('.').next().unwrap_or("");
    let passing =
        ["test", "tmp", "temp", "e2e", "mock", "fixture", "example", "demo", "sample", "cache"];
    matches!(ending, "sqlite" | "sqlite3" | "db" | "db3" | "mdb" | "rdb" | "duckdb")
        && !passing.iter().any(|word| lower.contains(word))
}

fn is_scratch(ending: &str) -> bool {
    matches!(
        ending,
        ".pyc"
            | ".o"
            | ".log"
            | ".tmp"
            | ".bak"
            | ".class"
            | ".orig"
            | ".rej"
            | ".swp"
            | ".tgz"
            | ".out"
    )
}
