//! Decoding zstd: frames one after another (RFC 8878 section 3), data frames and skippable ones.
//!
//! Frame headers are read here before zstd sees them: a window or a length above the limits, or a
//! dictionary, is refused before any memory is taken, also where zstd would decode in one pass and never
//! look at its own limit. A cut exactly between two frames cannot be told from an end, and no input at all
//! is an empty message.

mod header;

use self::header::{FrameHeader, SKIPPABLE_HEADER};
use crate::codec::{DecodeLimits, Decoder, append::fill, gather::Gather};
use crate::error::Error;
use ::zstd::zstd_safe::{
    DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name, is_error_kind,
    zstd_sys::ZSTD_ErrorCode::ZSTD_error_memory_allocation,
};
use std::fmt;

/// A zstd message being decoded.
pub(crate) struct ZstdDecoder {
    state: State,
    limits: DecodeLimits,
    context: DCtx<'static>,
    /// The part of a frame's header that came with earlier input.
    header: Gather,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Where a frame may begin or the message end.
    Between,
    /// In a data frame; `pending` if the last step filled its room, so that there may be more to give.
    Frame { pending: bool },
    /// In a skippable frame with so many bytes to go.
    Skip(u32),
}

impl ZstdDecoder {
    /// # Errors
    ///
    /// If the context cannot be allocated.
    pub(crate) fn new(limits: DecodeLimits) -> Result<Self, Error> {
        let mut context = DCtx::try_create().ok_or_else(|| Error::decode("zstd: no memory"))?;
        // The second line of defence: the exact limit is enforced on the frame's header.
        let log = limits.max_window.max(1).next_power_of_two().ilog2().clamp(10, 30);
        context.set_parameter(DParameter::WindowLogMax(log)).map_err(failure)?;
        Ok(Self { state: State::Between, limits, context, header: Gather::default() })
    }

    /// Reads a frame's header, and says whether it is complete.
    ///
    /// One that lies in `input` as a whole stays there, so that zstd sees the whole frame and can decode a
    /// small one in a single pass, without a window.
    fn begin_frame(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        if self.header.bytes().is_empty() {
            if let Ok(header) = FrameHeader::read(input)? {
                self.enter(header)?;
                if let FrameHeader::Skippable { .. } = header {
                    *input = &input[SKIPPABLE_HEADER..];
                }
                return Ok(true);
            }
        }
        loop {
            match FrameHeader::read(self.header.bytes())? {
                Err(wanted) => {
                    if !self.header.fill(input, wanted) {
                        // What is there is checked at once: garbage need not grow to a header's length.
                        return FrameHeader::read(self.header.bytes()).map(|_| false);
                    }
                }
                Ok(header) => {
                    self.enter(header)?;
                    if let FrameHeader::Data { length, .. } = header {
                        self.feed_header(length)?;
                    }
                    self.header.clear();
                    return Ok(true);
                }
            }
        }
    }

    /// Holds a frame's declarations against the limits.
    fn enter(&mut self, header: FrameHeader) -> Result<(), Error> {
        match header {
            FrameHeader::Skippable { size } => self.state = State::Skip(size),
            FrameHeader::Data { window, content_size, .. } => {
                if window > self.limits.max_window {
                    return Err(Error::limit("zstd: the declared window is above the limit"));
                }
                if content_size.is_some_and(|size| size > self.limits.max_length) {
                    return Err(Error::limit("zstd: the declared length is above the limit"));
                }
                self.state = State::Frame { pending: false };
            }
        }
        Ok(())
    }

    /// Hands a gathered header to zstd, which takes all of it and gives nothing out.
    fn feed_header(&mut self, length: usize) -> Result<(), Error> {
        let mut input = InBuffer::around(&self.header.bytes()[..length]);
        let mut output = OutBuffer::around(&mut [][..]);
        self.context.decompress_stream(&mut output, &mut input).map_err(failure)?;
        debug_assert_eq!(input.pos(), length);
        Ok(())
    }

    /// Takes one step in a data frame, and says whether another one makes sense.
    fn frame(&mut self, input: &mut &[u8], room: usize, output: &mut Vec<u8>) -> Result<bool, Error> {
        let (hint, taken, full) = fill(output, room, |spare| {
            let start = spare.len();
            let mut source = InBuffer::around(input);
            let hint = self.context.decompress_stream(&mut OutBuffer::around_pos(spare, start), &mut source);
            (hint, source.pos(), spare.len() == spare.capacity())
        });
        *input = &input[taken..];
        let ended = hint.map_err(failure)? == 0;
        self.state = if ended { State::Between } else { State::Frame { pending: full } };
        Ok(true)
    }
}

impl Decoder for ZstdDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let end = output.len() + room;
        while output.len() < end {
            let goes_on = match self.state {
                // zstd takes calls that bring it nothing for a mistake.
                State::Frame { pending: false } if rest.is_empty() => false,
                State::Frame { .. } => self.frame(&mut rest, end - output.len(), output)?,
                State::Skip(0) => {
                    self.state = State::Between;
                    true
                }
                _ if rest.is_empty() => false,
                State::Skip(left) => {
                    let n = rest.len().min(left as usize);
                    rest = &rest[n..];
                    self.state = State::Skip(left - n as u32);
                    true
                }
                State::Between => self.begin_frame(&mut rest)?,
            };
            if !goes_on {
                break;
            }
        }
        Ok(input.len() - rest.len())
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self.state {
            State::Between if self.header.bytes().is_empty() => Ok(()),
            State::Skip(0) => Ok(()),
            _ => Err(Error::truncated()),
        }
    }

    fn reset(&mut self) -> bool {
        self.state = State::Between;
        self.header.clear();
        self.context.reset(ResetDirective::SessionOnly).is_ok()
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.context.sizeof()
    }
}

impl fmt::Debug for ZstdDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZstdDecoder").field("state", &self.state).finish_non_exhaustive()
    }
}

fn failure(code: usize) -> Error {
    let name = get_error_name(code);
    let ours = is_error_kind(code, ZSTD_error_memory_allocation);
    if ours { Error::decode(name) } else { Error::malformed(name) }
}

#[cfg(test)]
mod tests;
