//! Parser for JSON in settings files, including comments and trailing commas. It returns
//! positions in the text, so that edits leave everything else unchanged.

use std::ops::Range;

/// Maximum nesting depth of a settings file.
const DEPTH: usize = 64;

/// A value with its position.
#[derive(Debug)]
pub(super) struct JsoncNode {
    pub(super) span: Range<usize>,
    pub(super) kind: JsoncKind,
}

#[derive(Debug)]
pub(super) enum JsoncKind {
    Object(Vec<JsoncMember>),
    Array(Vec<JsoncNode>),
    /// A string, decoded.
    Text(String),
    /// A number, a boolean or null.
    Scalar,
}

#[derive(Debug)]
pub(super) struct JsoncMember {
    pub(super) key: String,
    /// Start of the key.
    pub(super) start: usize,
    pub(super) value: JsoncNode,
}

impl JsoncNode {
    /// Returns the value of a key. The last of several equal keys wins.
    pub(super) fn get(&self, key: &str) -> Option<&JsoncNode> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    pub(super) fn members(&self) -> &[JsoncMember] {
        match &self.kind {
            JsoncKind::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[JsoncNode] {
        match &self.kind {
            JsoncKind::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            JsoncKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the ranges of the parts of an object or array.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            JsoncKind::Object(members) => {
                members.iter().map(|m| m.start..m.value.span.end).collect()
            }
            JsoncKind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            JsoncKind::Text(_) | JsoncKind::Scalar => Vec::new(),
        }
    }
}

/// Position and reason of a syntax error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Broken {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

/// Returns the line and column of a position, from 1, with columns in characters.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<JsoncNode, Broken> {
    let mut reader = JsoncReader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.trivia()?;
    let node = reader.value(0)?;
    reader.trivia()?;
    if reader.at < text.len() {
        return Err(reader.broken("something follows the value"));
    }
    Ok(node)
}

/// Returns the end of the white space and comments at a position.
pub(super) fn skip_trivia(text: &str, at: usize) -> usize {
    let mut reader = JsoncReader { text, at };
    // Called on text that was read before.
    let _ = reader.trivia();
    reader.at
}

/// Returns the end of the last comment that follows on the same line, or `at` if there is
/// none.
pub(super) fn skip_line(text: &str, at: usize) -> usize {
    let mut end = at;
    let mut reader = JsoncReader { text, at };
    while let Some(byte) = reader.peek() {
        match byte {
            b' ' | b'\t' => reader.at += 1,
            b'/' => {
                let start = reader.at;
                if reader.comment().is_err() || text[start..reader.at].contains('\n') {
                    break;
                }
                end = reader.at;
            }
            _ => break,
        }
    }
    end
}

struct JsoncReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsoncReader<'_> {
    fn broken(&self, why: &'static str) -> Broken {
        Broken { at: self.at, why }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn trivia(&mut self) -> Result<(), Broken> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' => self.comment()?,
                _ => break,
            }
        }
        Ok(())
    }

    /// Skips a comment; the final newline is not part of it.
    fn comment(&mut self) -> Result<(), Broken> {
        let rest = &self.text[self.at..];
        if rest.starts_with("//") {
            let line = rest.find('\n').unwrap_or(rest.len());
            self.at += if rest[..line].ends_with('\r') { line - 1 } else { line };
            return Ok(());
        }
        if !rest.starts_with("/*") {
            return Err(self.broken("unexpected character"));
        }
        match rest[2..].find("*/") {
            Some(end) => {
                self.at += end + 4;
                Ok(())
            }
            None => Err(self.broken("a comment that does not end")),
        }
    }

    /// Parses a value; `depth` limits the recursion.
    fn value(&mut self, depth: usize) -> Result<JsoncNode, Broken> {
        if depth > DEPTH {
            return Err(self.broken("nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            None => return Err(self.broken("the file ends too early")),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => JsoncKind::Text(self.string()?),
            Some(_) => self.scalar()?,
        };
        Ok(JsoncNode { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<JsoncKind, Broken> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.trivia()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => {}
                None => return Err(self.broken("the file ends too early")),
                Some(_) => return Err(self.broken("expected a key or `}`")),
            }
            let start = self.at;
            let key = self.string()?;
            self.trivia()?;
            if self.peek() != Some(b':') {
                return Err(self.broken("expected `:`"));
            }
            self.at += 1;
            self.trivia()?;
            let value = self.value(depth + 1)?;
            members.push(JsoncMember { key, start, value });
            self.separator(b'}', "expected `,` or `}`")?;
        }
        self.at += 1;
        Ok(JsoncKind::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<JsoncKind, Broken> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.trivia()?;
            if self.peek() == Some(b']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            self.separator(b']', "expected `,` or `]`")?;
        }
        self.at += 1;
        Ok(JsoncKind::Array(items))
    }

    /// Parses the comma after a part, which may be missing before the end.
    fn separator(&mut self, close: u8, why: &'static str) -> Result<(), Broken> {
        self.trivia()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) if byte == close => Ok(()),
            None => Err(self.broken("the file ends too early")),
            Some(_) => Err(self.broken(why)),
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => return Err(self.broken("a string that does not end")),
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        let raw = self.text.get(start..=end).ok_or_else(|| self.broken("a broken string"))?;
        let text = serde_json::from_str(raw).map_err(|_| self.broken("a broken string"))?;
        self.at = end + 1;
        Ok(text)
    }

    fn scalar(&mut self) -> Result<JsoncKind, Broken> {
        let rest = &self.text[self.at..];
        let part_of = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let end = rest.find(|c: char| !part_of(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let known = serde_json::from_str::<serde_json::Value>(word);
        if !known.is_ok_and(|value| !value.is_object()) {
            return Err(self.broken("unexpected character"));
        }
        self.at += end;
        Ok(JsoncKind::Scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas() {
        let text =
            "\u{feff}// head\n{ /* a */ \"x\": [1, \"é\\n\", true,], // tail\n  \"x\": null,\n}\n";
        let node = parse(text).unwrap();
        let keys: Vec<_> = node.members().iter().map(|m| m.key.as_str()).collect();
        assert_eq!(keys, ["x", "x"]);
        assert!(matches!(node.get("x").unwrap().kind, JsoncKind::Scalar), "the last counts");
        let items = node.members()[0].value.items();
        assert_eq!(items[1].text(), Some("é\n"));
        assert_eq!(&text[items[1].span.clone()], "\"é\\n\"");
    }

    #[test]
    fn broken_texts_are_named_with_their_place() {
        for (text, line, column, why) in [
            ("", 1, 1, "the file ends too early"),
            ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "expected `,` or `}`"),
            ("{\"a\" 1}", 1, 6, "expected `:`"),
            ("{'a': 1}", 1, 2, "expected a key or `}`"),
            ("{\"a\": undefined}", 1, 7, "unexpected character"),
            ("{\"é\": \"\n\"}", 1, 7, "a string that does not end"),
            ("{\"a\": \"\\q\"}", 1, 7, "a broken string"),
            ("{\"a\": \"\\", 1, 7, "a string that does not end"),
            ("[1, 2", 1, 6, "the file ends too early"),
            ("[1 2]", 1, 4, "expected `,` or `]`"),
            ("[,]", 1, 2, "unexpected character"),
            ("{} {}", 1, 4, "something follows the value"),
            ("{} /* x", 1, 4, "a comment that does not end"),
            ("{\"a\": 01}", 1, 7, "unexpected character"),
        ] {
            let broken = parse(text).unwrap_err();
            assert_eq!(broken.why, why, "{text}");
            assert_eq!(position(text, broken.at), (line, column), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(parse(&deep).unwrap_err().why, "nested too deeply");
    }

    #[test]
    fn no_cut_of_a_text_panics() {
        let text = "{\"a\": [1, {\"b\": \"\\u00e9 \\\"\"}], // é\n /* x */ \"c\": -1.5e3,}\n";
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let _ = parse(&text[..end]);
            let _ = parse(&text[end..]);
        }
    }
}
