//! What takes an event and puts it out coded: bare encoders, this crate, tower-http.

use crate::events::EVENT;
use crate::source::Stream;
use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress};
use tower_compress::{CompressionLayer, EncoderPool};
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

/// Takes an event, which its producer has made before, and returns how many bytes came out.
pub(crate) type Encode = Box<dyn FnMut(&Bytes) -> usize>;

/// The names, for profiling and tables.
pub(crate) const NAMES: [&str; 13] = [
    "bare gzip 6",
    "bare gzip 1",
    "bare gzip 6, primed",
    "bare gzip 1, primed",
    "bare zstd 3",
    "bare br 4",
    "gzip",
    "gzip beside idle",
    "gzip parked",
    "zstd",
    "br",
    "tower-http gzip",
    "tower-http zstd",
];

/// The contender of this name, at the beginning of a stream.
pub(crate) fn contender(name: &str) -> Encode {
    match name {
        "bare gzip 6" => kept(6),
        "bare gzip 1" => kept(1),
        "bare gzip 6, primed" => primed(6),
        "bare gzip 1, primed" => primed(1),
        "bare zstd 3" => bare_zstd(),
        "bare br 4" => bare_brotli(),
        "gzip" | "zstd" | "br" => one(Stream::new(&layer(), name)),
        "gzip beside idle" => beside_idle(),
        "gzip parked" => parked(),
        "tower-http gzip" => one(Stream::new(&peer(), "gzip")),
        "tower-http zstd" => one(Stream::new(&peer(), "zstd")),
        other => panic!("no contender is called {other}"),
    }
}

/// This crate's layer as it is by default, with a pool of its own.
pub(crate) fn layer() -> CompressionLayer {
    CompressionLayer::new().br(true).pool(EncoderPool::new())
}

/// tower-http's layer as it is by default.
pub(crate) fn peer() -> tower_http::compression::CompressionLayer {
    tower_http::compression::CompressionLayer::new()
}

fn one(mut stream: Stream) -> Encode {
    Box::new(move |event| stream.event(event.clone()))
}

/// Streams that wait beside the one that is measured.
const IDLE: usize = 10_000;

fn beside_idle() -> Encode {
    let layer = layer();
    let mut idle: Vec<_> = (0..IDLE).map(|_| Stream::new(&layer, "gzip")).collect();
    idle.iter_mut().for_each(|stream| {
        stream.event(Bytes::from(vec![b'.'; EVENT]));
    });
    let mut hot = Stream::new(&layer, "gzip");
    Box::new(move |event| {
        let _ = &idle;
        hot.event(event.clone())
    })
}

/// Streams that take turns, a hundred times as many as there are contexts: all but those few find that their
/// own is gone.
pub(crate) const PARKED: usize = 500;
const CONTEXTS: usize = 5 * 96 * 1024;

/// Each event is another stream's, which has had many before.
fn parked() -> Encode {
    let layer = CompressionLayer::new().pool(EncoderPool::with_limit(CONTEXTS));
    let mut streams: Vec<_> = (0..PARKED).map(|_| Stream::new(&layer, "gzip")).collect();
    let mut next = 0;
    Box::new(move |event| {
        next = (next + 1) % PARKED;
        streams[next].event(event.clone())
    })
}

/// A raw deflate context that is kept, and flushed after each event.
fn kept(level: u32) -> Encode {
    let mut context = Compress::new(Compression::new(level), false);
    let mut output = Vec::with_capacity(4096);
    Box::new(move |event| {
        output.clear();
        context.compress_vec(event, &mut output, FlushCompress::Sync).unwrap();
        output.len()
    })
}

/// The bytes that prime a context: as many as this crate keeps of a parked stream.
const TAIL: usize = 2048;

/// A raw deflate context that serves another stream each time: reset, primed, and flushed after the event.
fn primed(level: u32) -> Encode {
    let mut context = Compress::new(Compression::new(level), false);
    let mut output = Vec::with_capacity(4096);
    let mut tail = Vec::new();
    Box::new(move |event| {
        output.clear();
        context.reset();
        context.set_dictionary(&tail).unwrap();
        context.compress_vec(event, &mut output, FlushCompress::Sync).unwrap();
        if tail.len() + event.len() > TAIL {
            tail.drain(..tail.len() + event.len() - TAIL);
        }
        tail.extend_from_slice(event);
        output.len()
    })
}

/// A zstd context with this crate's window and tables.
fn bare_zstd() -> Encode {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(3)).unwrap();
    for parameter in [CParameter::WindowLog(17), CParameter::HashLog(15), CParameter::ChainLog(14)] {
        context.set_parameter(parameter).unwrap();
    }
    let mut output: Vec<u8> = Vec::with_capacity(4096);
    Box::new(move |event| {
        output.clear();
        let flush = ZSTD_EndDirective::ZSTD_e_flush;
        let (mut input, mut sink) = (InBuffer::around(event), OutBuffer::around(&mut output));
        assert_eq!(context.compress_stream2(&mut sink, &mut input, flush), Ok(0));
        output.len()
    })
}

fn bare_brotli() -> Encode {
    use std::io::Write;
    let mut writer = brotli::CompressorWriter::new(Vec::new(), 4096, 4, 17);
    Box::new(move |event| {
        let before = writer.get_ref().len();
        writer.write_all(event).unwrap();
        writer.flush().unwrap();
        writer.get_ref().len() - before
    })
}
