//! The body of a handler's answer, which can wait for what the client has decoded.

use super::reply::{Reply, Step};
use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tower_compress::BoxError;

/// How much the client has decoded, and who waits for that.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Whether anybody waits at all.
    pub(crate) awaited: bool,
    decoded: AtomicUsize,
    waiting: Mutex<Option<Waker>>,
    /// Data frames that the layer took from the body.
    pub(crate) pulled: AtomicUsize,
}

impl Progress {
    pub(crate) fn of(reply: &Reply) -> Self {
        let awaited = reply.steps.iter().any(|step| matches!(step, Step::Until(_)));
        Self { awaited, ..Self::default() }
    }

    pub(crate) fn decoded(&self, bytes: usize) {
        self.decoded.store(bytes, Ordering::SeqCst);
        if let Some(waker) = self.waiting.lock().expect("a lock").take() {
            waker.wake();
        }
    }

    fn poll(&self, bytes: usize, cx: &mut Context<'_>) -> Poll<()> {
        *self.waiting.lock().expect("a lock") = Some(cx.waker().clone());
        if self.decoded.load(Ordering::SeqCst) >= bytes { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// The handler's body.
#[derive(Debug)]
pub(crate) struct Scripted {
    steps: VecDeque<Step>,
    left: u64,
    sized: bool,
    progress: Arc<Progress>,
}

impl Scripted {
    pub(crate) fn new(reply: &Reply, progress: &Arc<Progress>) -> Self {
        Self {
            steps: reply.steps.iter().cloned().collect(),
            left: reply.bytes().len() as u64,
            sized: reply.sized,
            progress: Arc::clone(progress),
        }
    }
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(step) = self.steps.pop_front() else { return Poll::Ready(None) };
        Poll::Ready(Some(match step {
            Step::Data(data) => {
                self.left -= data.len() as u64;
                self.progress.pulled.fetch_add(1, Ordering::SeqCst);
                Ok(Frame::data(data))
            }
            Step::Empty => Ok(Frame::data(Bytes::new())),
            Step::Yield => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Step::Until(bytes) => {
                if self.progress.poll(bytes, cx).is_pending() {
                    self.steps.push_front(step);
                    return Poll::Pending;
                }
                return self.poll_frame(cx);
            }
            Step::Trailers(fields) => Ok(Frame::trailers(
                fields
                    .iter()
                    .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                    .collect(),
            )),
            Step::Error => Err("the handler failed".into()),
        }))
    }

    /// A body of unknown size does not know its end before it is asked, as streams do not.
    fn is_end_stream(&self) -> bool {
        self.sized && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.sized { SizeHint::with_exact(self.left) } else { SizeHint::default() }
    }
}
