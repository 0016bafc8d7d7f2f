//! The pool of encoders: nothing of one message reaches another, and what failed or belongs to another codec is
//! never handed out.

use crate::support::corpus::{Random, json};
use crate::support::counting::Counting;
use crate::support::decode::decode;
use crate::support::serve::{answer, coding, receive, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tower_compress::codec::{
    CODECS, Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup,
};
use tower_compress::{CompressionLayer, EncoderPool, Error};

fn layer(pool: &EncoderPool) -> CompressionLayer {
    CompressionLayer::new().br(true).snappy(true).snappy_framed(true).pool(pool.clone())
}

/// Text that shares no word with the orders of the corpus, and that a codec makes smaller.
fn secret(length: usize) -> Vec<u8> {
    let mut random = Random(99);
    let words: Vec<_> = (0..64).map(|_| format!("{:016X} ", random.next())).collect();
    std::iter::repeat_with(|| words[random.below(64)].bytes()).flatten().take(length).collect()
}

fn in_frames(data: &[u8]) -> Vec<Step> {
    data.chunks(1000).map(Step::data).collect()
}

/// The coded bytes of a message.
async fn code(pool: &EncoderPool, codec: &dyn Codec, steps: Vec<Step>) -> Vec<u8> {
    let response = answer(&layer(pool), codec.name(), text(Script::new(steps))).await;
    assert_eq!(coding(&response), codec.name());
    receive(response.into_body()).await.bytes()
}

#[tokio::test]
async fn no_byte_of_one_message_reaches_another() {
    for codec in CODECS {
        let secret = in_frames(&secret(200_000));
        let end = |step: Step| secret.iter().cloned().chain([step]).collect::<Vec<_>>();
        let pool = EncoderPool::new();

        code(&pool, *codec, secret[..50].to_vec()).await;
        as_if_nothing_had_been(&pool, *codec).await;
        if !codec.streams() {
            continue;
        }
        for steps in [secret.clone(), end(Step::Error("failed")), end(Step::Trailers(Default::default()))] {
            code(&pool, *codec, steps).await;
            as_if_nothing_had_been(&pool, *codec).await;
        }
        for polls in [0, 1, 3, 200] {
            abandon(&pool, *codec, end(Step::Stall), polls).await;
            as_if_nothing_had_been(&pool, *codec).await;
        }
    }
}

/// A message from this pool is what one from a new pool is: byte for byte where it is one call. A stream's coded
/// bytes also depend on the room in the output, so there another decoder has the word: it does not know what was
/// encoded before.
async fn as_if_nothing_had_been(pool: &EncoderPool, codec: &dyn Codec) {
    for length in [5000, 200_000] {
        if length == 5000 || codec.streams() {
            let coded = code(pool, codec, in_frames(&json(length))).await;
            let fresh = code(&EncoderPool::new(), codec, in_frames(&json(length))).await;
            assert!(decode(codec.name(), &coded).unwrap() == json(length), "{}", codec.name());
            assert!(length > 5000 || coded == fresh, "{}", codec.name());
            assert!(coded.len().abs_diff(fresh.len()) * 100 <= fresh.len(), "{}", codec.name());
        }
    }
}

async fn abandon(pool: &EncoderPool, codec: &dyn Codec, steps: Vec<Step>, polls: usize) {
    let response = answer(&layer(pool), codec.name(), text(Script::new(steps))).await;
    let mut body = Box::pin(response.into_body());
    for _ in 0..polls {
        let _ = body.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()));
    }
}

#[tokio::test]
async fn a_context_taken_from_a_waiting_stream_brings_nothing_along() {
    for codec in CODECS.iter().filter(|codec| codec.parks()) {
        let fresh = code(&EncoderPool::new(), *codec, in_frames(&json(5000))).await;
        let setup = Setup { level: codec.level(CompressionLevel::Default), size_class: 0 };
        let pool = EncoderPool::with_limit(codec.memory(setup));
        let steps = [in_frames(&secret(5000)), vec![Step::Stall]].concat();
        let waiting = answer(&layer(&pool), codec.name(), text(Script::new(steps))).await;
        let mut waiting = Box::pin(waiting.into_body());
        for _ in 0..6 {
            let _ = waiting.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()));
        }
        assert!(code(&pool, *codec, in_frames(&json(5000))).await == fresh, "{}", codec.name());
        assert_eq!(pool.stats().reclaimed, 1, "{}", codec.name());
    }
}

#[tokio::test]
async fn two_codecs_of_one_name_share_no_contexts() {
    let pool = EncoderPool::new();
    let (one, other) = (Counting::new("gzip"), Counting::new("gzip"));
    for codec in [one, other, one, other] {
        let layer = layer(&pool).codec(codec);
        let response = answer(&layer, "gzip", text(Script::cut(&json(5000), 100))).await;
        assert_eq!(receive(response.into_body()).await.decoded("gzip"), json(5000));
    }
    let response = answer(&layer(&pool), "gzip", text(Script::cut(&json(5000), 100))).await;
    receive(response.into_body()).await;
    assert_eq!((one.built(), one.calls().len()), (1, 2));
    assert_eq!((other.built(), other.calls().len()), (1, 2));
    assert_eq!(pool.stats().idle, 3);
}

/// A body that says how long it will be, and may be wrong.
struct Promise {
    said: u64,
    frames: Vec<Bytes>,
}

impl Body for Promise {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.frames.pop().map(|data| Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.said)
    }
}

#[tokio::test]
async fn a_body_that_is_not_as_long_as_it_said_fails_and_its_context_is_dropped() {
    for (frames, fails) in [(3, true), (4, false), (5, true)] {
        let pool = EncoderPool::new();
        let body = Promise { said: 200_000, frames: vec![Bytes::from(json(50_000)); frames] };
        let response = answer(&layer(&pool), "zstd", text(body)).await;
        let received = receive(response.into_body()).await;
        let error = received.error.as_ref().map(|error| error.downcast_ref::<Error>().unwrap().is_encode());
        assert_eq!(error, fails.then_some(true), "{frames}");
        assert_eq!(pool.stats().idle, usize::from(!fails), "{frames}");
        assert_eq!(pool.stats().memory > 0, !fails, "{frames}");
    }
}

/// Copies its input, and can fail or refuse to be reset.
#[derive(Debug)]
struct Odd {
    fails: bool,
    resets: bool,
}

impl Codec for Odd {
    fn name(&self) -> &'static str {
        "x-odd"
    }

    fn level(&self, _level: CompressionLevel) -> i32 {
        0
    }

    fn memory(&self, _setup: Setup) -> usize {
        1000
    }

    fn encoder(&self, _setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Self { ..*self }))
    }

    fn decoder(&self, _limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Err(Error::decode("it only encodes"))
    }
}

impl Encoder for Odd {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if self.fails && operation == Operation::Finish {
            return Err(Error::encode("as it was told"));
        }
        output.extend_from_slice(input);
        Ok(())
    }

    fn reset(&mut self) -> bool {
        self.resets
    }
}

#[tokio::test]
async fn a_context_that_failed_or_refuses_a_reset_is_not_used_again() {
    static FINE: Odd = Odd { fails: false, resets: true };
    static FAILS: Odd = Odd { fails: true, resets: true };
    static STAYS: Odd = Odd { fails: false, resets: false };
    for (codec, idle) in [(&FINE, 1), (&FAILS, 0), (&STAYS, 0)] {
        for length in [5000, 200_000] {
            let pool = EncoderPool::new();
            for turn in 1..=2 {
                let layer = layer(&pool).codec(codec);
                let response = answer(&layer, "x-odd", text(Script::cut(&json(length), 1000))).await;
                receive(response.into_body()).await;
                let stats = pool.stats();
                assert_eq!((stats.idle, stats.memory), (idle, 1000 * idle), "{codec:?} {length}");
                assert_eq!(stats.hits, if idle == 1 { turn - 1 } else { 0 }, "{codec:?} {length}");
            }
        }
    }
}

#[tokio::test]
async fn the_pool_holds_no_more_than_its_limit() {
    let gzip = 320 * 1024;
    let pool = EncoderPool::with_limit(2 * gzip);
    let bodies: Vec<_> = (0..20).map(|_| text(Script::cut(&json(100_000), 5000))).collect();
    let mut streams = Vec::new();
    for body in bodies {
        let mut stream = Box::pin(answer(&layer(&pool), "gzip", body).await.into_body());
        let _ = stream.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()));
        streams.push(stream);
    }
    for stream in streams {
        assert_eq!(receive(stream).await.error.map(|error| error.to_string()), None);
    }
    let stats = pool.stats();
    assert!(stats.memory <= 2 * gzip, "{stats:?}");
    assert!(stats.transient > 0, "{stats:?}");
}
