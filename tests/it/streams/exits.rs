//! A stream that is dropped in any state frees or returns all that it has.

use super::{ByHand, answered, layer, streaming};
use crate::support::corpus::{event, json};
use crate::support::counting::Counting;
use crate::support::decode::decode;
use crate::support::serve::{answer, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::codec::{Codec, CompressionLevel, Setup};
use tower_compress::{CompressionLayer, EncoderPool};

/// Nothing but idle contexts is left, and each has its full price on the pool's account.
fn all_is_back(pool: &EncoderPool, codec: &dyn Codec, contexts: usize) {
    let stats = pool.stats();
    let level = codec.level(CompressionLevel::Default);
    let (unknown, small) = (codec.size_class(None), codec.size_class(Some(5000)));
    let likely = codec.likely_class(5000);
    let fixed = codec.level_for_batch(level, 86);
    let whole = codec.level_for_whole(level, 986);
    let prices: Vec<_> =
        [(level, unknown), (level, small), (level, likely), (fixed, unknown), (whole, unknown)]
            .into_iter()
            .map(|(level, size_class)| codec.memory(Setup { level, size_class }))
            .collect();
    // All sums that so many contexts can have.
    let sums = (0..stats.idle).fold(vec![0], |sums, _| {
        sums.iter().flat_map(|sum| prices.iter().map(move |price| sum + price)).collect()
    });
    assert!(stats.idle <= contexts && stats.parked == 0, "{}: {stats:?}", codec.name());
    assert!(sums.contains(&stats.memory), "{}: {stats:?}", codec.name());
}

#[test]
fn in_any_state() {
    let stalled = |steps: Vec<Step>| steps.into_iter().chain([Step::Stall]).collect::<Vec<_>>();
    let tiny = || json(40_000).chunks(100).map(Step::data).collect::<Vec<_>>();
    let states: [(&str, Vec<Step>, usize); 8] = [
        ("never polled", stalled(vec![Step::data(event(0))]), 0),
        ("gathering", stalled(vec![Step::data(event(0))]), 1),
        ("yielding", stalled(vec![Step::data(event(0))]), 2),
        ("flushed, nobody came back", stalled(vec![Step::data(event(0))]), 3),
        // A flush of more than a batch takes several polls.
        ("flushing", stalled(tiny()), 3),
        ("waiting", stalled(vec![Step::data(event(0))]), 5),
        ("in the middle of a large frame", stalled(vec![Step::data(json(500_000))]), 2),
        ("with output that waits", stalled(vec![Step::data(json(500_000))]), 8),
    ];
    for codec in streaming() {
        let pool = EncoderPool::new();
        let layer = layer().pool(pool.clone());
        for (state, steps, polls) in &states {
            for _ in 0..3 {
                let response = answered(&layer, codec.name(), text(Script::new(steps.clone())));
                let mut body = ByHand::new(response.into_body());
                for _ in 0..*polls {
                    let _ = body.poll();
                }
                drop(body);
                all_is_back(&pool, codec, 2);
            }
            assert!(*polls > 0 || pool.stats().misses == 0, "{state} took a context");
        }
    }
}

#[test]
fn a_panic_of_the_inner_body_is_no_end() {
    // L01: framed snappy has no mark of its end, so that what is cut would pass for whole.
    for codec in streaming() {
        let steps = [Step::data(event(0)), Step::Yield, Step::Panic, Step::Stall];
        let response = answered(&layer(), codec.name(), text(Script::new(steps)));
        let mut body = ByHand::new(response.into_body());
        let poll = std::panic::AssertUnwindSafe(|| body.poll());
        assert!(std::panic::catch_unwind(poll).is_err());
        assert!(!body.body.is_end_stream() && body.poll().is_pending(), "{}", codec.name());
    }
}

#[test]
fn parked_with_and_without_a_context() {
    let gzip = Counting::new("gzip");
    let small = gzip.memory(Setup { level: gzip.level_for_batch(6, 86), size_class: 0 });
    let pool = EncoderPool::with_limit(2 * small);
    let layer = layer().pool(pool.clone()).codec(gzip);
    let mut bodies: Vec<_> = (0..6)
        .map(|number| {
            let script = Script::new([Step::data(event(number)), Step::Stall]);
            let mut body = ByHand::new(answered(&layer, "gzip", text(script)).into_body());
            body.data_within(3);
            body
        })
        .collect();
    // One has kept its context, and the others took turns on the second one.
    let held = || (pool.stats().parked, pool.stats().idle, pool.stats().memory);
    assert_eq!(held(), (5, 1, 2 * small));
    while held().1 == 1 {
        let parked = held().0;
        bodies.pop();
        // A body in between gives back either its place or its context.
        assert_eq!(held().0 + 2, parked + held().1);
    }
    assert!(!bodies.is_empty());
    drop(bodies);
    all_is_back(&pool, gzip, 2);
    assert_eq!(gzip.built(), 2);
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_nothing_to_the_next_one() {
    let left = [
        ("in the middle of a large frame", vec![Step::data(json(500_000)), Step::Stall]),
        ("gathering", vec![Step::data(json(70_000)), Step::data(json(70_000)), Step::Stall]),
        ("flushed", vec![Step::data(event(0)), Step::Stall]),
    ];
    let next = [
        vec![Step::data(json(5000))],
        vec![Step::data(event(1)), Step::Yield, Step::Yield, Step::data(json(90_000))],
    ];
    let levels = [CompressionLevel::Fastest, CompressionLevel::Default];
    for (codec, level) in streaming().flat_map(|codec| levels.map(|level| (codec, level))) {
        let layer = layer().quality(level);
        let ask = async |steps: &[Step]| {
            answer(&layer, codec.name(), text(Script::new(steps.to_vec()))).await.into_body()
        };
        for ((state, steps), polls) in left.iter().flat_map(|left| [1, 3].map(|polls| (left, polls))) {
            let mut gone = ByHand::new(ask(steps).await);
            for _ in 0..polls {
                let _ = gone.poll();
            }
            drop(gone);
            for steps in &next {
                let coded = ask(steps).await.collect().await.unwrap().to_bytes();
                let decoded = decode(codec.name(), &coded);
                assert!(decoded.is_ok(), "{} {level:?}, after one {state}: {decoded:?}", codec.name());
            }
        }
    }
}

#[tokio::test]
async fn ten_thousand_requests_that_end_in_every_way() {
    // K01: a fifth each complete, go away after the first byte, go away before the head, are dropped in a
    // pause, and ask for the head alone.
    for name in ["gzip", "zstd"] {
        let codec = Counting::new(name);
        let pool = EncoderPool::new();
        let layer = CompressionLayer::new().pool(pool.clone()).codec(codec);
        for number in 0..10_000 {
            let steps =
                [Step::data(event(number)), Step::Yield, Step::Yield, Step::Yield, Step::data(json(900))];
            match number % 5 {
                0 => {
                    let response = answer(&layer, name, text(Script::new(steps))).await;
                    let coded = response.into_body().collect().await.unwrap().to_bytes();
                    assert_eq!(decode(name, &coded).unwrap().len(), 986);
                }
                1 => {
                    let response = answer(&layer, name, text(Script::new(steps))).await;
                    ByHand::new(response.into_body()).data_within(3);
                }
                2 => drop(answer(&layer, name, text(Script::new(steps)))),
                3 => {
                    let steps = [Step::data(event(number)), Step::Stall];
                    let response = answer(&layer, name, text(Script::new(steps))).await;
                    let mut body = ByHand::new(response.into_body());
                    body.data_within(3);
                    assert!(body.poll().is_pending());
                }
                _ => head(&layer, name).await,
            }
        }
        all_is_back(&pool, codec, 3);
        assert!(codec.built() <= 3, "{}", codec.built());
    }
}

async fn head(layer: &CompressionLayer, accept: &str) {
    let service = ServiceBuilder::new().layer(layer).service(tower::service_fn(|_: Request<()>| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(json(5000)))))
    }));
    let request = Request::builder().method(Method::HEAD).header("accept-encoding", accept).body(()).unwrap();
    // A server does not read the body of an answer to HEAD.
    drop(service.oneshot(request).await.unwrap());
}

#[test]
fn what_a_context_was_set_up_for_is_what_it_serves() {
    // K03: two layers of different levels take turns on one pool that has room for one context.
    let zstd = Counting::new("zstd");
    let pool = EncoderPool::with_limit(zstd.memory(Setup { level: 19, size_class: 0 }));
    let layers = [CompressionLevel::Precise(1), CompressionLevel::Precise(19)]
        .map(|level| CompressionLayer::new().pool(pool.clone()).quality(level).codec(zstd));
    let whole = |layer: &CompressionLayer| {
        let response = answered(layer, "zstd", text(Full::new(Bytes::from(json(9000)))));
        ByHand::new(response.into_body()).data()
    };
    let fresh: Vec<_> = layers.iter().map(|layer| whole(&layer.clone().pool(EncoderPool::new()))).collect();
    assert_ne!(fresh[0], fresh[1]);
    for _ in 0..100 {
        for (layer, fresh) in layers.iter().zip(&fresh) {
            assert!(whole(layer) == *fresh);
            // A stream of unknown size in between: the next pledge must not meet its parameters.
            let stream = Script::new([Step::data(event(1)), Step::Stall]);
            let _ = ByHand::new(answered(layer, "zstd", text(stream)).into_body()).poll();
        }
    }
}

#[test]
fn a_thousand_idle_zstd_streams_hold_what_the_limit_says() {
    // K04.
    let pool = EncoderPool::new();
    let layer = CompressionLayer::new().pool(pool.clone());
    let bodies: Vec<_> = (0..1000)
        .map(|_| {
            let script = Script::new([Step::data(json(200)), Step::Stall]);
            let mut body = ByHand::new(answered(&layer, "zstd, gzip;q=0.5", text(script)).into_body());
            body.data_within(3);
            assert!(pool.stats().memory <= EncoderPool::DEFAULT_LIMIT);
            body
        })
        .collect();
    // Of the limit, 24 MiB are with zstd streams, and the rest is 85 small contexts of gzip.
    assert!(pool.stats().parked > 850 && pool.stats().transient == 0, "{:?}", pool.stats());
    drop(bodies);
    let stats = pool.stats();
    assert!(stats.parked == 0 && stats.memory <= EncoderPool::DEFAULT_LIMIT);
}
