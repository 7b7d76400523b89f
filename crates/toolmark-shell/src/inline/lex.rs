//! Source code as tokens, as far as calls and strings need it: names, strings with their
//! interpolations, marks. Comments and patterns are omitted.

use super::Language;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum number of characters of code read.
pub(super) const MAX_CHARS: usize = 128 << 10;

/// A token of source code.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SourceToken {
    /// A name or a keyword; variables with their sigil: `$x`.
    Name(String),
    /// A string.
    Text(Vec<StringPiece>),
    /// A command for the shell: backticks, `%x(…)`, `qx(…)`.
    Shell(Vec<StringPiece>),
    /// A list of words: `qw(…)`, `%w[…]`.
    Words(Vec<String>),
    Number(String),
    Mark(&'static str),
    /// The end of a line.
    Line,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StringPiece {
    Plain(String),
    /// Interpolated code.
    Code(String),
}

/// Marks of more than one character, the longest first.
const LONG_MARKS: &[&str] = &[
    "===", "!==", "...", "<=>", "==", "!=", "<=", ">=", "=>", "->", "::", "||", "&&", "+=", ".=",
    "??", "?.", "|>", "<<", ">>", "**",
];
const MARKS: &[&str] = &[
    "(", ")", "[", "]", "{", "}", ".", ",", ";", ":", "+", "-", "*", "/", "%", "=", "<", ">", "!",
    "?", "|", "&", "^", "~", "@",
];

/// Rules for the end and the content of a string.
#[derive(Clone, Copy)]
struct Quote {
    open: Option<char>,
    close: char,
    triple: bool,
    /// Whether a backslash is literal.
    raw: bool,
    holds: Holds,
}

/// Interpolation syntax of a string.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Nothing,
    /// `{x}`
    Braces,
    /// `${x}`
    DollarBraces,
    /// `#{x}`
    HashBraces,
    /// `$x`, `${x}`, `$(x)`, `{$x}`
    Dollars,
}

pub(super) fn tokens(code: &str, language: Language) -> Vec<SourceToken> {
    let end = code.char_indices().nth(MAX_CHARS).map_or(code.len(), |(at, _)| at);
    let code = code.get(..end).unwrap_or(code);
    Lexer { rest: code.chars().peekable(), language, out: Vec::new() }.run()
}

/// Returns the code without the contents of its strings and without blanks.
pub(super) fn skeleton(tokens: &[SourceToken]) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            SourceToken::Name(text) | SourceToken::Number(text) => out.push_str(text),
            SourceToken::Mark(mark) => out.push_str(mark),
            SourceToken::Text(pieces) => {
                let is_address = |piece: &StringPiece| matches!(piece, StringPiece::Plain(t) if t.starts_with("http"));
                out.push_str(if pieces.iter().any(is_address) { "\"http\"" } else { "\"\"" });
            }
            SourceToken::Shell(_) | SourceToken::Words(_) => out.push_str("\"\""),
            SourceToken::Line => out.push('\n'),
        }
    }
    out
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    language: Language,
    out: Vec<SourceToken>,
}

impl Lexer<'_> {
    fn run(mut self) -> Vec<SourceToken> {
        while let Some(c) = self.rest.next() {
            match c {
                '\n' => self.out.push(SourceToken::Line),
                c if c.is_whitespace() => {}
                '\\' if self.rest.peek() == Some(&'\n') => {
                    self.rest.next();
                }
                '#' if self.hash_comments() => self.skip_line(),
                // `!command` of a notebook
                '!' if self.language == Language::Python && self.is_line_start() => {
                    let command = self.take_line();
                    self.out.push(SourceToken::Shell(vec![StringPiece::Plain(command)]));
                }
                '%' if self.language == Language::Python && self.is_line_start() => self.magic(),
                '/' if self.slash_comments() && self.rest.peek() == Some(&'/') => self.skip_line(),
                '/' if self.slash_comments() && self.rest.peek() == Some(&'*') => self.skip_block(),
                '/' if self.is_pattern() => self.skip_pattern('/'),
                '<' if self.language == Language::Perl && self.is_value_next() => self.angle(),
                '\'' | '"' | '`' => self.string(c, ""),
                '%' if self.language == Language::Ruby && self.is_value_next() => self.percent(),
                c if c.is_ascii_digit() => self.number(c),
                c if is_start(c, self.language) => self.name(c),
                c => self.mark(c),
            }
        }
        self.out
    }

    fn hash_comments(&self) -> bool {
        !matches!(self.language, Language::JavaScript | Language::Lisp | Language::Other)
            || (self.language == Language::Other && self.is_value_next())
    }

    fn slash_comments(&self) -> bool {
        matches!(self.language, Language::JavaScript | Language::Php | Language::Other)
    }

    /// Whether a value rather than an operator may come next.
    fn is_value_next(&self) -> bool {
        match self.out.last() {
            None | Some(SourceToken::Line) => true,
            Some(SourceToken::Mark(mark)) => !matches!(*mark, ")" | "]" | "}"),
            Some(SourceToken::Name(name)) => is_before_value(name),
            Some(_) => false,
        }
    }

    fn is_pattern(&self) -> bool {
        matches!(self.language, Language::JavaScript | Language::Ruby | Language::Perl)
            && self.is_value_next()
    }

    fn is_line_start(&self) -> bool {
        matches!(self.out.last(), None | Some(SourceToken::Line))
    }

    fn take_line(&mut self) -> String {
        let mut line = String::new();
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            line.push(c);
        }
        line
    }

    /// Reads `%%bash`, which makes a command of the rest of a cell, and `%sx`, of the rest of the
    /// line.
    fn magic(&mut self) {
        let line = self.take_line();
        let name = line.trim_start_matches('%').split_whitespace().next().unwrap_or("").to_owned();
        let command = match name.as_str() {
            "bash" | "sh" | "script" | "cmd" => self.rest.by_ref().collect(),
            "sx" | "system" => line.trim_start_matches('%').trim_start_matches(&name).to_owned(),
            _ => return,
        };
        self.out.push(SourceToken::Shell(vec![StringPiece::Plain(command)]));
    }

    fn skip_line(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    fn skip_block(&mut self) {
        let mut before = ' ';
        self.rest.next();
        for c in self.rest.by_ref() {
            if before == '*' && c == '/' {
                break;
            }
            before = c;
        }
    }

    fn skip_pattern(&mut self, close: char) {
        let mut in_class = false;
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            match c {
                '\\' => {
                    self.rest.next();
                }
                '[' => in_class = true,
                ']' => in_class = false,
                c if c == close && !in_class => break,
                _ => {}
            }
        }
        while self.rest.next_if(char::is_ascii_alphabetic).is_some() {}
        self.out.push(SourceToken::Number(String::new()));
    }

    /// Reads a file pattern: `</srv/*>`.
    fn angle(&mut self) {
        /// Maximum length of a file pattern.
        const LONGEST: usize = 256;
        let is_start = |c: &char| c.is_alphanumeric() || "/~.*$".contains(*c);
        if !self.rest.peek().is_some_and(is_start) {
            return self.mark('<');
        }
        let ahead = self.rest.clone().take(LONGEST);
        let text: String = ahead.take_while(|c| !matches!(c, '>' | '\n')).collect();
        if text.contains(['/', '*']) && text.len() < LONGEST {
            self.rest.by_ref().take(text.chars().count() + 1).for_each(drop);
            self.out.push(SourceToken::Name("glob".into()));
            self.out.push(SourceToken::Mark("("));
            self.out.push(SourceToken::Text(vec![StringPiece::Plain(text)]));
            self.out.push(SourceToken::Mark(")"));
        } else {
            self.out.push(SourceToken::Mark("<"));
        }
    }

    fn number(&mut self, first: char) {
        let mut text = first.to_string();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            text.push(c);
        }
        self.out.push(SourceToken::Number(text));
    }

    fn name(&mut self, first: char) {
        let mut name = first.to_string();
        let is_lisp = self.language == Language::Lisp;
        let is_part = |c: &char| {
            c.is_alphanumeric()
                || *c == '_'
                || (*c == '$' && first != '$')
                || (is_lisp && matches!(c, '-' | ':' | '!' | '?' | '*' | '/' | '.'))
        };
        while let Some(c) = self.rest.next_if(is_part) {
            name.push(c);
        }
        if first == '$' && name.len() == 1 && self.language == Language::Perl {
            // `$!`, `$@`, `$/`
            name.extend(self.rest.next_if(|c| c.is_ascii_punctuation() && !"{(;".contains(*c)));
        }
        // `File.rm_rf!`
        if matches!(self.language, Language::Ruby | Language::Other) {
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('!') && ahead.next() != Some('=') {
                self.rest.next();
                name.push('!');
            }
        }
        match self.rest.peek().copied() {
            Some(quote @ ('\'' | '"')) if self.is_prefix(&name) => {
                self.rest.next();
                self.string(quote, &name);
            }
            Some(open) if self.is_quoting(&name, open) => self.quoting(&name, open),
            _ => self.out.push(SourceToken::Name(name)),
        }
    }

    /// Whether a name directly before a quote is a prefix of the string.
    fn is_prefix(&self, name: &str) -> bool {
        let is_python = || name.len() < 3 && name.chars().all(|c| "rbfuRBFU".contains(c));
        match self.language {
            Language::Python => is_python(),
            Language::Other => matches!(name, "s" | "r" | "f" | "raw"),
            Language::Lisp => name == "p",
            _ => false,
        }
    }

    /// Whether a name and a character open a quoting form: `q(…)`, `qq{…}`, `qw[…]`, `s/…/…/`.
    fn is_quoting(&self, name: &str, open: char) -> bool {
        let is_open = open.is_ascii_punctuation() && !matches!(open, ',' | ';' | ')' | '=' | '-');
        let is_known = matches!(name, "q" | "qq" | "qw" | "qx" | "m" | "qr" | "s" | "tr" | "y");
        let member = matches!(self.out.last(), Some(SourceToken::Mark("->" | "{" | "::")));
        self.language == Language::Perl && is_known && is_open && !member
    }

    fn quoting(&mut self, name: &str, open: char) {
        let close = closing(open);
        self.rest.next();
        if matches!(name, "m" | "qr" | "s" | "tr" | "y") {
            self.skip_pattern(close);
            if matches!(name, "s" | "tr" | "y") && close == open {
                self.out.pop();
                self.skip_pattern(close);
            }
            return;
        }
        let holds = if name == "q" { Holds::Nothing } else { Holds::Dollars };
        self.enclosed(name, open, close, holds);
    }

    /// Reads `%w[…]`, `%x(…)`, `%q(…)` of Ruby.
    fn percent(&mut self) {
        let mut ahead = self.rest.clone();
        let kind = ahead.next().unwrap_or(' ');
        let (name, open) = match kind {
            'w' | 'W' | 'i' => ("qw", ahead.next()),
            'x' => ("qx", ahead.next()),
            'q' | 'Q' => ("q", ahead.next()),
            '(' | '{' | '[' => ("q", Some(kind)),
            _ => ("", None),
        };
        match open.filter(char::is_ascii_punctuation) {
            Some(open) => {
                let marks = if "([{".contains(kind) { 1 } else { 2 };
                self.rest.by_ref().take(marks).for_each(drop);
                self.enclosed(name, open, closing(open), Holds::HashBraces);
            }
            None => self.out.push(SourceToken::Mark("%")),
        }
    }

    fn enclosed(&mut self, name: &str, open: char, close: char, holds: Holds) {
        let nests = (open != close).then_some(open);
        let pieces =
            self.pieces(Quote { open: nests, close, triple: false, raw: name == "q", holds });
        let plain = |pieces: Vec<StringPiece>| {
            let texts = pieces.into_iter().map(|piece| match piece {
                StringPiece::Plain(text) | StringPiece::Code(text) => text,
            });
            texts.collect::<String>()
        };
        self.out.push(match name {
            "qw" => {
                SourceToken::Words(plain(pieces).split_whitespace().map(str::to_owned).collect())
            }
            "qx" => SourceToken::Shell(pieces),
            _ => SourceToken::Text(pieces),
        });
    }

    fn string(&mut self, quote: char, prefix: &str) {
        let prefix = prefix.to_ascii_lowercase();
        let mut ahead = self.rest.clone();
        let is_triple = matches!(self.language, Language::Python | Language::Other)
            && quote != '`'
            && ahead.next() == Some(quote)
            && ahead.next() == Some(quote);
        if is_triple {
            self.rest.by_ref().take(2).for_each(drop);
        }
        let is_double = quote != '\'';
        let holds = match self.language {
            Language::Python if prefix.contains('f') => Holds::Braces,
            Language::JavaScript if quote == '`' => Holds::DollarBraces,
            Language::Ruby if is_double => Holds::HashBraces,
            Language::Perl | Language::Php | Language::Other | Language::PowerShell
                if is_double =>
            {
                Holds::Dollars
            }
            _ => Holds::Nothing,
        };
        let raw = prefix.contains('r') || self.language == Language::PowerShell;
        let pieces = self.pieces(Quote { open: None, close: quote, triple: is_triple, raw, holds });
        let is_shell = quote == '`'
            && matches!(
                self.language,
                Language::Ruby | Language::Perl | Language::Php | Language::Other
            );
        self.out.push(if is_shell {
            SourceToken::Shell(pieces)
        } else {
            SourceToken::Text(pieces)
        });
    }

    /// Reads the rest of a string.
    fn pieces(&mut self, quote: Quote) -> Vec<StringPiece> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut depth = 0;
        while let Some(c) = self.rest.next() {
            match c {
                '\\' if !quote.raw => self.escape(&mut plain),
                c if Some(c) == quote.open => {
                    depth += 1;
                    plain.push(c);
                }
                c if c == quote.close && depth > 0 => {
                    depth -= 1;
                    plain.push(c);
                }
                c if c == quote.close && quote.triple => {
                    let mut ahead = self.rest.clone();
                    if ahead.next() == Some(c) && ahead.next() == Some(c) {
                        self.rest.by_ref().take(2).for_each(drop);
                        break;
                    }
                    plain.push(c);
                }
                c if c == quote.close => break,
                '{' if quote.holds == Holds::Braces && self.rest.peek() == Some(&'{') => {
                    self.rest.next();
                    plain.push('{');
                }
                '{' if quote.holds == Holds::Braces => {
                    self.held(quote.holds, &mut plain, &mut pieces)
                }
                '$' if matches!(quote.holds, Holds::DollarBraces | Holds::Dollars)
                    && self.rest.peek() == Some(&'{') =>
                {
                    self.rest.next();
                    self.held(quote.holds, &mut plain, &mut pieces);
                }
                '#' if quote.holds == Holds::HashBraces && self.rest.peek() == Some(&'{') => {
                    self.rest.next();
                    self.held(quote.holds, &mut plain, &mut pieces);
                }
                '$' if quote.holds == Holds::Dollars => {
                    let mut name = String::from("$");
                    while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                        name.push(c);
                    }
                    match name.len() {
                        1 => plain.push('$'),
                        _ => {
                            pieces.push(StringPiece::Plain(std::mem::take(&mut plain)));
                            pieces.push(StringPiece::Code(name));
                        }
                    }
                }
                c => plain.push(c),
            }
        }
        if !plain.is_empty() || pieces.is_empty() {
            pieces.push(StringPiece::Plain(plain));
        }
        pieces
    }

    fn held(&mut self, holds: Holds, plain: &mut String, pieces: &mut Vec<StringPiece>) {
        let close = '}';
        let mut code = String::new();
        let mut depth = 0;
        for c in self.rest.by_ref() {
            match c {
                '{' => depth += 1,
                c if c == close && depth == 0 => break,
                '}' => depth -= 1,
                _ => {}
            }
            code.push(c);
        }
        // `${x:-y}` means something to a shell only, and is left to it.
        let is_name = code.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
        if holds == Holds::Dollars && !is_name {
            plain.push_str("${");
            let mut chars = code.chars();
            while let Some(c) = chars.next() {
                plain.extend(if c == '\\' { chars.next() } else { Some(c) });
            }
            plain.push(close);
            return;
        }
        pieces.push(StringPiece::Plain(std::mem::take(plain)));
        pieces.push(StringPiece::Code(code));
    }

    fn escape(&mut self, text: &mut String) {
        match self.rest.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r' | 'e' | '\n') | None => {}
            Some('x') => text.extend(self.character("", 2, 16)),
            Some('u') => {
                let most = if self.rest.next_if_eq(&'{').is_some() { 6 } else { 4 };
                text.extend(self.character("", most, 16));
                self.rest.next_if_eq(&'}');
            }
            Some(c @ '0'..='7') => text.extend(self.character(&c.to_string(), 3, 8)),
            Some(c) => text.push(c),
        }
    }

    /// Reads a character by its number, some digits of which may already be known.
    fn character(&mut self, known: &str, most: usize, radix: u32) -> Option<char> {
        let mut digits = known.to_owned();
        while digits.len() < most
            && let Some(c) = self.rest.next_if(|c| c.is_digit(radix))
        {
            digits.push(c);
        }
        u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
    }

    fn mark(&mut self, first: char) {
        let mut ahead = self.rest.clone();
        let (second, third) = (ahead.next(), ahead.next());
        let is = |byte: u8, c: Option<char>| c == Some(char::from(byte));
        let is_long = |mark: &&&str| match mark.as_bytes() {
            [a, b] => is(*a, Some(first)) && is(*b, second),
            [a, b, c] => is(*a, Some(first)) && is(*b, second) && is(*c, third),
            _ => false,
        };
        let is_short = |mark: &&&str| mark.as_bytes().first().is_some_and(|a| is(*a, Some(first)));
        if let Some(mark) = LONG_MARKS.iter().find(is_long) {
            self.rest.by_ref().take(mark.len() - 1).for_each(drop);
            self.out.push(SourceToken::Mark(mark));
        } else if let Some(mark) = MARKS.iter().find(is_short) {
            self.out.push(SourceToken::Mark(mark));
        }
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        open => open,
    }
}

fn is_start(c: char, language: Language) -> bool {
    c.is_alphabetic()
        || c == '_'
        || c == '$'
        || (c == '@' && matches!(language, Language::Ruby | Language::Perl))
}

/// Whether a name is a keyword before a value.
fn is_before_value(name: &str) -> bool {
    matches!(
        name,
        "return"
            | "and"
            | "or"
            | "not"
            | "if"
            | "unless"
            | "while"
            | "until"
            | "in"
            | "of"
            | "print"
            | "puts"
            | "split"
            | "grep"
            | "map"
            | "join"
            | "push"
            | "when"
            | "case"
            | "typeof"
            | "await"
            | "else"
            | "do"
            | "for"
            | "foreach"
            | "unlink"
            | "system"
            | "exec"
            | "rm_rf"
    )
}
