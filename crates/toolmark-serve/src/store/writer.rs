//! The writer thread. Requests go first: all queued requests are one transaction, which is on disk
//! before any is acknowledged. Derived data are written in between, one small transaction at a
//! time, so that no acknowledgement waits for more than one of them.

use super::checkpoint::Checkpointer;
use super::{StoreError, lock};
use rusqlite::Connection;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Maximum number of queued requests; more are rejected, and their senders retry.
const MAX_QUEUE: usize = 128;

pub(super) type WriterWork = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;
pub(super) type WriterDone = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Job = (WriterWork, WriterDone);

#[derive(Default)]
struct Lanes {
    requests: VecDeque<Job>,
    derived: VecDeque<Job>,
    is_closed: bool,
}

/// Pending writes.
#[derive(Default)]
pub(super) struct Queue {
    lanes: Mutex<Lanes>,
    changed: Condvar,
}

/// Writes of one transaction.
enum Transaction {
    /// All queued requests; they are on disk before they are acknowledged.
    Requests(VecDeque<Job>),
    /// A write of derived data: it survives a crash of the process, and is on disk with the next
    /// request.
    Derived(Job),
}

impl Queue {
    /// Queues the write of a request; fails if the queue is full.
    pub(super) fn request(&self, work: WriterWork, done: WriterDone) -> Result<(), StoreError> {
        let mut lanes = lock(&self.lanes);
        match () {
            () if lanes.is_closed => return Err(StoreError::Closed),
            () if lanes.requests.len() >= MAX_QUEUE => return Err(StoreError::Busy),
            () => lanes.requests.push_back((work, done)),
        }
        drop(lanes);
        self.changed.notify_one();
        Ok(())
    }

    /// Queues a write of derived data. The caller waits for it, so there are never many.
    pub(super) fn derive(&self, work: WriterWork, done: WriterDone) -> Result<(), StoreError> {
        let mut lanes = lock(&self.lanes);
        if lanes.is_closed {
            return Err(StoreError::Closed);
        }
        lanes.derived.push_back((work, done));
        drop(lanes);
        self.changed.notify_one();
        Ok(())
    }

    /// Closes the queue; pending writes are still executed.
    pub(super) fn close(&self) {
        lock(&self.lanes).is_closed = true;
        self.changed.notify_one();
    }

    /// Returns the next writes; `None` once the queue is closed and empty.
    fn next(&self, were_requests: bool) -> Option<Transaction> {
        let mut lanes = lock(&self.lanes);
        loop {
            // One after each group of requests, or nothing would be concluded under load.
            if (were_requests || lanes.requests.is_empty())
                && let Some(job) = lanes.derived.pop_front()
            {
                return Some(Transaction::Derived(job));
            }
            if !lanes.requests.is_empty() {
                return Some(Transaction::Requests(std::mem::take(&mut lanes.requests)));
            }
            if lanes.is_closed {
                return None;
            }
            lanes = self.changed.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Writes until the queue is closed.
pub(super) fn write_all(
    connection: &Connection,
    queue: &Queue,
    problem: &Mutex<Option<StoreError>>,
    checkpointer: &Arc<Checkpointer>,
) {
    let mut were_requests = false;
    while let Some(turn) = queue.next(were_requests) {
        were_requests = matches!(turn, Transaction::Requests(_));
        let (sync, jobs) = match turn {
            Transaction::Requests(jobs) => ("PRAGMA synchronous=FULL", jobs),
            Transaction::Derived(job) => ("PRAGMA synchronous=NORMAL", VecDeque::from([job])),
        };
        let begun = connection.execute_batch(sync).map_err(StoreError::from);
        write_group(connection, begun, jobs, problem);
        checkpointer.after_commit(connection);
    }
}

/// Writes one transaction.
fn write_group(
    connection: &Connection,
    begun: Result<(), StoreError>,
    jobs: VecDeque<Job>,
    problem: &Mutex<Option<StoreError>>,
) {
    let begin = || Ok(connection.execute_batch("BEGIN IMMEDIATE")?);
    let mut begun = begun.and_then(|()| begin());
    let mut waiting: Vec<(WriterDone, Result<(), StoreError>)> = Vec::with_capacity(jobs.len());
    for (work, done) in jobs {
        let result = match &begun {
            Ok(()) => alone(connection, work),
            Err(error) => Err(error.clone()),
        };
        // A full disk ends the transaction by itself.
        if result.is_err() && connection.is_autocommit() {
            begun = begun.and(Err(StoreError::Full));
        }
        waiting.push((done, result));
    }
    let end = begun.and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    if end.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    let failed = waiting.iter().find_map(|(_, result)| result.clone().err());
    *lock(problem) = end.clone().err().or(failed);
    for (done, result) in waiting {
        done(end.clone().and(result));
    }
}

/// Executes one write in a savepoint, so that a failure does not affect the others.
fn alone(connection: &Connection, work: WriterWork) -> Result<(), StoreError> {
    connection.execute_batch("SAVEPOINT one")?;
    match work(connection) {
        Ok(()) => Ok(connection.execute_batch("RELEASE one")?),
        Err(error) => {
            let _ = connection.execute_batch("ROLLBACK TO one; RELEASE one");
            Err(error.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the jobs of each transaction, in order.
    fn turns(queue: &Queue, count: usize) -> Vec<String> {
        let mut were_requests = false;
        let mut turns = Vec::new();
        for _ in 0..count {
            let turn = queue.next(were_requests).unwrap();
            were_requests = matches!(turn, Transaction::Requests(_));
            turns.push(match turn {
                Transaction::Requests(jobs) => format!("{} requests", jobs.len()),
                Transaction::Derived(_) => "derived".to_owned(),
            });
        }
        turns
    }

    fn job() -> Job {
        (Box::new(|_| Ok(())), Box::new(|_| {}))
    }

    #[test]
    fn requests_are_written_together_and_wait_for_one_conclusion_at_most() {
        let queue = Queue::default();
        let add = |requests: usize, derived: usize| {
            (0..requests).for_each(|_| queue.request(job().0, job().1).unwrap());
            (0..derived).for_each(|_| queue.derive(job().0, job().1).unwrap());
        };
        add(3, 2);
        assert_eq!(turns(&queue, 2), ["3 requests", "derived"]);
        // What came meanwhile goes before the rest of the conclusions.
        add(2, 1);
        assert_eq!(turns(&queue, 3), ["2 requests", "derived", "derived"]);
        add(MAX_QUEUE, 0);
        assert!(matches!(queue.request(job().0, job().1), Err(StoreError::Busy)));
        queue.derive(job().0, job().1).unwrap();
        queue.close();
        assert!(matches!(queue.request(job().0, job().1), Err(StoreError::Closed)));
        assert!(matches!(queue.derive(job().0, job().1), Err(StoreError::Closed)));
        // What waited is still written.
        assert_eq!(turns(&queue, 2), [&*format!("{MAX_QUEUE} requests"), "derived"]);
        assert!(queue.next(false).is_none());
    }
}
