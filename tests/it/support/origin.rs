//! A server without a connection, for the client's layers: it keeps what it got, and answers as it is told.

use super::serve::{Received, receive};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::Full;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tower::Service;
use tower_compress::BoxError;

/// One request, read to its end.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) parts: Parts,
    /// The body's exact size, as it was said before the first frame.
    pub(crate) said: Option<u64>,
    pub(crate) received: Received,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body as the service wants it, the coding being what the head says.
    pub(crate) fn decoded(&self) -> Vec<u8> {
        self.received.decoded(self.header("content-encoding").unwrap_or("identity"))
    }
}

type Answers = Arc<dyn Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync>;

/// The server. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Origin {
    answers: Answers,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Origin {
    pub(crate) fn new(answers: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static) -> Self {
        Self { answers: Arc::new(answers), seen: Arc::default() }
    }

    /// One that is content with everything.
    pub(crate) fn content() -> Self {
        Self::new(|_| Response::default())
    }

    /// One that decodes what `accepts` lists, and answers 415 with that to anything else.
    pub(crate) fn accepting(accepts: &'static str) -> Self {
        Self::new(move |seen| match seen.header("content-encoding") {
            Some(coding) if !accepts.split(", ").any(|accepted| accepted == coding) => {
                status(StatusCode::UNSUPPORTED_MEDIA_TYPE, &[("accept-encoding", accepts)])
            }
            _ => Response::default(),
        })
    }

    /// All requests since the last call.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// The only request since the last call.
    pub(crate) fn only(&self) -> Seen {
        let mut seen = self.seen();
        assert_eq!(seen.len(), 1);
        seen.remove(0)
    }
}

/// An answer without a body.
pub(crate) fn status(status: StatusCode, fields: &[(&'static str, &str)]) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    let fields = fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    *response.headers_mut() = HeaderMap::from_iter(fields);
    response
}

impl<B> Service<Request<B>> for Origin
where
    B: Body<Data = Bytes, Error = BoxError> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let origin = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let said = body.size_hint().exact();
            let seen = Seen { parts, said, received: receive(body).await };
            let response = (origin.answers)(&seen);
            origin.seen.lock().unwrap().push(seen);
            Ok(response)
        })
    }
}
