//! Decoding brotli (RFC 7932).
//!
//! Windows reach 16 MiB by the RFC and every decoder must cope with them, so no limit on windows applies;
//! the ring buffer grows with what has been decoded. Streams with "large windows" are outside the RFC and
//! malformed, and so are bytes behind the end. No input at all is an empty message.

use crate::codec::{Decoder, append::append};
use crate::error::Error;
use ::brotli::{BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, enc::StandardAlloc};
use std::fmt;

type State = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// Prefix code tables and context maps of a metablock beside the ring buffer: an estimate.
const TABLES: usize = 64 * 1024;

/// A brotli message being decoded.
pub(crate) struct BrotliDecoder {
    state: Box<State>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    /// `pending` if the last step filled its room, so that there may be more to give.
    Data {
        pending: bool,
    },
    End,
}

impl BrotliDecoder {
    pub(crate) fn new() -> Self {
        Self { state: Box::new(new_state()), phase: Phase::Start }
    }

    /// Takes one step.
    fn data(&mut self, input: &mut &[u8], room: usize, output: &mut Vec<u8>) -> Result<(), Error> {
        let (mut taken, mut total) = (0, 0);
        // What waits in the ring buffer may be much more than what is left of the input.
        let pending = self.phase == Phase::Data { pending: true };
        let expected = if pending { room } else { 8 * input.len() };
        let (result, full) = append(output, room, expected, |spare| {
            let (mut left_in, mut left_out, mut written) = (input.len(), spare.len(), 0);
            let result = BrotliDecompressStream(
                &mut left_in,
                &mut taken,
                input,
                &mut left_out,
                &mut written,
                spare,
                &mut total,
                &mut self.state,
            );
            (written, (result, left_out == 0))
        });
        *input = &input[taken..];
        self.phase = match result {
            BrotliResult::ResultSuccess => Phase::End,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Phase::Data { pending: full },
            BrotliResult::ResultFailure => return Err(Error::malformed("brotli: invalid stream")),
        };
        Ok(())
    }
}

/// A state that takes no large windows.
fn new_state() -> State {
    State::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default())
}

impl Decoder for BrotliDecoder {
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut rest = input;
        let end = output.len() + room;
        while output.len() < end {
            match self.phase {
                Phase::Data { pending: true } => {}
                _ if rest.is_empty() => break,
                Phase::Start | Phase::Data { .. } => {}
                Phase::End => return Err(Error::malformed("brotli: data behind the end")),
            }
            self.data(&mut rest, end - output.len(), output)?;
        }
        Ok(input.len() - rest.len())
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self.phase {
            Phase::Start | Phase::End => Ok(()),
            Phase::Data { .. } => Err(Error::truncated()),
        }
    }

    fn reset(&mut self) -> bool {
        *self.state = new_state();
        self.phase = Phase::Start;
        true
    }

    fn memory(&self) -> usize {
        let tables = if self.phase == Phase::Start { 0 } else { TABLES };
        size_of::<State>() + self.state.ringbuffer.slice().len() + tables
    }
}

impl fmt::Debug for BrotliDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrotliDecoder").field("phase", &self.phase).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
