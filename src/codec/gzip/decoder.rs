//! Decoding gzip: members one after another (RFC 1952 section 2.2), each checked against its trailer.
//!
//! Nothing is tolerated that the RFC does not have: bytes behind a member that do not begin another one are
//! malformed, zero padding included, which belongs to tapes and not to messages. Two ends cannot be told
//! from a cut: no input at all (an empty message), and a cut exactly between two members.

mod header;

use self::header::Header;
use crate::codec::{
    Decoder,
    gather::{Gather, little_endian},
    inflate::{Inflate, Step},
};
use crate::error::Error;
use flate2::Crc;

/// CRC32 and ISIZE (RFC 1952 section 2.3.1).
const TRAILER: usize = 8;

/// A gzip message being decoded.
#[derive(Debug)]
pub(crate) struct GzipDecoder {
    state: State,
    header: Header,
    inflate: Inflate,
    /// Of the current member's data.
    crc: Crc,
    trailer: Gather,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Where a member may begin or the message end.
    Between,
    Header,
    Data,
    Trailer,
}

impl GzipDecoder {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Between,
            header: Header::default(),
            inflate: Inflate::new(),
            crc: Crc::new(),
            trailer: Gather::default(),
        }
    }

    fn begin_member(&mut self) {
        self.header = Header::default();
        self.inflate.reset(false);
        self.crc.reset();
        self.trailer.clear();
        self.state = State::Header;
    }

    fn data(&mut self, input: &mut &[u8], room: usize, output: &mut Vec<u8>) -> Result<bool, Error> {
        let start = output.len();
        let step = self.inflate.step(input, room, output)?;
        self.crc.update(&output[start..]);
        if step == Step::End {
            self.state = State::Trailer;
        }
        Ok(step != Step::NeedsInput)
    }

    /// Compares the trailer with the data; ISIZE is the length modulo 2^32, and so is `Crc::amount`.
    fn check(&self) -> Result<(), Error> {
        let (crc, length) = self.trailer.bytes().split_at(4);
        if little_endian(crc) != u64::from(self.crc.sum()) {
            return Err(Error::malformed("gzip: wrong CRC-32"));
        }
        if little_endian(length) != u64::from(self.crc.amount()) {
            return Err(Error::malformed("gzip: wrong length"));
        }
        Ok(())
    }
}

impl Decoder for GzipDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let end = output.len() + room;
        while output.len() < end {
            let goes_on = match self.state {
                State::Between if rest.is_empty() => false,
                State::Between => {
                    self.begin_member();
                    true
                }
                State::Header => {
                    let complete = self.header.take(&mut rest)?;
                    if complete {
                        self.state = State::Data;
                    }
                    complete
                }
                State::Data => self.data(&mut rest, end - output.len(), output)?,
                State::Trailer => {
                    let complete = self.trailer.fill(&mut rest, TRAILER);
                    if complete {
                        self.check()?;
                        self.state = State::Between;
                    }
                    complete
                }
            };
            if !goes_on {
                break;
            }
        }
        Ok(input.len() - rest.len())
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.state == State::Between { Ok(()) } else { Err(Error::truncated()) }
    }

    fn reset(&mut self) -> bool {
        self.state = State::Between;
        true
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.inflate.memory()
    }
}

#[cfg(test)]
mod tests;
