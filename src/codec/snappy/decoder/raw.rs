//! Decoding one raw snappy block (format_description.txt), as Prometheus remote write sends it.
//!
//! The block says its decoded length first and may refer back to any byte of its output, so the output is
//! kept until the end; its length is held against the limit before any memory is taken. The input is not
//! kept: elements are decoded as they come, so that memory grows with what has been decoded, never with
//! what was declared, and the end is known when the declared length is reached.

use crate::codec::{
    DecodeLimits, Decoder,
    gather::{Gather, little_endian},
};
use crate::error::Error;
use std::fmt;

/// The preamble is a varint of 32 bits.
const MAX_PREAMBLE: usize = 5;

/// A tag and a literal's length or a copy's offset of four bytes.
const MAX_TAG: usize = 5;

/// A raw snappy message being decoded.
pub(crate) struct RawDecoder {
    state: State,
    limits: DecodeLimits,
    /// The preamble or an element's tag, gathered.
    piece: Gather,
    /// The whole block's decoded length.
    declared: usize,
    /// All that has been decoded, to which elements refer back, and how much of it has been put out.
    decoded: Vec<u8>,
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

/// An element: a literal's length, or a copy.
enum Element {
    Literal(usize),
    Copy { offset: usize, length: usize },
}

impl RawDecoder {
    pub(crate) fn new(limits: DecodeLimits) -> Self {
        Self {
            state: State::Preamble,
            limits,
            piece: Gather::default(),
            declared: 0,
            decoded: Vec::new(),
            sent: 0,
        }
    }

    /// Decodes `room` bytes, or more by less than one element.
    fn advance(&mut self, rest: &mut &[u8], room: usize) -> Result<(), Error> {
        let mut goes_on = true;
        while goes_on && self.decoded.len() - self.sent < room && !rest.is_empty() {
            goes_on = match self.state {
                State::Preamble => self.preamble(rest)?,
                State::Tag => self.tag(rest)?,
                State::Literal(left) => {
                    self.literal(left, rest);
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

    /// Takes an element's tag and, if it is a copy, carries it out.
    fn tag(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        if self.decoded.len() == self.declared {
            return Err(Error::malformed("snappy: data behind the end"));
        }
        // All but the tag that the input is cut in, where it lies.
        if self.piece.bytes().is_empty() && input.len() >= MAX_TAG {
            let (tag, rest) = input.split_at(tag_length(input[0]));
            *input = rest;
            self.element(element(tag))?;
            return Ok(true);
        }
        if !self.piece.fill(input, 1) {
            return Ok(false);
        }
        let wanted = tag_length(self.piece.bytes()[0]);
        if !self.piece.fill(input, wanted) {
            return Ok(false);
        }
        let element = element(self.piece.bytes());
        self.piece.clear();
        self.element(element)?;
        Ok(true)
    }

    fn element(&mut self, element: Element) -> Result<(), Error> {
        let (Element::Literal(length) | Element::Copy { length, .. }) = element;
        if length > self.declared - self.decoded.len() {
            return Err(Error::malformed("snappy: more data than declared"));
        }
        match element {
            Element::Literal(length) => self.state = State::Literal(length),
            Element::Copy { offset, length } => self.copy(offset, length)?,
        }
        Ok(())
    }

    fn literal(&mut self, left: usize, input: &mut &[u8]) {
        let n = left.min(input.len());
        let (head, rest) = input.split_at(n);
        *input = rest;
        self.reserve(n);
        self.decoded.extend_from_slice(head);
        self.state = if n == left { State::Tag } else { State::Literal(left - n) };
    }

    /// Repeats `length` bytes from `offset` back, which may overlap with what they produce.
    fn copy(&mut self, offset: usize, length: usize) -> Result<(), Error> {
        if offset == 0 || offset > self.decoded.len() {
            return Err(Error::malformed("snappy: a copy from before the start"));
        }
        self.reserve(length);
        let from = self.decoded.len() - offset;
        if length <= offset {
            self.decoded.extend_from_within(from..from + length);
            return Ok(());
        }
        let end = self.decoded.len() + length;
        while self.decoded.len() < end {
            // What has been repeated has the same period, so that each round can repeat twice as much.
            let to = (from + end - self.decoded.len()).min(self.decoded.len());
            self.decoded.extend_from_within(from..to);
        }
        Ok(())
    }

    /// Makes room for `more` bytes: doubling, until a quarter of what was declared has really come; then for
    /// all of it, so that the last move holds little more than the whole.
    fn reserve(&mut self, more: usize) {
        let (len, capacity) = (self.decoded.len(), self.decoded.capacity());
        if capacity - len < more {
            let wanted = if capacity >= self.declared / 4 { self.declared } else { capacity * 2 };
            self.decoded.reserve_exact(wanted.max(len + more) - len);
        }
    }

    fn put_out(&mut self, room: usize, output: &mut Vec<u8>) {
        let n = room.min(self.decoded.len() - self.sent);
        output.extend_from_slice(&self.decoded[self.sent..self.sent + n]);
        self.sent += n;
    }
}

/// The length of the element's tag that starts with `first`, without a literal's data.
fn tag_length(first: u8) -> usize {
    match (first & 3, first >> 2) {
        (0, length @ 60..) => usize::from(length) - 60 + 2,
        (0, _) => 1,
        (1, _) => 2,
        (2, _) => 3,
        _ => 5,
    }
}

/// Reads a whole tag (format_description.txt sections 2.1 and 2.2).
fn element(tag: &[u8]) -> Element {
    let upper = usize::from(tag[0] >> 2);
    let number = little_endian(&tag[1..]) as usize;
    match tag[0] & 3 {
        0 if upper < 60 => Element::Literal(upper + 1),
        // Saturating, for the sake of 32-bit targets: what is too long is refused anyway.
        0 => Element::Literal(number.saturating_add(1)),
        1 => Element::Copy { offset: (upper >> 3) << 8 | usize::from(tag[1]), length: (upper & 7) + 4 },
        _ => Element::Copy { offset: number, length: upper + 1 },
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
            State::Tag => self.decoded.len() == self.declared,
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
        size_of::<Self>() + self.decoded.capacity()
    }
}

impl fmt::Debug for RawDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawDecoder").field("state", &self.state).finish_non_exhaustive()
    }
}
