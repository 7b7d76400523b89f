//! Parser for values in text: JSON, or a list in Python notation.

use serde_json::{Map, Number, Value};

/// Maximum nesting depth of lists and maps.
const MAX_DEPTH: usize = 64;

/// Error: the text is neither a list nor a map. Contains its start.
#[derive(Debug, thiserror::Error)]
#[error("the template does not give a list: {0}")]
pub(super) struct NotAList(String);

/// Parses a list or a map.
pub(super) fn parse(text: &str) -> Result<Value, NotAList> {
    let text = text.trim();
    if let Ok(value @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut parser = LiteralParser { rest: text };
    match parser.value(MAX_DEPTH) {
        Some(value @ (Value::Array(_) | Value::Object(_))) if parser.rest.trim().is_empty() => {
            Ok(value)
        }
        _ => {
            let shown: String = text.chars().take(80).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            Err(NotAList(format!("{shown}{more}")))
        }
    }
}

struct LiteralParser<'a> {
    rest: &'a str,
}

impl LiteralParser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = self.rest.get(wanted.len_utf8()..).unwrap_or("");
        }
        found
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match self.peek()? {
            '[' => self.list('[', ']', depth),
            '(' => self.list('(', ')', depth),
            '{' => self.map(depth),
            '\'' | '"' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    /// Parses the items between brackets; a trailing comma is allowed.
    fn list(&mut self, open: char, close: char, depth: usize) -> Option<Value> {
        self.eat(open);
        let mut items = Vec::new();
        loop {
            if self.eat(close) {
                return Some(Value::Array(items));
            }
            if !items.is_empty() {
                if !self.eat(',') {
                    return None;
                }
                if self.eat(close) {
                    return Some(Value::Array(items));
                }
            }
            items.push(self.value(depth)?);
        }
    }

    fn map(&mut self, depth: usize) -> Option<Value> {
        self.eat('{');
        let mut fields = Map::new();
        loop {
            if self.eat('}') {
                return Some(Value::Object(fields));
            }
            if !fields.is_empty() && !self.eat(',') {
                return None;
            }
            if self.eat('}') {
                return Some(Value::Object(fields));
            }
            let key = match self.value(depth)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            if !self.eat(':') {
                return None;
            }
            fields.insert(key, self.value(depth)?);
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.char_indices();
        let (_, quote) = chars.next()?;
        let mut out = String::new();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.rest = self.rest.get(at + c.len_utf8()..)?;
                return Some(out);
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let escaped = chars.next()?.1;
            match escaped {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'x' => out.push(hex(&mut chars, 2)?),
                'u' => out.push(hex(&mut chars, 4)?),
                'U' => out.push(hex(&mut chars, 8)?),
                other => out.push(other),
            }
        }
        None
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ']', ')', '}', ':']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match word.trim_end() {
            "None" | "none" | "null" => Some(Value::Null),
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            word => {
                if let Ok(whole) = word.parse::<i64>() {
                    return Some(Value::from(whole));
                }
                let number = word.parse::<f64>().ok().filter(|n| n.is_finite())?;
                Number::from_f64(number).map(Value::Number)
            }
        }
    }
}

/// Parses a character escape of `digits` hexadecimal digits.
fn hex(chars: &mut std::str::CharIndices<'_>, digits: usize) -> Option<char> {
    let mut value: u32 = 0;
    for _ in 0..digits {
        value = value.checked_mul(16)?.checked_add(chars.next()?.1.to_digit(16)?)?;
    }
    char::from_u32(value)
}
