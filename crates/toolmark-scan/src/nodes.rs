//! Second pass: turns the structural index into a flat list of nodes in document order.
//! Each node holds the offsets of its text and the size of its subtree, so that skipping
//! a value is one addition and nothing is copied.

use crate::number::token_kind;
use crate::{JsonKind, ScanError};
use std::mem::MaybeUninit;

/// One value, or one key of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonNode {
    /// First byte of the value; for a string, the byte after the opening quote.
    pub(crate) start: u32,
    /// Byte after the value; for a string, the closing quote.
    pub(crate) end: u32,
    /// Number of nodes in its subtree, including itself.
    pub(crate) size: u32,
    pub(crate) kind: JsonKind,
}

impl JsonNode {
    /// Returns whether its offsets are in this text, in order and on character boundaries.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let (start, end) = (self.start as usize, self.end as usize);
        let is_quote = |at: Option<usize>| {
            at.and_then(|at| text.as_bytes().get(at)).is_some_and(|byte| *byte == b'"')
        };
        let is_sound = start <= end && text.is_char_boundary(start) && text.is_char_boundary(end);
        let has_quotes = is_quote(start.checked_sub(1)) && is_quote(Some(end));
        is_sound && (self.kind != JsonKind::String || has_quotes)
    }
}

/// Fills `nodes` with the document in `bytes`; returns the depth of its deepest
/// container. The entries of `index` are increasing offsets in a text in which `bytes`
/// begin at `base`.
///
/// Whatever the index contains, offsets that are stored in a node are in `bytes`, in order
/// and on character boundaries: each was compared with the byte at that offset.
pub(crate) fn build(
    bytes: &[u8],
    base: usize,
    index: &[u32],
    nodes: &mut Vec<JsonNode>,
    open: &mut Vec<u32>,
) -> Result<usize, ScanError> {
    nodes.clear();
    open.clear();
    nodes.reserve(index.len());
    debug_assert!(index.is_sorted());
    let is_within = match (index.first(), index.last()) {
        (Some(first), Some(last)) => {
            base <= *first as usize && (*last as usize).wrapping_sub(base) < bytes.len()
        }
        _ => false,
    };
    // An index of another text says nothing about this one.
    let index = if is_within { index } else { &[] };
    let made = nodes.spare_capacity_mut();
    let mut walk = NodeWalk { bytes, base: base as u32, index, made, count: 0, depth: 0 };
    walk.document(open)?;
    let (count, depth) = (walk.count, walk.depth);
    // SAFETY: the walk wrote that many nodes, one behind the other.
    unsafe { nodes.set_len(count) };
    Ok(depth)
}

/// A walk along the index. The shape of the document determines the next step, so that
/// a member of an object is one step instead of four.
struct NodeWalk<'a> {
    bytes: &'a [u8],
    base: u32,
    /// Remaining part of the index. All entries are offsets in `bytes`, in order.
    index: &'a [u32],
    /// Space for as many nodes as the index has entries; the first `count` are initialized.
    made: &'a mut [MaybeUninit<JsonNode>],
    count: usize,
    depth: usize,
}

/// Next element to parse inside a container.
#[derive(Clone, Copy)]
enum NextElement {
    /// A key of an object, and its value.
    Member,
    /// An item of an array.
    Item,
    /// The comma after a member, or the end of the object.
    BehindMember,
    /// The comma after an item, or the end of the array.
    BehindItem,
}

impl NodeWalk<'_> {
    // Everything is inlined, and what is wrong is found out by functions that take no
    // walk: so its fields stay in registers.
    #[inline(always)]
    fn document(&mut self, open: &mut Vec<u32>) -> Result<(), ScanError> {
        let at = self.next()?;
        let mut next = self.value(at, open, NextElement::BehindItem)?;
        while !open.is_empty() {
            next = match next {
                NextElement::Member => {
                    let at = self.key()?;
                    self.value(at, open, NextElement::BehindMember)?
                }
                NextElement::Item => {
                    let at = self.next()?;
                    self.value(at, open, NextElement::BehindItem)?
                }
                NextElement::BehindMember => {
                    let at = self.next()?;
                    match self.byte(at) {
                        b',' => NextElement::Member,
                        b'}' => self.close(at, open),
                        _ => return Err(unexpected(self.bytes, at, NodePosition::Inside)),
                    }
                }
                NextElement::BehindItem => {
                    let at = self.next()?;
                    match self.byte(at) {
                        b',' => NextElement::Item,
                        b']' => self.close(at, open),
                        _ => return Err(unexpected(self.bytes, at, NodePosition::Inside)),
                    }
                }
            };
        }
        match self.index.first() {
            None => Ok(()),
            Some(&at) => {
                Err(unexpected(self.bytes, at.wrapping_sub(self.base), NodePosition::Behind))
            }
        }
    }

    /// Parses the value that begins here, or its opening bracket; `behind` is what follows it.
    #[inline(always)]
    fn value(
        &mut self,
        at: u32,
        open: &mut Vec<u32>,
        behind: NextElement,
    ) -> Result<NextElement, ScanError> {
        let (kind, end, inside) = match self.byte(at) {
            b'"' => {
                let end = self.next()?;
                if self.byte(end) != b'"' {
                    return Err(ends(self.bytes));
                }
                self.add(JsonNode { start: at + 1, end, size: 1, kind: JsonKind::String });
                return Ok(behind);
            }
            b'{' => (JsonKind::Object, b'}', NextElement::Member),
            b'[' => (JsonKind::Array, b']', NextElement::Item),
            b'}' | b']' | b':' | b',' => {
                let place =
                    if open.is_empty() { NodePosition::Before } else { NodePosition::Inside };
                return Err(unexpected(self.bytes, at, place));
            }
            _ => {
                self.token(at)?;
                return Ok(behind);
            }
        };
        open.push(self.count as u32);
        self.depth = self.depth.max(open.len());
        self.add(JsonNode { start: at, end: at, size: 0, kind });
        match self.index {
            [first, rest @ ..] if self.byte(first.wrapping_sub(self.base)) == end => {
                let at = first.wrapping_sub(self.base);
                self.index = rest;
                Ok(self.close(at, open))
            }
            _ => Ok(inside),
        }
    }

    /// Parses a key and its colon; returns the offset of the value after them.
    #[inline(always)]
    fn key(&mut self) -> Result<u32, ScanError> {
        let Some((entries, rest)) = self.index.split_first_chunk::<4>() else {
            return Err(broken_member(self.bytes, self.base, self.index));
        };
        let [from, to, colon, value] = entries.map(|at| at.wrapping_sub(self.base));
        if self.byte(from) != b'"' || self.byte(to) != b'"' || self.byte(colon) != b':' {
            return Err(broken_member(self.bytes, self.base, self.index));
        }
        self.add(JsonNode { start: from + 1, end: to, size: 1, kind: JsonKind::String });
        self.index = rest;
        Ok(value)
    }

    /// Returns the next offset of the index.
    #[inline(always)]
    fn next(&mut self) -> Result<u32, ScanError> {
        let [at, rest @ ..] = self.index else { return Err(ends(self.bytes)) };
        self.index = rest;
        Ok(at.wrapping_sub(self.base))
    }

    /// Returns the byte at an offset from the index.
    #[inline(always)]
    fn byte(&self, at: u32) -> u8 {
        debug_assert!((at as usize) < self.bytes.len());
        // SAFETY: all entries of the index are places in the text: they are in order, and
        // the first and the last are.
        unsafe { *self.bytes.get_unchecked(at as usize) }
    }

    #[inline(always)]
    fn add(&mut self, node: JsonNode) {
        debug_assert!(self.count < self.made.len());
        // SAFETY: every node takes at least one entry of the index, and there is
        // room for as many nodes as there were entries.
        unsafe { self.made.get_unchecked_mut(self.count).write(node) };
        self.count += 1;
    }

    /// Parses a number or a literal, which ends before the next structural byte or before the
    /// white space that precedes it.
    #[inline(always)]
    fn token(&mut self, at: u32) -> Result<(), ScanError> {
        let start = at as usize;
        let next = self.index.first().map(|&next| next.wrapping_sub(self.base) as usize);
        let token = self.bytes.get(start..next.unwrap_or(self.bytes.len()));
        let token = token.unwrap_or_default().trim_ascii_end();
        let Some(kind) = token_kind(token) else {
            return Err(ScanError { offset: start, problem: "invalid literal" });
        };
        self.add(JsonNode { start: at, end: (start + token.len()) as u32, size: 1, kind });
        Ok(())
    }

    /// Closes the innermost container; returns the step after it.
    #[inline(always)]
    fn close(&mut self, at: u32, open: &mut Vec<u32>) -> NextElement {
        let made = &mut self.made[..self.count];
        if let Some(opened) = open.pop() {
            // SAFETY: what is open was written before.
            let node = unsafe { made[opened as usize].assume_init_mut() };
            node.end = at + 1;
            node.size = self.count as u32 - opened;
        }
        let is_object = |&outer: &u32| {
            // SAFETY: what is open was written before.
            let outer = unsafe { made[outer as usize].assume_init_ref() };
            outer.kind == JsonKind::Object
        };
        match open.last().is_some_and(is_object) {
            true => NextElement::BehindMember,
            false => NextElement::BehindItem,
        }
    }
}

/// Returns the error for an index at which no member of an object begins.
#[cold]
#[inline(never)]
fn broken_member(bytes: &[u8], base: u32, index: &[u32]) -> ScanError {
    let byte = |at: u32| bytes.get(at as usize).copied();
    let mut index = index.iter().map(|at| at.wrapping_sub(base));
    match index.next() {
        None => return ends(bytes),
        Some(at) if byte(at) != Some(b'"') => return unexpected(bytes, at, NodePosition::Inside),
        Some(_) => {}
    }
    if index.next().and_then(byte) != Some(b'"') {
        return ends(bytes);
    }
    match index.next() {
        Some(at) if byte(at) != Some(b':') => unexpected(bytes, at, NodePosition::Inside),
        // There is no colon, or no value.
        _ => ends(bytes),
    }
}

#[cold]
fn ends(bytes: &[u8]) -> ScanError {
    ScanError { offset: bytes.len(), problem: "unexpected end of text" }
}

/// Position of a walk in a document.
enum NodePosition {
    Before,
    Inside,
    Behind,
}

/// Returns the error for an unexpected byte at this entry of the index.
#[cold]
#[inline(never)]
fn unexpected(bytes: &[u8], at: u32, place: NodePosition) -> ScanError {
    let problem = match (bytes.get(at as usize).copied().unwrap_or(0), place) {
        (b':', _) => "unexpected ':'",
        (b',', _) => "unexpected ','",
        (b'}' | b']', NodePosition::Inside) => "unexpected closing bracket",
        (b'}' | b']', _) => "closing bracket without an opening one",
        (_, NodePosition::Behind) => "unexpected text after the value",
        (b'"', _) => "unexpected string",
        (b'{' | b'[', _) => "unexpected opening bracket",
        _ => "unexpected literal",
    };
    ScanError { offset: at as usize, problem }
}
