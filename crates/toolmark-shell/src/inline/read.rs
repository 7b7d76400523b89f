//! Reads code as a list of expressions: tracks the values of names and collects the effects of
//! calls. This is not a parser of any language: syntax it does not understand is skipped.

mod calls;
mod expressions;

use super::Language;
use super::functions::Deed;
use super::lex::SourceToken;
use super::value::InlineValue;
use std::collections::BTreeMap;

/// Maximum nesting depth of expressions.
const MAX_DEPTH: usize = 48;
/// Maximum number of names tracked.
const MAX_NAMES: usize = 512;
/// Maximum size of a tracked value, in bytes.
const MAX_VALUE: usize = 32 << 10;
/// Maximum number of bytes copied to track names.
const MAX_WORK: usize = 2 << 20;
/// Maximum number of deeds collected.
pub(super) const MAX_DEEDS: usize = 256;

/// Effects of the code.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    pub(super) deeds: Vec<Deed>,
    /// Files that the code lists.
    pub(super) listed: Vec<InlineValue>,
    /// Paths that occur in the code.
    pub(super) paths: Vec<String>,
    /// Whether a part of the code was not read.
    pub(super) is_partial: bool,
}

pub(super) fn read(
    tokens: &[SourceToken],
    language: Language,
    program: &str,
    names: Vec<(String, String)>,
) -> Deeds {
    let names = names.into_iter().map(|(short, full)| (short, InlineValue::Name(full))).collect();
    let mut reader = InlineReader {
        tokens,
        at: 0,
        language,
        program,
        names,
        depth: 0,
        element: InlineValue::Unknown,
        found: Deeds::default(),
        work: 0,
    };
    // Names may be bound behind the place where they are used: `[f(x) for x in y]`.
    reader.all();
    reader.at = 0;
    reader.found = Deeds::default();
    reader.all();
    reader.found
}

pub(super) struct InlineReader<'t> {
    tokens: &'t [SourceToken],
    at: usize,
    language: Language,
    program: &'t str,
    names: BTreeMap<String, InlineValue>,
    depth: usize,
    /// Current element of the innermost loop without a named variable: `$_`.
    pub(super) element: InlineValue,
    pub(super) found: Deeds,
    /// Number of bytes copied to track names.
    work: usize,
}

impl<'t> InlineReader<'t> {
    fn all(&mut self) {
        while self.at < self.tokens.len() {
            let before = self.at;
            self.statement();
            if self.at == before {
                self.at += 1;
            }
        }
    }

    fn peek(&self) -> Option<&'t SourceToken> {
        self.tokens.get(self.at)
    }

    fn peek_at(&self, ahead: usize) -> Option<&'t SourceToken> {
        self.tokens.get(self.at + ahead)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(SourceToken::Mark(own)) if *own == mark)
    }

    fn is_mark_at(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.peek_at(ahead), Some(SourceToken::Mark(own)) if *own == mark)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(SourceToken::Name(own)) if own == name)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let is_it = self.is_mark(mark);
        self.at += usize::from(is_it);
        is_it
    }

    fn bind(&mut self, name: &str, value: InlineValue) {
        // `x = [x, x]` doubles it each time.
        let value = if value.weight() > MAX_VALUE { InlineValue::Unknown } else { value };
        if self.names.len() < MAX_NAMES || self.names.contains_key(name) {
            self.names.insert(name.to_owned(), value);
        }
    }

    pub(super) fn perform(&mut self, deed: Deed) {
        match self.found.deeds.len() < MAX_DEEDS {
            true => self.found.deeds.push(deed),
            false => self.found.is_partial = true,
        }
    }

    fn statement(&mut self) {
        match self.peek() {
            Some(SourceToken::Name(name)) => match name.as_str() {
                "for" | "foreach" => self.binding(),
                "import" | "from" if self.language == Language::Python => self.skip_statement(),
                "use" if self.language == Language::Perl => self.skip_statement(),
                "shell" if self.language == Language::AppleScript => self.apple_script(),
                name if is_keyword(name) && !self.is_mark_at(1, "(") => self.at += 1,
                _ => self.assignment(),
            },
            Some(
                SourceToken::Mark("(" | "[" | "{") | SourceToken::Text(_) | SourceToken::Shell(_),
            )
            | Some(SourceToken::Words(_)) => {
                self.expression();
            }
            _ => self.at += 1,
        }
    }

    fn skip_statement(&mut self) {
        while let Some(token) = self.peek() {
            if matches!(token, SourceToken::Line | SourceToken::Mark(";")) {
                break;
            }
            self.at += 1;
        }
    }

    /// Reads `do shell script "…"`.
    fn apple_script(&mut self) {
        self.at += 1;
        if self.is_name("script") {
            self.at += 1;
            if let Some(known) = self.expression().known().cloned() {
                self.perform(Deed::Shell(known));
            }
        }
    }

    /// Reads `NAME = EXPRESSION`, or an expression alone.
    fn assignment(&mut self) {
        let Some(SourceToken::Name(name)) = self.peek() else { return };
        let is_typed = self.is_mark_at(1, ":") && self.is_mark_at(3, "=");
        let is_plain =
            self.is_mark_at(1, "=") || (self.is_mark_at(1, ":") && self.is_mark_at(2, "="));
        if is_plain || is_typed {
            self.at += if is_typed {
                4
            } else if self.is_mark_at(1, "=") {
                2
            } else {
                3
            };
            let value = self.expression();
            self.bind(name, value);
        } else if self.is_mark_at(1, "+=") || self.is_mark_at(1, ".=") {
            self.at += 2;
            let more = self.expression();
            let value = self.names.get(name).map_or(InlineValue::Unknown, |own| own.concat(&more));
            self.bind(name, value);
        } else {
            self.expression();
            // `with open(x) as f`, `mkdtemp() as d`: the name is what the call gave.
        }
    }

    /// Reads `for x in y`, `for (const x of y)`, `foreach (y as $x)`, `for my $x (y)`.
    fn binding(&mut self) {
        self.at += 1;
        let is_open = self.take_mark("(");
        let mut names: Vec<String> = Vec::new();
        let start = self.at;
        while let Some(SourceToken::Name(name)) = self.peek() {
            if matches!(name.as_str(), "in" | "of") {
                break;
            }
            names.push(name.clone());
            self.at += 1;
            self.take_mark(",");
        }
        if self.is_name("in") || self.is_name("of") {
            self.at += 1;
            let value = self.expression().element();
            self.bind_all(&names, &value);
            return;
        }
        // `for my $x (y)`
        if !is_open && self.is_mark("(") {
            let value = self.expression().element();
            self.bind_all(&names, &value);
            self.element = value;
            return;
        }
        self.at = start;
        if is_open {
            let value = self.expression();
            if self.is_name("as") {
                self.at += 1;
                let mut names = Vec::new();
                while let Some(token) = self.peek() {
                    match token {
                        SourceToken::Name(name) => names.push(name.clone()),
                        SourceToken::Mark("=>" | ",") => {}
                        _ => break,
                    }
                    self.at += 1;
                }
                self.bind_all(&names, &value.element());
            } else {
                self.element = value.element();
            }
        } else {
            // `unlink for glob("…")`
            let value = self.expression();
            self.element = value.element();
        }
    }

    fn bind_all(&mut self, names: &[String], value: &InlineValue) {
        for name in names.iter().filter(|name| !is_keyword(name)) {
            self.bind(name, value.clone());
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "if" | "else"
            | "elif"
            | "elsif"
            | "unless"
            | "while"
            | "until"
            | "for"
            | "foreach"
            | "in"
            | "of"
            | "as"
            | "do"
            | "end"
            | "then"
            | "def"
            | "function"
            | "sub"
            | "class"
            | "return"
            | "await"
            | "async"
            | "new"
            | "const"
            | "let"
            | "var"
            | "my"
            | "our"
            | "local"
            | "val"
            | "print"
            | "puts"
            | "echo"
            | "try"
            | "except"
            | "catch"
            | "finally"
            | "with"
            | "begin"
            | "rescue"
            | "raise"
            | "throw"
            | "and"
            | "or"
            | "not"
            | "pass"
            | "yield"
            | "export"
            | "static"
            | "public"
            | "func"
            | "fn"
            | "case"
            | "when"
            | "switch"
            | "use"
            | "package"
    )
}
