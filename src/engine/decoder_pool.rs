//! The pool of decoders.

use super::context::{Charge, Key};
use super::pool::PoolStats;
use super::shelves::{Shelved, Shelves};
use crate::codec::{DecodeLimits, Decoder};
use crate::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// Decoders that wait for their next message, kept so that none is built per message.
///
/// A cheap handle: clones share one pool. [`DecoderPool::default`] is the pool of the whole process.
///
/// The limit (8 MiB by default) bounds the memory of idle decoders. Those at work are as many as there are
/// messages being decoded, and what each may hold is bounded by [`Limits`](crate::Limits): about 50 KiB for
/// gzip and deflate, 150 KiB and the declared window for zstd, 64 KiB and the decoded message for raw snappy. Beyond
/// the limit the longest idle are freed; so are decoders that nobody used during 256 returns.
#[derive(Clone)]
pub struct DecoderPool {
    shared: Arc<Shared>,
}

struct Shared {
    limit: usize,
    /// Bytes of all idle decoders.
    memory: Arc<AtomicUsize>,
    shelves: Shelves<Idle>,
}

/// What two decoders must have in common to be interchangeable.
pub(super) type DecoderKey = Key<DecodeLimits>;

struct Idle {
    key: DecoderKey,
    decoder: Box<dyn Decoder>,
    _charge: Charge,
}

impl Shelved for Idle {
    type Key = DecoderKey;

    fn key(&self) -> &DecoderKey {
        &self.key
    }
}

impl DecoderPool {
    /// The default limit on the memory of idle decoders, in bytes.
    pub const DEFAULT_LIMIT: usize = 8 * 1024 * 1024;

    /// A pool of its own with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// A pool of its own that keeps at most `limit` bytes of idle decoders; with zero it keeps none.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { shared: Arc::new(Shared { limit, memory: Arc::default(), shelves: Shelves::new() }) }
    }

    /// What the pool has done so far and holds now: its own idle decoders only.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        let (idle, hits, misses) = self.shared.shelves.count();
        let memory = self.shared.memory.load(Ordering::Relaxed);
        PoolStats { hits, misses, idle, memory, ..PoolStats::default() }
    }

    /// A decoder as new, from the shelf or built.
    pub(super) fn take(&self, key: DecoderKey) -> Result<Box<dyn Decoder>, Error> {
        match self.shared.shelves.take(&key) {
            Some(idle) => Ok(idle.decoder),
            None => key.codec.decoder(key.setup),
        }
    }

    /// Takes a decoder back, whatever state it is in, unless it failed: that one is dropped, not given.
    pub(super) fn give(&self, key: DecoderKey, mut decoder: Box<dyn Decoder>) {
        if !decoder.reset() {
            return;
        }
        let Shared { limit, memory, shelves } = &*self.shared;
        if let Some(charge) = Charge::after(memory, decoder.memory(), *limit, || shelves.evict().is_some()) {
            shelves.put(Idle { key, decoder, _charge: charge });
        }
    }
}

impl Default for DecoderPool {
    /// The pool of the whole process.
    fn default() -> Self {
        static PROCESS: LazyLock<DecoderPool> = LazyLock::new(DecoderPool::new);
        PROCESS.clone()
    }
}

impl fmt::Debug for DecoderPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecoderPool")
            .field("limit", &self.shared.limit)
            .field("stats", &self.stats())
            .finish()
    }
}
