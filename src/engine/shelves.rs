//! Idle contexts, sharded so that threads do not wait for one another.

use super::per_thread::PerThread;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Every this many returns to a shelf, what stayed unused all the while is freed: trimming needs no timer.
const TRIM_EVERY: u64 = 256;

/// What can lie on a shelf: it is found again by its key.
pub(super) trait Shelved {
    /// All that makes two of them interchangeable.
    type Key: PartialEq;

    fn key(&self) -> &Self::Key;
}

/// The shelves. A thread returns to its own and takes from its own first, so that two threads meet only where
/// one of them has run out.
#[derive(Debug)]
pub(super) struct Shelves<T> {
    shelves: PerThread<Mutex<Shelf<T>>>,
}

#[derive(Debug)]
struct Shelf<T> {
    /// With the number of the return that put each one here, so the one idle longest is first.
    contexts: Vec<(u64, T)>,
    returns: u64,
    hits: u64,
    misses: u64,
}

impl<T: Shelved> Shelves<T> {
    pub(super) fn new() -> Self {
        Self { shelves: PerThread::new(|| Mutex::new(Shelf::new())) }
    }

    /// A context of this key, if any shelf has one.
    pub(super) fn take(&self, key: &T::Key) -> Option<T> {
        let home = self.shelves.own();
        {
            let mut shelf = self.lock(home);
            if let Some(context) = shelf.take(key) {
                shelf.hits += 1;
                return Some(context);
            }
        }
        let found = self.others(home).find_map(|index| self.lock(index).take(key));
        let mut shelf = self.lock(home);
        *if found.is_some() { &mut shelf.hits } else { &mut shelf.misses } += 1;
        found
    }

    /// Puts a clean context on this thread's shelf.
    pub(super) fn put(&self, context: T) {
        let mut shelf = self.lock(self.shelves.own());
        shelf.returns += 1;
        let number = shelf.returns;
        shelf.contexts.push((number, context));
        if number % TRIM_EVERY == 0 {
            let unused = shelf.trim();
            drop(shelf);
            drop(unused);
        }
    }

    /// Gives up one idle context, whichever has been idle longest on its shelf. The caller frees it, outside
    /// the lock.
    pub(super) fn evict(&self) -> Option<T> {
        let home = self.shelves.own();
        self.others(home).chain([home]).find_map(|index| {
            let mut shelf = self.lock(index);
            (!shelf.contexts.is_empty()).then(|| shelf.remove(0))
        })
    }

    /// Idle contexts, hits and misses, summed over the shelves.
    pub(super) fn count(&self) -> (usize, u64, u64) {
        self.shelves.iter().map(lock).fold((0, 0, 0), |(idle, hits, misses), shelf| {
            (idle + shelf.contexts.len(), hits + shelf.hits, misses + shelf.misses)
        })
    }

    fn others(&self, home: usize) -> impl Iterator<Item = usize> {
        let count = self.shelves.len();
        (1..count).map(move |step| (home + step) % count)
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, Shelf<T>> {
        lock(self.shelves.get(index))
    }
}

/// A shelf is consistent between any two statements, so a panic elsewhere does not spoil it.
fn lock<T>(shelf: &Mutex<Shelf<T>>) -> MutexGuard<'_, Shelf<T>> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Shelved> Shelf<T> {
    fn new() -> Self {
        Self { contexts: Vec::new(), returns: 0, hits: 0, misses: 0 }
    }

    /// The context of this key that was used last: its memory is the warmest.
    fn take(&mut self, key: &T::Key) -> Option<T> {
        let index = self.contexts.iter().rposition(|(_, context)| context.key() == key)?;
        Some(self.remove(index))
    }

    fn remove(&mut self, index: usize) -> T {
        self.contexts.remove(index).1
    }

    /// What lay here during the last [`TRIM_EVERY`] returns.
    fn trim(&mut self) -> Vec<(u64, T)> {
        let recent = self.returns.saturating_sub(TRIM_EVERY);
        let unused = self.contexts.partition_point(|(number, _)| *number <= recent);
        self.contexts.drain(..unused).collect()
    }
}
