//! Looking at what a body has ready, without ever waiting for it.

use super::End;
use super::gather::gather;
use crate::engine::{Expected, Observed, WriteBuffer};
use crate::error::BoxError;
use bytes::{Buf, Bytes};
use http_body::Body;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Empty frames in a row before a look ahead gives up: they carry nothing that would end it.
const MAX_EMPTY: u32 = 1024;

/// What a body had ready.
#[derive(Debug)]
pub(crate) struct LookAhead {
    /// The only data frame so far, kept as it came.
    only: Option<Bytes>,
    /// Several data frames, joined.
    joined: WriteBuffer,
    /// A frame that would have gone beyond the bound.
    beyond: Bytes,
    frames: u64,
    end: Option<End>,
    bound: usize,
}

impl LookAhead {
    /// Polls `body` until it ends, is pending, or has given more than the bound: of exactly so many bytes the next
    /// poll tells whether that was all.
    pub(crate) fn look_on<B>(&mut self, mut body: Pin<&mut B>, cx: &mut Context<'_>)
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let look = std::future::poll_fn(|cx| self.poll(body.as_mut(), cx));
        // With its cooperative budget spent, a tokio resource says pending although it is ready. The bound
        // limits the work here as well as the budget does.
        #[cfg(feature = "tokio")]
        let look = tokio::task::coop::unconstrained(look);
        let _ = pin!(look).poll(cx);
    }

    /// Goes on looking. Ready when the body has ended or given more than the bound.
    pub(crate) fn poll<B>(&mut self, mut body: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<()>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let mut empty = 0;
        while self.wants_more() && empty < MAX_EMPTY {
            // Small frames where nothing is to be decided: several are joined already, and there is room. Counted here
            // and told afterwards: what this does for each frame is most of what one costs.
            let (joins, joined, mut frames) = (self.only.is_none(), &mut self.joined, 0);
            let polled = gather(body.as_mut(), cx, |small| {
                let added = joins && joined.push_within(small);
                frames += u64::from(added);
                added
            });
            if frames > 0 {
                self.frames += frames;
                empty = 0;
            }
            match polled {
                Poll::Ready(None) => self.end = Some(End::Clean),
                Poll::Ready(Some(Err(error))) => self.end = Some(End::Error(error.into())),
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if data.has_remaining() => {
                        self.add(data);
                        empty = 0;
                    }
                    Ok(_) => empty += 1,
                    Err(frame) => self.end = frame.into_trailers().ok().map(End::Trailers),
                },
                // Asked only here: asking after each frame would cost bodies of many frames.
                Poll::Pending if body.is_end_stream() => self.end = Some(End::Clean),
                Poll::Pending => return Poll::Pending,
            }
        }
        // Beyond the bound it is not polled again, but it may say that this was all.
        if self.end.is_none() && body.is_end_stream() {
            self.end = Some(End::Clean);
        }
        Poll::Ready(())
    }

    /// What a body that is in memory has, up to the bound, with its end: looked at outside of any task. A body that
    /// is not ready is polled again by whoever reads on, so that its waker is not missed.
    pub(crate) fn at_hand<B>(body: Pin<&mut B>, bound: usize, expected: usize) -> Self
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let mut ahead = Self::nothing(bound, expected);
        ahead.look_on(body, &mut Context::from_waker(Waker::noop()));
        ahead
    }

    /// Whether all of the body is in the first of its parts, with nothing behind it.
    pub(crate) fn is_one_piece(&self) -> bool {
        self.beyond.is_empty() && matches!(self.end, Some(End::Clean))
    }

    /// As if nothing had been ready.
    pub(crate) fn nothing(bound: usize, expected: usize) -> Self {
        let mut joined = WriteBuffer::new(bound);
        joined.expect(expected);
        Self { only: None, joined, beyond: Bytes::new(), frames: 0, end: None, bound }
    }

    /// As if nothing had been ready of a body that is likely to need what is `expected`, unless its size is `known`.
    pub(crate) fn expecting(bound: usize, expected: &Expected, known: Option<u64>) -> Self {
        let mut ahead = Self::nothing(bound, 0);
        expected.size(&mut ahead.joined, known);
        ahead
    }

    /// What a whole body teaches.
    pub(crate) fn observed(&self) -> Observed {
        let length = self.whole().map(|length| length as u64);
        Observed { gathered: self.joined.len(), output: None, length }
    }

    fn wants_more(&self) -> bool {
        self.end.is_none() && self.beyond.is_empty() && self.len() <= self.bound && self.bound > 0
    }

    fn add(&mut self, mut data: impl Buf) {
        self.frames += 1;
        let length = data.remaining();
        if self.frames == 1 {
            self.only = Some(data.copy_to_bytes(length));
            return;
        }
        if self.len() + length > self.bound {
            self.beyond = data.copy_to_bytes(length);
            return;
        }
        if let Some(first) = self.only.take() {
            self.joined.push(&first);
        }
        while data.has_remaining() {
            let taken = self.joined.push(data.chunk());
            data.advance(taken);
        }
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// The bytes looked at, up to the frame that went beyond the bound.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.only.as_deref().unwrap_or_else(|| self.joined.as_slice())
    }

    /// The whole body's length, if it ended within the bound without an error.
    pub(crate) fn whole(&self) -> Option<usize> {
        match self.end {
            Some(End::Clean | End::Trailers(_)) if self.beyond.is_empty() && self.len() <= self.bound => {
                Some(self.len())
            }
            _ => None,
        }
    }

    /// Data frames seen.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// The only frame, if there was one and it is still as it came.
    pub(crate) fn only(&self) -> Option<&Bytes> {
        self.only.as_ref()
    }

    /// The bytes as they came, then the frame beyond the bound, then the end if it was seen.
    pub(crate) fn into_parts(mut self) -> (Bytes, Bytes, Option<End>) {
        let bytes = match self.only {
            Some(only) => only,
            None => Bytes::from(self.joined.take()),
        };
        (bytes, self.beyond, self.end)
    }

    /// How the body ended, once its bytes are of no use any more.
    pub(crate) fn into_end(self) -> Option<End> {
        self.end
    }

    /// What a stream begins with: joined small frames, one or two frames that go past the buffer, and the end.
    pub(super) fn into_stream(self) -> (WriteBuffer, [Bytes; 2], Option<End>) {
        let large = match self.only {
            Some(only) => [only, self.beyond],
            None => [self.beyond, Bytes::new()],
        };
        (self.joined, large, self.end)
    }
}
