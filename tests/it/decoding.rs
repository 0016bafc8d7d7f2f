//! Bodies that are decoded: what comes out, when, and how they end. Both directions have the same body.

use crate::support::corpus::json;
use crate::support::encode::{encode, stack};
use crate::support::serve::receive;
use crate::support::{Script, Step};
use http::header::{CONTENT_ENCODING, HeaderMap};
use http::{Request, Response};
use http_body::Body;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tower::{Layer, ServiceExt};
use tower_compress::codec::CODECS;
use tower_compress::{DecompressionBody, DecompressionLayer, Error, Limits};

/// A layer that decodes everything.
pub(crate) fn layer() -> DecompressionLayer {
    DecompressionLayer::new().br(true).snappy(true).snappy_framed(true)
}

/// The body of a response with this `Content-Encoding`, through a layer.
pub(crate) async fn decode_with<B: Body + 'static>(
    layer: &DecompressionLayer,
    coding: &str,
    body: B,
) -> DecompressionBody<B> {
    let mut body = Some(body);
    let service = layer.layer(tower::service_fn(move |_: Request<()>| {
        let response = Response::builder().header(CONTENT_ENCODING, coding).body(body.take().unwrap());
        async move { Ok::<_, Infallible>(response.unwrap()) }
    }));
    service.oneshot(Request::new(())).await.unwrap().into_body()
}

async fn decode<B: Body + 'static>(coding: &str, body: B) -> DecompressionBody<B> {
    decode_with(&layer(), coding, body).await
}

fn kind(error: &tower_compress::BoxError) -> &Error {
    error.downcast_ref().unwrap_or_else(|| panic!("{error:?}"))
}

#[tokio::test]
async fn whatever_the_frames_the_bytes_are_the_same() {
    let plain = json(100_000);
    for codec in CODECS {
        let coded = encode(codec.name(), &plain);
        for size in [1, 7, 256, 4096, coded.len()] {
            let mut steps = Vec::new();
            for piece in coded.chunks(size) {
                steps.extend([Step::data(piece), Step::data("")]);
                if piece.len() > 1 {
                    steps.push(Step::Yield);
                }
            }
            let received = receive(decode(codec.name(), Script::new(steps)).await).await;
            assert!(received.error.is_none(), "{codec:?} {size}: {:?}", received.error);
            assert!(received.bytes() == plain, "{codec:?} {size}");
            assert!(received.frames.iter().all(|frame| (1..=64 * 1024).contains(&frame.len())));
        }
    }
}

#[tokio::test]
async fn tiny_frames_that_are_ready_come_out_as_few() {
    let plain = json(500_000);
    for codec in CODECS {
        let coded = encode(codec.name(), &plain);
        let received = receive(decode(codec.name(), Script::cut(&coded, 64)).await).await;
        assert!(received.bytes() == plain);
        assert!(received.frames.len() <= plain.len() / 8192, "{codec:?}: {}", received.frames.len());
    }
}

#[tokio::test]
async fn what_can_be_decoded_comes_before_the_next_frame() {
    // Flushed by the foreign encoders, through one coding and through two; in one frame, and in tiny ones, which are
    // joined.
    let cases: [&[&str]; 6] =
        [&["gzip"], &["deflate"], &["zstd"], &["br"], &["x-snappy-framed"], &["gzip", "zstd"]];
    for codings in cases {
        let coded = flushed(codings, b"an event\n\n");
        for frame in [1, 7, coded.len()] {
            comes_before_the_next_frame(codings, coded.chunks(frame), b"an event\n\n").await;
        }
    }
    // A raw block of one literal: what there is of it.
    let plain: Vec<u8> = (0..200).collect();
    let block = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
    assert_eq!(block[4..], plain[..]);
    for frame in [1, 7, 104] {
        comes_before_the_next_frame(&["snappy"], block[..104].chunks(frame), &plain[..100]).await;
    }
}

/// Holds a body that stalls after these frames to giving out `plain` at once, and then nothing.
async fn comes_before_the_next_frame(codings: &[&str], frames: std::slice::Chunks<'_, u8>, plain: &[u8]) {
    let steps = frames.map(Step::data).chain([Step::Stall]);
    let mut body = pin!(decode(&codings.join(", "), Script::new(steps)).await);
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut cx) else {
        panic!("{codings:?}: held back");
    };
    assert_eq!(frame.into_data().unwrap(), plain, "{codings:?}");
    assert!(body.as_mut().poll_frame(&mut cx).is_pending() && !body.is_end_stream());
}

/// A message of these codings that has only begun, flushed.
fn flushed(codings: &[&str], plain: &[u8]) -> Vec<u8> {
    use std::io::Write;
    codings.iter().fold(plain.to_vec(), |plain, coding| {
        let level = flate2::Compression::fast();
        macro_rules! flush {
            ($encoder:expr, $get:ident) => {{
                let mut encoder = $encoder;
                encoder.write_all(&plain).unwrap();
                encoder.flush().unwrap();
                encoder.$get().clone()
            }};
        }
        match *coding {
            "gzip" => flush!(flate2::write::GzEncoder::new(Vec::new(), level), get_ref),
            "deflate" => flush!(flate2::write::ZlibEncoder::new(Vec::new(), level), get_ref),
            "zstd" => flush!(zstd::stream::Encoder::new(Vec::new(), 1).unwrap(), get_ref),
            "x-snappy-framed" => flush!(snap::write::FrameEncoder::new(Vec::new()), get_ref),
            _ => flush!(brotli::CompressorWriter::new(Vec::new(), 4096, 1, 22), get_ref),
        }
    })
}

#[tokio::test]
async fn the_last_frame_is_the_end_and_trailers_come_after_it() {
    let plain = json(5000);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    trailers.insert("repr-digest", "sha-256=:a:".parse().unwrap());
    for codec in CODECS {
        let coded = encode(codec.name(), &plain);
        let mut body = pin!(decode(codec.name(), Script::cut(&coded, 999)).await);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(!body.is_end_stream());
        assert_eq!(body.size_hint().exact(), None);
        let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut cx) else { panic!() };
        assert!(frame.into_data().unwrap() == plain);
        assert!(body.is_end_stream(), "{codec:?}");
        assert_eq!(body.received(), Some(coded.len() as u64));
        assert!(matches!(body.as_mut().poll_frame(&mut cx), Poll::Ready(None)));

        let steps = [Step::data(coded), Step::Yield, Step::Trailers(trailers.clone())];
        let received = receive(decode(codec.name(), Script::new(steps)).await).await;
        assert!(received.bytes() == plain);
        let trailers = received.trailers.unwrap();
        assert_eq!(trailers.len(), 1);
        assert_eq!(trailers["grpc-status"], "0");
    }
}

#[tokio::test]
async fn an_empty_body_is_empty_whatever_its_coding() {
    let mut trailers = HeaderMap::new();
    trailers.insert("x", "y".parse().unwrap());
    for codec in CODECS {
        for steps in [vec![], vec![Step::data(""), Step::data(""), Step::Yield]] {
            let received = receive(decode(codec.name(), Script::new(steps)).await).await;
            assert!(received.frames.is_empty() && received.error.is_none());
        }
        let received =
            receive(decode(codec.name(), Script::new([Step::Trailers(trailers.clone())])).await).await;
        assert!(received.frames.is_empty() && received.trailers.is_some());
        let body = decode(codec.name(), http_body_util::Empty::<bytes::Bytes>::new()).await;
        assert!(body.is_end_stream());
        assert_eq!(body.size_hint().exact(), Some(0));
    }
}

#[tokio::test]
async fn a_cut_is_an_error_wherever_it_is() {
    let plain = json(300);
    for codec in CODECS {
        let coded = encode(codec.name(), &plain);
        for cut in 1..coded.len() {
            // Between the identifier and the first chunk, and where a chunk ends, the format does not tell.
            if codec.name() == "x-snappy-framed" && cut == 10 {
                continue;
            }
            let received = receive(decode(codec.name(), Script::cut(&coded[..cut], 50)).await).await;
            assert!(plain.starts_with(&received.bytes()));
            assert!(kind(&received.error.unwrap()).is_truncated(), "{codec:?} at {cut}");
        }
    }
}

#[tokio::test]
async fn garbage_is_an_error_and_what_came_before_it_is_not_lost() {
    let plain = json(300);
    for codec in CODECS {
        let coded = [encode(codec.name(), &plain), b"garbage".to_vec()].concat();
        for size in [1, 10_000] {
            let received = receive(decode(codec.name(), Script::cut(&coded, size)).await).await;
            assert!(kind(received.error.as_ref().unwrap()).is_malformed(), "{codec:?} {size}");
            assert_eq!(received.bytes(), plain, "{codec:?} {size}");
        }
    }
}

#[tokio::test]
async fn the_inner_bodys_error_passes_unchanged() {
    let coded = encode("gzip", &json(30_000));
    let steps = [Step::data(&coded[..1000]), Step::Error("db")];
    let received = receive(decode("gzip", Script::new(steps)).await).await;
    assert!(!received.frames.is_empty());
    assert_eq!(received.error.unwrap().to_string(), "db");
}

#[tokio::test]
async fn members_and_frames_one_after_another() {
    let skippable = |size: usize| {
        [&b"\x53\x2a\x4d\x18"[..], &u32::try_from(size).unwrap().to_le_bytes(), &vec![7; size]].concat()
    };
    let members: Vec<_> =
        ["foo", "bar", "", "baz"].iter().map(|part| encode("gzip", part.as_bytes())).collect();
    let frames = [
        encode("zstd", b"foo"),
        encode("zstd", b""),
        skippable(0),
        encode("zstd", b"bar"),
        skippable(5),
        skippable(70_000),
        encode("zstd", b"baz"),
    ];
    for (coding, parts) in [("gzip", &members[..]), ("zstd", &frames)] {
        let coded = parts.concat();
        for size in [1, 10, coded.len()] {
            let received = receive(decode(coding, Script::cut(&coded, size)).await).await;
            assert_eq!(received.bytes(), b"foobarbaz", "{coding} {size}");
        }
        // A pause exactly between two parts is none of the codec's business.
        let steps = parts.iter().flat_map(|part| [Step::data(part), Step::Yield]);
        let received = receive(decode(coding, Script::new(steps)).await).await;
        assert_eq!(received.bytes(), b"foobarbaz", "{coding}");
    }
    let received = receive(decode("zstd", Script::new([Step::data(skippable(9))])).await).await;
    assert!(received.frames.is_empty() && received.error.is_none());
}

#[tokio::test]
async fn g02_raw_deflate_where_zlib_was_expected() {
    use std::io::Write;
    let plain = json(5000);
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    raw.write_all(&plain).unwrap();
    let raw = raw.finish().unwrap();
    let zlib = encode("deflate", &plain);
    for size in [1, raw.len()] {
        for coded in [&raw, &zlib] {
            let received = receive(decode("deflate", Script::cut(coded, size)).await).await;
            assert!(received.error.is_none() && received.bytes() == plain);
        }
    }
    let mut wrong = zlib;
    *wrong.last_mut().unwrap() ^= 1;
    let received = receive(decode("deflate", Script::cut(&wrong, 100)).await).await;
    assert!(kind(&received.error.unwrap()).is_malformed());
}

#[tokio::test]
async fn g03_two_snappy_formats() {
    let plain = json(5000);
    let (raw, framed) = (encode("snappy", &plain), encode("x-snappy-framed", &plain));
    for (coding, coded, fits) in [
        ("snappy", &raw, true),
        ("snappy", &framed, false),
        ("x-snappy-framed", &framed, true),
        ("x-snappy-framed", &raw, false),
        ("snappy", &vec![0], true),
    ] {
        for size in [1, coded.len()] {
            let received = receive(decode(coding, Script::cut(coded, size)).await).await;
            match received.error {
                None if coded.len() == 1 => assert!(received.frames.is_empty()),
                None => assert!(fits && received.bytes() == plain, "{coding} {size}"),
                Some(error) => assert!(!fits && kind(&error).is_malformed(), "{coding} {size}"),
            }
        }
    }
}

#[tokio::test]
async fn h08_stacked_codings() {
    let plain = json(3000);
    let undone: [(&str, &[&str]); 8] = [
        ("gzip, zstd", &["gzip", "zstd"]),
        ("zstd, gzip", &["zstd", "gzip"]),
        ("gzip,gzip", &["gzip", "gzip"]),
        ("identity, gzip", &["gzip"]),
        ("x-gzip", &["gzip"]),
        ("GZIP", &["gzip"]),
        (" gzip ,, zstd ", &["gzip", "zstd"]),
        ("snappy, br, deflate", &["snappy", "br", "deflate"]),
    ];
    for (field, codings) in undone {
        let coded = stack(codings, &plain);
        let received = receive(decode(field, Script::cut(&coded, 100)).await).await;
        assert!(received.error.is_none() && received.bytes() == plain, "{field}");
    }
}

#[tokio::test]
async fn exactly_the_limit_and_one_byte_more() {
    let plain = json(100_000);
    for codec in CODECS {
        let coded = encode(codec.name(), &plain);
        for (limit, fits) in [(100_000, true), (99_999, false)] {
            let layer = layer().limits(Limits::responses().max_decoded(limit));
            let body = decode_with(&layer, codec.name(), Script::cut(&coded, 4096)).await;
            let received = receive(body).await;
            assert!(plain.starts_with(&received.bytes()));
            match received.error {
                None => assert!(fits && received.bytes() == plain),
                Some(error) => assert!(!fits && kind(&error).is_limit(), "{codec:?}"),
            }
        }
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn k07_what_decodes_to_nothing_yields() {
    // 64 KB of empty members and 10,000 empty frames would otherwise be one poll.
    let members = encode("gzip", b"").repeat(3000);
    let steps =
        [Step::data(&members)].into_iter().chain((0..10_000).map(|_| Step::data(""))).chain([Step::Stall]);
    let mut body = pin!(decode("gzip", Script::new(steps)).await);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let mut polls = 0;
    loop {
        let before = body.received().unwrap();
        assert!(body.as_mut().poll_frame(&mut cx).is_pending());
        assert!(body.received().unwrap() - before <= 2 * 16 * 1024);
        polls += 1;
        if wakes.0.load(Ordering::Relaxed) < polls {
            break;
        }
    }
    assert!(polls > 8, "{polls}");
}
