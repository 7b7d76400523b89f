//! The findings of `toolmark lint`: printed immediately for people, collected until the end for
//! programs.

use crate::diagnostics::print_failure;
use crate::human;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::ValueEnum;
use std::io;
use toolmark_app::grade::spec;
use toolmark_app::lint::{LintRemark, lint_problem};
use toolmark_base::ReadFileError;
use toolmark_config::{Problem, SourceText};
use toolmark_redact::printable;
use toolmark_report::lint::{LintLevel, LintProblem, LintReport};
use toolmark_report::{ReportError, ReportOptions};

/// Output format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    Text,
    Json,
    Sarif,
}

/// The findings so far.
pub(crate) struct LintFindings<'p> {
    format: LintFormat,
    printer: &'p mut Printer,
    kept: Vec<LintProblem>,
    errors: usize,
    warnings: usize,
    /// Number of the errors that are files which could not be read.
    pub(crate) unread: usize,
}

impl<'p> LintFindings<'p> {
    pub(crate) fn new(format: LintFormat, printer: &'p mut Printer) -> Self {
        Self { format, printer, kept: Vec::new(), errors: 0, warnings: 0, unread: 0 }
    }

    /// Adds the problems of a file.
    pub(crate) fn add(&mut self, source: &SourceText, problems: &[Problem]) -> io::Result<()> {
        let errors = problems.iter().filter(|problem| problem.is_error()).count();
        self.errors += errors;
        self.warnings += problems.len() - errors;
        if self.format != LintFormat::Text {
            let redactor = self.printer.redactor;
            self.kept
                .extend(problems.iter().map(|problem| lint_problem(source, problem, redactor)));
            return Ok(());
        }
        spec::report_problems(self.printer, source, problems)
    }

    /// Adds a spec that could not be read.
    pub(crate) fn add_unread(&mut self, error: ReadFileError) -> io::Result<()> {
        self.errors += 1;
        self.unread += 1;
        if self.format == LintFormat::Text {
            return print_failure(self.printer, &error.into());
        }
        let source = SourceText::new(error.path.to_string_lossy(), "");
        self.kept.push(lint_problem(&source, &Problem::from(&error), self.printer.redactor));
        Ok(())
    }

    /// Adds remarks about places of a spec.
    pub(crate) fn add_remarks(&mut self, remarks: &[LintRemark]) -> io::Result<()> {
        remarks.iter().try_for_each(|remark| self.add_remark(remark))
    }

    fn add_remark(&mut self, remark: &LintRemark) -> io::Result<()> {
        let LintRemark { place, level, code, words, help } = remark;
        let (level, code, help) = (*level, *code, help.as_deref());
        match level {
            LintLevel::Error => self.errors += 1,
            LintLevel::Warning => self.warnings += 1,
            LintLevel::Note => {}
        }
        let printer = &mut *self.printer;
        let file = printer.redactor.name(place.file.clone());
        if self.format != LintFormat::Text {
            self.kept.push(LintProblem {
                file,
                line: Some(place.line),
                column: Some(place.column),
                end_line: None,
                end_column: None,
                code,
                severity: level,
                message: printer.redact(words.as_str()),
                help: help.map(|help| printer.redact(help)),
                notes: Vec::new(),
            });
            return Ok(());
        }
        if printer.verbosity == Verbosity::Quiet {
            return Ok(());
        }
        let mut line = StyledLine::of(style::WARN.bold(), printable!("warning[{}]", code))
            .with(style::PLAIN, ": ")
            .with(style::STRONG, printable!("{}:{}:{}: ", file, place.line, place.column))
            .with(style::PLAIN, printer.redact(words.as_str()));
        if let Some(help) = help {
            line.push(style::DIM, printer.redact(format!(" ({help})")));
        }
        printer.notice(&line)
    }

    /// Prints the totals; returns the numbers of errors and warnings.
    pub(crate) fn finish(self, specs: usize) -> Result<(usize, usize), toolmark_app::Stop> {
        let Self { format, printer, kept, errors, warnings, .. } = self;
        let report = LintReport {
            specs: specs as u64,
            errors: errors as u64,
            warnings: warnings as u64,
            problems: kept,
        };
        match format {
            LintFormat::Json => printer.json(&report)?,
            LintFormat::Sarif => {
                let mut out = printer.sink()?;
                report.write_sarif(&ReportOptions::default(), &mut out).map_err(
                    |error| match error {
                        ReportError::Write(error) => error,
                        ReportError::Json(error) => error.into(),
                    },
                )?;
                io::Write::flush(&mut out)?;
            }
            LintFormat::Text if printer.verbosity > Verbosity::Quiet => {
                let counts = printable!(
                    "{}: {}, {}",
                    human::things(report.specs, "spec"),
                    human::things(report.errors, "error"),
                    human::things(report.warnings, "warning")
                );
                let tone = if errors > 0 { style::BAD } else { style::PLAIN };
                printer.line(&StyledLine::of(tone, counts))?;
            }
            LintFormat::Text => {}
        }
        Ok((errors, warnings))
    }
}
