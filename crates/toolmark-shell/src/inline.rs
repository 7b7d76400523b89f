//! Code passed to an interpreter: the programs its calls start and the files they delete, write and
//! read, as far as the text proves their arguments. Text in strings that is only printed is not a
//! call.

mod aliases;
mod awk;
mod decode;
mod functions;
mod lex;
mod methods;
mod read;
mod tables;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use awk::scan as awk;

use crate::analyze::CommandContext;
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::ir::Partial;
use crate::run::CommandRun;
use functions::Deed;
use read::Deeds;
use value::InlineValue;

/// Languages with known calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
    AppleScript,
    Lisp,
    Vim,
    PowerShell,
    Other,
}

/// Words with which code moves files.
const MOVES: &[&str] =
    &["shutil.move", "os.rename", "os.replace", "rename(", "renameSync", "FileUtils.mv", ".move("];

/// Analyzes code in a language.
pub(crate) fn scan(run: &mut CommandRun<'_, '_>, language: Language, code: &str) {
    if matches!(language, Language::Other) && !code.contains(['(', '"', '`', '\'']) {
        return;
    }
    // The origin of moved files is not tracked, so no file counts as the session's own then.
    if MOVES.iter().any(|word| code.contains(word)) {
        run.analyzer.left.bring("/");
    }
    let names = aliases::in_code(code, language);
    let tokens = lex::tokens(code, language);
    let found = read::read(&tokens, language, run.name, names);
    // Code that was not read may have any effect.
    if found.is_partial || code.len() > lex::MAX_CHARS {
        run.analyzer.note(Some(Partial::TooDeep));
    }
    let call = CommandContext { fixed: true, indirect: true, ..run.call.clone() };
    // A database in memory goes with the program.
    let is_passing = code.contains(":memory:") && !code.contains("://");
    let skeleton = lex::skeleton(&tokens);
    let only_opens = writes_nothing(&skeleton);
    for deed in &found.deeds {
        if let (true, Deed::Write { path, appends: false }) = (only_opens, deed) {
            for arg in path.args() {
                run.analyzer.empty_file(&arg, run.name, &call);
            }
        }
        if !(is_passing && matches!(deed, Deed::Statement(_) | Deed::Drop(_))) {
            perform(run, language, deed, &found, &call);
        }
    }
    if found.deeds.contains(&Deed::Fork) && loops_endlessly(&skeleton) {
        let why = "starts copies of itself endlessly";
        let (scope, level) = (EffectScope::System, Reversibility::R4);
        run.effect(EffectKind::StopService, "the machine", scope, level, why);
    }
    if connects(&skeleton) && found.deeds.iter().any(starts_shell) {
        let why = "gives a shell to another machine";
        let level = Reversibility::R5;
        run.effect(EffectKind::ExecuteUntrusted, "a connection", EffectScope::Remote, level, why);
    }
    run_built_text(run, &skeleton);
    send_environment(run, &skeleton);
    delete_at_services(run, code);
    if language == Language::AppleScript {
        tell_finder(run, code);
    }
}

fn perform(
    run: &mut CommandRun<'_, '_>,
    language: Language,
    deed: &Deed,
    found: &Deeds,
    call: &CommandContext,
) {
    match deed {
        Deed::Shell(known) => run.analyzer.text(&known.text, call),
        Deed::Run(words) => {
            run.analyzer.run(words.clone(), call);
        }
        Deed::Delete { what, tree } => delete(run, what, *tree, found, call),
        Deed::Write { path, appends } => match path {
            InlineValue::Unknown | InlineValue::Name(_) => write_unknown(run, found, call),
            path => {
                for arg in path.args() {
                    run.analyzer.write_file(&arg, *appends, run.name, call);
                }
            }
        },
        Deed::Read(path) => {
            for arg in path.args() {
                run.analyzer.read_file(&arg, run.name, call);
            }
        }
        Deed::Code(code) => {
            /// Maximum nesting depth of code inside code.
            const DEEPER: usize = 4;
            if run.analyzer.spend() && run.analyzer.depth < 4 * DEEPER {
                run.analyzer.depth += DEEPER;
                scan(run, language, code);
                run.analyzer.depth -= DEEPER;
            } else {
                run.analyzer.note(Some(Partial::TooDeep));
            }
        }
        Deed::Statement(text) => {
            if crate::sql::is_statement(text) {
                let words = [Arg::plain("psql"), Arg::plain("-c"), Arg::plain(text)];
                run.inner(words.to_vec(), crate::pipes::Flow::None);
            } else if text.contains(' ') {
                // `connection.run("rm -rf …")`: a command for a machine that it is connected to.
                crate::programs::suspect(run, |run| run.analyzer.text(text, call));
            }
        }
        Deed::Drop(name) => {
            let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
            let why = "drops what a database holds";
            run.sure(EffectKind::RemoteState, name, scope, Reversibility::R5, certainty, why);
        }
        Deed::Fork => {}
        Deed::Reflect => {
            let (scope, certainty) = (EffectScope::Unknown, Certainty::Unresolved);
            let why = "runs text built at run time";
            run.sure(
                EffectKind::ExecuteUntrusted,
                "getattr",
                scope,
                Reversibility::R1,
                certainty,
                why,
            );
        }
    }
}

fn delete(
    run: &mut CommandRun<'_, '_>,
    what: &InlineValue,
    tree: bool,
    found: &Deeds,
    call: &CommandContext,
) {
    let is_known = |value: &InlineValue| {
        !matches!(value, InlineValue::Unknown | InlineValue::Name(_) | InlineValue::Map(_))
    };
    let is_empty = matches!(what, InlineValue::List(values) if !values.iter().any(is_known));
    if !is_known(what) || is_empty {
        return delete_unknown(run, tree, found, call);
    }
    for arg in what.args() {
        let name = arg.text.rsplit('/').next().unwrap_or("");
        let is_wide = arg.glob && name.starts_with('*') && !name.contains('.');
        run.analyzer.delete(&arg, tree || is_wide, run.name, call);
    }
}

/// Reports the deletion of a path known only at run time: for a single file, one of those that the
/// code lists or names.
fn delete_unknown(run: &mut CommandRun<'_, '_>, tree: bool, found: &Deeds, call: &CommandContext) {
    if tree {
        let why = "deletes a path known only at run time";
        let (level, certainty) = (Reversibility::R4, Certainty::Unresolved);
        return run.sure(
            EffectKind::Delete,
            "a directory",
            EffectScope::Unknown,
            level,
            certainty,
            why,
        );
    }
    let named = found.paths.iter().map(|path| Arg { glob: path.contains('*'), ..Arg::plain(path) });
    let listed = found.listed.iter().flat_map(InlineValue::args).filter(|arg| !arg.dynamic);
    for arg in listed.chain(named).collect::<Vec<_>>() {
        run.analyzer.delete(&arg, true, run.name, call);
    }
}

/// Reports a write to a file known only at run time: one of the protected files that the code
/// names.
fn write_unknown(run: &mut CommandRun<'_, '_>, found: &Deeds, call: &CommandContext) {
    for path in &found.paths {
        let before = run.analyzer.effects.len();
        run.analyzer.write_file(&Arg::plain(path), false, run.name, call);
        let new = run.analyzer.effects.get(before..).unwrap_or_default();
        if crate::decision::decide(new) == crate::Decision::Allow {
            run.analyzer.effects.truncate(before);
        }
    }
}

/// Whether code writes nothing to the files it opens. A file opened for writing is then left empty.
fn writes_nothing(skeleton: &str) -> bool {
    let opens = ["open(", "open", "fopen(", "File.new"].iter().any(|word| skeleton.contains(word));
    let writes = [
        "write",
        "print",
        "puts",
        "dump",
        "save",
        "to_csv",
        "to_json",
        "to_file",
        "copy",
        "<<",
        "say",
        "put",
        "stream",
        "Stream",
        "pipe(",
        "export",
        "append",
        "with",
        "subprocess",
        "stdout",
        "Popen",
        "logging",
    ];
    opens && !writes.iter().any(|word| skeleton.contains(word))
}

/// Whether code loops endlessly and waits for nothing.
fn loops_endlessly(skeleton: &str) -> bool {
    let loops = [
        "whileTrue",
        "while1",
        "while(1)",
        "while(true)",
        "while(True)",
        "while:",
        "for(;;)",
        "loop{",
        "loopdo",
        "untilfalse",
        "untilFalse",
        "iter(int,1)",
        "itertools.count",
        "cycle(",
        "whilefork",
        "while(fork",
        "repeat{",
        "whiletrue",
    ];
    let waits = ["accept(", "wait", "join(", "sleep", "recv(", ".get("];
    loops.iter().any(|word| skeleton.contains(word))
        && !waits.iter().any(|word| skeleton.contains(word))
}

/// Whether code opens a connection of its own.
fn connects(skeleton: &str) -> bool {
    let words = [
        "socket.socket",
        "create_connection",
        "TCPSocket",
        "fsockopen",
        "net.connect",
        "net.Socket",
        "net.createConnection",
        "IO::Socket",
        "useSocket",
        "stream_socket_client",
        "net.Dial",
        "socket.tcp",
    ];
    words.iter().any(|word| skeleton.contains(word))
}

/// Whether a shell is started with nothing to run.
fn starts_shell(deed: &Deed) -> bool {
    let line = match deed {
        Deed::Shell(known) => known.text.clone(),
        Deed::Run(words) => {
            words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => return false,
    };
    let mut words = line.split_whitespace();
    let name = crate::run::program_name(words.next().unwrap_or(""));
    matches!(name.as_str(), "sh" | "bash" | "zsh" | "dash" | "ksh" | "cmd" | "powershell" | "pwsh")
        && words.next().is_none_or(|word| word != "-c" && word != "-lc")
}

/// Reports code that is decoded or downloaded and then run.
fn run_built_text(run: &mut CommandRun<'_, '_>, skeleton: &str) {
    let has = |names: &[&str]| names.iter().any(|name| skeleton.contains(name));
    let runs = [
        "exec(",
        "eval(",
        "(eval)",
        "evalURI",
        "evalget(",
        "evalfile_get",
        "evalLWP",
        "Function(",
        "instance_eval",
        "compile(",
        "load(io.",
        "loadstring(",
    ];
    if !has(&runs) {
        return;
    }
    let downloads = [
        "urlopen",
        "requests.get",
        "httpx.get",
        "fetch(",
        "Net::HTTP",
        "https.get",
        "http.get",
        "URI.open",
        "LWP::Simple",
        "urllib.request",
        "file_get_contents(\"http",
        "get(\"http",
        "open(\"http",
        "read(\"http",
        "io.popen(",
    ];
    if has(&downloads) {
        let why = "runs downloaded code";
        run.effect(
            EffectKind::ExecuteUntrusted,
            "a download",
            EffectScope::Remote,
            Reversibility::R5,
            why,
        );
    }
    if has(&["b64decode", "atob(", "Buffer.from", "decode64", "unpack", "fromhex", "unhexlify"]) {
        let (scope, certainty) = (EffectScope::Unknown, Certainty::Unresolved);
        let (level, why) = (Reversibility::R3, "runs what it decodes");
        run.sure(EffectKind::ExecuteUntrusted, "decoded text", scope, level, certainty, why);
    }
}

/// Reports the whole environment being put into a request.
fn send_environment(run: &mut CommandRun<'_, '_>, skeleton: &str) {
    let sends = [
        "requests.post",
        "requests.put",
        "requests.get(\"http",
        "urlopen",
        "httpx.post",
        "fetch(",
        "axios",
        "http.request",
        "https.request",
        "Net::HTTP",
        "HTTParty",
        "curl_exec",
        "got(",
        "got.post",
        "aiohttp",
        "socket.",
        "net.connect",
    ];
    // The value of one variable is how programs log in.
    let whole = [
        "process.env",
        "os.environ",
        "ENV.to_h",
        "ENV.to_hash",
        "ENV.inspect",
        "getenv()",
        "$_ENV",
        "$_SERVER",
        "System.getenv()",
    ];
    let is_whole = |name: &&str| {
        skeleton.match_indices(*name).any(|(at, _)| {
            let next = skeleton.get(at + name.len()..).and_then(|rest| rest.chars().next());
            !matches!(next, Some('.' | '[' | '_' | '?')) || name.ends_with("()")
        })
    };
    if sends.iter().any(|word| skeleton.contains(word)) && whole.iter().any(is_whole) {
        let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
        let why = "sends the environment";
        run.sure(EffectKind::SendOut, "the environment", scope, Reversibility::R5, certainty, why);
    }
}

/// Reports calls to cloud services that delete.
fn delete_at_services(run: &mut CommandRun<'_, '_>, code: &str) {
    let cloud = [
        "boto3",
        "google.cloud",
        "azure.",
        "aws-sdk",
        "@google-cloud",
        "kubernetes",
        "import docker",
        "dockerode",
        "digitalocean",
        "stripe",
        "firebase_admin",
        "firebase-admin",
        "pymongo",
        "elasticsearch",
        "hcloud",
        "openstack",
    ];
    let deletes = [
        ".delete(",
        ".delete_",
        ".terminate_",
        ".terminate(",
        "DeleteCommand",
        ".purge",
        ".prune(",
        ".remove(force",
        ".destroy(",
        "recursiveDelete(",
        ".delete_by_query(",
    ];
    git_library(run, code);
    let says = |all: &[&str]| all.iter().all(|word| code.contains(word));
    let likely = [
        (says(&["Net::HTTP", ".delete("]), "sends a request to delete"),
        (
            says(&["http.client", "'DELETE'"]) || says(&["http.client", "\"DELETE\""]),
            "sends a request to delete",
        ),
        (
            says(&["call_command", "flush"]) || says(&["call_command", "reset_db"]),
            "drops or empties a database",
        ),
        (says(&["stripe", "Refund.create"]) || says(&["stripe", "refunds.create"]), "moves money"),
        (
            says(&["stripe", "ayout"]) && says(&["create("])
                || says(&["stripe", "ransfer", "create("]),
            "moves money",
        ),
        (says(&["smtplib", "sendmail("]) || says(&["smtplib", "send_message("]), "sends a message"),
        (says(&["nodemailer", "sendMail("]), "sends a message"),
    ];
    for (_, why) in likely.into_iter().filter(|(is_said, _)| *is_said).take(1) {
        let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
        run.sure(EffectKind::RemoteState, "a service", scope, Reversibility::R4, certainty, why);
    }
    if cloud.iter().any(|name| code.contains(name))
        && deletes.iter().any(|name| code.contains(name))
    {
        let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
        let why = "deletes at a service";
        run.sure(EffectKind::RemoteState, "a service", scope, Reversibility::R5, certainty, why);
    }
}

/// Analyzes `git.Repo(".").git.reset("--hard")`: a library method that is a git command.
fn git_library(run: &mut CommandRun<'_, '_>, code: &str) {
    if !code.contains("Repo") && !code.contains("simple-git") && !code.contains("simpleGit") {
        return;
    }
    for (at, lead) in code.match_indices(".git.").chain(code.match_indices("simpleGit().")).take(16)
    {
        let rest = code.get(at + lead.len()..).unwrap_or("");
        let Some((name, rest)) = rest.split_once('(') else { continue };
        if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let args = rest.split(')').next().unwrap_or("");
        let words = args.split([',', '[', ']']).map(|word| word.trim().trim_matches(['\'', '"']));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let text = format!("git {} {}", name.replace('_', "-"), words.join(" "));
        crate::programs::suspect(run, |run| run.shell_text(&text));
    }
    if code.contains("working_tree=True") || code.contains("force=True") && code.contains(".push(")
    {
        let (scope, certainty) = (EffectScope::TreeTracked, Certainty::Likely);
        let why = "discards local changes or overwrites a remote";
        run.sure(EffectKind::DiscardVcs, "a repository", scope, Reversibility::R4, certainty, why);
    }
}

/// Analyzes `tell application "Finder" to delete …`.
fn tell_finder(run: &mut CommandRun<'_, '_>, code: &str) {
    let says = |word: &str| code.split(|c: char| !c.is_alphanumeric()).any(|own| own == word);
    if says("shutDown") || says("restart") || code.contains("shut down") {
        let (scope, certainty) = (EffectScope::System, Certainty::Likely);
        let why = "shuts down the machine";
        run.sure(EffectKind::StopService, "the machine", scope, Reversibility::R3, certainty, why);
    }
    if (says("Finder") || says("Events")) && (says("delete") || says("empty")) {
        let (scope, certainty) = (EffectScope::Home, Certainty::Likely);
        let why = "deletes through the Finder";
        run.sure(EffectKind::Delete, "files", scope, Reversibility::R3, certainty, why);
    }
}
