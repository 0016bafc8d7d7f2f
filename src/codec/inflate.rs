//! Raw deflate (RFC 1951), which gzip and zlib wrap, and zlib (RFC 1950).

use super::append::fill;
use crate::error::Error;
use flate2::{Decompress, FlushDecompress, Status};
use std::fmt;

/// What a context holds: a window of 32 KiB and the Huffman tables of zlib-rs.
const MEMORY: usize = 48 * 1024;

/// A deflate stream being decoded.
pub(crate) struct Inflate {
    context: Decompress,
}

impl Inflate {
    pub(crate) fn new() -> Self {
        Self { context: Decompress::new(false) }
    }

    /// Takes one step: moves `input` past what it took and appends at most `room` bytes.
    ///
    /// What is left of `input` after a step that came to the end lies behind it. Only after one that filled its
    /// room may there be more to give.
    pub(crate) fn step(
        &mut self,
        input: &mut &[u8],
        room: usize,
        output: &mut Vec<u8>,
    ) -> Result<Step, Error> {
        let before = self.context.total_in();
        let (status, full) = fill(output, room, |spare| {
            let status = self.context.decompress_vec(input, spare, FlushDecompress::None);
            (status, spare.len() == spare.capacity())
        });
        *input = &input[(self.context.total_in() - before) as usize..];
        match status {
            Ok(Status::StreamEnd) => Ok(Step::End),
            Ok(_) if full => Ok(Step::Full),
            Ok(_) => Ok(Step::NeedsInput),
            Err(error) => Err(Error::malformed(error)),
        }
    }

    /// Begins another stream: one in the zlib format, whose header and Adler-32 are read and checked too, or a raw
    /// one. A new one is raw.
    pub(crate) fn reset(&mut self, zlib: bool) {
        self.context.reset(zlib);
    }

    pub(crate) fn memory(&self) -> usize {
        MEMORY
    }
}

/// Where a step of [`Inflate`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// All input is taken, and what it decodes to is put out.
    NeedsInput,
    /// The room was filled.
    Full,
    /// The stream has ended.
    End,
}

impl fmt::Debug for Inflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflate").field("taken", &self.context.total_in()).finish_non_exhaustive()
    }
}
