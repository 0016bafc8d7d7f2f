//! reqwest's client below layers that know `http` alone.

use crate::body::{Ahead, CompressionBody, LookAhead};
use crate::error::BoxError;
use crate::policy::RequestFacts;
use http_body::Body;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

/// reqwest's client as a service of `http::Request`, so that layers can be put around it.
///
/// A body that is all in memory stays so for reqwest, which can then send it again after a redirect; any other
/// streams. Bodies must be `Send` and `Sync`, as reqwest wants them; those of this crate's layers are if what is in
/// them is. reqwest's own decoding is best switched off where a [`DecompressionLayer`](crate::DecompressionLayer)
/// is on.
///
/// Requests made with reqwest go through as well: `http::Request::try_from(request)` before, and
/// `reqwest::Response::from(response.map(reqwest::Body::wrap))` after.
///
/// ```
/// use tower::ServiceBuilder;
/// use tower_compress::{DecompressionLayer, RequestCompressionLayer, client::ReqwestService};
///
/// let client = ServiceBuilder::new()
///     .layer(RequestCompressionLayer::new())
///     .layer(DecompressionLayer::new())
///     .service(ReqwestService::new(reqwest::Client::new()));
/// # let _ = client;
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReqwestService<S = reqwest::Client> {
    inner: S,
}

impl<S> ReqwestService<S> {
    /// Adapts reqwest's client, or a service around it.
    pub fn new(client: S) -> Self {
        Self { inner: client }
    }

    /// The client.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The client.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The client.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, B> Service<http::Request<B>> for ReqwestService<S>
where
    S: Service<reqwest::Request, Response = reqwest::Response>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    B: Body + Send + Sync + 'static,
    B::Error: Into<BoxError>,
{
    type Response = http::Response<reqwest::Body>;
    type Error = BoxError;
    type Future = ReqwestFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<B>) -> ReqwestFuture {
        let needs_length = RequestFacts::of(&request).needs_length();
        match reqwest::Request::try_from(request.map(|inner| body(inner, needs_length))) {
            Ok(request) => {
                let asked = request.url().origin();
                let response = self.inner.call(request);
                ReqwestFuture(Box::pin(async move {
                    let mut response = response.await.map_err(Into::into)?;
                    if response.url().origin() != asked {
                        response.extensions_mut().insert(FromElsewhere);
                    }
                    Ok(response.into())
                }))
            }
            Err(error) => ReqwestFuture(Box::pin(std::future::ready(Err(error.into())))),
        }
    }
}

/// Marks a response that another origin gave than the one that was asked, after a redirect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FromElsewhere;

/// The body as reqwest likes it best: in one piece if it is, or else as a stream.
fn body<B>(body: B, needs_length: bool) -> reqwest::Body
where
    B: Body + Send + Sync + 'static,
    B::Error: Into<BoxError>,
{
    let Some(said) = body.size_hint().exact() else {
        return reqwest::Body::wrap(CompressionBody::pass(body));
    };
    // A body that knows its size may be in memory.
    let mut body = Box::pin(body);
    let size = usize::try_from(said).unwrap_or(usize::MAX);
    let ahead = LookAhead::at_hand(body.as_mut(), size.clamp(1, MAX_GATHERED), size.min(MAX_GATHERED));
    let is_one_piece = ahead.is_one_piece();
    let (first, second, end) = ahead.into_parts();
    if is_one_piece {
        return reqwest::Body::from(first);
    }
    let body = CompressionBody::ahead(body, Ahead { first, second, end });
    reqwest::Body::wrap(if needs_length { body.delimited(Some(said)) } else { body })
}

/// The most that is gathered from a body in several frames, so that it is in one piece for reqwest.
const MAX_GATHERED: usize = 1024 * 1024;

/// The response of [`ReqwestService`].
pub struct ReqwestFuture(Pin<Box<dyn Future<Output = Answer> + Send>>);

type Answer = Result<http::Response<reqwest::Body>, BoxError>;

impl Future for ReqwestFuture {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ReqwestFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestFuture").finish_non_exhaustive()
    }
}
