//! What carries lines to a server, and the queue in front of anything that is
//! written to.

use crate::lines::Line;
use crate::proxy::Proxy;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something that happened on the server's side.
#[derive(Debug)]
pub(crate) enum Event {
    Line(Line),
    /// A request will get no answer; its id is JSON.
    Unanswered {
        id: String,
        why: String,
    },
    /// Nothing more will come.
    End(String),
    /// Something a person should know.
    Note(String),
}

/// Carries lines to a server.
pub(crate) trait Carrier {
    /// Takes a line to send.
    fn send(&mut self, line: String, proxy: &Proxy);

    /// Is so much waiting to be sent that nothing should be added?
    fn is_full(&self) -> bool;

    /// Waits until the server has ended by itself, and says how.
    fn ended(&mut self) -> impl Future<Output = String>;

    /// Tells the server that nothing more will come.
    fn finish(&mut self);

    /// Ends the server, by and by with force.
    fn close(self) -> impl Future<Output = ()>;
}

/// More bytes do not wait to be written.
const MOST_WAITING: usize = 64 << 20;

/// A queue of lines that are written one after another.
#[derive(Debug, Clone)]
pub(crate) struct Outlet {
    lines: UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
}

impl Outlet {
    /// Writes to a stream from now on; the stream is closed with the last handle.
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
        // Whoever no longer reads is noticed elsewhere.
        let _ = self.lines.send(line);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MOST_WAITING
    }

    /// Waits until nobody reads any more.
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
