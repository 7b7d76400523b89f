//! `toolmark mcp`: serves recurring failures to an agent over MCP.

use super::serve;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use clap::Args;
use std::io;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::feed::read_decisions;
use toolmark_serve::{McpOptions, mcp};

const EXAMPLES: &str = "\
Examples:
  claude mcp add toolmark -- toolmark mcp       Claude Code
  codex mcp add toolmark -- toolmark mcp        Codex
  toolmark mcp --watch runs/                    only these sessions";

/// Serve recurring failures and their fixes to an agent over MCP
///
/// Speaks the Model Context Protocol on stdin and stdout. It reads the same folders and uses the
/// same store as `toolmark serve`, which need not be running.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct McpCommand {
    /// Folder of sessions to read; may be given several times [default: those of all agents]
    #[arg(long, value_name = "DIR")]
    watch: Vec<PathBuf>,
    /// File of the store [default: serve.db in the data directory of the user]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// File of decisions about issues [default: beside the store]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

impl McpCommand {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(db) = &self.db {
            serve::check_store(db)?;
        }
        if let Some(state) = &self.state {
            read_decisions(state)?;
        }
        let db = self.db.map_or_else(serve::default_store, Ok)?;
        let state = self.state.unwrap_or_else(|| toolmark_serve::state_beside(&db));
        let folders = match self.watch.is_empty() {
            true => serve::of_agents(),
            false => serve::folders(&self.watch),
        };
        let options = McpOptions { db, state, folders, redactor: printer.redactor };
        mcp(options, io::stdin().lock(), io::stdout().lock())
            .map_err(|error| Failure::usage(error.to_string()).hint("--db names another file"))?;
        Ok(Exit::Ok)
    }
}
