//! What a writer and its body share: a bounded queue of frames, and the end.

use super::sink::Sink;
use crate::body::End;
#[cfg(feature = "axum")]
use crate::error::BoxError;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The queue between a writer and its body.
#[derive(Debug)]
pub(super) struct Channel {
    state: Mutex<State>,
    capacity: usize,
    mark: FlushMark,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Bytes>,
    /// Bytes in `frames`.
    queued: usize,
    /// The writer's sink, from a flush that nobody waited for until the reader has done it: it does when it
    /// comes, so that any number of flushes is one.
    lent: Option<Sink>,
    /// Whether there was a flush since the reader was last told of one. What is pushed later does not undo it.
    flushed: bool,
    /// The reader's task, if it waits.
    reader: Option<Waker>,
    /// The writer's task or thread, if it waits.
    writer: Option<Waker>,
    end: Option<End>,
    /// The body is gone.
    closed: bool,
    /// Whether anything was ever given to the reader.
    begun: bool,
    coded: Coded,
}

/// Whether a body's writer asks for a flush of what the body has given: the response's extension through which
/// a layer learns of explicit flushes. Written and read by the one task that polls the body.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlushMark(Arc<Marks>);

#[derive(Debug, Default)]
struct Marks {
    set: AtomicBool,
    over: AtomicBool,
}

impl FlushMark {
    /// Meaningful once the body is pending. Set until the one who flushes has done so: another frame that comes
    /// in between is no reason to wait for the next flush.
    pub(crate) fn is_set(&self) -> bool {
        self.0.set.load(Ordering::Relaxed)
    }

    /// Whether the body has ended or is gone: what is read now is another one, put in its place or behind it.
    pub(crate) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    /// All that the body has given is flushed.
    pub(crate) fn clear(&self) {
        self.0.set.store(false, Ordering::Relaxed);
    }

    fn set(&self) {
        self.0.set.store(true, Ordering::Relaxed);
    }

    fn end(&self) {
        self.0.over.store(true, Ordering::Relaxed);
    }
}

/// The body is gone.
#[derive(Debug)]
pub(super) struct Closed;

/// Whether a body has the coding that its writer was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Coded {
    #[default]
    AsSaid,
    /// It ended before its first batch, and was left as it was for whoever decides about small bodies.
    No,
}

/// What [`Channel::flush`] made of the sink.
pub(super) enum Flushed {
    /// The reader will flush it.
    Lent,
    /// The reader waits: the writer is to flush it now.
    Wanted(Sink),
    Closed(Sink),
}

impl Channel {
    pub(super) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity, mark: FlushMark::default() }
    }

    /// A queue that holds a whole body.
    pub(super) fn whole(frames: impl IntoIterator<Item = Bytes>, coded: Coded) -> Self {
        let mut state = State { end: Some(End::Clean), coded, ..State::default() };
        frames.into_iter().for_each(|frame| state.push(frame));
        Self { state: Mutex::new(state), capacity: usize::MAX, mark: FlushMark::default() }
    }

    pub(super) fn mark(&self) -> FlushMark {
        self.mark.clone()
    }

    /// Ready once a frame may be queued.
    pub(super) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Err(Closed));
        }
        if state.queued < self.capacity {
            return Poll::Ready(Ok(()));
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Queues a frame, whether or not there is room. `flushed`: all so far is to be decodable by the receiver.
    pub(super) fn push(&self, frame: Bytes, flushed: bool) -> Result<(), Closed> {
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        state.push(frame);
        state.flushed |= flushed;
        self.wake_reader(state);
        Ok(())
    }

    /// Hands the sink to the reader, unless that waits already.
    pub(super) fn flush(&self, sink: Sink) -> Flushed {
        let mut state = self.lock();
        if state.closed {
            return Flushed::Closed(sink);
        }
        if state.reader.is_some() {
            return Flushed::Wanted(sink);
        }
        state.lent = Some(sink);
        state.flushed = true;
        Flushed::Lent
    }

    /// Whether the reader has a sink that it is still to flush.
    pub(super) fn owes_flush(&self) -> bool {
        self.lock().lent.as_ref().is_some_and(Sink::holds_back)
    }

    /// Takes a sink back that was handed to the reader.
    pub(super) fn take_back(&self) -> Result<Sink, Closed> {
        self.lock().lent.take().ok_or(Closed)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Says how the body ends.
    pub(super) fn end(&self, last: Bytes, end: End, coded: Coded) -> Result<(), Closed> {
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        state.push(last);
        state.coded = coded;
        state.end = Some(end);
        self.wake_reader(state);
        Ok(())
    }

    fn wake_reader(&self, mut state: MutexGuard<'_, State>) {
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// The next frame; without one, the end; without that, pending.
    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Next> {
        let mut state = self.lock();
        if let Some(frame) = state.frames.pop_front() {
            state.queued -= frame.len();
            // Waking the writer for every frame would be a thread switch for each.
            let writer = if state.queued <= self.capacity / 2 { state.writer.take() } else { None };
            drop(state);
            if let Some(writer) = writer {
                writer.wake();
            }
            return Poll::Ready(Next::Data(frame));
        }
        if let Some(sink) = &mut state.lent {
            match sink.flush() {
                Ok(frame) if frame.is_empty() => {}
                Ok(frame) => {
                    state.begun = true;
                    return Poll::Ready(Next::Data(frame));
                }
                Err(error) => {
                    // The writer finds its sink gone and the body closed.
                    state.lent = None;
                    state.closed = true;
                    state.end = Some(End::Error(error.into()));
                }
            }
        }
        if let Some(end) = state.end.take() {
            state.end = Some(End::Clean);
            self.mark.end();
            return Poll::Ready(Next::End(end));
        }
        if std::mem::take(&mut state.flushed) {
            self.mark.set();
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Ready once it is known how the body begins: with a frame, with a flush, or with its end. A body that begins
    /// with a flush has its coding from then on, whatever becomes of it.
    #[cfg(feature = "axum")]
    pub(super) fn poll_begun(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if let Some(sink) = &mut state.lent {
            // The head is about to say so, and the writer may take the sink back before the body is polled.
            sink.commit();
            return Poll::Ready(());
        }
        if state.begun || state.end.is_some() {
            return Poll::Ready(());
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The error of a body that gave nothing else.
    #[cfg(feature = "axum")]
    pub(super) fn take_first_error(&self) -> Option<BoxError> {
        let mut state = self.lock();
        if state.begun || !matches!(state.end, Some(End::Error(_))) {
            return None;
        }
        match state.end.replace(End::Clean) {
            Some(End::Error(error)) => Some(error),
            _ => None,
        }
    }

    pub(super) fn coded(&self) -> Coded {
        self.lock().coded
    }

    /// How many bytes are there, and whether nothing follows, not even trailers.
    pub(super) fn remaining(&self) -> (u64, bool) {
        let state = self.lock();
        (state.queued as u64, matches!(state.end, Some(End::Clean)))
    }

    /// The reader has gone away. What the writer lent goes home at once.
    pub(super) fn close(&self) {
        self.mark.end();
        let mut state = self.lock();
        state.closed = true;
        let lent = state.lent.take();
        let frames = std::mem::take(&mut state.frames);
        let writer = state.writer.take();
        drop(state);
        drop((lent, frames));
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    /// The state is consistent between any two statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, frame: Bytes) {
        if !frame.is_empty() {
            self.begun = true;
            self.queued += frame.len();
            self.frames.push_back(frame);
        }
    }
}

/// What a body gives next.
pub(super) enum Next {
    Data(Bytes),
    End(End),
}
