//! A body that is decoded while it is being received.

use super::{End, Verdict};
use crate::engine::{Decompressor, Progress};
use crate::error::{BoxError, Error};
use crate::policy::{EtagPolicy, rewrite_decoded_trailers};
use bytes::{Buf, Bytes};
use http_body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The longest frame that goes out. Larger ones only delay the first byte.
const CHUNK: usize = 32 * 1024;

/// The first capacity of the output, for the smallest of messages.
const FIRST: usize = 1024;

/// Frames of this length are decoded where they lie.
const LONG: usize = 4 * 1024;

/// Shorter ones are joined to so much while the inner body is ready: measured at 256 bytes a frame, a call of the
/// decoder for each costs 11 % more than calls of 4 KiB, and those cost raw snappy 3 % more than calls of 8 KiB.
const JOIN: usize = 2 * LONG;

/// Bytes of the coded form that one poll takes in, and which a last call may double. Hostile input is decoded
/// in less than 2 ms then (see the decompressor's `WORK`); honest input fills a chunk before.
const SHARE: usize = 16 * 1024;

/// Frames of the inner body taken in one poll: tiny ones decode to little, and empty ones to nothing.
const FRAMES: u32 = 1024;

/// The decoding of one body.
#[derive(Debug)]
pub(super) struct Decode {
    decompressor: Decompressor,
    /// Small frames, joined: at most [`JOIN`] bytes. They come before `input`.
    joined: Vec<u8>,
    /// A frame, or what was not yet decoded of it.
    input: Bytes,
    /// Whether the decompressor has more to give without more input.
    more: bool,
    output: Vec<u8>,
    /// The length of the last frame that went out, which the next will hardly exceed unless it fills a chunk.
    last: usize,
    stage: Stage,
    verdict: Verdict,
    /// What becomes of an entity tag in the trailers.
    etag: EtagPolicy,
}

#[derive(Debug)]
enum Stage {
    Receive,
    /// The inner body has ended; there may still be something to decode.
    Ended(End),
    /// All is decoded, or cannot be; the output and then this go out.
    Decoded(End),
    Done,
}

type Item = Result<Frame<Bytes>, BoxError>;

impl Decode {
    pub(super) fn new(decompressor: Decompressor, verdict: Verdict) -> Self {
        Self {
            decompressor,
            joined: Vec::new(),
            input: Bytes::new(),
            more: false,
            output: Vec::new(),
            last: 0,
            stage: Stage::Receive,
            verdict,
            etag: EtagPolicy::Keep,
        }
    }

    pub(super) fn set_etag(&mut self, policy: EtagPolicy) {
        self.etag = policy;
    }

    pub(super) fn received(&self) -> u64 {
        self.decompressor.received()
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Whether nothing has come yet: then an inner body at its end is an empty message.
    pub(super) fn is_new(&self) -> bool {
        matches!(self.stage, Stage::Receive) && self.received() == 0 && self.waiting() == 0
    }

    /// While the inner body is ready its frames are decoded into one output; when it is pending, what there is
    /// goes out. It is polled until its own end, whatever the codings say: only then can its connection be used
    /// again, and only then do its trailers come.
    pub(super) fn poll_frame<B>(&mut self, mut inner: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<Option<Item>>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let (mut share, mut frames, mut paused) = (SHARE, FRAMES, false);
        loop {
            if self.output.len() >= CHUNK {
                return Poll::Ready(Some(self.chunk()));
            }
            let due = match () {
                () if paused || self.has_ended() => 1,
                () if self.joined.is_empty() => LONG,
                () => JOIN,
            };
            if self.more || self.waiting() >= due {
                if share == 0 {
                    return self.pause(cx);
                }
                share = share.saturating_sub(self.decode());
            } else if self.has_ended() {
                return Poll::Ready(self.end());
            } else if frames == 0 {
                return self.pause(cx);
            } else {
                frames -= 1;
                match inner.as_mut().poll_frame(cx) {
                    Poll::Ready(frame) => self.receive(frame),
                    // The inner body has the waker.
                    Poll::Pending if self.waiting() == 0 => return self.put_out(),
                    Poll::Pending => paused = true,
                }
            }
        }
    }

    /// Bytes that wait to be decoded.
    fn waiting(&self) -> usize {
        self.joined.len() + self.input.len()
    }

    fn has_ended(&self) -> bool {
        !matches!(self.stage, Stage::Receive)
    }

    fn receive<D, E>(&mut self, frame: Option<Result<Frame<D>, E>>)
    where
        D: Buf,
        E: Into<BoxError>,
    {
        match frame {
            None => self.stage = Stage::Ended(End::Clean),
            Some(Err(error)) => self.stage = Stage::Ended(End::Error(error.into())),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => self.take(data),
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        self.stage = Stage::Ended(End::Trailers(trailers));
                    }
                }
            },
        }
    }

    /// A frame by itself stays as it is; those that come while less than [`JOIN`] waits are joined to that.
    fn take(&mut self, mut data: impl Buf) {
        if self.waiting() > 0 {
            self.join();
            let taken = (JOIN - self.joined.len()).min(data.chunk().len());
            self.joined.extend_from_slice(&data.chunk()[..taken]);
            data.advance(taken);
        }
        if data.has_remaining() {
            self.input = data.copy_to_bytes(data.remaining());
        }
    }

    /// Joins as much of `input` as there is room for.
    fn join(&mut self) {
        let taken = (JOIN - self.joined.len()).min(self.input.len());
        if taken > 0 {
            self.joined.reserve_exact(JOIN - self.joined.len());
            self.joined.extend_from_slice(&self.input[..taken]);
            self.input.advance(taken);
        }
    }

    /// One call of the decompressor, for all the room that the output has. Returns its share of the poll's work.
    fn decode(&mut self) -> usize {
        if !self.joined.is_empty() {
            self.join();
        }
        if self.output.len() == self.output.capacity() {
            // Text is hardly ever coded in less than an eighth of its length.
            let expected = (8 * self.waiting()).max(2 * self.output.len()).max(self.last);
            self.output.reserve_exact(expected.clamp(FIRST, CHUNK) - self.output.len());
        }
        let room = self.output.capacity() - self.output.len();
        let input = if self.joined.is_empty() { &self.input[..] } else { &self.joined[..] };
        match self.decompressor.decode(input, room, &mut self.output) {
            Ok(progress) => self.advance(progress),
            Err(error) => {
                self.fail(error);
                0
            }
        }
    }

    fn advance(&mut self, Progress { taken, more }: Progress) -> usize {
        if self.joined.is_empty() {
            self.input.advance(taken);
        } else {
            self.joined.drain(..taken);
        }
        self.more = more;
        // If it stopped with room left, then because it had done enough.
        let full = self.output.len() == self.output.capacity();
        if more && !full { SHARE } else { taken }
    }

    /// What was decoded before an error goes out before it.
    fn fail(&mut self, error: Error) {
        self.joined = Vec::new();
        self.input = Bytes::new();
        self.more = false;
        self.stage = Stage::Decoded(End::Error(self.verdict.pass(error)));
    }

    /// Everything that could be decoded is in the output. That goes out, then the end.
    fn end(&mut self) -> Option<Item> {
        self.settle();
        if !self.output.is_empty() {
            if let Stage::Decoded(End::Clean) = self.stage {
                self.stage = Stage::Done;
            }
            return Some(self.chunk());
        }
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Decoded(End::Trailers(mut trailers)) => {
                rewrite_decoded_trailers(&mut trailers, self.etag);
                Some(Ok(Frame::trailers(trailers)))
            }
            Stage::Decoded(End::Error(error)) => Some(Err(error)),
            _ => None,
        }
    }

    /// Settles how the body ends, before the last of the output goes out, so that its frame can be known to be
    /// the last.
    fn settle(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Ended(End::Error(error)) => Stage::Decoded(End::Error(error)),
            Stage::Ended(end) => match self.decompressor.finish() {
                Ok(()) => Stage::Decoded(end),
                Err(error) => Stage::Decoded(End::Error(self.verdict.pass(error))),
            },
            settled => settled,
        };
    }

    /// What there is goes out; nothing more can be done before the inner body is ready.
    fn put_out(&mut self) -> Poll<Option<Item>> {
        if self.output.is_empty() {
            // A stream that waits holds no buffers.
            self.output = Vec::new();
            self.joined = Vec::new();
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
