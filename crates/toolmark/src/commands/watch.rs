//! `--watch`: a command is run again whenever one of its files changes.

use crate::exit::Exit;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_redact::printable;

/// Runs the same command line without `--watch`, at once and after every change.
pub(crate) fn watch(paths: &[PathBuf], printer: &mut Printer) -> Result<Exit, Stop> {
    let arguments: Vec<_> = std::env::args_os().skip(1).filter(|arg| arg != "--watch").collect();
    toolmark_app::watch::watch(paths, &arguments, |files| {
        if printer.verbosity > Verbosity::Quiet {
            let words = printable!("watching {} files; Ctrl-C ends", files);
            printer.notice(&StyledLine::of(style::DIM, words))?;
        }
        printer.flush()
    })?;
    Ok(Exit::Ok)
}
