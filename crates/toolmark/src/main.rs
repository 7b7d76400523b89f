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
use cli::{Cli, CliCommand};
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

fn run(command: CliCommand, printer: &mut Printer) -> Result<Exit, Stop> {
    let exit = match command {
        CliCommand::Show(show) => show.run(printer),
        CliCommand::Stats(stats) => stats.run(printer),
        CliCommand::Trend(trend) => trend.run(printer),
        CliCommand::Prices(prices) => prices.run(printer),
        CliCommand::Convert(convert) => convert.run(printer),
        CliCommand::Check(check) => check.run(printer),
        CliCommand::Feed(feed) => feed.run(printer),
        CliCommand::Serve(serve) => serve.run(printer),
        CliCommand::Mcp(mcp) => mcp.run(printer),
        CliCommand::Rules(rules) => rules.run(printer),
        CliCommand::Grade(grade) => grade.run(printer),
        CliCommand::Run(run) => run.run(printer),
        CliCommand::Runs(runs) => runs.run(printer),
        CliCommand::Compare(compare) => compare.run(printer),
        CliCommand::Lint(lint) => lint.run(printer),
        CliCommand::Mine(mine) => mine.run(printer),
        CliCommand::Judge(judge) => judge.run(printer),
        CliCommand::Guard(guard) => guard.run(printer),
        CliCommand::Init(init) => init.run(printer),
        CliCommand::Graders(graders) => graders.run(printer),
        CliCommand::Schema(schema) => schema.run(printer),
        CliCommand::Formats(formats) => formats.run(printer),
        CliCommand::Completions(completions) => completions.run(printer),
        CliCommand::Man(man) => man.run(printer),
        CliCommand::Help(help) => help.run(printer),
    }?;
    printer.flush()?;
    Ok(exit)
}
