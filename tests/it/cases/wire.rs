//! G: the bytes that go out.

use crate::conformance::all_hold;
use crate::conformance::app::App;
use crate::conformance::case::{Case, get};
use crate::conformance::check::{Check, coded, field, identity, that};
use crate::conformance::exchange::{Answer, Protocol, connect};
use crate::conformance::layers::stack;
use crate::conformance::reply::{Reply, Step};
use crate::support::corpus::json;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tower_compress::codec::{Operation, Setup, Suspended, by_name};
use tower_compress::{CompressionLayer, CompressionLevel};

/// No dictionary, and a window that every receiver must cope with (RFC 9659 section 3).
fn readable_frame() -> Check {
    that("a window of at most 8 MiB and no dictionary", |answer| {
        let bytes = answer.bytes();
        let (window, _) = crate::conformance::frame_header(&bytes).expect("a frame");
        window <= 8 * 1024 * 1024 && bytes[4] & 3 == 0
    })
}

/// Small, and larger than any window; whole, and of unknown length. Item 90 has every level.
#[test]
fn g01_no_window_above_8_mib() {
    let long = Bytes::from(json(1000).repeat(20 * 1024));
    let case = |level: i32, reply: Reply| -> Case {
        get("zstd").over(&[Protocol::H11]).level(level).reply(reply).expect([coded("zstd"), readable_frame()])
    };
    let unknown = |body: &Bytes| Reply::of([Step::Data(body.clone())]);
    let short = Bytes::from(json(91_000));
    let mut cases: Vec<Case> = [-7, 1, 3, 19, 22]
        .into_iter()
        .flat_map(|level| [case(level, Reply::text(short.clone())), case(level, unknown(&short))])
        .collect();
    for level in [3, 22] {
        cases.extend([case(level, Reply::text(long.slice(..9 << 20))), case(level, unknown(&long))]);
    }
    cases.push(case(3, Reply::of([Step::Yield])).min_size(0));
    all_hold(cases);
}

#[test]
fn g02_deflate_is_the_zlib_format() {
    let header = || {
        that("a zlib header", |answer| {
            let bytes = answer.bytes();
            bytes[0] & 0x0f == 8 && u16::from_be_bytes([bytes[0], bytes[1]]) % 31 == 0
        })
    };
    let case = |reply: Reply| {
        get("deflate").offering(&["deflate"]).min_size(0).reply(reply).expect([coded("deflate"), header()])
    };
    all_hold([
        case(Reply::text(json(5000))),
        case(Reply::text(json(200_000))),
        case(Reply::of([Step::Data(json(10).into()), Step::Until(10), Step::Data(json(10).into())])),
        case(Reply::of([Step::Yield])),
    ]);
}

#[test]
fn g03_raw_snappy_is_for_bodies_that_are_all_there() {
    let stream = || Reply::of([Step::Data(json(5000).into()), Step::Yield, Step::Data(json(5000).into())]);
    let offered = &["gzip", "snappy", "x-snappy-framed"];
    let framed =
        || that("the stream identifier", |answer| answer.bytes().starts_with(b"\xff\x06\x00\x00sNaPpY"));
    let of = |accept: &str, reply: Reply| get(accept).offering(offered).reply(reply);
    all_hold([
        of("snappy", Reply::text(json(5000))).expect([coded("snappy")]),
        of("snappy", Reply::cut(&json(5000), 100)).expect([coded("snappy")]),
        of("snappy", stream()).expect([identity()]),
        of("snappy", Reply::text(json(200_000))).expect([identity()]),
        of("snappy, gzip;q=0.1", stream()).expect([coded("gzip")]),
        of("x-snappy-framed", stream()).expect([coded("x-snappy-framed"), framed()]),
    ]);
}

/// Twenty equal events, each decodable before the next: one member, and an event that repeats costs little.
#[test]
fn g05_a_flush_does_not_close_the_member() {
    let event = b"data: {\"id\":4711,\"name\":\"an event that repeats itself\",\"done\":false}\n\n";
    let mut steps = Vec::new();
    for number in 1..=20 {
        steps.extend([Step::Data(Bytes::from_static(event)), Step::Until(number * event.len())]);
    }
    let reply = Reply::of(steps).content_type("text/event-stream");
    for coding in ["gzip", "zstd"] {
        // Frames as HTTP/2 brought them: the last event's is the last but the coding's end.
        let cheap = that("a last event of fewer than 40 bytes", |answer: &Answer| {
            answer.frames.len() >= 20 && answer.frames[19].len() < 40
        });
        let case = get(coding).over(&[Protocol::H2]).reply(reply.clone());
        all_hold([case.expect([coded(coding), cheap])]);
    }
}

#[test]
fn g06_no_codec_is_slow_by_default() {
    for (name, levels) in [("br", 3..=6), ("gzip", 1..=6), ("deflate", 1..=6), ("zstd", 1..=4)] {
        let level = by_name(name).unwrap().level(CompressionLevel::Default);
        assert!(levels.contains(&level), "{name} {level}");
    }
    // brotli is not offered unless it is asked for.
    all_hold([get("gzip, deflate, br")
        .ours(|_, app| stack(CompressionLayer::new(), app))
        .expect([coded("gzip"), field("content-encoding", &["gzip"])])]);
}

/// A padding of 500 bytes is 500 bytes more on the wire, also the third time on one connection, when HPACK would
/// have a field in its table.
#[tokio::test]
async fn i07_padding_in_the_head_shows_on_the_wire_of_http_2() {
    async fn third(padding: u16) -> usize {
        let layer = CompressionLayer::new().padding(padding..=padding);
        let app = App::new(Reply::text(json(5000)));
        let (stream, wire) = connect(stack(layer, app)).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut before = 0;
        for _ in 0..3 {
            before = wire.lock().unwrap().len();
            let request = Request::get("http://localhost/").header("accept-encoding", "zstd");
            let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
            assert_eq!(response.headers()["content-encoding"], "zstd");
            response.into_body().collect().await.unwrap();
        }
        wire.lock().unwrap().len() - before
    }
    let (plain, padded) = (third(0).await, third(500).await);
    assert!(padded >= plain + 500, "{padded} bytes with padding, {plain} without");
}

/// A member of more than 4 GiB says its length modulo 2^32 (RFC 1952 section 2.3.1). The stream is taken up
/// where it is about to pass that.
#[test]
fn item_087_the_size_of_a_member_wraps_at_4_gib() {
    let gzip = by_name("gzip").unwrap();
    let mut encoder = gzip.encoder(Setup { level: 6, size_class: 0 }).unwrap();
    let sent = u64::from(u32::MAX) - 1;
    assert!(encoder.resume(Suspended { checksum: 0x1234_5678, length: sent, tail: b"tail".to_vec() }));
    let mut output = Vec::new();
    encoder.encode(b"hello", Operation::Finish, &mut output).unwrap();
    assert_eq!(output[output.len() - 4..], 3_u32.to_le_bytes());
}
