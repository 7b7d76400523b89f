//! Operation of a proxy: passes lines between the client, the proxy and the server until one of
//! them ends.
//!
//! Each direction waits only for its own reader: a side that does not read stops the other from
//! being read, but the two never block each other.

use crate::http::{Http, Remote};
use crate::lines::{ProtocolLine, ProtocolLines};
use crate::proxy::{Proxy, ProxyStep};
use crate::stdio::ServerProgram;
use crate::transport::{LineWriter, Transport, TransportEvent};
use std::ffi::OsString;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep_until, timeout};

/// Way in which a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The client ended it, as usual.
    ClientLeft,
    /// The server ended before the client did, with the reason.
    ServerLeft(String),
    /// A signal ended the proxy.
    Signalled,
}

/// Reason why a session did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The program of the server does not start.
    #[error("failed to start {program}: {source}")]
    Start {
        /// Program name.
        program: String,
        /// System error.
        source: io::Error,
    },
    /// The address or a header is invalid.
    #[error("{0}")]
    Remote(String),
    /// The runtime cannot be set up.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs a proxy in front of a program on standard input and output.
///
/// # Errors
///
/// The program does not start.
pub fn serve_stdio(
    proxy: Proxy,
    program: &OsString,
    args: &[OsString],
    mut tell: impl FnMut(&str),
) -> Result<Ending, ServeError> {
    stdio(proxy, program, args, &mut tell)
}

/// Runs a proxy in front of a program. Not generic, because tokio would be compiled again for the
/// caller.
fn stdio(
    proxy: Proxy,
    program: &OsString,
    args: &[OsString],
    tell: &mut dyn FnMut(&str),
) -> Result<Ending, ServeError> {
    on_runtime(async {
        let (events, from_server) = channel(64);
        let server = ServerProgram::start(program, args, events).map_err(|source| {
            let program = program.to_string_lossy().into_owned();
            ServeError::Start { program, source }
        })?;
        Ok(serve(proxy, server, from_server, tokio::io::stdin(), tokio::io::stdout(), tell).await)
    })
}

/// Runs a proxy in front of a remote server on standard input and output.
///
/// # Errors
///
/// The address or a header is invalid.
pub fn serve_http(
    proxy: Proxy,
    remote: Remote,
    mut tell: impl FnMut(&str),
) -> Result<Ending, ServeError> {
    http(proxy, remote, &mut tell)
}

fn http(proxy: Proxy, remote: Remote, tell: &mut dyn FnMut(&str)) -> Result<Ending, ServeError> {
    on_runtime(async {
        let (events, from_server) = channel(64);
        let server =
            Http::new(remote, events).map_err(|error| ServeError::Remote(error.to_string()))?;
        Ok(serve(proxy, server, from_server, tokio::io::stdin(), tokio::io::stdout(), tell).await)
    })
}

/// Runs work on a runtime of one thread, and does not wait for a pending read of
/// standard input.
fn on_runtime<T>(work: impl Future<Output = Result<T, ServeError>>) -> Result<T, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = tokio::task::LocalSet::new().block_on(&runtime, work);
    runtime.shutdown_background();
    ended
}

/// Time for which messages are still passed on after one side has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

async fn serve<C: Transport>(
    mut proxy: Proxy,
    mut server: C,
    mut from_server: Receiver<TransportEvent>,
    input: impl AsyncRead + Unpin + 'static,
    output: impl AsyncWrite + Unpin + 'static,
    mut tell: impl FnMut(&str),
) -> Ending {
    let start = Instant::now();
    let (lines, mut from_client) = channel(64);
    tokio::task::spawn_local(read_client(input, lines));
    let (client, written) = LineWriter::new(output);
    let mut number = 0;
    let mut signals = Signals::new();
    let mut leaving = None;
    let ending = loop {
        let deadline = proxy.deadline().map(|at| start + at);
        let tick = async {
            match deadline {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let steps = tokio::select! {
            biased;
            event = from_server.recv(), if !client.is_full() => match event {
                Some(event) => match handle_event(event, &mut proxy, &mut number, start.elapsed()) {
                    Ok(steps) => steps,
                    Err(ServerEnd(why)) => {
                        break describe_end(leaving.is_some(), &mut server, why).await;
                    }
                },
                None => break describe_end(leaving.is_some(), &mut server, "it is gone".to_owned()).await,
            },
            line = from_client.recv(), if leaving.is_none() && !server.is_full() => match line {
                Some(ProtocolLine::Text(line)) => proxy.from_client(&line, start.elapsed()),
                Some(ProtocolLine::Bad { start, why }) => proxy.lost_from_client(&start, &why),
                // Its requests may still be answered.
                None => {
                    leaving = Some(Instant::now() + DRAIN_TIMEOUT);
                    Vec::new()
                }
            },
            why = server.ended() => break match leaving {
                Some(_) => Ending::ClientLeft,
                None => Ending::ServerLeft(why),
            },
            () = tick => proxy.tick(start.elapsed()),
            () = client.closed() => break Ending::ClientLeft,
            () = signals.any() => break Ending::Signalled,
            () = sleep_until_maybe(leaving) => break Ending::ClientLeft,
        };
        for step in steps {
            match step {
                ProxyStep::Client(line) => client.send(line),
                ProxyStep::Server(line) => server.send(line, &proxy),
                ProxyStep::Note(words) => tell(&words),
            }
        }
        if leaving.is_some() && !proxy.is_looking_up() {
            server.finish();
            if !proxy.is_waited_for() {
                break Ending::ClientLeft;
            }
        }
    };
    if let Ending::ServerLeft(why) = &ending {
        for step in proxy.server_gone(why) {
            match step {
                ProxyStep::Client(line) => client.send(line),
                ProxyStep::Note(words) => tell(&words),
                ProxyStep::Server(_) => {}
            }
        }
    }
    server.close().await;
    drop(client);
    let _ = timeout(DRAIN_TIMEOUT, written).await;
    ending
}

/// Reason why the server has ended.
struct ServerEnd(String);

/// Handles an event; the error means that the server has ended.
fn handle_event(
    event: TransportEvent,
    proxy: &mut Proxy,
    number: &mut u64,
    now: Duration,
) -> Result<Vec<ProxyStep>, ServerEnd> {
    Ok(match event {
        TransportEvent::Line(line) => {
            *number += 1;
            match line {
                ProtocolLine::Text(line) => proxy.from_server(&line, *number, now),
                ProtocolLine::Bad { start, why } => proxy.lost_from_server(&start, *number, &why),
            }
        }
        TransportEvent::Unanswered { id, why } => proxy.unanswered(&id, &why),
        TransportEvent::Note(words) => vec![ProxyStep::Note(words)],
        TransportEvent::End(why) => return Err(ServerEnd(why)),
    })
}

/// Describes the end of the server, once the reason is known or a short wait has passed.
async fn describe_end(leaving: bool, server: &mut impl Transport, why: String) -> Ending {
    if leaving {
        return Ending::ClientLeft;
    }
    let how = timeout(Duration::from_secs(2), server.ended()).await;
    Ending::ServerLeft(how.unwrap_or(why))
}

/// Sleeps until a time, or forever.
async fn sleep_until_maybe(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn read_client(input: impl AsyncRead + Unpin, lines: Sender<ProtocolLine>) {
    let mut input = ProtocolLines::new(input);
    while let Ok(Some(line)) = input.next().await {
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

/// The signals that end a program.
struct Signals {
    #[cfg(unix)]
    all: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        Self { all: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn any(&mut self) {
        std::future::poll_fn(|context| {
            let heard = self.all.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if heard { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }

    #[cfg(not(unix))]
    async fn any(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
