use super::channel::{Channel, Coded, FlushMark, Next};
use crate::body::End;
use crate::error::BoxError;
use crate::policy::{EtagPolicy, rewrite_coded, rewrite_coded_trailers};
use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The body that a [`BodyWriter`](super::BodyWriter) or a [`BytesWriter`](super::BytesWriter) writes.
///
/// Its error is what the writer was [aborted](super::BodyWriter::abort) with, or an
/// [`Error`](crate::Error) if it was dropped or its encoder failed. Once the writer has finished, and not
/// with trailers, the length is exact. Dropping the body makes the writer fail, and gives its encoder back.
#[derive(Debug)]
pub struct WriterBody {
    channel: Arc<Channel>,
    coding: Option<&'static str>,
    /// What becomes of an entity tag in the trailers, if the body is coded.
    etag: EtagPolicy,
}

impl WriterBody {
    pub(super) fn new(channel: Arc<Channel>, coding: Option<&'static str>) -> Self {
        Self { channel, coding, etag: EtagPolicy::Keep }
    }

    /// The content coding that the bytes have, which `Content-Encoding` must say; `None` if they have none.
    #[must_use]
    pub fn coding(&self) -> Option<&'static str> {
        self.coding.filter(|_| self.channel.coded() == Coded::AsSaid)
    }

    /// A 200 with this body. The head says the coding and that it was negotiated; for a body without one, the
    /// response lets a [`CompressionLayer`](crate::CompressionLayer) know when the writer flushes: the layer then flushes at those
    /// places, and not where the writer only pauses.
    #[must_use]
    pub fn into_response(self) -> Response<Self> {
        let mut response = Response::new(self);
        match response.body().coding() {
            Some(coding) => {
                let length = response.body().size_hint().exact();
                rewrite_coded(response.headers_mut(), coding, length, EtagPolicy::Keep);
            }
            None => {
                let mark = response.body().mark();
                response.extensions_mut().insert(mark);
            }
        }
        response
    }

    /// Treats an entity tag in the trailers by this policy, as the head's is.
    pub(crate) fn set_etag(&mut self, policy: EtagPolicy) {
        self.etag = policy;
    }

    /// What a layer learns of flushes by.
    pub(crate) fn mark(&self) -> FlushMark {
        self.channel.mark()
    }

    /// Trailers as they are true of a body with this one's coding.
    fn rewritten(&self, mut trailers: HeaderMap) -> HeaderMap {
        if let Some(coding) = self.coding() {
            rewrite_coded_trailers(&mut trailers, coding, self.etag);
        }
        trailers
    }

    /// Ready once something is there: data, a flush, or the end.
    #[cfg(feature = "axum")]
    pub(crate) fn poll_begun(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.channel.poll_begun(cx)
    }

    /// The error of a body that has nothing else. Takes it away.
    #[cfg(feature = "axum")]
    pub(crate) fn take_first_error(&mut self) -> Option<BoxError> {
        self.channel.take_first_error()
    }
}

impl Body for WriterBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(match ready!(self.channel.poll_next(cx)) {
            Next::Data(data) => Some(Ok(Frame::data(data))),
            Next::End(End::Clean) => None,
            Next::End(End::Trailers(trailers)) => Some(Ok(Frame::trailers(self.rewritten(trailers)))),
            Next::End(End::Error(error)) => Some(Err(error)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.channel.remaining() == (0, true)
    }

    fn size_hint(&self) -> SizeHint {
        match self.channel.remaining() {
            (bytes, true) => SizeHint::with_exact(bytes),
            (bytes, false) => {
                let mut hint = SizeHint::default();
                hint.set_lower(bytes);
                hint
            }
        }
    }
}

impl Drop for WriterBody {
    fn drop(&mut self) {
        self.channel.close();
    }
}
