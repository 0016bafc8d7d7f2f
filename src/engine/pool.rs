//! The pool of encoders.

use super::context::{Charge, Context, Key};
use super::shelves::Shelves;
use super::slot::{Place, Slot};
use super::waiting::Waiting;
use crate::codec::{Codec, Setup, Suspended};
use crate::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Encoders that wait for their next message, kept so that none is built per message.
///
/// A cheap handle: clones share one pool. [`EncoderPool::default`] is the pool of the whole process, which is
/// what layers use unless told otherwise (axum calls `Layer::layer` once per route; a pool per service would
/// be a pool per route).
///
/// The pool counts the memory of all contexts that it ever handed out and that still exist, and keeps it below
/// a limit, 32 MiB by default. A gzip or deflate context takes 320 KiB, or 96 KiB for a stream of small events and
/// 72 KiB for small whole bodies; one for a stream takes 1.1 MB with zstd and 1 MB with brotli, at their default
/// levels. Beside it each holds an output buffer of at most 96 KiB, and of 4 KiB while its stream waits.
///
/// At the limit the pool frees idle contexts, then takes contexts from streams that wait, and past that builds
/// contexts for the length of one call. What cannot be taken from a stream that waits, which is zstd and brotli,
/// gets three quarters of the limit at most; streams beyond that get another coding, or none. Idle contexts
/// that nobody used during 256 returns are freed as well.
///
/// Within the default limit that is 22 zstd streams of unknown length at once, or 7 of a known length above
/// 256 KiB, whose contexts take 3.4 MB. A writer that was told its coding
/// keeps to it beyond the limit, too: by then it may stand in a head.
#[derive(Clone)]
pub struct EncoderPool {
    shared: Arc<Shared>,
}

struct Shared {
    limit: usize,
    /// Bytes of all contexts that exist, in use or not.
    memory: Arc<AtomicUsize>,
    /// Bytes of those that streams have for as long as they last.
    reserved: Arc<AtomicUsize>,
    shelves: Shelves<Box<Context>>,
    waiting: Mutex<Waiting>,
    /// Streams that wait without a context.
    parked: AtomicUsize,
    /// How often a stream had no context when it needed one.
    lacking: AtomicU64,
    reclaimed: AtomicU64,
    transient: AtomicU64,
}

/// What a pool has done and holds; see [`EncoderPool::stats`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PoolStats {
    /// Contexts found in the pool.
    pub hits: u64,
    /// Contexts that were not there, and were built or taken from a waiting stream.
    pub misses: u64,
    /// Contexts taken from streams that were waiting.
    pub reclaimed: u64,
    /// Contexts built beyond the limit, for one call each.
    pub transient: u64,
    /// Contexts idle in the pool.
    pub idle: usize,
    /// Streams that wait without a context, because others needed it.
    pub parked: usize,
    /// Bytes of all contexts that exist, in use or idle.
    pub memory: usize,
}

/// Memory set aside for a stream that keeps its context for as long as it lasts.
#[derive(Debug)]
pub(super) struct Reservation {
    /// Of the part of the limit that such streams have. It is given back with the stream.
    _share: Charge,
    /// For the context, which takes it over if it is built for this stream.
    charge: Option<Charge>,
}

/// One part in so many of the limit is not given to contexts that cannot park: idle zstd streams must not
/// leave the streams that do park with contexts for one call each.
const KEPT_FOR_PARKING: usize = 4;

impl EncoderPool {
    /// The default limit on the memory of all contexts, in bytes.
    pub const DEFAULT_LIMIT: usize = 32 * 1024 * 1024;

    /// A pool of its own with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// A pool of its own that keeps all contexts together below `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                limit,
                memory: Arc::default(),
                reserved: Arc::default(),
                shelves: Shelves::new(),
                waiting: Mutex::default(),
                parked: AtomicUsize::new(0),
                lacking: AtomicU64::new(0),
                reclaimed: AtomicU64::new(0),
                transient: AtomicU64::new(0),
            }),
        }
    }

    /// What the pool has done so far and holds now.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        let (idle, hits, misses) = self.shared.shelves.count();
        PoolStats {
            hits,
            misses,
            reclaimed: self.shared.reclaimed.load(Ordering::Relaxed),
            transient: self.shared.transient.load(Ordering::Relaxed),
            idle,
            parked: self.shared.parked.load(Ordering::Relaxed),
            memory: self.shared.memory.load(Ordering::Relaxed),
        }
    }

    /// Sets memory aside for a context that will be needed for as long as a stream lasts; `None`, with nothing
    /// freed, if such streams have their part of the limit.
    pub(super) fn reserve(&self, codec: &'static dyn Codec, setup: Setup) -> Option<Reservation> {
        let Shared { limit, memory, reserved, .. } = &*self.shared;
        let bytes = codec.memory(setup);
        let share = Charge::within(reserved, bytes, limit - limit / KEPT_FOR_PARKING)?;
        let charge = Charge::after(memory, bytes, *limit, || self.free().is_some())?;
        Some(Reservation { _share: share, charge: Some(charge) })
    }

    /// A context: from the shelf, built within the limit, taken from one that waits, or built for one call.
    pub(super) fn take(
        &self,
        key: Key,
        reservation: Option<&mut Reservation>,
    ) -> Result<Box<Context>, Error> {
        // Given back if it turns out not to be needed.
        let reserved = reservation.and_then(|reservation| reservation.charge.take());
        let Shared { limit, memory, shelves, .. } = &*self.shared;
        if let Some(context) = shelves.take(&key) {
            return Ok(context);
        }
        let cost = key.codec.memory(key.setup);
        let mut adopted = None;
        let charge = reserved.or_else(|| {
            Charge::after(memory, cost, *limit, || {
                let Some(mut context) = self.free() else { return false };
                let fits = context.adopt(key);
                adopted = fits.then_some(context);
                !fits
            })
        });
        if let Some(context) = adopted {
            return Ok(context);
        }
        let transient = charge.is_none();
        if transient {
            self.shared.transient.fetch_add(1, Ordering::Relaxed);
        }
        let charge = charge.unwrap_or_else(|| Charge::force(memory, cost));
        Ok(Box::new(Context::new(key, key.codec.encoder(key.setup)?, charge, transient)))
    }

    /// Takes a context back, whatever state it is in, unless it failed: that one is dropped, not given.
    pub(super) fn give(&self, mut context: Box<Context>) {
        if !context.transient && context.reset() {
            self.shared.shelves.put(context);
        }
    }

    /// Whether a stream that has no context may keep the next one while it waits. `last` is when it last had
    /// none, by the pool's count of such events; zero if never.
    ///
    /// It may while there is memory for another, and beyond that if it comes back before all contexts could
    /// have gone to others. Streams that come back more seldom take turns on the few contexts on the shelves,
    /// which thereby stay in the CPU's caches, and leave the contexts of hot streams alone.
    pub(super) fn may_keep(&self, key: &Key, last: &mut u64) -> bool {
        let Shared { limit, memory, lacking, .. } = &*self.shared;
        let cost = key.codec.memory(key.setup).max(1);
        let now = lacking.fetch_add(1, Ordering::Relaxed) + 1;
        let before = std::mem::replace(last, now);
        let is_hot = before > 0 && now - before <= (limit / cost) as u64;
        is_hot || memory.load(Ordering::Relaxed) + cost <= *limit
    }

    /// Puts the context of a stream that waits where other streams can take it.
    pub(super) fn park(&self, slot: &Arc<Slot>, context: Box<Context>) {
        slot.put(Place::Waiting(context));
        if !slot.queued.swap(true, Ordering::Relaxed) {
            self.waiting().add(slot);
        }
    }

    /// Keeps what a stream needs to go on that has given its context back.
    pub(super) fn suspend(&self, slot: &Slot, stream: Suspended) {
        self.shared.parked.fetch_add(1, Ordering::Relaxed);
        slot.put(Place::Suspended { stream, output: Box::default() });
    }

    /// What a waiting stream finds when it comes back.
    pub(super) fn resume(&self, slot: &Slot) -> Place {
        let place = slot.resume();
        if let Place::Suspended { .. } = place {
            self.shared.parked.fetch_sub(1, Ordering::Relaxed);
        }
        place
    }

    /// A context that nobody uses: an idle one, or else that of a stream that waits. To drop it frees memory.
    fn free(&self) -> Option<Box<Context>> {
        self.shared.shelves.evict().or_else(|| self.reclaim())
    }

    fn reclaim(&self) -> Option<Box<Context>> {
        let context = self.waiting().reclaim(&self.shared.parked)?;
        self.shared.reclaimed.fetch_add(1, Ordering::Relaxed);
        Some(context)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for EncoderPool {
    /// The pool of the whole process.
    fn default() -> Self {
        static PROCESS: LazyLock<EncoderPool> = LazyLock::new(EncoderPool::new);
        PROCESS.clone()
    }
}

impl fmt::Debug for EncoderPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncoderPool")
            .field("limit", &self.shared.limit)
            .field("stats", &self.stats())
            .finish()
    }
}
