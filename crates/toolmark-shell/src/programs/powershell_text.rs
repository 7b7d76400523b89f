//! PowerShell text as commands: quotes, variables, pipes, blocks and parentheses. Every block is
//! assumed to run.

use super::powershell::{cmdlet, full_name, is_cmdlet, runs_download};
use crate::analyze::CommandContext;
use crate::dos;
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::pipes::Flow;
use crate::run::CommandRun;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum length of a text that is read, in bytes.
const MAX_TEXT: usize = 64 << 10;
/// Maximum number of commands read.
const MAX_COMMANDS: usize = 256;

/// A token of a text.
#[derive(Debug, PartialEq)]
enum PowershellToken {
    Word(Arg),
    /// An assignment: `$x =`.
    Assign,
    Pipe,
    /// An opening parenthesis.
    Open,
    Close,
    /// The end of a command.
    End,
}

/// Whether text looks like PowerShell.
pub(crate) fn is_powershell(text: &str) -> bool {
    text.len() <= MAX_TEXT
        && (begins_with_cmdlet(text) || text.contains("]::") || has_own_marks(text))
}

/// Whether a part of the text begins with a PowerShell command.
fn begins_with_cmdlet(text: &str) -> bool {
    // Its own names have capitals; programs of other shells have none.
    let bytes = text.as_bytes();
    let is_own = |(at, _): (usize, &str)| bytes.get(at + 1).is_some_and(u8::is_ascii_uppercase);
    if !text.match_indices('-').any(is_own) {
        return false;
    }
    let mut starts = text.split(['|', ';', '\n', '{', '(', '=']).take(64);
    starts.any(|part| {
        let first = part.split_whitespace().next().unwrap_or("");
        let is_own = first.split('-').all(|p| p.starts_with(|c: char| c.is_ascii_uppercase()));
        is_own && first.contains('-') && is_cmdlet(&first.to_ascii_lowercase())
    })
}

/// Syntax that no other shell has, outside of quotes and at any position.
const MARKS: &[&str] = &[
    "$_.",
    "$psitem",
    "$env:",
    "$null >",
    "| % {",
    "|% {",
    "| ? {",
    "| foreach {",
    "-erroraction",
    "; & $",
    ";& $",
    "; &(",
    "; & (",
];

/// Whether text outside of quotes contains syntax that no other shell has.
fn has_own_marks(text: &str) -> bool {
    if !text.bytes().any(|b| matches!(b, b'$' | b'%' | b'&' | b'|' | b'(' | b'\\')) {
        return false;
    }
    let bare = without_quoted(text);
    let begins = |part: &str| {
        let part = part.trim_start();
        let end = part.bytes().position(|b| matches!(b, b' ' | b'('));
        let first = part.get(..end.unwrap_or(part.len())).unwrap_or("");
        matches!(
            first,
            "gci" | "ri" | "iex" | "irm" | "iwr" | "rni" | "clc" | "spps" | "sal" | "icm" | "gcm"
        ) && part.len() > first.len()
            && !part.contains("-s mix")
            && !part.starts_with("iex -")
    };
    let is_mark = |(at, byte): (usize, u8)| {
        let rest = || bare.get(at..).unwrap_or("");
        matches!(byte, b'$' | b'|' | b'-' | b';')
            && MARKS
                .iter()
                .any(|mark| mark.as_bytes().first() == Some(&byte) && rest().starts_with(mark))
    };
    let trimmed = bare.trim_start();
    let ends = |b: &u8| matches!(b, b';' | b'|' | b'\n');
    let mut parts = bare.as_bytes().split(ends).map(std::str::from_utf8);
    ["&(", "& (", "& $", ".("].iter().any(|start| trimmed.starts_with(start))
        || bare.bytes().enumerate().any(is_mark)
        || parts.any(|part| part.is_ok_and(begins))
}

/// Returns the text in lower case without its quoted parts.
fn without_quoted(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    let is_quote = |b: u8| matches!(b, b'\'' | b'"');
    while let Some(open) = rest.bytes().position(is_quote) {
        let (before, from) = rest.split_at(open);
        bare.push_str(before);
        let mut inside = from.chars();
        let quote = inside.next();
        let close = inside.as_str().find(|c| Some(c) == quote);
        rest = close.and_then(|at| inside.as_str().get(at + 1..)).unwrap_or("");
    }
    bare.push_str(rest);
    match bare.is_ascii() {
        true => bare.make_ascii_lowercase(),
        false => bare = bare.chars().flat_map(char::to_lowercase).collect(),
    }
    bare
}

/// Analyzes a text.
pub(crate) fn run(run: &mut CommandRun<'_, '_>, text: &str) {
    if !run.analyzer.spend() || text.len() > MAX_TEXT {
        run.analyzer.note(Some(crate::ir::Partial::TooDeep));
        return;
    }
    run.analyzer.depth += 1;
    if runs_download(text) {
        let why = "runs downloaded code";
        let level = Reversibility::R5;
        run.effect(EffectKind::ExecuteUntrusted, "a download", EffectScope::Remote, level, why);
    }
    if text.contains("]::") {
        inline::scan(run, Language::PowerShell, &text.replace('\\', "/"));
    }
    if starts_endlessly(text) {
        let why = "starts copies of itself endlessly";
        let (scope, level) = (EffectScope::System, Reversibility::R4);
        run.effect(EffectKind::StopService, "the machine", scope, level, why);
    }
    if sets_environment(text) {
        let why = "changes the environment of later sessions";
        run.effect(
            EffectKind::Persist,
            "the environment",
            EffectScope::Home,
            Reversibility::R3,
            why,
        );
    }
    if text.to_ascii_lowercase().contains(".delete(") && !text.contains("]::") {
        let why = "deletes what it found";
        let (level, certainty) = (Reversibility::R4, Certainty::Unresolved);
        run.sure(EffectKind::Delete, "objects", EffectScope::Unknown, level, certainty, why);
    }
    let mut reader = PowershellReader {
        rest: text.chars().peekable(),
        out: Vec::new(),
        assigned: None,
        known: Vec::new(),
    };
    reader.read();
    commands(run, reader.out);
    run.analyzer.depth -= 1;
}

/// Whether a loop starts processes endlessly: `while ($true) { Start-Process … }`.
fn starts_endlessly(text: &str) -> bool {
    let flat: String =
        text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    let loops = ["while($true)", "while(1)", "for(;;)", "while(true)"];
    let starts = ["start-process", "saps", "start-job", "&$psscriptroot", "invoke-item"];
    loops.iter().any(|word| flat.contains(word))
        && starts.iter().any(|word| flat.contains(word))
        && !["start-sleep", "wait-process", "-wait", "break"].iter().any(|word| flat.contains(word))
}

/// Whether a text is `[Environment]::SetEnvironmentVariable(…, 'Machine')`.
fn sets_environment(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("setenvironmentvariable(")
        && ["'machine'", "'user'", "\"machine\"", "\"user\"", "::machine", "::user"]
            .iter()
            .any(|scope| lower.contains(scope))
}

/// Runs the commands in order. The items listed by one are passed to the next through a pipe.
fn commands(run: &mut CommandRun<'_, '_>, tokens: Vec<PowershellToken>) {
    let mut words: Vec<Arg> = Vec::new();
    let mut listed: Vec<Arg> = Vec::new();
    let mut outer: Vec<Vec<Arg>> = Vec::new();
    let mut is_assigned = false;
    let mut left = MAX_COMMANDS;
    let mut aliases: Vec<(String, String)> = Vec::new();
    // Value of `$_` in the block of a loop.
    let mut element: Vec<Arg> = Vec::new();
    for token in tokens.into_iter().chain([PowershellToken::End]) {
        match token {
            PowershellToken::Word(word) if is_element(&word) && !element.is_empty() => {
                words.extend(element.iter().cloned());
            }
            PowershellToken::Word(mut word) => {
                let alias = aliases.iter().find(|(name, _)| word.text.eq_ignore_ascii_case(name));
                if let Some((_, full)) = alias.filter(|_| words.is_empty()) {
                    word.text.clone_from(full);
                }
                words.push(word);
            }
            PowershellToken::Assign => is_assigned = true,
            PowershellToken::Open => outer.push(std::mem::take(&mut words)),
            PowershellToken::Close => {
                let inner = std::mem::take(&mut words);
                let found = match built_text(&inner) {
                    Some(text) => vec![Arg { quoted: true, ..Arg::plain(&text) }],
                    None => command(run, inner, &listed, &mut left),
                };
                words = outer.pop().unwrap_or_default();
                // Parenthesized text is a word of the command around it.
                match found.is_empty() {
                    true => words.push(Arg { dynamic: true, ..Arg::plain("$(…)") }),
                    false => words.extend(found),
                }
            }
            // Behind a block goes on what flowed into it.
            PowershellToken::Pipe if words.is_empty() && !element.is_empty() => {
                listed.clone_from(&element)
            }
            PowershellToken::Pipe => {
                listed = command(run, std::mem::take(&mut words), &listed, &mut left);
            }
            PowershellToken::End => {
                // An assigned value that is not the output of a command is not run.
                if std::mem::take(&mut is_assigned) && !words.first().is_some_and(names_cmdlet) {
                    words.clear();
                }
                let done = std::mem::take(&mut words);
                remember_alias(&done, &mut aliases);
                if done.first().is_some_and(|word| is_loop(&word.text)) {
                    element = listed.clone();
                }
                command(run, done, &listed, &mut left);
                listed.clear();
            }
        }
    }
}

fn is_loop(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "%" | "foreach" | "foreach-object" | "?" | "where" | "where-object"
    )
}

/// Whether a word is the current element: `$_`, `$_.FullName`, `$PSItem`.
fn is_element(word: &Arg) -> bool {
    let lower = word.text.to_ascii_lowercase();
    word.dynamic && (lower.starts_with("$_") || lower.starts_with("$psitem"))
}

/// Remembers an alias: `Set-Alias z Remove-Item`.
fn remember_alias(words: &[Arg], aliases: &mut Vec<(String, String)>) {
    let Some((first, rest)) = words.split_first() else { return };
    if !matches!(&*first.text.to_ascii_lowercase(), "set-alias" | "new-alias" | "sal" | "nal") {
        return;
    }
    let mut plain = rest.iter().filter(|word| !word.text.starts_with('-'));
    if let (Some(name), Some(full)) = (plain.next(), plain.next())
        && aliases.len() < MAX_COMMANDS
    {
        aliases.push((name.text.clone(), full.text.clone()));
    }
}

/// Returns text built from parts: `'{1}{0}' -f 'a','b'`, `'a','b' -join ''`.
fn built_text(words: &[Arg]) -> Option<String> {
    match words {
        [format, operator, values @ ..] if operator.text == "-f" && format.quoted => {
            let mut text = format.text.clone();
            for (at, value) in values.iter().enumerate().take(10) {
                text = text.replace(&format!("{{{at}}}"), &value.text);
            }
            Some(text)
        }
        [values @ .., operator, between] if operator.text.eq_ignore_ascii_case("-join") => {
            let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
            Some(texts.join(&between.text))
        }
        [operator, values @ ..] if operator.text.eq_ignore_ascii_case("-join") => {
            Some(values.iter().map(|value| value.text.as_str()).collect())
        }
        _ => None,
    }
}

/// Runs one command; returns the items it lists.
fn command(
    run: &mut CommandRun<'_, '_>,
    mut words: Vec<Arg>,
    listed: &[Arg],
    left: &mut usize,
) -> Vec<Arg> {
    while words.first().is_some_and(|word| is_keyword(&word.text) && !word.quoted) {
        words.remove(0);
    }
    let Some(first) = words.first().cloned() else { return Vec::new() };
    if *left == 0 {
        run.analyzer.note(Some(crate::ir::Partial::TooDeep));
        return Vec::new();
    }
    *left -= 1;
    redirect(run, &mut words);
    let lower = crate::run::program_name(&first.text);
    let name = full_name(&lower, true).to_owned();
    let plain = |word: &&Arg| !word.text.starts_with('-');
    match name.as_str() {
        "get-childitem" | "get-item" | "resolve-path" | "join-path" | "convert-path" => {
            let mut paths: Vec<Arg> = words.iter().skip(1).filter(plain).cloned().collect();
            if name == "join-path" {
                let parts: Vec<&str> = paths.iter().map(|path| path.text.as_str()).collect();
                let dynamic = paths.iter().any(|path| path.dynamic);
                paths = vec![Arg { dynamic, ..Arg::plain(&parts.join("/")) }];
            }
            if paths.is_empty() {
                paths.push(Arg { glob: true, ..Arg::plain("*") });
            }
            // A recursive listing passes on everything below the directory.
            let recurses = |word: &&Arg| {
                let text = word.text.to_ascii_lowercase();
                text.len() > 1 && "-recurse".starts_with(&text)
            };
            paths.extend(words.iter().find(recurses).cloned());
            paths
        }
        "where-object" | "select-object" | "sort-object" | "foreach-object" | "where"
        | "foreach" | "%" | "?" | "select" | "sort" | "convertto-json" | "convertto-csv"
        | "out-string" => listed.to_vec(),
        _ if words.len() == 1 && first.quoted => vec![first],
        // `& $x -Recurse`: an unknown program with the options of one that deletes.
        _ if first.dynamic
            && words
                .iter()
                .skip(1)
                .any(|word| is_option(word, "-recurse") || is_option(word, "-force")) =>
        {
            let (level, certainty) = (Reversibility::R4, Certainty::Unresolved);
            let why = "an unknown command with the options of a recursive delete";
            run.sure(EffectKind::Delete, &first.text, EffectScope::Unknown, level, certainty, why);
            Vec::new()
        }
        _ if is_cmdlet(&name) => {
            let is_fed = matches!(
                name.as_str(),
                "remove-item" | "clear-content" | "move-item" | "clear-item" | "rename-item"
            );
            let has_path = words.iter().skip(1).any(|word| plain(&word));
            words.remove(0);
            if is_fed && !has_path {
                words.extend(listed.iter().cloned());
            }
            // The variables of the environment hold secrets.
            let is_secret = |arg: &Arg| arg.text.to_ascii_lowercase().starts_with("env:");
            let input = match listed {
                [] => Flow::None,
                listed if listed.iter().any(is_secret) => Flow::Secret,
                _ => Flow::Unknown,
            };
            let call = CommandContext { input, indirect: true, ..run.call.clone() };
            let mut inner =
                CommandRun { analyzer: run.analyzer, name: &name, args: &words, call: &call };
            cmdlet(&mut inner, &name);
            inner.analyzer.protect(&name, &words, &call);
            Vec::new()
        }
        _ if first.text.starts_with(['$', '[', '@']) => Vec::new(),
        _ => {
            run.inner(words, Flow::None);
            Vec::new()
        }
    }
}

fn is_option(word: &Arg, option: &str) -> bool {
    let text = word.text.to_ascii_lowercase();
    text.len() > 1 && option.starts_with(&text)
}

/// Handles a redirection: `… > FILE`.
fn redirect(run: &mut CommandRun<'_, '_>, words: &mut Vec<Arg>) {
    let is_mark =
        |word: &Arg| !word.quoted && matches!(&*word.text, ">" | ">>" | "1>" | "2>" | "*>");
    let Some(at) = words.iter().position(is_mark) else { return };
    let appends = words.get(at).is_some_and(|word| word.text == ">>");
    let is_nothing =
        matches!(words.get(..at), Some([only]) if only.text == "null" || only.text.is_empty());
    if let Some(path) = words.get(at + 1).cloned() {
        let call = run.call;
        if is_nothing && !appends {
            run.analyzer.empty_file(&path, run.name, call);
        }
        if !matches!(&*path.text, "null" | "nul" | "NUL" | "&1") {
            run.analyzer.write_file(&path, appends, run.name, call);
        }
    }
    words.truncate(at);
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "if" | "else"
            | "elseif"
            | "while"
            | "do"
            | "until"
            | "try"
            | "catch"
            | "finally"
            | "return"
            | "&"
            | "."
            | "function"
            | "process"
            | "begin"
            | "end"
            | "switch"
            | "exit"
            | "throw"
    )
}

fn names_cmdlet(word: &Arg) -> bool {
    !word.quoted && is_cmdlet(&word.text.to_ascii_lowercase())
}

struct PowershellReader<'t> {
    rest: Peekable<Chars<'t>>,
    out: Vec<PowershellToken>,
    /// Variable to which the next word is assigned.
    assigned: Option<String>,
    /// Variables and their values.
    known: Vec<(String, String)>,
}

impl PowershellReader<'_> {
    fn read(&mut self) {
        while let Some(&c) = self.rest.peek() {
            match c {
                '\n' | ';' | '{' | '}' => self.one(PowershellToken::End),
                '|' => {
                    self.rest.next();
                    let ends = self.rest.next_if_eq(&'|').is_some();
                    self.out.push(if ends { PowershellToken::End } else { PowershellToken::Pipe });
                }
                '&' => {
                    self.rest.next();
                    if self.rest.next_if_eq(&'&').is_some() {
                        self.out.push(PowershellToken::End);
                    }
                }
                '(' => self.one(PowershellToken::Open),
                ')' => self.one(PowershellToken::Close),
                '#' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                ',' => self.skip(),
                c if c.is_whitespace() => self.skip(),
                _ => self.word(),
            }
        }
    }

    fn skip(&mut self) {
        self.rest.next();
    }

    fn one(&mut self, token: PowershellToken) {
        self.rest.next();
        self.out.push(token);
    }

    fn word(&mut self) {
        let mut arg =
            Arg { quoted: matches!(self.rest.peek(), Some('\'' | '"')), ..Arg::default() };
        let mut raw_variable = None;
        while let Some(&c) = self.rest.peek() {
            match c {
                '\'' => {
                    self.rest.next();
                    while let Some(c) = self.rest.next() {
                        match c {
                            '\'' if self.rest.next_if_eq(&'\'').is_none() => break,
                            c => arg.text.push(c),
                        }
                    }
                }
                '"' => {
                    self.rest.next();
                    while let Some(c) = self.rest.next() {
                        match c {
                            '"' => break,
                            '`' => arg.text.extend(self.rest.next()),
                            '$' => self.variable(&mut arg),
                            c => arg.text.push(c),
                        }
                    }
                }
                '`' => {
                    self.rest.next();
                    arg.text.extend(self.rest.next().filter(|c| *c != '\n'));
                }
                '$' if arg.text.is_empty() && !arg.quoted => {
                    self.rest.next();
                    let before = self.rest.clone();
                    self.variable(&mut arg);
                    let name: String = before
                        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':'))
                        .collect();
                    raw_variable = Some(name);
                }
                '$' => {
                    self.rest.next();
                    self.variable(&mut arg);
                }
                '+' if arg.quoted => {
                    // `'a'+'b'`
                    self.rest.next();
                }
                c if c.is_whitespace() && arg.quoted && self.continues() => {}
                c if c.is_whitespace() || ";|(){},&".contains(c) => break,
                '=' if raw_variable.is_some() => break,
                c => {
                    arg.glob |= matches!(c, '*' | '?');
                    arg.text.push(c);
                    self.rest.next();
                }
            }
        }
        arg.text = arg.text.replace('\\', "/");
        if let Some(name) = raw_variable {
            let mut ahead = self.rest.clone();
            while ahead.peek().is_some_and(|c| *c == ' ') {
                ahead.next();
            }
            if ahead.next() == Some('=') && ahead.peek() != Some(&'=') {
                while self.rest.next() != Some('=') {}
                self.out.push(PowershellToken::Assign);
                self.assigned = Some(name.to_ascii_lowercase());
                return;
            }
        }
        if arg.text.is_empty() && !arg.quoted {
            self.rest.next();
            return;
        }
        if let Some(name) = self.assigned.take() {
            self.known.retain(|(known, _)| *known != name);
            if !arg.dynamic && !names_cmdlet(&arg) && self.known.len() < MAX_COMMANDS {
                self.known.push((name, arg.text.clone()));
            }
        }
        self.out.push(PowershellToken::Word(arg));
    }

    /// Continues after ` + ` if another quoted text is appended.
    fn continues(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        let mut steps = 0;
        while ahead.next_if(|c| *c == ' ').is_some() {
            steps += 1;
        }
        if ahead.next() != Some('+') {
            return false;
        }
        steps += 1;
        while ahead.next_if(|c| *c == ' ').is_some() {
            steps += 1;
        }
        let is_text = matches!(ahead.peek(), Some('\'' | '"'));
        if is_text {
            for _ in 0..steps {
                self.rest.next();
            }
        }
        is_text
    }

    /// Reads the value of a variable whose sigil has been read.
    fn variable(&mut self, arg: &mut Arg) {
        let is_braced = self.rest.next_if_eq(&'{').is_some();
        if self.rest.peek() == Some(&'(') {
            arg.text.push('$');
            arg.dynamic = true;
            return;
        }
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | ':')) {
            name.push(c);
        }
        if is_braced {
            self.rest.next_if_eq(&'}');
        }
        let lower = name.to_ascii_lowercase();
        if let Some(own) = lower.strip_prefix("env:") {
            let value = dos::value(own);
            arg.dynamic |= value.starts_with('$');
            arg.text.push_str(&value);
            return;
        }
        let known = self.known.iter().find(|(known, _)| *known == lower);
        match (lower.as_str(), known) {
            ("true" | "false" | "null", _) => arg.text.push_str(&lower),
            ("home", _) => arg.text.push('~'),
            ("pwd" | "psscriptroot", _) => arg.text.push('.'),
            (_, Some((_, text))) => arg.text.push_str(text),
            _ => {
                arg.text.push('$');
                arg.text.push_str(&name);
                arg.dynamic = true;
            }
        }
    }
}
