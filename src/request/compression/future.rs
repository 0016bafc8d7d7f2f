use super::job::{Job, POLLED, Sent};
use crate::body::CompressionBody;
use crate::error::BoxError;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_service::Service;

pin_project! {
    /// The response of [`RequestCompression`](super::RequestCompression).
    ///
    /// It polls the request's body while that is ready, then the service, and a second time where the request
    /// has to be repeated.
    pub struct RequestCompressionFuture<S, B>
    where
        S: Service<Request<CompressionBody<B>>>,
    {
        service: S,
        sent: Option<Sent>,
        #[pin]
        state: State<S::Future, B>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F, B> {
        Prepare { job: Option<Job<B>> },
        Called { #[pin] response: F },
        /// To be sent again, once the service is ready.
        Again { request: Option<Request<CompressionBody<B>>> },
    }
}

impl<S, B> RequestCompressionFuture<S, B>
where
    S: Service<Request<CompressionBody<B>>>,
{
    pub(super) fn new(service: S, job: Job<B>) -> Self {
        Self { service, sent: None, state: State::Prepare { job: Some(job) } }
    }
}

impl<S, B, R> Future for RequestCompressionFuture<S, B>
where
    S: Service<Request<CompressionBody<B>>, Response = Response<R>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<R>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let request = match this.state.as_mut().project() {
                StateProjection::Prepare { job } => {
                    let (request, sent) = ready!(Job::poll(job, cx));
                    *this.sent = Some(sent);
                    request
                }
                StateProjection::Called { response } => {
                    let response = ready!(response.poll(cx))?;
                    match this.sent.as_mut().and_then(|sent| sent.answered(&response)) {
                        Some(request) => this.state.set(State::Again { request: Some(request) }),
                        None => return Poll::Ready(Ok(response)),
                    }
                    continue;
                }
                StateProjection::Again { request } => {
                    ready!(this.service.poll_ready(cx))?;
                    request.take().expect(POLLED)
                }
            };
            let response = this.service.call(request);
            this.state.set(State::Called { response });
        }
    }
}

impl<S, B> fmt::Debug for RequestCompressionFuture<S, B>
where
    S: Service<Request<CompressionBody<B>>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestCompressionFuture").finish_non_exhaustive()
    }
}
