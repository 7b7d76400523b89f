//! Second pass: the structural index becomes a flat list of nodes in document
//! order. Each node knows where its text is and how many nodes its subtree has,
//! so skipping a value is one addition and nothing is copied.

use crate::number::token_kind;
use crate::{Kind, ScanError};
use std::mem::MaybeUninit;

/// One value, or one key of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// First byte of the value; for a string, the byte after the opening quote.
    pub(crate) start: u32,
    /// Byte after the value; for a string, the closing quote.
    pub(crate) end: u32,
    /// How many nodes its subtree has, itself included.
    pub(crate) size: u32,
    pub(crate) kind: Kind,
}

impl Node {
    /// Are its places in this text, in order and between whole characters?
    pub(crate) fn fits(&self, text: &str) -> bool {
        let (start, end) = (self.start as usize, self.end as usize);
        let is_quote = |at: Option<usize>| {
            at.and_then(|at| text.as_bytes().get(at)).is_some_and(|byte| *byte == b'"')
        };
        let is_sound = start <= end && text.is_char_boundary(start) && text.is_char_boundary(end);
        let has_quotes = is_quote(start.checked_sub(1)) && is_quote(Some(end));
        is_sound && (self.kind != Kind::String || has_quotes)
    }
}

/// Fills `nodes` with the document that `bytes` are; returns the depth of its
/// deepest container. The entries of `index` are places in a text in which
/// `bytes` begin at `base`.
///
/// Whatever the index says, places that end up in a node are in `bytes`, in order and
/// between whole characters: each was compared with the byte there.
pub(crate) fn build(
    bytes: &[u8],
    base: usize,
    index: &[u32],
    nodes: &mut Vec<Node>,
    open: &mut Vec<u32>,
) -> Result<usize, ScanError> {
    nodes.clear();
    open.clear();
    nodes.reserve(index.len());
    let made = nodes.spare_capacity_mut();
    let mut walk = Walk { bytes, base: base as u32, index, made, count: 0 };
    let depth = walk.document(open)?;
    let count = walk.count;
    // SAFETY: the walk wrote that many nodes, one behind the other.
    unsafe { nodes.set_len(count) };
    Ok(depth)
}

/// A walk along the index. The shape of the document decides what comes next, so
/// that a member of an object is one step and not four.
struct Walk<'a> {
    bytes: &'a [u8],
    base: u32,
    /// What is left of the index.
    index: &'a [u32],
    /// Room for as many nodes as the index had entries; the first `count` are written.
    made: &'a mut [MaybeUninit<Node>],
    count: usize,
}

impl Walk<'_> {
    fn document(&mut self, open: &mut Vec<u32>) -> Result<usize, ScanError> {
        let mut depth = 0;
        let mut in_object = false;
        'value: loop {
            let at = self.next()?;
            match self.byte(at) {
                b'"' => self.string(at)?,
                b'{' => {
                    open.push(self.count as u32);
                    depth = depth.max(open.len());
                    self.add(Node { start: at, end: at, size: 0, kind: Kind::Object });
                    in_object = true;
                    if self.peek() != Some(b'}') {
                        self.key(open)?;
                        continue 'value;
                    }
                }
                b'[' => {
                    open.push(self.count as u32);
                    depth = depth.max(open.len());
                    self.add(Node { start: at, end: at, size: 0, kind: Kind::Array });
                    in_object = false;
                    if self.peek() != Some(b']') {
                        continue 'value;
                    }
                }
                b'}' | b']' | b':' | b',' => return Err(self.unexpected(at, open, false)),
                _ => self.token(at)?,
            }
            // A value has ended, or a container begins with its end.
            loop {
                if open.is_empty() {
                    return match self.index.first() {
                        None => Ok(depth),
                        Some(&at) => Err(self.unexpected(at.wrapping_sub(self.base), open, true)),
                    };
                }
                let at = self.next()?;
                match self.byte(at) {
                    b',' => {
                        if in_object {
                            self.key(open)?;
                        }
                        continue 'value;
                    }
                    b'}' if in_object => {}
                    b']' if !in_object => {}
                    _ => return Err(self.unexpected(at, open, false)),
                }
                in_object = self.close(at, open);
            }
        }
    }

    /// The place of the next entry of the index.
    #[inline(always)]
    fn next(&mut self) -> Result<u32, ScanError> {
        let [at, rest @ ..] = self.index else { return Err(self.ends()) };
        self.index = rest;
        Ok(at.wrapping_sub(self.base))
    }

    /// The byte at a place; outside, one that no value begins or ends with.
    #[inline(always)]
    fn byte(&self, at: u32) -> u8 {
        self.bytes.get(at as usize).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.index.first().map(|&at| self.byte(at.wrapping_sub(self.base)))
    }

    #[inline(always)]
    fn add(&mut self, node: Node) {
        debug_assert!(self.count < self.made.len());
        // SAFETY: every node takes at least one entry of the index, and there is
        // room for as many nodes as there were entries.
        unsafe { self.made.get_unchecked_mut(self.count).write(node) };
        self.count += 1;
    }

    /// The string that opens here.
    #[inline(always)]
    fn string(&mut self, at: u32) -> Result<(), ScanError> {
        let end = self.next()?;
        if end <= at || self.byte(end) != b'"' {
            return Err(self.ends());
        }
        self.add(Node { start: at + 1, end, size: 1, kind: Kind::String });
        Ok(())
    }

    /// A key and its colon.
    #[inline(always)]
    fn key(&mut self, open: &[u32]) -> Result<(), ScanError> {
        let at = self.next()?;
        if self.byte(at) != b'"' {
            return Err(self.unexpected(at, open, false));
        }
        self.string(at)?;
        let colon = self.next()?;
        if self.byte(colon) != b':' {
            return Err(self.unexpected(colon, open, false));
        }
        Ok(())
    }

    /// A number or a literal: it ends before the next structural byte, or at the
    /// white space before that.
    #[inline(always)]
    fn token(&mut self, at: u32) -> Result<(), ScanError> {
        let start = at as usize;
        let next = self.index.first().map(|&next| next.wrapping_sub(self.base) as usize);
        let token = self.bytes.get(start..next.unwrap_or(self.bytes.len()));
        let token = token.unwrap_or_default().trim_ascii_end();
        let Some(kind) = token_kind(token) else {
            return Err(ScanError { offset: start, problem: "invalid literal" });
        };
        self.add(Node { start: at, end: (start + token.len()) as u32, size: 1, kind });
        Ok(())
    }

    /// Closes the innermost container; true where it is itself in an object.
    #[inline(always)]
    fn close(&mut self, at: u32, open: &mut Vec<u32>) -> bool {
        let made = &mut self.made[..self.count];
        if let Some(opened) = open.pop() {
            // SAFETY: what is open was written before.
            let node = unsafe { made[opened as usize].assume_init_mut() };
            node.end = node.start.max(at + 1);
            node.size = self.count as u32 - opened;
        }
        open.last().is_some_and(|&outer| {
            // SAFETY: what is open was written before.
            let outer = unsafe { made[outer as usize].assume_init_ref() };
            outer.kind == Kind::Object
        })
    }

    #[cold]
    fn ends(&self) -> ScanError {
        ScanError { offset: self.bytes.len(), problem: "unexpected end of text" }
    }

    /// Why the byte at this entry of the index may not be there.
    #[cold]
    fn unexpected(&self, at: u32, open: &[u32], is_after_document: bool) -> ScanError {
        let problem = match self.byte(at) {
            b':' => "unexpected ':'",
            b',' => "unexpected ','",
            b'}' | b']' if open.is_empty() => "closing bracket without an opening one",
            b'}' | b']' => "unexpected closing bracket",
            _ if is_after_document => "unexpected text after the value",
            b'"' => "unexpected string",
            b'{' | b'[' => "unexpected opening bracket",
            _ => "unexpected literal",
        };
        ScanError { offset: at as usize, problem }
    }
}
