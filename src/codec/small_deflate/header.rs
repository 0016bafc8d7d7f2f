//! The code lengths ahead of a block with codes of its own (RFC 1951 section 3.2.7).

use super::huffman::Huffman;
use super::tokens::{DISTANCES, SYMBOLS};
use crate::codec::deflate_format::bits::BitWriter;

const ITEMS: usize = 19;

/// The order in which the lengths of the lengths' own codes are written.
const ORDER: [usize; ITEMS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Three to six times the length before; three to ten zeros; 11 to 138 zeros.
const REPEAT: u8 = 16;
const FEW_ZEROS: u8 = 17;
const MANY_ZEROS: u8 = 18;

const EXTRA: [u8; ITEMS] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 7];

/// The longest code of an item.
const LONGEST: usize = 7;

/// The code lengths of a block's two codes.
pub(super) struct Header {
    symbols: usize,
    distances: usize,
    runs: Runs,
    codes: Huffman<ITEMS>,
    /// So many of [`ORDER`].
    written: usize,
}

/// Code lengths, run by run.
struct Runs {
    /// An item each, with the value of its extra bits.
    items: [(u8, u8); SYMBOLS + DISTANCES],
    filled: usize,
    counts: [u16; ITEMS],
}

impl Header {
    pub(super) fn new(symbols: &Huffman<SYMBOLS>, distances: &Huffman<DISTANCES>) -> Self {
        let mut runs = Runs { items: [(0, 0); SYMBOLS + DISTANCES], filled: 0, counts: [0; ITEMS] };
        let after = distances.used().map(|(number, code)| (symbols.end() + number, code));
        let (mut next, mut last, mut repeated) = (0, 0, 0);
        // Both make one sequence, which runs may cross.
        symbols.used().chain(after).for_each(|(number, code)| {
            if number == next && code.length == last {
                repeated += 1;
            } else {
                runs.repeat(last, repeated);
                runs.zeros(number - next);
                runs.push(code.length, 0);
                (last, repeated) = (code.length, 0);
            }
            next = number + 1;
        });
        runs.repeat(last, repeated);
        let codes = Huffman::new(&runs.counts, LONGEST);
        let is_used = |item: &usize| codes.code(*item).length > 0;
        let written = ORDER.iter().rposition(is_used).map_or(0, |last| last + 1).max(4);
        Self { symbols: symbols.end(), distances: distances.end(), runs, codes, written }
    }

    /// How many bits it takes.
    pub(super) fn cost(&self) -> u32 {
        let items = self
            .codes
            .used()
            .map(|(item, code)| u32::from(self.runs.counts[item]) * u32::from(code.length + EXTRA[item]));
        5 + 5 + 4 + 3 * self.written as u32 + items.sum::<u32>()
    }

    pub(super) fn write(&self, bits: &mut BitWriter<'_>) {
        bits.put(self.symbols as u32 - 257, 5);
        bits.put(self.distances as u32 - 1, 5);
        bits.put(self.written as u32 - 4, 4);
        for item in &ORDER[..self.written] {
            bits.spill();
            bits.put(u32::from(self.codes.code(*item).length), 3);
        }
        for &(item, extra) in &self.runs.items[..self.runs.filled] {
            let code = self.codes.code(usize::from(item));
            bits.spill();
            bits.put(code.bits, code.length);
            bits.put(u32::from(extra), EXTRA[usize::from(item)]);
        }
        bits.spill();
    }
}

impl Runs {
    #[inline]
    fn push(&mut self, item: u8, extra: usize) {
        self.items[self.filled] = (item, extra as u8);
        self.filled += 1;
        self.counts[usize::from(item)] += 1;
    }

    #[inline]
    fn zeros(&mut self, mut count: usize) {
        while count >= 11 {
            let run = count.min(138);
            self.push(MANY_ZEROS, run - 11);
            count -= run;
        }
        if count >= 3 {
            self.push(FEW_ZEROS, count - 3);
            count = 0;
        }
        for _ in 0..count {
            self.push(0, 0);
        }
    }

    #[inline]
    fn repeat(&mut self, length: u8, mut count: usize) {
        while count >= 3 {
            let run = count.min(6);
            self.push(REPEAT, run - 3);
            count -= run;
        }
        for _ in 0..count {
            self.push(length, 0);
        }
    }
}
