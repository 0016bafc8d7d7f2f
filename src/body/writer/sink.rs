use super::channel::Coded;
use crate::body::CHUNK;
use crate::engine::{Compressor, Tally, WriteBuffer};
use crate::error::Error;
use crate::stats::Recorder;
use bytes::Bytes;

/// Bytes of a frame that is not coded here. Every built-in codec's batch divides it, so a layer around the
/// body takes such frames without copying them.
const FRAME: usize = 64 * 1024;

/// Bytes that are gathered behind a flush that the reader is yet to do: few, since they are copied twice, and
/// enough for the two locks that they cost together not to matter.
const BEHIND: usize = 4 * 1024;

/// What codes a message, and who counts in the end what it has cost.
pub(crate) type Coder = (Compressor, Option<Recorder>);

/// Where a writer's bytes are gathered, and what codes them.
#[derive(Debug)]
pub(super) struct Sink {
    /// Between calls also the compressor's buffer is here: one place for both kinds saves each write a
    /// comparison.
    buffer: WriteBuffer,
    /// Without one the bytes leave as they are: a layer codes them, or nobody does.
    compressor: Option<Compressor>,
    /// Leaves what ends before any of it was encoded as it is.
    lazy: bool,
    writes: u64,
    recorder: Option<Recorder>,
}

impl Sink {
    /// `lazy`: leaves what ends before any of it was encoded as it is, for whoever makes the head to decide about.
    pub(super) fn new(coder: Option<Coder>, lazy: bool) -> Self {
        let mut sink = Self::absent();
        sink.lazy = lazy;
        match coder {
            None => sink.buffer = WriteBuffer::new(FRAME),
            Some((mut compressor, recorder)) => {
                compressor.swap_buffer(&mut sink.buffer);
                sink.compressor = Some(compressor);
                sink.recorder = recorder;
            }
        }
        sink
    }

    /// In the place of one that is elsewhere: whatever is written is more than a mere copy.
    pub(super) fn absent() -> Self {
        Self { buffer: WriteBuffer::new(0), compressor: None, lazy: false, writes: 0, recorder: None }
    }

    /// Gathers what is written behind a flush, while the reader has the other sink to do it. Holds no more than
    /// `other` takes without a frame coming out.
    pub(super) fn behind(other: &Self) -> Self {
        let mut behind = Self::absent();
        behind.buffer = WriteBuffer::new(other.spare().min(BEHIND));
        behind
    }

    /// Takes all of `input` if there is room in the buffer, else nothing. Never encodes.
    pub(super) fn gather(&mut self, input: &[u8]) -> bool {
        let fits = input.len() <= self.buffer.room();
        if fits {
            self.buffer.push(input);
        }
        fits
    }

    /// Takes over what was gathered [behind](Self::behind) this one.
    pub(super) fn join(&mut self, behind: &Self, mut frame: impl FnMut(Bytes)) -> Result<(), Error> {
        self.writes += behind.writes;
        let mut rest = behind.buffer.as_slice();
        while !rest.is_empty() {
            let taken = self.write(rest, &mut frame)?;
            rest = &rest[taken..];
        }
        Ok(())
    }

    /// Takes all of `input` if that is a mere copy, else nothing.
    #[inline]
    pub(super) fn write_within(&mut self, input: &[u8]) -> bool {
        self.writes += 1;
        self.buffer.push_within(input)
    }

    /// Whether a frame may come out when so many more bytes are written.
    pub(super) fn is_due(&self, bytes: usize) -> bool {
        bytes > self.spare()
    }

    /// Bytes that can be written before a frame may come out.
    fn spare(&self) -> usize {
        let batch = self.compressor.as_ref().map_or(FRAME, Compressor::batch);
        (batch - 1).saturating_sub(self.buffer.len())
    }

    /// Takes some of `input`, at most one batch, and returns how much; `frame` gets what came out.
    pub(super) fn write(&mut self, input: &[u8], mut frame: impl FnMut(Bytes)) -> Result<usize, Error> {
        let coded = self.code(|compressor| {
            loop {
                let taken = compressor.write(input)?;
                if compressor.output_len() >= CHUNK || compressor.must_put_out() {
                    frame(compressor.take_output());
                }
                // Nothing is taken only where a full buffer came first.
                if taken > 0 || input.is_empty() {
                    return Ok(taken);
                }
            }
        });
        coded.unwrap_or_else(|| {
            let taken = self.buffer.push(input);
            if self.buffer.len() >= FRAME {
                frame(self.buffer.take().into());
            }
            Ok(taken)
        })
    }

    /// All that can be put out so far, decodable by the receiver.
    pub(super) fn flush(&mut self) -> Result<Bytes, Error> {
        let coded = self.code(|compressor| {
            while !compressor.flush()? {}
            let output = compressor.take_output();
            compressor.park();
            Ok(output)
        });
        coded.unwrap_or_else(|| Ok(self.buffer.take().into()))
    }

    /// Whether a flush would put anything out.
    pub(super) fn holds_back(&self) -> bool {
        let coded = |compressor: &Compressor| compressor.unflushed() || compressor.output_len() > 0;
        !self.buffer.is_empty() || self.compressor.as_ref().is_some_and(coded)
    }

    /// What is gathered of a message that is not coded here.
    #[cfg(feature = "axum")]
    pub(super) fn cut(&mut self) -> Option<Bytes> {
        (self.compressor.is_none() && !self.buffer.is_empty()).then(|| self.buffer.take().into())
    }

    /// The head says the coding, so from here on there is no way but to code.
    #[cfg(feature = "axum")]
    pub(super) fn commit(&mut self) {
        self.lazy = false;
    }

    /// All that was written, if it may still be left as it is: it was to be coded, and none of it has been yet.
    fn take_unbegun(&mut self) -> Option<Bytes> {
        if !self.lazy {
            return None;
        }
        let plain = self.code(Compressor::take_unbegun).flatten()?;
        self.recorder = None;
        Some(plain.into())
    }

    /// The rest of the message, and whether that has the coding that the sink was made for.
    pub(super) fn finish(&mut self) -> Result<(Bytes, Coded), Error> {
        match self.take_unbegun() {
            Some(plain) => Ok((plain, Coded::No)),
            None => Ok((self.encode_rest()?, Coded::AsSaid)),
        }
    }

    fn encode_rest(&mut self) -> Result<Bytes, Error> {
        let coded = self.code(|compressor| {
            while !compressor.finish()? {}
            Ok(compressor.take_output())
        });
        coded.unwrap_or_else(|| Ok(self.buffer.take().into()))
    }

    /// The name of the coding.
    pub(super) fn coding(&self) -> Option<&'static str> {
        self.compressor.as_ref().map(|compressor| compressor.codec().name())
    }

    /// What the message has cost so far.
    pub(super) fn tally(&self) -> Tally {
        let coded = self.compressor.as_ref().map(Compressor::tally);
        Tally { writes: self.writes, ..coded.unwrap_or_default() }
    }

    /// Lets the compressor work on the buffer; `None` without one.
    fn code<T>(&mut self, work: impl FnOnce(&mut Compressor) -> T) -> Option<T> {
        let compressor = self.compressor.as_mut()?;
        compressor.swap_buffer(&mut self.buffer);
        let result = work(compressor);
        compressor.swap_buffer(&mut self.buffer);
        Some(result)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            recorder.message(self.tally());
        }
    }
}

#[cfg(all(test, feature = "axum", feature = "gzip"))]
mod tests {
    use crate::body::WriterOptions;
    use crate::codec::by_name;
    use std::io::Write;
    use std::task::{Context, Waker};

    /// A writer that flushes before anybody looks, and ends before the body is read: `seen` between the two.
    #[test]
    fn what_the_head_said_after_a_flush_holds() {
        let gzip = by_name("gzip").unwrap();
        for seen in [false, true] {
            let options = WriterOptions::new().coding(gzip, Default::default()).lazy();
            let (mut writer, body) = options.channel();
            writer.write_all(b"event").unwrap();
            writer.flush().unwrap();
            if seen {
                assert!(body.poll_begun(&mut Context::from_waker(Waker::noop())).is_ready());
                assert_eq!(body.coding(), Some("gzip"));
            }
            let tally = writer.finish().unwrap();
            // Whole before the head was made, it is still for others to decide about.
            assert_eq!(body.coding(), seen.then_some("gzip"));
            assert_eq!(tally.encoder_calls, u64::from(seen));
        }
    }
}
