//! The fixed Huffman codes (RFC 1951 section 3.2.6), with the extra bits behind them, and the bits on their way
//! into bytes.

use super::MAX_MATCH;

/// Bits that do not fill a byte yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bits {
    held: u64,
    count: u32,
}

impl Bits {
    #[inline]
    pub(super) fn put(&mut self, code: Code, output: &mut Vec<u8>) {
        self.held |= u64::from(code.bits) << self.count;
        self.count += u32::from(code.length);
        if self.count >= 32 {
            output.extend_from_slice(&(self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.count -= 32;
        }
    }

    /// Bytes that the held bits fill, the last one in part.
    pub(super) fn bytes(self) -> usize {
        self.count.div_ceil(8) as usize
    }

    /// Fills the last byte with zeros.
    pub(super) fn align(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.held.to_le_bytes()[..self.bytes()]);
        *self = Self::default();
    }
}

/// A code with its extra bits, the first bit lowest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code {
    pub(super) bits: u32,
    pub(super) length: u8,
}

/// The header of a stored block, and of one with the fixed codes, not the last ones.
pub(super) const STORED: Code = Code { bits: 0b000, length: 3 };
pub(super) const BLOCK: Code = Code { bits: 0b010, length: 3 };

/// What the header of the last block has besides.
pub(super) const LAST: u32 = 1;

pub(super) const END_OF_BLOCK: Code = symbol(256);

pub(super) static LITERALS: [Code; 256] = {
    let mut codes = [END_OF_BLOCK; 256];
    let mut byte = 0;
    while byte < codes.len() {
        codes[byte] = symbol(byte as u32);
        byte += 1;
    }
    codes
};

/// The code of each length, from 3 up (section 3.2.5).
pub(super) static LENGTHS: [Code; MAX_MATCH + 1] = {
    let mut codes = [END_OF_BLOCK; MAX_MATCH + 1];
    let (mut number, mut length) = (257, 3);
    while length < MAX_MATCH {
        let extra = if number < 265 { 0 } else { (number - 261) as u8 / 4 };
        let mut rest = 0;
        while rest < 1 << extra {
            codes[length] = symbol(number).followed_by(rest, extra);
            rest += 1;
            length += 1;
        }
        number += 1;
    }
    // The longest has a code of its own.
    codes[MAX_MATCH] = symbol(285);
    codes
};

#[inline]
pub(super) fn distance_code(distance: usize) -> Code {
    let distance = distance as u32 - 1;
    if distance < 4 {
        return code(distance, 5);
    }
    // Two codes for each power of two; what is below their leading two bits is extra.
    let high = distance.ilog2();
    let extra = high - 1;
    let number = 2 * high + (distance >> extra & 1);
    code(number, 5).followed_by(distance & ((1 << extra) - 1), extra as u8)
}

const fn symbol(number: u32) -> Code {
    match number {
        0..=143 => code(0b0011_0000 + number, 8),
        144..=255 => code(0b1_1001_0000 + number - 144, 9),
        256..=279 => code(number - 256, 7),
        _ => code(0b1100_0000 + number - 280, 8),
    }
}

/// Huffman codes go out with their highest bit first (section 3.1.1).
const fn code(value: u32, length: u8) -> Code {
    Code { bits: value.reverse_bits() >> (32 - length as u32), length }
}

impl Code {
    /// With a flag in its first bit.
    pub(super) fn with(self, flag: u32) -> Self {
        Self { bits: self.bits | flag, ..self }
    }

    const fn followed_by(self, extra: u32, length: u8) -> Self {
        Self { bits: self.bits | extra << self.length, length: self.length + length }
    }

    /// The bits that it saves, standing for so many bytes.
    #[inline]
    pub(super) fn saved(self, bytes: usize) -> i32 {
        8 * bytes as i32 - i32::from(self.length)
    }
}
