//! Decoding one raw snappy block (format_description.txt), as Prometheus remote write sends it.
//!
//! The block says its decoded length first and may refer back to any byte of its output, so the output is
//! kept until the end; its length is held against the limit before any memory is taken. The input is not
//! kept: elements are decoded as they come, so that memory grows with what has been decoded, never with
//! what was declared, and the end is known when the declared length is reached.

use super::element::{AHEAD, Element, LONGEST, elements, repeat, tag_length};
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

/// Copies come from less far back, but for those with offsets of four bytes, which encoders do not make.
const WINDOW: usize = 64 * 1024;

/// The longest block whose memory stays with the decoder for the next message: it need not be cleared again then. An
/// eighth of what a pool keeps.
const KEPT: usize = 1024 * 1024;

/// A raw snappy message being decoded.
pub(crate) struct RawDecoder {
    state: State,
    limits: DecodeLimits,
    /// The preamble or an element's tag, gathered.
    piece: Gather,
    /// The whole block's decoded length.
    declared: usize,
    /// What is decoded into: whole windows, and the longest element. What lies ahead of `decoded` is of no meaning;
    /// it may be of another message.
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
                    // A tag that the last input was cut in comes first.
                    if self.piece.bytes().is_empty() && rest.len() >= AHEAD {
                        self.run(rest, self.sent.saturating_add(room));
                    }
                    self.decoded - self.sent >= room || rest.is_empty() || self.tag(rest)?
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

    /// Carries out elements up to `end`, but for those that it leaves to [`tag`](Self::tag): what is long or from far
    /// back, and what is close to the end of the input or of the block.
    fn run(&mut self, input: &mut &[u8], end: usize) {
        let start = self.decoded / WINDOW * WINDOW;
        let end = end.min(self.declared.saturating_sub(LONGEST)).min(start + WINDOW);
        if self.decoded >= end {
            return;
        }
        self.reserve(1, input.len());
        let base = start.saturating_sub(WINDOW);
        let (block, at, end) = (&mut self.block[base..], self.decoded - base, end - base);
        let at = if start == 0 {
            elements::<WINDOW, { WINDOW + LONGEST }>(block, at, end, input)
        } else {
            elements::<{ 2 * WINDOW }, { 2 * WINDOW + LONGEST }>(block, at, end, input)
        };
        self.decoded = base + at;
    }

    /// Takes an element's tag and, if it is a copy, carries it out.
    fn tag(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        if self.decoded == self.declared {
            return Err(Error::malformed("snappy: data behind the end"));
        }
        let Some((first, number)) = self.take_tag(input) else { return Ok(false) };
        let left = self.declared - self.decoded;
        match Element::read(first, number) {
            Element::Literal(length) => self.state = State::Literal(length),
            Element::Copy { offset, length } if length <= left && (1..=self.decoded).contains(&offset) => {
                self.reserve(length, input.len());
                repeat(&mut self.block, self.decoded, offset, length);
                self.decoded += length;
            }
            element => return Err(self.refuse(element)),
        }
        Ok(true)
    }

    /// Takes a tag: its first byte, and the number that the bytes after it make.
    fn take_tag(&mut self, input: &mut &[u8]) -> Option<(u8, u32)> {
        if let ([], Some(&[first, a, b, c, d])) = (self.piece.bytes(), input.first_chunk()) {
            *input = &input[tag_length(first)..];
            return Some((first, u32::from_le_bytes([a, b, c, d])));
        }
        let wanted = |piece: &Gather| piece.bytes().first().map_or(1, |&first| tag_length(first));
        while self.piece.bytes().len() < wanted(&self.piece) {
            if !self.piece.fill(input, wanted(&self.piece)) {
                return None;
            }
        }
        let (first, number) = (self.piece.bytes()[0], little_endian(&self.piece.bytes()[1..]));
        self.piece.clear();
        Some((first, number as u32))
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

    /// Makes room for `more` bytes: for all of what was declared if a quarter of it has come, or if the `input` at
    /// hand makes it likely; else twice as much. So the last move holds little more than the whole, and memory
    /// grows with what has come, whatever was declared.
    fn reserve(&mut self, more: usize, input: usize) {
        let (needed, held) = (self.decoded + more, self.block.len().saturating_sub(LONGEST));
        if held < needed {
            let likely = held.max(LIKELY * input) >= self.declared / 4;
            let wanted = if likely { self.declared } else { 2 * held };
            let length = wanted.max(needed).next_multiple_of(WINDOW) + LONGEST;
            self.block.reserve_exact(length - self.block.len());
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
        let mut block = std::mem::take(&mut self.block);
        if block.len() > KEPT + LONGEST {
            block = Vec::new();
        }
        *self = Self { block, ..Self::new(self.limits) };
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
