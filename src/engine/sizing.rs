//! What recent messages needed, so that the next one's buffers begin at the right size.

use super::write_buffer::WriteBuffer;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a layer, or whoever writes messages, has learned of its recent ones. A cheap handle: clones share it.
///
/// The rule. What is known of a message beforehand is its [`Place`]: its route and its media type. For each of 512
/// places three things are counted of recent messages: what waited in the write buffer and in the output, by powers
/// of two, and their length, by powers of four. The next message expects the largest that was seen: a buffer too
/// large costs nothing until it is written to, one too small is copied. At 15 messages, the most that four bits hold,
/// all counts are halved, so that a size that does not come back is forgotten after 25 messages, and one odd message
/// after 8. A message like all that are remembered changes nothing, so that threads with steady traffic only read.
/// What a message says of itself, a `Content-Length` or a size hint, goes before what was learned.
#[derive(Clone)]
pub struct Sizing {
    rule: Rule,
}

#[derive(Clone)]
enum Rule {
    Learn(Arc<[Record; PLACES]>),
    Fixed(usize),
}

/// What is known of a message before it is made.
///
/// Messages of one place are taken to be alike. Those of different ones may come to share a record: then the
/// larger is expected of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u64);

/// What a message is likely to need, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expected {
    gathered: Counts,
    output: Counts,
    length: Counts,
    pub(super) fixed: Option<usize>,
}

impl Expected {
    /// What will wait in the write buffer.
    #[inline]
    #[must_use]
    pub fn gathered(&self) -> usize {
        self.fixed.unwrap_or_else(|| 512 << self.gathered.largest().unwrap_or(0))
    }

    /// Gives a buffer that is still empty the size that is expected.
    pub fn size(&self, buffer: &mut WriteBuffer) {
        match self.fixed {
            Some(bytes) => buffer.fix(bytes),
            None => buffer.expect(self.gathered()),
        }
    }

    /// What will wait in the output; zero if nothing is known, or if it is not worth a thought.
    #[inline]
    #[must_use]
    pub fn output(&self) -> usize {
        self.output.largest().filter(|class| *class > 0).map_or(0, |class| 512 << class)
    }

    /// The length that no recent message went beyond, if there were enough of them to go by.
    #[inline]
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        let class = self.length.largest().filter(|_| self.length.sum() >= ENOUGH)?;
        // The last class has no upper end.
        (class < 7).then(|| 1024 << (2 * class))
    }

    /// Whether recent messages were all longer than this, so that the next one is likely to be so too.
    #[inline]
    #[must_use]
    pub fn is_longer_than(&self, bytes: usize) -> bool {
        // The least class holds what the one before it does not.
        self.length.least().is_some_and(|class| 256 << (2 * class) >= bytes as u64)
            && self.length.sum() >= ENOUGH
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

/// 4 KiB for a layer. An API has tens of routes, so that few share a place.
const PLACES: usize = 512;

/// So many bytes tell routes apart, and a hostile one costs no more.
const LONGEST_ROUTE: usize = 64;

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

impl Place {
    /// Where nothing is known.
    pub const ANY: Self = Self(0);

    /// The place of messages of one route, such as a path. Digits in it count for nothing: `/orders/7` and
    /// `/orders/12` are one.
    #[inline]
    #[must_use]
    pub fn of_route(route: &[u8]) -> Self {
        let route = &route[..route.len().min(LONGEST_ROUTE)];
        let mut words = route.chunks_exact(8);
        let mut hash = 0;
        for word in &mut words {
            hash = mix(hash, without_digits(u64::from_le_bytes(word.try_into().expect("eight bytes"))));
        }
        Self(mix(hash, without_digits(rest(route, words.remainder()))))
    }

    /// The part of this place that has messages of one media type.
    #[inline]
    #[must_use]
    pub fn of_type(self, media_type: &[u8]) -> Self {
        Self(mix(self.0, ends(media_type)))
    }

    /// The product's upper bits are its best.
    #[inline]
    fn index(self) -> usize {
        (self.0.wrapping_mul(FX) >> (64 - PLACES.ilog2())) as usize
    }
}

/// The multiplier of Firefox's and rustc's hash.
const FX: u64 = 0x517c_c1b7_2722_0a95;

/// The turn keeps the order of words.
#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    hash.rotate_left(11) ^ word
}

/// The first and the last eight bytes: enough to tell media types apart.
#[inline]
fn ends(text: &[u8]) -> u64 {
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => mix(u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => rest(text, text),
    }
}

/// What is left of `text` behind its whole words, with zeros behind it.
#[inline]
fn rest(text: &[u8], rest: &[u8]) -> u64 {
    match text.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        // Reading eight bytes that are there costs less than copying a few.
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Clears the bytes that are digits, all eight at once: those with the bit of 16 and without that of 64. Punctuation
/// of that kind (`:;<=>?`) goes with them.
#[inline]
fn without_digits(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    word & (((word >> 6 | !word >> 4) & ONES) * 0xff)
}

/// What one place's messages needed.
///
/// Nothing depends on the order of what is read and written here. Of two threads that write at once one loses its
/// message, which the next one makes up for.
#[derive(Debug, Default)]
struct Record {
    gathered: AtomicU32,
    output: AtomicU32,
    length: AtomicU32,
}

impl Record {
    #[inline]
    fn expect(&self) -> Expected {
        let load = |counts: &AtomicU32| Counts(counts.load(Ordering::Relaxed));
        let (gathered, output, length) = (load(&self.gathered), load(&self.output), load(&self.length));
        Expected { gathered, output, length, fixed: None }
    }

    #[inline]
    fn add(&self, observed: Observed) {
        count(&self.gathered, power(observed.gathered as u64));
        if let Some(bytes) = observed.output {
            count(&self.output, power(bytes as u64));
        }
        if let Some(bytes) = observed.length {
            count(&self.length, power(bytes) / 2);
        }
    }
}

#[inline]
fn count(shared: &AtomicU32, class: u32) {
    let before = Counts(shared.load(Ordering::Relaxed));
    let after = before.with(class.min(7));
    // What stays as it is is not written.
    if after != before {
        shared.store(after.0, Ordering::Relaxed);
    }
}

/// How many recent messages were of which class: eight counts of four bits, for sizes up to 512 bytes and on by powers
/// of two (up to 64 KiB and beyond), or for lengths up to 1 KiB and on by powers of four (up to 4 MiB and beyond).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts(u32);

impl Counts {
    /// The counts with one message more.
    #[inline]
    fn with(self, class: u32) -> Self {
        let at = 4 * class;
        let own = self.0 >> at;
        // Like all that are remembered, and there are enough of them.
        if (ENOUGH..=15).contains(&own) && own << at == self.0 {
            return self;
        }
        let kept = if self.sum() == 15 { self.0 >> 1 & 0x7777_7777 } else { self.0 };
        Self(kept + (1 << at))
    }

    #[inline]
    fn least(self) -> Option<u32> {
        (self.0 > 0).then(|| self.0.trailing_zeros() / 4)
    }

    #[inline]
    fn largest(self) -> Option<u32> {
        Some(self.0.checked_ilog2()? / 4)
    }

    /// At most 15, so that no count overflows.
    #[inline]
    fn sum(self) -> u32 {
        const PAIRS: u32 = 0x0f0f_0f0f;
        ((self.0 & PAIRS) + (self.0 >> 4 & PAIRS)).wrapping_mul(0x0101_0101) >> 24
    }
}

/// Messages from which something is concluded: as many as are left of 15 that are halved, and the one that follows.
const ENOUGH: u32 = 8;

/// The power of two that `bytes` fit into: 0 for 512, 1 for 1024, and so on.
#[inline]
fn power(bytes: u64) -> u32 {
    u64::BITS - (bytes.saturating_sub(1) >> 9).leading_zeros()
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
