use super::future::RequestCompressionFuture;
use super::job::Job;
use super::layer::RequestCompressionLayer;
use crate::body::CompressionBody;
use crate::error::BoxError;
use crate::policy::predicate::{DefaultPredicate, Predicate};
use http::{Request, Response};
use http_body::Body;
use std::task::{Context, Poll};
use tower_service::Service;

/// A client whose requests are compressed; see [`RequestCompressionLayer`].
///
/// The inner service is cloned for each request, as hyper's and reqwest's clients are meant to be.
#[derive(Debug, Clone)]
pub struct RequestCompression<S, P = DefaultPredicate> {
    pub(super) inner: S,
    pub(super) layer: RequestCompressionLayer<P>,
}

impl<S> RequestCompression<S> {
    /// Wraps `service` with the default layer.
    pub fn new(service: S) -> Self {
        Self { inner: service, layer: RequestCompressionLayer::new() }
    }

    /// The default layer.
    #[must_use]
    pub fn layer() -> RequestCompressionLayer {
        RequestCompressionLayer::new()
    }
}

impl<S, P> RequestCompression<S, P> {
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
}

impl<S, P, ReqBody, ResBody> Service<Request<ReqBody>> for RequestCompression<S, P>
where
    S: Service<Request<CompressionBody<ReqBody>>, Response = Response<ResBody>> + Clone,
    ReqBody: Body,
    ReqBody::Error: Into<BoxError>,
    P: Predicate,
{
    type Response = Response<ResBody>;
    type Error = S::Error;
    type Future = RequestCompressionFuture<S, ReqBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        // The one that is ready goes with the request; its clone may have to become ready anew.
        let clone = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, clone);
        RequestCompressionFuture::new(ready, Job::new(&self.layer, request))
    }
}
