//! Simple commands for the parser: assignments, words and redirections.

use crate::ir::{Assignment, Partial, Redirection, RedirectionKind, Simple, Word};
use crate::parse::{Pending, ShellParser, parts_of};

/// Maximum length of a subscript in an assignment.
const MAX_SUBSCRIPT: usize = 400;

/// Returns the length of `[…]`, including nested brackets.
fn subscript_len(text: &[u8]) -> Option<usize> {
    let mut level = 0_usize;
    let close = text.iter().take(MAX_SUBSCRIPT).position(|byte| {
        match byte {
            b'[' => level += 1,
            b']' => level -= 1,
            _ => {}
        }
        level == 0
    });
    close.map(|at| at + 1)
}

impl Simple {
    /// Takes the word `{fd}` that ends where a redirection starts.
    fn take_variable(&mut self, start: usize) -> Option<String> {
        let word = self.words.last().filter(|word| word.span.end == start)?.literal()?;
        let name = word.strip_prefix('{')?.strip_suffix('}')?;
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let name = (is_name && !name.is_empty()).then(|| name.to_owned())?;
        self.words.pop();
        Some(name)
    }
}

impl ShellParser<'_> {
    pub(crate) fn redirections(&mut self) -> Vec<Redirection> {
        let mut out = Vec::new();
        loop {
            self.blanks();
            match self.redirection() {
                Some(redirection) => out.push(redirection),
                None => return out,
            }
        }
    }

    pub(crate) fn simple(&mut self) -> Option<Simple> {
        let start = self.pos;
        let mut simple = Simple::default();
        let mut end = self.pos;
        loop {
            self.blanks();
            let redirection_start = self.pos;
            if let Some(mut redirection) = self.redirection() {
                redirection.variable = simple.take_variable(redirection_start);
                simple.redirections.push(redirection);
                end = self.pos;
                continue;
            }
            if (simple.words.is_empty() || self.declares_array(&simple))
                && let Some(assignment) = self.assignment()
            {
                simple.assignments.push(assignment);
                end = self.pos;
                continue;
            }
            match self.word() {
                Some(word) if self.count_word() => simple.words.push(word),
                Some(_) => break,
                None if self.peek() == b'(' && !simple.words.is_empty() => {
                    // `word (`: a syntax error; the inside is read as commands.
                    self.mark(Partial::Syntax);
                    break;
                }
                None => break,
            }
            end = self.pos;
        }
        if simple.words.is_empty()
            && simple.assignments.is_empty()
            && simple.redirections.is_empty()
        {
            return None;
        }
        simple.span = start..end;
        Some(simple)
    }

    /// Whether an array is assigned as an argument of `declare` or a similar command.
    fn declares_array(&self, simple: &Simple) -> bool {
        // Behind a wrapper, too.
        let mut names = simple.words.iter().take(4).filter_map(Word::literal);
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
        let value = end.and_then(|end| rest.get(end..)).unwrap_or_default();
        matches!(value, [b'=', b'(', ..] | [b'+', b'=', b'(', ..])
            && names.any(|name| {
                matches!(name.as_str(), "declare" | "typeset" | "local" | "export" | "readonly")
            })
    }

    fn assignment(&mut self) -> Option<Assignment> {
        let rest = self.bytes.get(self.pos..)?;
        let first = *rest.first()?;
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return None;
        }
        let mut at = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
        let name = self.text.get(self.pos..self.pos + at)?.to_owned();
        let mut subscript = Vec::new();
        if rest.get(at) == Some(&b'[') {
            let end = at + subscript_len(rest.get(at..)?)?;
            if !matches!(rest.get(end..)?, [b'=', ..] | [b'+', b'=', ..]) {
                return None;
            }
            let inner = self.text.get(self.pos + at + 1..self.pos + end - 1)?;
            subscript = parts_of(inner, self.depth);
            at = end;
        }
        let appends = rest.get(at) == Some(&b'+');
        at += usize::from(appends);
        if rest.get(at) != Some(&b'=') {
            return None;
        }
        self.pos += at + 1;
        let mut values = Vec::new();
        let is_array = self.peek() == b'(';
        if is_array {
            self.pos += 1;
            loop {
                self.gap();
                if self.at_end() || self.peek() == b')' {
                    break;
                }
                match self.word() {
                    Some(word) => values.push(word),
                    None => {
                        self.mark(Partial::Syntax);
                        self.pos += self.width();
                    }
                }
            }
            self.close(")");
        } else {
            let at = self.pos;
            values.push(self.word().unwrap_or(Word { parts: Vec::new(), span: at..at }));
        }
        Some(Assignment { name, values, appends, is_array, subscript })
    }

    fn redirection(&mut self) -> Option<Redirection> {
        let mut at = 0;
        while at < 9 && self.byte(at).is_ascii_digit() {
            at += 1;
        }
        let descriptor =
            self.text.get(self.pos..self.pos + at).and_then(|digits| digits.parse().ok());
        let rest = self.bytes.get(self.pos + at..)?;
        use RedirectionKind::{Append, Duplicate, HereDocument, HereString, Read, Write};
        let (kind, len) = match rest {
            [b'<', b'<', b'<', ..] => (HereString, 3),
            [b'<', b'<', b'-', ..] => (HereDocument, 3),
            [b'<', b'<', ..] => (HereDocument, 2),
            [b'<', b'&', ..] => (Duplicate, 2),
            [b'<', b'>', ..] => (Write, 2),
            [b'<', b'(', ..] | [b'>', b'(', ..] => return None,
            [b'<', ..] => (Read, 1),
            [b'>', b'>', ..] => (Append, 2),
            [b'>', b'|', ..] => (Write, 2),
            [b'>', b'&', b'0'..=b'9' | b'-', ..] => (Duplicate, 2),
            [b'>', b'&', ..] => (Write, 2),
            [b'>', ..] => (Write, 1),
            [b'&', b'>', b'>', ..] if at == 0 => (Append, 3),
            [b'&', b'>', ..] if at == 0 => (Write, 2),
            _ => return None,
        };
        let strip = rest.get(..3) == Some(b"<<-");
        self.pos += at + len;
        self.blanks();
        let target = match self.word() {
            Some(word) => word,
            None => {
                self.mark(Partial::Syntax);
                Word::default()
            }
        };
        let mut redirection =
            Redirection { kind, variable: None, pending: None, descriptor, target, body: None };
        if kind == HereDocument {
            let id = self.bodies.len();
            self.bodies.push(None);
            let source = self.text.get(redirection.target.span.clone()).unwrap_or("");
            let expands = !source.contains(['\'', '"', '\\']);
            let delimiter = redirection.target.literal().unwrap_or_else(|| source.to_owned());
            self.pending.push(Pending { delimiter, expands, strip, id });
            redirection.pending = u32::try_from(id).ok();
        }
        Some(redirection)
    }
}
