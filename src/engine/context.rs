//! An encoder with what belongs to it: its key, its output buffer, and its share of the pool's memory.

use super::shelves::Shelved;
use crate::codec::{Codec, Encoder, Operation, Setup, Suspended};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What two contexts must have in common to be interchangeable: all that changes their tables, which is an
/// encoder's setup or a decoder's limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<S = Setup> {
    pub(super) codec: &'static dyn Codec,
    pub(super) setup: S,
}

impl<S: PartialEq> PartialEq for Key<S> {
    fn eq(&self, other: &Self) -> bool {
        self.setup == other.setup && is_same(self.codec, other.codec)
    }
}

/// Whether this is one codec: a layer must not get the contexts of another one, even of the same name.
///
/// A codec without fields is its type, since two such statics may share an address; any other is its place.
fn is_same(one: &'static dyn Codec, other: &'static dyn Codec) -> bool {
    one.type_id() == other.type_id() && (size_of_val(one) == 0 || std::ptr::addr_eq(one, other))
}

/// An encoder on loan or on the shelf. Boxed, since it moves between streams, slots and shelves.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) key: Key,
    pub(super) encoder: Box<dyn Encoder>,
    /// What came out and was not yet taken. It stays with the context, so that idle streams hold none.
    pub(super) output: Vec<u8>,
    /// Whether it was built beyond the pool's limit, and must not outlive the call it was built for.
    pub(super) transient: bool,
    _charge: Charge,
}

impl Context {
    pub(super) fn new(key: Key, encoder: Box<dyn Encoder>, charge: Charge, transient: bool) -> Self {
        Self { key, encoder, output: Vec::new(), transient, _charge: charge }
    }

    /// Makes the context as new; `false` if it must be dropped.
    pub(super) fn reset(&mut self) -> bool {
        self.output.clear();
        if self.output.capacity() > MAX_IDLE_OUTPUT {
            self.output = Vec::new();
        }
        self.encoder.reset()
    }

    /// Makes the context as new and fit for `key`; `false` if it can only be dropped or, where the codec or
    /// the size class are others, put back.
    pub(super) fn adopt(&mut self, key: Key) -> bool {
        let level = key.setup.level;
        let same_tables = Key { setup: Setup { level, ..self.key.setup }, ..self.key } == key;
        let same_memory = || key.codec.memory(self.key.setup) == key.codec.memory(key.setup);
        if !same_tables || !same_memory() || !self.reset() {
            return false;
        }
        let fits = self.key.setup.level == level || self.encoder.set_level(level);
        if fits {
            self.key = key;
        }
        fits
    }

    /// What the stream needs to go on in another context, and what this one had not put out yet. `None` if the codec
    /// cannot do that.
    pub(super) fn suspend(&mut self) -> Option<(Suspended, Box<[u8]>)> {
        if let Some(stream) = self.encoder.suspend() {
            return Some((stream, Box::default()));
        }
        self.encoder.encode(&[], Operation::Flush, &mut self.output).ok()?;
        let stream = self.encoder.suspend()?;
        let output = self.output.as_slice().into();
        self.output.clear();
        Some((stream, output))
    }

    /// Gives back an output buffer that is larger than an event's: the stream waits.
    pub(super) fn shrink(&mut self) {
        if self.output.capacity() > MAX_WAITING_OUTPUT {
            self.output = Vec::new();
        }
    }
}

impl Shelved for Box<Context> {
    type Key = Key;

    fn key(&self) -> &Key {
        &self.key
    }
}

/// The output capacity that an idle context may keep: a chunk of 16 KiB that is nearly full, and the worst case of
/// the largest batch, which is 77 KiB for snappy's 64.
const MAX_IDLE_OUTPUT: usize = 96 * 1024;

/// The output capacity that the context of a waiting stream may keep: that of an event of a few KiB.
const MAX_WAITING_OUTPUT: usize = 4 * 1024;

/// Bytes counted against a limit for as long as this lives.
#[derive(Debug)]
pub(super) struct Charge {
    account: Arc<AtomicUsize>,
    bytes: usize,
}

impl Charge {
    /// Counts `bytes` whatever the limit.
    pub(super) fn force(account: &Arc<AtomicUsize>, bytes: usize) -> Self {
        account.fetch_add(bytes, Ordering::Relaxed);
        Self { account: Arc::clone(account), bytes }
    }

    /// Counts `bytes` once the sum stays within `limit`, calling `free` until it does; `None` if that says
    /// that there is nothing to free.
    pub(super) fn after(
        account: &Arc<AtomicUsize>,
        bytes: usize,
        limit: usize,
        mut free: impl FnMut() -> bool,
    ) -> Option<Self> {
        if bytes > limit {
            return None;
        }
        loop {
            let charge = Self::within(account, bytes, limit);
            if charge.is_some() || !free() {
                return charge;
            }
        }
    }

    /// Counts `bytes` if the sum stays within `limit`.
    pub(super) fn within(account: &Arc<AtomicUsize>, bytes: usize, limit: usize) -> Option<Self> {
        account
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |sum| {
                sum.checked_add(bytes).filter(|sum| *sum <= limit)
            })
            .ok()?;
        Some(Self { account: Arc::clone(account), bytes })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
