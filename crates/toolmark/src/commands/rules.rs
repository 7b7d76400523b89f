//! `toolmark rules`: lists the rules of `toolmark check`.

use crate::args::TextFormat;
use crate::exit::Exit;
use crate::printer::{Printer, StyledLine, style};
use crate::text::width;
use clap::Args;
use serde::Serialize;
use std::io;
use toolmark_app::Stop;
use toolmark_app::check::unknown;
use toolmark_check::{RULES, Rule, rule_by_code};
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark rules                    all of them, by axis
  toolmark rules S101               one of them in detail
  toolmark rules --format json | jq -r '.[].code'";

/// List the rules of `toolmark check`, or explain one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RulesCommand {
    /// Show this rule in detail
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
}

/// A rule in the JSON output.
#[derive(Serialize)]
struct RuleListing {
    code: &'static str,
    name: &'static str,
    axis: Axis,
    severity: Severity,
    confidence: Confidence,
    /// Whether the rule runs only if it is selected by its code or name.
    preview: bool,
    summary: &'static str,
    remedy: &'static str,
    page: String,
}

impl RuleListing {
    fn new(rule: &Rule) -> Self {
        Self {
            code: rule.code,
            name: rule.name,
            axis: rule.axis,
            severity: rule.severity,
            confidence: rule.confidence,
            preview: rule.is_preview(),
            summary: rule.summary,
            remedy: rule.remedy,
            page: rule.page(),
        }
    }
}

impl RulesCommand {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match (self.format, &self.code) {
            (TextFormat::Text, None) => list(printer)?,
            (TextFormat::Text, Some(code)) => explain(code, printer)?,
            (TextFormat::Json, code) => {
                let rules: Vec<&Rule> = match code {
                    None => RULES.to_vec(),
                    Some(code) => vec![rule_by_code(code).ok_or_else(|| unknown(code))?],
                };
                let all: Vec<RuleListing> =
                    rules.iter().map(|rule| RuleListing::new(rule)).collect();
                printer.json(&all)?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn list(printer: &mut Printer) -> io::Result<()> {
    let column = RULES.iter().map(|rule| width(rule.name)).max().unwrap_or(0);
    let mut is_first = true;
    for axis in Axis::ALL {
        let rules: Vec<_> = RULES.iter().filter(|rule| rule.axis == *axis).collect();
        if rules.is_empty() {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            printer.line(&StyledLine::new())?;
        }
        printer.line(&StyledLine::of(style::STRONG, axis.word()))?;
        for rule in rules {
            let mut line = StyledLine::of(style::USER, printable!("  {}", rule.code));
            line.push(style::PLAIN, printable!("  {}", rule.name));
            line.pad(column + 10);
            line.push(style::DIM, rule.severity.word());
            line.pad(column + 19);
            line.push(style::PLAIN, rule.summary);
            if rule.is_preview() {
                line.push(style::DIM, " (preview)");
            }
            printer.line(&line.fit(printer.width()))?;
        }
    }
    Ok(())
}

/// Prints the page of a rule.
pub(crate) fn explain(code: &str, printer: &mut Printer) -> Result<(), Stop> {
    let rule = rule_by_code(code).ok_or_else(|| unknown(code))?;
    let mut head = StyledLine::of(style::STRONG, printable!("{} {}", rule.code, rule.name));
    let words = printable!("  {}, {}, {} confidence", rule.axis, rule.severity, rule.confidence);
    head.push(style::DIM, words);
    if rule.is_preview() {
        head.push(style::DIM, ", preview: runs only where it is selected");
    }
    printer.line(&head)?;
    printer.line(&StyledLine::new())?;
    printer.markdown(&rule.page())?;
    Ok(())
}
