//! The fixed codes, with the extra bits behind them.

use crate::codec::deflate_format::bits::Code;
use crate::codec::deflate_format::fixed;
use crate::codec::deflate_format::symbols::{self, END_OF_BLOCK, MAX_MATCH, MIN_MATCH};

pub(super) const END: Code = fixed::symbol(END_OF_BLOCK as u32);

pub(super) static LITERALS: [Code; 256] = {
    let mut codes = [END; 256];
    let mut byte = 0;
    while byte < codes.len() {
        codes[byte] = fixed::symbol(byte as u32);
        byte += 1;
    }
    codes
};

/// The code of each length, from 3 up.
pub(super) static LENGTHS: [Code; MAX_MATCH + 1] = {
    let mut codes = [END; MAX_MATCH + 1];
    let mut length = MIN_MATCH;
    while length <= MAX_MATCH {
        let symbol = symbols::LENGTHS[length];
        codes[length] =
            fixed::symbol(symbol.number as u32).followed_by(symbol.extra as u32, symbol.extra_length);
        length += 1;
    }
    codes
};

#[inline]
pub(super) fn distance(distance: usize) -> Code {
    let symbol = symbols::distance(distance);
    fixed::distance(u32::from(symbol.number)).followed_by(u32::from(symbol.extra), symbol.extra_length)
}

impl Code {
    /// The bits that it saves, standing for so many bytes.
    #[inline]
    pub(super) fn saved(self, bytes: usize) -> i32 {
        8 * bytes as i32 - i32::from(self.length)
    }
}
