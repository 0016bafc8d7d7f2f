use super::future::{DecompressionFuture, Plan};
use super::layer::DecompressionLayer;
use crate::body::DecompressionBody;
use crate::decoding::coding_methods;
use http::header::{ACCEPT_ENCODING, RANGE};
use http::{Request, Response};
use http_body::Body;
use std::task::{Context, Poll};
use tower_service::Service;

/// A client whose responses are decoded; see [`DecompressionLayer`].
#[derive(Debug, Clone)]
pub struct Decompression<S> {
    pub(super) inner: S,
    pub(super) layer: DecompressionLayer,
}

impl<S> Decompression<S> {
    /// Wraps `service` with the default layer.
    pub fn new(service: S) -> Self {
        Self { inner: service, layer: DecompressionLayer::new() }
    }

    /// The default layer.
    #[must_use]
    pub fn layer() -> DecompressionLayer {
        DecompressionLayer::new()
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

    coding_methods!("ask for and decode");

    fn offer(self, coding: &'static str, enable: bool) -> Self {
        Self { inner: self.inner, layer: self.layer.offer(coding, enable) }
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for Decompression<S>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
{
    type Response = Response<DecompressionBody<ResBody>>;
    type Error = S::Error;
    type Future = DecompressionFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<ReqBody>) -> Self::Future {
        let headers = request.headers_mut();
        let asked = headers.contains_key(ACCEPT_ENCODING);
        if !asked && !headers.contains_key(RANGE) {
            headers.insert(ACCEPT_ENCODING, self.layer.decoding.accept.clone());
        }
        let plan = Plan::new(&self.layer, &request, asked);
        DecompressionFuture::new(self.inner.call(request), plan)
    }
}
