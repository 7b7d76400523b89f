//! Shells and other interpreters: text passed to them is analyzed, downloads passed to them are
//! refused.
//!
//! ```denied
//! bash -c 'rm -rf /etc'
//! sh -lc "git reset --hard"
//! bash <<< 'rm -rf /'
//! echo 'rm -rf /' | sh
//! python3 -c "import os; os.system('rm -rf /')"
//! node -e "require('fs').rmSync('/etc',{recursive:true})"
//! ruby -e "FileUtils.rm_rf('/home/u')"
//! perl -e 'system("rm -rf /")'
//! echo cm0gLXJmIC8= | base64 -d | sh
//! php -r 'shell_exec("rm -rf /");'
//! bash -c 'bash -c "bash -c \"rm -rf /etc\""'
//! bash -c 'rm -rf $0' /etc
//! tmux send-keys 'rm -rf /' Enter
//! python -c "import subprocess; subprocess.run(['rm','-rf','/etc'])"
//! printf '\x72\x6d -rf /' | sh
//! bash --rcfile <(echo 'rm -rf /srv/data') -i
//! PS4='$(rm -rf /srv/data)' bash -xc true
//! ocaml -e 'Sys.command "rm -rf /srv/data"'
//! erl -noshell -eval 'os:cmd("rm -rf /srv/data"), halt().'
//! crystal eval 'FileUtils.rm_rf("/srv/data")'
//! runghc <<< 'main = callCommand "rm -rf /srv/data"'
//! bash <<E
//! | rm -rf /
//! | E
//! python3 <<E
//! | import shutil
//! | shutil.rmtree('/home/u')
//! | E
//! exec 3<<<'rm -rf /etc'; bash /dev/fd/3
//! exec 3<<'E'
//! | rm -rf /etc
//! | E
//! | source /dev/fd/3
//! exec {fd}<<'E'
//! | rm -rf /etc
//! | E
//! | source /dev/fd/$fd
//! ```
//! ```asked
//! bash -c "$X"
//! history | bash
//! curl h | base64 -d > x; cat y | base64 -d | sh
//! python -c "import shutil; shutil.rmtree(p)"
//! tmux kill-server
//! perl -i -ne 'print if 0' src/a.rb
//! perl -pi -e '$_=""' src/a.rb
//! python3 -c "$CODE"
//! ENV=<(echo rm -rf /srv/data) sh -i
//! ```
//! ```allowed
//! bash script.sh
//! python -c "print('rm -rf /')"
//! echo 'rm -rf /' | sh -n
//! bash -n x.sh
//! node app.js
//! python -m pytest
//! ruby -c x.rb
//! bash -c 'echo "rm -rf /"'
//! source venv/bin/activate
//! make clean
//! cat x.py | python3 x.py
//! perl -pe 's/a/b/' f
//! perl -pi -e 's/a/b/' src/a.rb
//! perl -i -ne 'print unless /x/' src/a.rb
//! bash --rcfile ~/.bashrc -i
//! python -c "import os; os.remove('a.txt')"
//! python3 - <<E
//! | print('shutil.rmtree')
//! | E
//! ```

use super::frameworks;
use crate::analyze::CommandContext;
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::pipes::Flow;
use crate::program::Program;
use crate::run::CommandRun;
use Reversibility::{R1, R3, R5};

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    match run.name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "mksh" | "rbash" | "csh"
        | "tcsh" | "yash" | "oksh" | "elvish" | "xonsh" | "nu" | "osh" => shell(run),
        "source" | "." => {
            // `source <(tool completion bash)` is how shells are configured: it needs no
            // approval, but is not approved either.
            let unknown = run.call.processes.first() == Some(&Flow::Unknown);
            if unknown && !run.call.remote && !run.call.secret {
                run.analyzer.note(Some(crate::ir::Partial::Syntax));
                return;
            }
            if let Some(arg) = run.args.first().cloned() {
                execute_file(run, &arg, |run, text| run.shell_text(text));
            }
        }
        "expect" | "tclsh" | "wish" => tcl(run),
        "tmux" | "screen" => multiplexer(run),
        "make" | "gmake" | "just" | "task" if !only_shows_tasks(run) => {
            make_texts(run);
            // The names of targets say what they do.
            let words = super::plain_words(run.args);
            if words.iter().any(|word| {
                matches!(
                    *word,
                    "db-drop"
                        | "db-reset"
                        | "drop-db"
                        | "reset-db"
                        | "destroy"
                        | "nuke"
                        | "tf-destroy"
                        | "terraform-destroy"
                        | "db:drop"
                        | "db:reset"
                )
            }) {
                run.sure(
                    EffectKind::Delete,
                    &words.join(" "),
                    EffectScope::Unknown,
                    R3,
                    Certainty::Likely,
                    "runs a target that says it destroys",
                );
            }
        }
        "java" => {
            let words = super::plain_words(run.args);
            if words.iter().any(|word| word.ends_with("jenkins-cli.jar")) {
                super::unknown::run(run);
            }
        }
        // Code that names no file of its own: `deno run -`.
        "deno" | "bun"
            if !run
                .args
                .iter()
                .any(|arg| matches!(&*arg.text, "eval" | "-e" | "--eval" | "-p" | "--print")) =>
        {
            run_script(run, Language::JavaScript);
        }
        "pwsh" | "powershell" | "cmd" => windows(run),
        _ => code(run),
    }
}

/// Analyzes an interpreter whose name ends in its version.
pub(super) fn versioned(run: &mut CommandRun<'_, '_>) {
    let Some(name) = super::versioned(run.name) else { return };
    let mut words = vec![Arg::plain(name)];
    words.extend_from_slice(run.args);
    let input = run.call.input.clone();
    run.inner(words, input);
}

fn shell(run: &mut CommandRun<'_, '_>) {
    let grammar = Program::open("o= O= rcfile= init-file=");
    let (parsed, at) = grammar.parse_until(run.args, true);
    // `+n` behind `-n` reads and runs again.
    let runs_again = run.args.iter().any(|arg| arg.text.starts_with('+') && arg.text.contains('n'));
    if parsed.informs() || parsed.has("n", "") && !runs_again {
        return;
    }
    let rest = run.args.get(at..).unwrap_or_default();
    startup(run, &parsed);
    if parsed.has("c", "") {
        let Some(text) = rest.first().cloned() else { return };
        if text.dynamic {
            unknown_code(run, &text.text);
            if !text.text.starts_with('$') {
                run.shell_text(&text.text);
            }
            return;
        }
        for (index, arg) in rest.iter().skip(1).enumerate().take(9) {
            let value = arg.literal().map_or(crate::expand::ShellVariable::Dynamic, |text| {
                crate::expand::ShellVariable::Texts(vec![text.to_owned()])
            });
            run.analyzer.variables.set(&index.to_string(), value);
        }
        // Hosts start command lines with a login shell; any other text is indirect.
        let indirect = run.call.indirect || !parsed.has("l", "");
        let call = CommandContext { indirect, input: Flow::None, ..run.call.clone() };
        run.analyzer.text(&text.text, &call);
        return;
    }
    let script = rest.first().filter(|arg| arg.text != "-");
    if let Some(script) = script.filter(|_| !parsed.has("s", "")) {
        let script = script.clone();
        if script.dynamic && is_one_variable(&script.text) {
            // The code is in a file, which the variable only names.
            let why = "runs a script file named by a variable";
            let certainty = Certainty::Unresolved;
            run.sure(
                EffectKind::ExecuteUntrusted,
                &script.text,
                EffectScope::Unknown,
                R1,
                certainty,
                why,
            );
        }
        let arguments = rest.get(1..).unwrap_or_default().to_vec();
        run.analyzer.variables.set_arguments(&arguments);
        execute_file(run, &script, |run, text| run.shell_text(text));
        return;
    }
    let input = run.call.input.clone();
    execute(run, input, |_| true, |run, text| run.shell_text(text));
}

/// Analyzes what a shell runs first: the file of `--rcfile` and the commands in its prompts.
fn startup(run: &mut CommandRun<'_, '_>, parsed: &crate::options::ParsedOptions<'_>) {
    let files = ["rcfile", "init-file"].iter().filter_map(|name| parsed.value("", name));
    let variables = ["BASH_ENV", "ENV", "ZDOTDIR"].iter().filter_map(|name| run.env(name));
    let files: Vec<Arg> = files.chain(variables).map(Arg::plain).collect();
    for file in files {
        execute_file(run, &file, |run, text| run.shell_text(text));
    }
    let prompts = ["PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND"];
    let texts: Vec<String> =
        prompts.iter().filter_map(|name| run.env(name)).map(str::to_owned).collect();
    for text in texts {
        // A prompt runs its substitutions, `PROMPT_COMMAND` all of its text.
        run.shell_text(&format!(": \"{text}\""));
        run.shell_text(&text);
    }
}

/// Runs the input as code: `known` analyzes text, `is_code` decides whether unknown input is code
/// at all.
fn execute(
    run: &mut CommandRun<'_, '_>,
    flow: Flow,
    is_code: impl FnOnce(&Flow) -> bool,
    known: impl FnOnce(&mut CommandRun<'_, '_>, &str),
) {
    match flow {
        Flow::None => {}
        Flow::Text(text) => known(run, &text),
        Flow::Remote => execute_download(run),
        Flow::Decoded => execute_decoded(run, "decoded text"),
        Flow::File(path) => execute_file(run, &Arg::plain(&path), known),
        flow @ (Flow::Unknown | Flow::Secret | Flow::Version(_)) => {
            if is_code(&flow) {
                execute_unknown(run, "its input");
            }
        }
    }
}

/// Whether a text is a single variable such as `$CODE`.
fn is_one_variable(text: &str) -> bool {
    text.strip_prefix('$').is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_{}".contains(c))
    })
}

fn execute_download(run: &mut CommandRun<'_, '_>) {
    let why = "runs downloaded code";
    run.effect(EffectKind::ExecuteUntrusted, "a download", EffectScope::Remote, R5, why);
}

fn execute_decoded(run: &mut CommandRun<'_, '_>, text: &str) {
    let certainty = Certainty::Unresolved;
    let why = "runs what it decodes";
    run.sure(EffectKind::ExecuteUntrusted, text, EffectScope::Unknown, R3, certainty, why);
}

fn execute_unknown(run: &mut CommandRun<'_, '_>, text: &str) {
    let certainty = Certainty::Unresolved;
    let why = "runs text known only at run time";
    run.sure(EffectKind::ExecuteUntrusted, text, EffectScope::Unknown, R1, certainty, why);
}

fn unknown_code(run: &mut CommandRun<'_, '_>, text: &str) {
    if run.call.remote {
        execute_download(run);
    } else if text.starts_with('$') {
        execute_unknown(run, text);
    }
}

/// Runs a file as code if the command line wrote or downloaded it itself, or if it is `<(…)` or
/// standard input. Other files belong to the work tree and are not read.
fn execute_file(
    run: &mut CommandRun<'_, '_>,
    arg: &Arg,
    known: impl FnOnce(&mut CommandRun<'_, '_>, &str),
) {
    if arg.text.contains("/dev/fd/63") {
        let flow = run.call.processes.first().cloned().unwrap_or(Flow::Unknown);
        let flow = if run.call.remote { Flow::Remote } else { flow };
        execute(run, flow, |_| true, known);
        return;
    }
    if matches!(arg.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
        let input = run.call.input.clone();
        let input = if matches!(input, Flow::File(_)) { Flow::Unknown } else { input };
        execute(run, input, |_| true, known);
        return;
    }
    let path = run.analyzer.place(&arg.text).path;
    if let Some(text) = run.analyzer.script_text(&arg.text) {
        let before = run.analyzer.effects.len();
        known(run, &text);
        // Programs of other languages use paths known only at run time.
        if !is_shell(run.name) && run.analyzer.made.text(&path).is_none() {
            let mut index = 0;
            run.analyzer.effects.retain(|effect| {
                index += 1;
                index <= before || effect.certainty == Certainty::Proven
            });
        }
    }
    if run.analyzer.made.is_cloned(&path) {
        let why = "runs a program of a repository that was just cloned";
        run.effect(EffectKind::ExecuteUntrusted, &arg.text, EffectScope::Remote, R1, why);
    }
    if path.contains("/fd/") && run.analyzer.is_download(&path) {
        execute_download(run);
    } else if run.analyzer.is_download(&path) {
        run.effect(
            EffectKind::ExecuteUntrusted,
            &arg.text,
            EffectScope::Remote,
            R5,
            "runs what was downloaded",
        );
    }
}

fn is_shell(name: &str) -> bool {
    name.ends_with("sh") || matches!(name, "source" | ".")
}

fn code(run: &mut CommandRun<'_, '_>) {
    let name = run.name;
    if name == "dart" && run.args.first().is_some_and(|arg| arg.text == "pub") {
        return super::packages::run(run);
    }
    // `dart run FILE`, `scala-cli run -e CODE`, `kotlinc -script FILE`
    let verb = run.args.first().map_or("", |arg| arg.text.as_str());
    let has_verb = matches!(name, "dart" | "scala-cli" | "crystal" | "nim")
        && matches!(verb, "run" | "r" | "e" | "c" | "compile" | "test");
    if has_verb || (matches!(name, "kotlinc" | "kotlin") && verb == "-script") {
        let args = run.args.get(1..).unwrap_or_default();
        let mut inner = CommandRun { analyzer: &mut *run.analyzer, name, args, call: run.call };
        return code(&mut inner);
    }
    let language = match name {
        "node" | "nodejs" | "tsx" | "ts-node" | "zx" | "esno" | "vite-node" | "qjs" | "d8" => {
            Language::JavaScript
        }
        "ruby" | "irb" | "crystal" | "jruby" => Language::Ruby,
        "perl" | "raku" => Language::Perl,
        "php" => Language::Php,
        "osascript" => Language::AppleScript,
        "deno" | "bun" => Language::JavaScript,
        _ if name.starts_with("py") || name == "ipython" => Language::Python,
        _ => Language::Other,
    };
    if is_code_of_lisp(name) {
        return lisp(run);
    }
    in_place(run, language);
    let grammar = match language {
        Language::Python => Program::open("c= m= W= X="),
        Language::JavaScript => {
            Program::open("e= p= r= C= eval= print= require= import= env-file= loader=")
        }
        Language::Ruby => Program::open("e= I= r= C="),
        Language::Perl => Program::open("e= E= I= M= m="),
        Language::Php => Program::open("r= d= f= c= B= R= F= E= run= define="),
        Language::AppleScript
        | Language::Lisp
        | Language::Vim
        | Language::PowerShell
        | Language::Other => Program::open("c= e= g= eval= expr= execute= exec= batch= run="),
    };
    // `deno eval CODE`, `crystal eval CODE`, `erl -eval CODE`, `nim --eval:CODE`
    let given = run.args.iter().zip(run.args.iter().skip(1)).find_map(|(flag, code)| {
        matches!(&*flag.text, "eval" | "-eval" | "-batch").then(|| code.text.clone())
    });
    let attached = run.args.iter().find_map(|arg| arg.text.strip_prefix("--eval:"));
    if let Some(code) = given.or(attached.map(str::to_owned)) {
        // Modules of Erlang stand before a colon.
        let code = if name == "erl" { code.replace(':', ".") } else { code };
        inline::scan(run, language, &code);
        return;
    }
    // `node -pe CODE`: both letters stand before the same code.
    if let (Language::JavaScript, [flag, code, ..]) = (language, run.args)
        && matches!(&*flag.text, "-pe" | "-ep")
    {
        let code = code.text.clone();
        return inline::scan(run, language, &code);
    }
    let (parsed, at) = grammar.parse_until(run.args, true);
    if parsed.informs() || (language == Language::Ruby && parsed.has("c", "")) {
        return;
    }
    let mut given = false;
    for option in &parsed.options {
        let is_code = match language {
            Language::Python => option.name == "c",
            Language::Php => matches!(option.name, "r" | "run"),
            Language::Perl => matches!(option.name, "e" | "E"),
            Language::Other => {
                matches!(
                    option.name,
                    "e" | "c" | "g" | "eval" | "expr" | "execute" | "exec" | "batch"
                )
            }
            _ => matches!(option.name, "e" | "eval" | "p" | "print"),
        };
        if is_code && let Some(code) = option.value {
            given = true;
            // Long strings of Lua are in double brackets.
            let lua = code.replace("[[", "\"").replace("]]", "\"");
            let code = if name.starts_with("lua") { lua.as_str() } else { code };
            if option.dynamic && (run.call.remote || is_one_variable(code)) {
                unknown_code(run, code);
            }
            let code = code.to_owned();
            inline::scan(run, language, &code);
        }
        if language == Language::Python && option.name == "m" {
            module(run, option.value.unwrap_or(""), at);
            return;
        }
    }
    if given {
        return;
    }
    let rest = run.args.get(at..).unwrap_or_default();
    match rest.first() {
        Some(script) if script.text != "-" => {
            let script = script.clone();
            execute_file(run, &script, |run, text| inline::scan(run, language, text));
            let base = script.text.rsplit('/').next().unwrap_or("");
            if matches!(
                base,
                "manage.py" | "artisan" | "console" | "rails" | "rake" | "drush" | "wp"
            ) {
                let base = base.to_owned();
                frameworks::named(run, &base, at + 1);
            }
        }
        _ => {
            // Many programs are fed data by a pipe; without a script it is code.
            let has_no_script = !rest.is_empty() || run.args.is_empty();
            let is_code = |flow: &Flow| *flow == Flow::Unknown && has_no_script;
            let input = run.call.input.clone();
            execute(run, input, is_code, |run, text| inline::scan(run, language, text));
        }
    }
}

/// Reports `perl -i -ne CODE FILE` that prints nothing: code that works in place and prints nothing
/// empties the file.
fn in_place(run: &mut CommandRun<'_, '_>, language: Language) {
    if !matches!(language, Language::Perl | Language::Ruby) {
        return;
    }
    let grammar = Program::open("e= E= I= M= m= r=");
    let parsed = grammar.parse(run.args);
    if !parsed.options.iter().any(|given| !given.long && given.name == "i") {
        return;
    }
    let code: String = parsed
        .options
        .iter()
        .filter(|given| matches!(given.name, "e" | "E"))
        .filter_map(|given| given.value)
        .collect::<Vec<_>>()
        .join(";");
    let code = code.trim();
    let prints = ["print", "say", "puts", "write", "$stdout", "STDOUT", "putc", "syswrite"];
    let is_mute = !prints.iter().any(|word| code.contains(word)) || code == "print if 0";
    let flat: String = code.chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
    let takes_all = matches!(
        flat.as_str(),
        "$_=\"\""
            | "$_=''"
            | "undef$_"
            | "$_=undef"
            | "s/.*\\n//"
            | "s/.*//s"
            | "s/^.*$//s"
            | "$_=q()"
    );
    let loops = parsed.options.iter().any(|given| !given.long && given.name == "n");
    let repeats = parsed.options.iter().any(|given| !given.long && given.name == "p");
    if (loops && !repeats && is_mute) || (repeats && takes_all) {
        let call = run.call;
        for arg in &parsed.operands {
            run.analyzer.empty_file(arg, run.name, call);
        }
    }
}

/// Analyzes `deno run FILE`, `bun run -`: a script, an address or standard input.
fn run_script(run: &mut CommandRun<'_, '_>, language: Language) {
    let Some(at) =
        run.args.iter().position(|arg| matches!(&*arg.text, "run" | "install" | "serve"))
    else {
        return;
    };
    let operand =
        run.args.iter().skip(at + 1).find(|arg| !arg.text.starts_with('-') || arg.text == "-");
    match operand.cloned() {
        Some(arg) if is_foreign_address(&arg.text) => {
            let why = "runs downloaded code";
            run.effect(EffectKind::ExecuteUntrusted, &arg.text, EffectScope::Remote, R3, why);
        }
        Some(arg) if arg.text != "-" => {
            execute_file(run, &arg, |run, text| inline::scan(run, language, text));
        }
        _ => {
            let input = run.call.input.clone();
            execute(run, input, |_| false, |run, text| inline::scan(run, language, text));
        }
    }
}

/// Whether a text is a network address outside the registries, whose packages have names.
fn is_foreign_address(text: &str) -> bool {
    let own = ["jsr:", "npm:", "https://deno.land/", "https://jsr.io/", "https://esm.sh/"];
    text.contains("://") && !own.iter().any(|start| text.starts_with(start))
}

/// Analyzes `python -m MODULE …`.
fn module(run: &mut CommandRun<'_, '_>, module: &str, at: usize) {
    let rest = run.args.get(at..).unwrap_or_default().to_vec();
    // A served directory is readable by every client.
    let is_secret = |arg: &Arg| {
        crate::secrets::is_secret(&arg.text)
            || crate::secrets::is_secret(&format!("{}/x", arg.text))
    };
    if module == "http.server"
        && rest.iter().any(|arg| is_secret(arg) || matches!(&*arg.text, "/" | "~"))
    {
        run.effect(
            EffectKind::SendOut,
            "the network",
            EffectScope::Remote,
            R3,
            "serves secrets to the network",
        );
    }
    let name = match module {
        "pip" | "twine" | "poetry" | "flask" | "alembic" | "uv" | "hatch" | "flit" | "celery"
        | "django" | "ansible" => module,
        _ => return,
    };
    let name = if name == "django" { "django-admin" } else { name };
    let mut words = vec![Arg::plain(name)];
    words.extend(rest);
    run.inner(words, Flow::Unknown);
}

/// Analyzes rules passed to `make` in words, through a pipe or in a file just written.
/// Whether a task runner only shows what it would run.
fn only_shows_tasks(run: &CommandRun<'_, '_>) -> bool {
    let shows = |arg: &Arg| match run.name {
        "make" | "gmake" => matches!(
            &*arg.text,
            "-n" | "--just-print" | "--dry-run" | "--recon" | "-q" | "--question" | "--help" | "-v"
        ),
        "just" => matches!(
            &*arg.text,
            "--show"
                | "-s"
                | "--list"
                | "-l"
                | "--summary"
                | "--dump"
                | "--dry-run"
                | "-n"
                | "--evaluate"
                | "--variables"
                | "--fmt"
                | "--groups"
                | "--usage"
                | "--help"
        ),
        _ => matches!(
            &*arg.text,
            "--list"
                | "-l"
                | "--list-all"
                | "-a"
                | "--summary"
                | "--dry"
                | "-n"
                | "--status"
                | "--help"
                | "-h"
        ),
    };
    run.args.iter().take_while(|arg| arg.text != "--").any(shows)
}

fn make_texts(run: &mut CommandRun<'_, '_>) {
    let mut texts: Vec<String> = Vec::new();
    let mut previous = "";
    for arg in run.args {
        let text = arg.text.as_str();
        texts.extend(text.strip_prefix("--eval=").map(str::to_owned));
        texts.extend(Some(text).filter(|_| previous == "--eval").map(str::to_owned));
        if let ("-f" | "--file" | "--makefile", "-" | "/dev/stdin", Flow::Remote) =
            (previous, text, &run.call.input)
        {
            return execute_download(run);
        }
        if let ("-f" | "--file" | "--makefile", "-" | "/dev/stdin", Flow::Text(input)) =
            (previous, text, &run.call.input)
        {
            texts.push(input.clone());
        }
        if let ("-f" | "--file" | "--makefile", true, Some(Flow::Text(rules))) =
            (previous, text.contains("/dev/fd/"), run.call.processes.first())
        {
            texts.push(rules.clone());
        }
        previous = text;
    }
    for text in texts {
        for command in text.split("$(shell ").skip(1).filter_map(|rest| rest.rsplit_once(')')) {
            run.shell_text(command.0);
        }
        for line in text.lines() {
            // A recipe follows a tab, or the `;` of its rule.
            let recipe = line.strip_prefix('\t').or_else(|| Some(line.split_once(';')?.1));
            if let Some(recipe) = recipe {
                run.shell_text(recipe.trim_start_matches(['@', '-', ' ']));
            }
        }
    }
}

fn is_code_of_lisp(name: &str) -> bool {
    matches!(
        name,
        "guile"
            | "sbcl"
            | "racket"
            | "clojure"
            | "clj"
            | "bb"
            | "scheme"
            | "csi"
            | "chez"
            | "clisp"
            | "ecl"
            | "fennel"
            | "janet"
            | "lein"
            | "hy"
    )
}

/// Analyzes Lisp passed to an interpreter with an option.
fn lisp(run: &mut CommandRun<'_, '_>) {
    let is_code = |flag: &str| matches!(flag, "-c" | "-e" | "--eval");
    let given = run.args.windows(2).filter_map(|pair| match pair {
        [flag, code] if is_code(&flag.text) => Some(code.text.clone()),
        _ => None,
    });
    let given: Vec<String> = given.collect();
    let has_no_file = run.args.iter().all(|arg| arg.text.starts_with('-'));
    if let (true, true, Flow::Text(text)) = (given.is_empty(), has_no_file, &run.call.input) {
        let text = text.clone();
        inline::scan(run, Language::Lisp, &text);
    }
    for code in given {
        inline::scan(run, Language::Lisp, &code);
    }
}

/// Analyzes Lisp passed to `emacs` with `--eval`.
pub(super) fn emacs(run: &mut CommandRun<'_, '_>) {
    let given = run.args.windows(2).filter_map(|pair| match pair {
        [flag, code] if matches!(flag.text.as_str(), "--eval" | "-eval" | "--execute" | "-e") => {
            Some(code.text.clone())
        }
        _ => None,
    });
    let attached = run.args.iter().filter_map(|arg| arg.text.strip_prefix("--eval="));
    let all: Vec<String> = given.chain(attached.map(str::to_owned)).collect();
    for code in all {
        inline::scan(run, Language::Lisp, &code);
    }
}

/// Analyzes Tcl, in which only `spawn`, `exec` and `file delete` matter.
fn tcl(run: &mut CommandRun<'_, '_>) {
    let given = run.args.windows(2).find(|pair| matches!(pair, [flag, _] if flag.text == "-c"));
    let code = match (given, &run.call.input) {
        (Some([_, code]), _) => code.text.clone(),
        (_, Flow::Text(text)) => text.clone(),
        _ => return,
    };
    for statement in code.split(['\n', ';']).take(256) {
        let statement = statement.trim().trim_start_matches(['[', '{']);
        let starts = ["spawn ", "exec ", "system "];
        if let Some(command) = starts.iter().find_map(|start| statement.strip_prefix(start)) {
            run.shell_text(command);
        } else if let Some(paths) = statement.strip_prefix("file delete ") {
            let paths = paths.trim_start_matches("-force ").trim_start_matches("-- ");
            run.shell_text(&format!("rm -rf {paths}"));
        }
    }
}

/// Analyzes `tmux new -d 'command'`, `tmux send-keys … 'command' Enter`.
fn multiplexer(run: &mut CommandRun<'_, '_>) {
    let words = super::plain_words(run.args);
    let first = words.first().copied().unwrap_or("");
    // Of one session by its name nothing else goes.
    let is_one = run.args.iter().any(|arg| arg.text.starts_with("-t"))
        && !run.args.iter().any(|arg| arg.text == "-a");
    if first == "kill-server" || first == "kill-session" && !is_one {
        run.ask(
            EffectKind::StopService,
            &words.join(" "),
            EffectScope::Outside,
            "stops everything in its windows",
        );
        return;
    }
    if matches!(
        first,
        "send-keys"
            | "send"
            | "new-session"
            | "new"
            | "new-window"
            | "neww"
            | "split-window"
            | "splitw"
            | "run-shell"
            | "run"
            | "respawn-pane"
    ) || run.name == "screen"
    {
        let texts: Vec<String> = run
            .args
            .iter()
            .filter(|arg| super::runners::is_text(&arg.text))
            .map(|arg| arg.text.clone())
            .collect();
        for text in texts {
            run.shell_text(&text);
        }
        // `screen -dmS NAME COMMAND …`, `tmux new -d COMMAND …`
        let grammar = Program::open("S= s= T= c= h= p= n= x= F= t= e= t=");
        let skip = usize::from(run.name == "tmux");
        let (_, at) = grammar.parse_until(run.args.get(skip..).unwrap_or_default(), true);
        let words = run.args.get(skip + at..).unwrap_or_default().to_vec();
        if words.len() > 1 && !matches!(first, "send-keys" | "send") {
            super::runners::suspect(run, |run| {
                run.inner(words, Flow::None);
            });
        }
    }
}

/// Analyzes the shells of Windows.
fn windows(run: &mut CommandRun<'_, '_>) {
    let is_cmd = run.name == "cmd";
    // PowerShell takes any beginning of an option's name.
    let at = run.args.iter().position(|arg| {
        let text = arg.text.to_ascii_lowercase();
        let is_start = text.len() > 1 && "-command".starts_with(&text);
        matches!(text.as_str(), "/c" | "/k") || (!is_cmd && is_start)
    });
    // A command may stand there without an option, too.
    let at = at.map(|at| at + 1).or_else(|| {
        let is_command = |arg: &Arg| super::powershell::is_cmdlet(&arg.text.to_ascii_lowercase());
        run.args.iter().position(is_command).filter(|_| !is_cmd)
    });
    let encoded = run.args.iter().position(|arg| {
        let text = arg.text.to_ascii_lowercase();
        !is_cmd && text.len() > 1 && ("-encodedcommand".starts_with(&text) || text == "-ec")
    });
    let is_help = |at: usize| run.args.get(at + 1).is_some_and(|arg| arg.text.starts_with("--"));
    if let Some(at) = encoded.filter(|at| !is_help(*at)) {
        execute_decoded(run, "encoded text");
        let text = run.args.get(at + 1).and_then(|arg| crate::pipes::base64(&arg.text));
        if let Some(text) = text {
            // Two bytes stand for each character.
            super::powershell_text::run(run, &text.replace('\0', ""));
        }
        return;
    }
    let text = match (at, &run.call.input) {
        (Some(at), _) => {
            let words = run.args.get(at..).unwrap_or_default();
            words.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")
        }
        (None, Flow::Remote) => return execute_download(run),
        (None, Flow::Text(text)) => text.clone(),
        _ => {
            let script =
                run.args.iter().find(|arg| arg.text.to_ascii_lowercase().ends_with(".ps1"));
            if let Some(script) = script.cloned() {
                execute_file(run, &script, super::powershell_text::run);
            }
            return;
        }
    };
    if is_cmd {
        run.shell_text(&text);
        if super::powershell::runs_download(&text) {
            execute_download(run);
        }
    } else {
        super::powershell_text::run(run, &text);
    }
}
