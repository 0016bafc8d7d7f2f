//! The buffer that gathers small writes.

/// Gathers small writes into one large slice.
///
/// It holds nothing until the first write, doubles while it is filled, and halves after two rounds that left
/// most of it empty, so that an idle stream of small events keeps a small buffer and a busy one a large one.
#[derive(Debug)]
pub struct WriteBuffer {
    /// What was written, and zeros beyond `end`: writing into a slice costs less per write than extending a
    /// vector (2 ns against 3), and zeroing costs less than one write for every 64 bytes. There are at most
    /// [`ZEROED`] zeros, the rest of the capacity is untouched: what is large for nothing costs nothing.
    data: Vec<u8>,
    /// Bytes at the front that were already drained.
    start: usize,
    /// The end of what was written.
    end: usize,
    /// What the next allocation will be.
    capacity: usize,
    limit: usize,
    /// It never shrinks below this.
    floor: usize,
    small_rounds: u8,
    /// Whether the capacity stays as it is.
    fixed: bool,
}

/// The first capacity where nothing better is known: a few serializer writes, or an event.
const FIRST: usize = 512;

/// A page: few enough to be in the nearest cache still when they are written to.
const ZEROED: usize = 4096;

impl WriteBuffer {
    /// A buffer that will hold at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            data: Vec::new(),
            start: 0,
            end: 0,
            capacity: FIRST.min(limit),
            limit,
            floor: FIRST,
            small_rounds: 0,
            fixed: false,
        }
    }

    /// Says how many bytes a round is likely to bring: those that bring less are no reason to shrink below that.
    pub fn expect(&mut self, bytes: usize) {
        self.capacity = bytes.clamp(1, self.limit.max(1));
        self.floor = self.capacity.max(FIRST);
    }

    /// Takes this capacity at the first write, and keeps it.
    pub fn fix(&mut self, bytes: usize) {
        self.capacity = bytes.max(1);
        self.fixed = true;
    }

    /// Changes the limit. What is in the buffer stays, even if it is more.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        if !self.fixed {
            self.capacity = self.capacity.min(limit);
        }
    }

    /// Copies as much of `input` as there is room for below the limit, and returns how much that was.
    pub fn push(&mut self, input: &[u8]) -> usize {
        let taken = input.len().min(self.room());
        if self.start > 0 && taken > 0 {
            self.compact();
        }
        let end = self.end + taken;
        if end > self.data.len() {
            self.grow(end);
        }
        copy(&mut self.data[self.end..end], &input[..taken]);
        self.end = end;
        taken
    }

    /// Takes all of `input` if what is zeroed holds it with a byte to spare, else nothing.
    ///
    /// The way of a serializer's tiny writes: a comparison and a copy. That it never fills the buffer leaves
    /// all decisions to [`push`](Self::push).
    #[inline]
    pub fn push_within(&mut self, input: &[u8]) -> bool {
        match self.data.get_mut(self.end..) {
            Some(spare) if input.len() < spare.len() => {
                copy(&mut spare[..input.len()], input);
                self.end += input.len();
                true
            }
            _ => false,
        }
    }

    #[cold]
    fn compact(&mut self) {
        self.data.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        if needed > self.data.capacity() {
            self.capacity = match self.data.capacity() {
                0 => self.capacity.max(needed.min(self.limit)),
                held => (2 * held).min(self.limit),
            }
            .max(needed);
            self.data.reserve_exact(self.capacity - self.data.len());
        }
        self.data.resize(self.data.capacity().min(needed + ZEROED), 0);
    }

    /// The bytes that wait.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.data[self.start..self.end]
    }

    /// How many bytes there is room for below the limit.
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.len())
    }

    /// How many bytes wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
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
        self.start += bytes;
        debug_assert!(self.start <= self.end);
        if self.start >= self.end {
            self.end_round(self.start);
            self.start = 0;
            self.end = 0;
        }
    }

    /// All that waits, as a vector of its own. Counts as a round.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        let mut taken = std::mem::take(&mut self.data);
        let held = taken.capacity();
        taken.truncate(self.end);
        taken.drain(..self.start);
        self.start = 0;
        self.end = 0;
        if self.is_small_again(taken.len(), held) {
            self.capacity = self.floor.max(held / 2);
        }
        taken
    }

    /// Gives the memory back, but not what was learned about its size. Only for an empty buffer.
    pub fn release(&mut self) {
        debug_assert!(self.is_empty());
        if self.fixed {
            return;
        }
        self.data = Vec::new();
        self.start = 0;
        self.end = 0;
    }

    fn end_round(&mut self, filled: usize) {
        let held = self.data.capacity();
        if held > self.limit && !self.fixed {
            // A look-ahead was behind, and no round that follows needs as much.
            self.data = Vec::new();
            self.capacity = self.limit;
        } else if self.is_small_again(filled, held) {
            self.capacity = self.floor.max(held / 2);
            self.data.truncate(self.capacity);
            self.data.shrink_to_fit();
        }
    }

    /// Whether this is the second round in a row that left most of `held` empty.
    fn is_small_again(&mut self, filled: usize, held: usize) -> bool {
        if filled > held / 4 || held <= self.floor || self.fixed {
            self.small_rounds = 0;
            return false;
        }
        self.small_rounds += 1;
        let again = self.small_rounds >= 2;
        if again {
            self.small_rounds = 0;
        }
        again
    }
}

/// Copies between slices of one length, few bytes without a call: for those the call to `memcpy` is most of
/// the cost. Two copies that overlap stand for all lengths between theirs and twice theirs.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    if copy_ends::<8>(to, from) || copy_ends::<4>(to, from) {
        return;
    }
    match (to, from) {
        (to, from) if from.len() > 3 => to.copy_from_slice(from),
        (to, from) => to.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
    }
}

/// Copies between `N` and `2 * N` bytes; `false` if it is another number.
#[inline]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else { return false };
    if from.len() > 2 * N {
        return false;
    }
    match to.first_chunk_mut::<N>() {
        Some(to) => *to = *first,
        None => return false,
    }
    match to.last_chunk_mut::<N>() {
        Some(to) => *to = *last,
        None => return false,
    }
    true
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
    fn any_number_of_small_rounds_is_fine() {
        let mut buffer = WriteBuffer::new(4096);
        for _ in 0..1000 {
            round(&mut buffer, 1);
        }
        assert_eq!(buffer.capacity(), FIRST);
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
    fn small_rounds_without_number_change_nothing_once_it_is_small() {
        let mut buffer = WriteBuffer::new(16 * 1024);
        for _ in 0..1000 {
            round(&mut buffer, 1);
            assert_eq!(buffer.capacity(), FIRST);
        }
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
    fn it_never_shrinks_below_what_is_expected() {
        let mut buffer = WriteBuffer::new(16 * 1024);
        buffer.expect(4096);
        for (bytes, held) in [(10_000, 16), (10, 16), (10, 8), (10, 8), (10, 4), (10, 4), (10, 4), (10, 4)] {
            round(&mut buffer, bytes);
            assert_eq!(buffer.capacity(), held * 1024, "{bytes}");
        }
    }

    #[test]
    fn what_is_not_written_to_is_not_touched() {
        let mut buffer = WriteBuffer::new(1 << 20);
        buffer.expect(1 << 20);
        for written in 1..20_000 {
            assert_eq!(buffer.push(b"x"), 1);
            assert_eq!(buffer.capacity(), 1 << 20);
            assert!(buffer.data.len() <= written + ZEROED);
        }
    }

    #[test]
    fn what_is_taken_away_counts_as_a_round() {
        let mut buffer = WriteBuffer::new(16 * 1024);
        for (bytes, next) in [(16 * 1024, 16), (10, 16), (10, 8), (10, 8), (10, 4), (4000, 4)] {
            buffer.push(&vec![1; bytes]);
            assert_eq!(buffer.take().len(), bytes);
            assert_eq!(buffer.capacity, next * 1024);
            assert_eq!(buffer.capacity(), 0);
        }
    }

    #[test]
    fn the_short_way_never_fills_the_buffer() {
        let mut buffer = WriteBuffer::new(1024);
        assert!(!buffer.push_within(b"x"), "nothing is allocated yet");
        buffer.push(b"x");
        let spare = buffer.capacity() - 1;
        assert!(!buffer.push_within(&vec![1; spare]));
        assert!(buffer.push_within(&vec![1; spare - 1]));
        assert!(!buffer.push_within(b"x"));
        assert_eq!(buffer.len(), spare);
    }

    #[test]
    fn copies_every_length() {
        let input: Vec<u8> = (1..=40).collect();
        for length in 0..=input.len() {
            let mut copied = vec![0; length];
            copy(&mut copied, &input[..length]);
            assert_eq!(copied, input[..length]);
        }
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
