//! Shared ownership of values that one thread clones and drops millions of times.
//!
//! Every text of a trace owns a share of the block that contains it, so that a call has a
//! dozen shares. An [`Arc`](std::sync::Arc) needs two atomic operations for each, which is a
//! tenth of the time it takes to read and grade a trace. Here, a thread takes many shares of
//! a value at once, and hands them out and takes them back without atomic operations until
//! it turns to another value.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of shares a thread takes at once: more than any value has.
const BATCH: usize = 1 << 24;

/// A value that lives as long as one of its shares. Creating and dropping a share is very
/// cheap while a thread works with one value at a time.
///
/// A thread may keep the value it used last until it uses another one or ends, but only
/// if shares of that value were sent to another thread.
///
/// ```
/// use toolmark_scan::Shared;
///
/// let text = Shared::new(String::from("a block of text"));
/// let same = Shared::clone(&text);
/// drop(text);
/// assert_eq!(same.len(), 15);
/// ```
pub struct Shared<T: Send + Sync + 'static> {
    inner: NonNull<Inner<T>>,
    owns: PhantomData<Inner<T>>,
}

/// A value and its count. The count comes first, so that a pointer to it is also a pointer
/// to the whole.
#[repr(C)]
struct Inner<T> {
    count: ShareCount,
    value: T,
}

/// The number of shares, and a function that frees the value. Shares are held by
/// [`Shared`] values, one each, and by the [`LocalShares`] of a thread.
struct ShareCount {
    shares: AtomicUsize,
    /// Frees the value and this count. It must be called with the `ShareCount` of an `Inner` that
    /// has no shares left.
    free: unsafe fn(NonNull<ShareCount>),
}

// SAFETY: it is an `Arc` of a value that may be used and dropped by any thread. Which
// thread holds how many of the shares makes no difference to the value.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

/// The shares of one value that a thread holds.
struct LocalShares {
    /// Value that the shares belong to; `None` if there are no shares.
    of: Cell<Option<NonNull<ShareCount>>>,
    shares: Cell<usize>,
}

thread_local! {
    static LOCAL: LocalShares = const { LocalShares { of: Cell::new(None), shares: Cell::new(0) } };
}

impl LocalShares {
    /// Takes one share. The caller must hold one, so that the value is alive.
    #[inline]
    unsafe fn take(&self, count: NonNull<ShareCount>) {
        let shares = self.shares.get();
        if self.of.get() == Some(count) && shares > 0 {
            self.shares.set(shares - 1);
        } else {
            // SAFETY: the caller has a share.
            unsafe { self.take_batch(count) };
        }
    }

    /// Takes a new batch of shares, and one share of it. The caller must hold one.
    #[cold]
    unsafe fn take_batch(&self, count: NonNull<ShareCount>) {
        // SAFETY: the caller has a share.
        unsafe { add(count, BATCH) };
        let before = (self.of.replace(Some(count)), self.shares.replace(BATCH - 1));
        give_back(before);
    }

    /// Returns a share of the caller, and frees the value if it has no other users.
    #[inline]
    unsafe fn put(&self, count: NonNull<ShareCount>) {
        if self.of.get() == Some(count) {
            self.shares.set(self.shares.get() + 1);
            self.empty_if_unused(count);
        } else {
            let before = (self.of.replace(Some(count)), self.shares.replace(1));
            self.empty_if_unused(count);
            // Last, because a value that is dropped may come back here.
            give_back(before);
        }
    }

    /// Returns all shares if every share of this value, which is the current one, is here.
    #[inline]
    fn empty_if_unused(&self, count: NonNull<ShareCount>) {
        // SAFETY: there is a share here, so there is a value.
        let all = unsafe { count.as_ref() }.shares.load(Ordering::Relaxed);
        if all == self.shares.get() {
            self.empty();
        }
    }

    /// Returns all shares.
    #[cold]
    fn empty(&self) {
        give_back((self.of.take(), self.shares.take()));
    }
}

impl Drop for LocalShares {
    fn drop(&mut self) {
        self.empty();
    }
}

/// Returns the given shares, which the caller no longer holds.
fn give_back((of, shares): (Option<NonNull<ShareCount>>, usize)) {
    if let Some(count) = of
        && shares > 0
    {
        // SAFETY: these shares were in hand and are nowhere else now.
        unsafe { subtract(count, shares) };
    }
}

/// Adds shares. The caller must hold one.
unsafe fn add(count: NonNull<ShareCount>, shares: usize) {
    // SAFETY: the caller has a share, so there is a value.
    let before = unsafe { count.as_ref() }.shares.fetch_add(shares, Ordering::Relaxed);
    // Too many to count is more than fits into memory, unless they are forgotten.
    if before > usize::MAX / 2 {
        abort();
    }
}

/// Releases shares of the caller, and frees the value if no others remain.
unsafe fn subtract(count: NonNull<ShareCount>, shares: usize) {
    // SAFETY: the caller has shares, so there is a value. What others did with it before
    // they gave back theirs has happened before it is freed.
    unsafe {
        if count.as_ref().shares.fetch_sub(shares, Ordering::AcqRel) == shares {
            (count.as_ref().free)(count);
        }
    }
}

/// Frees an `Inner<T>`. `count` must be its count, and it must have no shares left.
unsafe fn free<T>(count: NonNull<ShareCount>) {
    // SAFETY: it was made by `Box::into_raw` in `new`, and its count is its first field.
    drop(unsafe { Box::from_raw(count.cast::<Inner<T>>().as_ptr()) });
}

impl<T: Send + Sync> Shared<T> {
    /// Creates a value with its first share.
    #[must_use]
    pub fn new(value: T) -> Self {
        let count = ShareCount { shares: AtomicUsize::new(1), free: free::<T> };
        let inner = NonNull::from(Box::leak(Box::new(Inner { count, value })));
        Self { inner, owns: PhantomData }
    }

    /// Returns whether both are shares of the same value.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<T: Send + Sync> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        let count = self.inner.cast::<ShareCount>();
        // SAFETY: `self` is a share.
        let took = LOCAL.try_with(|local| unsafe { local.take(count) });
        if took.is_err() {
            // SAFETY: as above. The thread ends and has no local shares any more.
            unsafe { add(count, 1) };
        }
        Self { inner: self.inner, owns: PhantomData }
    }
}

impl<T: Send + Sync> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        let count = self.inner.cast::<ShareCount>();
        // SAFETY: `self` is a share, and is not used any more.
        let put = LOCAL.try_with(|local| unsafe { local.put(count) });
        if put.is_err() {
            // SAFETY: as above. The thread ends and has no local shares any more.
            unsafe { subtract(count, 1) };
        }
    }
}

impl<T: Send + Sync> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `self` is a share, and a shared value is never changed.
        unsafe { &self.inner.as_ref().value }
    }
}

impl<T: Send + Sync + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    /// Counts how many of its instances were dropped.
    struct DropCounter(Arc<AtomicUsize>);

    impl Drop for DropCounter {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn counted(dropped: &Arc<AtomicUsize>) -> Shared<DropCounter> {
        Shared::new(DropCounter(Arc::clone(dropped)))
    }

    #[test]
    fn the_last_share_frees_at_once() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let seen = || dropped.load(Ordering::SeqCst);
        let first = counted(&dropped);
        let shares = vec![first.clone(); 10];
        let other = counted(&dropped);
        let others = vec![other.clone(); 10];
        drop(first);
        drop(shares);
        assert_eq!(seen(), 1);
        drop(others);
        assert!(other.ptr_eq(&other.clone()));
        drop(other);
        assert_eq!(seen(), 2);
        drop(counted(&dropped));
        assert_eq!(seen(), 3);
    }

    #[test]
    fn a_thread_that_ends_keeps_nothing() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let first = counted(&dropped);
        let shares = thread::spawn(move || vec![first; 100]).join().unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(shares);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn shares_are_dropped_when_a_thread_ends() {
        thread_local!(static LATE: Cell<Option<Shared<DropCounter>>> = const { Cell::new(None) });
        let dropped = Arc::new(AtomicUsize::new(0));
        let first = counted(&dropped);
        thread::spawn(move || {
            // Its destructor is there before that of the local shares, and after it.
            LATE.set(None);
            LATE.set(Some(first.clone()));
        })
        .join()
        .unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn many_threads_hand_shares_around() {
        const THREADS: usize = 4;
        let (dropped, rounds) = (Arc::new(AtomicUsize::new(0)), 2_000);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| channel()).unzip();
        let work = receivers.into_iter().enumerate().map(|(at, receiver)| {
            let (next, dropped) = (senders[(at + 1) % THREADS].clone(), Arc::clone(&dropped));
            thread::spawn(move || {
                for round in 0..rounds {
                    let own = counted(&dropped);
                    let _ = next.send((own.clone(), own.clone()));
                    let (a, b): (Shared<DropCounter>, Shared<DropCounter>) =
                        receiver.recv().unwrap();
                    assert!(a.ptr_eq(&b) && !a.ptr_eq(&own));
                    let more = [a.clone(), own.clone(), b.clone(), a.clone()];
                    if round % 3 == 0 {
                        drop(own);
                        drop(more);
                    }
                }
            })
        });
        let work: Vec<_> = work.collect();
        drop(senders);
        // Not a scope, which does not wait for what a thread does at its end.
        work.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(dropped.load(Ordering::SeqCst), THREADS * rounds);
    }

    proptest! {
        /// Drops a value with its last share, whatever is cloned and dropped in between.
        #[test]
        fn values_live_as_long_as_their_shares(steps in prop::collection::vec(0..40_usize, 0..200)) {
            let mut values: Vec<(Arc<AtomicUsize>, Vec<Shared<DropCounter>>)> = Vec::new();
            for step in steps {
                let (which, what) = (step % 8, step / 8);
                match values.get_mut(which) {
                    None => {
                        let dropped = Arc::new(AtomicUsize::new(0));
                        let first = counted(&dropped);
                        values.push((dropped, vec![first]));
                    }
                    Some((_, shares)) if what < 2 => shares.extend(shares.last().cloned()),
                    Some((_, shares)) if what == 2 => {
                        let taken = std::mem::take(shares);
                        *shares = thread::spawn(move || {
                            let more = taken.clone();
                            drop(taken);
                            more
                        }).join().unwrap();
                    }
                    Some((_, shares)) => drop(shares.pop()),
                }
                for (dropped, shares) in &values {
                    prop_assert_eq!(dropped.load(Ordering::SeqCst), usize::from(shares.is_empty()));
                }
            }
        }
    }
}
