use super::plan::{Plan, not_acceptable};
use super::settings::Settings;
use crate::body::CompressionBody;
use crate::error::BoxError;
use crate::policy::predicate::Predicate;
use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The response of [`Compression`](super::Compression).
    ///
    /// When the inner service has answered, it polls the body while that is ready, up to the look-ahead, and
    /// never waits for it.
    pub struct ResponseFuture<F, P> {
        #[pin]
        state: State<F, P>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F, P> {
        Called { #[pin] inner: F, plan: Plan<P> },
        NotAcceptable { settings: Arc<Settings>, is_head: bool },
    }
}

impl<F, P> ResponseFuture<F, P> {
    pub(super) fn new(inner: F, plan: Plan<P>) -> Self {
        Self { state: State::Called { inner, plan } }
    }

    pub(super) fn not_acceptable(settings: Arc<Settings>, is_head: bool) -> Self {
        Self { state: State::NotAcceptable { settings, is_head } }
    }
}

impl<F, B, E, P> Future for ResponseFuture<F, P>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    B::Error: Into<BoxError>,
    P: Predicate,
{
    type Output = Result<Response<CompressionBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProjection::Called { inner, plan } => {
                #[cfg(feature = "axum")]
                let polled = super::scope::within(|| inner.poll(cx));
                #[cfg(not(feature = "axum"))]
                let polled = inner.poll(cx);
                let response = ready!(polled)?;
                Poll::Ready(Ok(plan.respond(response, cx)))
            }
            StateProjection::NotAcceptable { settings, is_head } => {
                Poll::Ready(Ok(not_acceptable(settings, *is_head)))
            }
        }
    }
}

impl<F, P> fmt::Debug for ResponseFuture<F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
