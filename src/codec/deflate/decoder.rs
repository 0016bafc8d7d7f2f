//! Decoding `deflate`: the zlib format (RFC 1950), and raw deflate, which some senders mistake for it
//! (RFC 9110 section 8.4.1.2, note).
//!
//! The first two bytes decide: a zlib header has method 8, a window of at most 32 KiB and a sum divisible
//! by 31. A raw stream could begin like that only with a stored block whose padding bits are set, which no
//! known encoder writes. Bytes behind the end are malformed. No input at all is an empty message.

use crate::codec::{
    Decoder,
    inflate::{Inflate, Step},
};
use crate::error::Error;
use std::fmt;

/// FLG's bit that announces a preset dictionary, which HTTP has none of (RFC 1950 section 2.2).
const FDICT: u8 = 1 << 5;

/// A `deflate` message being decoded.
pub(crate) struct DeflateDecoder {
    state: State,
    inflate: Inflate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No byte yet.
    Start,
    /// The first byte, which may begin a zlib header.
    Second(u8),
    Data,
    End,
}

impl DeflateDecoder {
    pub(crate) fn new() -> Self {
        Self { state: State::Start, inflate: Inflate::new() }
    }

    /// Looks at the first byte, or at the first two, but takes at most one: the context reads the header too.
    fn start(&mut self, input: &mut &[u8]) -> Result<(), Error> {
        match **input {
            [first] if may_begin_zlib(first) => {
                self.state = State::Second(first);
                *input = &[];
                Ok(())
            }
            [first, second, ..] => self.begin(first, second),
            _ => self.begin(0, 0),
        }
    }

    /// Hands on the first byte, which gives nothing out and so needs no room: it opens a zlib header, or a stored
    /// block.
    fn second(&mut self, first: u8, second: u8) -> Result<(), Error> {
        self.begin(first, second)?;
        self.inflate.step(&mut &[first][..], 0, &mut Vec::new()).map(drop)
    }

    fn begin(&mut self, first: u8, second: u8) -> Result<(), Error> {
        let zlib = may_begin_zlib(first) && u16::from_be_bytes([first, second]) % 31 == 0;
        if zlib && second & FDICT != 0 {
            return Err(Error::malformed("deflate: preset dictionary"));
        }
        self.inflate.reset(zlib);
        self.state = State::Data;
        Ok(())
    }

    fn data(&mut self, input: &mut &[u8], room: usize, output: &mut Vec<u8>) -> Result<bool, Error> {
        let step = self.inflate.step(input, room, output)?;
        if step == Step::End {
            self.state = State::End;
        }
        Ok(step != Step::NeedsInput)
    }
}

/// Method 8, and a window of at most 32 KiB.
fn may_begin_zlib(first: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7
}

impl Decoder for DeflateDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let end = output.len() + room;
        while output.len() < end {
            match self.state {
                State::Data => {
                    if !self.data(&mut rest, end - output.len(), output)? {
                        break;
                    }
                }
                _ if rest.is_empty() => break,
                State::Start => self.start(&mut rest)?,
                State::Second(first) => self.second(first, rest[0])?,
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
