//! `toolmark` reads traces of AI agents and checks their tool calls.
//!
//! The binary is thin: it turns a command line into calls of the libraries and prints their
//! results. Each command is one file in `commands/`.

#![forbid(unsafe_code)]

mod args;
mod book;
mod cli;
mod commands;
mod completing;
mod diagnostics;
mod exit;
mod grading;
mod judging;
mod pricing;
mod printer;
mod progress;
mod running;

use clap::Parser;
use cli::{Cli, Command};
use exit::{Exit, Failure};
use printer::Printer;
use std::io;
use std::process::ExitCode;
use toolmark_app::{Stop, guard as guarding, inputs, reading};
use toolmark_report::terminal::{human, text};

/// The commands run long and allocate much memory. The hook does neither; it is a separate program
/// with the system allocator.
#[global_allocator]
static ALLOCATOR: toolmark_scan::Allocator = toolmark_scan::Allocator;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(code) = toolmark_process::supervise_if_asked() {
        return code;
    }
    // A hook runs before every call of an agent: nothing slow comes before it.
    let args: Vec<_> = std::env::args_os().take(5).collect();
    if let Some(code) = commands::guard::at_once(&args) {
        return code;
    }
    completing::answer_if_asked();
    let cli = Cli::parse();
    toolmark_process::enable_supervisor();
    let mut printer = cli.output.printer();
    let exit = match run(cli.command, &mut printer) {
        Ok(exit) => exit,
        Err(Stop::Failure(failure)) => {
            let _ = diagnostics::print_failure(&mut printer, &failure);
            failure.kind.into()
        }
        // The reader of the output has closed it (`| head`).
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
        Err(Stop::Output(error)) => {
            let failure = Failure::unread("failed to write the output").because(&error);
            let _ = diagnostics::print_failure(&mut printer, &failure);
            failure.kind.into()
        }
    };
    exit.into()
}

fn run(command: Command, printer: &mut Printer) -> Result<Exit, Stop> {
    let exit = match command {
        Command::Show(show) => show.run(printer),
        Command::Stats(stats) => stats.run(printer),
        Command::Trend(trend) => trend.run(printer),
        Command::Prices(prices) => prices.run(printer),
        Command::Convert(convert) => convert.run(printer),
        Command::Check(check) => check.run(printer),
        Command::Feed(feed) => feed.run(printer),
        Command::Serve(serve) => serve.run(printer),
        Command::Mcp(mcp) => mcp.run(printer),
        Command::Rules(rules) => rules.run(printer),
        Command::Grade(grade) => grade.run(printer),
        Command::Run(run) => run.run(printer),
        Command::Runs(runs) => runs.run(printer),
        Command::Compare(compare) => compare.run(printer),
        Command::Lint(lint) => lint.run(printer),
        Command::Mine(mine) => mine.run(printer),
        Command::Judge(judge) => judge.run(printer),
        Command::Guard(guard) => guard.run(printer),
        Command::Init(init) => init.run(printer),
        Command::Graders(graders) => graders.run(printer),
        Command::Schema(schema) => schema.run(printer),
        Command::Formats(formats) => formats.run(printer),
        Command::Completions(completions) => completions.run(printer),
        Command::Man(man) => man.run(printer),
        Command::Help(help) => help.run(printer),
    }?;
    printer.flush()?;
    Ok(exit)
}
