//! The slots of streams that wait with a context which other streams may take.

use super::context::Context;
use super::slot::{Reclaim, Slot};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// A clock: the slot at the front is looked at next, and a stream that has come back since the last look is
/// passed over once.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    slots: VecDeque<Arc<Slot>>,
    /// The next slot to look at for whether its stream has ended.
    checked: usize,
}

impl Waiting {
    /// Adds a slot that is not in the queue.
    pub(super) fn add(&mut self, slot: &Arc<Slot>) {
        // Streams that ended left their slots here. Looking at two for each one added keeps their number near
        // that of the live ones.
        for _ in 0..2 {
            self.checked = (self.checked + 1) % self.slots.len().max(1);
            if self.slots.get(self.checked).is_some_and(is_left) {
                self.slots.swap_remove_back(self.checked);
            }
        }
        self.slots.push_back(Arc::clone(slot));
    }

    /// Takes a context away from a stream, and counts that stream as `parked`.
    pub(super) fn reclaim(&mut self, parked: &AtomicUsize) -> Option<Box<Context>> {
        // Twice around: the first look takes the second chance away.
        for _ in 0..2 * self.slots.len() {
            let slot = self.slots.pop_front()?;
            match slot.reclaim(parked) {
                Reclaim::Context(context) => return Some(context),
                Reclaim::Nothing if is_left(&slot) => {}
                Reclaim::Later | Reclaim::Nothing => self.slots.push_back(slot),
            }
        }
        None
    }
}

/// Whether the stream has ended, and only the queue still knows the slot.
fn is_left(slot: &Arc<Slot>) -> bool {
    Arc::strong_count(slot) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_streams_that_ended_do_not_pile_up() {
        let mut waiting = Waiting::default();
        let live: Vec<_> = (0..10).map(|_| Arc::<Slot>::default()).collect();
        live.iter().for_each(|slot| waiting.add(slot));
        for _ in 0..1000 {
            waiting.add(&Arc::default());
            assert!(waiting.slots.len() <= 4 * live.len(), "{}", waiting.slots.len());
        }
        let held = |slot: &&Arc<Slot>| waiting.slots.iter().any(|held| Arc::ptr_eq(held, slot));
        assert_eq!(live.iter().filter(held).count(), live.len());
    }
}
