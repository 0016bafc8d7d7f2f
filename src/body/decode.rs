//! A body that is decoded while it is being received.

use super::{End, Verdict};
use crate::engine::Decompressor;
use crate::error::{BoxError, Error};
use crate::policy::remove_digests;
use bytes::{Buf, Bytes};
use http_body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The longest frame that goes out. Larger ones only delay the first byte.
const CHUNK: usize = 32 * 1024;

/// The first capacity of the output, for the smallest of messages.
const FIRST: usize = 1024;

/// Bytes of the coded form that one poll takes in, and which a last call may double. Hostile input is decoded
/// in less than 2 ms then (see the decompressor's `WORK`); honest input fills a chunk before.
const SHARE: usize = 16 * 1024;

/// Frames of the inner body taken in one poll: tiny ones decode to little, and empty ones to nothing.
const FRAMES: u32 = 1024;

/// The decoding of one body.
#[derive(Debug)]
pub(super) struct Decode {
    decompressor: Decompressor,
    /// What is left of a frame that was not decoded in one call.
    input: Bytes,
    /// Whether the decompressor has more to give without more input.
    more: bool,
    output: Vec<u8>,
    /// The length of the last frame that went out, which the next will hardly exceed unless it fills a chunk.
    last: usize,
    /// How the inner body ended, or what was wrong with it, as long as that did not go out.
    end: Option<End>,
    done: bool,
    verdict: Verdict,
}

type Item = Result<Frame<Bytes>, BoxError>;

impl Decode {
    pub(super) fn new(decompressor: Decompressor, verdict: Verdict) -> Self {
        Self {
            decompressor,
            input: Bytes::new(),
            more: false,
            output: Vec::new(),
            last: 0,
            end: None,
            done: false,
            verdict,
        }
    }

    pub(super) fn received(&self) -> u64 {
        self.decompressor.received()
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether nothing has come yet: then an inner body at its end is an empty message.
    pub(super) fn is_new(&self) -> bool {
        self.received() == 0 && self.end.is_none() && self.input.is_empty()
    }

    /// While the inner body is ready its frames are decoded into one output; when it is pending, what there is
    /// goes out. It is polled until its own end, whatever the codings say: only then can its connection be used
    /// again, and only then do its trailers come.
    pub(super) fn poll_frame<B>(&mut self, mut inner: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<Option<Item>>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let (mut share, mut frames) = (SHARE, FRAMES);
        loop {
            if self.output.len() >= CHUNK {
                return Poll::Ready(Some(self.chunk()));
            }
            if self.more || !self.input.is_empty() {
                if share == 0 {
                    return self.pause(cx);
                }
                share = share.saturating_sub(self.decode());
            } else if self.end.is_some() || self.done {
                return Poll::Ready(self.finish());
            } else if frames == 0 {
                return self.pause(cx);
            } else {
                frames -= 1;
                match inner.as_mut().poll_frame(cx) {
                    Poll::Ready(frame) => self.receive(frame),
                    Poll::Pending => return self.wait(),
                }
            }
        }
    }

    /// One call of the decompressor, for all the room that the output has. Returns its share of the poll's work.
    fn decode(&mut self) -> usize {
        if self.output.len() == self.output.capacity() {
            // Seven times smaller than the plain text is as small as text gets.
            let wanted = (8 * self.input.len()).max(2 * self.output.len()).max(self.last).clamp(FIRST, CHUNK);
            self.output.reserve_exact(wanted - self.output.len());
        }
        let room = self.output.capacity() - self.output.len();
        match self.decompressor.decode(&self.input, room, &mut self.output) {
            Ok(progress) => {
                self.input.advance(progress.taken);
                self.more = progress.more;
                // It stopped because it had done enough.
                let full = self.output.len() == self.output.capacity();
                if progress.more && !full { SHARE } else { progress.taken }
            }
            Err(error) => {
                self.fail(error);
                0
            }
        }
    }

    fn receive<D, E>(&mut self, frame: Option<Result<Frame<D>, E>>)
    where
        D: Buf,
        E: Into<BoxError>,
    {
        match frame {
            None => self.end = Some(End::Clean),
            Some(Err(error)) => self.end = Some(End::Error(error.into())),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(mut data) => self.input = data.copy_to_bytes(data.remaining()),
                Err(frame) => self.end = frame.into_trailers().ok().map(End::Trailers),
            },
        }
        // Before what was decoded last goes out, so that its frame can be known to be the last.
        if matches!(self.end, Some(End::Clean | End::Trailers(_))) {
            if let Err(error) = self.decompressor.finish() {
                self.fail(error);
            }
        }
    }

    /// What was decoded before an error goes out before it.
    fn fail(&mut self, error: Error) {
        self.input = Bytes::new();
        self.more = false;
        self.end = Some(End::Error(self.verdict.pass(error)));
    }

    /// All that was decoded, then the end.
    fn finish(&mut self) -> Option<Item> {
        if !self.output.is_empty() {
            self.done = matches!(self.end, Some(End::Clean));
            return Some(self.chunk());
        }
        self.done = true;
        match self.end.take()? {
            End::Trailers(mut trailers) => {
                remove_digests(&mut trailers);
                Some(Ok(Frame::trailers(trailers)))
            }
            End::Error(error) => Some(Err(error)),
            End::Clean => None,
        }
    }

    /// The inner body is pending, and has the waker.
    fn wait(&mut self) -> Poll<Option<Item>> {
        if self.output.is_empty() {
            // A stream that waits holds no buffer.
            self.output = Vec::new();
            return Poll::Pending;
        }
        Poll::Ready(Some(self.chunk()))
    }

    /// This poll has done its share.
    fn pause(&mut self, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        if self.output.is_empty() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(self.chunk()))
    }

    /// The output as it is where it fills its memory, or else a copy of just its size.
    fn chunk(&mut self) -> Item {
        self.last = self.output.len();
        let output = if 2 * self.output.len() >= self.output.capacity() {
            Bytes::from(std::mem::take(&mut self.output))
        } else {
            let output = Bytes::copy_from_slice(&self.output);
            self.output.clear();
            output
        };
        Ok(Frame::data(output))
    }
}
