//! The main job: a response body in small pieces leaves compressed.

use crate::support::corpus::{json, noise};
use crate::support::counting::Counting;
use crate::support::serve::{answer, answer_to, coding, receive, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, VARY};
use http::{HeaderMap, Version};
use http_body::Body;
use http_body_util::Full;
use tower_compress::codec::{CODECS, Codec, Operation};
use tower_compress::{CompressionLayer, EncoderPool, Reason};

const LOOK_AHEAD: usize = 64 * 1024;

/// A layer that offers everything, with a pool of its own.
fn layer() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy(true).snappy_framed(true).pool(EncoderPool::new())
}

fn length<B>(response: &http::Response<B>) -> Option<u64> {
    response.headers().get(CONTENT_LENGTH).map(|value| value.to_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_small_body_in_tiny_frames_costs_one_call_and_keeps_its_length() {
    let input = json(26_000);
    for codec in CODECS {
        for size in [1, 3, 100, 8192, 26_000] {
            let counting = Counting::new(codec.name());
            let response =
                answer(&layer().codec(counting), codec.name(), text(Script::cut(&input, size))).await;
            assert_eq!(coding(&response), codec.name());
            let said = length(&response).unwrap();
            assert_eq!(response.body().size_hint().exact(), Some(said));
            let received = receive(response.into_body()).await;
            assert_eq!(received.frames.len(), 1);
            assert_eq!(received.frames[0].len() as u64, said);
            assert_eq!(received.decoded(codec.name()), input);
            assert_eq!(counting.calls().len(), 1, "{} {size}", codec.name());
        }
    }
}

#[tokio::test]
async fn a_long_body_is_sliced_whatever_its_frames() {
    let input = json(1_000_000);
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let mut sizes = Vec::new();
        for size in [2, 100, 5000, 16 * 1024, 100_000, 1_000_000] {
            let counting = Counting::new(codec.name());
            let response =
                answer(&layer().codec(counting), codec.name(), text(Script::cut(&input, size))).await;
            assert_eq!(length(&response), None);
            let received = receive(response.into_body()).await;
            assert!(received.decoded(codec.name()) == input, "{} {size}", codec.name());
            let level = codec.level(Default::default());
            let (batch, turn) = (codec.batch(level), codec.turn(level));
            let calls = counting.calls();
            assert!(calls.len() <= input.len() / batch + 2, "{} {size}: {}", codec.name(), calls.len());
            let most = |first| if first { turn } else { batch };
            let mut calls = calls.iter().enumerate();
            assert!(calls.all(|(at, call)| call.bytes <= most(at == 0)), "{} {size}", codec.name());
            assert_eq!(counting.flushes(), 0, "{} {size}", codec.name());
            assert!(received.frames.iter().all(|frame| !frame.is_empty()));
            sizes.push(received.bytes().len());
        }
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most * 100 <= least * 101, "{}: {sizes:?}", codec.name());
    }
}

#[tokio::test]
async fn a_pause_makes_what_came_before_decodable() {
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        // One pending poll ends the look-ahead, two are yields, the fourth is a pause.
        let mut script = vec![Step::data("event 1"), Step::Yield, Step::Yield, Step::Yield, Step::Yield];
        script.push(Step::data(json(5000)));
        let response = answer(&layer(), codec.name(), text(Script::new(script))).await;
        assert_eq!(coding(&response), codec.name());
        let received = receive(response.into_body()).await;
        let first = crate::support::decode::decode_prefix(codec.name(), &received.frames[0]);
        assert_eq!(first, b"event 1", "{}", codec.name());
        assert_eq!(&received.decoded(codec.name())[7..], json(5000));
    }
}

#[tokio::test]
async fn a_body_below_the_minimum_passes_whatever_its_frames() {
    for (size, coded) in [(1023, false), (1024, true), (1025, true)] {
        for cut in [1, 10, size] {
            let response = answer(&layer(), "gzip", text(Script::cut(&json(size), cut))).await;
            assert_eq!(coding(&response) == "gzip", coded, "{size} {cut}");
            assert!(response.headers().contains_key(VARY));
            let received = receive(response.into_body()).await;
            assert_eq!(received.frames.len(), 1);
            if !coded {
                assert_eq!(received.bytes(), json(size));
            }
        }
    }
}

#[tokio::test]
async fn what_does_not_get_smaller_goes_out_as_it_was() {
    let layer = layer();
    let response = answer(&layer, "zstd, gzip", text(Script::cut(&noise(20_000), 999))).await;
    assert_eq!((coding(&response), length(&response)), ("identity", Some(20_000)));
    assert_eq!(receive(response.into_body()).await.bytes(), noise(20_000));
    assert_eq!(layer.stats().passed(Reason::NotSmaller), 1);

    // Unless the client refused that.
    let response = answer(&layer, "gzip, identity;q=0", text(Script::cut(&noise(20_000), 999))).await;
    assert_eq!(coding(&response), "gzip");
}

#[tokio::test]
async fn trailers_come_after_the_end_of_the_coding_and_no_length_is_said() {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    for data in [json(5000), json(200_000), json(10), vec![]] {
        let mut steps: Vec<_> = data.chunks(4096).map(Step::data).collect();
        steps.push(Step::Trailers(trailers.clone()));
        let response = answer(&layer(), "gzip", text(Script::new(steps))).await;
        assert_eq!((length(&response), response.body().size_hint().exact()), (None, None));
        let name = coding(&response).to_owned();
        let received = receive(response.into_body()).await;
        assert_eq!(received.decoded(&name), data);
        assert_eq!(received.trailers.as_ref(), Some(&trailers));
    }
}

#[tokio::test]
async fn an_error_is_the_last_item_and_no_valid_end_comes_before_it() {
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        for before in [0, 10, 5000, 300_000] {
            let mut steps: Vec<_> = json(before).chunks(5000).map(Step::data).collect();
            steps.push(Step::Error("the database went away"));
            let response = answer(&layer(), codec.name(), text(Script::new(steps))).await;
            assert_eq!(length(&response), None);
            let received = receive(response.into_body()).await;
            assert_eq!(received.error.as_ref().unwrap().to_string(), "the database went away");
            if before > 0 && !received.frames.is_empty() && codec.name() != "x-snappy-framed" {
                assert!(crate::support::decode::decode(codec.name(), &received.bytes()).is_err());
            }
        }
    }
}

#[tokio::test]
async fn raw_snappy_is_for_whole_bodies_and_a_stream_gets_another_coding() {
    let response = answer(&layer(), "snappy", text(Script::cut(&json(5000), 100))).await;
    assert_eq!(coding(&response), "snappy");
    let response = answer(&layer(), "snappy", text(Script::cut(&json(100_000), 100))).await;
    assert_eq!(coding(&response), "identity");
    assert_eq!(receive(response.into_body()).await.bytes(), json(100_000));
    let accept = "snappy, gzip;q=0.1";
    let response = answer(&layer(), accept, text(Script::cut(&json(100_000), 100))).await;
    assert_eq!(coding(&response), "gzip");
}

#[tokio::test]
async fn a_large_frame_is_sliced_and_a_poll_is_bounded() {
    let input = json(10_000_000);
    let counting = Counting::new("gzip");
    let body = Full::new(Bytes::from(input.clone()));
    let response = answer(&layer().codec(counting), "gzip", text(body)).await;
    let mut body = std::pin::pin!(response.into_body());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut coded = Vec::new();
    loop {
        let before = counting.calls().len();
        let poll = body.as_mut().poll_frame(&mut cx);
        let bytes: usize = counting.calls()[before..].iter().map(|call| call.bytes).sum();
        assert!(bytes <= 2 * counting.turn(6), "{bytes}");
        match poll {
            std::task::Poll::Ready(None) => break,
            std::task::Poll::Ready(Some(frame)) => {
                coded.extend_from_slice(&frame.unwrap().into_data().unwrap())
            }
            std::task::Poll::Pending => {}
        }
    }
    assert!(crate::support::decode::decode("gzip", &coded).unwrap() == input);
}

/// Frames of a number and of lengths that nobody was told. The last one is known to be that.
struct Surprise(Vec<Bytes>);

impl Body for Surprise {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.pop().map(|data| Ok(http_body::Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
}

#[tokio::test]
async fn a_body_that_ends_beyond_the_look_ahead_is_sliced_too() {
    for (length, whole) in [(LOOK_AHEAD, true), (LOOK_AHEAD + 1, false), (1_000_000, false)] {
        let counting = Counting::new("gzip");
        let body = Surprise(vec![json(length).into()]);
        let response = answer(&layer().codec(counting), "gzip", text(body)).await;
        assert_eq!(receive(response.into_body()).await.decoded("gzip"), json(length));
        assert_eq!(counting.calls().len() == 1, whole, "{length}");
    }
}

#[tokio::test]
async fn a_body_that_passes_says_the_length_of_all_its_frames() {
    // Each passes for another reason: it cannot be delimited coded, there is no memory, the coding does not stream.
    let full = layer().pool(EncoderPool::with_limit(0));
    let cases = [
        (layer(), Version::HTTP_10, "gzip", Reason::Http10),
        (full, Version::HTTP_11, "zstd", Reason::Pressure),
        (layer(), Version::HTTP_11, "snappy", Reason::NotAccepted),
    ];
    for (layer, version, accept, reason) in cases {
        for frames in [[40_000, 40_000], [LOOK_AHEAD, 1]] {
            let body = Surprise(frames.map(|length| json(length).into()).to_vec());
            let response = answer_to(&layer, version, accept, text(body)).await;
            assert_eq!(coding(&response), "identity");
            let (said, hint) = (length(&response), response.body().size_hint().exact());
            let sent = receive(response.into_body()).await.bytes().len() as u64;
            assert_eq!(sent, frames.iter().sum::<usize>() as u64);
            assert_eq!((said, hint), (Some(sent), Some(sent)), "{accept} {version:?}");
        }
        assert_eq!(layer.stats().passed(reason), 2);
    }
}

#[tokio::test]
async fn empty_frames_end_nothing_and_send_nothing() {
    let empty = |times| std::iter::repeat_n(Step::data(b""), times);
    for times in [1, 1023, 1024, 1025, 5000] {
        for data in [json(5000), json(200_000)] {
            let steps = data.chunks(50_000).flat_map(|frame| empty(times).chain([Step::data(frame)]));
            let steps: Vec<_> = steps.chain(empty(times)).collect();
            let response = answer(&layer(), "gzip", text(Script::new(steps))).await;
            assert_eq!(coding(&response), "gzip");
            // So many in a row end a look ahead, which must not go on for ever.
            assert_eq!(length(&response).is_some(), times < 1024 && data.len() < LOOK_AHEAD, "{times}");
            let received = receive(response.into_body()).await;
            assert!(received.decoded("gzip") == data, "{times}");
            assert!(received.frames.iter().all(|frame| !frame.is_empty()), "{times}");
        }
        let response = answer(&layer(), "gzip", text(Script::new(empty(times)))).await;
        let coding = coding(&response).to_owned();
        assert_eq!(receive(response.into_body()).await.decoded(&coding), b"", "{times}");
    }
}

#[tokio::test]
async fn the_second_of_two_equal_requests_builds_no_context() {
    for codec in CODECS {
        for input in [json(5000), json(200_000)] {
            if !codec.streams() && input.len() > LOOK_AHEAD {
                continue;
            }
            let counting = Counting::new(codec.name());
            let layer = layer().codec(counting);
            for _ in 0..3 {
                let response = answer(&layer, codec.name(), text(Script::cut(&input, 1000))).await;
                assert_eq!(receive(response.into_body()).await.decoded(codec.name()), input);
            }
            assert_eq!(counting.built(), 1, "{}", codec.name());
        }
    }
}

#[tokio::test]
async fn every_exit_brings_the_context_back() {
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let pool = EncoderPool::new();
        let layer = layer().pool(pool.clone());
        let long = || json(200_000).chunks(5000).map(Step::data).collect::<Vec<_>>();
        let with = |step| long().into_iter().chain([step]).collect::<Vec<_>>();
        let exits = [
            long(),
            with(Step::Trailers(HeaderMap::new())),
            with(Step::Error("failed")),
            vec![Step::data(json(5000)), Step::Error("at once")],
        ];
        for steps in exits {
            let response = answer(&layer, codec.name(), text(Script::new(steps))).await;
            receive(response.into_body()).await;
            assert_eq!(pool.stats().idle, 1, "{}", codec.name());
        }
        // The client goes away: before a poll, after a chunk, in a pause.
        for polls in [0, 1, 2, 5] {
            let steps = with(Step::Stall);
            let response = answer(&layer, codec.name(), text(Script::new(steps))).await;
            let mut body = Box::pin(response.into_body());
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            for _ in 0..polls {
                let _ = body.as_mut().poll_frame(&mut cx);
            }
            drop(body);
            assert_eq!(pool.stats().idle, 1, "{} {polls}", codec.name());
        }
        let held = pool.stats().memory;
        let setup = tower_compress::codec::Setup {
            level: codec.level(Default::default()),
            size_class: codec.size_class(None),
        };
        assert_eq!(held, codec.memory(setup), "{}", codec.name());
    }
}

#[tokio::test]
async fn layering_twice_compresses_once() {
    let inner = answer(&layer(), "gzip, zstd;q=0.5", text(Script::cut(&json(5000), 100))).await;
    let outer = answer(&layer(), "zstd", inner).await;
    assert_eq!(coding(&outer), "gzip");
    assert_eq!(receive(outer.into_body()).await.decoded("gzip"), json(5000));
}

#[tokio::test]
async fn a_malformed_accept_encoding_never_fails_the_request() {
    let long = format!("gzip;q=0.0001, {}", "x;q=1, ".repeat(9000));
    for accept in ["gzip;q=abc", ";;;,,,", "\"", "gzip;q=", "gzip;q=1.5", "*;q=x", &long] {
        let response = answer(&layer(), accept, text(Script::cut(&json(5000), 100))).await;
        assert_eq!(coding(&response), "identity", "{accept:.20}");
    }
}

#[test]
fn an_encoder_call_does_what_its_operation_says() {
    // The counting codec is a codec from outside the crate: this is the contract that it relies on.
    let counting = Counting::new("gzip");
    let setup = tower_compress::codec::Setup { level: 6, size_class: 0 };
    let mut encoder = counting.encoder(setup).unwrap();
    encoder.encode(b"abc", Operation::Finish, &mut Vec::new()).unwrap();
    assert_eq!((counting.calls().len(), counting.built()), (1, 1));
}
