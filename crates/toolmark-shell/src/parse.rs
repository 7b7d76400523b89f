//! The parser from shell text to [`Script`]: lists, pipelines, compound and simple commands.
//!
//! The parser is written by hand and tolerant: bash runs the complete lines before a syntax error,
//! and a recorded command may be cut off, so an invalid piece is marked [`Partial`] and reading
//! continues after it. Nesting is bounded and every byte is read a bounded number of times.

use crate::ir::{
    Compound, CompoundKind, IrNode, Operator, Partial, Pipeline, PipelineItem, Script, Word,
    WordPart,
};

/// Maximum nesting depth of commands and substitutions.
pub(crate) const MAX_DEPTH: usize = 48;
/// Maximum number of words read.
const MAX_WORDS: usize = 20_000;

/// Parses shell text.
pub fn parse(text: &str) -> Script {
    parse_at_depth(text, 0)
}

/// Parses text that is part of another text.
pub(crate) fn parse_at_depth(text: &str, depth: usize) -> Script {
    let mut parser = ShellParser::new(text, depth);
    let mut script = parser.list(&[]);
    script.partial = parser.partial;
    script
}

/// Returns the parts of text in which only substitutions count, as in a subscript.
pub(crate) fn parts_of(text: &str, depth: usize) -> Vec<WordPart> {
    let mut parts = Vec::new();
    ShellParser::new(text, depth).double_quoted(&mut parts, 0);
    parts
}

/// A here-document whose body has not been read yet.
pub(crate) struct Pending {
    /// Delimiter after quote removal.
    pub(crate) delimiter: String,
    /// Whether no part of the delimiter was quoted.
    pub(crate) expands: bool,
    /// Whether leading tabs are stripped: `<<-`.
    pub(crate) strip: bool,
    /// Index of the here-document in the text.
    pub(crate) id: usize,
}

/// The read position and the results so far.
pub(crate) struct ShellParser<'a> {
    pub(crate) text: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) pos: usize,
    pub(crate) depth: usize,
    pub(crate) partial: Option<Partial>,
    /// Number of words and substitutions read.
    words: usize,
    pub(crate) pending: Vec<Pending>,
    /// Bodies read, by the id of their here-document.
    pub(crate) bodies: Vec<Option<crate::ir::HereDocument>>,
}

const CLOSERS: &[&str] = &["then", "do", "done", "fi", "else", "elif", "esac", "}"];

impl<'a> ShellParser<'a> {
    pub(crate) fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            depth,
            partial: None,
            words: 0,
            pending: Vec::new(),
            bodies: Vec::new(),
        }
    }

    pub(crate) fn peek(&self) -> u8 {
        self.byte(0)
    }

    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    pub(crate) fn mark(&mut self, why: Partial) {
        if self.partial != Some(Partial::TooDeep) {
            self.partial = Some(why);
        }
    }

    fn looking_at(&self, text: &str) -> bool {
        self.bytes.get(self.pos..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Enters a nesting level, or abandons the rest of the text.
    pub(crate) fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH || !self.count_word() {
            self.mark(Partial::TooDeep);
            self.pos = self.bytes.len();
            return false;
        }
        self.depth += 1;
        true
    }

    /// Counts a word, or abandons the rest of the text, which would take too much memory.
    pub(crate) fn count_word(&mut self) -> bool {
        self.words += 1;
        let is_fine = self.words <= MAX_WORDS;
        if !is_fine {
            self.mark(Partial::TooDeep);
            self.pos = self.bytes.len();
        }
        is_fine
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.byte(1) == b'\n' => self.pos += 2,
                b'#' => {
                    while !self.at_end() && self.peek() != b'\n' {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments, line ends and the here-documents after them.
    pub(crate) fn gap(&mut self) {
        loop {
            self.blanks();
            if self.peek() == b'\n' {
                self.newline();
            } else {
                return;
            }
        }
    }

    fn newline(&mut self) {
        self.pos += 1;
        for pending in std::mem::take(&mut self.pending) {
            let body = self.here_body(&pending);
            if let Some(slot) = self.bodies.get_mut(pending.id) {
                *slot = Some(body);
            }
        }
    }

    /// Returns the bare word at the position without moving.
    fn bare(&self) -> &'a str {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|b| {
                matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
            })
            .unwrap_or(rest.len());
        self.text.get(self.pos..self.pos + end).unwrap_or("")
    }

    /// Parses statements until one of `stops`, which is left unread.
    pub(crate) fn list(&mut self, stops: &[&str]) -> Script {
        let mut items: Vec<PipelineItem> = Vec::new();
        if !self.enter() {
            return Script::default();
        }
        loop {
            self.gap();
            if self.at_end() {
                break;
            }
            if self.peek() == b';' {
                if stops.contains(&";;") && self.byte(1) == b';' {
                    break;
                }
                self.pos += 1;
                continue;
            }
            if self.peek() == b')' {
                if stops.contains(&")") || !stops.is_empty() {
                    break;
                }
                self.mark(Partial::Syntax);
                self.pos += 1;
                continue;
            }
            if matches!(self.peek(), b'&' | b'|') {
                self.mark(Partial::Syntax);
                self.pos += 1;
                continue;
            }
            let bare = self.bare();
            if CLOSERS.contains(&bare) {
                if stops.contains(&bare) {
                    break;
                }
                self.mark(Partial::Syntax);
                if !stops.is_empty() {
                    break;
                }
                self.pos += bare.len();
                continue;
            }
            let before = self.pos;
            let pipeline = self.pipeline();
            let after = self.operator();
            if self.pos == before {
                self.mark(Partial::Syntax);
                self.pos += self.width();
                continue;
            }
            if !pipeline.stages.is_empty() {
                items.push(PipelineItem { pipeline, after });
            }
        }
        self.leave();
        let mut script = Script { items, partial: None };
        if stops.is_empty() {
            // Bodies of here-documents that were cut off with the text.
            for pending in std::mem::take(&mut self.pending) {
                if let Some(slot) = self.bodies.get_mut(pending.id) {
                    *slot = Some(crate::ir::HereDocument::default());
                }
                self.mark(Partial::Syntax);
            }
            script.attach(&mut self.bodies);
        }
        script
    }

    /// Returns the width of the character at the position.
    pub(crate) fn width(&self) -> usize {
        self.text.get(self.pos..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    }

    fn operator(&mut self) -> Operator {
        self.blanks();
        match (self.peek(), self.byte(1)) {
            (b'&', b'&') => {
                self.pos += 2;
                Operator::And
            }
            (b'|', b'|') => {
                self.pos += 2;
                Operator::Or
            }
            (b'&', _) => {
                self.pos += 1;
                Operator::Background
            }
            (b';', b';') => Operator::Then,
            (b';', _) => {
                self.pos += 1;
                Operator::Then
            }
            (b'\n', _) => Operator::Then,
            _ => Operator::End,
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut pipeline = Pipeline::default();
        loop {
            self.gap();
            if self.peek() == b'!' && matches!(self.byte(1), b' ' | b'\t') {
                pipeline.negated = true;
                self.pos += 1;
                continue;
            }
            let before = self.pos;
            if let Some(node) = self.command() {
                pipeline.stages.push(node);
            }
            self.blanks();
            if self.peek() == b'|' && self.byte(1) != b'|' {
                self.pos += if self.byte(1) == b'&' { 2 } else { 1 };
                if self.pos > before {
                    continue;
                }
            }
            return pipeline;
        }
    }

    /// Skips the prefix of `coproc { …; }` and `coproc NAME { …; }`, which run their body.
    fn skip_coproc(&mut self) {
        let start = self.pos;
        self.pos += "coproc".len();
        self.blanks();
        if !matches!(self.peek(), b'{' | b'(') {
            let name = self.bare().len();
            self.pos += name;
            self.blanks();
        }
        if !matches!(self.peek(), b'{' | b'(') {
            self.pos = start;
        }
    }

    fn command(&mut self) -> Option<IrNode> {
        self.blanks();
        if self.bare() == "coproc" {
            self.skip_coproc();
        }
        let start = self.pos;
        let kind = match self.peek() {
            b'(' if self.byte(1) == b'(' => match self.arithmetic_end(self.pos + 2) {
                Some(end) => {
                    let words = vec![self.arithmetic_command(self.pos + 2, end)];
                    self.pos = end + 2;
                    CompoundKind::Test(words)
                }
                None => self.subshell(),
            },
            b'(' => self.subshell(),
            _ => {
                let bare = self.bare();
                match bare {
                    "{" => {
                        self.pos += 1;
                        let body = self.list(&["}"]);
                        self.close("}");
                        CompoundKind::Group(body)
                    }
                    "if" => {
                        let stops = ["then", "elif", "else", "fi"];
                        CompoundKind::Branches(self.parts(2, &stops, "fi"))
                    }
                    word @ ("while" | "until") => CompoundKind::Loop {
                        until: word == "until",
                        parts: self.parts(5, &["do", "done"], "done"),
                    },
                    "for" | "select" => self.for_loop(bare.len()),
                    "case" => self.case(),
                    "[[" => self.test(),
                    "function" => {
                        self.pos += 8;
                        self.blanks();
                        let name = self.bare().to_owned();
                        self.pos += name.len();
                        self.blanks();
                        if self.looking_at("()") {
                            self.pos += 2;
                        }
                        return self.function(name, start);
                    }
                    _ => {
                        let name = bare;
                        let after = self.pos + name.len();
                        let rest = self.text.get(after..).unwrap_or("");
                        let rest = rest.trim_start_matches([' ', '\t']);
                        let plain = !name.is_empty()
                            && !name.contains(['=', '$', '"', '\'', '`', '\\', '{']);
                        if plain && rest.starts_with('(') && empty_parentheses(rest) {
                            let name = name.to_owned();
                            let close =
                                self.text.get(after..).and_then(|r| r.find(')')).unwrap_or(0);
                            self.pos = after + close + 1;
                            return self.function(name, start);
                        }
                        return self.simple().map(IrNode::Simple);
                    }
                }
            }
        };
        let redirections = self.redirections();
        Some(IrNode::Compound(Compound { kind, redirections, span: start..self.pos }))
    }

    fn function(&mut self, name: String, start: usize) -> Option<IrNode> {
        self.gap();
        if !self.enter() {
            return None;
        }
        let body = self.command();
        self.leave();
        let kind = CompoundKind::Function { name, body: Box::new(body?) };
        Some(IrNode::Compound(Compound { kind, redirections: Vec::new(), span: start..self.pos }))
    }

    fn subshell(&mut self) -> CompoundKind {
        self.pos += 1;
        let body = self.list(&[")"]);
        self.close(")");
        CompoundKind::Subshell(body)
    }

    pub(crate) fn close(&mut self, closer: &str) {
        if self.looking_at(closer) {
            self.pos += closer.len();
        } else {
            self.mark(Partial::Syntax);
        }
    }

    /// Returns the content of `((…))`: its text if nothing is expanded in it.
    fn arithmetic_command(&mut self, from: usize, to: usize) -> Word {
        let mut word = self.arithmetic_word(from, to);
        if word.parts.is_empty() {
            let text = self.text.get(from..to).unwrap_or("").to_owned();
            word.parts.push(WordPart::Text { text, quoted: true });
        }
        word
    }

    /// Parses the lists of `if` and the loops between keywords until `end`.
    fn parts(&mut self, keyword: usize, stops: &[&str], end: &str) -> Vec<Script> {
        self.pos += keyword;
        let mut parts = Vec::new();
        loop {
            parts.push(self.list(stops));
            let bare = self.bare();
            if bare == end {
                self.pos += end.len();
                break;
            }
            if self.at_end() || !stops.contains(&bare) {
                self.mark(Partial::Syntax);
                break;
            }
            self.pos += bare.len();
        }
        parts
    }

    fn for_loop(&mut self, keyword: usize) -> CompoundKind {
        self.pos += keyword;
        self.blanks();
        let mut words = Vec::new();
        let mut name = String::new();
        if self.looking_at("((") {
            if let Some(end) = self.arithmetic_end(self.pos + 2) {
                words.push(self.arithmetic_command(self.pos + 2, end));
                self.pos = end + 2;
            }
        } else {
            name = self.bare().to_owned();
            self.pos += name.len();
            self.gap();
            if self.bare() == "in" {
                self.pos += 2;
                self.blanks();
                while let Some(word) = self.word() {
                    words.push(word);
                    self.blanks();
                }
            }
        }
        loop {
            self.gap();
            if self.peek() != b';' {
                break;
            }
            self.pos += 1;
        }
        let end = if self.bare() == "{" { "}" } else { "done" };
        if matches!(self.bare(), "do" | "{") {
            self.pos += self.bare().len();
        } else {
            self.mark(Partial::Syntax);
        }
        let body = self.list(&[end]);
        self.close(end);
        CompoundKind::For { name, words, body }
    }

    fn case(&mut self) -> CompoundKind {
        self.pos += 4;
        self.blanks();
        let word = self.word().unwrap_or_default();
        self.gap();
        if self.bare() == "in" {
            self.pos += 2;
        }
        let mut arms = Vec::new();
        loop {
            self.gap();
            if self.at_end() {
                self.mark(Partial::Syntax);
                break;
            }
            if self.bare() == "esac" {
                self.pos += 4;
                break;
            }
            // The pattern up to its parenthesis.
            if self.peek() == b'(' {
                self.pos += 1;
            }
            while !self.at_end() && self.peek() != b')' && self.peek() != b'\n' {
                self.blanks();
                if self.word().is_none() {
                    if self.peek() == b')' || self.peek() == b'\n' || self.at_end() {
                        break;
                    }
                    self.pos += self.width();
                }
                self.blanks();
            }
            if self.peek() == b')' {
                self.pos += 1;
            }
            let before = self.pos;
            arms.push(self.list(&[";;", "esac"]));
            if self.looking_at(";;") {
                self.pos += 2;
                if self.peek() == b'&' {
                    self.pos += 1;
                }
            } else if self.bare() != "esac" && self.pos == before {
                self.mark(Partial::Syntax);
                self.pos += if self.at_end() { 0 } else { self.width() };
            }
        }
        CompoundKind::Case { word, arms }
    }

    /// Parses `[[ … ]]`: words and operators until the brackets close.
    fn test(&mut self) -> CompoundKind {
        self.pos += 2;
        let mut words = Vec::new();
        loop {
            self.gap();
            if self.at_end() {
                self.mark(Partial::Syntax);
                break;
            }
            if self.bare() == "]]" {
                self.pos += 2;
                break;
            }
            match self.word() {
                Some(word) => words.push(word),
                None => self.pos += self.width(),
            }
        }
        CompoundKind::Test(words)
    }
}

fn empty_parentheses(rest: &str) -> bool {
    rest.get(1..).is_some_and(|inner| inner.trim_start_matches([' ', '\t']).starts_with(')'))
}
