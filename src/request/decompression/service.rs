use super::answer::AnswerBody;
use super::future::RequestDecompressionFuture;
use super::layer::RequestDecompressionLayer;
use crate::body::{DecompressionBody, Verdict};
use crate::decoding::coding_methods;
use crate::policy::rewrite_decoded;
use http::header::{CONTENT_ENCODING, CONTENT_RANGE};
use http::{Request, Response};
use http_body::Body;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service whose requests are decoded; see [`RequestDecompressionLayer`].
#[derive(Debug, Clone)]
pub struct RequestDecompression<S> {
    pub(super) inner: S,
    pub(super) layer: RequestDecompressionLayer,
}

impl<S> RequestDecompression<S> {
    /// Wraps `service` with the default layer.
    pub fn new(service: S) -> Self {
        Self { inner: service, layer: RequestDecompressionLayer::new() }
    }

    /// The default layer.
    #[must_use]
    pub fn layer() -> RequestDecompressionLayer {
        RequestDecompressionLayer::new()
    }

    /// The inner service.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service.
    pub fn into_inner(self) -> S {
        self.inner
    }

    coding_methods!("accept");

    /// See [`RequestDecompressionLayer::pass_through_unaccepted`].
    #[must_use]
    pub fn pass_through_unaccepted(self, enable: bool) -> Self {
        Self { inner: self.inner, layer: self.layer.pass_through_unaccepted(enable) }
    }

    fn offer(self, coding: &'static str, enable: bool) -> Self {
        Self { inner: self.inner, layer: self.layer.offer(coding, enable) }
    }

    /// The request as the service sees it, or `None` if it has codings that are not accepted.
    fn decode<B>(&self, request: Request<B>) -> Option<(Request<DecompressionBody<B>>, Verdict)> {
        let pass = |request: Request<B>| (request.map(DecompressionBody::pass), Verdict::default());
        let headers = request.headers();
        if !headers.contains_key(CONTENT_ENCODING) || headers.contains_key(CONTENT_RANGE) {
            return Some(pass(request));
        }
        match self.layer.decoding.decompressor(headers) {
            Ok((decompressor, None)) if decompressor.is_identity() => Some(pass(request)),
            Ok((decompressor, None)) => {
                let (mut parts, body) = request.into_parts();
                rewrite_decoded(&mut parts.headers, None);
                let verdict = Verdict::for_request();
                let body = DecompressionBody::decode(body, decompressor, verdict.clone());
                Some((Request::from_parts(parts, body), verdict))
            }
            _ => self.layer.pass_through.then(|| pass(request)),
        }
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for RequestDecompression<S>
where
    S: Service<Request<DecompressionBody<ReqBody>>, Response = Response<ResBody>>,
    ReqBody: Body,
{
    type Response = Response<AnswerBody<ResBody>>;
    type Error = S::Error;
    type Future = RequestDecompressionFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        match self.decode(request) {
            Some((request, verdict)) => RequestDecompressionFuture::called(self.inner.call(request), verdict),
            None => RequestDecompressionFuture::unaccepted(self.layer.decoding.accept.clone()),
        }
    }
}
