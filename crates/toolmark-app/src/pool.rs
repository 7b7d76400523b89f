//! A thread pool whose results keep the order of its items.

use std::iter;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Maximum number of results of one item that wait for their turn before its thread blocks.
const MAX_WAITING_RESULTS: usize = 4;
/// Maximum number of items per thread ahead of the current one.
const MAX_ITEMS_AHEAD: usize = 8;

/// Takes a result; a break means that no more results are wanted.
pub type Emit<'s, T> = dyn FnMut(T) -> ControlFlow<()> + 's;

/// A thread pool.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// Number of items that are processed at once.
    lanes: usize,
    /// Number of threads without an item of their own, which may help with another item.
    idle: AtomicUsize,
}

impl Pool {
    /// Returns a pool with the given number of threads; without a number, one per core.
    pub fn new(jobs: Option<NonZeroUsize>) -> Self {
        let threads = jobs.or_else(|| thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get);
        Self { threads, lanes: threads, idle: AtomicUsize::new(0) }
    }

    /// Processes one item at a time with all threads.
    pub fn one_at_a_time(self) -> Self {
        Self { lanes: 1, ..self }
    }

    /// Processes all items and takes the results in the order of the items. Stops at the first
    /// error of `take`.
    pub fn stream<I: Sync, T: Send, E>(
        &self,
        items: &[I],
        work: impl Fn(&I, &mut Emit<'_, T>) + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let lanes = self.lanes.min(items.len()).max(1);
        self.idle.store(self.threads - lanes, Ordering::Relaxed);
        if lanes == 1 {
            return items.iter().try_for_each(|item| {
                let mut taken = Ok(());
                work(item, &mut |made| {
                    if taken.is_ok() {
                        taken = take(made);
                    }
                    if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
                taken
            });
        }
        let queue = Mutex::new(items.iter());
        let (lined_up, in_order) = sync_channel(lanes * MAX_ITEMS_AHEAD);
        thread::scope(|scope| {
            for _ in 0..lanes {
                let (queue, work, lined_up) = (&queue, &work, lined_up.clone());
                scope.spawn(move || {
                    while let Some((item, results)) = next(queue, &lined_up) {
                        // Held back until it is known whether it is the last: the consumer of
                        // the results is woken once for that, and not again for the end.
                        let mut held = None;
                        work(item, &mut |made| {
                            let before = held.replace(made).map(Sent::Result);
                            match before.map(|before| results.send(before)) {
                                Some(Err(_)) => ControlFlow::Break(()),
                                Some(Ok(())) | None => ControlFlow::Continue(()),
                            }
                        });
                        let _ = results.send(Sent::Last(held));
                    }
                    self.idle.fetch_add(1, Ordering::Relaxed);
                });
            }
            drop(lined_up);
            in_order.into_iter().try_for_each(|results: Receiver<Sent<T>>| {
                // A thread that panicked sends nothing more.
                while let Ok(sent) = results.recv() {
                    match sent {
                        Sent::Result(made) => take(made)?,
                        Sent::Last(made) => return made.map_or(Ok(()), &mut take),
                    }
                }
                Ok(())
            })
        })
    }

    /// Whether a thread is idle.
    pub fn has_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Processes all items with the help of idle threads. The results keep the order of the items.
    pub fn map<I: Sync, T: Send>(&self, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
        let wanted = items.len().saturating_sub(1);
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        let idle = self.idle.fetch_update(set, get, |idle| Some(idle - idle.min(wanted)));
        let helpers = idle.unwrap_or_default().min(wanted);
        let next = AtomicUsize::new(0);
        let share = || -> Vec<(usize, T)> {
            iter::from_fn(|| {
                let at = next.fetch_add(1, Ordering::Relaxed);
                Some((at, work(items.get(at)?)))
            })
            .collect()
        };
        let mut made = thread::scope(|scope| {
            let helping: Vec<_> = (0..helpers).map(|_| scope.spawn(share)).collect();
            let own = share();
            let others = helping
                .into_iter()
                .flat_map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)));
            own.into_iter().chain(others).collect::<Vec<_>>()
        });
        self.idle.fetch_add(helpers, Ordering::Relaxed);
        made.sort_by_key(|(at, _)| *at);
        made.into_iter().map(|(_, made)| made).collect()
    }
}

/// A message from a worker thread.
enum Sent<T> {
    Result(T),
    /// The last result, if any; no more follow.
    Last(Option<T>),
}

/// Takes the next item and creates the channel for its results. The receiver is queued while the
/// lock is held, so that receivers keep the order of the items.
fn next<'i, I, T>(
    queue: &Mutex<std::slice::Iter<'i, I>>,
    lined_up: &SyncSender<Receiver<Sent<T>>>,
) -> Option<(&'i I, SyncSender<Sent<T>>)> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let item = queue.next()?;
    let (results, receiver) = sync_channel(MAX_WAITING_RESULTS);
    lined_up.send(receiver).ok()?;
    Some((item, results))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn pool(threads: usize) -> Pool {
        Pool::new(NonZeroUsize::new(threads))
    }

    /// Early items take longest; the number of results of an item is its value.
    fn work(item: &u64, emit: &mut Emit<'_, (u64, u64)>) {
        thread::sleep(Duration::from_micros(2_000 / (item + 1)));
        for n in 0..*item {
            if emit((*item, n)).is_break() {
                return;
            }
        }
    }

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<u64> = (0..40).collect();
        let wanted: Vec<(u64, u64)> =
            items.iter().flat_map(|item| (0..*item).map(|n| (*item, n))).collect();
        for threads in [1, 2, 7, 64] {
            for pool in [pool(threads), pool(threads).one_at_a_time()] {
                let mut taken = Vec::new();
                let done: Result<(), ()> = pool.stream(&items, work, |made| {
                    taken.push(made);
                    Ok(())
                });
                assert_eq!((done, &taken), (Ok(()), &wanted), "{pool:?}");
            }
        }
    }

    #[test]
    fn an_error_stops_the_work() {
        let items: Vec<u64> = (0..2_000).collect();
        for threads in [1, 4] {
            let reached = AtomicUsize::new(0);
            let mut taken = Vec::new();
            let done = pool(threads).stream(
                &items,
                |item, emit| {
                    reached.fetch_add(1, Ordering::Relaxed);
                    work(item, emit);
                },
                |made| {
                    if made == (3, 1) {
                        return Err("enough");
                    }
                    taken.push(made);
                    Ok(())
                },
            );
            assert_eq!((done, taken), (Err("enough"), vec![(1, 0), (2, 0), (2, 1), (3, 0)]));
            assert!(reached.into_inner() < 200, "{threads}");
        }
    }

    #[test]
    fn idle_threads_help_and_no_others() {
        let (busy, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let one = |n: &u64| {
            most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
            busy.fetch_sub(1, Ordering::SeqCst);
            n * 2
        };
        let batch: Vec<u64> = (0..30).collect();
        let doubled: Vec<u64> = batch.iter().map(|n| n * 2).collect();
        let has_helped = AtomicBool::new(false);
        for (threads, items) in [(1, 1), (4, 1), (4, 3), (4, 9)] {
            let (pool, items) = (pool(threads), vec![(); items]);
            let done: Result<(), ()> = pool.stream(
                &items,
                |(), emit| {
                    let _ = emit(pool.map(&batch, one));
                },
                |made| {
                    assert_eq!(made, doubled);
                    Ok(())
                },
            );
            assert_eq!(done, Ok(()));
            let most = most.swap(0, Ordering::SeqCst);
            assert!(most <= threads, "{most} of {threads}");
            has_helped.fetch_or(most > 1, Ordering::SeqCst);
        }
        assert!(has_helped.into_inner());
    }
}
