//! Words for the parser: quoting, substitutions, parameters, arithmetic, and the bodies of
//! here-documents.

use crate::ir::{HereDocument, Partial, Script, Word, WordPart};
use crate::parse::{Pending, ShellParser, parse_at_depth};

impl ShellParser<'_> {
    /// Parses the word at the position, if one begins there.
    pub(crate) fn word(&mut self) -> Option<Word> {
        let start = self.pos;
        let mut parts = Vec::new();
        let mut text = String::new();
        while !self.at_end() {
            match self.peek() {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.byte(1) == b'(' => {
                    flush(&mut parts, &mut text, false);
                    let reads = self.peek() == b'>';
                    self.pos += 2;
                    let script = self.list(&[")"]);
                    self.close_parenthesis();
                    parts.push(WordPart::Process { script, reads });
                }
                b'<' | b'>' => break,
                b'(' => {
                    if self.pos == start {
                        return None;
                    }
                    // An extended pattern such as `!(x)`, or text like `f(x)`
                    // that only a missing quote makes a syntax error.
                    let previous = self.bytes.get(self.pos - 1).copied().unwrap_or(0);
                    if !matches!(previous, b'?' | b'*' | b'@' | b'+' | b'!') {
                        self.mark(Partial::Syntax);
                    }
                    self.parenthesised(&mut parts, &mut text);
                }
                b'\\' => {
                    if self.byte(1) == b'\n' {
                        self.pos += 2;
                        continue;
                    }
                    flush(&mut parts, &mut text, false);
                    self.pos += 1;
                    if self.at_end() {
                        self.mark(Partial::Syntax);
                        break;
                    }
                    self.character(&mut text);
                    flush(&mut parts, &mut text, true);
                }
                b'\'' => {
                    flush(&mut parts, &mut text, false);
                    self.pos += 1;
                    self.single_quoted(&mut parts);
                }
                b'"' => {
                    flush(&mut parts, &mut text, false);
                    self.pos += 1;
                    self.double_quoted(&mut parts, b'"');
                    if self.peek() == b'"' && !self.at_end() {
                        self.pos += 1;
                    } else {
                        self.mark(Partial::Syntax);
                    }
                }
                b'`' => {
                    flush(&mut parts, &mut text, false);
                    self.backticks(&mut parts, false);
                }
                b'$' => match self.byte(1) {
                    b'\'' => {
                        flush(&mut parts, &mut text, false);
                        self.pos += 2;
                        self.ansi_quoted(&mut parts);
                    }
                    b'"' => self.pos += 1,
                    _ => {
                        flush(&mut parts, &mut text, false);
                        if !self.dollar(&mut parts, false) {
                            self.pos += 1;
                            text.push('$');
                        }
                    }
                },
                _ => self.plain(&mut text),
            }
        }
        if self.pos == start {
            return None;
        }
        flush(&mut parts, &mut text, false);
        Some(Word { parts, span: start..self.pos })
    }

    /// Consumes one character and all following ones without a special meaning.
    fn plain(&mut self, text: &mut String) {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let more = rest.iter().skip(1).take_while(|byte| !SPECIAL[usize::from(**byte)]).count();
        let end = self.pos + 1 + more;
        if let Some(piece) = self.text.get(self.pos..end) {
            text.push_str(piece);
        }
        self.pos = end;
    }

    /// Consumes one character.
    fn character(&mut self, text: &mut String) {
        let width = self.width();
        if let Some(piece) = self.text.get(self.pos..self.pos + width) {
            text.push_str(piece);
        }
        self.pos += width;
    }

    fn close_parenthesis(&mut self) {
        if self.peek() == b')' {
            self.pos += 1;
        } else {
            self.mark(Partial::Syntax);
        }
    }

    fn parenthesised(&mut self, parts: &mut Vec<WordPart>, text: &mut String) {
        let mut level = 0_usize;
        while !self.at_end() {
            match self.peek() {
                b'(' => level += 1,
                b')' => {
                    level -= 1;
                    if level == 0 {
                        self.pos += 1;
                        text.push(')');
                        return;
                    }
                }
                b'\n' => return,
                b'$' => {
                    flush(parts, text, false);
                    if self.dollar(parts, false) {
                        continue;
                    }
                }
                b'`' => {
                    flush(parts, text, false);
                    self.backticks(parts, false);
                    continue;
                }
                _ => {}
            }
            self.character(text);
        }
    }

    fn single_quoted(&mut self, parts: &mut Vec<WordPart>) {
        let rest = self.text.get(self.pos..).unwrap_or("");
        let end = rest.find('\'');
        if end.is_none() {
            self.mark(Partial::Syntax);
        }
        let len = end.unwrap_or(rest.len());
        let text = rest.get(..len).unwrap_or("").to_owned();
        parts.push(WordPart::Text { text, quoted: true });
        self.pos += len + usize::from(end.is_some());
    }

    fn ansi_quoted(&mut self, parts: &mut Vec<WordPart>) {
        let mut text = String::new();
        loop {
            if self.at_end() {
                self.mark(Partial::Syntax);
                break;
            }
            match self.peek() {
                b'\'' => {
                    self.pos += 1;
                    break;
                }
                b'\\' => {
                    self.pos += 1;
                    let rest = self.text.get(self.pos..).unwrap_or("");
                    let used = escape(rest, &mut text);
                    self.pos += used;
                }
                _ => self.character(&mut text),
            }
        }
        parts.push(WordPart::Text { text, quoted: true });
    }

    /// Parses the inside of double quotes, or of `${…}` when `until` is a brace; the closing byte
    /// is left unread.
    pub(crate) fn double_quoted(&mut self, parts: &mut Vec<WordPart>, until: u8) {
        let quoted = until != b'}';
        let mut text = String::new();
        let before = parts.len();
        while !self.at_end() {
            match self.peek() {
                c if c == until && until != 0 => break,
                b'\\' => match self.byte(1) {
                    b'\n' => self.pos += 2,
                    b'$' | b'`' | b'"' | b'\\' | b'}' => {
                        self.pos += 1;
                        self.character(&mut text);
                    }
                    _ => {
                        self.pos += 1;
                        text.push('\\');
                    }
                },
                b'\'' if until == b'}' => {
                    flush(parts, &mut text, quoted);
                    self.pos += 1;
                    self.single_quoted(parts);
                }
                b'"' if until == b'}' => {
                    flush(parts, &mut text, quoted);
                    self.pos += 1;
                    if !self.enter() {
                        break;
                    }
                    self.double_quoted(parts, b'"');
                    self.leave();
                    if !self.at_end() {
                        self.pos += 1;
                    }
                }
                b'`' => {
                    flush(parts, &mut text, quoted);
                    self.backticks(parts, quoted);
                }
                b'$' => {
                    flush(parts, &mut text, quoted);
                    if !self.dollar(parts, quoted) {
                        self.pos += 1;
                        text.push('$');
                    }
                }
                _ => self.plain(&mut text),
            }
        }
        if !text.is_empty() || (quoted && parts.len() == before) {
            parts.push(WordPart::Text { text, quoted });
        }
    }

    fn backticks(&mut self, parts: &mut Vec<WordPart>, quoted: bool) {
        self.pos += 1;
        let mut code = String::new();
        let mut closed = false;
        while !self.at_end() {
            match self.peek() {
                b'`' => {
                    self.pos += 1;
                    closed = true;
                    break;
                }
                b'\\'
                    if matches!(self.byte(1), b'`' | b'\\' | b'$')
                        || (quoted && self.byte(1) == b'"') =>
                {
                    self.pos += 1;
                    self.character(&mut code);
                }
                _ => self.character(&mut code),
            }
        }
        if !closed {
            self.mark(Partial::Syntax);
        }
        let script = self.nested(&code);
        parts.push(WordPart::Command { script, quoted });
    }

    /// Parses nested text on its own.
    fn nested(&mut self, code: &str) -> Script {
        if !self.enter() {
            return Script::default();
        }
        let script = parse_at_depth(code, self.depth);
        self.leave();
        if let Some(why) = script.partial {
            self.mark(why);
        }
        script
    }

    /// Parses an expansion that begins with `$`; returns false for a plain dollar sign.
    fn dollar(&mut self, parts: &mut Vec<WordPart>, quoted: bool) -> bool {
        match self.byte(1) {
            b'(' if self.byte(2) == b'(' => {
                if let Some(end) = self.arithmetic_end(self.pos + 3) {
                    let word = self.arithmetic_word(self.pos + 3, end);
                    self.pos = end + 2;
                    parts.push(WordPart::Arithmetic(word.parts));
                } else {
                    self.substitution(parts, quoted);
                }
                true
            }
            b'(' => {
                self.substitution(parts, quoted);
                true
            }
            b'{' => {
                self.pos += 2;
                self.parameter(parts, quoted);
                true
            }
            c if c.is_ascii_alphabetic() || c == b'_' => {
                self.pos += 1;
                let start = self.pos;
                while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
                    self.pos += 1;
                }
                let name = self.text.get(start..self.pos).unwrap_or("").to_owned();
                parts.push(WordPart::Parameter { name, plain: true, default: None, quoted });
                true
            }
            c if c.is_ascii_digit() || b"@*#?-$!".contains(&c) && c != 0 => {
                self.pos += 2;
                let name = char::from(c).to_string();
                parts.push(WordPart::Parameter { name, plain: true, default: None, quoted });
                true
            }
            _ => false,
        }
    }

    fn substitution(&mut self, parts: &mut Vec<WordPart>, quoted: bool) {
        self.pos += 2;
        let script = self.list(&[")"]);
        self.close_parenthesis();
        parts.push(WordPart::Command { script, quoted });
    }

    /// Parses `${…}` after its brace.
    fn parameter(&mut self, parts: &mut Vec<WordPart>, quoted: bool) {
        let start = self.pos;
        if matches!(self.peek(), b'!' | b'#') && self.byte(1) != b'}' {
            self.pos += 1;
        }
        while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
            self.pos += 1;
        }
        if self.pos == start && matches!(self.peek(), b'@' | b'*' | b'?' | b'$' | b'-') {
            self.pos += 1;
        }
        let mut name = self.text.get(start..self.pos).unwrap_or("").to_owned();
        // `${c[@]}`, `${c[0]}` and `${c[key]}`: an element by a literal name.
        if let Some(subscript) = literal_subscript(self.text.get(self.pos..).unwrap_or(""))
            && !name.is_empty()
        {
            self.pos += subscript.len() + 2;
            if !matches!(subscript, "@" | "*") {
                name = format!("{name}[{subscript}]");
            }
        }
        if self.peek() == b'}' {
            self.pos += 1;
            let plain = !name.starts_with(['!', '#']);
            parts.push(WordPart::Parameter { name, plain, default: None, quoted });
            return;
        }
        let is_default =
            matches!((self.peek(), self.byte(1)), (b':', b'-' | b'=') | (b'-' | b'=', _));
        if is_default {
            self.pos += if self.peek() == b':' { 2 } else { 1 };
        }
        let at = self.pos;
        let mut inner = Vec::new();
        if !self.enter() {
            return;
        }
        self.double_quoted(&mut inner, b'}');
        self.leave();
        if self.peek() == b'}' && !self.at_end() {
            self.pos += 1;
        } else {
            self.mark(Partial::Syntax);
        }
        let word = Word { parts: inner, span: at..self.pos };
        if is_default {
            parts.push(WordPart::Parameter { name, plain: false, default: Some(word), quoted });
        } else {
            parts.push(WordPart::Parameter { name, plain: false, default: None, quoted });
            parts.push(WordPart::Arithmetic(word.parts));
        }
    }

    /// Returns the position of the `))` that closes arithmetic begun before `from`.
    pub(crate) fn arithmetic_end(&self, from: usize) -> Option<usize> {
        let mut level = 0_usize;
        let mut at = from;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'(' => level += 1,
                b')' if level == 0 => {
                    return (self.bytes.get(at + 1) == Some(&b')')).then_some(at);
                }
                b')' => level -= 1,
                b'\'' | b'"' => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns the substitutions inside arithmetic as the parts of a word.
    pub(crate) fn arithmetic_word(&mut self, from: usize, to: usize) -> Word {
        let inner = self.text.get(from..to).unwrap_or("");
        let mut parts = Vec::new();
        if inner.contains(['$', '`']) && self.enter() {
            let mut nested = ShellParser::new(inner, self.depth);
            nested.double_quoted(&mut parts, 0);
            if let Some(why) = nested.partial {
                self.mark(why);
            }
            self.leave();
        }
        Word { parts, span: from..to }
    }

    /// Reads the body of a here-document, starting at the line of the position.
    pub(crate) fn here_body(&mut self, pending: &Pending) -> HereDocument {
        let mut text = String::new();
        let mut closed = false;
        while !self.at_end() {
            let rest = self.text.get(self.pos..).unwrap_or("");
            let len = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let line = rest.get(..len).unwrap_or("");
            self.pos += len.max(1);
            let shown = if pending.strip { line.trim_start_matches('\t') } else { line };
            if shown.trim_end_matches(['\n', '\r']) == pending.delimiter {
                closed = true;
                break;
            }
            text.push_str(shown);
        }
        if !closed {
            self.mark(Partial::Syntax);
        }
        let mut parts = Vec::new();
        if pending.expands && text.contains(['$', '`']) && self.enter() {
            let mut nested = ShellParser::new(&text, self.depth);
            nested.double_quoted(&mut parts, 0);
            if let Some(why) = nested.partial {
                self.mark(why);
            }
            self.leave();
        }
        HereDocument { text, expands: pending.expands, parts }
    }
}

/// Bytes with a possible special meaning in a word or in double quotes.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = b" \t\n;&|()<>\\'\"`$}";
    let mut at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

fn flush(parts: &mut Vec<WordPart>, text: &mut String, quoted: bool) {
    if !text.is_empty() || quoted {
        parts.push(WordPart::Text { text: std::mem::take(text), quoted });
    }
}

/// Decodes the escape after a backslash as `$'…'`, `echo -e` and `printf` do; returns its length in
/// bytes.
pub(crate) fn escape(rest: &str, out: &mut String) -> usize {
    let bytes = rest.as_bytes();
    let digits = |from: usize, most: usize, radix: u32| {
        let mut value = 0_u32;
        let mut len = 0;
        while len < most {
            let digit = bytes.get(from + len).and_then(|b| char::from(*b).to_digit(radix));
            let Some(digit) = digit else { break };
            value = value * radix + digit;
            len += 1;
        }
        (value, len)
    };
    let (value, used) = match bytes.first() {
        None => {
            out.push('\\');
            return 0;
        }
        Some(b'n') => (10, 1),
        Some(b't') => (9, 1),
        Some(b'r') => (13, 1),
        Some(b'a') => (7, 1),
        Some(b'b') => (8, 1),
        Some(b'e' | b'E') => (27, 1),
        Some(b'f') => (12, 1),
        Some(b'v') => (11, 1),
        Some(b'\\') => (92, 1),
        Some(b'\'') => (39, 1),
        Some(b'"') => (34, 1),
        Some(b'x') => {
            let (value, len) = digits(1, 2, 16);
            (value, len + 1)
        }
        Some(b'u') => {
            let (value, len) = digits(1, 4, 16);
            (value, len + 1)
        }
        Some(b'U') => {
            let (value, len) = digits(1, 6, 16);
            (value, len + 1)
        }
        Some(b'0'..=b'7') => {
            let (value, len) = digits(0, 4, 8);
            (value, len)
        }
        Some(_) => {
            out.push('\\');
            return 0;
        }
    };
    if used > 1 || !matches!(bytes.first(), Some(b'x' | b'u' | b'U')) {
        if let Some(c) = char::from_u32(value) {
            out.push(c);
        }
    } else {
        out.push('\\');
        return 0;
    }
    used
}

/// Returns the content of `[…]` right before the `}` of a parameter if nothing in it is expanded.
fn literal_subscript(rest: &str) -> Option<&str> {
    let (subscript, after) = rest.strip_prefix('[')?.split_once(']')?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '@' | '*' | '_' | '-' | '.');
    (after.starts_with('}') && subscript.chars().all(is_plain)).then_some(subscript)
}

/// Returns a word as the shell must read it to get this text.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,~^".contains(&b);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use crate::ir::{IrNode, RedirectionKind, WordPart};
    use crate::parse::parse;

    fn words(text: &str) -> Vec<Vec<String>> {
        let script = parse(text);
        let mut out = Vec::new();
        for item in &script.items {
            for stage in &item.pipeline.stages {
                if let IrNode::Simple(simple) = stage {
                    out.push(
                        simple.words.iter().map(|w| w.literal().unwrap_or("?".into())).collect(),
                    );
                }
            }
        }
        out
    }

    #[test]
    fn quoting() {
        for (text, expected) in [
            ("r''m -r\"f\" a\\ b", vec!["rm", "-rf", "a b"]),
            ("$'\\x72\\x6d' -rf", vec!["rm", "-rf"]),
            ("echo 'a;b' \"c|d\" # x", vec!["echo", "a;b", "c|d"]),
            ("ls a\\\n b", vec!["ls", "a", "b"]),
            ("echo a\rb", vec!["echo", "a\rb"]),
        ] {
            assert_eq!(words(text), [expected], "{text}");
        }
    }

    #[test]
    fn two_backticks_are_two() {
        let script = parse("echo `date` `rm -rf /`");
        let IrNode::Simple(simple) = &script.items[0].pipeline.stages[0] else { panic!() };
        assert_eq!(simple.words.len(), 3);
        assert!(matches!(simple.words[2].parts[0], WordPart::Command { .. }));
    }

    #[test]
    fn here_documents() {
        let script = parse("cat <<A <<-'B' && ls\none $(x)\nA\n\ttwo\n\tB\npwd");
        let IrNode::Simple(cat) = &script.items[0].pipeline.stages[0] else { panic!() };
        let bodies: Vec<_> = cat.redirections.iter().filter_map(|r| r.body.as_ref()).collect();
        assert_eq!(bodies[0].text, "one $(x)\n");
        assert!(bodies[0].expands && !bodies[1].expands);
        assert_eq!(bodies[1].text, "two\n");
        assert_eq!(cat.redirections[0].kind, RedirectionKind::HereDocument);
        assert_eq!(script.items.len(), 3);
        assert!(script.partial.is_none());
    }
}
