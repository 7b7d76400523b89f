//! `toolmark serve`: shows every session as it happens, on a web page.

mod demo;
mod evaluate;
pub(crate) mod evaluators;
mod lent;

use crate::args::ValueError;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeArgs;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::{Args, Subcommand};
use jiff::SignedDuration;
use lent::Lent;
use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_app::Stop;
use toolmark_app::feed::read_decisions;
use toolmark_app::sessions;
use toolmark_base::{ReadFileError, read_file};
use toolmark_redact::printable;
use toolmark_run::store::RUNS;
use toolmark_serve::{AccessTokens, Folder, Listen, Ready, ServeError, ServerOptions, Tls};

/// Maximum size of a file of tokens, in bytes.
const MAX_TOKENS: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  toolmark serve                              the sessions of all agents on this machine
  toolmark serve --demo                       the samples, to have a look around
  toolmark serve --watch runs/ --watch ~/agents/sessions
  toolmark serve --ui 127.0.0.1:0             a free port; the address is printed
  toolmark serve --export parquet out/        sessions, calls and evaluations as tables
  toolmark serve --ingest-key 'ci deny=Bash'  calls of Bash under this key are reported
  toolmark serve evaluate                     evaluators over what is stored
  toolmark serve --ui 0.0.0.0:4319 --token-file tokens --tls-cert c.pem --tls-key k.pem

Telemetry of Claude Code:
  CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/json \\
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 OTEL_LOG_TOOL_DETAILS=1 claude

A file of tokens has one per line, with what it allows: `TOKEN read,write`,
`TOKEN ingest name=ci deny=Bash,WebFetch`. A token without a scope may do everything.
It stops on Ctrl-C and on SIGTERM, and loses nothing it has acknowledged.";

/// Default address for telemetry.
const HTTP: &str = "127.0.0.1:4318";
const GRPC: &str = "127.0.0.1:4317";

/// Watch session folders, receive telemetry, and show both on a page
///
/// Nothing leaves this machine. Sessions are read from the files that agents write; OpenTelemetry
/// is received too. The rules of `toolmark check` are applied to both, and failures are grouped as
/// in `toolmark feed`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Serve {
    #[command(subcommand)]
    command: Option<ServeAction>,
    /// Folder of sessions to watch; may be given several times [default: those of all agents]
    #[arg(long, value_name = "DIR")]
    watch: Vec<PathBuf>,
    /// Folder of runs of `toolmark run`; may be given several times [default: .toolmark/runs]
    #[arg(long, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// Address of the page and the API
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4319")]
    ui: SocketAddr,
    /// Address for OTLP over HTTP, or `off` [default: 127.0.0.1:4318]
    #[arg(long, value_name = "ADDRESS", value_parser = receiver)]
    http: Option<Receiver>,
    /// Address for OTLP over gRPC, or `off` [default: 127.0.0.1:4317]
    #[arg(long, value_name = "ADDRESS", value_parser = receiver)]
    grpc: Option<Receiver>,
    /// File of the store [default: serve.db in the data directory of the user]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// File of decisions about issues [default: beside the store]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Delete data older than this, such as 90d
    #[arg(long, value_name = "AGE", value_parser = age)]
    retention: Option<SignedDuration>,
    /// File of tokens; needed for addresses that others can reach
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Name of a key that telemetry comes under, with the tools its agents may use, such as
    /// `ci allow=Read,Grep` or `docs deny=Bash,mcp__*`; may be given several times
    #[arg(long, value_name = "KEY")]
    ingest_key: Vec<String>,
    /// File with a `serve:` section, which selects evaluators [default: toolmark.yaml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Certificate of the server, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Serve others without TLS, for example behind a proxy that has it
    #[arg(long)]
    insecure: bool,
    /// Answer agents over MCP at /mcp of the page's address, as `toolmark mcp` does
    #[arg(long)]
    mcp: bool,
    /// Export the store to a directory, and serve nothing
    #[arg(long, num_args = 2, value_names = ["FORMAT", "DIR"])]
    export: Option<Vec<String>>,
    /// Show the samples, in a store that is deleted at the end
    #[arg(long, conflicts_with_all = ["watch", "db"])]
    demo: bool,
}

#[derive(Debug, Subcommand)]
enum ServeAction {
    Evaluate(evaluate::Evaluate),
}

/// Address for telemetry, or off.
#[derive(Debug, Clone, Copy)]
enum Receiver {
    At(SocketAddr),
    Off,
}

fn receiver(text: &str) -> Result<Receiver, ValueError> {
    if text == "off" {
        return Ok(Receiver::Off);
    }
    let address = text.parse().map(Receiver::At);
    address.map_err(|_| ValueError::Syntax("write an address and a port, or off"))
}

fn age(text: &str) -> Result<SignedDuration, ValueError> {
    let expected = "write a number and a unit, such as 90d";
    toolmark_serve::duration(text).ok_or(ValueError::Syntax(expected))
}

fn listen(given: Option<Receiver>, usual: &str) -> Option<Listen> {
    match given {
        Some(Receiver::Off) => None,
        Some(Receiver::At(address)) => Some(Listen { address, is_required: true }),
        // Another collector may have the usual port; sessions are read all the same.
        None => Some(Listen { address: usual.parse().ok()?, is_required: false }),
    }
}

/// Accepts every file: any file in a folder that the user names may be a session.
fn any_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    (!name.starts_with("agent-")).then(|| name.to_owned())
}

impl Serve {
    pub(crate) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(ServeAction::Evaluate(evaluate)) = self.command.take() {
            return evaluate.run(printer);
        }
        let demo = self.demo.then(demo::write).transpose();
        let demo = demo.map_err(|error| {
            Failure::unread("failed to write the samples to a temporary directory").because(&error)
        })?;
        let db = match (&demo, &self.db) {
            (Some(demo), _) => demo.path().join("serve.db"),
            (None, Some(db)) => {
                check_store(db)?;
                db.clone()
            }
            (None, None) => default_store()?,
        };
        if let Some(export) = &self.export {
            return run_export(export, &db, printer);
        }
        let mut options = ServerOptions::new(db, Arc::new(Lent::new()));
        options.folders = match &demo {
            Some(demo) => folders(&[demo.path().join("sessions")]),
            None if self.watch.is_empty() => of_agents(),
            None => folders(&self.watch),
        };
        if let Some(state) = &self.state {
            read_decisions(state)?;
            options.state.clone_from(state);
        }
        options.runs = if self.runs.is_empty() { vec![RUNS.into()] } else { self.runs.clone() };
        options.ui = self.ui;
        options.http = listen(self.http, HTTP);
        options.grpc = listen(self.grpc, GRPC);
        options.retention = self.retention;
        options.is_insecure = self.insecure;
        options.is_demo = self.demo;
        options.has_mcp = self.mcp;
        options.redactor = printer.redactor;
        options.tls = self
            .tls_cert
            .clone()
            .zip(self.tls_key.clone())
            .map(|(certificate, key)| Tls { certificate, key });
        if let Some(file) = &self.token_file {
            options.tokens = tokens(file)?;
        }
        for key in &self.ingest_key {
            options.tokens.add_key(key).map_err(|problem| {
                Failure::usage(format!("--ingest-key {key}: {problem}"))
                    .hint("write a name, and allow= or deny= with names of tools")
            })?;
        }
        options.tags = evaluators::open(self.config.as_deref(), &JudgeArgs::default(), printer)?;
        let watched = options.folders.iter().filter(|folder| folder.path.exists()).count();
        let is_loud = printer.verbosity > Verbosity::Quiet;
        let mut said = Ok(());
        let served = toolmark_serve::serve(options, |ready| {
            said = say(ready, watched, is_loud, printer);
        });
        said?;
        served.map_err(failure)?;
        Ok(Exit::Ok)
    }
}

/// Runs `--export parquet DIR`.
fn run_export(export: &[String], db: &Path, printer: &mut Printer) -> Result<Exit, Stop> {
    let [format, to] = export else { return Err(Failure::usage("--export FORMAT DIR").into()) };
    if format != "parquet" {
        let failure = Failure::usage(format!("unknown format {format}"));
        return Err(failure.hint("the format is parquet").into());
    }
    let files = toolmark_serve::export_parquet(db, Path::new(to))
        .map_err(|error| Failure::usage("failed to export the store").because(&error))?;
    for file in files {
        printer.line(&StyledLine::of(style::PLAIN, printer.redact(file.to_string_lossy())))?;
    }
    Ok(Exit::Ok)
}

/// Prints the addresses and folders.
fn say(ready: &Ready, watched: usize, is_loud: bool, printer: &mut Printer) -> std::io::Result<()> {
    let scheme = if ready.is_tls { "https" } else { "http" };
    let line = StyledLine::of(style::STRONG, printer.redact(format!("{scheme}://{}", ready.ui)));
    printer.line(&line)?;
    if is_loud {
        let at = |address: Option<SocketAddr>| match address {
            Some(address) => printer.redact(address.to_string()),
            None => printable!("off"),
        };
        let words = printable!(
            "watching {}; OTLP over HTTP {}, over gRPC {}; Ctrl-C ends it",
            crate::human::things(watched as u64, "folder"),
            at(ready.http),
            at(ready.grpc),
        );
        printer.notice(&StyledLine::of(style::DIM, words))?;
        for problem in &ready.problems {
            let words = printer.redact(format!("note: {problem}"));
            printer.notice(&StyledLine::of(style::WARN, words))?;
        }
    }
    printer.flush()
}

fn failure(error: ServeError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        ServeError::Read(error) => error.into(),
        ServeError::Store(_) => failure.hint("--db names another file"),
        ServeError::Listen { .. } => {
            failure.hint("another program has the port; choose one, or 0 for any")
        }
        ServeError::Exposed { .. } => failure.hint("127.0.0.1 is only reached from this machine"),
        _ => failure,
    }
}

/// Session folders of all agents.
pub(super) fn of_agents() -> Vec<Folder> {
    let folder = |place: sessions::SessionLocation| Folder {
        path: place.path,
        host: Some(place.agent),
        session: place.id,
    };
    sessions::places().into_iter().map(folder).collect()
}

/// Folders named by the user.
pub(super) fn folders(paths: &[PathBuf]) -> Vec<Folder> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let folder = |path| Folder { path: absolute(path), host: None, session: any_file };
    paths.iter().map(folder).collect()
}

fn tokens(file: &Path) -> Result<AccessTokens, Failure> {
    let text = read_file::read_text(file, MAX_TOKENS)?;
    AccessTokens::parse(&text).map_err(|problem| {
        Failure::usage(format!("the tokens in {} are invalid", file.display())).because(&problem)
    })
}

/// Checks that the file of a store can be read, if it exists: SQLite does not name the reason.
pub(super) fn check_store(db: &Path) -> Result<(), ReadFileError> {
    match read_file::open(db) {
        Err(error) if !error.is_missing() => Err(error),
        _ => Ok(()),
    }
}

/// Path of the user's store; creates its directory if it is missing.
pub(super) fn default_store() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let home = || env::home_dir().map(|home| home.join(".local/share"));
    let data = data.or_else(home).ok_or_else(|| {
        Failure::usage("the home directory is not known").hint("set HOME, or name a file with --db")
    })?;
    let folder = data.join("toolmark");
    fs::create_dir_all(&folder).map_err(|error| Failure::write(&folder, &error))?;
    Ok(folder.join("serve.db"))
}
