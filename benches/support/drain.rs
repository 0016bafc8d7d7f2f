//! Polling by hand, on no runtime: nothing in these benches ever waits.

use super::measure::Output;
use bytes::Buf;
use http_body::Body;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Reads a body to its end, looking at each frame where it is: what producing the frames costs, and no more.
pub(crate) fn drain<B: Body>(body: B) -> Output {
    let mut body = pin!(body);
    let mut output = Output::default();
    loop {
        let polled = body.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()));
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                output.bytes += frame.data_ref().map_or(0, Buf::remaining) as u64;
                output.frames += 1;
            }
            Poll::Ready(Some(Err(_))) => panic!("the body failed"),
            Poll::Ready(None) => return output,
            // It yields in between.
            Poll::Pending => {}
        }
    }
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}
