//! What a response allocates once everything is warm, and what a bomb does ([`bombs`]). A binary of its own, since
//! it replaces the allocator.
//!
//! `cargo test --test alloc -- --nocapture` prints the table that is in the README.

// An allocator is an unsafe trait; this one adds two counters to the system's.
#![allow(unsafe_code)]

#[path = "alloc/bombs.rs"]
mod bombs;
#[path = "it/support/corpus.rs"]
#[allow(dead_code)]
mod corpus;

use bytes::Bytes;
use corpus::json;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::{Body, Frame};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tokio::io::AsyncWrite;
use tower_compress::codec::{CODECS, Codec, by_name};
use tower_compress::{BoxError, CompressionLayer, EncoderPool, WriterOptions};
use tower_layer::Layer;
use tower_service::Service;

struct Counting;

thread_local! {
    /// Allocations of this thread, the bytes that it holds, and the most that it ever held.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(allocations: u64, bytes: i64) {
    // Both need neither an allocation nor a destructor, so they can be had at any time.
    COUNT.set(COUNT.get() + allocations);
    HELD.set(HELD.get() + bytes);
    PEAK.set(PEAK.get().max(HELD.get()));
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps to `alloc`'s contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: the pointer came from the system's allocator with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Where it has to move, both are there for a while.
        count(1, size as i64);
        count(0, -(layout.size() as i64));
        // SAFETY: the pointer came from the system's allocator with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A body that allocates nothing when it is polled: static bytes, in frames of one size.
struct Cut {
    rest: Bytes,
    frame: usize,
}

impl Body for Cut {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.frame.min(self.rest.len());
        Poll::Ready((length > 0).then(|| Ok(Frame::data(self.rest.split_to(length)))))
    }
}

/// Answers with a prepared response, so that making it is not counted.
struct Prepared<B>(Option<Response<B>>);

impl<B> Service<Request<()>> for Prepared<B> {
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Ready<Result<Response<B>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: Request<()>) -> Self::Future {
        ready(Ok(self.0.take().expect("one call")))
    }
}

/// What one response cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    /// Allocations from the call until the body was read to its end and dropped.
    allocations: u64,
    /// Frames of data that came out.
    frames: u64,
    /// Bytes held more than before, after everything was dropped.
    left: i64,
}

fn cost(layer: &CompressionLayer, coding: &'static str, body: Cut) -> Cost {
    let held = HELD.get();
    let (allocations, frames) = {
        let response = Response::builder().header(CONTENT_TYPE, "application/json").body(body).unwrap();
        let mut service = layer.layer(Prepared(Some(response)));
        let request = Request::get("/").header(ACCEPT_ENCODING, coding).body(()).unwrap();

        let before = COUNT.get();
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(response)) = pin!(service.call(request)).poll(&mut cx) else { unreachable!() };
        let (head, body) = response.into_parts();
        let frames = read(body, &mut cx);
        let allocations = COUNT.get() - before;

        assert_eq!(head.headers.get(CONTENT_ENCODING), Some(&HeaderValue::from_static(coding)));
        (allocations, frames)
    };
    Cost { allocations, frames, left: HELD.get() - held }
}

fn read<B: Body<Error: std::fmt::Debug>>(body: B, cx: &mut Context<'_>) -> u64 {
    let mut body = pin!(body);
    let mut frames = 0;
    loop {
        match body.as_mut().poll_frame(cx) {
            Poll::Ready(Some(frame)) => drop(frame.unwrap()),
            Poll::Ready(None) => return frames,
            // It has done enough for one poll, and has woken itself.
            Poll::Pending => continue,
        }
        frames += 1;
    }
}

/// What the third of equal responses costs.
fn steady(codec: &dyn Codec, length: usize, frame: usize) -> Cost {
    let text: &'static [u8] = json(length).leak();
    let body = || Cut { rest: Bytes::from_static(text), frame };
    let layer = CompressionLayer::new().br(true).snappy(true).snappy_framed(true).pool(EncoderPool::new());
    cost(&layer, codec.name(), body());
    cost(&layer, codec.name(), body());
    cost(&layer, codec.name(), body())
}

const KIB: usize = 1024;

/// The body in its box, the output, and the value of `Content-Length`.
const WHOLE: u64 = 3;

/// A buffer to gather in, at once of the size that messages before it needed.
const GATHERING: u64 = 1;

/// What a stream takes besides its frames: the body and its own state, in their boxes.
const STREAM: u64 = 2;

/// The place where a context waits that can be taken away.
const SLOT: u64 = 1;

/// The buffer that a stream inherits from the look-ahead gives way to one of the encoder's batch.
const FITTINGS: u64 = 1;

/// brotli's library cannot reset an encoder, so each message costs a new one.
fn is_pooled(codec: &dyn Codec) -> bool {
    codec.name() != "br"
}

#[test]
fn a_steady_response_allocates_its_output_and_little_else() {
    println!("{:<16} {:>9} {:>9} {:>11} {:>7}", "coding", "body", "frames in", "allocations", "frames");
    for codec in CODECS {
        let small = [(1100, 1100), (26 * KIB, 26 * KIB), (26 * KIB, 3)];
        let long = [(1024 * KIB, 1024 * KIB), (1024 * KIB, 8 * KIB), (1024 * KIB, 3)];
        for (length, frame) in small.into_iter().chain(long.into_iter().filter(|_| codec.streams())) {
            let Cost { allocations, frames, left } = steady(*codec, length, frame);
            println!("{:<16} {length:>9} {frame:>9} {allocations:>11} {frames:>7}", codec.name());
            assert_eq!(left, 0, "{} {length} {frame}", codec.name());
            let slot = if codec.parks() { SLOT } else { 0 };
            let (own, fittings) =
                if length <= 64 * KIB { (WHOLE, 0) } else { (STREAM + slot + frames, FITTINGS) };
            let gathering = if frame < length { GATHERING + fittings } else { 0 };
            assert!(
                allocations <= own + gathering || !is_pooled(*codec),
                "{} {length} {frame}: {allocations}",
                codec.name()
            );
        }
    }
}

#[test]
fn after_whatever_sizes_a_small_response_holds_no_more_than_the_look_ahead() {
    let text: &'static [u8] = json(1024 * KIB).leak();
    let body = |length, frame| Cut { rest: Bytes::from_static(&text[..length]), frame };
    let layer = CompressionLayer::new().pool(EncoderPool::new());
    for length in [1100, 64 * KIB, 1024 * KIB, 64 * KIB + 1].into_iter().cycle().take(40) {
        for frame in [3, 5000] {
            cost(&layer, "gzip", body(length, frame));
        }
    }
    let held = HELD.get();
    PEAK.set(held);
    cost(&layer, "gzip", body(1100, 3));
    // The head, the body's box, and the output itself come on top of it.
    let (peak, look_ahead) = (PEAK.get() - held, 64 * KIB as i64);
    assert!((look_ahead..look_ahead + 4 * KIB as i64).contains(&peak), "{peak}");
}

#[test]
fn a_longer_stream_allocates_its_frames_and_nothing_more() {
    for codec in CODECS.iter().filter(|codec| codec.streams() && is_pooled(**codec)) {
        let extra = |length| {
            let cost = steady(*codec, length, 1000);
            cost.allocations - cost.frames
        };
        assert_eq!(extra(512 * KIB), extra(4096 * KIB), "{}", codec.name());
    }
}

/// 100 MB of lines of JSON through a writer whose reader takes a frame only when the writer can go no further:
/// the slowest reader there is.
fn peak_of_a_long_answer(codec: &'static dyn Codec, layered: bool) -> i64 {
    const LENGTH: usize = 100_000_000;
    let lines = json(1_000_000);
    let layer = CompressionLayer::new().codec(codec).pool(EncoderPool::new());
    let options = WriterOptions::new().pool(EncoderPool::new());
    let mut cx = Context::from_waker(Waker::noop());

    let held = HELD.get();
    PEAK.set(held);
    let (mut writer, mut body): (_, Pin<Box<dyn Body<Data = Bytes, Error = BoxError>>>) = if layered {
        let (writer, body) = options.channel();
        let mut service = layer.layer(Prepared(Some(body.into_response())));
        let request = Request::get("/").header(ACCEPT_ENCODING, codec.name()).body(()).unwrap();
        let Poll::Ready(Ok(response)) = pin!(service.call(request)).poll(&mut cx) else { unreachable!() };
        assert_eq!(response.headers()[CONTENT_ENCODING], codec.name());
        (writer, Box::pin(response.into_body()))
    } else {
        let (writer, body) = options.coding(codec, Default::default()).channel();
        (writer, Box::pin(body))
    };
    let mut written = 0;
    for line in lines.chunks(100).cycle().take(LENGTH / 100) {
        while Pin::new(&mut writer).poll_write(&mut cx, line).is_pending() {
            let _ = body.as_mut().poll_frame(&mut cx);
        }
        written += line.len();
    }
    assert!(written >= LENGTH);
    writer.finish().unwrap();
    while let Poll::Ready(Some(_)) | Poll::Pending = body.as_mut().poll_frame(&mut cx) {}
    PEAK.get() - held
}

#[test]
fn a_long_answer_to_a_slow_reader_takes_less_than_a_megabyte() {
    // gzip's context is counted as well, zstd's is C's.
    for codec in ["gzip", "zstd"].map(|name| by_name(name).unwrap()) {
        for layered in [false, true] {
            let peak = peak_of_a_long_answer(codec, layered);
            println!("{:<16} {:<8} {peak:>9}", codec.name(), if layered { "layered" } else { "alone" });
            assert!(peak < 1_000_000, "{} {layered}: {peak}", codec.name());
        }
    }
}
