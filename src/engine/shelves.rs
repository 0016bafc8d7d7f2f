//! Idle contexts, sharded so that threads do not wait for one another.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Every this many returns to a shelf, what stayed unused all the while is freed: trimming needs no timer.
const TRIM_EVERY: u32 = 256;

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
    shelves: Box<[Padded<T>]>,
}

/// One shelf to a cache line pair, so that the locks of two threads do not share one.
#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(Mutex<Shelf<T>>);

#[derive(Debug)]
struct Shelf<T> {
    contexts: Vec<T>,
    returns: u32,
    /// The fewest contexts on the shelf since the last trim.
    low_water: usize,
    hits: u64,
    misses: u64,
}

impl<T: Shelved> Shelves<T> {
    pub(super) fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { shelves: (0..threads.clamp(1, 64)).map(|_| Padded(Mutex::new(Shelf::new()))).collect() }
    }

    /// A context of this key, if any shelf has one.
    pub(super) fn take(&self, key: &T::Key) -> Option<T> {
        let home = self.home();
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
        let mut shelf = self.lock(self.home());
        shelf.contexts.push(context);
        shelf.returns += 1;
        if shelf.returns >= TRIM_EVERY {
            let unused = shelf.trim();
            drop(shelf);
            drop(unused);
        }
    }

    /// Gives up one idle context, whichever has been idle longest on its shelf. The caller frees it, outside
    /// the lock.
    pub(super) fn evict(&self) -> Option<T> {
        let home = self.home();
        self.others(home).chain([home]).find_map(|index| {
            let mut shelf = self.lock(index);
            (!shelf.contexts.is_empty()).then(|| shelf.remove(0))
        })
    }

    /// Idle contexts, hits and misses, summed over the shelves.
    pub(super) fn count(&self) -> (usize, u64, u64) {
        (0..self.shelves.len()).fold((0, 0, 0), |(idle, hits, misses), index| {
            let shelf = self.lock(index);
            (idle + shelf.contexts.len(), hits + shelf.hits, misses + shelf.misses)
        })
    }

    fn others(&self, home: usize) -> impl Iterator<Item = usize> {
        let count = self.shelves.len();
        (1..count).map(move |step| (home + step) % count)
    }

    fn home(&self) -> usize {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static THREAD: Cell<Option<usize>> = const { Cell::new(None) };
        }
        // A thread that is being torn down has no number left; any shelf will do.
        let number = THREAD.try_with(|thread| {
            thread.get().unwrap_or_else(|| {
                let number = THREADS.fetch_add(1, Ordering::Relaxed);
                thread.set(Some(number));
                number
            })
        });
        number.unwrap_or(0) % self.shelves.len()
    }

    /// A shelf is consistent between any two statements, so a panic elsewhere does not spoil it.
    fn lock(&self, index: usize) -> MutexGuard<'_, Shelf<T>> {
        self.shelves[index].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Shelved> Shelf<T> {
    fn new() -> Self {
        Self { contexts: Vec::new(), returns: 0, low_water: 0, hits: 0, misses: 0 }
    }

    /// The context of this key that was used last: its memory is the warmest.
    fn take(&mut self, key: &T::Key) -> Option<T> {
        let index = self.contexts.iter().rposition(|context| context.key() == key)?;
        Some(self.remove(index))
    }

    fn remove(&mut self, index: usize) -> T {
        let context = self.contexts.remove(index);
        self.low_water = self.low_water.min(self.contexts.len());
        context
    }

    fn trim(&mut self) -> Vec<T> {
        let unused = self.low_water.min(self.contexts.len());
        self.returns = 0;
        let freed = self.contexts.drain(..unused).collect();
        self.low_water = self.contexts.len();
        freed
    }
}
