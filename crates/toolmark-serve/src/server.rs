//! The server: starts all threads and listeners, and stops them in order.

use crate::access::{Access, AccessTokens};
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
use crate::otlp::{OtlpLimits, Receiver, grpc, http};
use crate::pace::{OnConnection, paced};
use crate::store::{SessionStore, StoreError};
use crate::watch::{Folder, FolderState, WatchState};
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
use toolmark_base::ReadFileError;
use toolmark_check::promote::Case;
use toolmark_guard::Guard;
use toolmark_redact::Redactor;

/// Time limit for open responses at shutdown.
const DRAIN: Duration = Duration::from_secs(5);

/// Maximum number of concurrent requests that read files or the store; others wait.
const MAX_BLOCKING: usize = 16;

/// Idle time after which a worker thread ends and releases its memory.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Message of a command that failed, with its causes.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(pub String);

/// Other commands of toolmark that the page uses.
pub trait Commands: Send + Sync {
    /// Path of the guard's log.
    fn guard_log(&self) -> Option<PathBuf> {
        None
    }

    /// Installations of the guard.
    fn guard_status(&self) -> Vec<HostStatus> {
        Vec::new()
    }

    /// Returns the guard with another policy, given as YAML.
    fn guard_with(&self, _policy: &str) -> Result<Guard, CommandError> {
        Err(CommandError("policies cannot be read here".to_owned()))
    }

    /// Compares two runs.
    fn compare(&self, _a: &Path, _b: &Path, _redactor: Redactor) -> Result<Value, CommandError> {
        Err(CommandError("runs cannot be compared here".to_owned()))
    }

    /// Writes cases to a directory.
    fn write_cases(&self, _cases: &[Case], _to: &Path, _redactor: Redactor) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// An address to listen on.
#[derive(Debug, Clone, Copy)]
pub struct Listen {
    /// Address; port 0 for any port.
    pub address: SocketAddr,
    /// Whether the server fails to start if the address is taken.
    pub is_required: bool,
}

/// Certificate and key of the server, as PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// Certificate with its chain.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// Settings of the server.
#[derive(Clone)]
pub struct ServerOptions {
    /// Path of the store.
    pub db: PathBuf,
    /// File of decisions about issues.
    pub state: PathBuf,
    /// Watched folders.
    pub folders: Vec<Folder>,
    /// Directories with runs.
    pub runs: Vec<PathBuf>,
    /// Address of the page and the API.
    pub ui: SocketAddr,
    /// Address for OTLP over HTTP.
    pub http: Option<Listen>,
    /// Address for OTLP over gRPC.
    pub grpc: Option<Listen>,
    /// Access tokens.
    pub tokens: AccessTokens,
    /// Certificate and key, if TLS is used.
    pub tls: Option<Tls>,
    /// Whether addresses that other machines can reach may be served without TLS.
    pub is_insecure: bool,
    /// Evaluation rules for arriving sessions.
    pub tags: Vec<Tag>,
    /// Age after which data are deleted.
    pub retention: Option<SignedDuration>,
    /// Whether samples are shown.
    pub is_demo: bool,
    /// Whether agents may connect over MCP, at `/mcp` of the page's address.
    pub has_mcp: bool,
    /// Redacts secrets.
    pub redactor: Redactor,
    /// Size limits of requests.
    pub limits: OtlpLimits,
    /// Other commands.
    pub commands: Arc<dyn Commands>,
}

impl ServerOptions {
    /// Returns settings for a store on this machine only, with ports chosen by the system.
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
            tokens: AccessTokens::default(),
            tls: None,
            is_insecure: false,
            tags: Vec::new(),
            retention: None,
            is_demo: false,
            has_mcp: false,
            redactor: Redactor::new(true),
            limits: OtlpLimits::default(),
            commands,
        }
    }
}

/// Returns the default file of decisions beside a store.
#[must_use]
pub fn state_beside(db: &Path) -> PathBuf {
    db.with_extension("feed.jsonl")
}

/// The bound addresses.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Address of the page and the API.
    pub ui: SocketAddr,
    /// Address for OTLP over HTTP.
    pub http: Option<SocketAddr>,
    /// Address for OTLP over gRPC.
    pub grpc: Option<SocketAddr>,
    /// Whether the addresses use TLS.
    pub is_tls: bool,
    /// Messages about unavailable features.
    pub problems: Vec<String>,
}

/// Error of the server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store failed.
    #[error("failed to open the store: {0}")]
    Store(#[from] StoreError),
    /// An address could not be bound.
    #[error("failed to listen at {address}: {source}")]
    Listen {
        /// Address.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// Other machines could reach the server without the required protection.
    #[error("{address} can be reached by others, which needs {needs}")]
    Exposed {
        /// Address.
        address: SocketAddr,
        /// Missing setting.
        needs: &'static str,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadFileError),
    /// The certificate or the key is invalid.
    #[error("the certificate or its key is invalid: {0}")]
    Tls(String),
    /// A thread or socket failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Serves until a signal (SIGINT, SIGTERM) arrives. `ready` receives the addresses.
pub fn serve(options: ServerOptions, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    check_exposure(&options)?;
    let acceptor = options.tls.as_ref().map(tls_acceptor).transpose()?;
    let store = Arc::new(SessionStore::open(&options.db)?);
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

fn check_exposure(options: &ServerOptions) -> Result<(), ServeError> {
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

/// Binds an address that another collector may already use.
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
    options: ServerOptions,
    store: Arc<SessionStore>,
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
        let router = router.layer(axum::middleware::from_fn(paced));
        let service = router.into_make_service_with_connect_info::<OnConnection>();
        servers.spawn(async move {
            axum::serve(listener, service).with_graceful_shutdown(stopped).await
        });
    };
    // The stored issues are grouped now, so that the first request does not wait.
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

/// Starts the threads that read, evaluate and clean up.
fn start_threads(
    options: &ServerOptions,
    store: &Arc<SessionStore>,
    hub: &Arc<Hub>,
    evaluator: &Arc<Evaluator>,
    states: &Arc<Mutex<Vec<FolderState>>>,
    queue: &Arc<Queue>,
    stop: &Arc<AtomicBool>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    };
    // Without evaluators no queue is needed.
    let wanted = (!options.tags.is_empty()).then(|| Arc::clone(queue));
    let watch = WatchState {
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

/// Waits for a termination signal.
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
        let mut options = ServerOptions::new("x.db".into(), Arc::new(Nothing));
        assert!(check_exposure(&options).is_ok());
        options.http = Some(Listen { address: "0.0.0.0:1".parse().unwrap(), is_required: true });
        let words = |options: &ServerOptions| check_exposure(options).unwrap_err().to_string();
        assert!(words(&options).contains("--token-file"));
        options.tokens = AccessTokens::parse("0123456789abcdef").unwrap();
        assert!(words(&options).contains("--tls-cert"));
        options.is_insecure = true;
        assert!(check_exposure(&options).is_ok());
    }
}
