//! Decoding one raw snappy block (format_description.txt), as Prometheus remote write sends it.
//!
//! The block says its decoded length first and may refer back to any byte of its output, so the output is
//! kept until the end; its length is held against the limit before any memory is taken. The input is not
//! kept: elements are decoded as they come, so that memory grows with what has been decoded, never with
//! what was declared, and the end is known when the declared length is reached.

use super::element::{Element, MAX_TAG, SLACK, STEP, repeat, tag_length};
use crate::codec::{
    DecodeLimits, Decoder,
    gather::{Gather, little_endian},
};
use crate::error::Error;
use std::fmt;

/// The preamble is a varint of 32 bits.
const MAX_PREAMBLE: usize = 5;

/// Bytes that one byte of input makes likely. At most 21 are possible: 64 from a copy's three bytes.
const LIKELY: usize = 2;

/// What must be seen of the input to carry out an element without a look at the input's end.
const AHEAD: usize = MAX_TAG + STEP;

/// A raw snappy message being decoded.
pub(crate) struct RawDecoder {
    state: State,
    limits: DecodeLimits,
    /// The preamble or an element's tag, gathered.
    piece: Gather,
    /// The whole block's decoded length.
    declared: usize,
    /// What is decoded into: zeroed ahead of what has come, so that short elements are copied in steps of a fixed
    /// size, which may write beyond their end.
    block: Vec<u8>,
    /// How much of it has been decoded, to which elements refer back, and how much has been put out.
    decoded: usize,
    sent: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    /// At an element's tag, or at the end.
    Tag,
    /// In a literal with so many bytes to go.
    Literal(usize),
}

impl RawDecoder {
    pub(crate) fn new(limits: DecodeLimits) -> Self {
        Self {
            state: State::Preamble,
            limits,
            piece: Gather::default(),
            declared: 0,
            block: Vec::new(),
            decoded: 0,
            sent: 0,
        }
    }

    /// Decodes `room` bytes, or more by less than one element.
    fn advance(&mut self, rest: &mut &[u8], room: usize) -> Result<(), Error> {
        let mut goes_on = true;
        while goes_on && self.decoded - self.sent < room && !rest.is_empty() {
            goes_on = match self.state {
                State::Preamble => self.preamble(rest)?,
                State::Tag => {
                    self.elements(rest, room)?;
                    let goes_on = self.state == State::Tag && !rest.is_empty();
                    !goes_on || self.decoded - self.sent >= room || self.tag(rest)?
                }
                State::Literal(left) => {
                    self.literal(left, rest)?;
                    true
                }
            };
        }
        Ok(())
    }

    /// Takes the preamble: the decoded length, little-endian, seven bits a byte.
    fn preamble(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        let wanted = self.piece.bytes().len() + 1;
        if !self.piece.fill(input, wanted) {
            return Ok(false);
        }
        let bytes = self.piece.bytes();
        if bytes[bytes.len() - 1] & 0x80 != 0 {
            return if bytes.len() < MAX_PREAMBLE { Ok(true) } else { Err(bad_preamble()) };
        }
        let length = bytes.iter().rev().fold(0_u64, |length, byte| length << 7 | u64::from(byte & 0x7f));
        if length > u64::from(u32::MAX) {
            return Err(bad_preamble());
        }
        if length > self.limits.max_length {
            return Err(Error::limit("snappy: the declared length is above the limit"));
        }
        self.declared = length as usize;
        self.piece.clear();
        self.state = State::Tag;
        Ok(true)
    }

    /// Carries out the elements that lie in `input` as a whole: all but long literals and the one that the input
    /// is cut in.
    fn elements(&mut self, input: &mut &[u8], room: usize) -> Result<(), Error> {
        // A tag that the last input was cut in comes first.
        let end = if self.piece.bytes().is_empty() { self.sent.saturating_add(room) } else { 0 };
        while self.decoded < end && self.state == State::Tag && input.len() >= AHEAD {
            self.reserve(SLACK, input.len());
            self.run(input, end)?;
        }
        Ok(())
    }

    /// Goes on until `end`, a long literal, the end of the block's memory, or close to that of the input.
    #[inline(never)]
    fn run(&mut self, input: &mut &[u8], end: usize) -> Result<(), Error> {
        let (block, declared) = (&mut self.block[..], self.declared);
        let (mut rest, mut at) = (*input, self.decoded);
        let mut refused = None;
        while at < end && block.len() - at >= SLACK {
            let Some(&[first, a, b, c, d, ..]) = rest.first_chunk::<AHEAD>() else { break };
            let after = &rest[tag_length(first)..];
            let length = match Element::read(first, u32::from_le_bytes([a, b, c, d])) {
                Element::Literal(length) if length > STEP => {
                    self.state = State::Literal(length);
                    rest = after;
                    break;
                }
                Element::Literal(length) if length <= declared - at => {
                    block[at..at + STEP].copy_from_slice(&after[..STEP]);
                    rest = &after[length..];
                    length
                }
                Element::Copy { offset, length } if length <= declared - at && (1..=at).contains(&offset) => {
                    repeat(block, at, offset, length);
                    rest = after;
                    length
                }
                element => {
                    refused = Some(element);
                    break;
                }
            };
            at += length;
        }
        (*input, self.decoded) = (rest, at);
        refused.map_or(Ok(()), |element| Err(self.refuse(element)))
    }

    /// Takes an element's tag and, if it is a copy, carries it out.
    fn tag(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        if self.decoded == self.declared {
            return Err(Error::malformed("snappy: data behind the end"));
        }
        if !self.piece.fill(input, 1) {
            return Ok(false);
        }
        let wanted = tag_length(self.piece.bytes()[0]);
        if !self.piece.fill(input, wanted) {
            return Ok(false);
        }
        let (first, number) = (self.piece.bytes()[0], little_endian(&self.piece.bytes()[1..]));
        self.piece.clear();
        let left = self.declared - self.decoded;
        match Element::read(first, number as u32) {
            Element::Literal(length) => self.state = State::Literal(length),
            Element::Copy { offset, length } if length <= left && (1..=self.decoded).contains(&offset) => {
                self.reserve(SLACK, input.len());
                repeat(&mut self.block, self.decoded, offset, length);
                self.decoded += length;
            }
            element => return Err(self.refuse(element)),
        }
        Ok(true)
    }

    #[cold]
    fn refuse(&self, element: Element) -> Error {
        let (Element::Literal(length) | Element::Copy { length, .. }) = element;
        let long = length > self.declared - self.decoded;
        Error::malformed(if long {
            "snappy: more data than declared"
        } else {
            "snappy: a copy from before the start"
        })
    }

    fn literal(&mut self, left: usize, input: &mut &[u8]) -> Result<(), Error> {
        if left > self.declared - self.decoded {
            return Err(self.refuse(Element::Literal(left)));
        }
        let n = left.min(input.len());
        let (head, rest) = input.split_at(n);
        self.reserve(n, input.len());
        self.block[self.decoded..self.decoded + n].copy_from_slice(head);
        self.decoded += n;
        *input = rest;
        self.state = if n == left { State::Tag } else { State::Literal(left - n) };
        Ok(())
    }

    /// Makes room for `more` bytes: all of what was declared if a quarter of it has come, or if the `input` at
    /// hand makes it likely; else twice as much. So the last move holds little more than the whole, and memory
    /// grows with what has come, whatever was declared.
    fn reserve(&mut self, more: usize, input: usize) {
        let (needed, held) = (self.decoded + more, self.block.len());
        if held < needed {
            let likely = held.max(LIKELY * input) >= self.declared / 4;
            let wanted = if likely { self.declared + SLACK } else { 2 * held };
            let length = wanted.max(needed);
            self.block.reserve_exact(length - held);
            self.block.resize(length, 0);
        }
    }

    fn put_out(&mut self, room: usize, output: &mut Vec<u8>) {
        let n = room.min(self.decoded - self.sent);
        output.extend_from_slice(&self.block[self.sent..self.sent + n]);
        self.sent += n;
    }
}

fn bad_preamble() -> Error {
    Error::malformed("snappy: the declared length is no 32-bit number")
}

impl Decoder for RawDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let result = self.advance(&mut rest, room);
        // Also before an error.
        self.put_out(room, output);
        result.map(|()| input.len() - rest.len())
    }

    fn finish(&mut self) -> Result<(), Error> {
        let ended = match self.state {
            State::Preamble => self.piece.bytes().is_empty(),
            State::Tag => self.decoded == self.declared,
            State::Literal(_) => false,
        };
        if ended { Ok(()) } else { Err(Error::truncated()) }
    }

    fn reset(&mut self) -> bool {
        let Self { limits, .. } = *self;
        // A block's whole output is nothing to keep in a pool.
        *self = Self::new(limits);
        true
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.block.capacity()
    }
}

impl fmt::Debug for RawDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawDecoder").field("state", &self.state).finish_non_exhaustive()
    }
}
