//! The places of a listener: how many connections are open, whose they are, and which one
//! gives way to a new one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

/// Maximum number of open connections of a listener.
const MAX_CONNECTIONS: usize = 512;

/// Maximum number of open connections of one address: others always find a place.
const MAX_PER_PEER: usize = 384;

/// Activity of a connection, as its reader, its writer and its requests report it.
#[derive(Debug)]
pub(crate) struct Activity {
    opened: Instant,
    /// Requests whose head has arrived and that are not answered yet.
    requests: AtomicUsize,
    /// Whether the head of a request has ever arrived.
    has_asked: AtomicBool,
    /// When something was read or written last, in milliseconds since it was opened.
    last: AtomicU64,
}

impl Activity {
    fn new() -> Self {
        Self {
            opened: Instant::now(),
            requests: AtomicUsize::new(0),
            has_asked: AtomicBool::new(false),
            last: AtomicU64::new(0),
        }
    }

    /// Something was read or written.
    pub(crate) fn stay(&self) {
        let since = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(since, Ordering::Relaxed);
    }

    /// The head of a request has arrived; until the guard is dropped, it is answered.
    pub(crate) fn begin(self: &Arc<Self>) -> Answering {
        self.has_asked.store(true, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        Answering(Arc::clone(self))
    }

    /// When the connection is to be closed unless something happens: soon where no request
    /// has arrived yet, else when nothing was read or written for long.
    pub(crate) fn deadline(&self, head: Duration, idle: Duration) -> Instant {
        match self.has_asked.load(Ordering::Relaxed) {
            false => self.opened + head,
            true => self.last() + idle,
        }
    }

    fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    /// Order in which connections give way: first those that never sent a request, then those that
    /// were idle longest. `None` while a request is answered.
    fn rank(&self) -> Option<(bool, Instant)> {
        let is_busy = self.requests.load(Ordering::Relaxed) > 0;
        (!is_busy).then(|| (self.has_asked.load(Ordering::Relaxed), self.last()))
    }
}

/// A request that is being answered.
pub(crate) struct Answering(Arc<Activity>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.stay();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The open connections of a listener.
#[derive(Debug, Default)]
pub(crate) struct ConnectionSlots(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    open: HashMap<u64, OpenConnections>,
    by_peer: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct OpenConnections {
    peer: IpAddr,
    activity: Arc<Activity>,
    /// Dropped to close the connection.
    _close: oneshot::Sender<()>,
}

/// The place of a connection, given back when it ends.
pub(crate) struct ConnectionSlot {
    places: Arc<ConnectionSlots>,
    number: u64,
    /// Activity of the connection.
    pub(crate) activity: Arc<Activity>,
}

/// Ends when a connection has to give way.
pub(crate) type GivesWay = oneshot::Receiver<()>;

impl ConnectionSlots {
    /// A place for a connection. It never waits: where there is none, a connection that
    /// is not being answered gives way, first of all one that has not asked anything.
    /// `None` where all are being answered.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<(ConnectionSlot, GivesWay)> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_peer = taken.by_peer.get(&peer).copied().unwrap_or(0);
        let is_full = taken.open.len() >= MAX_CONNECTIONS;
        if of_peer >= MAX_PER_PEER || is_full {
            // The address with the most places gives one up.
            let most = taken.by_peer.iter().max_by_key(|(_, count)| **count);
            let loser = if of_peer >= MAX_PER_PEER { peer } else { *most?.0 };
            let ranked = taken.open.iter().filter(|(_, open)| open.peer == loser);
            let ranked = ranked.filter_map(|(number, open)| Some((open.activity.rank()?, *number)));
            let (_, number) = ranked.min()?;
            taken.remove(number);
        }
        let number = taken.next;
        taken.next += 1;
        let activity = Arc::new(Activity::new());
        let (close, gives_way) = oneshot::channel();
        let open = OpenConnections { peer, activity: Arc::clone(&activity), _close: close };
        taken.open.insert(number, open);
        *taken.by_peer.entry(peer).or_default() += 1;
        Some((ConnectionSlot { places: Arc::clone(self), number, activity }, gives_way))
    }
}

impl Taken {
    fn remove(&mut self, number: u64) {
        let Some(open) = self.open.remove(&number) else { return };
        if let Some(count) = self.by_peer.get_mut(&open.peer) {
            *count -= 1;
            if *count == 0 {
                self.by_peer.remove(&open.peer);
            }
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn a_new_connection_takes_the_place_of_one_that_asks_nothing() {
        let places = Arc::new(ConnectionSlots::default());
        let mut mine: Vec<_> = (0..MAX_PER_PEER).map(|_| places.take(peer(1)).unwrap()).collect();
        // All of one address but three are answered; the oldest of them has asked before.
        let answering: Vec<_> =
            mine.iter().skip(3).map(|(place, _)| place.activity.begin()).collect();
        drop(mine[0].0.activity.begin());
        let mut is_open =
            |at: usize| mine[at].1.try_recv() == Err(oneshot::error::TryRecvError::Empty);
        let first = places.take(peer(1)).unwrap();
        assert!(is_open(0) && !is_open(1) && is_open(2) && is_open(3));
        let second = places.take(peer(1)).unwrap();
        assert!(is_open(0) && !is_open(2));
        // The new ones have not asked anything either.
        drop((first.0.activity.begin(), second.0.activity.begin()));
        let third = places.take(peer(1)).unwrap();
        assert!(!is_open(0) && is_open(3));
        let busy = [&first, &second, &third].map(|(place, _)| place.activity.begin());
        assert!(places.take(peer(1)).is_none(), "all are being answered");
        // Another address finds a place all the same, until all are taken.
        let others: Vec<_> =
            (MAX_PER_PEER..MAX_CONNECTIONS).map(|_| places.take(peer(2)).unwrap()).collect();
        assert!(places.take(peer(3)).is_none());
        drop((busy, answering));
        assert!(places.take(peer(3)).is_some());
        drop(others);
    }

    #[test]
    fn what_asks_nothing_ends_soon() {
        let (head, idle) = (Duration::from_secs(10), Duration::from_secs(300));
        let activity = Arc::new(Activity::new());
        // A byte now and then does not count.
        activity.stay();
        assert_eq!(activity.deadline(head, idle), activity.opened + head);
        drop(activity.begin());
        assert!(activity.deadline(head, idle) >= activity.opened + idle);
    }
}
