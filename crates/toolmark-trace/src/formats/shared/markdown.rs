//! Lines of Markdown files that contain a conversation.

use crate::format::{Out, Record};
use crate::model::{At, Block, Payload, Text};
use toolmark_scan::Shared;

/// A line and its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkdownLine<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Lines of a file, whose text is not copied.
pub(crate) struct MarkdownLines<'a> {
    block: &'a Shared<Block>,
    pub(crate) all: Vec<MarkdownLine<'a>>,
}

impl<'a> MarkdownLines<'a> {
    /// Splits a record that is a text into lines; any other record is skipped.
    pub(crate) fn new(record: &Record<'a>, out: &mut Out) -> Option<Self> {
        let Some(block) = record.document() else {
            out.skip(&record.at(), "not a text");
            return None;
        };
        let mut next = 0;
        let all = block.text.split_inclusive('\n').map(|line| {
            let start = next;
            next += line.len();
            let text = line.trim_end_matches(['\n', '\r']);
            MarkdownLine { text, start, end: start + text.len() }
        });
        Some(Self { block, all: all.collect() })
    }

    /// Returns the start position of a line.
    pub(crate) fn at(&self, line: usize) -> At {
        At::new(self.block, self.all.get(line).map_or(0, |l| l.start))
    }

    /// Returns the text of the lines `from..to` without empty lines around it; `None` if all lines
    /// are empty.
    pub(crate) fn text(&self, from: usize, to: usize) -> Option<Payload> {
        let lines = self.all.get(from..to)?;
        let first = lines.iter().position(|l| !l.text.trim().is_empty())?;
        let last = lines.iter().rposition(|l| !l.text.trim().is_empty())?;
        let text = Text::verbatim(self.block, lines[first].start, lines[last].end);
        Some(Payload::text(text))
    }

    /// Returns the first and last line of each fenced block, in order. Blocks after an unclosed
    /// fence are ignored.
    pub(crate) fn fences(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut open: Option<(usize, usize)> = None;
        for (n, line) in self.all.iter().enumerate() {
            let text = line.text.trim_start();
            let ticks = text.bytes().take_while(|b| *b == b'`').count();
            match open {
                Some((from, needed)) if ticks >= needed && text[ticks..].trim().is_empty() => {
                    found.push((from, n));
                    open = None;
                }
                None if ticks >= 3 => open = Some((n, ticks)),
                _ => {}
            }
        }
        found
    }
}
