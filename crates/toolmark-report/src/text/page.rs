//! The output page of all terminal reports.

use crate::terminal::StyledLine;
use crate::terminal::text::TextLayout;
use crate::{ReportOptions, Verbosity};
use anstyle::Style;
use std::io::{self, Write};
use toolmark_outcome::Printable;

/// Minimum line width, even on narrower terminals.
const NARROWEST: usize = 40;

/// The lines of a report, wrapped to the width of the terminal.
pub(super) struct TextPage<'o> {
    pub(super) options: &'o ReportOptions,
    pub(super) width: usize,
    pub(super) out: String,
}

impl<'o> TextPage<'o> {
    pub(super) fn new(options: &'o ReportOptions) -> Self {
        Self { options, width: options.width.max(NARROWEST), out: String::new() }
    }

    pub(super) fn is(&self, verbosity: Verbosity) -> bool {
        self.options.verbosity == verbosity
    }

    pub(super) fn line(&mut self, line: StyledLine) {
        let line = line.fit(self.width);
        if self.options.colour {
            line.write_ansi(&mut self.out);
        } else {
            line.write_plain(&mut self.out);
        }
        self.out.push('\n');
    }

    /// Writes the lines so far, except trailing line breaks, which determine the next gap.
    pub(super) fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let text = self.out.trim_end_matches('\n').len();
        out.write_all(self.out.get(..text).unwrap_or_default().as_bytes())?;
        self.out.drain(..text);
        Ok(())
    }

    /// Adds an empty line, unless the page is empty or already ends with one.
    pub(super) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Writes text over as many lines as needed, the first after a prefix.
    pub(super) fn words(
        &mut self,
        indent: usize,
        lead: (Style, impl Into<Printable>),
        style: Style,
        words: &Printable,
    ) {
        let (lead_style, lead) = (lead.0, lead.1.into());
        let taken = indent + lead.width();
        let room = self.width.saturating_sub(taken);
        let mut first = true;
        for text in words.each_line().iter().filter(|line| !line.trim().is_empty()) {
            for piece in text.reshape(str::trim_end).wrap(room) {
                let mut line = StyledLine::indent(indent);
                if first {
                    line.push(lead_style, &lead);
                }
                line.pad(taken);
                line.push(style, &piece);
                self.line(line);
                first = false;
            }
        }
    }

    /// Writes text over as many lines as needed, each indented.
    pub(super) fn wrapped(&mut self, indent: usize, tone: Style, text: &Printable) {
        for part in text.wrap(self.width.saturating_sub(indent)) {
            self.line(StyledLine::indent(indent).with(tone, part));
        }
    }
}
