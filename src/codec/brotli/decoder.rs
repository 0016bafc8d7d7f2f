//! Decoding brotli (RFC 7932).
//!
//! Windows reach 16 MiB by the RFC and every decoder must cope with them, so no limit on windows applies;
//! the ring buffer grows with what has been decoded. Streams with "large windows" are outside the RFC and
//! malformed, and so are bytes behind the end. No input at all is an empty message.

use crate::codec::Decoder;
use crate::error::Error;
use brotli_decompressor::{
    BrotliDecoderTakeOutput, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, StandardAlloc,
};
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
    /// `pending` if the last step stopped because nothing more fits in the ring buffer, so that another one may
    /// need no input.
    Data {
        pending: bool,
    },
    End,
}

impl BrotliDecoder {
    pub(crate) fn new() -> Self {
        Self { state: Box::new(new_state()), phase: Phase::Start }
    }

    /// Takes one step, into the ring buffer alone: a slice to write into would have to be zeroed first.
    fn step(&mut self, input: &mut &[u8]) -> Result<(), Error> {
        let (mut left, mut taken) = (input.len(), 0);
        let state = &mut self.state;
        let result =
            BrotliDecompressStream(&mut left, &mut taken, input, &mut 0, &mut 0, &mut [], &mut 0, state);
        *input = &input[taken..];
        self.phase = match result {
            BrotliResult::ResultSuccess => Phase::End,
            BrotliResult::NeedsMoreInput => Phase::Data { pending: false },
            BrotliResult::NeedsMoreOutput => Phase::Data { pending: true },
            BrotliResult::ResultFailure => return Err(Error::malformed("brotli: invalid stream")),
        };
        Ok(())
    }

    /// Moves what waits in the ring buffer to `output`, and says whether there was anything.
    fn put_out(&mut self, room: usize, output: &mut Vec<u8>) -> bool {
        let mut length = room;
        let ready = BrotliDecoderTakeOutput(&mut self.state, &mut length);
        output.extend_from_slice(ready);
        !ready.is_empty()
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
            if self.put_out(end - output.len(), output) {
                continue;
            }
            match self.phase {
                Phase::Data { pending: true } => {}
                _ if rest.is_empty() => break,
                Phase::Start | Phase::Data { .. } => {}
                Phase::End => return Err(Error::malformed("brotli: data behind the end")),
            }
            self.step(&mut rest)?;
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
