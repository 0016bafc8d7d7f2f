//! Small messages that decode to very much end at the limit, in bounded work, and with memory of at most the
//! limit, the declared window and 1 MiB.

use super::{HELD, PEAK};
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use std::convert::Infallible;
use std::io::Write;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tower_compress::codec::by_name;
use tower_compress::engine::Decompressor;
use tower_compress::{DecoderPool, DecompressionLayer, Error, Limits, RequestDecompressionLayer};
use tower_layer::Layer;
use tower_service::Service;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const GIB: usize = 1024 * MIB;

/// What is allowed besides the limit and the declared window.
const ALLOWANCE: usize = MIB;

/// A message that is not what it seems.
struct Bomb {
    name: &'static str,
    codings: &'static [&'static str],
    coded: Vec<u8>,
    /// The most that a window of it can be.
    window: usize,
}

/// How it ended.
struct End {
    error: Option<Error>,
    plain: usize,
    received: usize,
    /// Calls of the decompressor.
    calls: usize,
    /// Bytes of heap at the most: those of the decoders and their buffers, and those of who gathers the output.
    peak: usize,
}

#[test]
fn bombs_of_every_kind_end_at_the_limit() {
    println!(
        "{:<28} {:>10} {:>10} {:>10} {:>7} {:>10}",
        "bomb", "coded", "received", "plain", "calls", "peak"
    );
    for bomb in bombs() {
        for limit in [MIB, 64 * MIB] {
            for limits in [Limits::requests(), Limits::requests().max_ratio(u64::MAX)] {
                let end = explode(&bomb, limits.max_decoded(limit as u64), limit);
                println!(
                    "{:<28} {:>10} {:>10} {:>10} {:>7} {:>10}",
                    bomb.name,
                    bomb.coded.len(),
                    end.received,
                    end.plain,
                    end.calls,
                    end.peak
                );
                assert!(end.error.is_some_and(|error| error.is_limit()), "{}", bomb.name);
                assert!(end.plain <= limit, "{}", bomb.name);
                assert!(end.peak <= limit + bomb.window + ALLOWANCE, "{}: {}", bomb.name, end.peak);
                // A call takes in 32 KiB or fills its room, but for the last.
                assert!(end.calls <= end.received / (16 * KIB) + limit / ROOM + WORK, "{}", bomb.name);
            }
        }
    }
}

/// What a call may put out, as bodies have it.
const ROOM: usize = 32 * KIB;

/// Calls that move something within the stack and put nothing out: a message of several codings may decode to
/// megabytes in between.
const WORK: usize = 64 * MIB / (16 * KIB);

#[test]
fn what_lies_about_its_length_takes_no_memory_for_it() {
    let block = |length: u32, data: &[u8]| {
        let mut block = Vec::new();
        let mut left = length;
        while left >= 0x80 {
            block.push(left as u8 | 0x80);
            left >>= 7;
        }
        block.push(left as u8);
        block.extend_from_slice(data);
        block
    };
    // A frame that says it has one segment of so many bytes, and ends.
    let segment = |size: u32| [&[0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000][..], &size.to_le_bytes()].concat();
    let window = |descriptor: u8| vec![0x28, 0xb5, 0x2f, 0xfd, 0, descriptor];
    let refused: [(&str, &'static [&'static str], Vec<u8>); 6] = [
        ("snappy, 4 GiB", &["snappy"], block(u32::MAX, b"\x08abc")),
        ("snappy, 64 MiB and one", &["snappy"], block(64 * MIB as u32 + 1, b"\x08abc")),
        ("zstd, 1 GiB", &["zstd"], segment(GIB as u32)),
        ("zstd, a window of 9 MiB", &["zstd"], window(13 << 3 | 1)),
        ("zstd, a window of 128 MiB", &["zstd"], window(17 << 3)),
        ("zstd, a window of 2 GiB", &["zstd"], window(21 << 3)),
    ];
    for (name, codings, coded) in refused {
        let end = explode(&Bomb { name, codings, coded, window: 0 }, Limits::requests(), 0);
        assert!(end.error.is_some_and(|error| error.is_limit()), "{name}");
        assert!(end.peak <= 256 * KIB, "{name}: {}", end.peak);
    }
    // Within the limit it may be true, and memory grows with what comes.
    let mut cut = snap::raw::Encoder::new().compress_vec(&vec![b'a'; 64 * MIB]).unwrap();
    cut.pop();
    let lies: [(&str, &'static [&'static str], Vec<u8>, usize); 3] = [
        // All that is allowed, in one block, which moves as it grows: for a moment a quarter of it is there twice.
        ("snappy, 64 MiB, cut", &["snappy"], cut, 80 * MIB),
        ("snappy, 60 MiB", &["snappy"], block(60 * MIB as u32, b"\x08abc"), 0),
        // A single segment is its own window, which zstd takes at once.
        ("zstd, 4 MiB", &["zstd"], segment(4 * MIB as u32), 4 * MIB),
    ];
    for (name, codings, coded, window) in lies {
        let end = explode(&Bomb { name, codings, coded, window }, Limits::requests(), 0);
        assert!(end.error.is_some_and(|error| error.is_truncated()), "{name}");
        assert!(end.peak <= window + 512 * KIB, "{name}: {}", end.peak);
    }
}

#[test]
fn thousands_of_empty_members_and_frames_are_many_short_calls() {
    let padding = [&b"\xff\x06\0\0sNaPpY"[..], &b"\xfe\0\0\0".repeat(500_000)].concat();
    let empty: [(&str, &'static [&'static str], Vec<u8>); 4] = [
        ("gzip members", &["gzip"], gzip(b"").repeat(50_000)),
        ("zstd frames", &["zstd"], zstd::bulk::compress(b"", 1).unwrap().repeat(50_000)),
        ("zstd skippable frames", &["zstd"], b"\x50\x2a\x4d\x18\0\0\0\0".repeat(200_000)),
        ("snappy padding", &["x-snappy-framed"], padding),
    ];
    for (name, codings, coded) in empty {
        let end = explode(&Bomb { name, codings, coded: coded.clone(), window: 0 }, Limits::requests(), 0);
        assert!(end.error.is_none() && end.plain == 0, "{name}");
        assert_eq!(end.received, coded.len(), "{name}");
        assert!(end.calls >= coded.len() / (32 * KIB), "{name}: {}", end.calls);
        assert!(end.peak <= 512 * KIB, "{name}: {}", end.peak);
        // Blown up by another coding they still end.
        let coded = zstd::bulk::compress(&coded.repeat(100), 1).unwrap();
        let outer: &'static [&'static str] = match codings[0] {
            "gzip" => &["gzip", "zstd"],
            "zstd" => &["zstd", "zstd"],
            _ => &["x-snappy-framed", "zstd"],
        };
        let end = explode(&Bomb { name, codings: outer, coded, window: 8 * MIB }, Limits::requests(), 0);
        assert!(end.error.is_some_and(|error| error.is_limit()), "{name}");
        assert!(end.peak <= 8 * MIB + ALLOWANCE, "{name}: {}", end.peak);
    }
}

#[test]
fn the_layers_hold_to_the_same_bounds() {
    let bomb = gzip_of_zeros(10 * GIB);
    let limit = MIB;
    let limits = Limits::requests().max_decoded(limit as u64).max_ratio(u64::MAX);
    let (held, _) = (HELD.get(), PEAK.set(HELD.get()));

    let client = DecompressionLayer::new().limits(limits).pool(DecoderPool::new());
    let answer = Answer(Bytes::from(bomb.clone()));
    let response = ready(client.layer(answer).call(Request::new(())));
    let (plain, error) = read(response.into_body());
    assert_eq!(plain, limit);
    assert!(error.unwrap().downcast_ref::<Error>().unwrap().is_limit());

    let server = RequestDecompressionLayer::new().limits(limits).pool(DecoderPool::new());
    let request =
        Request::builder().header(CONTENT_ENCODING, "gzip").body(Full::new(Bytes::from(bomb))).unwrap();
    let response = ready(server.layer(Reader).call(request));
    assert_eq!(response.status(), 413);
    // The message itself is there twice, and in frames it is not copied.
    let message = 3 * 11 * MIB;
    assert!(PEAK.get() - held <= (message + limit + ALLOWANCE) as i64, "{}", PEAK.get() - held);
}

/// Answers with a coded body.
struct Answer(Bytes);

impl Service<Request<()>> for Answer {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        let body = Full::new(std::mem::take(&mut self.0));
        std::future::ready(Ok(Response::builder().header(CONTENT_ENCODING, "gzip").body(body).unwrap()))
    }
}

/// Reads the request's body and fails as that does.
struct Reader;

impl<B> Service<Request<B>> for Reader
where
    B: Body<Data = Bytes, Error = tower_compress::BoxError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = tower_compress::BoxError;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        std::future::ready(match read(request.into_body()).1 {
            Some(error) => Err(error),
            None => Ok(Response::default()),
        })
    }
}

fn ready<T, E: std::fmt::Debug>(future: impl Future<Output = Result<T, E>>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result.unwrap(),
        Poll::Pending => panic!("not ready"),
    }
}

/// Reads a body to its end, keeping nothing.
fn read<B>(body: B) -> (usize, Option<B::Error>)
where
    B: Body<Data = Bytes>,
{
    let mut body: Pin<&mut B> = pin!(body);
    let mut plain = 0;
    loop {
        match body.as_mut().poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(Ok(frame))) => plain += frame.data_ref().map_or(0, Bytes::len),
            Poll::Ready(Some(Err(error))) => return (plain, Some(error)),
            Poll::Ready(None) => return (plain, None),
            Poll::Pending => {}
        }
    }
}

/// Decodes the bomb as a body does, gathering what comes out in a buffer of `gathered` bytes.
fn explode(bomb: &Bomb, limits: Limits, gathered: usize) -> End {
    let codecs = bomb.codings.iter().map(|name| by_name(name).unwrap());
    let pool = DecoderPool::new();
    let held = HELD.get();
    PEAK.set(held);
    let mut gathered = Vec::with_capacity(gathered);
    let mut decompressor = Decompressor::new(codecs, limits, &pool).unwrap();
    let mut end = End { error: None, plain: 0, received: 0, calls: 0, peak: 0 };
    // What zstd allocates goes past Rust's allocator, so it is asked.
    let (mut foreign, zstd) = (0, bomb.codings.contains(&"zstd"));
    let mut output = Vec::with_capacity(ROOM);
    for mut chunk in bomb.coded.chunks(64 * KIB) {
        let mut more = true;
        while more && end.error.is_none() {
            output.clear();
            match decompressor.decode(chunk, ROOM, &mut output) {
                Ok(progress) => {
                    chunk = &chunk[progress.taken..];
                    more = progress.more;
                }
                Err(error) => end.error = Some(error),
            }
            end.calls += 1;
            end.plain += output.len();
            foreign = foreign.max(if zstd { decompressor.memory() } else { 0 });
            if gathered.capacity() > 0 {
                gathered.extend_from_slice(&output);
            }
        }
    }
    end.received = usize::try_from(decompressor.received()).unwrap();
    if end.error.is_none() {
        end.error = decompressor.finish().err();
    }
    end.peak = usize::try_from(PEAK.get() - held).unwrap() + foreign;
    end
}

fn bombs() -> Vec<Bomb> {
    let zeros = vec![0; 256 * MIB];
    let gzip_10_gb = gzip_of_zeros(10 * GIB);
    let twice = gzip(&gzip_10_gb);
    let three_times = gzip(&twice);
    let mut brotli = Vec::new();
    brotli::CompressorWriter::new(&mut brotli, 64 * KIB, 1, 22).write_all(&zeros).unwrap();
    let mut framed = Vec::new();
    snap::write::FrameEncoder::new(&mut framed).write_all(&zeros[..80 * MIB]).unwrap();
    let raw = snap::raw::Encoder::new().compress_vec(&zeros[..80 * MIB]).unwrap();
    let bomb = |name, codings, coded, window| Bomb { name, codings, coded, window };
    vec![
        bomb("gzip, 10 GiB", &["gzip"][..], gzip_10_gb, 32 * KIB),
        bomb("gzip in gzip, 10 GiB", &["gzip", "gzip"], twice, 64 * KIB),
        bomb("gzip in gzip in gzip", &["gzip", "gzip", "gzip"], three_times, 96 * KIB),
        bomb("deflate", &["deflate"], zlib(&zeros), 32 * KIB),
        bomb("zstd, 10 GiB, 8 MiB window", &["zstd"], zstd_of_zeros(10 * GIB), 8 * MIB),
        // Its ring buffer grows by moving, so that for a moment half a window more is there. Only counted, not
        // resident: of the new one no more is touched than is copied.
        bomb("br", &["br"], brotli, 4 * MIB + 2 * MIB),
        bomb("x-snappy-framed", &["x-snappy-framed"], framed, 0),
        // One block that says what it holds is refused at once.
        bomb("snappy", &["snappy"], raw.clone(), 0),
        bomb("snappy in zstd", &["snappy", "zstd"], zstd::bulk::compress(&raw, 1).unwrap(), 8 * MIB),
    ]
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A gzip member of so many zeros, but for its trailer: a fully flushed piece can be repeated, and nobody gets as
/// far as the end.
fn gzip_of_zeros(length: usize) -> Vec<u8> {
    const PIECE: usize = 16 * MIB;
    let mut piece = Vec::with_capacity(64 * KIB);
    let mut encoder = flate2::Compress::new(flate2::Compression::best(), false);
    encoder.compress_vec(&vec![0; PIECE], &mut piece, flate2::FlushCompress::Full).unwrap();
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    [&head[..], &piece.repeat(length / PIECE)].concat()
}

/// A zstd frame with a window of 8 MiB, of blocks that each repeat one byte 128 KiB times (RFC 8878 section
/// 3.1.1.2).
fn zstd_of_zeros(length: usize) -> Vec<u8> {
    const BLOCK: usize = 128 * KIB;
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3];
    let block = [&((BLOCK as u32) << 3 | 1 << 1).to_le_bytes()[..3], &[0]].concat();
    [&head[..], &block.repeat(length / BLOCK)].concat()
}
