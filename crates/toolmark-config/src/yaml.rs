//! Parses YAML text into a tree, with the position of every key and value.
//!
//! The events of `saphyr-parser` are assembled without recursion. Anchors
//! and merge keys are supported; their expansion is bounded.

use crate::SourceText;
use crate::scalar;
use crate::syntax;
use crate::{MAX_DEPTH, Node, NodeEntry, NodeKind, NodeSpan, Problem, quoted};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use std::collections::HashMap;

/// Maximum amount that all aliases together may copy, in bytes of text plus a constant for
/// each node.
const MAX_COPIES: usize = 128 << 20;

/// Weight of a node, in addition to its text.
const NODE_WEIGHT: usize = 64;

/// Maximum number of problems that are collected.
pub(crate) const MAX_PROBLEMS: usize = 200;

/// Parses YAML. `None` if the text cannot be parsed; the reasons are added to `problems`. An
/// empty text is null.
pub fn parse(source: &SourceText, problems: &mut Vec<Problem>) -> Option<Node> {
    let text = source.text();
    if u32::try_from(text.len()).is_err() {
        problems.push(Problem::error("too-large", "the text is larger than 4 GB"));
        return None;
    }
    let mut builder = YamlBuilder::new(text);
    let read = builder.run();
    if builder.problems.len() == MAX_PROBLEMS {
        builder.problems.push(not_shown());
    }
    problems.append(&mut builder.problems);
    match read {
        Ok(()) => Some(builder.document.unwrap_or(NodeKind::Null.into())),
        Err(problem) => {
            problems.push(*problem);
            None
        }
    }
}

/// The reason why the rest of the text cannot be parsed.
type YamlStop = Box<Problem>;

/// A container that is not closed yet.
struct OpenContainer {
    span: NodeSpan,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(OpenMap),
}

#[derive(Default)]
struct OpenMap {
    entries: Vec<NodeEntry>,
    /// Key whose value has not been read yet.
    key: Option<YamlKey>,
    /// Position of each key.
    seen: HashMap<String, NodeSpan>,
    merge: Option<YamlMerge>,
}

struct YamlKey {
    text: String,
    span: NodeSpan,
    /// Whether the key is an unquoted `<<`.
    merge: bool,
}

/// The value of a merge key.
struct YamlMerge {
    /// Span of key and value.
    span: NodeSpan,
    /// Number of entries before it.
    at: usize,
    entries: Vec<NodeEntry>,
}

/// The value of an anchor.
struct Anchored {
    node: Node,
    weight: usize,
    depth: usize,
}

struct YamlBuilder<'t> {
    text: &'t str,
    offsets: Offsets<'t>,
    frames: Vec<OpenContainer>,
    anchors: HashMap<usize, Anchored>,
    /// Weight of everything copied so far.
    copied: usize,
    document: Option<Node>,
    problems: Vec<Problem>,
}

impl<'t> YamlBuilder<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            offsets: Offsets::new(text),
            frames: Vec::new(),
            anchors: HashMap::new(),
            copied: 0,
            document: None,
            problems: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), YamlStop> {
        for event in Parser::new_from_str(self.text) {
            let (event, span) = event.map_err(|error| {
                let at = self.offsets.byte(*error.marker());
                syntax::problem(self.text, at, error.info())
            })?;
            let span = NodeSpan::new(self.offsets.byte(span.start), self.offsets.byte(span.end));
            self.event(event, span)?;
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>, span: NodeSpan) -> Result<(), YamlStop> {
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let node = self.scalar(&value, style, tag.as_deref(), span);
                self.remember(anchor, &node)?;
                match self.waiting_for_key() {
                    Some(map) => {
                        let merge = style == ScalarStyle::Plain && value == "<<";
                        map.key =
                            Some(YamlKey { text: value.into_owned(), span: node.span, merge });
                        Ok(())
                    }
                    None => self.value(node),
                }
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(anchor, tag.as_deref(), span, Content::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.open(anchor, tag.as_deref(), span, Content::Map(OpenMap::default()))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            _ => Ok(()),
        }
    }

    /// Returns the innermost container if it is a map that expects a key next.
    fn waiting_for_key(&mut self) -> Option<&mut OpenMap> {
        match self.frames.last_mut() {
            Some(OpenContainer { content: Content::Map(map), .. }) if map.key.is_none() => {
                Some(map)
            }
            _ => None,
        }
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: NodeSpan,
    ) -> Node {
        let plain = style == ScalarStyle::Plain;
        let span = if plain && value.is_empty() {
            self.place_of_nothing(span)
        } else {
            self.bare(span, style)
        };
        let kind = match tag {
            None if plain => scalar::plain(value),
            None => NodeKind::Text(value.into()),
            Some(tag) => self.tagged(tag, value, plain, span),
        };
        Node { kind, span }
    }

    /// Returns the value of a scalar with an explicit tag.
    fn tagged(&mut self, tag: &Tag, value: &str, plain: bool, span: NodeSpan) -> NodeKind {
        let text = NodeKind::Text(value.into());
        let kind = scalar::plain(value);
        match (core_tag(tag), &kind) {
            (Some("str"), _) => text,
            (Some("float"), NodeKind::Int(_) | NodeKind::UInt(_)) => {
                Node::from(kind).as_f64().map_or(text, NodeKind::Float)
            }
            (Some("int"), NodeKind::Int(_) | NodeKind::UInt(_))
            | (Some("float"), NodeKind::Float(_))
            | (Some("bool"), NodeKind::Bool(_))
            | (Some("null"), NodeKind::Null) => kind,
            (Some(wanted @ ("int" | "float" | "bool" | "null")), _) => {
                let message = format!("{} is not a value of !!{wanted}", quoted(value));
                let help = "change the value, or remove the tag";
                self.report(Problem::error("wrong-tag", message).at(span).help(help));
                text
            }
            _ => {
                self.unknown_tag(tag, span);
                if plain { kind } else { text }
            }
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, span: NodeSpan) {
        let message = format!("unknown tag {}", quoted(&tag.to_string()));
        let problem = Problem::warning("unknown-tag", message).at(span);
        self.report(problem.help("remove it, or quote the text if it starts with !"));
    }

    /// Returns the span of the scalar alone, without the anchor and tag before it and the space
    /// after it.
    fn bare(&self, span: NodeSpan, style: ScalarStyle) -> NodeSpan {
        let start = self.after_properties(span);
        let written = self.slice(start, span.end as usize);
        let kept = match style {
            // The parser counts what follows on the line to a quoted text.
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                &written[..quoted_length(written)]
            }
            _ => written.trim_end(),
        };
        NodeSpan::new(start, start + kept.len())
    }

    /// Returns the byte after the anchor and tag at the start of `span`.
    fn after_properties(&self, span: NodeSpan) -> usize {
        let (mut start, end) = (span.start as usize, span.end as usize);
        while let Some(property) = self.slice(start, end).strip_prefix(['&', '!']) {
            let length = property.find(char::is_whitespace).unwrap_or(property.len());
            start += 1 + length;
            start = end - self.slice(start, end).trim_start().len();
        }
        start
    }

    /// Returns the position where a missing value would be: after the colon or dash.
    fn place_of_nothing(&self, span: NodeSpan) -> NodeSpan {
        let at = match self.frames.last() {
            Some(OpenContainer {
                content: Content::Map(OpenMap { key: Some(key), .. }), ..
            }) => {
                let rest = self.slice(key.span.end as usize, self.text.len());
                let colon = rest.trim_start_matches([' ', '\t']);
                let space = rest.len() - colon.len();
                key.span.end as usize + if colon.starts_with(':') { space + 1 } else { 0 }
            }
            Some(_) => self.slice(0, span.start as usize).trim_end().len(),
            None => span.start as usize,
        };
        NodeSpan::new(at, at)
    }

    fn open(
        &mut self,
        anchor: usize,
        tag: Option<&Tag>,
        span: NodeSpan,
        content: Content,
    ) -> Result<(), YamlStop> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        if let Some(tag) = tag
            && !matches!(core_tag(tag), Some("map" | "seq"))
        {
            self.unknown_tag(tag, span);
        }
        let span = NodeSpan::new(self.after_properties(span), span.end as usize);
        self.frames.push(OpenContainer { span, anchor, content });
        Ok(())
    }

    fn close(&mut self, end: NodeSpan) -> Result<(), YamlStop> {
        let Some(OpenContainer { mut span, anchor, content }) = self.frames.pop() else {
            return Ok(());
        };
        let last = match &content {
            Content::List(items) => items.last().map(|item| item.span.end),
            Content::Map(map) => {
                let entry = map.entries.last().map(|entry| entry.value.span.end);
                entry.max(map.merge.as_ref().map(|merge| merge.span.end))
            }
        };
        let bracket = self.slice(end.start as usize, end.end as usize).ends_with([']', '}']);
        span.end = if bracket { end.end } else { last.unwrap_or(span.end).max(span.start) };
        let kind = match content {
            Content::List(items) => NodeKind::List(items),
            Content::Map(map) => NodeKind::Map(map.merged()),
        };
        let node = Node { kind, span };
        self.remember(anchor, &node)?;
        if self.waiting_for_key().is_some() {
            return Err(self.complex_key(&node));
        }
        self.value(node)
    }

    /// Reports a list or a map used as a key.
    fn complex_key(&self, node: &Node) -> YamlStop {
        let message = format!("a key must be text, found {}", node.word());
        let problem = Problem::error("complex-key", message).at(node.span);
        let template = self.slice(0, node.span.start as usize).ends_with('{');
        Box::new(if template { problem.help("quote the template: \"{{ … }}\"") } else { problem })
    }

    /// Adds a finished value to its container.
    fn value(&mut self, node: Node) -> Result<(), YamlStop> {
        match self.frames.last_mut().map(|frame| &mut frame.content) {
            None => return self.finish(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map(map)) => {
                let problem = map.set(node);
                problem.into_iter().for_each(|problem| self.report(problem));
            }
        }
        Ok(())
    }

    /// Accepts the value of a whole document; empty documents are ignored.
    fn finish(&mut self, node: Node) -> Result<(), YamlStop> {
        if node.is_null() && node.span.start == node.span.end {
            return Ok(());
        }
        if let Some(first) = &self.document {
            let problem = Problem::error("many-documents", "more than one document")
                .at(node.span)
                .label("the second one")
                .note(first.span, "the first one")
                .help("put each document into a file of its own");
            return Err(Box::new(problem));
        }
        self.document = Some(node);
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), YamlStop> {
        if anchor > 0 {
            let (weight, depth) = measure(node);
            self.charge(weight, node.span)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), weight, depth });
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: NodeSpan) -> Result<(), YamlStop> {
        let Some(Anchored { weight, depth, .. }) = self.anchors.get(&anchor) else {
            let problem = Problem::error("bad-alias", "an alias cannot be inside its own value");
            return Err(Box::new(problem.at(span)));
        };
        if self.frames.len() + depth > MAX_DEPTH {
            return Err(too_deep(span));
        }
        self.charge(*weight, span)?;
        let Some(Anchored { node, .. }) = self.anchors.get(&anchor) else { return Ok(()) };
        // The value has the position of the alias; its contents keep their own.
        let written = node.span;
        let node = Node { kind: node.kind.clone(), span };
        let text = match &node.kind {
            NodeKind::Text(text) => text.to_string(),
            _ => self.slice(written.start as usize, written.end as usize).to_owned(),
        };
        match self.waiting_for_key() {
            None => self.value(node),
            Some(_) if matches!(node.kind, NodeKind::List(_) | NodeKind::Map(_)) => {
                Err(self.complex_key(&node))
            }
            Some(map) => {
                map.key = Some(YamlKey { text, span, merge: false });
                Ok(())
            }
        }
    }

    /// Adds a copy to the total copied weight.
    fn charge(&mut self, weight: usize, span: NodeSpan) -> Result<(), YamlStop> {
        self.copied = self.copied.saturating_add(weight);
        if self.copied <= MAX_COPIES {
            return Ok(());
        }
        let message = format!("the aliases expand to more than {} MB", MAX_COPIES >> 20);
        Err(Box::new(Problem::error("alias-bomb", message).at(span)))
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

impl OpenMap {
    /// Sets the value of the current key.
    fn set(&mut self, value: Node) -> Option<Problem> {
        let key = self.key.take()?;
        if let Some(&first) = self.seen.get(&key.text) {
            let problem = duplicate_key(&key.text, key.span, first);
            let several = "merge several maps with a list: <<: [*a, *b]";
            return Some(if key.merge { problem.help(several) } else { problem });
        }
        self.seen.insert(key.text.clone(), key.span);
        if key.merge {
            return self.merge(key.span, value);
        }
        self.entries.push(NodeEntry { key: key.text.into(), key_span: key.span, value });
        None
    }

    fn merge(&mut self, key: NodeSpan, value: Node) -> Option<Problem> {
        let span = key.to(value.span);
        let mut merge = YamlMerge { span, at: self.entries.len(), entries: Vec::new() };
        let maps = match value.kind {
            NodeKind::List(maps) => maps,
            _ => vec![value],
        };
        let mut problem = None;
        for map in maps {
            match map.kind {
                NodeKind::Map(entries) => merge.entries.extend(entries),
                _ => {
                    let message = format!("only maps can be merged, found {}", map.word());
                    problem = Some(Problem::error("bad-merge", message).at(map.span));
                }
            }
        }
        self.merge = Some(merge);
        problem
    }

    /// Returns the entries together with the merged ones that the map does not set itself. Of
    /// several merged maps, the first one that has a key takes precedence.
    fn merged(mut self) -> Vec<NodeEntry> {
        let Some(merge) = self.merge else { return self.entries };
        let mut after = self.entries.split_off(merge.at.min(self.entries.len()));
        for entry in merge.entries {
            if !self.seen.contains_key(entry.key.as_str()) {
                self.seen.insert(entry.key.to_string(), entry.key_span);
                self.entries.push(entry);
            }
        }
        self.entries.append(&mut after);
        self.entries
    }
}

/// Returns the name of a core YAML tag; `!` alone means text.
fn core_tag(tag: &Tag) -> Option<&str> {
    match (tag.is_yaml_core_schema(), tag.handle.as_str(), tag.suffix.as_str()) {
        (true, _, name) => Some(name),
        (false, "!", "") | (false, "", "!") => Some("str"),
        _ => None,
    }
}

/// Returns the problem of a duplicate key.
pub(crate) fn duplicate_key(key: &str, span: NodeSpan, first: NodeSpan) -> Problem {
    Problem::error("duplicate-key", format!("{} is set twice", quoted(key)))
        .at(span)
        .label("set again")
        .note(first, "first set here")
}

/// Returns the last entry of a list of problems that was cut.
pub(crate) fn not_shown() -> Problem {
    Problem::warning("too-many-problems", "further problems are not shown")
}

/// Returns the problem of a container that is nested too deeply.
pub(crate) fn too_deep(span: NodeSpan) -> Box<Problem> {
    let message = format!("lists and maps nest deeper than {MAX_DEPTH}");
    Box::new(Problem::error("too-deep", message).at(span))
}

/// Returns the length in bytes of the quoted text at the start of `text`, including both quotes.
fn quoted_length(text: &str) -> usize {
    let single = text.starts_with('\'');
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        let twice = single && byte == b'\'' && bytes.peek().is_some_and(|&(_, b)| b == b'\'');
        if twice || (!single && byte == b'\\') {
            bytes.next();
        } else if byte == if single { b'\'' } else { b'"' } {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the weight and the nesting depth of a tree.
fn measure(node: &Node) -> (usize, usize) {
    match &node.kind {
        NodeKind::Text(text) => (NODE_WEIGHT + text.len(), 0),
        NodeKind::List(items) => items.iter().map(measure).fold((NODE_WEIGHT, 1), around),
        NodeKind::Map(entries) => {
            let measured = entries.iter().map(|entry| {
                let (weight, depth) = measure(&entry.value);
                (weight + entry.key.len(), depth)
            });
            measured.fold((NODE_WEIGHT, 1), around)
        }
        _ => (NODE_WEIGHT, 0),
    }
}

fn around((weight, depth): (usize, usize), inner: (usize, usize)) -> (usize, usize) {
    (weight.saturating_add(inner.0), depth.max(inner.1 + 1))
}

/// Converts positions in characters, as counted by the parser, into bytes.
struct Offsets<'t> {
    text: &'t str,
    /// Byte positions at a fixed interval of characters; empty if all characters are one byte long.
    marks: Vec<usize>,
}

impl<'t> Offsets<'t> {
    const EVERY: usize = 128;

    fn new(text: &'t str) -> Self {
        let marks = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().step_by(Self::EVERY).map(|(at, _)| at).collect()
        };
        Self { text, marks }
    }

    fn byte(&self, marker: Marker) -> usize {
        let index = marker.index();
        if self.marks.is_empty() {
            return index.min(self.text.len());
        }
        let Some(&start) = self.marks.get(index / Self::EVERY) else { return self.text.len() };
        let rest = self.text.get(start..).unwrap_or_default();
        let within = rest.char_indices().nth(index % Self::EVERY);
        within.map_or(self.text.len(), |(at, _)| start + at)
    }
}

#[cfg(test)]
mod tests;
