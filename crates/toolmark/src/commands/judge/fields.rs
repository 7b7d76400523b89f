//! `toolmark judge fields` and `toolmark judge rubrics`: lists the fields that a rubric can use,
//! and the built-in rubrics.

use crate::exit::Exit;
use crate::printer::{Printer, StyledLine, style};
use clap::Args;
use toolmark_app::Stop;
use toolmark_outcome::judging::{BUILT_IN, FIELDS};
use toolmark_redact::{Printable, printable};

/// List the fields that a rubric can show to the judge
#[derive(Debug, Args)]
pub(super) struct FieldsCommand {}

impl FieldsCommand {
    pub(super) fn run(&self, printer: &mut Printer) -> Result<Exit, Stop> {
        for field in FIELDS {
            let aliases: Vec<Printable> = field.aliases.iter().map(|word| (*word).into()).collect();
            let aliases = match aliases.as_slice() {
                [] => Printable::default(),
                aliases => printable!(" (also {})", Printable::join(aliases, ", ")),
            };
            let of_call = if field.of_call { " [of a call]" } else { "" };
            let (name, summary) = (field.name, field.summary);
            let words = printable!("{:<22} {}{}{}", name, summary, of_call, aliases);
            printer.line(&StyledLine::of(style::PLAIN, words))?;
        }
        Ok(Exit::Ok)
    }
}

/// List the built-in rubrics
#[derive(Debug, Args)]
pub(super) struct Rubrics {}

impl Rubrics {
    pub(super) fn run(&self, printer: &mut Printer) -> Result<Exit, Stop> {
        for rubric in BUILT_IN {
            let words = printable!("{:<26} {}", rubric.name, rubric.summary);
            printer.line(&StyledLine::of(style::PLAIN, words))?;
        }
        Ok(Exit::Ok)
    }
}
