use super::Verdict;
use super::compression::poll_plain;
use super::decode::Decode;
use crate::engine::Decompressor;
use crate::error::BoxError;
use crate::policy::EtagPolicy;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// A body that is decoded as it is read, or passes as it is.
    ///
    /// Data goes out as soon as it can be decoded. The inner body is read to its own end, so that its trailers
    /// come through and its connection can be used again.
    ///
    /// Its error, which is the last item, is the inner body's, boxed, or this crate's [`Error`](crate::Error) where the coded
    /// form is malformed, ends too early or exceeds a limit: `is_malformed`, `is_truncated` and `is_limit` tell.
    /// In a request on the server's side a limit is `http_body_util::LengthLimitError` instead, as
    /// frameworks expect it. What was decoded before an error comes before it.
    ///
    /// Dropping it in any state gives its decoders back to the pool.
    pub struct DecompressionBody<B> {
        #[pin]
        inner: B,
        work: Work,
    }
}

/// What is done with the inner body's frames.
enum Work {
    Pass,
    Decode(Box<Decode>),
}

impl<B> DecompressionBody<B> {
    /// The inner body as it is.
    pub(crate) fn pass(inner: B) -> Self {
        Self { inner, work: Work::Pass }
    }

    /// The inner body decoded.
    pub(crate) fn decode(inner: B, decompressor: Decompressor, verdict: Verdict) -> Self {
        Self { inner, work: Work::Decode(Box::new(Decode::new(decompressor, verdict))) }
    }

    /// Treats an entity tag in the trailers by this policy, as the head's was.
    pub(crate) fn etag(mut self, policy: EtagPolicy) -> Self {
        if let Work::Decode(decode) = &mut self.work {
            decode.set_etag(policy);
        }
        self
    }

    /// The inner body.
    pub fn get_ref(&self) -> &B {
        &self.inner
    }

    /// The inner body. What is read from it is not decoded any more.
    pub fn get_mut(&mut self) -> &mut B {
        &mut self.inner
    }

    /// The inner body, pinned. What is read from it is not decoded any more.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut B> {
        self.project().inner
    }

    /// The inner body. What was read from it and not yet taken is lost.
    pub fn into_inner(self) -> B {
        self.inner
    }

    /// Bytes of the coded form decoded so far, to be held against
    /// [`DecodedFrom::content_length`](crate::response::DecodedFrom::content_length) in a progress bar. `None`
    /// if the body passes as it is.
    pub fn received(&self) -> Option<u64> {
        match &self.work {
            Work::Pass => None,
            Work::Decode(decode) => Some(decode.received()),
        }
    }
}

impl<B> Body for DecompressionBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.project();
        match this.work {
            Work::Pass => poll_plain(this.inner, cx),
            Work::Decode(decode) => decode.poll_frame(this.inner, cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.work {
            Work::Pass => self.inner.is_end_stream(),
            Work::Decode(decode) => decode.is_done() || decode.is_new() && self.inner.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.work {
            Work::Pass => self.inner.size_hint(),
            Work::Decode(_) if self.is_end_stream() => SizeHint::with_exact(0),
            Work::Decode(_) => SizeHint::default(),
        }
    }
}

impl<B: fmt::Debug> fmt::Debug for DecompressionBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work: &dyn fmt::Debug = match &self.work {
            Work::Pass => &"pass",
            Work::Decode(decode) => decode,
        };
        f.debug_struct("DecompressionBody").field("inner", &self.inner).field("work", work).finish()
    }
}
