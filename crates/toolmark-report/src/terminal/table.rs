//! Tables for a terminal: columns side by side; wide columns shrink to fit.

use super::text::{TextLayout, width};
use super::{StyledLine, style};
use anstyle::Style;
use toolmark_redact::Printable;

/// Alignment of the text in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// Shortening of cells that are too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Give {
    /// The cell is not shortened.
    Never,
    /// The end is cut.
    End,
    /// The start is cut, for paths.
    Start,
}

impl Give {
    /// Minimum width of a cell.
    fn least(self) -> usize {
        match self {
            Self::Never => usize::MAX,
            Self::End => 16,
            Self::Start => 24,
        }
    }
}

/// A column.
#[derive(Debug)]
pub struct TableColumn {
    head: &'static str,
    align: Align,
    give: Give,
    /// Order in which columns are dropped when the table is too wide; 0 is never dropped.
    leaves: u8,
}

impl TableColumn {
    /// Returns a left-aligned column.
    pub fn words(head: &'static str) -> Self {
        Self { head, align: Align::Left, give: Give::Never, leaves: 0 }
    }

    /// Returns a right-aligned column.
    pub fn numbers(head: &'static str) -> Self {
        Self { align: Align::Right, ..Self::words(head) }
    }

    /// Shortens the cells when the table is too wide.
    pub fn gives(mut self, give: Give) -> Self {
        self.give = give;
        self
    }

    /// Drops the column when shortened cells are not enough, the lowest number first.
    pub fn leaves(mut self, order: u8) -> Self {
        self.leaves = order;
        self
    }
}

/// Style and text of a cell.
pub type StyledCell = (Style, Printable);

/// A table.
#[derive(Debug)]
pub struct TerminalTable {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<StyledCell>>,
    /// Whether the last row is a sum.
    has_total: bool,
}

/// Spaces between columns.
const GAP: usize = 2;

impl TerminalTable {
    /// Returns a table without rows.
    #[must_use]
    pub fn new(columns: Vec<TableColumn>) -> Self {
        Self { columns, rows: Vec::new(), has_total: false }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<StyledCell>) {
        self.rows.push(cells);
    }

    /// Adds a sum as the last row.
    pub fn total(&mut self, cells: Vec<StyledCell>) {
        self.row(cells);
        self.has_total = true;
    }

    /// Formats the table within `limit` columns, if there is a limit. Returns the lines, and the
    /// headers of the dropped columns.
    #[must_use]
    pub fn lines(&self, limit: Option<usize>) -> (Vec<StyledLine>, Vec<&'static str>) {
        let natural: Vec<usize> = (0..self.columns.len()).map(|c| self.natural(c)).collect();
        let limit = limit.unwrap_or(usize::MAX);
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let mut left = Vec::new();
        while self.least(&kept, &natural) > limit {
            let goes = |c: &&usize| self.columns[**c].leaves > 0;
            let next = kept.iter().filter(goes).min_by_key(|c| self.columns[**c].leaves).copied();
            let Some(next) = next else { break };
            kept.retain(|c| *c != next);
            left.push(next);
        }
        let widths = self.widths(&kept, &natural, limit);
        let mut lines = vec![self.head_line(&kept, &widths)];
        for (at, row) in self.rows.iter().enumerate() {
            if self.has_total && at + 1 == self.rows.len() && at > 0 {
                let whole = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
                let mut rule = StyledLine::new();
                rule.repeat(style::DIM, "\u{2500}", whole);
                lines.push(rule);
            }
            lines.push(self.row_line(row, &kept, &widths));
        }
        left.sort_unstable();
        (lines, left.into_iter().map(|c| self.columns[c].head).collect())
    }

    /// Width of a column without shortening.
    fn natural(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|(_, t)| t.width());
        cells.max().unwrap_or(0).max(width(self.columns[column].head))
    }

    /// Minimum width of the table, with all cells shortened.
    fn least(&self, kept: &[usize], natural: &[usize]) -> usize {
        let columns = kept.iter().map(|&c| natural[c].min(self.columns[c].give.least()));
        columns.sum::<usize>() + GAP * kept.len().saturating_sub(1)
    }

    /// Computes the widths of the columns: those that can be shortened share the remaining space.
    fn widths(&self, kept: &[usize], natural: &[usize], limit: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = kept.iter().map(|&c| natural[c]).collect();
        let gaps = GAP * kept.len().saturating_sub(1);
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(limit);
        while over > 0 {
            let givers = kept.iter().zip(widths.iter_mut());
            let widest = givers
                .filter(|(c, w)| **w > self.columns[**c].give.least())
                .max_by_key(|(_, w)| **w);
            let Some((_, widest)) = widest else { break };
            *widest -= 1;
            over -= 1;
        }
        widths
    }

    fn head_line(&self, kept: &[usize], widths: &[usize]) -> StyledLine {
        let cells = kept.iter().map(|&c| (style::DIM, self.columns[c].head.into()));
        self.cells_line(cells, kept, widths)
    }

    fn row_line(&self, row: &[StyledCell], kept: &[usize], widths: &[usize]) -> StyledLine {
        let cells = kept.iter().filter_map(|&c| row.get(c).cloned());
        self.cells_line(cells, kept, widths)
    }

    fn cells_line(
        &self,
        cells: impl Iterator<Item = StyledCell>,
        kept: &[usize],
        widths: &[usize],
    ) -> StyledLine {
        let mut line = StyledLine::new();
        let mut start = 0;
        for (((tone, text), &c), &w) in cells.zip(kept).zip(widths) {
            let column = &self.columns[c];
            let text = match column.give {
                Give::Never => text,
                Give::End => text.cut(w),
                Give::Start => text.cut_path(w),
            };
            line.pad(match column.align {
                Align::Left => start,
                Align::Right => start + w.saturating_sub(text.width()),
            });
            line.push(tone, text);
            start += w + GAP;
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_redact::Redactor;

    fn table() -> TerminalTable {
        let mut table = TerminalTable::new(vec![
            TableColumn::words("file").gives(Give::Start),
            TableColumn::words("kind").leaves(2),
            TableColumn::numbers("n").leaves(1),
        ]);
        let cell = |text: &str| (style::PLAIN, Redactor::new(true).apply(text));
        table.row(vec![cell(&"x".repeat(60)), cell("some kind"), cell("12345")]);
        table
    }

    #[test]
    fn paths_give_way_before_columns_leave() {
        let table = table();
        let natural: Vec<usize> = (0..3).map(|c| table.natural(c)).collect();
        assert_eq!(natural, [60, 9, 5]);
        assert_eq!(table.widths(&[0, 1, 2], &natural, 50), [32, 9, 5]);
        assert_eq!(table.least(&[0, 1, 2], &natural), 24 + 2 + 9 + 2 + 5);
        assert_eq!(table.widths(&[0, 1], &natural, 20), [24, 9]);
    }

    #[test]
    fn a_cell_is_measured_as_it_will_be_shown() {
        let mut table = TerminalTable::new(vec![TableColumn::words("a")]);
        table.row(vec![(style::PLAIN, "a\tb\u{1b}[1m".into())]);
        assert_eq!(table.natural(0), 6);
    }
}
