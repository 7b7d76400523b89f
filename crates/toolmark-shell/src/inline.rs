//! Code given to an interpreter: a scan for calls that start commands or delete
//! files, with literal arguments. Text in strings that is merely printed is not
//! a call; calls are looked for outside strings only.

use crate::analyze::Call;
use crate::effects::{Certainty, Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::run::Run;
use std::borrow::Cow;

mod aliases;

/// The languages whose calls are known.
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
    Other,
}

/// A piece of code: text outside strings, or the text of a string.
enum Token {
    Code(String),
    Text(String),
    Shell(String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Code(text) | Self::Text(text) | Self::Shell(text) => text,
        }
    }

    /// The text of a string that can be a path.
    fn path(&self) -> Option<&str> {
        let Self::Text(text) = self else { return None };
        let is_path = (text.starts_with(['/', '~', '.']) || text.contains('/'))
            && text.len() > 1
            && !text.contains([' ', '\n', ':', '(']);
        is_path.then_some(text.as_str())
    }
}

/// How many characters of code are scanned.
const MAX_CHARS: usize = 200_000;

fn tokens(code: &str, language: Language) -> Vec<Token> {
    let mut out = Vec::new();
    let mut plain = String::new();
    let mut chars = code.chars().take(MAX_CHARS).peekable();
    let backticks = matches!(language, Language::Ruby | Language::Perl | Language::Php);
    while let Some(c) = chars.next() {
        if let Some((mark, close)) = word_list(&plain, c, language) {
            plain.truncate(plain.len() - mark.len());
            let inner: String = chars.by_ref().take_while(|d| *d != close).collect();
            out.push(Token::Code(std::mem::take(&mut plain)));
            out.push(if mark.ends_with('x') { Token::Shell(inner) } else { Token::Text(inner) });
            continue;
        }
        match c {
            '\'' | '"' | '`' => {
                if !plain.is_empty() {
                    out.push(Token::Code(std::mem::take(&mut plain)));
                }
                let mut text = String::new();
                while let Some(d) = chars.next() {
                    match d {
                        '\\' => match chars.next() {
                            Some('n') => text.push('\n'),
                            Some(e) => text.push(e),
                            None => {}
                        },
                        d if d == c => break,
                        d => text.push(d),
                    }
                }
                out.push(if c == '`' && backticks {
                    Token::Shell(text)
                } else {
                    Token::Text(text)
                });
            }
            '#' if matches!(language, Language::Python | Language::Ruby | Language::Perl) => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            '/' if chars.peek() == Some(&'/') && language == Language::JavaScript => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            c => plain.push(c),
        }
    }
    if !plain.is_empty() {
        out.push(Token::Code(plain));
    }
    out
}

/// `qw(…)` and `%w[…]` are words, `qx(…)` and `%x(…)` a command: the mark that ends
/// the code before the bracket, and the bracket that closes it.
fn word_list(code: &str, c: char, language: Language) -> Option<(&'static str, char)> {
    let close = match c {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        '/' | '|' | '!' => c,
        _ => return None,
    };
    let marks: &[&'static str] = match language {
        Language::Perl => &["qw", "qx"],
        Language::Ruby => &["%w", "%x"],
        _ => return None,
    };
    let mark = marks.iter().copied().find(|mark| code.ends_with(mark))?;
    let before = code.get(..code.len() - mark.len()).unwrap_or("");
    let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    whole.then_some((mark, close))
}

/// Words by which code moves files.
const MOVES: &[&str] =
    &["shutil.move", "os.rename", "os.replace", "rename(", "renameSync", "FileUtils.mv", ".move("];

/// Calls that start a command.
const SPAWNS: &[&str] = &[
    "os.system",
    "os.popen",
    "subprocess.run",
    "subprocess.call",
    "subprocess.Popen",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "execSync",
    "spawnSync",
    "execFileSync",
    "exec",
    "spawn",
    "execFile",
    "system",
    "shell_exec",
    "passthru",
    "proc_open",
    "popen",
    "IO.popen",
    "Open3.capture2",
    "Open3.capture3",
    "Kernel.system",
    "Kernel.exec",
    "check_output",
    "check_call",
    "Popen",
    "%x",
    "qx",
    "do shell script",
    "os.execute",
    "io.popen",
    "pty.spawn",
    "os.execvp",
    "os.execvpe",
    "os.execv",
    "os.execve",
    "os.execl",
    "os.execlp",
    "os.spawnl",
    "os.spawnlp",
    "os.spawnv",
    "os.spawnvp",
    "os.posix_spawn",
    "asyncio.create_subprocess_shell",
    "asyncio.create_subprocess_exec",
    "Process.spawn",
    "Open3.popen3",
    "pcntl_exec",
    "System.cmd",
    "Bun.spawn",
    "Bun.$",
    "Deno.run",
];

/// Calls that delete a directory with what is in it.
const DELETES_TREE: &[&str] = &[
    "shutil.rmtree",
    "rmtree",
    "remove_tree",
    "removedirs",
    "FileUtils.rm_rf",
    "FileUtils.rm_r",
    "FileUtils.remove_dir",
    "FileUtils.remove_entry",
    "rm_rf",
    "rm_r",
    "fs.rmSync",
    "fs.rm",
    "rmSync",
    "fs.rmdirSync",
    "rmdirSync",
    "fs.rmdir",
    "rimraf.sync",
    "rimraf",
    "fs.removeSync",
    "removeSync",
    "fs.remove",
    "emptyDirSync",
    "del.sync",
    "send2trash",
    "Deno.remove",
    "Deno.removeSync",
    "fs.promises.rm",
    "promises.rm",
    "File.rm_rf",
    "File.rm_rf!",
    "FileUtils.deleteDirectory",
    "os.RemoveAll",
    "remove_dir_all",
];

/// Methods that delete the file or directory they are called on.
const DELETES_ITSELF: &[&str] =
    &[".deleteDir", ".deleteRecursively", ".rmtree", ".unlink", ".rmdir", ".delete"];

/// Calls that name the files below a directory.
const LISTS: &[&str] = &[
    ".rglob",
    ".glob",
    ".iterdir",
    "glob.glob",
    "glob.iglob",
    "os.listdir",
    "os.scandir",
    "os.walk",
    "readdirSync",
    "fs.readdir",
    "Dir.glob",
    "Dir.entries",
    "Dir.children",
    "glob",
];

/// Calls that delete a file.
const DELETES_FILE: &[&str] = &[
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "fs.unlinkSync",
    "unlinkSync",
    "fs.unlink",
    "File.delete",
    "File.unlink",
    "unlink",
    "FileUtils.rm",
    "FileUtils.rm_f",
    ".unlink",
    "Dir.rmdir",
    "Dir.delete",
];

fn calls<'n>(code: &str, names: &[&'n str]) -> Option<&'n str> {
    // The call's name ends the code before its first string.
    let code = code.trim_end();
    let code = code.strip_suffix('[').unwrap_or(code).trim_end();
    let code = code.strip_suffix(['(', '{']).unwrap_or(code).trim_end();
    names.iter().copied().filter(|name| code.ends_with(name)).find(|name| {
        let before = code.get(..code.len() - name.len()).unwrap_or("");
        name.starts_with('.') || !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// `unlink $_` and `File.delete f`: a call without parentheses whose argument is no
/// string.
fn deletes_variable(code: &str) -> bool {
    ["unlink", "File.delete", "FileUtils.rm_rf", "FileUtils.rm"].iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let after = code.get(at + name.len()..).unwrap_or("").trim_start();
            let before = code.get(..at).unwrap_or("");
            let whole = !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
            whole && after.starts_with(|c: char| c.is_alphabetic() || matches!(c, '$' | '@'))
        })
    })
}

/// Whether a call of one of the names begins anywhere in the code.
fn mentions(code: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let after = code.get(at + name.len()..).unwrap_or("").trim_start();
            let before = code.get(..at).unwrap_or("");
            after.starts_with('(')
                && !before.ends_with(|c: char| {
                    c.is_alphanumeric() || c == '_' || (c == '.' && !name.starts_with('.'))
                })
        })
    })
}

/// Analyzes code in a language.
pub(crate) fn scan(run: &mut Run<'_, '_>, language: Language, code: &str) {
    if matches!(language, Language::Other) && !code.contains(['(', '"']) {
        return;
    }
    // Where the files come from is not followed: nothing counts as the session's own then.
    if MOVES.iter().any(|word| code.contains(word)) {
        run.analyzer.left.bring("/");
    }
    let code = &without_imports(code);
    let tokens = with_full_names(tokens(code, language), code, language);
    let call = Call { fixed: true, indirect: true, ..run.call.clone() };
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        index += 1;
        match token {
            Token::Shell(text) => run.analyzer.text(text, &call),
            Token::Text(_) => {}
            Token::Code(code) => {
                let next = match tokens.get(index) {
                    Some(Token::Text(text)) => Some(text.clone()),
                    _ => None,
                };
                match next {
                    Some(text) => literal_call(run, language, code, &text, &tokens, index, &call),
                    None => {
                        if mentions(code, DELETES_TREE) {
                            unresolved(run, code);
                        }
                    }
                }
                // A call whose argument is no literal, before the last string.
                if mentions_dynamic(code, DELETES_TREE) {
                    unresolved(run, code);
                }
            }
        }
    }
    listed(run, &tokens, &call);
    built(run, language, &tokens);
    services(run, &tokens);
    reflected(run, &tokens);
    assigned_writes(run, &tokens, &call);
    secrets(run, &tokens, &call);
}

/// `__import__('os').system` as `os.system`.
fn without_imports(code: &str) -> Cow<'_, str> {
    let mut code = Cow::Borrowed(code);
    for (start, end) in [
        ("__import__('", "')"),
        ("__import__(\"", "\")"),
        ("importlib.import_module('", "')"),
        ("importlib.import_module(\"", "\")"),
    ] {
        for _ in 0..16 {
            let Some((before, rest)) = code.split_once(start) else { break };
            let Some((module, after)) = rest.split_once(end) else { break };
            code = Cow::Owned(format!("{before}{module}{after}"));
        }
    }
    code
}

/// The code with what was imported under another name called by its full name.
fn with_full_names(tokens: Vec<Token>, code: &str, language: Language) -> Vec<Token> {
    let names = aliases::in_code(code, language);
    if names.is_empty() {
        return tokens;
    }
    let rename = |token| match token {
        Token::Code(code) => Token::Code(aliases::replace(&code, &names)),
        other => other,
    };
    tokens.into_iter().map(rename).collect()
}

/// Statements for databases, and calls of clouds that delete.
fn services(run: &mut Run<'_, '_>, tokens: &[Token]) {
    for pair in tokens.windows(2) {
        let [Token::Code(code), Token::Text(text)] = pair else { continue };
        if calls(code, &[".execute", ".executescript", ".executemany", ".query", ".exec"]).is_some()
        {
            let words = [Arg::plain("psql"), Arg::plain("-c"), Arg::plain(text)];
            run.inner(words.to_vec(), crate::pipes::Flow::None);
        }
    }
    let all: String = tokens.iter().map(Token::text).collect();
    let cloud = ["boto3", "google.cloud", "azure.", "aws-sdk", "@google-cloud", "kubernetes"];
    let deletes = [".delete(", ".delete_", ".terminate_", ".terminate(", "DeleteCommand", ".purge"];
    if cloud.iter().any(|name| all.contains(name)) && deletes.iter().any(|name| all.contains(name))
    {
        let (scope, certainty) = (Scope::Remote, Certainty::Likely);
        let why = "deletes at a service";
        run.sure(Kind::RemoteState, "a service", scope, Reversibility::R5, certainty, why);
    }
}

/// Calls that cannot be read from the code: a function of a module that deletes or
/// runs, by a name that is put together.
fn reflected(run: &mut Run<'_, '_>, tokens: &[Token]) {
    let modules = ["getattr(os,", "getattr(shutil,", "getattr(subprocess,", "getattr(pathlib,"];
    let found = tokens.iter().any(|token| match token {
        Token::Code(code) => modules.iter().any(|module| code.contains(module)),
        _ => false,
    });
    if found {
        let (scope, certainty) = (Scope::Unknown, Certainty::Unresolved);
        let why = "runs text built at run time";
        run.sure(Kind::ExecuteUntrusted, "getattr", scope, Reversibility::R1, certainty, why);
    }
}

/// Files that are opened for writing under a name that was assigned before: those the
/// code names that must not be written.
fn assigned_writes(run: &mut Run<'_, '_>, tokens: &[Token], call: &Call) {
    let opens = tokens.windows(2).any(|pair| match pair {
        [Token::Code(code), Token::Text(mode)] => {
            let rest = code.rsplit_once("open(").map(|(_, rest)| rest.trim_end());
            let is_name = |name: &str| {
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            mode.starts_with(['w', 'a', 'x'])
                && rest.and_then(|rest| rest.strip_suffix(',')).is_some_and(is_name)
        }
        _ => false,
    });
    if !opens {
        return;
    }
    for text in tokens.iter().filter_map(Token::path) {
        let before = run.analyzer.effects.len();
        run.analyzer.write_file(&Arg::plain(text), false, run.name, call);
        let found = run.analyzer.effects.get(before..).unwrap_or_default();
        if crate::decision::decide(found) == crate::Decision::Allow {
            run.analyzer.effects.truncate(before);
        }
    }
}

/// Deletes what a call lists: `for f in glob.glob('/srv/*'): os.remove(f)`.
fn listed(run: &mut Run<'_, '_>, tokens: &[Token], call: &Call) {
    let code = |token: &Token| match token {
        Token::Code(code) => code.clone(),
        _ => String::new(),
    };
    // PHP calls functions by name: `array_map("unlink", …)`.
    let named = |pair: &[Token]| match pair {
        [Token::Code(code), Token::Text(name)] => {
            name == "unlink"
                && calls(code, &["array_map", "array_walk", "call_user_func"]).is_some()
        }
        _ => false,
    };
    let deletes = tokens.windows(2).any(named)
        || tokens.iter().map(code).any(|code| {
            mentions_dynamic(&code, DELETES_FILE)
                || deletes_variable(&code)
                || code.contains(".unlink()")
                || code.contains(".rmdir()")
        });
    if !deletes {
        return;
    }
    // Paths outside of any call that lists: `finddepth(sub { unlink }, "/srv")`.
    for text in tokens.iter().filter_map(Token::path).filter(|text| text.starts_with(['/', '~'])) {
        let path = Arg { glob: text.contains('*'), ..Arg::plain(text) };
        run.analyzer.delete(&path, true, run.name, call);
    }
    for (at, pair) in tokens.windows(2).enumerate() {
        let [Token::Code(code), Token::Text(text)] = pair else { continue };
        let pattern = match (tokens.get(at + 2), tokens.get(at + 3)) {
            (Some(Token::Code(between)), Some(Token::Text(pattern)))
                if calls(between, LISTS).is_some() =>
            {
                Some(pattern)
            }
            (Some(Token::Code(after)), _) if mentions(after, &[".iterdir"]) => None,
            _ if calls(code, LISTS).is_some() => None,
            _ => continue,
        };
        let target = match pattern {
            Some(pattern) => format!("{}/{pattern}", text.trim_end_matches('/')),
            None => text.clone(),
        };
        let wide = pattern.is_none_or(|pattern| pattern.starts_with("*") && !pattern.contains('.'));
        let path = Arg { glob: true, ..Arg::plain(&target) };
        run.analyzer.delete(&path, wide, run.name, call);
    }
}

/// Code that is decoded or downloaded and then run.
fn built(run: &mut Run<'_, '_>, language: Language, tokens: &[Token]) {
    let has = |names: &[&str]| {
        tokens.iter().any(|token| match token {
            Token::Code(code) => names.iter().any(|name| code.contains(name)),
            _ => false,
        })
    };
    if !has(&["exec(", "eval(", "Function(", "instance_eval", "compile("]) {
        return;
    }
    if has(&[
        "urlopen",
        "requests.get",
        "httpx.get",
        "fetch(",
        "Net::HTTP",
        "https.get",
        "http.get",
    ]) {
        let why = "runs downloaded code";
        run.effect(Kind::ExecuteUntrusted, "a download", Scope::Remote, Reversibility::R5, why);
    }
    if has(&["b64decode", "atob(", "Buffer.from", "decode64", "unpack", "fromhex", "unhexlify"]) {
        let texts = tokens.iter().filter_map(|token| match token {
            Token::Text(text) if text.len() > 7 => crate::pipes::base64(text),
            _ => None,
        });
        for text in texts.collect::<Vec<_>>() {
            if run.analyzer.spend() {
                run.analyzer.depth += 4;
                scan(run, language, &text);
                run.analyzer.depth -= 4;
            }
        }
        let (scope, certainty) = (Scope::Unknown, Certainty::Unresolved);
        let (level, why) = (Reversibility::R3, "runs what it decodes");
        run.sure(Kind::ExecuteUntrusted, "decoded text", scope, level, certainty, why);
    }
}

/// A complete call with arguments that are not strings.
fn mentions_dynamic(code: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let after = code.get(at + name.len()..).unwrap_or("").trim_start();
            let before = code.get(..at).unwrap_or("");
            let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let inner = after.strip_prefix('(').map(str::trim_start);
            whole
                && inner.is_some_and(|inner| {
                    inner.starts_with(|c: char| c.is_alphabetic() || c == '_')
                        && !inner.starts_with("Path(")
                })
        })
    })
}

fn unresolved(run: &mut Run<'_, '_>, code: &str) {
    let target: String = code.trim().chars().take(60).collect();
    run.sure(
        Kind::Delete,
        &target,
        Scope::Unknown,
        Reversibility::R4,
        Certainty::Unresolved,
        "deletes a path known only at run time",
    );
}

fn literal_call(
    run: &mut Run<'_, '_>,
    language: Language,
    code: &str,
    text: &str,
    tokens: &[Token],
    index: usize,
    call: &Call,
) {
    if calls(code, SPAWNS).is_some() {
        // `['rm', '-rf', '/']` and `'rm', ['-rf', '/']` are words of one command.
        let mut words = vec![text.to_owned()];
        let mut at = index + 1;
        while let (Some(Token::Code(between)), Some(Token::Text(word))) =
            (tokens.get(at), tokens.get(at + 1))
        {
            if !between.trim().trim_matches(['[', ' ', ',']).is_empty() || words.len() > 64 {
                break;
            }
            words.push(word.clone());
            at += 2;
        }
        // `execvp("git", ["git", "clean"])` names the program twice.
        if matches!(words.as_slice(), [program, again, ..] if program == again) {
            words.remove(0);
        }
        if words.len() > 1 {
            run.analyzer.run(words.iter().map(|word| Arg::plain(word)).collect(), call);
        } else {
            run.analyzer.text(text, call);
        }
        return;
    }
    let code = without_home(code);
    let mut path = Arg::plain(text);
    let wrapped = code.trim_end().trim_end_matches("(").trim_end();
    let of_path = wrapped.strip_suffix("Path").or_else(|| wrapped.strip_suffix("glob.glob"));
    let of_path = of_path.or_else(|| wrapped.strip_suffix("glob")).unwrap_or(code);
    path.glob = wrapped.ends_with("glob");
    // Elsewhere it is called just `rm`, or by names that mean other things here.
    let bare = match language {
        Language::Lisp => {
            calls(of_path, &["(delete-directory", "(delete-file"]).is_some()
                || of_path.trim_end().ends_with("delete-directory")
                || of_path.trim_end().ends_with("delete-file")
        }
        Language::Vim => calls(of_path, &["delete"]).is_some(),
        _ => run.name == "julia" && calls(of_path, &["rm"]).is_some(),
    };
    if language == Language::Lisp && of_path.trim_end().ends_with("shell-command") {
        run.analyzer.text(text, call);
    } else if bare || calls(of_path, DELETES_TREE).is_some() {
        run.analyzer.delete(&path, true, run.name, call);
    } else if calls(of_path, DELETES_FILE).is_some() {
        run.analyzer.delete(&path, false, run.name, call);
    } else if let Some(Token::Code(after)) = tokens.get(index + 1) {
        // `Path('x').unlink()`, `open('x', 'w')`.
        let after = after.trim_start_matches(')');
        let of_file = ["Path", "File", "Pathname.new", "PosixPath"];
        if of_file.iter().any(|end| wrapped.ends_with(end))
            && let Some(method) = DELETES_ITSELF.iter().find(|method| after.starts_with(*method))
        {
            let tree = matches!(*method, ".deleteDir" | ".deleteRecursively" | ".rmtree");
            run.analyzer.delete(&path, tree, run.name, call);
        }
        let mode = match tokens.get(index + 2) {
            Some(Token::Text(mode)) => mode.as_str(),
            _ => "",
        };
        // Perl: `open F, ">", "path"`.
        if language == Language::Perl && matches!(text, ">" | ">>" | "+>") && !mode.is_empty() {
            run.analyzer.write_file(&Arg::plain(mode), text == ">>", run.name, call);
        }
        let writes = (wrapped.ends_with("open") && mode.starts_with(['w', 'a', 'x']))
            || calls(
                code,
                &["writeFileSync", "fs.writeFile", "writeFile", "File.write", "file_put_contents"],
            )
            .is_some();
        if writes {
            run.analyzer.write_file(&path, mode.starts_with('a'), run.name, call);
        }
    }
}

/// The code before a path, without what puts the home directory in front of it.
fn without_home(code: &str) -> &str {
    let code = code.trim_end();
    let code = code.strip_suffix('+').unwrap_or(code).trim_end();
    ["process.env.HOME", "os.homedir()", "os.path.expanduser(", "expanduser(", "Dir.home"]
        .iter()
        .find_map(|home| code.strip_suffix(home))
        .unwrap_or(code)
}

/// Files that code opens.
fn secrets(run: &mut Run<'_, '_>, tokens: &[Token], call: &Call) {
    for pair in tokens.windows(2) {
        if let [Token::Code(code), Token::Text(text)] = pair
            && calls(
                without_home(code),
                &[
                    "open",
                    "readFileSync",
                    "readFile",
                    "File.read",
                    "read_text",
                    "file_get_contents",
                    "Path",
                ],
            )
            .is_some()
        {
            let is_home = without_home(code).len() < code.trim_end().len() && text.starts_with('/');
            let path = if is_home { format!("~{text}") } else { text.clone() };
            run.analyzer.read_file(&Arg::plain(&path), run.name, call);
        }
    }
}

/// Does a program print text into a shell?
fn pipes_to_shell(tokens: &[Token], text: &str) -> bool {
    tokens.windows(3).any(|three| match three {
        [Token::Text(own), Token::Code(pipe), Token::Text(shell)] => {
            own == text && pipe.trim() == "|" && matches!(shell.as_str(), "sh" | "bash" | "zsh")
        }
        _ => false,
    })
}

/// Analyzes an `awk` program.
pub(crate) fn awk(run: &mut Run<'_, '_>, code: &str) {
    if !code.contains("system") && !code.contains('|') && !code.contains('>') {
        return;
    }
    let tokens = tokens(code, Language::Other);
    let call = Call { fixed: true, indirect: true, ..run.call.clone() };
    for pair in tokens.windows(2) {
        match pair {
            [Token::Code(code), Token::Text(text)] if calls(code, &["system"]).is_some() => {
                run.analyzer.text(text, &call)
            }
            [Token::Code(code), Token::Text(text)]
                if code.trim_end().ends_with('>') && text.starts_with('/') =>
            {
                run.analyzer.write_file(
                    &Arg::plain(text),
                    code.trim_end().ends_with(">>"),
                    run.name,
                    &call,
                );
            }
            [Token::Text(text), Token::Code(code)]
                if code.trim() == "|" && pipes_to_shell(&tokens, text) =>
            {
                run.analyzer.text(text, &call)
            }
            [Token::Text(text), Token::Code(code)]
                if code.trim_start().starts_with("| getline") =>
            {
                run.analyzer.text(text, &call)
            }
            [Token::Code(code), Token::Text(text)]
                if code.trim_end().ends_with('|') && !code.trim_end().ends_with("||") =>
            {
                run.analyzer.text(text, &call)
            }
            _ => {}
        }
    }
}
