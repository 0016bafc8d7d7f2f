//! A body whose frames a bench hands out one by one, and the hand that polls what is made of it.

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service, ServiceExt};

/// The producer's end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Producer(Arc<Mutex<VecDeque<Bytes>>>);

impl Producer {
    pub(crate) fn send(&self, event: Bytes) {
        self.0.lock().unwrap().push_back(event);
    }
}

/// The body's end: pending while there is nothing. Whoever sends also polls, so that no waker is needed.
#[derive(Debug)]
pub(crate) struct Source(Producer);

impl Body for Source {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.0.lock().unwrap().pop_front() {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None => Poll::Pending,
        }
    }
}

/// A stream of events through a layer, polled by hand.
pub(crate) struct Stream {
    producer: Producer,
    body: Pin<Box<dyn AnyBody>>,
}

/// A body without its types.
pub(crate) trait AnyBody {
    /// The next data, if there is some.
    fn poll_data(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Option<Bytes>;
}

impl<B> AnyBody for B
where
    B: Body,
    B::Data: Into<Bytes>,
{
    fn poll_data(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Option<Bytes> {
        match self.poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok().map(Into::into),
            _ => None,
        }
    }
}

/// Polls without data after which a stream counts as idle: two yields, and one that says so.
const IDLE: usize = 3;

impl Stream {
    /// An event stream that the layer answers a request for this coding with.
    pub(crate) fn new<L, B>(layer: &L, coding: &str) -> Self
    where
        L: Layer<Handler>,
        L::Service: Service<Request<()>, Response = Response<B>>,
        B: Body + 'static,
        B::Data: Into<Bytes>,
    {
        let (stream, chosen) = Self::any(layer, coding);
        assert_eq!(chosen, coding);
        stream
    }

    /// The same for a request that accepts several, and the coding that was chosen.
    pub(crate) fn any<L, B>(layer: &L, accept: &str) -> (Self, String)
    where
        L: Layer<Handler>,
        L::Service: Service<Request<()>, Response = Response<B>>,
        B: Body + 'static,
        B::Data: Into<Bytes>,
    {
        let producer = Producer::default();
        let request = Request::get("/").header("accept-encoding", accept).body(()).unwrap();
        let service = layer.layer(Handler(producer.clone()));
        let response = futures_util::FutureExt::now_or_never(service.oneshot(request)).unwrap();
        let Ok(response) = response else { panic!("the handler never fails") };
        let coding =
            response.headers().get("content-encoding").map_or("identity", |value| value.to_str().unwrap());
        let coding = coding.to_owned();
        (Self { producer, body: Box::pin(response.into_body()) }, coding)
    }

    /// Sends one event, takes all that comes out because of it, and leaves the stream idle. Returns the bytes.
    pub(crate) fn event(&mut self, event: Bytes) -> usize {
        self.producer.send(event);
        let mut cx = Context::from_waker(Waker::noop());
        let (mut bytes, mut idle) = (0, 0);
        while idle < IDLE {
            match self.body.as_mut().poll_data(&mut cx) {
                Some(data) => {
                    bytes += data.len();
                    // What follows a frame is the poll that finds nothing.
                    idle = IDLE - 1;
                }
                None => idle += 1,
            }
        }
        bytes
    }
}

/// Answers with its producer's events.
#[derive(Debug, Clone)]
pub(crate) struct Handler(Producer);

impl Service<Request<()>> for Handler {
    type Response = Response<Source>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        // tower-http leaves event streams alone unless told otherwise, so that this one says another type.
        let response = Response::builder().header("content-type", "application/x-ndjson");
        std::future::ready(Ok(response.body(Source(self.0.clone())).unwrap()))
    }
}
