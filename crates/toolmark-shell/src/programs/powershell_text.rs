//! Text of PowerShell as commands: quotes, variables, pipes, blocks and parentheses. Every
//! block is taken to run.

use super::powershell::{cmdlet, full_name, is_cmdlet, runs_download};
use crate::analyze::Call;
use crate::dos;
use crate::effects::{Certainty, Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::pipes::Flow;
use crate::run::Run;
use std::iter::Peekable;
use std::str::Chars;

/// A longer text is not read.
const MAX_TEXT: usize = 64 << 10;
/// So many commands are read.
const MAX_COMMANDS: usize = 256;

/// A part of a text.
#[derive(Debug, PartialEq)]
enum Token {
    Word(Arg),
    /// `$x =`
    Assign,
    Pipe,
    /// A parenthesis that opens.
    Open,
    Close,
    /// The end of a command.
    End,
}

/// Does text look like PowerShell?
pub(crate) fn is_powershell(text: &str) -> bool {
    let starts = text.split(['|', ';', '\n', '{', '(', '=']).take(64);
    text.len() <= MAX_TEXT
        && (starts.into_iter().any(|part| {
            let first = part.split_whitespace().next().unwrap_or("");
            // Its own names have capitals; programs of other shells have none.
            let is_own = first.split('-').all(|p| p.starts_with(|c: char| c.is_ascii_uppercase()));
            is_own && first.contains('-') && is_cmdlet(&first.to_ascii_lowercase())
        }) || text.contains("]::"))
}

/// Analyzes a text.
pub(crate) fn run(run: &mut Run<'_, '_>, text: &str) {
    if !run.analyzer.spend() || text.len() > MAX_TEXT {
        run.analyzer.note(Some(crate::ir::Partial::TooDeep));
        return;
    }
    run.analyzer.depth += 1;
    if runs_download(text) {
        let why = "runs downloaded code";
        let level = Reversibility::R5;
        run.effect(Kind::ExecuteUntrusted, "a download", Scope::Remote, level, why);
    }
    if text.contains("]::") {
        inline::scan(run, Language::PowerShell, &text.replace('\\', "/"));
    }
    if text.to_ascii_lowercase().contains(".delete(") && !text.contains("]::") {
        let why = "deletes what it found";
        let (level, certainty) = (Reversibility::R4, Certainty::Unresolved);
        run.sure(Kind::Delete, "objects", Scope::Unknown, level, certainty, why);
    }
    let mut reader = Reader {
        rest: text.chars().peekable(),
        out: Vec::new(),
        assigned: None,
        known: Vec::new(),
    };
    reader.read();
    commands(run, reader.out);
    run.analyzer.depth -= 1;
}

/// Runs the commands in turn. What one lists goes to the next through a pipe.
fn commands(run: &mut Run<'_, '_>, tokens: Vec<Token>) {
    let mut words: Vec<Arg> = Vec::new();
    let mut listed: Vec<Arg> = Vec::new();
    let mut outer: Vec<Vec<Arg>> = Vec::new();
    let mut is_assigned = false;
    let mut left = MAX_COMMANDS;
    for token in tokens.into_iter().chain([Token::End]) {
        match token {
            Token::Word(word) => words.push(word),
            Token::Assign => is_assigned = true,
            Token::Open => outer.push(std::mem::take(&mut words)),
            Token::Close => {
                let found = command(run, std::mem::take(&mut words), &listed, &mut left);
                words = outer.pop().unwrap_or_default();
                // What stands in parentheses is a word of the command around it.
                match found.is_empty() {
                    true => words.push(Arg { dynamic: true, ..Arg::plain("$(…)") }),
                    false => words.extend(found),
                }
            }
            Token::Pipe => {
                listed = command(run, std::mem::take(&mut words), &listed, &mut left);
            }
            Token::End => {
                // A value that no command gives is no command.
                if std::mem::take(&mut is_assigned) && !words.first().is_some_and(names_cmdlet) {
                    words.clear();
                }
                command(run, std::mem::take(&mut words), &listed, &mut left);
                listed.clear();
            }
        }
    }
}

/// Runs one command; what it lists.
fn command(
    run: &mut Run<'_, '_>,
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
            // What lists everything below a directory takes all of it along.
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
            let call = Call { input, indirect: true, ..run.call.clone() };
            let mut inner = Run { analyzer: run.analyzer, name: &name, args: &words, call: &call };
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

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    out: Vec<Token>,
    /// The variable that the next word is the value of.
    assigned: Option<String>,
    /// Variables and their values.
    known: Vec<(String, String)>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(&c) = self.rest.peek() {
            match c {
                '\n' | ';' | '{' | '}' => self.one(Token::End),
                '|' => {
                    self.rest.next();
                    let ends = self.rest.next_if_eq(&'|').is_some();
                    self.out.push(if ends { Token::End } else { Token::Pipe });
                }
                '&' => {
                    self.rest.next();
                    if self.rest.next_if_eq(&'&').is_some() {
                        self.out.push(Token::End);
                    }
                }
                '(' => self.one(Token::Open),
                ')' => self.one(Token::Close),
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

    fn one(&mut self, token: Token) {
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
                self.out.push(Token::Assign);
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
        self.out.push(Token::Word(arg));
    }

    /// The value of a variable whose mark has been read.
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
