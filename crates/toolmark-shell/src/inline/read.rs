//! Reads code as a list of expressions: follows what names are given, and collects what the
//! calls do. It is no parser of any language: what it does not understand it steps over.

use super::functions::{self, Called, Deed, FunctionCall};
use super::lex::{Piece, Token, tokens};
use super::value::{Known, Value};
use super::{Language, decode};
use std::collections::BTreeMap;

/// Expressions inside expressions are read down to here.
const MAX_DEPTH: usize = 48;
/// So many names are followed.
const MAX_NAMES: usize = 512;
/// A larger value is not followed.
const MAX_VALUE: usize = 32 << 10;
/// So much is copied in all to follow names.
const MAX_WORK: usize = 2 << 20;
/// So many deeds are collected.
pub(super) const MAX_DEEDS: usize = 256;

/// What the code does.
#[derive(Debug, Default)]
pub(super) struct Deeds {
    pub(super) deeds: Vec<Deed>,
    /// Files that the code lists.
    pub(super) listed: Vec<Value>,
    /// Paths that stand in the code.
    pub(super) paths: Vec<String>,
    /// Not all of it was read.
    pub(super) is_partial: bool,
}

pub(super) fn read(
    code: &str,
    language: Language,
    program: &str,
    names: Vec<(String, String)>,
) -> Deeds {
    let tokens = tokens(code, language);
    let names = names.into_iter().map(|(short, full)| (short, Value::Name(full))).collect();
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        language,
        program,
        names,
        depth: 0,
        element: Value::Unknown,
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

pub(super) struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    language: Language,
    program: &'t str,
    names: BTreeMap<String, Value>,
    depth: usize,
    /// What the innermost loop without a name of its own takes in turn: `$_`.
    pub(super) element: Value,
    pub(super) found: Deeds,
    /// How much was copied to follow names.
    work: usize,
}

impl Reader<'_> {
    fn all(&mut self) {
        while self.at < self.tokens.len() {
            let before = self.at;
            self.statement();
            if self.at == before {
                self.at += 1;
            }
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Token::Mark(own)) if *own == mark)
    }

    fn is_mark_at(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.peek_at(ahead), Some(Token::Mark(own)) if *own == mark)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(own)) if own == name)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let is_it = self.is_mark(mark);
        self.at += usize::from(is_it);
        is_it
    }

    fn bind(&mut self, name: &str, value: Value) {
        // `x = [x, x]` doubles it each time.
        let value = if value.weight() > MAX_VALUE { Value::Unknown } else { value };
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
            Some(Token::Name(name)) => match name.as_str() {
                "for" | "foreach" => self.binding(),
                "import" | "from" if self.language == Language::Python => self.skip_statement(),
                "use" if self.language == Language::Perl => self.skip_statement(),
                "shell" if self.language == Language::AppleScript => self.apple_script(),
                name if is_keyword(name) && !self.is_mark_at(1, "(") => self.at += 1,
                _ => self.assignment(),
            },
            Some(Token::Mark("(" | "[" | "{") | Token::Text(_) | Token::Shell(_))
            | Some(Token::Words(_)) => {
                self.expression();
            }
            _ => self.at += 1,
        }
    }

    fn skip_statement(&mut self) {
        while let Some(token) = self.peek() {
            if matches!(token, Token::Line | Token::Mark(";")) {
                break;
            }
            self.at += 1;
        }
    }

    /// `do shell script "…"`
    fn apple_script(&mut self) {
        self.at += 1;
        if self.is_name("script") {
            self.at += 1;
            if let Some(known) = self.expression().known().cloned() {
                self.perform(Deed::Shell(known));
            }
        }
    }

    /// `NAME = EXPRESSION`, or an expression alone.
    fn assignment(&mut self) {
        let Some(Token::Name(name)) = self.peek().cloned() else { return };
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
            self.bind(&name, value);
        } else if self.is_mark_at(1, "+=") || self.is_mark_at(1, ".=") {
            self.at += 2;
            let more = self.expression();
            let value = self.names.get(&name).map_or(Value::Unknown, |own| own.concat(&more));
            self.bind(&name, value);
        } else {
            self.expression();
            // `with open(x) as f`, `mkdtemp() as d`: the name is what the call gave.
        }
    }

    /// `for x in y`, `for (const x of y)`, `foreach (y as $x)`, `for my $x (y)`.
    fn binding(&mut self) {
        self.at += 1;
        let is_open = self.take_mark("(");
        let mut names: Vec<String> = Vec::new();
        let start = self.at;
        while let Some(Token::Name(name)) = self.peek() {
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
                        Token::Name(name) => names.push(name.clone()),
                        Token::Mark("=>" | ",") => {}
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

    fn bind_all(&mut self, names: &[String], value: &Value) {
        for name in names.iter().filter(|name| !is_keyword(name)) {
            self.bind(name, value.clone());
        }
    }

    fn expression(&mut self) -> Value {
        if self.depth >= MAX_DEPTH {
            self.found.is_partial = true;
            self.at += 1;
            return Value::Unknown;
        }
        self.depth += 1;
        let value = self.operators();
        self.depth -= 1;
        value
    }

    fn operators(&mut self) -> Value {
        let mut left = self.unary();
        let dots = matches!(self.language, Language::Perl | Language::Php);
        loop {
            let mark = match self.peek() {
                Some(Token::Mark(mark)) => *mark,
                Some(Token::Name(name)) if matches!(name.as_str(), "or" | "and") => "||",
                Some(Token::Name(name)) if name == "if" && self.language == Language::Python => {
                    "if"
                }
                _ => return left,
            };
            match mark {
                "+" => {
                    self.at += 1;
                    let right = self.unary();
                    left = left.concat(&right);
                }
                "." if dots => {
                    self.at += 1;
                    let right = self.unary();
                    left = left.concat(&right);
                }
                "/" if matches!(left, Value::Path(_) | Value::Files(_)) => {
                    self.at += 1;
                    let right = self.unary();
                    left = left.join(&right);
                }
                "%" if matches!(left, Value::Text(_)) => {
                    self.at += 1;
                    let right = self.unary();
                    left = match right {
                        Value::List(values) => decode::format(&left, &values),
                        value => decode::format(&left, std::slice::from_ref(&value)),
                    };
                }
                "*" => {
                    self.at += 1;
                    let right = self.unary();
                    left = repeated(&left, &right);
                }
                "|>" => {
                    self.at += 1;
                    left = self.piped(&left);
                }
                "||" | "??" | "if" => {
                    self.at += 1;
                    let right = self.unary();
                    if mark == "if" && self.is_name("else") {
                        self.at += 1;
                        let other = self.unary();
                        left = Value::OneOf(vec![left, other]);
                    } else if mark != "if" && left == Value::Unknown {
                        left = right;
                    }
                }
                "?" => {
                    self.at += 1;
                    let one = self.expression();
                    if self.take_mark(":") {
                        let other = self.expression();
                        left = Value::OneOf(vec![one, other]);
                    }
                }
                "-" | "&&" | "==" | "===" | "!=" | "!==" | "<" | ">" | "<=" | ">=" | "/" | "%"
                | "**" | "<<" | ">>" | "&" | "^" => {
                    self.at += 1;
                    self.unary();
                    left = Value::Unknown;
                }
                _ => return left,
            }
        }
    }

    /// `x |> File.rm_rf!()`
    fn piped(&mut self, left: &Value) -> Value {
        let Some(Token::Name(name)) = self.peek().cloned() else { return Value::Unknown };
        let mut full = name;
        self.at += 1;
        while self.is_mark(".")
            && let Some(Token::Name(part)) = self.peek_at(1).cloned()
        {
            full = format!("{full}.{part}");
            self.at += 2;
        }
        let (mut args, named) =
            if self.is_mark("(") { self.arguments(None) } else { (Vec::new(), Vec::new()) };
        args.insert(0, left.clone());
        self.call(&full, &args, &named)
    }

    fn unary(&mut self) -> Value {
        let mut is_negative = false;
        loop {
            match self.peek() {
                Some(Token::Mark("-")) => is_negative = true,
                Some(Token::Mark("!" | "*" | "&" | "..." | "@" | "~" | "**" | "+")) => {}
                Some(Token::Name(name)) if is_prefix(name) => {}
                _ => break,
            }
            self.at += 1;
        }
        let value = self.primary();
        match value {
            Value::Number(text) if is_negative => Value::Number(format!("-{text}")),
            value => self.postfix(value),
        }
    }

    fn primary(&mut self) -> Value {
        let Some(token) = self.peek().cloned() else { return Value::Unknown };
        match token {
            Token::Text(pieces) => {
                self.at += 1;
                let mut value = self.filled(&pieces);
                // Texts side by side are one.
                while let Some(Token::Text(more)) = self.peek().cloned() {
                    self.at += 1;
                    let more = self.filled(&more);
                    value = value.concat(&more);
                }
                self.note_path(&value);
                value
            }
            Token::Shell(pieces) => {
                self.at += 1;
                if let Value::Text(known) = self.filled(&pieces) {
                    self.perform(Deed::Shell(known));
                }
                Value::Unknown
            }
            Token::Words(words) => {
                self.at += 1;
                Value::List(words.iter().map(Value::text).collect())
            }
            Token::Number(text) => {
                self.at += 1;
                Value::Number(text)
            }
            Token::Mark("(" | "[") => self.list(),
            Token::Mark("{") => self.braces(),
            Token::Name(name) => {
                self.at += 1;
                self.named(&name)
            }
            _ => Value::Unknown,
        }
    }

    fn named(&mut self, name: &str) -> Value {
        let known = if name == "$_" { Some(&self.element) } else { self.names.get(name) };
        if let Some(value) = known {
            self.work += value.weight();
            if self.work > MAX_WORK {
                self.found.is_partial = true;
                return Value::Unknown;
            }
            return value.clone();
        }
        match name {
            "None" | "null" | "nil" | "undefined" | "True" | "False" | "true" | "false" => {
                Value::Unknown
            }
            name if name.starts_with('$') && name.len() > 1 => Value::Unknown,
            name => Value::Name(name.to_owned()),
        }
    }

    fn note_path(&mut self, value: &Value) {
        if let Some(text) = value.certain()
            && text.starts_with(['/', '~'])
            && text.len() > 1
            && !text.contains([' ', '\n', ':', '('])
            && self.found.paths.len() < MAX_DEEDS
        {
            self.found.paths.push(text.to_owned());
        }
    }

    /// The text of a string with what is put into it.
    fn filled(&mut self, pieces: &[Piece]) -> Value {
        let mut all = Value::text("");
        for piece in pieces {
            let value = match piece {
                Piece::Plain(text) => Value::text(text.clone()),
                Piece::Code(code) => self.held(code),
            };
            all = all.concat(&value);
        }
        all
    }

    /// The value of code inside a string; where it is not known, a variable of its name.
    fn held(&mut self, code: &str) -> Value {
        let code = code.split("!r").next().unwrap_or(code).trim();
        let inner = tokens(code, self.language);
        let mut reader = Reader {
            tokens: &inner,
            at: 0,
            language: self.language,
            program: self.program,
            names: std::mem::take(&mut self.names),
            depth: self.depth + 8,
            element: self.element.clone(),
            found: std::mem::take(&mut self.found),
            work: self.work,
        };
        let mut value = reader.expression();
        if value == Value::Unknown
            && !code.starts_with('$')
            && let Some(known) = reader.names.get(&format!("${code}"))
        {
            value = known.clone();
        }
        self.names = std::mem::take(&mut reader.names);
        self.work = reader.work;
        self.found = reader.found;
        match value {
            Value::Unknown
            | Value::Name(_)
            | Value::Map(_)
            | Value::Command(_)
            | Value::Opened(_) => {
                let name: String =
                    code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let name = if name.is_empty() { "UNKNOWN" } else { name.as_str() };
                Value::Text(Known { text: format!("${{{name}}}"), dynamic: true })
            }
            value => value,
        }
    }

    /// A list in brackets or parentheses; one value in parentheses is itself.
    fn list(&mut self) -> Value {
        let is_round = self.is_mark("(");
        let close = if is_round { ")" } else { "]" };
        self.at += 1;
        let mut values = Vec::new();
        let mut has_comma = false;
        while let Some(token) = self.peek() {
            match token {
                Token::Mark(mark) if *mark == close => break,
                Token::Line | Token::Mark(";") => self.at += 1,
                Token::Mark(",") => {
                    has_comma = true;
                    self.at += 1;
                }
                Token::Name(name) if matches!(name.as_str(), "for" | "foreach") => self.binding(),
                Token::Name(_) if self.is_assigned() => self.assignment(),
                _ => {
                    let before = self.at;
                    values.push(self.expression());
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        self.take_mark(close);
        match values.as_slice() {
            [one] if is_round && !has_comma => one.clone(),
            _ => Value::List(values),
        }
    }

    fn is_assigned(&self) -> bool {
        self.is_mark_at(1, "=") && !self.is_mark_at(2, "=")
    }

    /// A block, or pairs of keys and values.
    fn braces(&mut self) -> Value {
        self.at += 1;
        let mut pairs = Vec::new();
        while let Some(token) = self.peek() {
            let key = match token {
                Token::Mark("}") => break,
                Token::Name(name) => Some(name.clone()),
                Token::Text(pieces) => match pieces.as_slice() {
                    [Piece::Plain(text)] => Some(text.clone()),
                    _ => None,
                },
                _ => None,
            };
            let is_pair = self.is_mark_at(1, ":") || self.is_mark_at(1, "=>");
            match key.filter(|_| is_pair) {
                Some(key) => {
                    self.at += 2;
                    let value = self.expression();
                    pairs.push((key, value));
                }
                None => {
                    let before = self.at;
                    self.statement();
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        self.take_mark("}");
        Value::Map(pairs)
    }

    fn postfix(&mut self, mut value: Value) -> Value {
        let dots = matches!(self.language, Language::Perl | Language::Php);
        loop {
            // A chain may go on in the next line.
            if matches!(self.peek(), Some(Token::Line)) {
                let lines =
                    self.tokens[self.at..].iter().take_while(|t| **t == Token::Line).count();
                if !dots && self.is_mark_at(lines, ".") {
                    self.at += lines;
                }
            }
            match self.peek() {
                Some(Token::Mark("." | "?.")) if dots => return self.finish(value),
                Some(Token::Mark("." | "?." | "->" | "::")) => {
                    let Some(Token::Name(member)) = self.peek_at(1).cloned() else {
                        // `"rm -rf x".!` of Scala
                        if self.is_mark_at(1, "!")
                            && let Value::Text(known) = &value
                        {
                            self.perform(Deed::Shell(known.clone()));
                        }
                        return self.finish(value);
                    };
                    self.at += 2;
                    value = self.member(value, &member);
                }
                Some(Token::Mark("(")) => {
                    let receiver = value.clone();
                    let (args, named) = self.arguments(Some(&receiver));
                    value = match value {
                        Value::Name(name) => self.call(&name, &args, &named),
                        Value::OneOf(values) => self.call_any(&values, &args, &named),
                        _ => Value::Unknown,
                    };
                }
                Some(Token::Mark("[")) if !matches!(value, Value::Unknown | Value::Number(_)) => {
                    value = self.index(value);
                }
                Some(Token::Text(_)) if is_template(&value) => {
                    // `$`rm -rf x`` of JavaScript
                    if let Value::Text(known) = self.primary() {
                        self.perform(Deed::Shell(known));
                    }
                    value = Value::Unknown;
                }
                _ => match value {
                    Value::Name(name) if self.takes_bare(&name) => {
                        let args = self.bare_arguments();
                        value = self.call(&name, &args, &[]);
                    }
                    value => return self.finish(value),
                },
            }
            self.block(&value);
        }
    }

    fn finish(&mut self, value: Value) -> Value {
        if let Value::Command(words) = &value
            && let Some(deed) = functions::command(words)
        {
            self.perform(deed);
        }
        value
    }

    /// Is a function called without parentheses here?
    fn takes_bare(&self, name: &str) -> bool {
        let has_bare = matches!(
            self.language,
            Language::Ruby | Language::Perl | Language::Php | Language::Lisp | Language::Other
        );
        let is_operand = match self.peek() {
            Some(Token::Text(_) | Token::Words(_)) => true,
            Some(Token::Number(_)) => self.language == Language::Perl,
            Some(Token::Name(word)) => !is_keyword(word) || word == "my",
            // `unlink;` and `unlink }` of Perl work on `$_`.
            Some(Token::Mark("}" | ";") | Token::Line) | None => {
                let is_ruby = self.language == Language::Ruby && name == "fork";
                is_ruby || self.language == Language::Perl
            }
            Some(Token::Mark("*" | "[" | "<")) => {
                matches!(self.language, Language::Ruby)
            }
            _ => false,
        };
        let is_own = matches!(self.peek(), Some(Token::Name(word)) if matches!(word.as_str(), "for" | "foreach" | "while"))
            && self.language == Language::Perl;
        has_bare && (is_operand || is_own) && functions::is_known(name, self.language)
    }

    fn bare_arguments(&mut self) -> Vec<Value> {
        let mut args = Vec::new();
        loop {
            match self.peek() {
                None | Some(Token::Line | Token::Mark(";" | "}" | ")" | "]")) => break,
                Some(Token::Mark(",")) => self.at += 1,
                Some(Token::Name(name)) if name == "my" => self.at += 1,
                Some(Token::Name(name)) if matches!(name.as_str(), "for" | "foreach") => {
                    // What is bound behind it was bound in the first reading.
                    self.binding();
                }
                Some(Token::Name(name)) if is_keyword(name) => break,
                _ => {
                    let before = self.at;
                    args.push(self.expression());
                    if self.at == before {
                        self.at += 1;
                        break;
                    }
                }
            }
        }
        if args.is_empty() { vec![self.element.clone()] } else { args }
    }

    /// `{ |x| … }`, `do |x|`: the block takes the values of what is before it.
    fn block(&mut self, value: &Value) {
        let is_block = self.is_mark("{") || self.is_name("do");
        if !is_block || !self.is_mark_at(1, "|") || self.language == Language::JavaScript {
            return;
        }
        self.at += 2;
        while let Some(Token::Name(name)) = self.peek().cloned() {
            self.bind(&name, value.element());
            self.at += 1;
            self.take_mark(",");
        }
        self.take_mark("|");
    }

    fn member(&mut self, value: Value, member: &str) -> Value {
        if let Value::Name(name) = &value {
            return Value::Name(format!("{name}.{member}"));
        }
        // `[IO.File]::Delete(…)` of PowerShell names a class.
        if let Value::List(values) = &value
            && let [Value::Name(name)] = values.as_slice()
            && self.language == Language::PowerShell
        {
            return Value::Name(format!("{name}.{member}"));
        }
        let (args, named) = match self.is_mark("(") {
            true => self.arguments(Some(&value)),
            false if self.language == Language::Ruby && self.takes_bare("unlink") => {
                (Vec::new(), Vec::new())
            }
            false => (Vec::new(), Vec::new()),
        };
        self.method(&value, member, &args, &named)
    }

    fn index(&mut self, value: Value) -> Value {
        let start = self.at;
        let Value::List(keys) = self.list() else { return Value::Unknown };
        let reverses = self.tokens.get(start..self.at).is_some_and(|tokens| {
            let marks: Vec<&str> = tokens
                .iter()
                .filter_map(|token| match token {
                    Token::Mark(mark) => Some(*mark),
                    _ => None,
                })
                .collect();
            matches!(marks.as_slice(), ["[", "::", "-", "]"])
        });
        if reverses {
            return value.map_text(decode::reversed);
        }
        match (value, keys.first()) {
            (Value::Name(name), Some(key)) => match key.certain() {
                Some(key) if is_environment(&name) => functions::variable(key),
                Some(pattern) if name == "Dir" => Value::Files(Known::plain(pattern)),
                Some(key) => Value::Name(format!("{name}.{key}")),
                None => Value::Unknown,
            },
            (Value::List(values), Some(Value::Number(at))) => at
                .parse()
                .ok()
                .and_then(|at: usize| values.get(at).cloned())
                .unwrap_or(Value::Unknown),
            (Value::Map(pairs), Some(key)) => {
                let found = pairs.iter().find(|(name, _)| Some(name.as_str()) == key.certain());
                found.map_or(Value::Unknown, |(_, value)| value.clone())
            }
            (value @ (Value::Files(_) | Value::OneOf(_)), _) => value,
            _ => Value::Unknown,
        }
    }

    /// The arguments of a call: those without names, and those with.
    fn arguments(&mut self, receiver: Option<&Value>) -> (Vec<Value>, Vec<(String, Value)>) {
        let (mut args, mut named) = (Vec::new(), Vec::new());
        self.at += 1;
        while let Some(token) = self.peek().cloned() {
            match token {
                Token::Mark(")") => break,
                Token::Line | Token::Mark("," | ";") => self.at += 1,
                Token::Name(name) if matches!(name.as_str(), "for" | "foreach") => self.binding(),
                Token::Name(name) if self.is_assigned() || self.is_mark_at(1, ":") => {
                    self.at += 2;
                    let value = self.expression();
                    named.push((name, value));
                }
                _ if self.parameters(receiver) => {}
                _ => {
                    let before = self.at;
                    args.push(self.expression());
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        self.take_mark(")");
        (args, named)
    }

    /// `x =>`, `(x) =>`, `({x}) =>`, `function (x)`: parameters that take the values of what
    /// the function is handed to.
    fn parameters(&mut self, receiver: Option<&Value>) -> bool {
        if self.language != Language::JavaScript {
            return false;
        }
        let mut at = 0;
        while matches!(self.peek_at(at), Some(Token::Name(name)) if matches!(name.as_str(), "async" | "function"))
        {
            at += 1;
        }
        let is_function = at > 0 && self.is_mark_at(at, "(");
        let mut names = Vec::new();
        let mut takes_apart = false;
        if self.is_mark_at(at, "(") {
            at += 1;
            while let Some(token) = self.peek_at(at) {
                match token {
                    Token::Name(name) => names.push(name.clone()),
                    Token::Mark("{") => takes_apart = true,
                    Token::Mark(",") | Token::Mark("}") => {}
                    _ => break,
                }
                at += 1;
            }
            if !self.is_mark_at(at, ")") {
                return false;
            }
            at += 1;
        } else if let Some(Token::Name(name)) = self.peek_at(at) {
            names.push(name.clone());
            at += 1;
        } else {
            return false;
        }
        if !is_function && !self.is_mark_at(at, "=>") {
            return false;
        }
        let value = receiver.map_or(Value::Unknown, |value| match value {
            Value::Name(name) => match name.rsplit_once('.') {
                // `import('fs').then(…)`
                Some((module, "then" | "forEach" | "map")) => Value::Name(module.to_owned()),
                _ => Value::Unknown,
            },
            value => value.element(),
        });
        for name in names {
            let value = match &value {
                Value::Name(module) if takes_apart => Value::Name(format!("{module}.{name}")),
                value => value.clone(),
            };
            self.bind(&name, value);
        }
        self.at += at + usize::from(!is_function);
        true
    }

    fn call_any(&mut self, values: &[Value], args: &[Value], named: &[(String, Value)]) -> Value {
        let mut value = Value::Unknown;
        for function in values {
            if let Value::Name(name) = function {
                value = self.call(name, args, named);
            }
        }
        value
    }

    pub(super) fn call(&mut self, name: &str, args: &[Value], named: &[(String, Value)]) -> Value {
        let name = ["globalThis.", "window.", "builtins.", "__builtins__.", "System."]
            .iter()
            .find_map(|start| {
                name.strip_prefix(start).filter(|rest| rest.contains('.') || *start != "System.")
            })
            .unwrap_or(name);
        // The first name may be bound to a module.
        let full = match name.split_once('.') {
            Some((first, rest)) => match self.names.get(first) {
                Some(Value::Name(module)) => format!("{module}.{rest}"),
                _ => name.to_owned(),
            },
            None => name.to_owned(),
        };
        let (language, program) = (self.language, self.program);
        let call = FunctionCall { name: &full, args, named, language, program };
        let Called { value, deed } = call.apply();
        let has_deed = deed.is_some();
        if let Some(deed) = deed {
            self.perform(deed);
        }
        if let Value::Files(_) | Value::OneOf(_) = &value
            && self.found.listed.len() < MAX_DEEDS
        {
            self.found.listed.push(value.clone());
            self.element = value.element();
        }
        if value == Value::Unknown
            && !has_deed
            && let Some((_, method)) = full.rsplit_once('.')
        {
            // The thing it belongs to is not known.
            return self.method(&Value::Unknown, method, args, named);
        }
        value
    }
}

fn repeated(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Text(_), Value::Number(times)) => {
            let times: usize = times.parse().unwrap_or(0);
            left.map_text(|text| (times * text.len() < 4096).then(|| text.repeat(times)))
        }
        (Value::List(_), Value::Number(_)) => left.clone(),
        _ => Value::Unknown,
    }
}

fn is_environment(name: &str) -> bool {
    matches!(name, "os.environ" | "environ" | "process.env" | "ENV" | "$_ENV" | "$ENV" | "%ENV")
}

/// Names before which a template is a command: `$`…``.
fn is_template(value: &Value) -> bool {
    matches!(value, Value::Name(name)
        if matches!(name.as_str(), "$" | "Bun.$" | "bun.$" | "zx.$" | "execa.$" | "sh" | "$.sync"))
}

/// Words before a value that change nothing about it.
fn is_prefix(name: &str) -> bool {
    matches!(name, "await" | "new" | "not" | "yield" | "return" | "typeof" | "void" | "lambda")
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
