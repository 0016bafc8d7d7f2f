//! The compressor: a write buffer, an encoder that comes when it is needed, and the output.

mod begin;
mod ready;

use super::context::Context;
use super::pool::{EncoderPool, Reservation};
use super::sizing::{self, Observed, Sizing};
use super::slot::{Place, Slot};
use super::tally::Tally;
use super::write_buffer::WriteBuffer;
use crate::codec::{Codec, CompressionLevel, Operation, Setup};
use crate::error::Error;
use bytes::Bytes;
use std::sync::Arc;

/// One message on its way through the write buffer into an encoder.
///
/// It takes its encoder from the pool when the first batch is due, and gives it back at the end, when it is
/// dropped, or, where the codec can, while it waits ([`Compressor::park`]). After an error the encoder is
/// dropped and the compressor is of no use.
///
/// ```
/// use tower_compress::EncoderPool;
/// use tower_compress::codec::{self, CompressionLevel};
/// use tower_compress::engine::Compressor;
///
/// # fn main() -> Result<(), tower_compress::Error> {
/// let gzip = codec::by_name("gzip").expect("the feature is on by default");
/// let mut compressor = Compressor::new(&EncoderPool::default(), gzip, CompressionLevel::Default, None);
/// for mut piece in [&b"many "[..], b"small ", b"writes"] {
///     while !piece.is_empty() {
///         let taken = compressor.write(piece)?;
///         piece = &piece[taken..];
///     }
/// }
/// while !compressor.flush()? {}
/// let decodable_by_now = compressor.take_output();
/// while !compressor.finish()? {}
/// let end = compressor.take_output();
/// # assert!(!decodable_by_now.is_empty() && !end.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Compressor {
    pool: EncoderPool,
    codec: &'static dyn Codec,
    /// The setup that the user asked for.
    setup: Setup,
    /// The size, if it was known beforehand.
    pledged: Option<u64>,
    padding: u16,
    /// Bytes that the first call gets, the calls that follow, and all calls of one poll together.
    first: usize,
    batch: usize,
    turn: usize,
    /// Messages of up to so many bytes are gathered whole before any call.
    ahead: Option<usize>,
    buffer: WriteBuffer,
    context: Option<Box<Context>>,
    /// Where the context sits while the stream waits. Made when it first does.
    slot: Option<Arc<Slot>>,
    reserved: Option<Reservation>,
    /// Whether the context stays with the stream while it waits, and when that was last asked.
    keeps: bool,
    lacked: u64,
    phase: Phase,
    /// Whether the encoder has input that it has not flushed.
    held_back: bool,
    /// Flushes in a row that would have liked another level.
    dissent: u8,
    /// Where it is recorded what this message needed, for those that follow.
    lesson: Option<(Sizing, sizing::Place)>,
    /// The size up to which whole messages share their contexts with this one.
    shared: u64,
    /// The output that is likely to wait.
    expected_output: usize,
    /// The most that waited in the buffer and in the output.
    observed: Observed,
    tally: Tally,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Begun,
    Finished,
    Failed,
}

/// The buffer that a waiting stream may keep, in bytes. What is larger is given back.
const IDLE_BUFFER: usize = 1024;

impl Compressor {
    /// A compressor for a message of `size` bytes, if that is known. A wrong size is an error later on.
    #[must_use]
    pub fn new(
        pool: &EncoderPool,
        codec: &'static dyn Codec,
        level: CompressionLevel,
        size: Option<u64>,
    ) -> Self {
        let level = codec.level(level);
        let batch = codec.batch(level).max(1);
        let turn = codec.turn(level).max(batch);
        Self {
            pool: pool.clone(),
            codec,
            setup: Setup { level, size_class: codec.size_class(size) },
            pledged: size,
            padding: 0,
            first: turn,
            batch,
            turn,
            ahead: None,
            buffer: WriteBuffer::new(turn),
            context: None,
            slot: None,
            reserved: None,
            keeps: true,
            lacked: 0,
            phase: Phase::New,
            held_back: false,
            dissent: 0,
            lesson: None,
            shared: 0,
            expected_output: 0,
            observed: Observed::default(),
            tally: Tally::default(),
        }
    }

    /// The codec.
    #[must_use]
    pub fn codec(&self) -> &'static dyn Codec {
        self.codec
    }

    /// Bytes of input that the next encoder call gets, unless a flush or the end comes before.
    #[must_use]
    pub fn batch(&self) -> usize {
        if self.phase == Phase::New { self.first } else { self.batch }
    }

    /// Bytes that are gathered before a call is due.
    fn due(&self) -> usize {
        match self.ahead {
            // Of exactly as many as are gathered whole, only the end tells whether they were all.
            Some(ahead) if self.phase == Phase::New => self.batch().max(ahead.saturating_add(1)),
            _ => self.batch(),
        }
    }

    /// Bytes of input that may be encoded at a stretch.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// What the message has cost so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Counts writes: body frames, or calls of a writer.
    pub fn gathered(&mut self, writes: u64) {
        self.tally.writes += writes;
    }

    /// Takes some of `input` and returns how much: none if a batch was due first. Makes at most one encoder
    /// call. A write that is large already goes past the buffer.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn write(&mut self, input: &[u8]) -> Result<usize, Error> {
        let (batch, due) = (self.batch(), self.due());
        if self.buffer.is_empty() && input.len() >= due {
            self.encode(Source::Given(&input[..batch]), Operation::Encode)?;
            return Ok(batch);
        }
        let taken = self.buffer.push(input);
        if self.buffer.len() >= due {
            self.encode(Source::Buffer(batch), Operation::Encode)?;
        }
        Ok(taken)
    }

    /// Takes all of `input`, or nothing: nothing if anything is due besides a copy. For tiny writes.
    #[inline]
    pub fn write_within(&mut self, input: &[u8]) -> bool {
        self.buffer.push_within(input)
    }

    /// Exchanges the buffer, with all that is in it. For writers, which keep it at hand between calls.
    pub fn swap_buffer(&mut self, buffer: &mut WriteBuffer) {
        std::mem::swap(&mut self.buffer, buffer);
    }

    /// All that was written, if no encoder was called yet: then it can still go out uncoded.
    #[must_use]
    pub fn take_unbegun(&mut self) -> Option<Vec<u8>> {
        let within = self.ahead.is_none_or(|ahead| self.buffer.len() <= ahead);
        (self.phase == Phase::New && within).then(|| self.buffer.take())
    }

    /// Whether there are bytes that the receiver cannot decode yet and that a flush would put out.
    #[inline]
    #[must_use]
    pub fn unflushed(&self) -> bool {
        self.held_back || !self.buffer.is_empty()
    }

    /// Goes one encoder call towards a flush. `true` once everything so far is in the output.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn flush(&mut self) -> Result<bool, Error> {
        if !self.unflushed() {
            return Ok(true);
        }
        let done = self.advance(Operation::Flush)?;
        self.tally.flushes += u64::from(done);
        Ok(done)
    }

    /// Goes one encoder call towards the end. `true` once the whole message is in the output.
    ///
    /// # Errors
    ///
    /// If the encoder fails, or if the message is not as long as was promised.
    pub fn finish(&mut self) -> Result<bool, Error> {
        if self.phase == Phase::Finished {
            return Ok(true);
        }
        let done = self.advance(Operation::Finish)?;
        if done {
            self.phase = Phase::Finished;
        }
        Ok(done)
    }

    /// Encodes a whole message in one call and gives the encoder back.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn whole(mut self, message: &[u8]) -> Result<(Bytes, Tally), Error> {
        debug_assert!(self.phase == Phase::New && self.buffer.is_empty());
        // On failure the context is dropped here.
        let mut context = self.first(message.len(), Operation::Finish)?;
        context.encoder.encode(message, Operation::Finish, &mut context.output)?;
        let output = Bytes::copy_from_slice(&context.output);
        self.pool.give(context);
        self.tally.bytes_in = message.len() as u64;
        self.tally.bytes_out = output.len() as u64;
        self.tally.encoder_calls = 1;
        Ok((output, self.tally))
    }

    /// Bytes of output that wait.
    #[inline]
    #[must_use]
    pub fn output_len(&self) -> usize {
        self.context.as_ref().map_or(0, |context| context.output.len())
    }

    /// Whether the output must be taken at once, however little it is: the pool is at its limit, and the
    /// context may not be kept beyond this call.
    #[inline]
    #[must_use]
    pub fn must_put_out(&self) -> bool {
        self.context.as_ref().is_some_and(|context| context.transient && !context.output.is_empty())
    }

    /// All output that waits, in one allocation of exactly its size.
    #[must_use]
    pub fn take_output(&mut self) -> Bytes {
        let mut output = Bytes::new();
        self.pass_output(|waiting| output = Bytes::copy_from_slice(waiting));
        output
    }

    /// Moves all output that waits behind `output`.
    pub fn append_output(&mut self, output: &mut Vec<u8>) {
        self.pass_output(|waiting| output.extend_from_slice(waiting));
    }

    fn pass_output(&mut self, pass: impl FnOnce(&[u8])) {
        let Some(context) = &mut self.context else { return };
        pass(&context.output);
        self.tally.bytes_out += context.output.len() as u64;
        context.output.clear();
        if self.phase == Phase::Finished {
            self.release();
        } else if context.transient && !self.held_back {
            self.suspend();
        }
    }

    /// Puts the context where other streams can take it, while this one waits. Only does so when the output is
    /// taken, and for codecs that can park. If it is taken away before a flush, that is made up for.
    ///
    /// After a flush the stream is expected to wait for longer, and gives its buffers back, too.
    pub fn park(&mut self) {
        let flushed = !self.unflushed();
        if flushed && self.buffer.capacity() > IDLE_BUFFER {
            self.buffer.release();
        }
        if self.phase != Phase::Begun || self.output_len() > 0 {
            return;
        }
        let Some(mut context) = self.context.take() else { return };
        if flushed {
            context.shrink();
        }
        if self.codec.parks() && (self.keeps || self.held_back) {
            self.pool.park(self.slot.get_or_insert_default(), context);
            return;
        }
        self.context = Some(context);
        if self.codec.parks() {
            self.suspend();
        }
    }

    /// Gives the context up, keeping what it takes to go on in another.
    fn suspend(&mut self) {
        let Some(mut context) = self.context.take() else { return };
        match context.encoder.suspend() {
            Some(stream) => {
                self.pool.suspend(self.slot.get_or_insert_default(), stream);
                self.pool.give(context);
            }
            None => self.context = Some(context),
        }
    }

    /// One call towards the end of the buffer; the last one carries out `operation`.
    fn advance(&mut self, operation: Operation) -> Result<bool, Error> {
        let batch = self.batch();
        let last = self.buffer.len() <= batch;
        let operation = if last { operation } else { Operation::Encode };
        self.encode(Source::Buffer(self.buffer.len().min(batch)), operation)?;
        Ok(last)
    }

    fn encode(&mut self, source: Source<'_>, operation: Operation) -> Result<(), Error> {
        let length = source.len();
        self.observed.gathered = self.observed.gathered.max(self.buffer.len());
        let result = self.ready(length, operation).and_then(|mut context| {
            // A context beyond the pool's limit lives for one call: what it takes in, it puts out.
            let operation = if context.transient && self.codec.parks() && operation == Operation::Encode {
                Operation::Flush
            } else {
                operation
            };
            let input = match source {
                Source::Given(input) => input,
                Source::Buffer(bytes) => &self.buffer.as_slice()[..bytes],
            };
            context.encoder.encode(input, operation, &mut context.output)?;
            let output = self.observed.output.get_or_insert(0);
            *output = context.output.len().max(*output);
            self.held_back = operation == Operation::Encode && (self.held_back || !input.is_empty());
            self.context = Some(context);
            Ok(())
        });
        if result.is_err() {
            self.phase = Phase::Failed;
            self.context = None;
            return result;
        }
        if let Source::Buffer(bytes) = source {
            self.buffer.drain(bytes);
        }
        self.tally.bytes_in += length as u64;
        self.tally.encoder_calls += 1;
        Ok(())
    }

    fn release(&mut self) {
        self.reserved = None;
        let parked = self.slot.take().map(|slot| self.pool.resume(&slot));
        if let Some(Place::Waiting(context)) = parked {
            self.pool.give(context);
        }
        if let Some(context) = self.context.take() {
            self.pool.give(context);
        }
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        if let (Some((sizing, place)), true) = (&self.lesson, self.phase != Phase::New) {
            let bytes = self.tally.bytes_in;
            // Of what was given up it is known that it is longer.
            let longer = || sizing.expect(*place).length().is_some_and(|likely| bytes > likely);
            // What was known to be long says nothing of messages of which nothing is.
            let tells = self.pledged.is_none() && (self.phase == Phase::Finished || longer());
            let length = tells.then_some(bytes);
            sizing.record(*place, Observed { length, ..self.observed });
        }
        self.release();
    }
}

/// Where the input of a call is.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Given(&'a [u8]),
    /// So many bytes at the buffer's front.
    Buffer(usize),
}

impl Source<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Given(input) => input.len(),
            Self::Buffer(bytes) => *bytes,
        }
    }
}
