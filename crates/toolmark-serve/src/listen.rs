//! Connections, limited in number, with TLS if there is a certificate.

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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::TlsAcceptor;

/// Maximum number of open connections; others wait.
const MAX_CONNECTIONS: usize = 512;

/// Time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Time after which an idle connection is closed. No response takes that long, and open pages
/// receive an event every 15 seconds.
const IDLE: Duration = Duration::from_secs(300);

/// Delay before the next attempt after the system refused a connection (too many files).
const PAUSE: Duration = Duration::from_millis(100);

/// Wraps connections in TLS.
pub(crate) type Acceptor = TlsAcceptor;

/// Reads the certificate and the key.
pub(crate) fn tls_acceptor(tls: &Tls) -> Result<Acceptor, ServeError> {
    let failed = |error: &dyn std::fmt::Display| ServeError::Tls(error.to_string());
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(&error))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| failed(&error))?;
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

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection, which releases its slot when it ends.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    /// Time of closing if the connection stays idle.
    idle: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    /// Resets the idle timer.
    fn stay(&mut self) {
        let later = Instant::now() + IDLE;
        self.idle.as_mut().reset(later);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        match read {
            Poll::Ready(_) => self.stay(),
            Poll::Pending if self.idle.as_mut().poll(context).is_ready() => {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            Poll::Pending => {}
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        if wrote.is_ready() {
            self.stay();
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
    ready: mpsc::Receiver<(Connection, SocketAddr)>,
    address: io::Result<SocketAddr>,
}

/// Accepts connections. Handshakes run concurrently, so that a slow one delays no other.
pub(crate) fn listener(bound: TcpListener, acceptor: Option<Acceptor>) -> Connections {
    let address = bound.local_addr();
    let (tell, ready) = mpsc::channel(16);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    tokio::spawn(async move {
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
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
            let _ = stream.set_nodelay(true);
            let (tell, acceptor) = (tell.clone(), acceptor.clone());
            tokio::spawn(async move {
                if let Some(stream) = greet(stream, acceptor).await {
                    let _ = tell
                        .send((
                            Connection { stream, idle: Box::pin(sleep(IDLE)), _place: place },
                            peer,
                        ))
                        .await;
                }
            });
        }
    });
    Connections { ready, address }
}

async fn greet(stream: TcpStream, acceptor: Option<Acceptor>) -> Option<Box<dyn Stream>> {
    match acceptor {
        None => Some(Box::new(stream)),
        Some(acceptor) => {
            let tls = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
            Some(Box::new(tls.ok()?.ok()?))
        }
    }
}

impl Listener for Connections {
    type Io = Connection;
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
