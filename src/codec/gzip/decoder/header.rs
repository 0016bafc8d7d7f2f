//! A member's header (RFC 1952 section 2.3), skipped as it streams by.

use crate::codec::gather::{Gather, little_endian};
use crate::error::Error;
use flate2::Crc;

/// ID1, ID2 and CM, the only method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// The fields that every header has.
const FIXED: usize = 10;

const FHCRC: u8 = 1 << 1;
const FEXTRA: u8 = 1 << 2;
const FNAME: u8 = 1 << 3;
const FCOMMENT: u8 = 1 << 4;

/// Section 2.3.1.2: "must give an error indication if any reserved bit is non-zero".
const RESERVED: u8 = 0b1110_0000;

/// One header being skipped. Names, comments and extra fields may be of any length: none is kept.
#[derive(Debug, Default)]
pub(super) struct Header {
    part: Part,
    flags: u8,
    /// Of the header so far, for FHCRC.
    crc: Crc,
    piece: Gather,
}

/// The parts of a header in their order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Fixed,
    ExtraLength,
    Extra(u16),
    Name,
    Comment,
    Checksum,
    End,
}

impl Header {
    /// Takes the header's bytes from the front of `input` and says whether it is complete.
    pub(super) fn take(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        loop {
            let before = *input;
            let next = match self.part {
                Part::Fixed => self.fixed(input)?,
                Part::ExtraLength => {
                    self.piece.fill(input, 2).then(|| Part::Extra(little_endian(self.piece.bytes()) as u16))
                }
                Part::Extra(length) => self.extra(length, input),
                Part::Name => skip_text(input).then(|| self.after_name()),
                Part::Comment => skip_text(input).then(|| self.after_comment()),
                Part::Checksum => self.checksum(input)?,
                Part::End => return Ok(true),
            };
            if self.part != Part::Checksum {
                self.crc.update(&before[..before.len() - input.len()]);
            }
            let Some(next) = next else { return Ok(false) };
            self.piece.clear();
            self.part = next;
        }
    }

    fn fixed(&mut self, input: &mut &[u8]) -> Result<Option<Part>, Error> {
        let complete = self.piece.fill(input, FIXED);
        let bytes = self.piece.bytes();
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(Error::malformed("gzip: not a member's header"));
        }
        if !complete {
            return Ok(None);
        }
        self.flags = bytes[3];
        if self.flags & RESERVED != 0 {
            return Err(Error::malformed("gzip: reserved flag"));
        }
        Ok(Some(if self.flags & FEXTRA != 0 { Part::ExtraLength } else { self.after_extra() }))
    }

    fn extra(&mut self, length: u16, input: &mut &[u8]) -> Option<Part> {
        let n = input.len().min(usize::from(length));
        *input = &input[n..];
        let left = length - n as u16;
        self.part = Part::Extra(left);
        (left == 0).then(|| self.after_extra())
    }

    fn checksum(&mut self, input: &mut &[u8]) -> Result<Option<Part>, Error> {
        if !self.piece.fill(input, 2) {
            return Ok(None);
        }
        // "the two least significant bytes of the CRC32 for all bytes of the gzip header".
        if little_endian(self.piece.bytes()) != u64::from(self.crc.sum() & 0xffff) {
            return Err(Error::malformed("gzip: wrong header CRC"));
        }
        Ok(Some(Part::End))
    }

    fn after_extra(&self) -> Part {
        if self.flags & FNAME != 0 { Part::Name } else { self.after_name() }
    }

    fn after_name(&self) -> Part {
        if self.flags & FCOMMENT != 0 { Part::Comment } else { self.after_comment() }
    }

    fn after_comment(&self) -> Part {
        if self.flags & FHCRC != 0 { Part::Checksum } else { Part::End }
    }
}

/// Skips a zero-terminated text and says whether its end was there.
fn skip_text(input: &mut &[u8]) -> bool {
    let end = input.iter().position(|&byte| byte == 0);
    *input = end.map_or(&[], |end| &input[end + 1..]);
    end.is_some()
}
