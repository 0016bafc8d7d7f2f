//! A coded body through a client's decoding layer, ours or another.

use super::measure::Output;
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tower::Service;
use tower_compress::BoxError;

/// A service that answers with these frames.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) coding: &'static str,
    pub(crate) frames: Vec<Bytes>,
}

type Frames = StreamBody<futures_util::stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

impl Service<Request<()>> for Answer {
    type Response = Response<Frames>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        let frames: Vec<_> =
            std::mem::take(&mut self.frames).into_iter().map(|data| Ok(Frame::data(data))).collect();
        let body = StreamBody::new(futures_util::stream::iter(frames));
        std::future::ready(Ok(Response::builder().header(CONTENT_ENCODING, self.coding).body(body).unwrap()))
    }
}

/// Calls the service and reads the body to its end.
pub(crate) fn through<S, B>(mut service: S) -> Output
where
    S: Service<Request<()>, Response = Response<B>>,
    S::Error: std::fmt::Debug,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(response) = pin!(service.call(Request::new(()))).poll(&mut cx) else {
        panic!("not ready")
    };
    let mut body = pin!(response.unwrap().into_body());
    let mut output = Output::default();
    loop {
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(Some(frame)) => {
                let frame = frame.map_err(Into::into).unwrap();
                output.bytes += black_box(frame.into_data().unwrap()).len() as u64;
                output.frames += 1;
            }
            Poll::Ready(None) => return output,
            Poll::Pending => {}
        }
    }
}
