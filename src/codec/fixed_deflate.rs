//! Raw deflate (RFC 1951) with the fixed Huffman codes alone, for small flushed batches.
//!
//! zlib builds the Huffman trees of every block, only to find that a small one does better without: that is
//! three of the four microseconds that level 6 spends on an event of 86 bytes. Here no tree is built. Since
//! the codes are known in advance, so are the bits that a match saves, and matches are weighed by them. See
//! "Why do small batches change the encoder" in DESIGN.md.

mod codes;

use self::codes::{END, LENGTHS, LITERALS};
use super::Operation;
use super::deflate_format::LAST;
use super::deflate_format::bits::Bits;
use super::deflate_format::fixed::BLOCK;
use super::deflate_format::symbols::MAX_MATCH;
use super::zeroed::zeroed;

/// The farthest that a match can reach back (RFC 1951 section 2).
const WINDOW: usize = 32 * 1024;

/// The window and as much again, so that old bytes move out in one piece, and seldom.
const BUFFER: usize = 2 * WINDOW;

/// The most input that one block takes. The buffer has room for it beside a window.
const MAX_BLOCK: usize = WINDOW / 2;

/// Shorter matches save nothing unless they are very near.
const MIN_MATCH: usize = 4;

/// A match of this length is taken without a look at the next byte's.
const GOOD: usize = 32;

/// 4096 hashes. Twice as many: half a percent smaller, but a reset clears twice as much.
const HASH_BITS: u32 = 12;

/// The last places with one hash, the latest lowest. Together in one word, they are read and entered at once,
/// where a chain of them costs a cache miss each. Eight instead of four: 3 % smaller, 35 % slower (log lines,
/// JSON).
type Bucket = u64;
const PLACES: usize = 4;

/// Bytes of heap of one encoder.
pub(super) const MEMORY: usize = BUFFER + (size_of::<Bucket>() << HASH_BITS);

/// One stream being encoded.
pub(super) struct FixedDeflate {
    /// What matches refer back to, and the block at hand.
    buffer: Box<[u8; BUFFER]>,
    filled: usize,
    /// The first place that the buckets do not have yet.
    entered: usize,
    /// Where each hash was seen last. Zero is no place: the buffer's first byte stays unused.
    buckets: Box<[Bucket; 1 << HASH_BITS]>,
    bits: Bits,
}

#[derive(Debug, Clone, Copy)]
struct Match {
    length: usize,
    distance: usize,
    /// Bits, compared with bytes as they are.
    saved: i32,
}

const NO_MATCH: Match = Match { length: 0, distance: 0, saved: 0 };

impl FixedDeflate {
    pub(super) fn new() -> Self {
        Self { buffer: zeroed(), filled: 1, entered: 1, buckets: zeroed(), bits: Bits::default() }
    }

    /// Forgets the stream.
    pub(super) fn reset(&mut self) {
        self.buckets.fill(0);
        self.filled = 1;
        self.entered = 1;
        self.bits = Bits::default();
    }

    /// Goes on with a stream that ended a byte, and in `tail`. Only on a new or reset encoder.
    pub(super) fn resume(&mut self, tail: &[u8]) {
        self.append(&tail[tail.len().saturating_sub(MAX_BLOCK)..]);
        self.enter((self.filled + 1).saturating_sub(MIN_MATCH));
    }

    /// The last bytes of the input, `length` of them or all that there were.
    pub(super) fn tail(&self, length: usize) -> &[u8] {
        &self.buffer[self.filled.saturating_sub(length).max(1)..self.filled]
    }

    /// A flush is zlib's sync flush. Its partial one would save 3 bytes, but some receivers (Go's) hand on what
    /// they have decoded only when they see the empty stored block.
    pub(super) fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) {
        output.reserve(input.len() + input.len() / 8 + 16);
        let blocks = input.len().div_ceil(MAX_BLOCK);
        for (number, block) in input.chunks(MAX_BLOCK).enumerate() {
            self.block(block, operation == Operation::Finish && number + 1 == blocks, output);
        }
        match operation {
            Operation::Encode => {}
            Operation::Flush => self.bits.stored(&[], 0, output),
            Operation::Finish => {
                if blocks == 0 {
                    self.bits.put(BLOCK.with(LAST), output);
                    self.bits.put(END, output);
                }
                self.bits.align(output);
            }
        }
    }

    fn block(&mut self, input: &[u8], last: bool, output: &mut Vec<u8>) {
        let flag = if last { LAST } else { 0 };
        let (start, bits) = (output.len(), self.bits);
        self.append(input);
        self.bits.put(BLOCK.with(flag), output);
        self.symbols(self.filled - input.len(), output);
        self.bits.put(END, output);
        if output.len() - start + self.bits.bytes() > input.len() + STORED_OVERHEAD {
            output.truncate(start);
            self.bits = bits;
            self.bits.stored(input, flag, output);
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.filled + bytes.len() > BUFFER {
            self.slide();
        }
        self.buffer[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Lets go of what is older than a window.
    #[cold]
    fn slide(&mut self) {
        self.buffer.copy_within(WINDOW.., 0);
        self.filled -= WINDOW;
        self.entered -= WINDOW;
        for bucket in self.buckets.iter_mut() {
            let place = |number: usize| (*bucket >> (16 * number)) as u16;
            let moved = |number: usize| Bucket::from(place(number).saturating_sub(WINDOW as u16));
            *bucket = (0..PLACES).map(|number| moved(number) << (16 * number)).sum();
        }
    }

    /// Literals and matches from `place` to the end of what is filled. A match gives way to one at the next
    /// byte that saves more.
    fn symbols(&mut self, mut place: usize, output: &mut Vec<u8>) {
        let mut bits = self.bits;
        let end = self.filled;
        let searched = (end + 1).saturating_sub(MIN_MATCH);
        self.enter(place.min(searched));
        while place < searched {
            let mut found = self.find(place);
            if found.length == 0 {
                bits.put(LITERALS[usize::from(self.buffer[place])], output);
                place += 1;
                continue;
            }
            while found.length < GOOD && place + 1 < searched {
                let next = self.find(place + 1);
                let literal = LITERALS[usize::from(self.buffer[place])];
                if next.saved + literal.saved(1) <= found.saved {
                    break;
                }
                bits.put(literal, output);
                place += 1;
                found = next;
            }
            bits.put(LENGTHS[found.length], output);
            bits.put(codes::distance(found.distance), output);
            place += found.length;
            self.enter(place.min(searched));
        }
        for &byte in &self.buffer[place..end] {
            bits.put(LITERALS[usize::from(byte)], output);
        }
        self.bits = bits;
    }

    /// The match at the next place to enter, which it enters.
    #[inline]
    fn find(&mut self, place: usize) -> Match {
        debug_assert_eq!(self.entered, place);
        let wanted = self.four(place);
        let mut bucket = enter(&mut self.buckets, wanted, place);
        self.entered = place + 1;
        let lowest = place.saturating_sub(WINDOW - 1).max(1);
        let room = (self.filled - place).min(MAX_MATCH);
        let mut best = NO_MATCH;
        for _ in 0..PLACES {
            let candidate = usize::from(bucket as u16);
            bucket >>= 16;
            if candidate < lowest {
                break;
            }
            let longer = self.buffer[candidate + best.length] == self.buffer[place + best.length];
            if longer && self.four(candidate) == wanted {
                let length = self.common(candidate, place, room);
                let distance = place - candidate;
                let saved = LENGTHS[length].saved(length) - i32::from(codes::distance(distance).length);
                if saved > best.saved {
                    best = Match { length, distance, saved };
                    if length == room {
                        break;
                    }
                }
            }
        }
        best
    }

    /// How many bytes are the same at two places, of which [`MIN_MATCH`] are known to be.
    #[inline]
    fn common(&self, one: usize, other: usize, room: usize) -> usize {
        let (one, other) = (&self.buffer[one..one + room], &self.buffer[other..other + room]);
        let mut length = MIN_MATCH;
        let (ones, others) = (one[length..].chunks_exact(8), other[length..].chunks_exact(8));
        for (one, other) in ones.zip(others) {
            let difference = eight(one) ^ eight(other);
            if difference != 0 {
                return length + (difference.trailing_zeros() / 8) as usize;
            }
            length += 8;
        }
        while length < room && one[length] == other[length] {
            length += 1;
        }
        length
    }

    /// Enters all places before `until`, which has [`MIN_MATCH`] bytes less one behind it.
    #[inline]
    fn enter(&mut self, until: usize) {
        let Some(bytes) = self.buffer.get(self.entered..until + MIN_MATCH - 1) else { return };
        for (place, four) in (self.entered..).zip(bytes.windows(MIN_MATCH)) {
            enter(&mut self.buckets, little_endian(four), place);
        }
        self.entered = self.entered.max(until);
    }

    #[inline]
    fn four(&self, place: usize) -> u32 {
        little_endian(&self.buffer[place..place + MIN_MATCH])
    }
}

/// Makes `place` the latest one with these four bytes' hash, and returns those before.
#[inline]
fn enter(buckets: &mut [Bucket; 1 << HASH_BITS], four: u32, place: usize) -> Bucket {
    // Fibonacci hashing: 2^32 divided by the golden ratio.
    let bucket = &mut buckets[(four.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize];
    std::mem::replace(bucket, *bucket << 16 | place as Bucket)
}

/// The header, the rest of a byte and two lengths.
const STORED_OVERHEAD: usize = 5;

#[inline]
fn little_endian(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

#[inline]
fn eight(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests;
