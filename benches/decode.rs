//! Decoding a body: ours beside the codec's bare decoder on the same chunks, and beside tower-http's layer.
//!
//! `cargo bench --bench decode`, with `-- --check` to exit non-zero where a bound does not hold.

#![allow(missing_docs)]

use bytes::Bytes;
use cpu_time::ThreadTime;
use http::header::CONTENT_ENCODING;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::hint::black_box;
use std::io::{Read, Write};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service};
use tower_compress::{BoxError, DecompressionLayer};

const CODINGS: [&str; 6] = ["gzip", "deflate", "zstd", "br", "x-snappy-framed", "snappy"];

/// Bytes of a frame of the coded body: a trickle, a TCP segment or three, hyper's read buffer.
const CHUNKS: [usize; 3] = [256, 4096, 16 * 1024];

/// The length of the decoded body.
const LENGTH: usize = 1 << 20;

/// Rounds of each contender, taken in turns. The median counts.
const ROUNDS: usize = 31;

fn main() {
    let check = std::env::args().any(|argument| argument == "--check");
    // `-- gzip` measures that coding alone.
    let only: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let plain = text(LENGTH);
    let mut figures = Vec::new();
    println!(
        "{:16} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "coding", "chunk", "bare us", "ours", "tower-http", "to bare", "to t-h"
    );
    for coding in
        CODINGS.into_iter().filter(|coding| only.is_empty() || only.iter().any(|only| only == coding))
    {
        let coded = encode(coding, &plain);
        for chunk in CHUNKS {
            let frames: Vec<Bytes> = coded.chunks(chunk).map(Bytes::copy_from_slice).collect();
            let [bare, ours, theirs] = measure(coding, &frames);
            println!(
                "{coding:16} {chunk:>6} {bare:>9.0} {ours:>9.0} {theirs:>9.0} {:>9.3} {:>9.3}",
                ours / bare,
                ours / theirs
            );
            figures.push((format!("{coding}/{chunk}/to bare"), ours / bare, 1.1));
            if theirs > 0.0 {
                figures.push((format!("{coding}/{chunk}/to tower-http"), ours / theirs, 1.0));
            }
        }
    }
    let all_hold = report(&figures);
    if check && !all_hold {
        std::process::exit(1);
    }
}

/// Microseconds of thread CPU time, the medians: bare, ours, tower-http's (zero where it has no such coding).
fn measure(coding: &'static str, frames: &[Bytes]) -> [f64; 3] {
    let mut bare = Bare::new(coding);
    let ours = DecompressionLayer::new().br(true).snappy(true).snappy_framed(true);
    let theirs = tower_http::decompression::DecompressionLayer::new();
    let has_theirs = !coding.contains("snappy");
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        times[0].push(time(|| bare.run(frames)));
        times[1].push(time(|| through(ours.layer(Answer { coding, frames: frames.to_vec() }))));
        if has_theirs {
            times[2].push(time(|| through(theirs.layer(Answer { coding, frames: frames.to_vec() }))));
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(0.0)
    })
}

fn time(run: impl FnOnce() -> usize) -> f64 {
    let start = ThreadTime::now();
    assert_eq!(black_box(run()), LENGTH);
    start.elapsed().as_secs_f64() * 1e6
}

/// A service that answers with these frames.
#[derive(Clone)]
struct Answer {
    coding: &'static str,
    frames: Vec<Bytes>,
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
fn through<S, B>(mut service: S) -> usize
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
    let mut length = 0;
    loop {
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(Some(frame)) => {
                let frame = frame.map_err(Into::into).unwrap();
                length += black_box(frame.into_data().unwrap()).len();
            }
            Poll::Ready(None) => return length,
            Poll::Pending => {}
        }
    }
}

/// A codec crate's own decoder, its context and its output reused, as warm as it gets.
enum Bare {
    Deflate { context: flate2::Decompress, gzip: bool, output: Vec<u8> },
    Zstd { context: zstd::zstd_safe::DCtx<'static>, output: Vec<u8> },
    Brotli { output: Vec<u8> },
    Framed { output: Vec<u8> },
    Raw { output: Vec<u8> },
}

/// What the bare decoders write into, again and again.
const OUTPUT: usize = 32 * 1024;

impl Bare {
    fn new(coding: &str) -> Self {
        let output = vec![0; OUTPUT];
        match coding {
            "gzip" => Self::Deflate { context: flate2::Decompress::new_gzip(15), gzip: true, output },
            "deflate" => Self::Deflate { context: flate2::Decompress::new(true), gzip: false, output },
            "zstd" => Self::Zstd { context: zstd::zstd_safe::DCtx::create(), output },
            "br" => Self::Brotli { output },
            "x-snappy-framed" => Self::Framed { output },
            _ => Self::Raw { output: vec![0; LENGTH] },
        }
    }

    fn run(&mut self, frames: &[Bytes]) -> usize {
        match self {
            Self::Deflate { context, gzip, output } => inflate(context, *gzip, output, frames),
            Self::Zstd { context, output } => unzstd(context, output, frames),
            Self::Brotli { output } => unbrotli(output, frames),
            Self::Framed { output } => {
                let mut decoder = snap::read::FrameDecoder::new(Chunks { frames, at: 0 });
                let mut length = 0;
                loop {
                    match decoder.read(output).unwrap() {
                        0 => return length,
                        read => length += black_box(&output[..read]).len(),
                    }
                }
            }
            // One slice: the crate has no other way.
            Self::Raw { output } => {
                let coded = frames.concat();
                black_box(snap::raw::Decoder::new().decompress(&coded, output).unwrap())
            }
        }
    }
}

fn inflate(context: &mut flate2::Decompress, gzip: bool, output: &mut [u8], frames: &[Bytes]) -> usize {
    if gzip {
        *context = flate2::Decompress::new_gzip(15);
    } else {
        context.reset(true);
    }
    for frame in frames {
        let mut input = &frame[..];
        loop {
            let (before_in, before_out) = (context.total_in(), context.total_out());
            context.decompress(input, output, flate2::FlushDecompress::None).unwrap();
            input = &input[(context.total_in() - before_in) as usize..];
            let written = (context.total_out() - before_out) as usize;
            black_box(&output[..written]);
            if written < output.len() {
                break;
            }
        }
    }
    context.total_out() as usize
}

fn unzstd(context: &mut zstd::zstd_safe::DCtx<'static>, output: &mut [u8], frames: &[Bytes]) -> usize {
    use zstd::zstd_safe::{InBuffer, OutBuffer, ResetDirective};
    context.reset(ResetDirective::SessionOnly).unwrap();
    let mut length = 0;
    for frame in frames {
        let mut input = InBuffer::around(frame);
        loop {
            let mut sink = OutBuffer::around(&mut *output);
            context.decompress_stream(&mut sink, &mut input).unwrap();
            let written = sink.pos();
            black_box(&output[..written]);
            length += written;
            if written < output.len() {
                break;
            }
        }
    }
    length
}

fn unbrotli(output: &mut [u8], frames: &[Bytes]) -> usize {
    use brotli::{BrotliDecompressStream, BrotliState, enc::StandardAlloc};
    let alloc = StandardAlloc::default;
    let mut state = Box::new(BrotliState::new(alloc(), alloc(), alloc()));
    let mut total = 0;
    for frame in frames {
        let (mut left, mut taken) = (frame.len(), 0);
        loop {
            let (mut room, mut written) = (output.len(), 0);
            BrotliDecompressStream(
                &mut left,
                &mut taken,
                frame,
                &mut room,
                &mut written,
                output,
                &mut total,
                &mut state,
            );
            black_box(&output[..written]);
            if room > 0 {
                break;
            }
        }
    }
    total
}

/// The frames as a reader.
struct Chunks<'a> {
    frames: &'a [Bytes],
    at: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some((first, rest)) = self.frames.split_first() {
            let left = &first[self.at..];
            if !left.is_empty() {
                let n = left.len().min(buffer.len());
                buffer[..n].copy_from_slice(&left[..n]);
                self.at += n;
                return Ok(n);
            }
            (self.frames, self.at) = (rest, 0);
        }
        Ok(0)
    }
}

fn encode(coding: &str, plain: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let write = |writer: &mut dyn Write| writer.write_all(plain).and_then(|()| writer.flush()).unwrap();
    match coding {
        "gzip" => write(&mut flate2::write::GzEncoder::new(&mut coded, flate2::Compression::default())),
        "deflate" => write(&mut flate2::write::ZlibEncoder::new(&mut coded, flate2::Compression::default())),
        "zstd" => write(&mut zstd::stream::Encoder::new(&mut coded, 3).unwrap().auto_finish()),
        "br" => write(&mut brotli::CompressorWriter::new(&mut coded, 4096, 4, 22)),
        "x-snappy-framed" => write(&mut snap::write::FrameEncoder::new(&mut coded)),
        _ => coded = snap::raw::Encoder::new().compress_vec(plain).unwrap(),
    }
    coded
}

/// Orders as JSON: the same bytes at every run.
fn text(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut text = String::from("[");
    while text.len() < length {
        let product = ["keyboard", "monitor", "cable", "desk lamp", "chair"][below(5) as usize];
        let status = ["open", "paid", "shipped", "returned"][below(4) as usize];
        let (id, quantity, price) = (below(1_000_000), below(20) + 1, below(100_000));
        text += &format!(
            "{{\"id\":{id},\"product\":\"{product}\",\"quantity\":{quantity},\"price\":{}.{:02},\"status\":\"{status}\"}},",
            price / 100,
            price % 100
        );
    }
    text.truncate(length);
    text.into_bytes()
}

/// Prints and writes down what holds; whether all does.
fn report(figures: &[(String, f64, f64)]) -> bool {
    let rows: Vec<_> = figures
        .iter()
        .map(|(figure, value, bound)| {
            serde_json::json!({"figure": figure, "value": value, "unit": "ratio of CPU time", "bound": bound, "holds": value <= bound})
        })
        .collect();
    for (figure, value, bound) in figures.iter().filter(|(_, value, bound)| value > bound) {
        println!("does not hold: {figure}: {value:.3} (at most {bound})");
    }
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tower-compress");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("decode.json"), serde_json::to_vec_pretty(&rows).unwrap()).unwrap();
    figures.iter().all(|(_, value, bound)| value <= bound)
}
