//! The server: starts everything, and ends it in order.

use crate::access::{Access, Tokens};
use crate::api::{self, App, HostStatus, Problem, Receivers};
use crate::evaluate::Evaluator;
use crate::evaluators::{Evaluating, Queue, Tag};
use crate::housekeeping::Housekeeping;
use crate::issues::{Filter, Issues};
use crate::library::Library;
use crate::listen::{Acceptor, listener, tls_acceptor};
use crate::live::Hub;
use crate::model::Time;
use crate::otlp::units::Units;
use crate::otlp::{Limits, Receiver, grpc, http};
use crate::store::{Store, StoreError};
use crate::watch::{Folder, FolderState, Watch};
use axum::Router;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use toolmark_check::promote::Case;
use toolmark_guard::Guard;
use toolmark_redact::Redactor;

/// Answers that are under way get so long to end.
const DRAIN: Duration = Duration::from_secs(5);

/// So many questions that read files or the store are answered at once; others wait.
const MAX_BLOCKING: usize = 16;

/// A thread that answered gives what it allocated back after so long.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// What other commands of toolmark do, for the page.
pub trait Commands: Send + Sync {
    /// The log of the guard.
    fn guard_log(&self) -> Option<PathBuf> {
        None
    }

    /// Where the guard is installed.
    fn guard_status(&self) -> Vec<HostStatus> {
        Vec::new()
    }

    /// The guard with another policy, written in YAML.
    fn guard_with(&self, _policy: &str) -> Result<Guard, String> {
        Err("policies cannot be read here".to_owned())
    }

    /// What changed between two runs.
    fn compare(&self, _a: &Path, _b: &Path, _redactor: Redactor) -> Result<Value, String> {
        Err("runs cannot be compared here".to_owned())
    }

    /// Writes cases to a directory.
    fn write_cases(&self, _cases: &[Case], _to: &Path, _redactor: Redactor) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// An address to listen at.
#[derive(Debug, Clone, Copy)]
pub struct Listen {
    /// The address; port 0 for any.
    pub address: SocketAddr,
    /// Does the server refuse to start where the address is taken?
    pub is_required: bool,
}

/// The certificate and the key of the server, as PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate with its chain.
    pub certificate: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// What is served, and where.
#[derive(Clone)]
pub struct Options {
    /// The store.
    pub db: PathBuf,
    /// The file of decisions about issues.
    pub state: PathBuf,
    /// The folders that are watched.
    pub folders: Vec<Folder>,
    /// The directories that runs lie in.
    pub runs: Vec<PathBuf>,
    /// The page and the API.
    pub ui: SocketAddr,
    /// OTLP over HTTP.
    pub http: Option<Listen>,
    /// OTLP over gRPC.
    pub grpc: Option<Listen>,
    /// Who may do what.
    pub tokens: Tokens,
    /// The certificate, where there is one.
    pub tls: Option<Tls>,
    /// May addresses that others reach be served without TLS?
    pub is_insecure: bool,
    /// What is evaluated where it lands, and by whom.
    pub tags: Vec<Tag>,
    /// What is older is deleted.
    pub retention: Option<SignedDuration>,
    /// Does it show samples?
    pub is_demo: bool,
    /// May agents ask over MCP, at `/mcp` of the page's address?
    pub has_mcp: bool,
    /// What hides secrets.
    pub redactor: Redactor,
    /// How large requests may be.
    pub limits: Limits,
    /// What other commands do.
    pub commands: Arc<dyn Commands>,
}

impl Options {
    /// Serves a store on this machine only, at ports the system chooses.
    #[must_use]
    pub fn new(db: PathBuf, commands: Arc<dyn Commands>) -> Self {
        Self {
            state: state_beside(&db),
            db,
            folders: Vec::new(),
            runs: Vec::new(),
            ui: SocketAddr::from(([127, 0, 0, 1], 0)),
            http: None,
            grpc: None,
            tokens: Tokens::default(),
            tls: None,
            is_insecure: false,
            tags: Vec::new(),
            retention: None,
            is_demo: false,
            has_mcp: false,
            redactor: Redactor::new(true),
            limits: Limits::default(),
            commands,
        }
    }
}

/// The file of decisions that belongs to a store.
#[must_use]
pub fn state_beside(db: &Path) -> PathBuf {
    db.with_extension("feed.jsonl")
}

/// The addresses, once they are listened at.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The page and the API.
    pub ui: SocketAddr,
    /// OTLP over HTTP.
    pub http: Option<SocketAddr>,
    /// OTLP over gRPC.
    pub grpc: Option<SocketAddr>,
    /// Are they served over TLS?
    pub is_tls: bool,
    /// What does not work, in words.
    pub problems: Vec<String>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store.
    #[error("failed to open the store: {0}")]
    Store(#[from] StoreError),
    /// An address.
    #[error("failed to listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Others could reach the server.
    #[error("{address} can be reached by others, which needs {needs}")]
    Exposed {
        /// The address.
        address: SocketAddr,
        /// What is missing.
        needs: &'static str,
    },
    /// The certificate.
    #[error("failed to read the certificate: {0}")]
    Tls(String),
    /// Threads or sockets.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Serves until it is told to end (SIGINT, SIGTERM). `ready` gets the addresses.
pub fn serve(options: Options, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    check_exposure(&options)?;
    let acceptor = options.tls.as_ref().map(tls_acceptor).transpose()?;
    let store = Arc::new(Store::open(&options.db)?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(MAX_BLOCKING)
        .thread_keep_alive(KEEP_ALIVE)
        .enable_all()
        .build()?;
    let result = runtime.block_on(run(options, Arc::clone(&store), acceptor, ready));
    // Threads that read a large file are not waited for.
    runtime.shutdown_timeout(DRAIN);
    store.close();
    result
}

fn check_exposure(options: &Options) -> Result<(), ServeError> {
    let addresses =
        [Some(options.ui), options.http.map(|l| l.address), options.grpc.map(|l| l.address)];
    for address in addresses.into_iter().flatten().filter(|one| !one.ip().is_loopback()) {
        let needs = match (options.tokens.is_empty(), options.tls.is_none() && !options.is_insecure)
        {
            (true, _) => "--token-file",
            (_, true) => "--tls-cert and --tls-key, or --insecure behind a proxy that has TLS",
            _ => continue,
        };
        return Err(ServeError::Exposed { address, needs });
    }
    Ok(())
}

async fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
}

/// Listens at an address that may be taken by another collector.
async fn bind_receiver(
    listen: Option<Listen>,
    problems: &mut Vec<String>,
) -> Result<Option<TcpListener>, ServeError> {
    let Some(Listen { address, is_required }) = listen else { return Ok(None) };
    match bind(address).await {
        Ok(bound) => Ok(Some(bound)),
        Err(error) if is_required => Err(error),
        Err(error) => {
            problems.push(format!("{error}; telemetry is not received there"));
            Ok(None)
        }
    }
}

async fn run(
    options: Options,
    store: Arc<Store>,
    acceptor: Option<Acceptor>,
    ready: impl FnOnce(&Ready),
) -> Result<(), ServeError> {
    let mut problems = Vec::new();
    let ui = bind(options.ui).await?;
    let http = bind_receiver(options.http, &mut problems).await?;
    let grpc = bind_receiver(options.grpc, &mut problems).await?;
    let local = |bound: &Option<TcpListener>| bound.as_ref().and_then(|one| one.local_addr().ok());
    let addresses = Ready {
        ui: ui.local_addr()?,
        http: local(&http),
        grpc: local(&grpc),
        is_tls: acceptor.is_some(),
        problems: problems.clone(),
    };
    let (stop_tell, stopping) = watch::channel(false);
    let stop = Arc::new(AtomicBool::new(false));
    let hub = Arc::new(Hub::default());
    let evaluator = Arc::new(Evaluator::new(options.redactor));
    let states = Arc::new(Mutex::new(vec![FolderState::default(); options.folders.len()]));
    let queue = Arc::new(Queue::default());
    let threads = start_threads(&options, &store, &hub, &evaluator, &states, &queue, &stop)?;

    let receiver = Arc::new(Receiver::new(Arc::clone(&store), options.redactor, options.limits));
    let text = |address: Option<SocketAddr>| address.map(|address| address.to_string());
    let since = Time(Timestamp::now());
    let app = Arc::new(App {
        store,
        library: Library::default(),
        issues: Issues::new(options.state.clone()),
        hub,
        redactor: options.redactor,
        access: Access::new(addresses.ui, options.tokens.clone()),
        keys: options.tokens.keys().cloned().collect(),
        folders: options.folders.clone(),
        states,
        runs: options.runs.clone(),
        queue,
        has_evaluators: !options.tags.is_empty(),
        commands: Arc::clone(&options.commands),
        started: since,
        is_demo: options.is_demo,
        has_mcp: options.has_mcp,
        receivers: Receivers {
            http: text(addresses.http),
            grpc: text(addresses.grpc),
            ui: addresses.ui.to_string(),
        },
        problems: problems
            .into_iter()
            .map(|text| Problem { since, text, hint: Some("choose another port".to_owned()) })
            .collect(),
        stopping: stopping.clone(),
    });
    let mut servers = tokio::task::JoinSet::new();
    let mut start = |bound: TcpListener, router: Router| {
        let stopped = stopped(stopping.clone());
        let listener = listener(bound, acceptor.clone());
        servers.spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(stopped).await
        });
    };
    // Whoever looks first does not wait for what was stored before.
    let first = Arc::clone(&app);
    tokio::task::spawn_blocking(move || {
        drop(first.issues.grouped(&first.store, &Filter::default(), first.hub.seq()));
    });
    start(ui, api::router(app));
    if let (Some(bound), Some(address)) = (http, addresses.http) {
        let access = Arc::new(Access::new(address, options.tokens.clone()));
        start(bound, http::router(http::Otlp { receiver: Arc::clone(&receiver), access }));
    }
    if let (Some(bound), Some(address)) = (grpc, addresses.grpc) {
        let access = Arc::new(Access::new(address, options.tokens.clone()));
        start(bound, grpc::router(grpc::Collector { receiver, access }));
    }
    ready(&addresses);
    told_to_end().await;
    let _ = stop_tell.send(true);
    stop.store(true, Ordering::Relaxed);
    let drained = async { while servers.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(DRAIN, drained).await;
    let joined = tokio::task::spawn_blocking(move || {
        threads.into_iter().for_each(|thread| drop(thread.join()));
    });
    let _ = tokio::time::timeout(DRAIN, joined).await;
    Ok(())
}

/// The threads that read, evaluate and clean up.
fn start_threads(
    options: &Options,
    store: &Arc<Store>,
    hub: &Arc<Hub>,
    evaluator: &Arc<Evaluator>,
    states: &Arc<Mutex<Vec<FolderState>>>,
    queue: &Arc<Queue>,
    stop: &Arc<AtomicBool>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    };
    // Without evaluators nobody waits for anything.
    let wanted = (!options.tags.is_empty()).then(|| Arc::clone(queue));
    let watch = Watch {
        folders: options.folders.clone(),
        store: Arc::clone(store),
        evaluator: Arc::clone(evaluator),
        hub: Arc::clone(hub),
        states: Arc::clone(states),
        queue: wanted.clone(),
        retention: options.retention,
        stop: Arc::clone(stop),
    };
    let units = Units {
        store: Arc::clone(store),
        evaluator: Arc::clone(evaluator),
        hub: Arc::clone(hub),
        keys: options.tokens.keys().cloned().collect(),
        queue: wanted,
        stop: Arc::clone(stop),
    };
    let housekeeping = Housekeeping {
        store: Arc::clone(store),
        hub: Arc::clone(hub),
        retention: options.retention,
        guard_log: options.commands.guard_log(),
        runs: options.runs.clone(),
        stop: Arc::clone(stop),
    };
    let evaluating = Evaluating {
        store: Arc::clone(store),
        hub: Arc::clone(hub),
        tags: options.tags.clone().into(),
        queue: Arc::clone(queue),
        redactor: options.redactor,
        stop: Arc::clone(stop),
    };
    Ok(vec![
        spawn("evaluators", Box::new(move || evaluating.run()))?,
        spawn("watch", Box::new(move || watch.run()))?,
        spawn("telemetry", Box::new(move || units.run()))?,
        spawn("housekeeping", Box::new(move || housekeeping.run()))?,
    ])
}

async fn stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stops| *stops).await;
}

/// Waits for the signal to end.
async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;
    impl Commands for Nothing {}

    #[test]
    fn others_need_a_token_and_tls() {
        let mut options = Options::new("x.db".into(), Arc::new(Nothing));
        assert!(check_exposure(&options).is_ok());
        options.http = Some(Listen { address: "0.0.0.0:1".parse().unwrap(), is_required: true });
        let words = |options: &Options| check_exposure(options).unwrap_err().to_string();
        assert!(words(&options).contains("--token-file"));
        options.tokens = Tokens::parse("0123456789abcdef").unwrap();
        assert!(words(&options).contains("--tls-cert"));
        options.is_insecure = true;
        assert!(check_exposure(&options).is_ok());
    }
}
