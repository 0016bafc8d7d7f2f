//! What recent messages needed, so that the next one's buffers begin at the right size.

mod place;
mod recent;

pub use place::Place;

use self::place::PLACES;
use self::recent::{Kind, LAST, Recent};
use super::write_buffer::WriteBuffer;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a layer, or whoever writes messages, has learned of its recent ones. A cheap handle: clones share it.
///
/// The rule. What is known of a message beforehand is its [`Place`]: its route and its media type. For each of 512
/// places it is remembered which sizes its last messages had, 16 at the least and 32 at the most: what waited in the write
/// buffer and in the output, by powers of two, and their length, by powers of four. The next message's buffer begins with
/// the largest of them, since one that is too large costs nothing until it is written to, and one too small is copied.
/// After a shift of traffic nothing is left of what was before within 32 messages. Where the last messages, eight at the
/// least, were all longer than what is looked ahead, the next one's end is not looked for; where all were short, zstd's
/// window is small, and they share a context. A message like those before changes nothing, so that threads with steady
/// traffic only read. What a message says of itself, a `Content-Length` or a size hint, goes before what was learned, and
/// nothing that is learned makes a message hold more than 64 KiB in its write buffer, and half as much in its output.
#[derive(Clone)]
pub struct Sizing {
    records: Arc<[Record; PLACES]>,
    fixed: Option<usize>,
}

/// What a message of some place is likely to need, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    place: Place,
    recent: Recent,
    pub(super) fixed: Option<usize>,
}

impl Expected {
    /// Whose messages these are.
    #[inline]
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// What will wait in the write buffer.
    #[inline]
    #[must_use]
    pub fn gathered(&self) -> usize {
        self.fixed.unwrap_or_else(|| 512 << self.recent.largest(Kind::Gathered))
    }

    /// Gives a buffer that is still empty the size that is expected: that of the message, where it is `known`.
    pub fn size(&self, buffer: &mut WriteBuffer, known: Option<u64>) {
        match (self.fixed, known) {
            (Some(bytes), _) => buffer.fix(bytes),
            (None, Some(bytes)) => buffer.expect(usize::try_from(bytes).unwrap_or(usize::MAX)),
            (None, None) => buffer.expect(self.gathered()),
        }
    }

    /// What will wait in the output at the least, if that is worth an allocation of its own: the encoder asks for the
    /// room that it lacks, to the byte, and keeps it for the messages that follow.
    #[inline]
    #[must_use]
    pub fn output(&self) -> usize {
        // Half of it, and nothing of the least class.
        (256 << self.recent.largest(Kind::Output)) & !256
    }

    /// The length that no recent message went beyond, if there were enough of them to go by.
    #[inline]
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        let class = self.recent.largest(Kind::Length);
        // The last class has no upper end.
        let tells = self.recent.has(Kind::Length) && self.recent.is_enough();
        (tells && class < LAST).then(|| 1024 << (2 * class))
    }

    /// Whether recent messages were all longer than this, so that the next one is likely to be so too.
    #[inline]
    #[must_use]
    pub fn is_longer_than(&self, bytes: usize) -> bool {
        self.least_length() > bytes as u64
    }

    /// What recent messages were all longer than, and one more; 0 where that is not known.
    #[inline]
    fn least_length(&self) -> u64 {
        // The least class holds what the one before it does not, and the first one what is empty.
        match self.recent.least(Kind::Length) {
            class @ 1..=LAST if self.recent.is_enough() && self.fixed.is_none() => (256 << (2 * class)) + 1,
            _ => 0,
        }
    }
}

/// What a message needed, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observed {
    /// The most that waited in the write buffer.
    pub gathered: usize,
    /// The most that waited in the output. `None` if the message was coded in one call.
    pub output: Option<usize>,
    /// The message's length, if it was complete.
    pub length: Option<u64>,
}

impl Sizing {
    /// Learns from every message.
    #[must_use]
    pub fn new() -> Self {
        Self { records: Arc::new(std::array::from_fn(|_| Record::default())), fixed: None }
    }

    /// Does not size write buffers: every one has `bytes` of capacity from its first write on, 1 MiB at the most, keeps it,
    /// and gathers as much before each call, up to what a poll may encode.
    #[must_use]
    pub fn fixed(bytes: usize) -> Self {
        Self { fixed: Some(bytes.min(MOST_FIXED)), ..Self::new() }
    }

    /// What a message is likely to need.
    #[inline]
    #[must_use]
    pub fn expect(&self, place: Place) -> Expected {
        Expected { place, recent: self.records[place.index()].recent(), fixed: self.fixed }
    }

    /// Learns what a message needed. Called once for each, when it is over.
    #[inline]
    pub fn record(&self, place: Place, observed: Observed) {
        self.records[place.index()].add(observed);
    }
}

/// What one place's messages needed. A line of the cache for each, so that a place whose messages change it does not slow
/// its neighbours down.
///
/// Of two threads that write at once one loses its message, which the next one makes up for.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Record(AtomicU64);

impl Record {
    #[inline]
    fn recent(&self) -> Recent {
        Recent::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    fn add(&self, observed: Observed) {
        let before = self.recent();
        let after = before.with(observed);
        // What stays as it is is not written.
        if after != before {
            self.0.store(after.bits(), Ordering::Relaxed);
        }
    }
}

/// 1 MiB, for the largest look-ahead there may be.
const MOST_FIXED: usize = 1024 * 1024;

impl Default for Sizing {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sizing").field("fixed", &self.fixed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
