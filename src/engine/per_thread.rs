//! One of each for every thread, so that threads neither wait for one another nor share lines of the cache.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many as there are threads at once, 64 at the most. Of more threads some have one in common.
#[derive(Debug)]
pub(crate) struct PerThread<T> {
    all: Box<[Padded<T>]>,
}

/// Two lines of the cache, which processors fetch as a pair.
#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(T);

impl<T> PerThread<T> {
    pub(crate) fn new(make: impl Fn() -> T) -> Self {
        // Asking the system reads files.
        static COUNT: OnceLock<usize> = OnceLock::new();
        let count = *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        Self { all: (0..count.clamp(1, 64)).map(|_| Padded(make())).collect() }
    }

    /// Which one is this thread's.
    pub(crate) fn own(&self) -> usize {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static THREAD: Cell<Option<usize>> = const { Cell::new(None) };
        }
        // A thread that is being torn down has no number left; any one will do.
        let number = THREAD.try_with(|thread| {
            thread.get().unwrap_or_else(|| {
                let number = THREADS.fetch_add(1, Ordering::Relaxed);
                thread.set(Some(number));
                number
            })
        });
        number.unwrap_or(0) % self.all.len()
    }

    pub(crate) fn get(&self, index: usize) -> &T {
        &self.all[index].0
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter().map(|padded| &padded.0)
    }
}
