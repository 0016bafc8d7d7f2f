use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The service's body, or none where [`RequestDecompression`](super::RequestDecompression) answered in its
    /// place.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct AnswerBody<B> {
        #[pin]
        inner: Option<B>,
    }
}

impl<B> AnswerBody<B> {
    pub(super) fn of_service(body: B) -> Self {
        Self { inner: Some(body) }
    }

    pub(super) fn none() -> Self {
        Self { inner: None }
    }

    /// The service's body.
    pub fn get_ref(&self) -> Option<&B> {
        self.inner.as_ref()
    }

    /// The service's body.
    pub fn get_mut(&mut self) -> Option<&mut B> {
        self.inner.as_mut()
    }

    /// The service's body.
    pub fn into_inner(self) -> Option<B> {
        self.inner
    }
}

impl<B: Body> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.project().inner.as_pin_mut().map_or(Poll::Ready(None), |inner| inner.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}
