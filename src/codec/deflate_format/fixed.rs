//! The fixed Huffman codes (RFC 1951 section 3.2.6).

use super::bits::Code;

/// The header of a block with them that is not the last one.
pub(in crate::codec) const BLOCK: Code = Code { bits: 0b010, length: 3 };

/// The code of a literal, of a length's symbol, or of the end.
pub(in crate::codec) const fn symbol(number: u32) -> Code {
    match number {
        0..=143 => Code::huffman(0b0011_0000 + number, 8),
        144..=255 => Code::huffman(0b1_1001_0000 + number - 144, 9),
        256..=279 => Code::huffman(number - 256, 7),
        _ => Code::huffman(0b1100_0000 + number - 280, 8),
    }
}

/// The code of a distance's symbol.
pub(in crate::codec) const fn distance(number: u32) -> Code {
    Code::huffman(number, 5)
}
