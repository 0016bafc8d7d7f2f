//! A block as symbols, and how they are chosen.

use super::MAX_BLOCK;
use super::repeats::{Match, Repeats};
use crate::codec::deflate_format::bits::BitWriter;
use crate::codec::deflate_format::symbols::{END_OF_BLOCK, LENGTHS, Symbol, distance};
use crate::codec::zeroed::zeroed;

/// Literals, lengths and the end; two of these are never used.
pub(super) const SYMBOLS: usize = 288;

/// Two of these are never used either.
pub(super) const DISTANCES: usize = 32;

/// A power of two that has room for both, so that no index needs a check.
pub(super) const ALL: usize = 512;

/// The end besides: a match has more bytes than the two tokens that it takes.
const MOST: usize = MAX_BLOCK + 1;

/// Bytes of heap.
pub(super) const MEMORY: usize = size_of::<Token>() * MOST;

/// A symbol in the low half, distances after all others, and the value of its extra bits in the high one.
///
/// A match is two tokens, so that a loop over them never asks what kind they are.
type Token = u32;

fn token(symbol: Symbol, base: usize) -> Token {
    (Token::from(symbol.number) + base as Token) | Token::from(symbol.extra) << 16
}

fn number(token: Token) -> usize {
    token as usize % ALL
}

/// A code, with the extra bits' length included in `total`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    pub(super) bits: u16,
    pub(super) length: u8,
    pub(super) total: u8,
}

/// The tokens of one block.
pub(super) struct Tokens {
    tokens: Box<[Token; MOST]>,
    filled: usize,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self { tokens: zeroed(), filled: 0 }
    }

    /// A match gives way to one at the next byte that is better.
    #[inline(never)]
    pub(super) fn parse(&mut self, input: &[u8], repeats: &Repeats) {
        self.filled = 0;
        let mut place = 0;
        while place < input.len() {
            let Some(mut found) = repeats.find(place) else {
                self.push(Token::from(input[place]));
                place += 1;
                continue;
            };
            while let Some(next) = repeats.find(place + 1) {
                if !next.is_better(found) {
                    break;
                }
                self.push(Token::from(input[place]));
                place += 1;
                found = next;
            }
            self.push(token(LENGTHS[found.length], 0));
            self.push(token(distance(found.distance), SYMBOLS));
            place += found.length;
        }
        self.push(Token::from(END_OF_BLOCK));
    }

    #[inline]
    fn push(&mut self, token: Token) {
        self.tokens[self.filled] = token;
        self.filled += 1;
    }

    /// How often each symbol is used.
    pub(super) fn counts(&self) -> [u16; ALL] {
        let mut counts = [0; ALL];
        for &token in &self.tokens[..self.filled] {
            counts[number(token)] += 1;
        }
        counts
    }

    #[inline(never)]
    pub(super) fn write(&self, table: &[Entry; ALL], bits: &mut BitWriter<'_>) {
        let put = |token: Token, bits: &mut BitWriter<'_>| {
            let Entry { bits: code, length, total } = table[number(token)];
            bits.put(u32::from(code) | (token >> 16) << length, total);
        };
        // Two tokens have at most 15 + 5 and 15 + 13 bits.
        let mut pairs = self.tokens[..self.filled].chunks_exact(2);
        for pair in pairs.by_ref() {
            put(pair[0], bits);
            put(pair[1], bits);
            bits.spill();
        }
        for &token in pairs.remainder() {
            put(token, bits);
            bits.spill();
        }
    }
}

impl Match {
    /// By the bits that both are likely to save: four for each byte, less those for the distance.
    ///
    /// The one bit in favour of the match at hand: with 0 or 2 of them 0.1 % larger (messages of 1 to 12 KB).
    #[inline]
    fn is_better(self, than: Self) -> bool {
        let saved = |found: Self| 4 * found.length as i32 - (found.distance as u32).ilog2() as i32;
        saved(self) > saved(than) + 1
    }
}
