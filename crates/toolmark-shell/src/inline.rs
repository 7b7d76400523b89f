//! Code given to an interpreter: a scan for calls that start commands or delete
//! files, with literal arguments. Text in strings that is merely printed is not
//! a call; calls are looked for outside strings only.

use crate::analyze::Call;
use crate::effects::{Certainty, Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::run::Run;

/// The languages whose calls are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
    AppleScript,
    Other,
}

/// A piece of code: text outside strings, or the text of a string.
enum Token {
    Code(String),
    Text(String),
    Shell(String),
}

/// How many characters of code are scanned.
const MAX_CHARS: usize = 200_000;

fn tokens(code: &str, language: Language) -> Vec<Token> {
    let mut out = Vec::new();
    let mut plain = String::new();
    let mut chars = code.chars().take(MAX_CHARS).peekable();
    let backticks = matches!(language, Language::Ruby | Language::Perl | Language::Php);
    while let Some(c) = chars.next() {
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
    "os.execv",
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
    "fs.promises.rm",
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
    let tokens = tokens(code, language);
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
                    Some(text) => literal_call(run, code, &text, &tokens, index, &call),
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
    secrets(run, &tokens, &call);
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
        if words.len() > 1 {
            run.analyzer.run(words.iter().map(|word| Arg::plain(word)).collect(), call);
        } else {
            run.analyzer.text(text, call);
        }
        return;
    }
    let mut path = Arg::plain(text);
    let wrapped = code.trim_end().trim_end_matches("(").trim_end();
    let of_path = wrapped.strip_suffix("Path").or_else(|| wrapped.strip_suffix("glob.glob"));
    let of_path = of_path.or_else(|| wrapped.strip_suffix("glob")).unwrap_or(code);
    path.glob = wrapped.ends_with("glob");
    if calls(of_path, DELETES_TREE).is_some() {
        run.analyzer.delete(&path, true, run.name, call);
    } else if calls(of_path, DELETES_FILE).is_some() {
        run.analyzer.delete(&path, false, run.name, call);
    } else if let Some(Token::Code(after)) = tokens.get(index + 1) {
        // `Path('x').unlink()`, `open('x', 'w')`.
        let after = after.trim_start_matches(')');
        if wrapped.ends_with("Path")
            && (after.starts_with(".unlink") || after.starts_with(".rmdir"))
        {
            run.analyzer.delete(&path, false, run.name, call);
        }
        let mode = match tokens.get(index + 2) {
            Some(Token::Text(mode)) => mode.as_str(),
            _ => "",
        };
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

/// Files that code opens.
fn secrets(run: &mut Run<'_, '_>, tokens: &[Token], call: &Call) {
    for pair in tokens.windows(2) {
        if let [Token::Code(code), Token::Text(text)] = pair
            && calls(
                code,
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
            run.analyzer.read_file(&Arg::plain(text), run.name, call);
        }
    }
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
