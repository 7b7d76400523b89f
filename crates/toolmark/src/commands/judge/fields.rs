//! `toolmark judge fields` and `toolmark judge rubrics`: what a rubric can be
//! shown, and the rubrics that are there.

use crate::Stop;
use crate::exit::Exit;
use crate::printer::{Line, Printer, style};
use clap::Args;
use toolmark_outcome::judging::{BUILT_IN, FIELDS};

/// List the fields that a rubric can show to the judge
#[derive(Debug, Args)]
pub(super) struct Fields {}

impl Fields {
    pub(super) fn run(&self, printer: &mut Printer) -> Result<Exit, Stop> {
        for field in FIELDS {
            let aliases = match field.aliases {
                [] => String::new(),
                aliases => format!(" (also {})", aliases.join(", ")),
            };
            let of_call = if field.of_call { " [of a call]" } else { "" };
            let words = format!("{:<22} {}{of_call}{aliases}", field.name, field.summary);
            printer.line(&Line::of(style::PLAIN, &words))?;
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
            let words = format!("{:<26} {}", rubric.name, rubric.summary);
            printer.line(&Line::of(style::PLAIN, &words))?;
        }
        Ok(Exit::Ok)
    }
}
