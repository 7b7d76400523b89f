//! Connections: accepted without waiting, closed where nothing happens, in TLS where there
//! is a certificate.

use crate::places::{Activity, ConnectionSlot, ConnectionSlots, GivesWay};
use crate::server::{ServeError, Tls};
use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::TlsAcceptor;
use toolmark_base::read_file;

/// Time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The head of the first request must be there within this time.
const FIRST_HEAD: Duration = Duration::from_secs(10);

/// Time after which an idle connection is closed. No response takes that long, and open pages
/// receive an event every 15 seconds.
const IDLE: Duration = Duration::from_secs(300);

/// Delay before the next attempt after the system refused a connection (too many files).
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum size of the certificate and of the key, in bytes.
const MAX_PEM: u64 = 1 << 20;

/// Wraps connections in TLS.
pub(crate) type Acceptor = TlsAcceptor;

/// Reads the certificate and the key.
pub(crate) fn tls_acceptor(tls: &Tls) -> Result<Acceptor, ServeError> {
    let failed = |error: &dyn std::fmt::Display| ServeError::Tls(error.to_string());
    let certificate = read_file::read_text(&tls.certificate, MAX_PEM)?;
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(&error))?;
    let key = read_file::read_text(&tls.key, MAX_PEM)?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| failed(&error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| failed(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

trait ServeStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ServeStream for T {}

/// A connection, which releases its slot when it ends.
pub(crate) struct ServeConnection {
    stream: Box<dyn ServeStream>,
    /// When it is looked at whether it is to be closed.
    look: Pin<Box<Sleep>>,
    gives_way: GivesWay,
    place: ConnectionSlot,
}

impl ServeConnection {
    fn new(stream: Box<dyn ServeStream>, place: ConnectionSlot, gives_way: GivesWay) -> Self {
        Self { stream, look: Box::pin(sleep(FIRST_HEAD)), gives_way, place }
    }

    /// Returns the activity of the connection.
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.place.activity
    }

    /// Whether it is to be closed: another one needs its place, or nothing happens.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        if Pin::new(&mut self.gives_way).poll(context).is_ready() {
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        while self.look.as_mut().poll(context).is_ready() {
            let deadline = self.place.activity.deadline(FIRST_HEAD, IDLE);
            if deadline <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.look.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

impl AsyncRead for ServeConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        match read {
            Poll::Ready(_) => self.activity().stay(),
            Poll::Pending => {
                if let Poll::Ready(error) = self.poll_end(context) {
                    return Poll::Ready(Err(error));
                }
            }
        }
        read
    }
}

impl AsyncWrite for ServeConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        if wrote.is_ready() {
            self.activity().stay();
        }
        wrote
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Connections that are ready to be served.
pub(crate) struct Connections {
    ready: mpsc::Receiver<(ServeConnection, SocketAddr)>,
    address: io::Result<SocketAddr>,
}

/// Accepts connections. Accepting never waits for a free place, and handshakes run in parallel, so
/// that a slow client does not delay others.
pub(crate) fn listener(bound: TcpListener, acceptor: Option<Acceptor>) -> Connections {
    let address = bound.local_addr();
    let (tell, ready) = mpsc::channel(16);
    let places = Arc::new(ConnectionSlots::default());
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = bound.accept() => accepted,
                () = tell.closed() => return,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(_) => {
                    sleep(PAUSE).await;
                    continue;
                }
            };
            // Where every connection is being answered, a new one is closed at once.
            let Some((place, mut gives_way)) = places.take(peer.ip().to_canonical()) else {
                continue;
            };
            let _ = stream.set_nodelay(true);
            let (tell, acceptor) = (tell.clone(), acceptor.clone());
            tokio::spawn(async move {
                let stream = tokio::select! {
                    stream = greet(stream, acceptor) => stream,
                    _ = &mut gives_way => None,
                };
                if let Some(stream) = stream {
                    let _ = tell.send((ServeConnection::new(stream, place, gives_way), peer)).await;
                }
            });
        }
    });
    Connections { ready, address }
}

async fn greet(stream: TcpStream, acceptor: Option<Acceptor>) -> Option<Box<dyn ServeStream>> {
    match acceptor {
        None => Some(Box::new(stream)),
        Some(acceptor) => {
            let tls = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
            Some(Box::new(tls.ok()?.ok()?))
        }
    }
}

impl Listener for Connections {
    type Io = ServeConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(ready) => ready,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        match &self.address {
            Ok(address) => Ok(*address),
            Err(error) => Err(error.kind().into()),
        }
    }
}
