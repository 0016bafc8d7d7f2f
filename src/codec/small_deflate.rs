//! Raw deflate (RFC 1951) for small whole messages.
//!
//! zlib clears 128 KiB of hash heads for each message, which is most of its time where that has a few hundred bytes.
//! Here the tables are as small as the message, and the work goes in passes that hardly branch: link places that are
//! alike, choose literals and matches, count them, make the codes, write. A message of more than [`MAX_BLOCK`]
//! bytes or of several calls becomes several blocks that know nothing of each other. See "Why do small bodies change
//! the encoder" in DESIGN.md.

mod codes;
mod header;
mod huffman;
mod repeats;
mod tokens;

use self::codes::Codes;
use self::repeats::Repeats;
use self::tokens::Tokens;
use super::Operation;
use super::deflate_format::LAST;
use super::deflate_format::bits::Bits;

/// The most input that one block takes. The tables are for so much, and one place that is none.
const MAX_BLOCK: usize = 8 * 1024 - 1;

/// Bytes of heap of one encoder.
pub(super) const MEMORY: usize = repeats::MEMORY + tokens::MEMORY;

/// One message being encoded.
pub(super) struct SmallDeflate {
    repeats: Repeats,
    tokens: Tokens,
    bits: Bits,
}

impl SmallDeflate {
    pub(super) fn new() -> Self {
        Self { repeats: Repeats::new(), tokens: Tokens::new(), bits: Bits::default() }
    }

    /// Forgets the message. No block knows of another one, so there is nothing else to clear.
    pub(super) fn reset(&mut self) {
        self.bits = Bits::default();
    }

    pub(super) fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) {
        let last = |rest: &[u8]| if operation == Operation::Finish && rest.is_empty() { LAST } else { 0 };
        let mut rest = input;
        while !rest.is_empty() {
            let (block, later) = rest.split_at(rest.len().min(MAX_BLOCK));
            rest = later;
            self.block(block, last(rest), output);
        }
        match operation {
            Operation::Encode => {}
            Operation::Flush => self.bits.stored(&[], 0, output),
            Operation::Finish => {
                if input.is_empty() {
                    self.block(&[], LAST, output);
                }
                self.bits.align(output);
            }
        }
    }

    /// With codes of its own, with the fixed ones, or stored: whichever is the smallest.
    fn block(&mut self, input: &[u8], flag: u32, output: &mut Vec<u8>) {
        self.repeats.load(input);
        self.tokens.parse(input, &self.repeats);
        let codes = Codes::new(&self.tokens.counts());
        let cost = codes.cost();
        if cost > self.bits.stored_cost(input.len()) {
            self.bits.stored(input, flag, output);
        } else {
            self.bits.write(cost, output, |bits| {
                codes.write_header(flag, bits);
                self.tokens.write(codes.table(), bits);
            });
        }
    }
}

#[cfg(test)]
mod tests;
