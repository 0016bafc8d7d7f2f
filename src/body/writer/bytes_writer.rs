use super::WriterBody;
use super::channel::Channel;
use super::sink::Sink;
use crate::engine::Tally;
use bytes::Bytes;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// Writes a body that is kept in memory, coded, until it is whole: an [`io::Write`] that never waits.
///
/// A serializer's writes go through the write buffer straight into the encoder. What is kept is what came out;
/// the document as such is never in memory, and the body has an exact length. What fits in one batch of the
/// encoder is encoded in one call. Made by [`WriterOptions::whole`](super::WriterOptions::whole).
pub struct BytesWriter {
    sink: Sink,
    frames: VecDeque<Bytes>,
}

impl BytesWriter {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, frames: VecDeque::new() }
    }

    /// The whole body.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn finish(self) -> io::Result<WriterBody> {
        Ok(self.finish_counted()?.0)
    }

    /// The whole body and what it has cost.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn finish_counted(mut self) -> io::Result<(WriterBody, Tally)> {
        let coding = self.sink.coding();
        let (last, coded) = self.sink.finish().map_err(io::Error::other)?;
        self.frames.push_back(last);
        Ok((WriterBody::new(Arc::new(Channel::whole(self.frames, coded)), coding), self.sink.tally()))
    }

    /// The next frame that is full, or was cut.
    #[cfg(feature = "axum")]
    pub(crate) fn take_frame(&mut self) -> Option<Bytes> {
        self.frames.pop_front()
    }

    /// Makes a frame of what is left of a body that is not coded.
    #[cfg(feature = "axum")]
    pub(crate) fn cut_frame(&mut self) {
        if let Some(rest) = self.sink.cut() {
            self.frames.push_back(rest);
        }
    }

    /// Whether there is no frame to take.
    #[cfg(feature = "axum")]
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Takes `input` if that is a mere copy.
    #[inline]
    fn write_within(&mut self, input: &[u8]) -> bool {
        self.sink.write_within(input)
    }

    #[inline(never)]
    fn write_all_on(&mut self, mut input: &[u8]) -> io::Result<()> {
        while !input.is_empty() {
            let taken =
                self.sink.write(input, |frame| self.frames.push_back(frame)).map_err(io::Error::other)?;
            input = &input[taken..];
        }
        Ok(())
    }
}

impl Write for BytesWriter {
    #[inline]
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.write_all(input)?;
        Ok(input.len())
    }

    #[inline]
    fn write_all(&mut self, input: &[u8]) -> io::Result<()> {
        if self.write_within(input) { Ok(()) } else { self.write_all_on(input) }
    }

    /// Does nothing: nobody can read before the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for BytesWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesWriter").field("sink", &self.sink).finish_non_exhaustive()
    }
}
