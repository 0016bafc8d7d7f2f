//! What recent messages needed, so that the next one's buffers begin at the right size.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a layer, or whoever writes messages, has learned of its recent ones. A cheap handle: clones share it.
///
/// The rule. A message is known beforehand by its [`Place`]: where it is asked for and what it is. For each of 64
/// places there are three counts of recent messages by powers of two: what they gathered, their length, and the
/// output that waited. The next message expects the largest power that was seen recently: a buffer too large
/// costs nothing until it is written to, one too small is copied. All counts of a place are halved at every
/// eighth message, so that a size that does not come back is forgotten after 25 messages, and one odd message
/// after 8. A message that is like most before it changes nothing, so that threads with steady traffic only
/// read. What a message says of itself, a `Content-Length` or a size hint, goes before what was learned.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// What will wait in the write buffer.
    pub gathered: usize,
    /// What will wait in the output; zero if nothing is known.
    pub output: usize,
    /// The least and the largest length of recent messages, if there were enough of them to go by.
    pub length: Option<(u64, u64)>,
    /// Whether the write buffer keeps its capacity, whatever comes.
    pub fixed: bool,
}

impl Expected {
    /// Whether recent messages were all longer than this, so that the next one is likely to be so too.
    #[must_use]
    pub fn is_longer_than(&self, bytes: usize) -> bool {
        self.length.is_some_and(|(least, _)| least >= bytes as u64)
    }
}

/// What a message needed, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observed {
    /// The most that waited in the write buffer.
    pub gathered: usize,
    /// The most that waited in the output.
    pub output: usize,
    /// The message's length, if it was complete, and not known beforehand.
    pub length: Option<u64>,
}

/// 64 records of a cache line each are 4 KiB a layer. More places than routes times types gain nothing.
const PLACES: usize = 64;

/// The least capacity: a few serializer writes, or an event.
const LEAST: u64 = 512;

/// Of the path this many bytes tell routes apart, and a hostile one costs no more.
const LONGEST_PART: usize = 64;

impl Sizing {
    /// Learns from every message.
    #[must_use]
    pub fn new() -> Self {
        Self { rule: Rule::Learn(Arc::new(std::array::from_fn(|_| Record::default()))) }
    }

    /// Learns nothing: every write buffer has `bytes` of capacity from its first write on, and keeps it.
    #[must_use]
    pub fn fixed(bytes: usize) -> Self {
        Self { rule: Rule::Fixed(bytes) }
    }

    /// What a message is likely to need.
    #[must_use]
    pub fn expect(&self, place: Place) -> Expected {
        match &self.rule {
            Rule::Learn(records) => records[place.index()].expect(),
            Rule::Fixed(bytes) => Expected { gathered: *bytes, output: 0, length: None, fixed: true },
        }
    }

    /// Learns what a message needed. Called once for each, when it is over.
    pub fn record(&self, place: Place, observed: Observed) {
        if let Rule::Learn(records) = &self.rule {
            records[place.index()].record(observed);
        }
    }
}

impl Place {
    /// Where nothing is known.
    pub const ANY: Self = Self(0);

    /// The part of this place that `part` tells apart, such as a path or a media type. Digits in it count for
    /// nothing: `/orders/7` and `/orders/12` are one route.
    #[must_use]
    pub fn narrowed(self, part: &[u8]) -> Self {
        let mut hash = self.0.rotate_left(32);
        for chunk in part[..part.len().min(LONGEST_PART)].chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = without_digits(u64::from_le_bytes(word));
            if word != 0 {
                hash = (hash.rotate_left(5) ^ word).wrapping_mul(FX);
            }
        }
        Self(hash)
    }

    /// The hash's upper bits are its best.
    fn index(self) -> usize {
        (self.0 >> (64 - PLACES.ilog2())) as usize
    }
}

/// The multiplier of Firefox's and rustc's hash: one multiplication for eight bytes.
const FX: u64 = 0x517c_c1b7_2722_0a95;

/// Clears the bytes that are ASCII digits, all eight at once.
fn without_digits(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let from_zero = word ^ (ONES * u64::from(b'0'));
    // A byte's upper bit is set where the byte is 10 or more.
    let other = ((from_zero & (ONES * 0x7f)) + (ONES * (0x80 - 10))) | from_zero;
    word & ((other >> 7 & ONES) * 0xff)
}

/// One place's messages. A cache line of its own, so that places do not slow one another down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Record {
    gathered: Counts,
    output: Counts,
    length: Counts,
}

impl Record {
    fn expect(&self) -> Expected {
        let gathered = self.gathered.load().largest().unwrap_or(LEAST);
        let output = self.output.load().largest().unwrap_or(0);
        let lengths = self.length.load();
        Expected {
            gathered: gathered as usize,
            output: output as usize,
            length: lengths.least().zip(lengths.largest()).filter(|_| lengths.sum() >= ENOUGH),
            fixed: false,
        }
    }

    fn record(&self, observed: Observed) {
        self.gathered.add(observed.gathered as u64);
        if observed.output > 0 {
            self.output.add(observed.output as u64);
        }
        if let Some(length) = observed.length {
            self.length.add(length);
        }
    }
}

/// Messages before anything is concluded from their lengths: as many as are left after a halving.
const ENOUGH: u64 = 8;

/// How many recent messages were of which size: sixteen counts of four bits, from 512 bytes by powers of two.
///
/// Nothing else depends on the order of what is read and written here. Two threads that write at once lose a
/// message, which the next one makes up for.
#[derive(Debug, Default)]
struct Counts(AtomicU64);

impl Counts {
    fn load(&self) -> Snapshot {
        Snapshot(self.0.load(Ordering::Relaxed))
    }

    fn add(&self, bytes: u64) {
        let before = self.load();
        let after = before.with(bytes);
        if after != before {
            self.0.store(after.0, Ordering::Relaxed);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Snapshot(u64);

impl Snapshot {
    /// The counts with one message more.
    fn with(self, bytes: u64) -> Self {
        let class = class(bytes);
        let own_and_larger = self.0 >> (4 * class);
        if (MOST..=15).contains(&own_and_larger) {
            // The largest of all, and most of what is remembered: there is nothing to learn.
            return self;
        }
        let kept = if self.sum() == 15 { self.0 >> 1 & 0x7777_7777_7777_7777 } else { self.0 };
        Self(kept + (1 << (4 * class)))
    }

    /// At most 15, so that no count overflows.
    fn sum(self) -> u64 {
        const PAIRS: u64 = 0x0f0f_0f0f_0f0f_0f0f;
        ((self.0 & PAIRS) + (self.0 >> 4 & PAIRS)).wrapping_mul(u64::MAX / 255) >> 56
    }

    fn largest(self) -> Option<u64> {
        (self.0 > 0).then(|| LEAST << (self.0.ilog2() / 4))
    }

    /// More than this many bytes, exactly: the power below the least one seen.
    fn least(self) -> Option<u64> {
        (self.0 > 0).then(|| (LEAST << (self.0.trailing_zeros() / 4)) / 2)
    }
}

/// More than half of 15.
const MOST: u64 = 8;

/// The class of the least power of two that `bytes` fit into; the last one takes all that is larger.
fn class(bytes: u64) -> u32 {
    const SHIFT: u32 = LEAST.ilog2();
    (u64::BITS - (bytes.saturating_sub(1) >> SHIFT).leading_zeros()).min(15)
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
