//! The buffer that gathers small writes.

use super::sizing::Expected;

/// Gathers small writes into one large slice.
///
/// It holds nothing until the first write, doubles while it is filled, and halves after two rounds that left
/// most of it empty, so that an idle stream of small events keeps a small buffer and a busy one a large one.
#[derive(Debug)]
pub struct WriteBuffer {
    data: Vec<u8>,
    /// Bytes at the front that were already drained.
    start: usize,
    /// What the next allocation will be.
    capacity: usize,
    limit: usize,
    small_rounds: u8,
    /// The most bytes that waited so far.
    peak: usize,
    /// Whether the capacity stays as it is.
    fixed: bool,
}

/// The first capacity where nothing better is known: a few serializer writes, or an event.
const FIRST: usize = 512;

impl WriteBuffer {
    /// A buffer that will hold at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            data: Vec::new(),
            start: 0,
            capacity: FIRST.min(limit),
            limit,
            small_rounds: 0,
            peak: 0,
            fixed: false,
        }
    }

    /// Says what the next round is likely to bring.
    pub fn expect(&mut self, expected: &Expected) {
        self.fixed = expected.fixed().is_some();
        self.capacity = expected.gathered().max(1);
        if !self.fixed {
            self.capacity = self.capacity.min(self.limit);
        }
    }

    /// The most bytes that waited at once so far.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak.max(self.len())
    }

    /// Changes the limit. What is in the buffer stays, even if it is more.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.capacity = self.capacity.min(limit);
    }

    /// Copies as much of `input` as there is room for below the limit, and returns how much that was.
    pub fn push(&mut self, input: &[u8]) -> usize {
        if self.start > 0 {
            self.compact();
        }
        let taken = input.len().min(self.limit.saturating_sub(self.len()));
        let needed = self.data.len() + taken;
        if needed > self.data.capacity() {
            self.grow(needed);
        }
        self.data.extend_from_slice(&input[..taken]);
        taken
    }

    /// Takes all of `input` if what is allocated holds it with a byte to spare, else nothing.
    ///
    /// The way of a serializer's tiny writes: a comparison and a copy. That it never fills the buffer leaves
    /// all decisions to [`push`](Self::push).
    #[inline]
    pub fn push_within(&mut self, input: &[u8]) -> bool {
        let fits = input.len() < self.data.capacity() - self.data.len();
        if fits {
            self.data.extend_from_slice(input);
        }
        fits
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        self.capacity = match self.data.capacity() {
            0 => self.capacity.max(needed.min(self.limit)),
            held => (2 * held).min(self.limit),
        }
        .max(needed);
        self.data.reserve_exact(self.capacity - self.data.len());
    }

    #[cold]
    fn compact(&mut self) {
        self.data.drain(..self.start);
        self.start = 0;
    }

    /// The bytes that wait.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.data[self.start..]
    }

    /// How many bytes wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len() - self.start
    }

    /// Whether no bytes wait.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of heap held.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.data.capacity()
    }

    /// Lets go of the first `bytes` bytes.
    pub fn drain(&mut self, bytes: usize) {
        self.peak = self.peak();
        self.start += bytes;
        debug_assert!(self.start <= self.data.len());
        if self.start >= self.data.len() {
            self.end_round(self.start);
            self.data.clear();
            self.start = 0;
        }
    }

    /// All that waits, as a vector of its own.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        self.peak = self.peak();
        self.compact();
        std::mem::take(&mut self.data)
    }

    /// Gives the memory back, but not what was learned about its size. Only for an empty buffer.
    pub fn release(&mut self) {
        debug_assert!(self.is_empty());
        if self.fixed {
            return;
        }
        self.data = Vec::new();
        self.start = 0;
    }

    fn end_round(&mut self, filled: usize) {
        let held = self.data.capacity();
        if held > self.limit {
            // A look-ahead was behind, and nothing that follows may need as much.
            self.data = Vec::new();
            self.capacity = self.limit;
            return;
        }
        if filled > held / 4 || self.fixed {
            self.small_rounds = 0;
            return;
        }
        self.small_rounds += 1;
        if self.small_rounds >= 2 && held > FIRST {
            self.small_rounds = 0;
            self.data.clear();
            self.capacity = held / 2;
            self.data.shrink_to(self.capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(buffer: &mut WriteBuffer, bytes: usize) {
        for _ in 0..bytes {
            assert_eq!(buffer.push(&[1]), 1);
        }
        let len = buffer.len();
        buffer.drain(len);
    }

    #[test]
    fn holds_nothing_before_the_first_write() {
        assert_eq!(WriteBuffer::new(1 << 20).capacity(), 0);
    }

    #[test]
    fn doubles_while_it_is_filled() {
        let mut buffer = WriteBuffer::new(16 * 1024);
        round(&mut buffer, 5000);
        assert_eq!(buffer.capacity(), 8192);
    }

    #[test]
    fn never_holds_more_than_its_limit() {
        let mut buffer = WriteBuffer::new(3000);
        assert_eq!(buffer.push(&[0; 10_000]), 3000);
        assert_eq!(buffer.push(&[0; 1]), 0);
        assert_eq!(buffer.capacity(), 3000);
    }

    #[test]
    fn halves_only_after_two_small_rounds() {
        let mut buffer = WriteBuffer::new(16 * 1024);
        round(&mut buffer, 16 * 1024);
        round(&mut buffer, 10);
        assert_eq!(buffer.capacity(), 16 * 1024);
        round(&mut buffer, 10);
        assert_eq!(buffer.capacity(), 8 * 1024);
        round(&mut buffer, 10);
        assert_eq!(buffer.capacity(), 8 * 1024);
    }

    #[test]
    fn a_full_round_between_two_small_ones_keeps_the_size() {
        let mut buffer = WriteBuffer::new(16 * 1024);
        for bytes in [16 * 1024, 10, 9000, 10, 9000] {
            round(&mut buffer, bytes);
        }
        assert_eq!(buffer.capacity(), 16 * 1024);
    }

    #[test]
    fn drains_in_part_and_goes_on() {
        let mut buffer = WriteBuffer::new(100);
        buffer.push(b"abcdef");
        buffer.drain(2);
        assert_eq!(buffer.as_slice(), b"cdef");
        assert_eq!(buffer.push(&[b'x'; 100]), 96);
        assert_eq!(&buffer.as_slice()[..5], b"cdefx");
    }
}
