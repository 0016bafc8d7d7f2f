//! Decoding snappy's framing format (framing_format.txt): a stream identifier, then chunks.
//!
//! A chunk is gathered whole, decoded and checked before a byte of it is put out. A cut exactly between
//! two chunks cannot be told from an end, and no input at all is an empty message.

use crate::codec::{
    Decoder,
    gather::{Gather, little_endian},
    snappy::masked_crc,
};
use crate::error::Error;
use std::fmt;
use std::ops::Range;

/// Section 4.1: the whole of a stream identifier chunk's data.
const IDENTIFIER: &[u8] = b"sNaPpY";

/// Section 4.2: no chunk holds more than this, decoded.
const MAX_DATA: usize = 65_536;

/// The masked CRC-32C in front of a chunk's data.
const CHECKSUM: usize = 4;

/// The most that a chunk's data can grow to when compressed (`snap::raw::max_compress_len`).
const MAX_COMPRESSED: usize = 32 + MAX_DATA + MAX_DATA / 6;

/// A framed snappy message being decoded.
pub(crate) struct FramedDecoder {
    state: State,
    /// Whether the stream identifier has been seen, which must come first.
    identified: bool,
    header: Gather,
    /// The data of a chunk that came in pieces.
    chunk: Vec<u8>,
    /// What chunks are decoded into. It keeps its length, so that it is cleared only once.
    decoded: Vec<u8>,
    /// The part of it that is decoded and has not been put out.
    ready: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At a chunk's header, or where the message may end.
    Header,
    /// In a chunk that must be looked at as a whole.
    Gather { kind: Kind, length: usize },
    /// In a chunk to be skipped.
    Skip(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Identifier,
    Compressed,
    Uncompressed,
}

impl FramedDecoder {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Header,
            identified: false,
            header: Gather::default(),
            chunk: Vec::new(),
            decoded: Vec::new(),
            ready: 0..0,
        }
    }

    /// Takes a chunk's header: its kind and its length, both checked before anything is gathered.
    fn header(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        if !self.header.fill(input, 4) {
            return Ok(false);
        }
        let (kind, length) = (self.header.bytes()[0], little_endian(&self.header.bytes()[1..]) as usize);
        self.header.clear();
        if !self.identified && kind != 0xff {
            return Err(Error::malformed("snappy: no stream identifier"));
        }
        let (kind, allowed) = match kind {
            0xff => (Kind::Identifier, IDENTIFIER.len()..=IDENTIFIER.len()),
            0x00 => (Kind::Compressed, CHECKSUM + 1..=CHECKSUM + MAX_COMPRESSED),
            0x01 => (Kind::Uncompressed, CHECKSUM..=CHECKSUM + MAX_DATA),
            // Section 4.5: reserved and unskippable.
            0x02..=0x7f => return Err(Error::malformed("snappy: unknown kind of chunk")),
            // Sections 4.4 and 4.6: padding, and reserved but skippable.
            0x80..=0xfe => {
                self.state = State::Skip(length);
                return Ok(true);
            }
        };
        if !allowed.contains(&length) {
            return Err(Error::malformed("snappy: a chunk's length is out of range"));
        }
        self.state = State::Gather { kind, length };
        Ok(true)
    }

    /// Takes a chunk's data and, once it is complete, decodes and checks it.
    fn gather(&mut self, kind: Kind, length: usize, input: &mut &[u8]) -> Result<bool, Error> {
        let n = (length - self.chunk.len()).min(input.len());
        let (head, rest) = input.split_at(n);
        *input = rest;
        if n == length {
            self.chunk(kind, head)?;
        } else {
            self.chunk.extend_from_slice(head);
            if self.chunk.len() < length {
                return Ok(false);
            }
            let chunk = std::mem::take(&mut self.chunk);
            self.chunk(kind, &chunk)?;
            self.chunk = chunk;
            self.chunk.clear();
        }
        self.state = State::Header;
        Ok(true)
    }

    fn chunk(&mut self, kind: Kind, chunk: &[u8]) -> Result<(), Error> {
        if kind == Kind::Identifier {
            self.identified = chunk == IDENTIFIER;
            return if self.identified { Ok(()) } else { Err(Error::malformed("snappy: wrong identifier")) };
        }
        let (checksum, data) = chunk.split_at(CHECKSUM);
        if kind == Kind::Compressed {
            let length = snap::raw::decompress_len(data).map_err(Error::malformed)?;
            if length > MAX_DATA {
                return Err(Error::malformed("snappy: a chunk holds more than 65536 bytes"));
            }
            let decoded = self.room(length);
            snap::raw::Decoder::new().decompress(data, decoded).map_err(Error::malformed)?;
        } else {
            self.room(data.len()).copy_from_slice(data);
        }
        if checksum != masked_crc(&self.decoded[self.ready.clone()]).to_le_bytes() {
            self.ready = 0..0;
            return Err(Error::malformed("snappy: wrong CRC-32C"));
        }
        Ok(())
    }

    /// Where a chunk of so many bytes is decoded into, all of which is ready then.
    fn room(&mut self, length: usize) -> &mut [u8] {
        if self.decoded.len() < length {
            self.decoded.resize(length, 0);
        }
        self.ready = 0..length;
        &mut self.decoded[..length]
    }

    fn put_out(&mut self, room: usize, output: &mut Vec<u8>) {
        let n = room.min(self.ready.len());
        let (start, end) = (self.ready.start, self.ready.start + n);
        output.extend_from_slice(&self.decoded[start..end]);
        self.ready.start = end;
    }
}

impl Decoder for FramedDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let end = output.len() + room;
        loop {
            self.put_out(end - output.len(), output);
            if output.len() == end {
                break;
            }
            let goes_on = match self.state {
                State::Skip(0) => {
                    self.state = State::Header;
                    true
                }
                _ if rest.is_empty() => false,
                State::Header => self.header(&mut rest)?,
                State::Gather { kind, length } => self.gather(kind, length, &mut rest)?,
                State::Skip(left) => {
                    let n = left.min(rest.len());
                    rest = &rest[n..];
                    self.state = State::Skip(left - n);
                    true
                }
            };
            if !goes_on {
                break;
            }
        }
        Ok(input.len() - rest.len())
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self.state {
            State::Header if self.header.bytes().is_empty() => Ok(()),
            State::Skip(0) => Ok(()),
            _ => Err(Error::truncated()),
        }
    }

    fn reset(&mut self) -> bool {
        self.state = State::Header;
        self.identified = false;
        self.header.clear();
        self.chunk.clear();
        self.ready = 0..0;
        true
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.chunk.capacity() + self.decoded.capacity()
    }
}

impl fmt::Debug for FramedDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramedDecoder").field("state", &self.state).finish_non_exhaustive()
    }
}
