//! One response through a layer, polled as a connection would.

use crate::altered::held;
use crate::layers::Layer;
use crate::traces::{Exchange, PAUSE, Script};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::{Body, Frame};
use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tower::Service;

/// What came of a response.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) bytes_out: u64,
    pub(crate) polls: u64,
    /// Whether the head said how long the body is.
    pub(crate) exact: bool,
    /// Bytes in buffers: the mean over the response's time.
    pub(crate) held: f64,
}

/// Lets a layer answer one exchange.
pub(crate) fn response(layer: &Layer, exchange: &Exchange) -> Outcome {
    let Exchange { content_type, script, .. } = *exchange;
    let mut service = layer.service(tower::service_fn(move |_: Request<()>| {
        let mut response = Response::new(Replay::new(script));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        ready(Ok::<_, Infallible>(response))
    }));
    let mut request = Request::get(exchange.path.as_str()).body(()).expect("a valid path");
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(layer.coding));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    HELD.set((0.0, 0.0));

    let Poll::Ready(Ok(response)) = pin!(service.call(request)).poll(&mut cx) else {
        unreachable!("the service is ready")
    };
    let head = response.headers();
    assert_eq!(head[CONTENT_ENCODING], layer.coding);
    let mut outcome = Outcome { exact: head.contains_key(CONTENT_LENGTH), ..Outcome::default() };
    let mut body = pin!(response.into_body());
    loop {
        outcome.polls += 1;
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                let data = frame.expect("nothing fails").into_data().expect("there are no trailers");
                outcome.bytes_out += std::hint::black_box(data).len() as u64;
            }
            Poll::Pending => {
                if !woken.0.swap(false, Ordering::Relaxed) {
                    pass_time(IDLE);
                    NOW.set(NOW.get() + 1);
                }
            }
        }
    }
    let (held, time) = HELD.get();
    outcome.held = held / time;
    outcome
}

/// The producer's part of an exchange, without any layer.
pub(crate) fn drain(exchange: &Exchange) {
    let mut body = pin!(Replay::new(exchange.script));
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        // Looked at where it is: moving a frame costs as much as making it.
        match &body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(None | Some(Err(_))) => break,
            Poll::Ready(Some(Ok(frame))) => {
                std::hint::black_box(frame.data_ref().map(Bytes::len));
            }
            Poll::Pending => NOW.set(NOW.get() + 1),
        }
    }
}

thread_local! {
    /// Pauses end when this moves on.
    static NOW: Cell<u64> = const { Cell::new(0) };
    /// Bytes held, times how long; and how long.
    static HELD: Cell<(f64, f64)> = const { Cell::new((0.0, 0.0)) };
}

/// How long a pause is, in frames: producing a frame takes nanoseconds to microseconds, a pause milliseconds.
const IDLE: f64 = 10_000.0;

fn pass_time(time: f64) {
    let (so_far, sum) = HELD.get();
    HELD.set((so_far + time * held() as f64, sum + time));
}

/// A body that follows a script and knows no size.
#[derive(Debug)]
struct Replay {
    bytes: &'static [u8],
    steps: std::slice::Iter<'static, u32>,
    /// Nothing comes before then.
    until: u64,
}

impl Replay {
    fn new(script: Script) -> Self {
        Self { bytes: script.bytes, steps: script.steps.iter(), until: 0 }
    }
}

impl Body for Replay {
    type Data = Bytes;
    type Error = Infallible;

    /// Never inlined: where the compiler does so it is worth some nanoseconds a frame, and it does so in some of the
    /// loops that poll this.
    #[inline(never)]
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.until > NOW.get() {
            return Poll::Pending;
        }
        match self.steps.next() {
            None => Poll::Ready(None),
            Some(&PAUSE) => {
                self.until = NOW.get() + 1;
                Poll::Pending
            }
            Some(&length) => {
                let (frame, rest) = self.bytes.split_at(length as usize);
                self.bytes = rest;
                // Large frames take longer to produce.
                pass_time(1.0 + f64::from(length) / 64.0);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(frame)))))
            }
        }
    }
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
