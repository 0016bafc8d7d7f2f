use super::future::ResponseFuture;
use super::layer::CompressionLayer;
use super::plan::Plan;
use crate::body::CompressionBody;
use crate::codec::CompressionLevel;
use crate::error::BoxError;
use crate::policy::predicate::{DefaultPredicate, Predicate};
use http::{Method, Request, Response};
use http_body::Body;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service whose responses are compressed; see [`CompressionLayer`].
#[derive(Debug, Clone)]
pub struct Compression<S, P = DefaultPredicate> {
    pub(super) inner: S,
    pub(super) layer: CompressionLayer<P>,
}

impl<S> Compression<S> {
    /// Wraps `service` with the default layer.
    pub fn new(service: S) -> Self {
        Self { inner: service, layer: CompressionLayer::new() }
    }

    /// The default layer.
    #[must_use]
    pub fn layer() -> CompressionLayer {
        CompressionLayer::new()
    }
}

impl<S, P> Compression<S, P> {
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

    /// See [`CompressionLayer::gzip`].
    #[cfg(feature = "gzip")]
    #[must_use]
    pub fn gzip(self, enable: bool) -> Self {
        self.with(|layer| layer.gzip(enable))
    }

    /// See [`CompressionLayer::deflate`].
    #[cfg(feature = "deflate")]
    #[must_use]
    pub fn deflate(self, enable: bool) -> Self {
        self.with(|layer| layer.deflate(enable))
    }

    /// See [`CompressionLayer::zstd`].
    #[cfg(feature = "zstd")]
    #[must_use]
    pub fn zstd(self, enable: bool) -> Self {
        self.with(|layer| layer.zstd(enable))
    }

    /// See [`CompressionLayer::br`].
    #[cfg(feature = "brotli")]
    #[must_use]
    pub fn br(self, enable: bool) -> Self {
        self.with(|layer| layer.br(enable))
    }

    /// See [`CompressionLayer::quality`].
    #[must_use]
    pub fn quality(self, level: CompressionLevel) -> Self {
        self.with(|layer| layer.quality(level))
    }

    /// See [`CompressionLayer::no_gzip`].
    #[must_use]
    pub fn no_gzip(self) -> Self {
        self.with(CompressionLayer::no_gzip)
    }

    /// See [`CompressionLayer::no_deflate`].
    #[must_use]
    pub fn no_deflate(self) -> Self {
        self.with(CompressionLayer::no_deflate)
    }

    /// See [`CompressionLayer::no_zstd`].
    #[must_use]
    pub fn no_zstd(self) -> Self {
        self.with(CompressionLayer::no_zstd)
    }

    /// See [`CompressionLayer::no_br`].
    #[must_use]
    pub fn no_br(self) -> Self {
        self.with(CompressionLayer::no_br)
    }

    /// See [`CompressionLayer::compress_when`].
    #[must_use]
    pub fn compress_when<C>(self, predicate: C) -> Compression<S, C>
    where
        C: Predicate,
    {
        Compression { inner: self.inner, layer: self.layer.compress_when(predicate) }
    }

    fn with(self, change: impl FnOnce(CompressionLayer<P>) -> CompressionLayer<P>) -> Self {
        Self { inner: self.inner, layer: change(self.layer) }
    }
}

impl<S, P, ReqBody, ResBody> Service<Request<ReqBody>> for Compression<S, P>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
    ResBody::Error: Into<BoxError>,
    P: Predicate,
{
    type Response = Response<CompressionBody<ResBody>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, P>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<ReqBody>) -> Self::Future {
        match Plan::new(&self.layer, &mut request) {
            Some(plan) => ResponseFuture::new(self.inner.call(request), plan),
            None => {
                let is_head = request.method() == Method::HEAD;
                ResponseFuture::not_acceptable(Arc::clone(&self.layer.settings), is_head)
            }
        }
    }
}
