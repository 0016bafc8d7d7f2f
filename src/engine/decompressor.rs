//! The decompressor: a message's codings undone one after another, within limits.

use super::Limits;
use super::decoder_pool::{DecoderKey, DecoderPool};
use crate::{
    codec::{Codec, Decoder},
    error::Error,
};
use std::fmt;

/// How far a call of [`Decompressor::decode`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of input taken.
    pub taken: usize,
    /// Whether to call again with the rest of the input, even if that is empty, before waiting for more:
    /// the room was filled or the call's share of work was done. If not, all input was taken.
    pub more: bool,
}

/// One message being decoded: its codings in a row, within [`Limits`].
///
/// What one coding decodes to waits for the next in a buffer of 16 KiB, so that memory does not depend on
/// the message: the decoders' contexts, and a buffer for each coding after the first.
///
/// Decoders come from the pool with the first byte, and go back at the end, or when this is dropped. After an
/// error they are freed instead, and the decompressor is of no use.
pub struct Decompressor {
    pool: DecoderPool,
    limits: Limits,
    /// In the order of decoding: the coding applied last comes first.
    stages: Vec<Stage>,
    /// Bytes of the message so far, as received.
    received: u64,
    failed: bool,
}

/// One coding of the stack.
struct Stage {
    codec: &'static dyn Codec,
    /// Taken from the pool with the first byte.
    decoder: Option<Box<dyn Decoder>>,
    /// What the stage before has decoded, from `start` on; the first stage has the message itself.
    buffer: Vec<u8>,
    start: usize,
    /// Whether the last step filled its room, so that there may be more to give.
    pending: bool,
    /// Bytes decoded so far.
    decoded: u64,
}

/// What a stage's decoder did in one step.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    taken: usize,
    appended: usize,
}

impl Decompressor {
    /// A decompressor for a message with these codings, in the order in which they were applied and
    /// `Content-Encoding` lists them (RFC 9110 section 8.4). Without any, the message passes as it is.
    ///
    /// Nothing is allocated for a coding before its first byte.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`] if there are more codings than the limits allow.
    pub fn new(
        codings: impl IntoIterator<Item = &'static dyn Codec>,
        limits: Limits,
        pool: &DecoderPool,
    ) -> Result<Self, Error> {
        let mut stages = Vec::new();
        for codec in codings {
            if stages.len() == limits.codings {
                return Err(Error::limit("too many content codings"));
            }
            stages.push(Stage::new(codec));
        }
        stages.reverse();
        Ok(Self { pool: pool.clone(), limits, stages, received: 0, failed: false })
    }

    /// Decodes from `input`, appending at most `room` bytes to `output`.
    ///
    /// A call does a bounded amount of work also where the input decodes to nothing. All that is decodable
    /// from the input so far has been put out once [`Progress::more`] is false.
    ///
    /// # Errors
    ///
    /// [`Error::is_malformed`] or [`Error::is_limit`]; `output` holds what was decoded before, within the
    /// limits. The contexts are freed, and every later call fails.
    pub fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<Progress, Error> {
        self.check_usable()?;
        self.pump(input, room, output).map_err(|error| self.fail(error))
    }

    /// Says that the input has ended, after a call of [`decode`](Self::decode) with no more to give. On a
    /// clean end the decoders go back to the pool.
    ///
    /// A message of no bytes at all is empty, whatever its codings.
    ///
    /// # Errors
    ///
    /// [`Error::is_truncated`] if a coding is not at its end.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.check_usable()?;
        if let Err(error) = self.idle(true) {
            return Err(self.fail(error));
        }
        for stage in &mut self.stages {
            if let Some(Err(error)) = stage.decoder.as_mut().map(|decoder| decoder.finish()) {
                return Err(self.fail(error));
            }
        }
        self.release();
        Ok(())
    }

    /// Bytes of the message received so far, as they were coded.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Bytes of the message decoded so far.
    pub fn decoded(&self) -> u64 {
        self.stages.last().map_or(self.received, |stage| stage.decoded)
    }

    /// Whether the message passes as it is, for lack of codings.
    pub fn is_identity(&self) -> bool {
        self.stages.is_empty() && !self.failed
    }

    /// Bytes of heap held: contexts and buffers.
    pub fn memory(&self) -> usize {
        self.stages
            .iter()
            .map(|stage| stage.buffer.capacity() + stage.decoder.as_ref().map_or(0, |d| d.memory()))
            .sum()
    }

    /// Runs the stages, the last one first so that buffers are drained before they are filled again, until
    /// the room is filled, the share of work is done, or nothing moves.
    fn pump(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<Progress, Error> {
        let end = output.len() + room;
        let mut taken = 0;
        if self.stages.is_empty() {
            return self.pass(input, room, output);
        }
        let mut work = 0;
        while output.len() < end && work < WORK {
            let mut moved = false;
            for index in (0..self.stages.len()).rev() {
                let last = index + 1 == self.stages.len();
                let rest = &input[taken..input.len().min(taken + WORK)];
                let Some(step) = self.step(index, rest, end - output.len(), output)? else { continue };
                if index == 0 {
                    taken += step.taken;
                }
                work += step.taken + if last { 0 } else { step.appended };
                moved |= step != Step { taken: 0, appended: 0 };
                if moved && last {
                    break;
                }
            }
            if !moved {
                return self.idle(taken == input.len()).map(|()| Progress { taken, more: false });
            }
        }
        Ok(Progress { taken, more: true })
    }

    /// Lets one stage take a step: from its buffer, or `input` if it is the first, to the next one's buffer,
    /// or `output` if it is the last. `None` if it has nothing to do or the next one's buffer is not empty.
    fn step(
        &mut self,
        index: usize,
        input: &[u8],
        room: usize,
        output: &mut Vec<u8>,
    ) -> Result<Option<Step>, Error> {
        let (stages, later) = self.stages.split_at_mut(index + 1);
        let stage = &mut stages[index];
        let (output, room) = match later.first_mut() {
            Some(next) if next.has_input() => return Ok(None),
            Some(next) => (next.empty_buffer(), BUFFER),
            None => (output, room),
        };
        // One byte more than is allowed tells a message that ends at the limit from one that goes on.
        let allowed = (self.limits.decoded - stage.decoded).saturating_add(1);
        let room = room.min(usize::try_from(allowed).unwrap_or(usize::MAX));
        let first = index == 0;
        let has_input = if first { !input.is_empty() } else { stage.has_input() };
        if !has_input && !stage.pending {
            return Ok(None);
        }
        if stage.decoder.is_none() {
            stage.decoder = Some(self.pool.take(stage.key(&self.limits))?);
        }
        let start = output.len();
        let result = stage.decode(first.then_some(input), room, output);
        if let (true, Ok(step)) = (first, &result) {
            self.received += step.taken as u64;
        }
        stage.decoded += (output.len() - start) as u64;
        stage.hold(&self.limits, self.received, output)?;
        result.map(Some)
    }

    /// Makes sure that no byte is left where nothing moves, which would be lost: a decoder from elsewhere may
    /// break its contract.
    fn idle(&self, all_taken: bool) -> Result<(), Error> {
        let idle = all_taken && !self.stages.iter().any(Stage::has_input);
        if idle { Ok(()) } else { Err(Error::decode("input was left undecoded")) }
    }

    /// A message without codings.
    fn pass(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<Progress, Error> {
        let left = usize::try_from(self.limits.decoded - self.received).unwrap_or(usize::MAX);
        let taken = room.min(input.len()).min(left);
        output.extend_from_slice(&input[..taken]);
        self.received += taken as u64;
        if taken == left && taken < input.len() {
            return Err(too_long());
        }
        Ok(Progress { taken, more: taken < input.len() })
    }

    fn check_usable(&self) -> Result<(), Error> {
        if self.failed { Err(Error::decode("used after an error")) } else { Ok(()) }
    }

    /// Gives the decoders back. What is counted stays.
    fn release(&mut self) {
        for stage in &mut self.stages {
            stage.buffer = Vec::new();
            if let Some(decoder) = stage.decoder.take() {
                self.pool.give(stage.key(&self.limits), decoder);
            }
        }
    }

    /// Frees the contexts: one that saw an error is never used again.
    fn fail(&mut self, error: Error) -> Error {
        self.failed = true;
        self.stages.clear();
        error
    }
}

impl Stage {
    fn new(codec: &'static dyn Codec) -> Self {
        Self { codec, decoder: None, buffer: Vec::new(), start: 0, pending: false, decoded: 0 }
    }

    fn key(&self, limits: &Limits) -> DecoderKey {
        DecoderKey { codec: self.codec, setup: limits.declared() }
    }

    fn has_input(&self) -> bool {
        self.start < self.buffer.len()
    }

    fn empty_buffer(&mut self) -> &mut Vec<u8> {
        self.start = 0;
        self.buffer.clear();
        &mut self.buffer
    }

    /// Decodes from `input`, or from the buffer if there is none.
    fn decode(&mut self, input: Option<&[u8]>, room: usize, output: &mut Vec<u8>) -> Result<Step, Error> {
        let Some(decoder) = &mut self.decoder else { return Ok(Step { taken: 0, appended: 0 }) };
        let start = output.len();
        let taken = decoder.decode(input.unwrap_or(&self.buffer[self.start..]), room, output)?;
        if input.is_none() {
            self.start += taken;
        }
        let appended = output.len() - start;
        self.pending = appended == room;
        Ok(Step { taken, appended })
    }

    /// Holds what this stage has decoded to the limits, and takes back what is too much.
    ///
    /// Every stage is held to them, not only the last: what one stage blows up, the next may decode to nothing.
    fn hold(&mut self, limits: &Limits, received: u64, output: &mut Vec<u8>) -> Result<(), Error> {
        if self.decoded > limits.decoded {
            let excess = self.decoded - limits.decoded;
            output.truncate(output.len() - excess as usize);
            self.decoded = limits.decoded;
            return Err(too_long());
        }
        if self.decoded > limits.allowance && self.decoded > received.saturating_mul(limits.ratio) {
            return Err(Error::limit("the decoded body is too many times longer than the coded one"));
        }
        Ok(())
    }
}

fn too_long() -> Error {
    Error::limit("the decoded body is too long")
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        self.release();
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codings: Vec<_> = self.stages.iter().map(|stage| stage.codec.name()).collect();
        f.debug_struct("Decompressor")
            .field("codings", &codings)
            .field("received", &self.received)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

/// What waits between two stages: large enough for few calls, little beside the contexts. Not measured.
const BUFFER: usize = 16 * 1024;

/// The bytes moved by the stages in one call, but for what is put out, which `room` bounds; and the most
/// input that one step sees. Hundreds of empty members fit in 16 KiB and decode to nothing, so that no room
/// would ever end the call: at 0.5 us for each gzip member or zstd frame (measured) it takes 0.4 to 0.9 ms.
const WORK: usize = 16 * 1024;

#[cfg(test)]
mod tests;
