//! Decoding `deflate`: the zlib format (RFC 1950), and raw deflate, which some senders mistake for it
//! (RFC 9110 section 8.4.1.2, note).
//!
//! The first two bytes decide: a zlib header has method 8, a window of at most 32 KiB and a sum divisible
//! by 31. A raw stream could begin like that only with a stored block whose padding bits are set, which no
//! known encoder writes. Bytes behind the end are malformed. No input at all is an empty message.

use crate::codec::{
    Decoder,
    gather::{Gather, little_endian},
    inflate::{Inflate, Step},
};
use crate::error::Error;
use simd_adler32::Adler32;
use std::fmt;

/// FLG's bit that announces a preset dictionary, which HTTP has none of (RFC 1950 section 2.2).
const FDICT: u8 = 1 << 5;

/// The Adler-32 in network order.
const TRAILER: usize = 4;

/// A `deflate` message being decoded.
pub(crate) struct DeflateDecoder {
    state: State,
    inflate: Inflate,
    adler: Adler32,
    trailer: Gather,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No byte yet.
    Start,
    /// The first byte, which may begin a zlib header.
    Second(u8),
    Zlib,
    Raw,
    Trailer,
    End,
}

impl DeflateDecoder {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Start,
            inflate: Inflate::new(),
            adler: Adler32::new(),
            trailer: Gather::default(),
        }
    }

    fn start(&mut self, input: &mut &[u8]) {
        let first = input[0];
        if first & 0x0f == 8 && first >> 4 <= 7 {
            self.state = State::Second(first);
            *input = &input[1..];
        } else {
            self.state = State::Raw;
        }
    }

    fn second(&mut self, first: u8, input: &mut &[u8]) -> Result<(), Error> {
        let second = input[0];
        if u16::from_be_bytes([first, second]) % 31 != 0 {
            // Such a first byte opens a stored block and gives nothing out, so it needs no room.
            self.inflate.step(&mut &[first][..], 0, &mut Vec::new())?;
            self.state = State::Raw;
            return Ok(());
        }
        if second & FDICT != 0 {
            return Err(Error::malformed("deflate: preset dictionary"));
        }
        *input = &input[1..];
        self.state = State::Zlib;
        Ok(())
    }

    fn data(&mut self, input: &mut &[u8], room: usize, output: &mut Vec<u8>) -> Result<bool, Error> {
        let start = output.len();
        let step = self.inflate.step(input, room, output)?;
        let wrapped = self.state == State::Zlib;
        if wrapped {
            self.adler.write(&output[start..]);
        }
        if step == Step::End {
            self.state = if wrapped { State::Trailer } else { State::End };
        }
        Ok(step != Step::NeedsInput)
    }

    fn trailer(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        if !self.trailer.fill(input, TRAILER) {
            return Ok(false);
        }
        if little_endian(self.trailer.bytes()) as u32 != self.adler.finish().swap_bytes() {
            return Err(Error::malformed("deflate: wrong Adler-32"));
        }
        self.state = State::End;
        Ok(true)
    }
}

impl Decoder for DeflateDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let end = output.len() + room;
        while output.len() < end {
            match self.state {
                State::Zlib | State::Raw => {
                    if !self.data(&mut rest, end - output.len(), output)? {
                        break;
                    }
                }
                _ if rest.is_empty() => break,
                State::Start => self.start(&mut rest),
                State::Second(first) => self.second(first, &mut rest)?,
                State::Trailer => {
                    if !self.trailer(&mut rest)? {
                        break;
                    }
                }
                State::End => return Err(Error::malformed("deflate: data behind the end")),
            }
        }
        Ok(input.len() - rest.len())
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self.state {
            State::Start | State::End => Ok(()),
            _ => Err(Error::truncated()),
        }
    }

    fn reset(&mut self) -> bool {
        self.state = State::Start;
        self.inflate.reset();
        self.adler.reset();
        self.trailer.clear();
        true
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.inflate.memory()
    }
}

impl fmt::Debug for DeflateDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeflateDecoder").field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
