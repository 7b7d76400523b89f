//! Transport of lines to a server, and the queue of lines to write to a stream.

use crate::lines::ProtocolLine;
use crate::proxy::Proxy;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// An event on the server's side.
#[derive(Debug)]
pub(crate) enum TransportEvent {
    Line(ProtocolLine),
    /// A request that will not be answered; its ID is JSON.
    Unanswered {
        id: String,
        why: String,
    },
    /// End of the server, with the reason.
    End(String),
    /// A note for the user.
    Note(String),
}

/// A transport of lines to a server.
pub(crate) trait Transport {
    /// Sends a line.
    fn send(&mut self, line: String, proxy: &Proxy);

    /// Whether too much data is waiting to be sent.
    fn is_full(&self) -> bool;

    /// Waits until the server ends by itself, and returns a description of the exit.
    fn ended(&mut self) -> impl Future<Output = String>;

    /// Signals the server that nothing more will be sent.
    fn finish(&mut self);

    /// Ends the server, by force if necessary.
    fn close(self) -> impl Future<Output = ()>;
}

/// Maximum number of bytes waiting to be written.
const MAX_WAITING: usize = 64 << 20;

/// A queue of lines to write to a stream.
#[derive(Debug, Clone)]
pub(crate) struct LineWriter {
    lines: UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
}

impl LineWriter {
    /// Starts to write to a stream, which is closed with the last handle.
    pub(crate) fn new(
        to: impl AsyncWrite + Unpin + 'static,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (lines, queue) = unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let written = tokio::task::spawn_local(write(to, queue, Arc::clone(&waiting)));
        (Self { lines, waiting }, written)
    }

    pub(crate) fn send(&self, mut line: String) {
        line.push('\n');
        self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        // A closed stream is noticed elsewhere.
        let _ = self.lines.send(line);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MAX_WAITING
    }

    /// Waits until the stream cannot be written to.
    pub(crate) async fn closed(&self) {
        self.lines.closed().await;
    }
}

async fn write(
    mut to: impl AsyncWrite + Unpin,
    mut queue: UnboundedReceiver<String>,
    waiting: Arc<AtomicUsize>,
) {
    while let Some(line) = queue.recv().await {
        if to.write_all(line.as_bytes()).await.is_err() {
            return;
        }
        waiting.fetch_sub(line.len(), Ordering::Relaxed);
        if queue.is_empty() && to.flush().await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}
