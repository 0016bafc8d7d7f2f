//! A body that is encoded while it is being produced.

use super::gather::gather;
use super::pause::Pause;
use super::turn::yield_turn;
use super::{End, FlushMark, LookAhead};
use crate::engine::Compressor;
use crate::error::{BoxError, Error};
use crate::policy::{EtagPolicy, FlushPolicy, rewrite_coded_trailers};
use crate::stats::Recorder;
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Output that is worth a frame of its own. Smaller frames cost system calls (HTTP/2 writes each one), larger
/// ones only delay the first byte.
pub(super) const CHUNK: usize = 16 * 1024;

/// Output after which another thread gives a stream back: enough to keep a connection busy for a while.
#[cfg(feature = "tokio")]
const OFFLOADED_OUTPUT: usize = 4 * CHUNK;

/// Empty frames taken in one poll.
const MAX_EMPTY: u32 = 1024;

/// The coded stream of one body.
#[derive(Debug)]
pub(crate) struct Stream {
    compressor: Compressor,
    /// What is left of a frame that did not go into one batch.
    rest: Bytes,
    /// The frame behind `rest`, if two were there before the head went out.
    behind: Bytes,
    stage: Stage,
    pause: Pause,
    /// Bytes encoded since the last pending poll. Connections poll on while there are frames, so what a poll may do
    /// is over several of them, until others have had their turn.
    spent: usize,
    /// Frames from this size on are encoded on another thread.
    #[cfg(feature = "tokio")]
    large: usize,
    /// The encoder's error, if it came on another thread.
    #[cfg(feature = "tokio")]
    failed: Option<Error>,
    /// What becomes of an entity tag in the trailers.
    etag: EtagPolicy,
    recorder: Recorder,
}

#[derive(Debug)]
enum Stage {
    /// Taking frames in.
    Gather,
    /// The producer pauses: putting out what is held back.
    Flush,
    /// The producer has ended; `rest` may still hold something.
    Ended(End),
    /// The encoder has finished; the trailers follow.
    Trailers(HeaderMap),
    Done,
}

/// What one poll may still do.
struct Work {
    /// Bytes to encode: about 200 microseconds.
    bytes: usize,
    empty_frames: u32,
}

type Item = Result<Frame<Bytes>, BoxError>;

impl Stream {
    pub(crate) fn new(
        mut compressor: Compressor,
        ahead: LookAhead,
        flush: FlushPolicy,
        etag: EtagPolicy,
        recorder: Recorder,
    ) -> Self {
        let frames = ahead.frames();
        let (buffer, [rest, behind], end) = ahead.into_stream();
        compressor.begin_with(buffer);
        compressor.gathered(frames);
        let stage = end.map_or(Stage::Gather, Stage::Ended);
        let mut pause = Pause::new(flush);
        if compressor.unflushed() || !rest.is_empty() {
            pause.end();
        }
        Self {
            compressor,
            rest,
            behind,
            stage,
            pause,
            spent: 0,
            #[cfg(feature = "tokio")]
            large: usize::MAX,
            #[cfg(feature = "tokio")]
            failed: None,
            etag,
            recorder,
        }
    }

    /// Flushes where the producer marks it, and not where it pauses.
    pub(super) fn obey(&mut self, mark: FlushMark) {
        self.pause.obey(mark);
    }

    /// Encodes frames of at least so many bytes, and no less than a poll encodes, on another thread.
    #[cfg(feature = "tokio")]
    pub(crate) fn offloading(mut self, bytes: usize) -> Self {
        self.large = bytes.max(self.compressor.turn());
        self
    }

    /// Encodes them here after all.
    #[cfg(feature = "tokio")]
    pub(super) fn stay(&mut self) {
        self.large = usize::MAX;
    }

    /// Whether the next thing to do is to encode a large frame, on another thread.
    #[cfg(feature = "tokio")]
    #[inline]
    pub(super) fn has_large_frame(&self) -> bool {
        self.rest.len() >= self.large && self.failed.is_none() && self.compressor.output_len() < CHUNK
    }

    /// Encodes what is large of a frame, until `stop` or until there is enough to send. For another thread.
    #[cfg(feature = "tokio")]
    pub(super) fn encode_large_frame(&mut self, stop: impl Fn() -> bool) {
        while self.rest.len() >= self.compressor.batch()
            && self.compressor.output_len() < OFFLOADED_OUTPUT
            && !self.compressor.must_put_out()
            && !stop()
        {
            let mut work = Work { bytes: usize::MAX, empty_frames: 0 };
            if let Err(error) = self.take_in(&mut work) {
                self.failed = Some(error);
                return;
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    pub(super) fn poll_frame<B>(&mut self, mut inner: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<Option<Item>>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let left = self.compressor.turn() - std::mem::take(&mut self.spent);
        if left == 0 {
            yield_turn(cx);
            return Poll::Pending;
        }
        if self.pause.is_overdue() && matches!(self.stage, Stage::Gather) {
            self.stage = Stage::Flush;
        }
        let mut work = Work { bytes: left, empty_frames: MAX_EMPTY };
        loop {
            if self.compressor.output_len() >= CHUNK || self.compressor.must_put_out() {
                return Poll::Ready(self.chunk(&work));
            }
            if work.bytes == 0 || work.empty_frames == 0 {
                yield_turn(cx);
                return Poll::Pending;
            }
            #[cfg(feature = "tokio")]
            if self.has_large_frame() {
                // The body that this is the stream of sees to it.
                return Poll::Pending;
            }
            let step = match &mut self.stage {
                #[cfg(feature = "tokio")]
                _ if self.failed.is_some() => Err(self.failed.take().expect("it has failed")),
                _ if !self.rest.is_empty() => self.take_in(&mut work),
                Stage::Gather => match self.pull(inner.as_mut(), cx, &mut work) {
                    Poll::Ready(()) => continue,
                    Poll::Pending => return Poll::Pending,
                },
                Stage::Flush => self.flush(&mut work),
                Stage::Ended(End::Error(_)) => return Poll::Ready(self.fail()),
                Stage::Ended(_) => self.finish(&mut work),
                Stage::Trailers(_) => return Poll::Ready(self.trailers()),
                Stage::Done => return Poll::Ready(None),
            };
            match step {
                Ok(Step::Continue) => {}
                Ok(Step::PutOut) if self.compressor.output_len() > 0 => {
                    return Poll::Ready(self.chunk(&work));
                }
                Ok(Step::PutOut) => {}
                Err(error) => {
                    // The error is the last item, so what is left of a frame goes nowhere.
                    self.stage = Stage::Done;
                    self.rest = Bytes::new();
                    return Poll::Ready(Some(Err(error.into())));
                }
            }
        }
    }

    /// Asks the producer for frames. Ready if there is something to do, whatever it is.
    fn pull<B>(&mut self, mut inner: Pin<&mut B>, cx: &mut Context<'_>, work: &mut Work) -> Poll<()>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        // Counted here and told afterwards: what the loop does for each frame is most of what a frame costs.
        // The buffer bounds the loop: what fills it is encoded, and counts then.
        let (compressor, mut frames) = (&mut self.compressor, 0);
        let frame = gather(inner.as_mut(), cx, |small| {
            let taken = compressor.write_within(small);
            frames += u64::from(taken);
            taken
        });
        if frames > 0 {
            self.pause.end();
            self.compressor.gathered(frames);
        }
        match frame {
            Poll::Pending if inner.is_end_stream() => self.stage = Stage::Ended(End::Clean),
            Poll::Pending => {
                if !self.compressor.unflushed() {
                    self.pause.clear_mark();
                    self.compressor.park();
                    return Poll::Pending;
                }
                std::task::ready!(self.pause.poll(cx));
                self.stage = Stage::Flush;
            }
            Poll::Ready(None) => self.stage = Stage::Ended(End::Clean),
            Poll::Ready(Some(Err(error))) => self.stage = Stage::Ended(End::Error(error.into())),
            Poll::Ready(Some(Ok(frame))) => self.take(frame, work),
        }
        Poll::Ready(())
    }

    fn take(&mut self, frame: Frame<impl Buf>, work: &mut Work) {
        self.pause.end();
        match frame.into_data() {
            Ok(data) if !data.has_remaining() => work.empty_frames -= 1,
            Ok(mut data) => {
                self.rest = data.copy_to_bytes(data.remaining());
                self.compressor.gathered(1);
            }
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    self.stage = Stage::Ended(End::Trailers(trailers));
                }
            }
        }
    }

    fn take_in(&mut self, work: &mut Work) -> Result<Step, Error> {
        let encoded = self.compressor.tally().bytes_in;
        let taken = self.compressor.write(&self.rest)?;
        self.rest.advance(taken);
        if self.rest.is_empty() {
            self.rest = std::mem::take(&mut self.behind);
        }
        work.spend(self.encoded_since(encoded));
        Ok(Step::Continue)
    }

    fn flush(&mut self, work: &mut Work) -> Result<Step, Error> {
        let encoded = self.compressor.tally().bytes_in;
        if self.compressor.flush()? {
            self.pause.flushed();
            self.stage = Stage::Gather;
            return Ok(Step::PutOut);
        }
        work.spend(self.encoded_since(encoded));
        Ok(Step::Continue)
    }

    /// The encoder's end comes before the trailers, and only after a producer that ended well.
    fn finish(&mut self, work: &mut Work) -> Result<Step, Error> {
        let encoded = self.compressor.tally().bytes_in;
        if self.compressor.finish()? {
            self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Ended(End::Trailers(mut trailers)) => {
                    rewrite_coded_trailers(&mut trailers, self.compressor.codec().name(), self.etag);
                    Stage::Trailers(trailers)
                }
                _ => Stage::Done,
            };
            return Ok(Step::PutOut);
        }
        work.spend(self.encoded_since(encoded));
        Ok(Step::Continue)
    }

    fn chunk(&mut self, work: &Work) -> Option<Item> {
        let output = self.compressor.take_output();
        let is_over = matches!(self.stage, Stage::Trailers(_) | Stage::Done);
        self.spent = if is_over { 0 } else { self.compressor.turn() - work.bytes };
        // The client may be slow to come back for more.
        self.compressor.park();
        Some(Ok(Frame::data(output)))
    }

    fn trailers(&mut self) -> Option<Item> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
            _ => None,
        }
    }

    /// The error is the last item. What is held back stays back: no end of the coding may follow.
    fn fail(&mut self) -> Option<Item> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Ended(End::Error(error)) => Some(Err(error)),
            _ => None,
        }
    }

    fn encoded_since(&self, before: u64) -> usize {
        usize::try_from(self.compressor.tally().bytes_in - before).unwrap_or(usize::MAX)
    }
}

impl Work {
    fn spend(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

enum Step {
    Continue,
    /// What is in the output goes out now, however little.
    PutOut,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.recorder.message(self.compressor.tally());
    }
}
