//! Where a message repeats itself.

use super::MAX_BLOCK;
use crate::codec::deflate_format::symbols::MAX_MATCH;
use crate::codec::zeroed::zeroed;

/// Shorter ones are not looked for: that makes messages 0.1 to 0.3 % smaller, and takes a sixth longer.
const MIN_MATCH: usize = 4;

/// How many places with the same four bytes are tried for one match. Indented JSON needs them, being mostly spaces: with
/// 16 it gets 2 % larger than zlib's level 6 makes it (3 to 6 KB), with 64 it takes longer than that. Other text is 0.4 %
/// larger with 16, and takes 4 % less time.
const TRIES: u32 = 32;

/// What four bytes hash to, at most. One bit less: 0.5 % larger at 4 KB.
const HASH_BITS: u32 = 13;

/// Where a message begins. Zero is no place.
const FIRST: usize = 1;

/// A power of two, so that no index needs a check.
const PLACES: usize = MAX_BLOCK + FIRST;

/// How far behind the message a comparison may read.
const AHEAD: usize = 8;

/// Bytes of heap.
pub(super) const MEMORY: usize = PLACES + AHEAD + size_of::<u16>() * (PLACES + (1 << HASH_BITS));

#[derive(Debug, Clone, Copy)]
pub(super) struct Match {
    pub(super) length: usize,
    pub(super) distance: usize,
}

/// A message, and for each of its places the last one before that starts with the same four bytes.
///
/// The links are made in one go, since a loop without any branches takes a third of the time that it costs to make
/// them where the matches are looked for.
pub(super) struct Repeats {
    message: Box<[u8; PLACES + AHEAD]>,
    end: usize,
    /// Zero is none.
    links: Box<[u16; PLACES]>,
    heads: Box<[u16; 1 << HASH_BITS]>,
}

impl Repeats {
    pub(super) fn new() -> Self {
        Self { message: zeroed(), end: FIRST, links: zeroed(), heads: zeroed() }
    }

    /// Takes a message in, and forgets the last one.
    #[inline(never)]
    pub(super) fn load(&mut self, message: &[u8]) {
        self.end = FIRST + message.len();
        self.message[FIRST..self.end].copy_from_slice(message);
        // What is read behind the message changes nothing; this makes sure that it is nothing of another one.
        self.message[self.end..self.end + AHEAD].fill(0);
        // Two to four hashes for each place: with fewer more of them collide, and more take longer to clear.
        let bits = (self.end.ilog2() + 2).min(HASH_BITS);
        self.heads[..1 << bits].fill(0);
        self.link(32 - bits);
        // The last ones have less than four bytes, and were compared with what is behind them.
        let last = message.len().min(MIN_MATCH - 1);
        self.links[self.end - last..self.end].fill(0);
    }

    fn link(&mut self, shift: u32) {
        for place in FIRST..self.end {
            let wanted = self.four(place);
            // Fibonacci hashing: 2^32 divided by the golden ratio.
            let hash = wanted.wrapping_mul(0x9e37_79b1) >> shift;
            let head = &mut self.heads[hash as usize % (1 << HASH_BITS)];
            let last = *head;
            *head = place as u16;
            let difference = self.four(usize::from(last)) ^ wanted;
            // All ones where there is none; a comparison would become a branch that is often guessed wrong.
            let same = (u64::from(difference).wrapping_sub(1) >> 32) as u16;
            self.links[place % PLACES] = last & same;
        }
    }

    /// The longest match at this byte of the message, and the nearest one of those.
    #[inline(always)]
    pub(super) fn find(&self, byte: usize) -> Option<Match> {
        let place = FIRST + byte;
        let mut candidate = self.link_of(place);
        if candidate == 0 {
            return None;
        }
        let room = (self.end - place).min(MAX_MATCH);
        let mut tries = TRIES;
        let mut best = candidate;
        let mut length = self.common(candidate, place, room);
        // A longer match has the same four bytes there, too.
        let mut last = self.four(place + length - (MIN_MATCH - 1));
        loop {
            candidate = self.link_of(candidate);
            tries -= 1;
            if candidate == 0 || tries == 0 || length == room {
                return Some(Match { length, distance: place - best });
            }
            if self.four(candidate + length - (MIN_MATCH - 1)) == last {
                let longer = self.common(candidate, place, room);
                if longer > length {
                    (length, best) = (longer, candidate);
                    last = self.four(place + length - (MIN_MATCH - 1));
                }
            }
        }
    }

    /// How many bytes are the same at two places, of which [`MIN_MATCH`] are known to be.
    #[inline(always)]
    fn common(&self, one: usize, other: usize, room: usize) -> usize {
        let mut length = 0;
        while length < room {
            let difference = self.eight(one + length) ^ self.eight(other + length);
            if difference != 0 {
                length += (difference.trailing_zeros() / 8) as usize;
                break;
            }
            length += 8;
        }
        length.min(room)
    }

    #[inline(always)]
    fn link_of(&self, place: usize) -> usize {
        usize::from(self.links[place % PLACES])
    }

    #[inline(always)]
    fn four(&self, place: usize) -> u32 {
        u32::from_le_bytes(*self.message[place % PLACES..].first_chunk().expect("four bytes are ahead"))
    }

    #[inline(always)]
    fn eight(&self, place: usize) -> u64 {
        u64::from_le_bytes(*self.message[place % PLACES..].first_chunk().expect("eight bytes are ahead"))
    }
}
