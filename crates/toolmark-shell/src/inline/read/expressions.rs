//! Expressions: operators, literals, lists, and the interpolations of strings.

use super::{InlineReader, MAX_DEEDS, MAX_DEPTH, MAX_WORK};
use crate::inline::functions::Deed;
use crate::inline::lex::{SourceToken, StringPiece, tokens};
use crate::inline::value::{InlineValue, PartialText};
use crate::inline::{Language, decode};

impl InlineReader<'_> {
    pub(super) fn expression(&mut self) -> InlineValue {
        if self.depth >= MAX_DEPTH {
            self.found.is_partial = true;
            self.at += 1;
            return InlineValue::Unknown;
        }
        self.depth += 1;
        let value = self.operators();
        self.depth -= 1;
        value
    }

    pub(super) fn operators(&mut self) -> InlineValue {
        let mut left = self.unary();
        let dots = matches!(self.language, Language::Perl | Language::Php);
        loop {
            let mark = match self.peek() {
                Some(SourceToken::Mark(mark)) => *mark,
                Some(SourceToken::Name(name)) if matches!(name.as_str(), "or" | "and") => "||",
                Some(SourceToken::Name(name))
                    if name == "if" && self.language == Language::Python =>
                {
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
                "/" if matches!(left, InlineValue::Path(_) | InlineValue::Files(_)) => {
                    self.at += 1;
                    let right = self.unary();
                    left = left.join(&right);
                }
                "%" if matches!(left, InlineValue::Text(_)) => {
                    self.at += 1;
                    let right = self.unary();
                    left = match right {
                        InlineValue::List(values) => decode::format(&left, &values),
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
                        left = InlineValue::OneOf(vec![left, other]);
                    } else if mark != "if" && left == InlineValue::Unknown {
                        left = right;
                    }
                }
                "?" => {
                    self.at += 1;
                    let one = self.expression();
                    if self.take_mark(":") {
                        let other = self.expression();
                        left = InlineValue::OneOf(vec![one, other]);
                    }
                }
                "-" | "&&" | "==" | "===" | "!=" | "!==" | "<" | ">" | "<=" | ">=" | "/" | "%"
                | "**" | "<<" | ">>" | "&" | "^" => {
                    self.at += 1;
                    self.unary();
                    left = InlineValue::Unknown;
                }
                _ => return left,
            }
        }
    }

    /// Evaluates `x |> File.rm_rf!()`.
    pub(super) fn piped(&mut self, left: &InlineValue) -> InlineValue {
        let Some(SourceToken::Name(name)) = self.peek() else { return InlineValue::Unknown };
        let mut full = name.clone();
        self.at += 1;
        while self.is_mark(".")
            && let Some(SourceToken::Name(part)) = self.peek_at(1)
        {
            full = format!("{full}.{part}");
            self.at += 2;
        }
        let (mut args, named) =
            if self.is_mark("(") { self.arguments(None) } else { (Vec::new(), Vec::new()) };
        args.insert(0, left.clone());
        self.call(&full, &args, &named)
    }

    pub(super) fn unary(&mut self) -> InlineValue {
        let mut is_negative = false;
        loop {
            match self.peek() {
                Some(SourceToken::Mark("-")) => is_negative = true,
                Some(SourceToken::Mark("!" | "*" | "&" | "..." | "@" | "~" | "**" | "+")) => {}
                Some(SourceToken::Name(name)) if is_prefix(name) => {}
                _ => break,
            }
            self.at += 1;
        }
        let value = self.primary();
        match value {
            InlineValue::Number(text) if is_negative => InlineValue::Number(format!("-{text}")),
            value => self.postfix(value),
        }
    }

    pub(super) fn primary(&mut self) -> InlineValue {
        let Some(token) = self.peek() else { return InlineValue::Unknown };
        match token {
            SourceToken::Text(pieces) => {
                self.at += 1;
                let mut value = self.filled(pieces);
                // Texts side by side are one.
                while let Some(SourceToken::Text(more)) = self.peek() {
                    self.at += 1;
                    let more = self.filled(more);
                    value = value.concat(&more);
                }
                self.note_path(&value);
                value
            }
            SourceToken::Shell(pieces) => {
                self.at += 1;
                if let InlineValue::Text(known) = self.filled(pieces) {
                    self.perform(Deed::Shell(known));
                }
                InlineValue::Unknown
            }
            SourceToken::Words(words) => {
                self.at += 1;
                InlineValue::List(words.iter().map(InlineValue::text).collect())
            }
            SourceToken::Number(text) => {
                self.at += 1;
                InlineValue::Number(text.clone())
            }
            SourceToken::Mark("(" | "[") => self.list(),
            SourceToken::Mark("{") => self.braces(),
            SourceToken::Name(name) => {
                self.at += 1;
                self.named(name)
            }
            _ => InlineValue::Unknown,
        }
    }

    pub(super) fn named(&mut self, name: &str) -> InlineValue {
        let known = if name == "$_" { Some(&self.element) } else { self.names.get(name) };
        if let Some(value) = known {
            self.work += value.weight();
            if self.work > MAX_WORK {
                self.found.is_partial = true;
                return InlineValue::Unknown;
            }
            return value.clone();
        }
        match name {
            "None" | "null" | "nil" | "undefined" | "True" | "False" | "true" | "false" => {
                InlineValue::Unknown
            }
            name if name.starts_with('$') && name.len() > 1 => InlineValue::Unknown,
            name => InlineValue::Name(name.to_owned()),
        }
    }

    pub(super) fn note_path(&mut self, value: &InlineValue) {
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
    pub(super) fn filled(&mut self, pieces: &[StringPiece]) -> InlineValue {
        if let [StringPiece::Plain(text)] = pieces {
            return InlineValue::followed(text);
        }
        let mut all = InlineValue::text("");
        for piece in pieces {
            let value = match piece {
                StringPiece::Plain(text) => InlineValue::text(text.clone()),
                StringPiece::Code(code) => self.held(code),
            };
            all = all.concat(&value);
        }
        all
    }

    /// Returns the value of code inside a string; if unknown, a variable of its name.
    pub(super) fn held(&mut self, code: &str) -> InlineValue {
        let code = code.split("!r").next().unwrap_or(code).trim();
        let inner = tokens(code, self.language);
        let mut reader = InlineReader {
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
        if value == InlineValue::Unknown
            && !code.starts_with('$')
            && let Some(known) = reader.names.get(&format!("${code}"))
        {
            value = known.clone();
        }
        self.names = std::mem::take(&mut reader.names);
        self.work = reader.work;
        self.found = reader.found;
        match value {
            InlineValue::Unknown
            | InlineValue::Name(_)
            | InlineValue::Map(_)
            | InlineValue::Command(_)
            | InlineValue::Opened(_) => {
                let name: String =
                    code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let name = if name.is_empty() { "UNKNOWN" } else { name.as_str() };
                InlineValue::Text(PartialText { text: format!("${{{name}}}"), dynamic: true })
            }
            value => value,
        }
    }

    /// Reads a list in brackets or parentheses; one value in parentheses is itself.
    pub(super) fn list(&mut self) -> InlineValue {
        let is_round = self.is_mark("(");
        let close = if is_round { ")" } else { "]" };
        self.at += 1;
        let mut values = Vec::new();
        let mut has_comma = false;
        while let Some(token) = self.peek() {
            match token {
                SourceToken::Mark(mark) if *mark == close => break,
                SourceToken::Line | SourceToken::Mark(";") => self.at += 1,
                SourceToken::Mark(",") => {
                    has_comma = true;
                    self.at += 1;
                }
                SourceToken::Name(name) if matches!(name.as_str(), "for" | "foreach") => {
                    self.binding()
                }
                SourceToken::Name(_) if self.is_assigned() => self.assignment(),
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
                InlineValue::List(values)
            }
        }
    }

    pub(super) fn is_assigned(&self) -> bool {
        self.is_mark_at(1, "=") && !self.is_mark_at(2, "=")
    }

    /// Reads a block, or pairs of keys and values.
    pub(super) fn braces(&mut self) -> InlineValue {
        self.at += 1;
        let mut pairs = Vec::new();
        while let Some(token) = self.peek() {
            let key = match token {
                SourceToken::Mark("}") => break,
                SourceToken::Name(name) => Some(name),
                SourceToken::Text(pieces) => match pieces.as_slice() {
                    [StringPiece::Plain(text)] => Some(text),
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
        InlineValue::Map(pairs)
    }
}

fn repeated(left: &InlineValue, right: &InlineValue) -> InlineValue {
    match (left, right) {
        (InlineValue::Text(_), InlineValue::Number(times)) => {
            let times: usize = times.parse().unwrap_or(0);
            left.map_text(|text| (times * text.len() < 4096).then(|| text.repeat(times)))
        }
        (InlineValue::List(_), InlineValue::Number(_)) => left.clone(),
        _ => InlineValue::Unknown,
    }
}

/// Whether a word before a value does not change it.
fn is_prefix(name: &str) -> bool {
    matches!(name, "await" | "new" | "not" | "yield" | "return" | "typeof" | "void" | "lambda")
}
