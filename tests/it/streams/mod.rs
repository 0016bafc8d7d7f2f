//! Streams: compressed event by event, fair to others, and cheap while they wait.

mod exits;
mod fairness;
mod flushing;
mod interval;
mod offloading;
mod parking;
mod wire;

use crate::support::channel::Channel;
use crate::support::serve::{answer, text};
use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tower_compress::codec::{CODECS, Codec};
use tower_compress::predicate::Predicate;
use tower_compress::{BoxError, CompressionBody, CompressionLayer, EncoderPool};

/// A layer that offers everything, with a pool of its own.
fn layer() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy_framed(true).pool(EncoderPool::new())
}

/// The codings that stream.
fn streaming() -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.iter().copied().filter(|codec| codec.streams())
}

/// Server-sent events.
fn events(body: Channel) -> Response<Channel> {
    let mut response = text(body);
    response.headers_mut().insert(http::header::CONTENT_TYPE, "text/event-stream".parse().unwrap());
    response
}

/// The layer's answer, on no runtime: tokio's budget would count a test's polls by hand as one turn's.
fn answered<P, B>(
    layer: &CompressionLayer<P>,
    accept: &str,
    response: Response<B>,
) -> Response<CompressionBody<B>>
where
    P: Predicate,
    B: Body,
    B::Error: Into<BoxError>,
{
    futures_util::FutureExt::now_or_never(answer(layer, accept, response)).expect("it never waits")
}

/// Counts its wakes.
#[derive(Debug, Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A body that is polled by hand, on no runtime.
struct ByHand<B> {
    body: Pin<Box<B>>,
    wakes: Arc<Wakes>,
}

impl<B: Body<Data = Bytes, Error = BoxError>> ByHand<B> {
    fn new(body: B) -> Self {
        Self { body: Box::pin(body), wakes: Arc::default() }
    }

    fn poll(&mut self) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.body.as_mut().poll_frame(&mut Context::from_waker(&waker))
    }

    /// The data of a poll that must be ready with some.
    fn data(&mut self) -> Bytes {
        match self.poll() {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Polls until there is data, at most so many times.
    fn data_within(&mut self, polls: usize) -> Bytes {
        for _ in 1..polls {
            if let Poll::Ready(Some(Ok(frame))) = self.poll() {
                return frame.into_data().unwrap();
            }
        }
        self.data()
    }

    fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::Relaxed)
    }
}
