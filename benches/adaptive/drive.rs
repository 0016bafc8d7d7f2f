//! One response through the layer, polled as a connection would.

use crate::heap;
use crate::traces::{Exchange, PAUSE, Script};
use bytes::Bytes;
use http_body::{Body, Frame};
use std::cell::Cell;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tower::Service;
use tower_compress::CompressionLayer;
use tower_compress::predicate::SizeAbove;
use tower_layer::Layer;

thread_local! {
    static CLOCK: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<(f64, f64)> = const { Cell::new((0.0, 0.0)) };
    static WATCH: Cell<bool> = const { Cell::new(false) };
}

const IDLE: f64 = 10_000.0;

#[derive(Debug)]
pub(crate) struct Replay {
    data: &'static [u8],
    cuts: std::slice::Iter<'static, u32>,
    waits: u64,
}

impl Replay {
    fn new(script: Script) -> Self {
        Self { data: script.data, cuts: script.cuts.iter(), waits: 0 }
    }
}

fn tick(weight: f64) {
    if WATCH.get() {
        let (sum, time) = HELD.get();
        HELD.set((sum + weight * heap::buffers() as f64, time + weight));
    }
}

impl Body for Replay {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.waits > CLOCK.get() {
            return Poll::Pending;
        }
        match self.cuts.next() {
            None => Poll::Ready(None),
            Some(&PAUSE) => {
                self.waits = CLOCK.get() + 1;
                Poll::Pending
            }
            Some(&length) => {
                let (data, rest) = self.data.split_at(length as usize);
                self.data = rest;
                tick(1.0 + f64::from(length) / 64.0);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(data)))))
            }
        }
    }
}

struct Flag(AtomicBool);
impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed)
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed)
    }
}

#[derive(Default, Debug, Clone, Copy)]
pub(crate) struct Sum {
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
    pub(crate) polls: u64,
    pub(crate) held: f64,
}

/// Runs one.
pub(crate) fn response(
    layer: &CompressionLayer<SizeAbove>,
    coding: &'static str,
    exchange: &Exchange,
    watch: bool,
) -> Sum {
    let script = exchange.script;
    let content_type = exchange.content_type;
    let mut service = layer.layer(tower::service_fn(move |_: http::Request<()>| {
        let mut response = http::Response::new(Replay::new(script));
        response.headers_mut().insert("content-type", http::HeaderValue::from_static(content_type));
        std::future::ready(Ok::<_, Infallible>(response))
    }));
    let mut request = http::Request::new(());
    *request.uri_mut() = exchange.path.parse().unwrap();
    request.headers_mut().insert("accept-encoding", http::HeaderValue::from_static(coding));
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let waker = Waker::from(flag.clone());
    let mut cx = Context::from_waker(&waker);
    WATCH.set(watch);
    HELD.set((0.0, 0.0));
    let base = heap::buffers();
    let future = pin!(service.call(request));
    let Poll::Ready(Ok(response)) = future.poll(&mut cx) else { unreachable!() };
    assert_eq!(response.headers()["content-encoding"], coding);
    let mut body = pin!(response.into_body());
    let mut sum = Sum::default();
    loop {
        sum.polls += 1;
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                let data = frame.unwrap().into_data().unwrap();
                sum.bytes += data.len() as u64;
                sum.frames += 1;
                std::hint::black_box(&data);
            }
            Poll::Pending => {
                if !flag.0.swap(false, Ordering::Relaxed) {
                    tick(IDLE);
                    CLOCK.set(CLOCK.get() + 1);
                }
            }
        }
    }
    let (held, time) = HELD.get();
    sum.held = if time > 0.0 { held / time - base as f64 } else { 0.0 };
    WATCH.set(false);
    sum
}

/// The producer alone.
pub(crate) fn drain(exchange: &Exchange) {
    let mut body = pin!(Replay::new(exchange.script));
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                std::hint::black_box(frame.unwrap().into_data().unwrap());
            }
            Poll::Pending => CLOCK.set(CLOCK.get() + 1),
        }
    }
}
