//! What recent messages needed, so that the next one's buffers begin at the right size.

mod place;
mod recent;

pub use place::Place;

use self::place::PLACES;
use self::recent::Recent;
use super::write_buffer::WriteBuffer;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a layer, or whoever writes messages, has learned of its recent ones. A cheap handle: clones share it.
///
/// The rule. What is known of a message beforehand is its [`Place`]: its route and its media type. For each of 512
/// places it is remembered which sizes its last 28 messages had: what waited in the write buffer and in the output, by
/// powers of two, and their length, by powers of four. The next message's buffer begins with the largest of them, since
/// one that is too large costs nothing until it is written to, and one too small is copied. After a shift of traffic
/// nothing is left of what was before within 32 messages. Where the last messages, eight at the least, were all longer
/// than what is looked ahead, the next one's end is not looked for; where all were short, zstd's window is small, and
/// they share a context. A message like the one before changes nothing, so that threads with steady traffic only read.
/// What a message says of itself, a `Content-Length` or a size hint, goes before what was learned, and nothing that is
/// learned makes a message hold more than 64 KiB.
#[derive(Clone)]
pub struct Sizing {
    rule: Rule,
}

#[derive(Clone)]
enum Rule {
    Learn(Arc<[Record; PLACES]>),
    Fixed(usize),
}

/// What a message is likely to need, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expected {
    gathered: Recent,
    output: Recent,
    length: Recent,
    pub(super) fixed: Option<usize>,
}

impl Expected {
    /// What will wait in the write buffer.
    #[inline]
    #[must_use]
    pub fn gathered(&self) -> usize {
        self.fixed.unwrap_or_else(|| 512 << self.gathered.largest())
    }

    /// Gives a buffer that is still empty the size that is expected.
    pub fn size(&self, buffer: &mut WriteBuffer) {
        match self.fixed {
            Some(bytes) => buffer.fix(bytes),
            None => buffer.expect(self.gathered()),
        }
    }

    /// What will wait in the output at the least, if that is worth an allocation of its own: the encoder asks for the
    /// room that it lacks, to the byte, and keeps it for the messages that follow.
    #[inline]
    #[must_use]
    pub fn output(&self) -> usize {
        let class = self.output.largest();
        if class > 0 { 256 << class } else { 0 }
    }

    /// The length that no recent message went beyond, if there were enough of them to go by.
    #[inline]
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        let class = self.length.largest();
        // The last class has no upper end.
        (class < 7 && self.length.is_enough()).then(|| 1024 << (2 * class))
    }

    /// Whether recent messages were all longer than this, so that the next one is likely to be so too.
    #[inline]
    #[must_use]
    pub fn is_longer_than(&self, bytes: usize) -> bool {
        // The least class holds what the one before it does not.
        self.length.is_enough() && 256 << (2 * self.length.least()) >= bytes as u64
    }
}

/// What a message needed, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observed {
    /// The most that waited in the write buffer.
    pub gathered: usize,
    /// The most that waited in the output. `None` if the message was coded in one call.
    pub output: Option<usize>,
    /// The message's length, if it was complete, and not known beforehand.
    pub length: Option<u64>,
}

impl Sizing {
    /// Learns from every message.
    #[must_use]
    pub fn new() -> Self {
        Self { rule: Rule::Learn(Arc::new(std::array::from_fn(|_| Record::default()))) }
    }

    /// Learns nothing: every write buffer has `bytes` of capacity from its first write on, keeps it, and gathers as
    /// much before each call, up to what a poll may encode.
    #[must_use]
    pub fn fixed(bytes: usize) -> Self {
        Self { rule: Rule::Fixed(bytes) }
    }

    /// What a message is likely to need.
    #[inline]
    #[must_use]
    pub fn expect(&self, place: Place) -> Expected {
        match &self.rule {
            Rule::Learn(records) => records[place.index()].expect(),
            Rule::Fixed(bytes) => Expected { fixed: Some(*bytes), ..Expected::default() },
        }
    }

    /// Learns what a message needed. Called once for each, when it is over.
    #[inline]
    pub fn record(&self, place: Place, observed: Observed) {
        if let Rule::Learn(records) = &self.rule {
            records[place.index()].add(observed);
        }
    }
}

/// What one place's messages needed.
///
/// Nothing depends on the order of what is read and written here. Of two threads that write at once one loses its
/// message, which the next one makes up for.
#[derive(Debug, Default)]
struct Record {
    gathered: AtomicU64,
    output: AtomicU64,
    length: AtomicU64,
}

impl Record {
    #[inline]
    fn expect(&self) -> Expected {
        let load = |recent: &AtomicU64| Recent::from_bits(recent.load(Ordering::Relaxed));
        let (gathered, output, length) = (load(&self.gathered), load(&self.output), load(&self.length));
        Expected { gathered, output, length, fixed: None }
    }

    #[inline]
    fn add(&self, observed: Observed) {
        add(&self.gathered, power(observed.gathered as u64));
        if let Some(bytes) = observed.output {
            add(&self.output, power(bytes as u64));
        }
        if let Some(bytes) = observed.length {
            add(&self.length, power(bytes) / 2);
        }
    }
}

#[inline]
fn add(shared: &AtomicU64, class: u32) {
    let before = Recent::from_bits(shared.load(Ordering::Relaxed));
    let after = before.with(class);
    // What stays as it is is not written.
    if after != before {
        shared.store(after.bits(), Ordering::Relaxed);
    }
}

/// The power of two that `bytes` fit into: 0 for 512, 1 for 1024, and so on.
#[inline]
fn power(bytes: u64) -> u32 {
    (bytes.saturating_sub(1) >> 8 | 1).ilog2()
}

impl Default for Sizing {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule: &dyn fmt::Debug = match &self.rule {
            Rule::Learn(_) => &"learn",
            Rule::Fixed(bytes) => bytes,
        };
        f.debug_struct("Sizing").field("rule", rule).finish()
    }
}

#[cfg(test)]
mod tests;
