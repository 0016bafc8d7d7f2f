use super::answer::AnswerBody;
use crate::body::Verdict;
use http::header::{ACCEPT_ENCODING, HeaderValue};
use http::{Response, StatusCode};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The response of [`RequestDecompression`](super::RequestDecompression).
    pub struct RequestDecompressionFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Called { #[pin] inner: F, verdict: Verdict },
        Unaccepted { accept: HeaderValue },
    }
}

impl<F> RequestDecompressionFuture<F> {
    pub(super) fn called(inner: F, verdict: Verdict) -> Self {
        Self { state: State::Called { inner, verdict } }
    }

    pub(super) fn unaccepted(accept: HeaderValue) -> Self {
        Self { state: State::Unaccepted { accept } }
    }
}

impl<F, B, E> Future for RequestDecompressionFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<AnswerBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.project().state.project() {
            StateProjection::Called { inner, verdict } => {
                let result = ready!(inner.poll(cx));
                match verdict.status() {
                    // What the client did wrong is no error of the server's.
                    Some(status) if result.as_ref().map_or(true, is_server_error) => Ok(answer(status)),
                    _ => result.map(|response| response.map(AnswerBody::of_service)),
                }
            }
            StateProjection::Unaccepted { accept } => {
                let mut response = answer(StatusCode::UNSUPPORTED_MEDIA_TYPE);
                response.headers_mut().insert(ACCEPT_ENCODING, accept.clone());
                Ok(response)
            }
        })
    }
}

fn is_server_error<B>(response: &Response<B>) -> bool {
    response.status().is_server_error()
}

fn answer<B>(status: StatusCode) -> Response<AnswerBody<B>> {
    let mut response = Response::new(AnswerBody::none());
    *response.status_mut() = status;
    response
}

impl<F> fmt::Debug for RequestDecompressionFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestDecompressionFuture").finish_non_exhaustive()
    }
}
