//! # What it does
//!
//! Finds commands that the shell did not interpret as intended:
//!
//! - unclosed quotes or backticks, and other syntax errors in the command
//!   itself;
//! - `[id]` and other glob patterns in file names or in options
//!   (`--include=*.py`), which the shell expands and which match no file;
//! - `$name` in the path of a file whose name contains a dollar sign, which the
//!   shell replaces with nothing;
//! - text in backticks that the shell runs as a command;
//! - options after the operands of a program that then takes them for files.
//!
//! The evidence is the error message of the shell or the program, or a path
//! that another call of the session has right.
//!
//! # Why
//!
//! The command does not run, or does something else: a search in a file that
//! does not exist finds nothing, and the agent believes that there is nothing
//! to find.
//!
//! # What to do
//!
//! Put paths and patterns that contain `$`, `[`, `*` or backticks into single
//! quotes.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"grep -rn main --include=*.py . | head"} -> "(eval):1: no matches found: --include=*.py"
//! ```
//!
//! ```fires
//! host: codex
//! shell {"command":["zsh","-lc","sed -n '1,80p' app/[id]/page.tsx"]} !1 "zsh:1: no matches found: app/[id]/page.tsx"
//! ```
//!
//! ```fires
//! Bash {"command":"rg \"a`b\" src"} !1 "Exit code 1\n(eval):1: unmatched \""
//! ```
//!
//! Another call has the right path:
//!
//! ```fires
//! Edit {"file_path":"/w/src/call/$callId.tsx","old_string":"a","new_string":"b"} -> "ok"
//! Bash {"command":"grep -n Chat src/call/$callId.tsx | head -20"} -> "grep: src/call/.tsx: No such file or directory"
//! ```
//!
//! ```fires
//! Bash {"command":"stat -f %Sm .. -t %H:%M"} !1 "Exit code 1\nApr 26\nstat: -t: stat: No such file or directory"
//! ```
//!
//! ```fires
//! Bash {"command":"gh pr create --title x --body \"Fixes `parse_it` in the reader\""} -> "/bin/bash: parse_it: command not found\nhttps://example.com/1"
//! ```
//!
//! ```quiet
//! Bash {"command":"sed -n '1,80p' 'app/[id]/page.tsx'"} -> "x"
//! ```
//!
//! The command itself sets the variable:
//!
//! ```quiet
//! Bash {"command":"for f in a b; do cat src/$f.rs; done"} !1 "cat: src/a.rs: No such file or directory"
//! ```
//!
//! The host runs commands by `eval`:
//!
//! ```fires
//! Bash {"command":"git add app/(shop)/page.tsx"} !2 "/bin/bash: eval: line 3: syntax error near unexpected token `('"
//! ```
//!
//! The error is in a script that the command runs:
//!
//! ```quiet
//! Bash {"command":"./run.sh"} !2 "./run.sh: line 3: syntax error near unexpected token `fi'"
//! ```
//!
//! The agent looks whether any such file exists:
//!
//! ```quiet
//! Bash {"command":"ls *.log"} !1 "Exit code 1\n(eval):1: no matches found: *.log"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashSet, HashSetExt};
use memchr::memmem;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::Session;
use toolmark_session::shell::CommandLine;
use toolmark_session::words::SearchWords;
use toolmark_shell::ir::{Script, Word, WordPart};

pub(crate) static RULE: Rule = Rule {
    code: "A210",
    name: "mangled-command",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "the shell interprets a command differently than intended",
    remedy: "put text that the shell must not interpret into single quotes",
    source: page!("a210_mangled_command.rs"),
    check,
};

/// Maximum number of bytes of a result to examine.
const MAX_EXAMINED: usize = 8 << 10;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut dollars: Option<HashSet<&str>> = None;
    for call in session.calls().iter().filter(|call| call.role == ToolRole::RunsShell) {
        let Some(command) = call.line().filter(|command| command.parsed().is_some()) else {
            continue;
        };
        if !call.has_result() {
            continue;
        }
        recorder.count_opportunity(call);
        let may_be_misread = call.may_say(&COMPLAINTS);
        if !may_be_misread && !command.contains('$') {
            continue;
        }
        let shown = call.result_start(MAX_EXAMINED).unwrap_or_default();
        let misread = if may_be_misread { misread(command, &shown) } else { None };
        let fault = misread.or_else(|| {
            let dollars = dollars.get_or_insert_with(|| paths_with_dollars(session));
            swallowed(command, &shown, dollars)
        });
        if let Some(fault) = fault {
            let said =
                session.result_evidence(EvidenceRole::Context, "what the shell answered", call);
            let draft = Draft::new(call, fault.message).bucket(fault.kind).evidence(said);
            recorder.find(draft);
        }
    }
}

struct MangledCommandFault {
    kind: &'static str,
    message: String,
}

/// Phrases with which shells report syntax errors.
const SYNTAX: &[&str] = &[
    "unexpected EOF while looking for matching",
    "syntax error near unexpected token",
    "syntax error: unexpected end of file",
    "Syntax error: Unterminated quoted string",
    "Syntax error: ",
    "unmatched \"",
    "unmatched '",
    "unmatched `",
    "parse error near",
    "bad substitution",
    "event not found",
];

/// Words without which a result shows no misread command.
static COMPLAINTS: SearchWords = SearchWords::new(|| {
    SearchWords::searcher(&[
        "no matches found: ",
        "unexpected EOF while",
        "syntax error",
        "Syntax error: ",
        "unmatched ",
        "parse error near",
        "bad substitution",
        "event not found",
        "No such file or directory",
        "command not found",
    ])
});

/// Whether a line comes from the shell that runs the command, rather than from a script.
fn is_shell(line: &str) -> bool {
    let line = line.trim_start();
    let starts = [
        "zsh:",
        "(eval):",
        "bash: -c",
        "bash: line",
        "bash: eval: line",
        "sh: -c",
        "sh: line",
        "sh: eval: line",
        "eval: line",
    ];
    let line = line.strip_prefix("/usr").unwrap_or(line);
    let line = line.strip_prefix("/bin/").unwrap_or(line);
    starts.iter().any(|start| line.starts_with(start))
        || line.strip_prefix("sh: ").is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the misread part of a command, as shown by the output.
fn misread(command: &CommandLine<'_>, shown: &str) -> Option<MangledCommandFault> {
    /// Maximum number of lines to examine; the shell's message comes first.
    const LINES: usize = 40;
    let has = |words: &str| memmem::find(shown.as_bytes(), words.as_bytes()).is_some();
    let has_glob = has("no matches found: ");
    let has_option = has(": -");
    let has_program = has("command not found");
    for line in shown.lines().take(LINES) {
        if has_glob && let Some((_, rest)) = line.split_once("no matches found: ") {
            let word = rest.trim();
            // A file that exists, or a pattern for the program.
            let is_name = word.contains('[') && word.contains(']');
            let is_option = word.starts_with("--") && word.contains('=');
            let is_meant = (is_name || is_option) && command.contains(word);
            if is_shell(line) && is_meant {
                let message = format!("the shell takes {word} for a pattern of names");
                return Some(MangledCommandFault { kind: "glob", message });
            }
        }
        if is_shell(line)
            && let Some(words) = SYNTAX.iter().find(|words| line.contains(**words))
        {
            let words = words.trim_end_matches([':', ' ']);
            let message = format!("the shell cannot read the command: {words}");
            return Some(MangledCommandFault { kind: "syntax", message });
        }
        if has_option && let Some(option) = option_as_file(command, line) {
            let message = format!("{option} stands behind the operands and is taken for a file");
            return Some(MangledCommandFault { kind: "option", message });
        }
        if has_program
            && let Some(word) = not_found(line)
            && runs_in_text(command, word)
        {
            let message = format!("the shell runs `{word}`, which was meant as text");
            return Some(MangledCommandFault { kind: "backticks", message });
        }
    }
    None
}

/// Returns the option that a program tried to open as a file.
fn option_as_file<'c>(command: &'c str, line: &str) -> Option<&'c str> {
    let (_, rest) = line.split_once(": -")?;
    let (option, rest) = rest.split_once(':')?;
    let is_missing = rest.contains("No such file or directory");
    let is_option = !option.is_empty() && !option.contains(char::is_whitespace);
    if !is_missing || !is_option {
        return None;
    }
    command.split_whitespace().find(|word| word.strip_prefix('-') == Some(option))
}

/// Returns the program that a shell reports as missing.
fn not_found(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some((_, word)) = line.split_once("command not found: ") {
        return Some(word);
    }
    let (who, _) = line.split_once(": command not found")?;
    who.rsplit(' ').next()
}

/// Whether a word is at the start of text in backticks inside double quotes.
fn runs_in_text(command: &CommandLine<'_>, word: &str) -> bool {
    let starts = |text: &str| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let in_quotes = toolmark_shell::commands(command.script())
        .iter()
        .flat_map(|visit| &visit.command.words)
        .any(|word| {
            word.parts.iter().any(|part| matches!(part, WordPart::Command { quoted: true, .. }))
        });
    let has_backticks = command.split('`').skip(1).step_by(2).any(starts);
    !word.is_empty() && has_backticks && in_quotes
}

/// Returns the paths of the session that contain a dollar sign.
fn paths_with_dollars<'s>(session: &'s Session<'_>) -> HashSet<&'s str> {
    let paths = session.calls().iter().filter_map(|call| call.path.as_deref());
    paths.filter(|path| path.contains("/$") || path.contains("[$")).collect()
}

/// Returns an unset variable in the path of a file.
fn swallowed(
    command: &CommandLine<'_>,
    shown: &str,
    dollars: &HashSet<&str>,
) -> Option<MangledCommandFault> {
    if !command.contains('$') {
        return None;
    }
    let script = command.script();
    let visits = toolmark_shell::commands(script);
    let set = names_set(script, command);
    for word in visits.iter().flat_map(|visit| &visit.command.words) {
        let Some((name, literal, rest)) = dropped(word) else { continue };
        // Environment variables are in upper case.
        let is_name = name.len() > 1 && name.chars().any(|c| c.is_ascii_lowercase());
        if !is_name || !literal.contains('/') || set.contains(name) {
            continue;
        }
        let file = literal.trim_start_matches(['.', '/']);
        let is_known = dollars.iter().any(|path| path.ends_with(file));
        let is_missed = shown.lines().any(|line| {
            line.contains(&rest) && rest.len() > 3 && line.contains("No such file or directory")
        });
        if is_known || is_missed {
            let message = format!("the shell replaces ${name} in {literal} with nothing");
            return Some(MangledCommandFault { kind: "variable", message });
        }
    }
    None
}

/// Returns the only plain variable of a word, the word with the variable as literal text, and
/// the word without it.
fn dropped(word: &Word) -> Option<(&str, String, String)> {
    let (mut name, mut literal, mut rest) = (None, String::new(), String::new());
    for part in &word.parts {
        match part {
            WordPart::Text { text, .. } => {
                literal.push_str(text);
                rest.push_str(text);
            }
            WordPart::Parameter { name: found, plain: true, .. } if name.is_none() => {
                name = Some(found.as_str());
                literal.push('$');
                literal.push_str(found);
            }
            _ => return None,
        }
    }
    Some((name?, literal, rest))
}

/// Returns the names that the command itself may set.
fn names_set<'c>(script: &Script, command: &'c str) -> HashSet<&'c str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut set = HashSet::new();
    for (at, _) in command.match_indices('=') {
        let before = command.get(..at).unwrap_or_default();
        let start = before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
        set.extend(before.get(start..));
    }
    let mut words = command.split(|c: char| !is_name(c)).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if matches!(word, "for" | "read" | "local" | "export" | "select" | "declare") {
            set.extend(words.next());
        }
    }
    // A script that cannot be parsed may set any variable.
    if script.partial.is_some() {
        set.extend(
            command.split('$').skip(1).filter_map(|rest| rest.split(|c| !is_name(c)).next()),
        );
    }
    set
}
