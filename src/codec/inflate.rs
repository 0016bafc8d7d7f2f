//! Raw deflate (RFC 1951), which gzip and zlib wrap.

use super::append::append;
use crate::error::Error;
use flate2::{Decompress, FlushDecompress, Status};
use std::fmt;

/// What a context holds: a window of 32 KiB and the Huffman tables of zlib-rs.
const MEMORY: usize = 48 * 1024;

/// A raw deflate stream being decoded.
pub(crate) struct Inflate {
    context: Decompress,
}

impl Inflate {
    pub(crate) fn new() -> Self {
        Self { context: Decompress::new(false) }
    }

    /// Takes one step: moves `input` past what it took and appends at most `room` bytes.
    /// Returns whether the stream has ended; what is left of `input` lies behind it.
    ///
    /// A step that neither takes nor appends anything needs more input.
    pub(crate) fn step(
        &mut self,
        input: &mut &[u8],
        room: usize,
        output: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let (before_in, before_out) = (self.context.total_in(), self.context.total_out());
        let status = append(output, room, input.len(), |spare| {
            let status = self.context.decompress(input, spare, FlushDecompress::None);
            ((self.context.total_out() - before_out) as usize, status)
        });
        *input = &input[(self.context.total_in() - before_in) as usize..];
        match status {
            Ok(status) => Ok(status == Status::StreamEnd),
            Err(error) => Err(Error::malformed(error)),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.context.reset(false);
    }

    pub(crate) fn memory(&self) -> usize {
        MEMORY
    }
}

impl fmt::Debug for Inflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflate").field("taken", &self.context.total_in()).finish_non_exhaustive()
    }
}
