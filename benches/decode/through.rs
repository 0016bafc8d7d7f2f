//! A coded body through a client's decoding layer, ours or another.

use super::measure::Output;
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tower::Service;
use tower_compress::BoxError;

/// The responses that a service answers with, made before anything is measured.
#[derive(Clone, Default)]
pub(crate) struct Answers(Rc<RefCell<Vec<Response<Frames>>>>);

pub(crate) type Frames =
    StreamBody<futures_util::stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

impl Answers {
    /// So many responses with these frames, all ready.
    pub(crate) fn prepare(&self, count: u32, coding: &'static str, frames: &[Bytes]) {
        let response = || {
            let frames: Vec<_> = frames.iter().map(|data| Ok(Frame::data(data.clone()))).collect();
            let body = StreamBody::new(futures_util::stream::iter(frames));
            Response::builder().header(CONTENT_ENCODING, coding).body(body).expect("a valid head")
        };
        self.0.borrow_mut().resize_with(count as usize, response);
    }

    /// The frames of the next response's body, read as a layer reads them.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Bytes> {
        let response = self.0.borrow_mut().pop().expect("enough were prepared");
        let mut body = response.into_body();
        std::iter::from_fn(move || {
            let mut cx = Context::from_waker(Waker::noop());
            match Pin::new(&mut body).poll_frame(&mut cx) {
                Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
                _ => None,
            }
        })
    }
}

impl Service<Request<()>> for Answers {
    type Response = Response<Frames>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(self.0.borrow_mut().pop().expect("enough were prepared")))
    }
}

/// Calls the service and reads the body to its end.
pub(crate) fn through<S, B>(service: &mut S) -> Output
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
