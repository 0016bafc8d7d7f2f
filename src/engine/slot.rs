//! Where the context of a waiting stream sits, so that another stream can take it.

use super::context::Context;
use crate::codec::Suspended;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One waiting stream's place. Its stream and the pool share it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    place: Mutex<Place>,
    /// Whether the stream came back since the pool last looked: a second chance for streams that are hot.
    used: AtomicBool,
    /// Whether the pool's queue has this slot.
    pub(super) queued: AtomicBool,
}

/// What is in a slot.
#[derive(Debug, Default)]
pub(super) enum Place {
    /// The stream is at work, or gone.
    #[default]
    Empty,
    /// The stream waits, and its context is still its own.
    Waiting(Box<Context>),
    /// The stream waits; its context went to another one. The output was still in that one, and goes out first.
    Suspended { stream: Suspended, output: Box<[u8]> },
}

impl Slot {
    pub(super) fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts down what the stream takes up again later; a context may be taken away in between.
    pub(super) fn put(&self, place: Place) {
        self.used.store(true, Ordering::Relaxed);
        *self.lock() = place;
    }

    /// Takes up what is there.
    pub(super) fn resume(&self) -> Place {
        std::mem::take(&mut *self.lock())
    }

    /// Takes the context away, leaving what its stream needs to go on, and counts that stream as `parked`.
    ///
    /// All that changes does so under the slot's lock: a stream that finds its context gone, and so the slot
    /// out of the queue, can rely on that when it next puts a context down.
    pub(super) fn reclaim(&self, parked: &AtomicUsize) -> Reclaim {
        if self.used.swap(false, Ordering::Relaxed) {
            return Reclaim::Later;
        }
        // A slot whose lock is taken is in use at this very moment.
        let Ok(mut place) = self.place.try_lock() else { return Reclaim::Later };
        match std::mem::take(&mut *place) {
            Place::Waiting(mut context) => match context.suspend() {
                Some((stream, output)) => {
                    *place = Place::Suspended { stream, output };
                    parked.fetch_add(1, Ordering::Relaxed);
                    self.queued.store(false, Ordering::Relaxed);
                    Reclaim::Context(context)
                }
                None => {
                    *place = Place::Waiting(context);
                    Reclaim::Later
                }
            },
            other => {
                *place = other;
                Reclaim::Nothing
            }
        }
    }
}

/// What came of taking a context away.
#[derive(Debug)]
pub(super) enum Reclaim {
    /// It still needs a reset.
    Context(Box<Context>),
    /// The slot is in use: ask again after the others.
    Later,
    /// There is none here.
    Nothing,
}
