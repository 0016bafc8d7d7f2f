//! What a layer learns of its recent bodies, as far as it shows from outside.

use crate::support::corpus::json;
use crate::support::decode::decode;
use crate::support::serve::{answer, answer_to, coding, receive};
use crate::support::{Script, Step};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Response, Version};
use http_body_util::{BodyExt, Full};
use tower_compress::codec::{CompressionLevel, Setup, by_name};
use tower_compress::engine::{Compressor, Observed, Place, Sizing};
use tower_compress::{CompressionLayer, EncoderPool, Reason};

/// Messages after which lengths count.
const ENOUGH: usize = 8;

fn layer() -> CompressionLayer {
    CompressionLayer::new().pool(EncoderPool::new())
}

fn typed<B>(content_type: &str, body: B) -> Response<B> {
    Response::builder().header(CONTENT_TYPE, content_type).body(body).unwrap()
}

fn has_length<B>(response: &Response<B>) -> bool {
    response.headers().contains_key(CONTENT_LENGTH)
}

/// Bodies of unknown size that all go on beyond the look-ahead.
async fn long_bodies(layer: &CompressionLayer, count: usize) {
    bodies_of(layer, 100_000, count).await;
}

async fn bodies_of(layer: &CompressionLayer, length: usize, count: usize) {
    let input = json(length);
    for _ in 0..count {
        let response = answer(layer, "gzip", typed("application/json", Script::cut(&input, 100))).await;
        assert!(!has_length(&response));
        assert!(receive(response.into_body()).await.decoded("gzip") == input);
    }
}

#[tokio::test]
async fn where_no_body_ends_within_the_look_ahead_it_is_not_looked_for() {
    let layer = layer();
    let input = json(40_000);
    let list = || typed("application/json", Script::cut(&input, 100));
    long_bodies(&layer, ENOUGH - 1).await;
    assert!(has_length(&answer(&layer, "gzip", list()).await), "not yet");

    // One such body is remembered for a while.
    long_bodies(&layer, ENOUGH / 2).await;
    assert!(has_length(&answer(&layer, "gzip", list()).await), "some ended");

    long_bodies(&layer, 4 * ENOUGH).await;
    let response = answer(&layer, "gzip", list()).await;
    assert!(!has_length(&response), "the first byte did not wait for the end");
    assert_eq!(receive(response.into_body()).await.decoded("gzip"), input);
    assert!(has_length(&answer(&layer, "gzip", list()).await), "one that ended is enough");
}

#[tokio::test]
async fn what_is_known_goes_before_what_was_learned() {
    let layer = layer();
    let input = json(40_000);
    long_bodies(&layer, 4 * ENOUGH).await;
    let body = Full::new(Bytes::from(input.clone()));
    let response = answer(&layer, "gzip", typed("application/json", body)).await;
    assert!(has_length(&response), "its size hint says that it ends");
    assert_eq!(receive(response.into_body()).await.decoded("gzip"), input);
}

#[tokio::test]
async fn where_only_a_whole_body_can_be_coded_its_end_is_always_looked_for() {
    // Raw snappy's batch is as large as the usual look-ahead.
    let further = layer().snappy(true).look_ahead(256 * 1024);
    let cases = [
        (layer(), 100_000, 40_000, Version::HTTP_10, "gzip"),
        (further, 300_000, 100_000, Version::HTTP_11, "snappy"),
    ];
    for (layer, long, length, version, accept) in cases {
        bodies_of(&layer, long, 4 * ENOUGH).await;
        let input = json(length);
        let list = typed("application/json", Script::cut(&input, 100));
        let response = answer_to(&layer, version, accept, list).await;
        assert_eq!((coding(&response), has_length(&response)), (accept, true), "{version:?}");
        assert_eq!(receive(response.into_body()).await.decoded(accept), input);
    }
}

#[tokio::test]
async fn the_minimum_size_holds_whatever_was_learned() {
    let layer = layer();
    long_bodies(&layer, 4 * ENOUGH).await;
    for size in [1, 500, 1023] {
        let input = json(size);
        let response = answer(&layer, "gzip", typed("application/json", Script::cut(&input, 7))).await;
        assert_eq!((coding(&response), has_length(&response)), ("identity", true), "{size}");
    }
    assert_eq!(layer.stats().passed(Reason::BelowMinimum), 3);
}

#[tokio::test]
async fn types_do_not_learn_from_one_another() {
    let layer = layer();
    long_bodies(&layer, 4 * ENOUGH).await;
    let page = Script::cut(&json(40_000), 100);
    assert!(has_length(&answer(&layer, "gzip", typed("text/html", page)).await));
}

#[tokio::test]
async fn a_layer_can_be_told_not_to_learn() {
    let layer = layer().sizing(Sizing::fixed(8192));
    long_bodies(&layer, 4 * ENOUGH).await;
    let list = Script::cut(&json(40_000), 100);
    assert!(has_length(&answer(&layer, "gzip", typed("application/json", list)).await));
}

/// The window that a zstd frame asks for (RFC 8878 section 3.1.1.1.2), if it says one.
fn window(frame: &[u8]) -> Option<u64> {
    const SINGLE_SEGMENT: u8 = 1 << 5;
    let (descriptor, byte) = (frame[4], frame[5]);
    (descriptor & SINGLE_SEGMENT == 0).then(|| {
        let base = 1 << (10 + (byte >> 3));
        base + base / 8 * u64::from(byte & 7)
    })
}

/// A stream: pending at once, so that there is nothing to look ahead at; and a pause before the end.
fn stream(length: usize) -> Response<Script> {
    let pieces = json(length).chunks(500).map(Step::data).collect::<Vec<_>>();
    let (first, rest) = pieces.split_first().unwrap();
    let pause = vec![Step::Yield; 4];
    let steps = [&pause[..], std::slice::from_ref(first), &pause, rest].concat();
    typed("text/plain", Script::new(steps))
}

#[tokio::test]
async fn short_streams_come_to_hold_a_small_window_and_long_ones_still_decode() {
    let layer = layer();
    for message in 0..2 * ENOUGH {
        let received = receive(answer(&layer, "zstd", stream(8000)).await.into_body()).await;
        let expected = if message < ENOUGH { 128 << 10 } else { 16 << 10 };
        assert_eq!(window(&received.bytes()), Some(expected), "{message}");
    }
    let received = receive(answer(&layer, "zstd", stream(300_000)).await.into_body()).await;
    assert_eq!(window(&received.bytes()), Some(16 << 10), "nobody could know");
    assert!(received.decoded("zstd") == json(300_000));
    let received = receive(answer(&layer, "zstd", stream(8000)).await.into_body()).await;
    assert_eq!(window(&received.bytes()), Some(128 << 10), "one long stream is enough");
}

#[tokio::test]
async fn whole_bodies_of_a_route_share_a_context() {
    let learned = layer();
    let sizes = [10_000, 30_000, 14_000, 60_000];
    for size in sizes.into_iter().cycle().take(2 * ENOUGH) {
        let list = Script::cut(&json(size), 100);
        receive(answer(&learned, "zstd", typed("application/json", list)).await.into_body()).await;
    }
    for (layer, contexts) in [(learned, 1), (layer(), 2)] {
        let pool = EncoderPool::new();
        let layer = layer.pool(pool.clone());
        for size in sizes {
            let list = Script::cut(&json(size), 100);
            let response = answer(&layer, "zstd", typed("application/json", list)).await;
            assert!(has_length(&response));
            assert!(receive(response.into_body()).await.decoded("zstd") == json(size));
        }
        assert_eq!(pool.stats().idle, contexts);
    }
}

#[test]
fn written_messages_of_a_place_share_a_context() {
    let (zstd, sizing, place) = (by_name("zstd").unwrap(), Sizing::new(), Place::of_route(b"/orders"));
    let sizes = [10_000, 30_000, 14_000, 60_000];
    let write = |pool: &EncoderPool, sizing: &Sizing, size| {
        let mut compressor = Compressor::new(pool, zstd, CompressionLevel::Default, None);
        compressor.learn(sizing, sizing.expect(place));
        let message = json(size);
        let mut rest = &message[..];
        while !rest.is_empty() {
            rest = &rest[compressor.write(&rest[..rest.len().min(100)]).unwrap()..];
        }
        while !compressor.finish().unwrap() {}
        assert!(decode("zstd", &compressor.take_output()).unwrap() == message);
    };
    let pool = EncoderPool::new();
    sizes.into_iter().cycle().take(2 * ENOUGH).for_each(|size| write(&pool, &sizing, size));
    for (sizing, contexts) in [(sizing, 1), (Sizing::new(), 2)] {
        let pool = EncoderPool::new();
        sizes.into_iter().for_each(|size| write(&pool, &sizing, size));
        assert_eq!(pool.stats().idle, contexts);
    }
}

#[tokio::test]
async fn hostile_sizes_make_nobody_hold_more_than_the_look_ahead() {
    let sizing = Sizing::new();
    let layer = layer().sizing(sizing.clone());
    let paths = ["/", "/a", "/7"];
    for (round, size) in [0, 1, 70_000, 300_000].into_iter().cycle().take(40).enumerate() {
        let body = Script::cut(&json(size), 1 + round % 3 * 5000);
        let received =
            receive(answer(&layer, "gzip", typed("application/json", body)).await.into_body()).await;
        assert!(size < 1024 || received.decoded("gzip") == json(size));
    }
    // Whatever is recorded, by this layer or by who else shares the record.
    for path in paths {
        let place = Place::of_route(path.as_bytes()).of_type(b"application/json");
        sizing.record(
            place,
            Observed { gathered: usize::MAX, output: Some(usize::MAX), length: Some(u64::MAX) },
        );
        let expected = sizing.expect(place);
        assert!(expected.gathered() <= 64 * 1024 && expected.output() <= 64 * 1024);
    }
}

#[tokio::test]
async fn what_a_head_says_goes_before_what_was_learned() {
    let layer = layer();
    long_bodies(&layer, ENOUGH).await;
    let body = || typed("application/json", Script::cut(&json(40_000), 100));
    assert!(!has_length(&answer(&layer, "gzip", body()).await));
    // Of a length that is said, the end is looked for, though bodies of this route all went on.
    let mut response = body();
    response.headers_mut().insert(CONTENT_LENGTH, 40_000.into());
    assert!(has_length(&answer(&layer, "gzip", response).await));
}

#[tokio::test]
async fn bodies_that_know_their_length_share_a_context_too() {
    let pool = EncoderPool::new();
    let learned = layer();
    let sizes = [10_000, 30_000, 14_000, 60_000];
    let answer = async |layer: &CompressionLayer, size| {
        let body = Full::<Bytes>::from(json(size));
        let response = answer(layer, "zstd", typed("application/json", body)).await;
        assert!(receive(response.into_body()).await.decoded("zstd") == json(size));
    };
    for size in sizes.into_iter().cycle().take(2 * ENOUGH) {
        answer(&learned, size).await;
    }
    let learned = learned.pool(pool.clone());
    for size in sizes {
        answer(&learned, size).await;
    }
    assert_eq!(pool.stats().idle, 1);
}

#[tokio::test]
async fn one_long_body_does_not_move_small_ones_to_its_large_context() {
    let pool = EncoderPool::new();
    let layer = CompressionLayer::new().pool(pool.clone()).look_ahead(1 << 20);
    let sizes = [2000, 300_000].into_iter().cycle().take(2 * ENOUGH);
    for size in sizes.chain([2000; 20]) {
        let body = Script::cut(&json(size), 1000);
        let response = answer(&layer, "zstd", typed("application/json", body)).await;
        assert!(receive(response.into_body()).await.decoded("zstd") == json(size));
    }
    let stats = pool.stats();
    assert_eq!((stats.idle, stats.transient), (2, 0), "{stats:?}");
}

#[tokio::test]
async fn streams_that_are_given_up_teach_that_they_were_long() {
    let layer = layer();
    for _ in 0..2 * ENOUGH {
        receive(answer(&layer, "zstd", stream(8000)).await.into_body()).await;
    }
    let mut given_up = Box::pin(answer(&layer, "zstd", stream(1_000_000)).await.into_body());
    for _ in 0..4 {
        given_up.frame().await.unwrap().unwrap();
    }
    drop(given_up);
    let received = receive(answer(&layer, "zstd", stream(8000)).await.into_body()).await;
    assert_eq!(window(&received.bytes()), Some(128 << 10));
}

#[tokio::test]
async fn a_stream_of_known_size_needs_no_more_memory_than_one_of_unknown_size() {
    let zstd = by_name("zstd").unwrap();
    let level = CompressionLevel::Precise(19);
    let of = |size| zstd.memory(Setup { level: 19, size_class: zstd.size_class(size) });
    let pool = EncoderPool::with_limit(2 * of(None));
    assert!(of(Some(300_000)) > 2 * of(None));
    let layer = CompressionLayer::new().pool(pool).quality(level);
    let response = answer(&layer, "zstd", typed("text/plain", Full::<Bytes>::from(json(300_000)))).await;
    assert_eq!(coding(&response), "zstd");
    assert!(receive(response.into_body()).await.decoded("zstd") == json(300_000));
}

#[tokio::test]
async fn known_lengths_say_nothing_of_bodies_that_know_none() {
    let layer = layer();
    for _ in 0..4 * ENOUGH {
        let file = Full::<Bytes>::from(json(100_000));
        receive(answer(&layer, "gzip", typed("application/json", file)).await.into_body()).await;
    }
    let list = Script::cut(&json(20_000), 100);
    assert!(has_length(&answer(&layer, "gzip", typed("application/json", list)).await));
}
