use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};
use std::collections::VecDeque;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

/// One answer of a scripted body.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Data(Bytes),
    Trailers(HeaderMap),
    Error(&'static str),
    /// `Pending`, woken at once: a producer that yields.
    Yield,
    /// `Pending` for good: a producer that pauses.
    Stall,
    Panic,
}

impl Step {
    pub(crate) fn data(bytes: impl AsRef<[u8]>) -> Self {
        Self::Data(Bytes::copy_from_slice(bytes.as_ref()))
    }
}

pin_project_lite::pin_project! {
    /// A body that does what it is told, counts its polls, knows no size, and must not be moved.
    #[derive(Debug, Default)]
    pub(crate) struct Script {
        steps: VecDeque<Step>,
        #[pin]
        pinned: PhantomPinned,
    }
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), pinned: PhantomPinned }
    }

    /// `data` in frames of `size` bytes, all ready.
    pub(crate) fn cut(data: &[u8], size: usize) -> Self {
        Self::new(data.chunks(size).map(Step::data))
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let this = self.project();

        match this.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Panic) => panic!("on purpose"),
            Some(Step::Data(data)) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Some(Step::Trailers(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(Step::Error(error)) => Poll::Ready(Some(Err(error))),
            Some(Step::Yield) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Stall) => {
                this.steps.push_front(Step::Stall);
                Poll::Pending
            }
        }
    }
}
