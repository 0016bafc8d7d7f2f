//! The codes of one block: its own or the fixed ones, whichever make it smaller.

use super::header::Header;
use super::huffman::Huffman;
use super::tokens::{ALL, DISTANCES, Entry, SYMBOLS};
use crate::codec::deflate_format::bits::{BitWriter, Code};
use crate::codec::deflate_format::fixed;
use crate::codec::deflate_format::symbols::{distance_extra, length_extra};

/// The longest code of a symbol (RFC 1951 section 3.2.7).
const LONGEST: usize = 15;

/// The header of a block with codes of its own that is not the last one.
const OWN_BLOCK: u32 = 0b100;

pub(super) struct Codes {
    /// What the block costs with its header.
    cost: u32,
    /// `None`: the fixed ones.
    own: Option<(Header, [Entry; ALL])>,
}

impl Codes {
    #[inline(never)]
    pub(super) fn new(counts: &[u16; ALL]) -> Self {
        let (literals, rest) = counts.split_first_chunk::<SYMBOLS>().expect("they are fewer");
        let (distances, _) = rest.split_first_chunk::<DISTANCES>().expect("they are fewer");
        let literals = Huffman::new(literals, LONGEST);
        let distances = Huffman::new(distances, LONGEST);
        let header = Header::new(&literals, &distances);
        let mut table = [Entry::default(); ALL];
        let (mut own, mut fixed) = (header.cost(), 0);
        let used = literals.used().chain(distances.used().map(|(number, code)| (SYMBOLS + number, code)));
        for (number, code) in used {
            table[number] = entry(number, code);
            let count = u32::from(counts[number]);
            own += count * u32::from(table[number].total);
            fixed += count * u32::from(FIXED[number].total);
        }
        let own = (own < fixed).then_some((own, (header, table)));
        let cost = 3 + own.as_ref().map_or(fixed, |own| own.0);
        Self { cost, own: own.map(|own| own.1) }
    }

    /// How many bits the whole block takes.
    pub(super) fn cost(&self) -> u32 {
        self.cost
    }

    pub(super) fn table(&self) -> &[Entry; ALL] {
        self.own.as_ref().map_or(&FIXED, |own| &own.1)
    }

    pub(super) fn write_header(&self, flag: u32, bits: &mut BitWriter<'_>) {
        match &self.own {
            Some((header, _)) => {
                bits.put(OWN_BLOCK | flag, 3);
                header.write(bits);
            }
            None => bits.put(fixed::BLOCK.bits | flag, fixed::BLOCK.length),
        }
        bits.spill();
    }
}

static FIXED: [Entry; ALL] = {
    let mut table = [Entry { bits: 0, length: 0, total: 0 }; ALL];
    let mut number = 0;
    while number < SYMBOLS + DISTANCES {
        let code = if number < SYMBOLS {
            fixed::symbol(number as u32)
        } else {
            fixed::distance((number - SYMBOLS) as u32)
        };
        table[number] = entry(number, code);
        number += 1;
    }
    table
};

const fn entry(number: usize, code: Code) -> Entry {
    Entry { bits: code.bits as u16, length: code.length, total: code.length + EXTRA[number % ALL] }
}

/// How many extra bits each symbol has.
const EXTRA: [u8; ALL] = {
    let mut extra = [0; ALL];
    let mut number = 0;
    while number < SYMBOLS + DISTANCES {
        extra[number] = if number < SYMBOLS {
            length_extra(number as u16)
        } else {
            distance_extra((number - SYMBOLS) as u16)
        };
        number += 1;
    }
    extra
};
