//! The two layers, set alike.

use super::app::App;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue};
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service};
use tower_compress::{BoxError, Compress, CompressionLevel, EncoderPool};
use tower_http::CompressionLevel as TheirLevel;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};

/// Which layer an item is run against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// This crate's.
    Ours,
    /// tower-http's.
    Theirs,
}

pub(crate) type OurLayer = tower_compress::CompressionLayer;

/// A server's service, whatever is in it.
pub(crate) type Stack =
    BoxCloneSyncService<Request<Incoming>, Response<UnsyncBoxBody<Bytes, BoxError>>, Infallible>;

/// How the layer is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) min_size: u16,
    pub(crate) codings: &'static [&'static str],
    pub(crate) level: Option<i32>,
    /// Another layer around it, which offers these.
    pub(crate) outer: Option<&'static [&'static str]>,
    /// Something that only this crate has.
    pub(crate) ours: Option<fn(OurLayer, App) -> Stack>,
}

impl Default for Setup {
    /// zstd and gzip, from 1 KiB on.
    fn default() -> Self {
        Self { min_size: 1024, codings: &["zstd", "gzip"], level: None, outer: None, ours: None }
    }
}

impl Setup {
    pub(crate) fn service(&self, subject: Subject, app: App) -> Stack {
        match (subject, self.ours) {
            (Subject::Ours, Some(ours)) => ours(self.ours(self.codings), app),
            (Subject::Ours, None) => match self.outer {
                Some(outer) => stack((self.ours(outer), self.ours(self.codings)), app),
                None => stack(self.ours(self.codings), app),
            },
            (Subject::Theirs, _) => match self.outer {
                Some(outer) => stack((self.theirs(outer), self.theirs(self.codings)), app),
                None => stack(self.theirs(self.codings), app),
            },
        }
    }

    /// With a pool of its own, so that items know nothing of each other; large enough for every level.
    fn ours(&self, codings: &[&str]) -> OurLayer {
        let offers = |coding| codings.contains(&coding);
        OurLayer::new()
            .zstd(offers("zstd"))
            .br(offers("br"))
            .gzip(offers("gzip"))
            .deflate(offers("deflate"))
            .snappy(offers("snappy"))
            .snappy_framed(offers("x-snappy-framed"))
            .min_size(self.min_size.into())
            .quality(self.level.map_or(CompressionLevel::Default, CompressionLevel::Precise))
            .pool(EncoderPool::with_limit(1 << 30))
    }

    /// The default predicate, at the same size as ours.
    fn theirs(
        &self,
        codings: &[&str],
    ) -> tower_http::compression::CompressionLayer<
        impl tower_http::compression::Predicate + Send + Sync + 'static,
    > {
        let offers = |coding| codings.contains(&coding);
        let predicate = SizeAbove::new(self.min_size.into())
            .and(NotForContentType::GRPC)
            .and(NotForContentType::IMAGES)
            .and(NotForContentType::SSE);
        tower_http::compression::CompressionLayer::new()
            .zstd(offers("zstd"))
            .br(offers("br"))
            .gzip(offers("gzip"))
            .deflate(offers("deflate"))
            .quality(self.level.map_or(TheirLevel::Default, TheirLevel::Precise))
            .compress_when(predicate)
    }
}

/// A layer around the handler, and around both what routers do.
pub(crate) fn stack<L, B>(layer: L, app: App) -> Stack
where
    L: Layer<App>,
    L::Service: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    L::Service: Clone + Send + Sync + 'static,
    <L::Service as Service<Request<Incoming>>>::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    BoxCloneSyncService::new(Router { inner: layer.layer(app) })
}

/// What axum does around its layers: it says the length that a body tells, and then answers HEAD without it.
#[derive(Debug, Clone)]
struct Router<S> {
    inner: S,
}

impl<S, B> Service<Request<Incoming>> for Router<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let is_head = request.method() == Method::HEAD;
        let response = self.inner.call(request);
        Box::pin(async move {
            let mut response = response.await?;
            // What the handler meant for the layer alone must be gone.
            if response.extensions().get::<Compress>().is_some() {
                response.headers_mut().insert(LEAKED, HeaderValue::from_static("1"));
            }
            if !is_head {
                return Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()));
            }
            if let Some(length) = response.body().size_hint().exact() {
                response.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from(length));
            }
            Ok(response.map(|_| Empty::new().map_err(Into::into).boxed_unsync()))
        })
    }
}

/// Says that the handler's extension came through the layer.
pub(crate) const LEAKED: &str = "x-extension-leaked";
