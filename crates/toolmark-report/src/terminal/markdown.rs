//! Markdown for a terminal: headings are highlighted, paragraphs are wrapped, tables are aligned.

use super::text::width;
use super::{StyledLine, style};
use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use toolmark_redact::{Printable, Redactor};

/// Maximum line width; longer lines are hard to read.
const WIDEST: usize = 90;
/// Spaces between two columns of a table.
const GAP: usize = 2;

/// Formats Markdown of toolmark itself as lines of at most `width` columns. Longer code lines and
/// words are not broken.
#[must_use]
pub fn lines(text: &str, width: usize) -> Vec<StyledLine> {
    let mut page = MarkdownPage { width: width.min(WIDEST), ..MarkdownPage::default() };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.flush();
    page.lines
}

/// Text of toolmark itself, unchanged.
fn ours(text: &str) -> Printable {
    Redactor::new(false).apply(text)
}

/// A page during layout.
#[derive(Default)]
struct MarkdownPage {
    width: usize,
    lines: Vec<StyledLine>,
    /// Words of the current block.
    words: StyledWords,
    /// Active styles, the innermost last.
    styles: Vec<Style>,
    /// Indentation in columns of each enclosing list item.
    items: Vec<usize>,
    /// Next number of each enclosing list, for ordered lists.
    lists: Vec<Option<u64>>,
    /// Marker of an item that has no text yet.
    mark: Option<String>,
    /// Target of the current link.
    link: Option<String>,
    is_code: bool,
    rows: Vec<Vec<StyledWords>>,
}

impl MarkdownPage {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => self.code(&text),
            Event::Text(text) => self.words.push(self.style(), &text),
            Event::Code(code) => self.words.push(style::USER, &format!("`{code}`")),
            Event::SoftBreak => self.words.space(),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                let mut line = StyledLine::new();
                line.repeat(style::DIM, "─", self.width);
                self.lines.push(line);
            }
            // Comments, and what only a page can show.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.gap();
                self.styles.push(style::STRONG);
            }
            Tag::Paragraph => self.gap(),
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
                self.items.push(width(&mark));
                self.mark = Some(mark);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.items.push(GAP);
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                self.is_code = true;
                if let CodeBlockKind::Fenced(word) = kind
                    && let Some(label) = label(&word)
                {
                    self.lines.push(StyledLine::indent(self.indent()).with(style::DIM, label));
                }
            }
            Tag::Strong => self.styles.push(style::STRONG),
            Tag::Emphasis | Tag::Image { .. } => self.styles.push(style::DIM),
            Tag::Link { dest_url, .. } => self.link = Some(dest_url.into_string()),
            Tag::Table(_) => self.gap(),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::TableCell => self.words = StyledWords::default(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                self.flush();
                self.items.pop();
                self.mark = None;
            }
            TagEnd::CodeBlock => self.is_code = false,
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Image => {
                self.styles.pop();
            }
            // Links within the book are clear from their text; external addresses are printed.
            TagEnd::Link => {
                if let Some(link) = self.link.take().filter(|link| link.contains("://")) {
                    self.words.space();
                    self.words.push(style::DIM, &format!("({link})"));
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(style::PLAIN)
    }

    /// Indentation by the enclosing lists, in columns.
    fn indent(&self) -> usize {
        self.items.iter().sum()
    }

    /// Ends the previous block and adds a blank line.
    fn gap(&mut self) {
        self.flush();
        if self.mark.is_none() && self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(StyledLine::new());
        }
    }

    /// Lays out the current block.
    fn flush(&mut self) {
        let words = std::mem::take(&mut self.words);
        let indent = self.indent();
        for line in words.wrap(self.width.saturating_sub(indent)) {
            let mark = self.mark.take().unwrap_or_default();
            let mut whole = StyledLine::indent(indent - width(&mark).min(indent));
            whole.push(style::PLAIN, ours(&mark));
            whole.append(line);
            self.lines.push(whole);
        }
    }

    fn code(&mut self, text: &str) {
        for line in text.lines() {
            let look = if line.starts_with("$ ") { style::USER } else { style::PLAIN };
            let start = StyledLine::indent(self.indent() + GAP);
            self.lines.push(start.with(look, ours(line)));
        }
    }

    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let indent = self.indent();
        let room = self.width.saturating_sub(indent);
        let Some(widths) = column_widths(&rows, room) else { return self.records(&rows) };
        for (at, row) in rows.iter().enumerate() {
            let is_head = at == 0;
            if is_head && row.iter().all(|cell| cell.words.is_empty()) {
                continue;
            }
            self.lines.extend(table_row(row, &widths, indent, is_head));
            if is_head {
                let mut line = StyledLine::indent(indent);
                let all = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
                line.repeat(style::DIM, "─", all);
                self.lines.push(line);
            }
        }
    }

    /// Lays out a table that is too wide row by row: the first cell, and the other cells below it.
    fn records(&mut self, rows: &[Vec<StyledWords>]) {
        let Some((head, rows)) = rows.split_first() else { return };
        for row in rows {
            let Some((first, rest)) = row.split_first() else { continue };
            self.words = first.clone().in_style(style::STRONG);
            self.flush();
            self.items.push(GAP);
            for (name, cell) in head.iter().skip(1).zip(rest) {
                self.words = name.clone().in_style(style::DIM);
                self.words.push(style::DIM, ":");
                self.words.space();
                self.words.words.extend(cell.words.clone());
                self.flush();
            }
            self.items.pop();
        }
    }
}

/// Label of a code block, by the first word of its info string.
fn label(word: &str) -> Option<&'static str> {
    match word {
        "fires" => Some("reported:"),
        "quiet" => Some("not reported:"),
        _ => None,
    }
}

/// Returns the lines of a row: its cells side by side, each wrapped.
fn table_row(
    row: &[StyledWords],
    widths: &[usize],
    indent: usize,
    is_head: bool,
) -> Vec<StyledLine> {
    let mut cells: Vec<_> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            let cell = if is_head { cell.clone().in_style(style::STRONG) } else { cell.clone() };
            cell.wrap(*width).into_iter()
        })
        .collect();
    let height = cells.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    (0..height)
        .map(|_| {
            let mut line = StyledLine::indent(indent);
            let mut column = indent;
            for (cell, width) in cells.iter_mut().zip(widths) {
                line.pad(column);
                line.append(cell.next().unwrap_or_default());
                column += width + GAP;
            }
            line
        })
        .collect()
}

/// Computes the column widths of a table. If there is room, each column is as wide as its widest
/// cell; otherwise it fits its longest word and the columns share the remaining space. `None` if
/// even the longest words do not fit.
fn column_widths(rows: &[Vec<StyledWords>], room: usize) -> Option<Vec<usize>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |of: fn(&StyledWords) -> usize| -> Vec<usize> {
        (0..columns)
            .map(|column| rows.iter().filter_map(|row| row.get(column)).map(of).max().unwrap_or(0))
            .collect()
    };
    let (full, mut widths) = (widest(StyledWords::width), widest(StyledWords::longest));
    let gaps = GAP * columns.saturating_sub(1);
    let mut left = room.checked_sub(gaps + widths.iter().sum::<usize>())?;
    while left > 0 && widths != full {
        for (width, full) in widths.iter_mut().zip(&full) {
            if *width < *full && left > 0 {
                *width += 1;
                left -= 1;
            }
        }
    }
    Some(widths)
}

/// Styled words; one word may have several styles.
#[derive(Debug, Default, Clone)]
struct StyledWords {
    words: Vec<Vec<(Style, String)>>,
    /// Whether the last word may continue.
    is_open: bool,
}

impl StyledWords {
    fn push(&mut self, style: Style, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.space();
                continue;
            }
            if !std::mem::replace(&mut self.is_open, true) {
                self.words.push(Vec::new());
            }
            let Some(word) = self.words.last_mut() else { continue };
            match word.last_mut() {
                Some((last, text)) if *last == style => text.push(c),
                _ => word.push((style, c.to_string())),
            }
        }
    }

    fn space(&mut self) {
        self.is_open = false;
    }

    fn in_style(mut self, style: Style) -> Self {
        for (look, _) in self.words.iter_mut().flatten() {
            *look = style;
        }
        self
    }

    /// Width on one line, in columns.
    fn width(&self) -> usize {
        let words: usize = self.words.iter().map(|word| word_width(word)).sum();
        words + self.words.len().saturating_sub(1)
    }

    fn longest(&self) -> usize {
        self.words.iter().map(|word| word_width(word)).max().unwrap_or(0)
    }

    /// Wraps the words into lines of at most `limit` columns; empty without words.
    fn wrap(&self, limit: usize) -> Vec<StyledLine> {
        let mut lines: Vec<StyledLine> = Vec::new();
        for word in &self.words {
            match lines.last_mut() {
                Some(line) if line.width() + 1 + word_width(word) <= limit => {
                    line.push(style::PLAIN, " ");
                }
                _ => lines.push(StyledLine::new()),
            }
            for (look, text) in word {
                lines.iter_mut().next_back().into_iter().for_each(|line| {
                    line.push(*look, ours(text));
                });
            }
        }
        lines
    }
}

fn word_width(word: &[(Style, String)]) -> usize {
    word.iter().map(|(_, text)| width(text)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, width: usize) -> String {
        let mut out = String::new();
        for line in lines(text, width) {
            line.write_plain(&mut out);
            out.push('\n');
        }
        out
    }

    #[test]
    fn a_page() {
        let text = "# Title\n\n<!-- note -->\n\nSome *words* that are `too long` for a line, and a \
             [page](a.md) or a [place](https://example.org).\n\n## Part\n\n- one\n- two that goes on \
             and on\n  1. inner\n  2. list\n\n  A paragraph.\n- three\n\n```console\n$ run\nout\n\nmore\n```\n\
             \n```fires\ncall\n```\nLast.\n";
        insta::assert_snapshot!(plain(text, 30));
    }

    #[test]
    fn tables_are_aligned_and_their_cells_wrapped() {
        let text = "| key | what it says |\n|---|---|\n| `a` | short |\n| `longer` | words that do \
             not fit beside it \\| all |\n\n| | |\n|---|---|\n| no | head |\n";
        insta::assert_snapshot!(plain(text, 34));
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_list() {
        let text = "| agent | program | trace |\n|---|---|---|\n| `one` | `a-program` | \
             `~/.config/one/sessions` |\n| `two` | `b` | its stream |\n";
        insta::assert_snapshot!(plain(text, 30));
    }
}
