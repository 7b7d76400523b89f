//! Expressions: operators, literals, lists, and the interpolations of strings.

use super::{MAX_DEEDS, MAX_DEPTH, MAX_WORK, Reader};
use crate::inline::functions::Deed;
use crate::inline::lex::{Piece, Token, tokens};
use crate::inline::value::{Known, Value};
use crate::inline::{Language, decode};

impl Reader<'_> {
    pub(super) fn expression(&mut self) -> Value {
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

    pub(super) fn operators(&mut self) -> Value {
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

    /// Evaluates `x |> File.rm_rf!()`.
    pub(super) fn piped(&mut self, left: &Value) -> Value {
        let Some(Token::Name(name)) = self.peek() else { return Value::Unknown };
        let mut full = name.clone();
        self.at += 1;
        while self.is_mark(".")
            && let Some(Token::Name(part)) = self.peek_at(1)
        {
            full = format!("{full}.{part}");
            self.at += 2;
        }
        let (mut args, named) =
            if self.is_mark("(") { self.arguments(None) } else { (Vec::new(), Vec::new()) };
        args.insert(0, left.clone());
        self.call(&full, &args, &named)
    }

    pub(super) fn unary(&mut self) -> Value {
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

    pub(super) fn primary(&mut self) -> Value {
        let Some(token) = self.peek() else { return Value::Unknown };
        match token {
            Token::Text(pieces) => {
                self.at += 1;
                let mut value = self.filled(pieces);
                // Texts side by side are one.
                while let Some(Token::Text(more)) = self.peek() {
                    self.at += 1;
                    let more = self.filled(more);
                    value = value.concat(&more);
                }
                self.note_path(&value);
                value
            }
            Token::Shell(pieces) => {
                self.at += 1;
                if let Value::Text(known) = self.filled(pieces) {
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
                Value::Number(text.clone())
            }
            Token::Mark("(" | "[") => self.list(),
            Token::Mark("{") => self.braces(),
            Token::Name(name) => {
                self.at += 1;
                self.named(name)
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn named(&mut self, name: &str) -> Value {
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

    pub(super) fn note_path(&mut self, value: &Value) {
        if let Some(text) = value.certain()
            && text.starts_with(['/', '~'])
            && text.len() > 1
            && !text.contains([' ', '\n', ':', '('])
            && self.found.paths.len() < MAX_DEEDS
        {
            self.found.paths.push(text.to_owned());
        }
    }

    /// Returns the text of a string with its interpolations.
    pub(super) fn filled(&mut self, pieces: &[Piece]) -> Value {
        if let [Piece::Plain(text)] = pieces {
            return Value::followed(text);
        }
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

    /// Returns the value of code inside a string; if unknown, a variable of its name.
    pub(super) fn held(&mut self, code: &str) -> Value {
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

    /// Reads a list in brackets or parentheses; one value in parentheses is itself.
    pub(super) fn list(&mut self) -> Value {
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
        match values.pop() {
            Some(one) if values.is_empty() && is_round && !has_comma => one,
            last => {
                values.extend(last);
                Value::List(values)
            }
        }
    }

    pub(super) fn is_assigned(&self) -> bool {
        self.is_mark_at(1, "=") && !self.is_mark_at(2, "=")
    }

    /// Reads a block, or pairs of keys and values.
    pub(super) fn braces(&mut self) -> Value {
        self.at += 1;
        let mut pairs = Vec::new();
        while let Some(token) = self.peek() {
            let key = match token {
                Token::Mark("}") => break,
                Token::Name(name) => Some(name),
                Token::Text(pieces) => match pieces.as_slice() {
                    [Piece::Plain(text)] => Some(text),
                    _ => None,
                },
                _ => None,
            };
            let is_pair = self.is_mark_at(1, ":") || self.is_mark_at(1, "=>");
            match key.filter(|_| is_pair) {
                Some(key) => {
                    self.at += 2;
                    let value = self.expression();
                    pairs.push((key.clone(), value));
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

/// Whether a word before a value does not change it.
fn is_prefix(name: &str) -> bool {
    matches!(name, "await" | "new" | "not" | "yield" | "return" | "typeof" | "void" | "lambda")
}
