//! What the producer has released is never held back, and nothing is flushed because of how it was cut.

use super::{ByHand, answered, events, layer, streaming};
use crate::support::channel::channel;
use crate::support::connection::{VERSIONS, Version, get};
use crate::support::corpus::{event, json};
use crate::support::counting::Counting;
use crate::support::incremental::Incremental;
use crate::support::serve::{answer, coding, receive, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use std::time::Duration;
use tower_compress::codec::{Codec, CompressionLevel, Operation, Setup};
use tower_compress::{Compress, FlushPolicy};

#[test]
fn the_third_pending_poll_in_a_row_flushes_and_the_two_before_wake() {
    for codec in streaming() {
        let counting = Counting::new(codec.name());
        let (sender, body) = channel();
        let response = answered(&layer().codec(counting), codec.name(), events(body));
        let mut body = ByHand::new(response.into_body());
        for number in 0..5 {
            sender.send(event(number).into()).unwrap();
            let wakes = body.wakes();
            assert!(body.poll().is_pending() && body.poll().is_pending());
            // The yields wake; whatever the channel wakes comes on top.
            assert!(body.wakes() >= wakes + 2);
            assert_eq!(counting.flushes(), number);
            assert!(!body.data().is_empty());
            assert_eq!(counting.flushes(), number + 1);
            // Nothing new: it waits, and does not wake itself.
            let wakes = body.wakes();
            assert!(body.poll().is_pending() && body.poll().is_pending() && body.poll().is_pending());
            assert_eq!((body.wakes(), counting.flushes()), (wakes, number + 1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_yields_between_its_frames_does_not_pause() {
    for yields in [1, 2] {
        let counting = Counting::new("gzip");
        let input = json(10_000);
        let pieces = input
            .chunks(16)
            .flat_map(|piece| std::iter::repeat_n(Step::Yield, yields).chain([Step::data(piece)]));
        let response = answer(&layer().codec(counting), "gzip", text(Script::new(pieces))).await;
        assert_eq!(receive(response.into_body()).await.decoded("gzip"), input);
        assert_eq!(counting.flushes(), 0);
        assert_eq!(counting.calls().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_computes_between_its_events_holds_none_back_for_long() {
    let (sender, body) = channel();
    let response = answer(&layer(), "gzip", events(body)).await;
    // It shares the thread, and each of its events is there before the second yield has ended.
    tokio::spawn(async move {
        for number in 0..50 {
            tokio::time::advance(Duration::from_millis(2)).await;
            sender.send(event(number).into()).unwrap();
        }
    });
    let (mut body, mut receiver) = (Box::pin(response.into_body()), Incremental::new("gzip"));
    let mut frames = 0;
    while let Some(frame) = body.frame().await {
        receiver.feed(&frame.unwrap().into_data().unwrap());
        frames += 1;
    }
    assert_eq!(receiver.decoded().len(), 50 * 86);
    // One for each four events or so, and one for the end.
    assert!((10..=51).contains(&frames), "{frames}");
}

#[test]
fn a_flush_with_nothing_new_puts_nothing_out() {
    for codec in streaming() {
        let setup =
            Setup { level: codec.level(CompressionLevel::Default), size_class: codec.size_class(None) };
        for level in [setup.level, codec.level_for_batch(setup.level, 86)] {
            let mut encoder = codec.encoder(Setup { level, ..setup }).unwrap();
            let mut coded = Vec::new();
            encoder.encode(&event(1), Operation::Flush, &mut coded).unwrap();
            let mut again = Vec::new();
            encoder.encode(&[], Operation::Flush, &mut again).unwrap();
            encoder.encode(&[], Operation::Encode, &mut again).unwrap();
            assert!(again.is_empty(), "{} {level}", codec.name());
            assert_eq!(Incremental::new(codec.name()).feed(&coded), 86, "{} {level}", codec.name());
        }
    }
}

#[test]
fn what_comes_after_a_gate_does_not_hold_what_comes_before() {
    // A02, first step; A07 a: below the minimum, and of a type that nobody excludes.
    for codec in streaming() {
        let layer = layer();
        for media in ["text/html", "application/x-ndjson", "multipart/mixed; boundary=x", "application/json"]
        {
            let (sender, body) = channel();
            sender.send(json(300).into()).unwrap();
            let mut response = text(body);
            response.headers_mut().insert(http::header::CONTENT_TYPE, media.parse().unwrap());
            let response = answered(&layer, codec.name(), response);
            assert_eq!(coding(&response), codec.name());
            let mut body = ByHand::new(response.into_body());
            let mut receiver = Incremental::new(codec.name());
            assert_eq!(receiver.feed(&body.data_within(3)), 300);
            sender.send(json(100).into()).unwrap();
            assert_eq!(receiver.feed(&body.data_within(3)), 400);
        }
    }
}

#[tokio::test]
async fn frames_that_are_ready_are_flushed_at_the_end_alone() {
    // A02, third step; A05.
    for codec in streaming() {
        for (frames, size) in [(10, 200), (10_000, 20)] {
            let counting = Counting::new(codec.name());
            let input = json(frames * size);
            let layer = layer().codec(counting);
            let response = answer(&layer, codec.name(), text(Script::cut(&input, size))).await;
            let received = receive(response.into_body()).await;
            assert!(received.decoded(codec.name()) == input);
            assert_eq!(counting.flushes(), 0);
            let calls = counting.calls().len();
            assert!(calls <= input.len() / counting.batch(6).min(16 * 1024) + 2, "{calls}");
            assert!(received.frames.len() <= received.bytes().len() / 4096 + 2);
            let whole = code_whole(codec, &input);
            let size = received.bytes().len();
            assert!(size * 100 <= whole * 105, "{}: {size} {whole}", codec.name());
        }
    }
}

fn code_whole(codec: &dyn Codec, input: &[u8]) -> usize {
    let setup = Setup { level: codec.level(CompressionLevel::Default), size_class: codec.size_class(None) };
    let mut coded = Vec::new();
    codec.encoder(setup).unwrap().encode(input, Operation::Finish, &mut coded).unwrap();
    coded.len()
}

const MESSAGES: usize = 10_000;

/// A channel with all messages in it, and the handle that keeps it open.
fn full() -> (tokio::sync::mpsc::UnboundedSender<Bytes>, crate::support::channel::Channel) {
    let (sender, body) = channel();
    for number in 0..MESSAGES {
        sender.send(event(number).into()).unwrap();
    }
    (sender, body)
}

#[tokio::test]
async fn messages_that_are_all_there_cost_one_flush_under_tokios_budget() {
    for codec in streaming() {
        let counting = Counting::new(codec.name());
        let (sender, body) = full();
        let response = answer(&layer().codec(counting), codec.name(), events(body)).await;
        // In a task, so that the budget counts: it gives the channel 128 messages in a turn.
        let reader = tokio::spawn(receive(response.into_body()));
        while counting.flushes() == 0 {
            tokio::task::yield_now().await;
        }
        drop(sender);
        let received = reader.await.unwrap();
        assert_eq!(received.decoded(codec.name()).len(), MESSAGES * 86);
        assert_eq!(counting.flushes(), 1, "{}", codec.name());
    }
}

async fn all_there(version: Version) {
    let counting = Counting::new("gzip");
    let (sender, body) = full();
    let response = get(&layer().codec(counting), version, "gzip", events(body)).await;
    drop(sender);
    let coded = response.into_body().collect().await.unwrap().to_bytes();
    let mut receiver = Incremental::new("gzip");
    assert_eq!(receiver.feed(&coded), MESSAGES * 86);
    assert!(counting.flushes() <= 2, "{version:?}: {}", counting.flushes());
}

#[tokio::test]
async fn messages_that_are_all_there_cost_at_most_two_flushes_over_a_connection() {
    for version in VERSIONS {
        all_there(version).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_all_there_cost_at_most_two_flushes_on_two_threads() {
    for version in VERSIONS {
        all_there(version).await;
    }
}

/// Sends one message after another, each when the one before was decoded. If one sticks, all is idle, and the
/// paused clock runs to the timeout at once.
async fn one_by_one(codec: &dyn Codec, version: Version, messages: usize) {
    let (sender, body) = channel();
    let response = get(&layer(), version, codec.name(), events(body)).await;
    assert_eq!(response.headers()["content-encoding"], codec.name());
    let (mut body, mut receiver) = (response.into_body(), Incremental::new(codec.name()));
    let mut sent = 0;
    for number in 0..messages {
        let message = event(number);
        sent += message.len();
        sender.send(message.into()).unwrap();
        let mut decoded = 0;
        while decoded < sent {
            let frame = tokio::time::timeout(Duration::from_secs(1), body.frame()).await;
            let frame = frame.unwrap_or_else(|_| panic!("{} {version:?}: {number} sticks", codec.name()));
            decoded = receiver.feed(frame.unwrap().unwrap().data_ref().unwrap());
        }
        assert_eq!(decoded, sent);
    }
    drop(sender);
    assert!(body.collect().await.is_ok());
    assert_eq!(&receiver.decoded()[sent - 86..], event(messages - 1));
}

#[tokio::test(start_paused = true)]
async fn each_of_ten_thousand_messages_is_decodable_before_the_next_is_sent() {
    // A01, and A02's ping-pong, for every coding that streams.
    for codec in streaming() {
        one_by_one(codec, Version::Http1, MESSAGES).await;
        one_by_one(codec, Version::Http2, MESSAGES / 10).await;
    }
}

#[test]
fn a_response_overrides_the_layers_policy() {
    for (of_layer, of_response, flushes) in [
        (FlushPolicy::End, None, 0),
        (FlushPolicy::End, Some(FlushPolicy::Pause), 1),
        (FlushPolicy::Pause, Some(FlushPolicy::End), 0),
        (FlushPolicy::Pause, None, 1),
    ] {
        let counting = Counting::new("gzip");
        let (sender, body) = channel();
        sender.send(event(0).into()).unwrap();
        let mut response = events(body);
        if let Some(policy) = of_response {
            response.extensions_mut().insert(Compress::new().flush(policy));
        }
        let layer = layer().flush(of_layer).codec(counting);
        let mut body = ByHand::new(answered(&layer, "gzip", response).into_body());
        let frames = (0..20).filter(|_| body.poll().is_ready()).count();
        assert_eq!((frames, counting.flushes()), (flushes, flushes), "{of_layer:?} {of_response:?}");
        drop(sender);
        if flushes == 0 {
            assert_eq!(Incremental::new("gzip").feed(&body.data()), 86);
        }
    }
}

#[test]
fn a_stream_that_flushes_at_the_end_still_sends_what_it_has_encoded() {
    let counting = Counting::new("gzip");
    let (sender, body) = channel();
    let response = answered(&layer().flush(FlushPolicy::End).codec(counting), "gzip", events(body));
    let mut body = ByHand::new(response.into_body());
    sender.send(crate::support::corpus::noise(200_000).into()).unwrap();
    let mut frames = 0;
    for _ in 0..100 {
        frames += usize::from(body.poll().is_ready());
    }
    assert!(frames >= 5, "{frames}");
    assert_eq!(counting.flushes(), 0);
}

#[test]
fn an_event_stream_is_compressed_by_default() {
    let (_sender, body) = channel();
    let response = answered(&tower_compress::CompressionLayer::new(), "gzip", events(body));
    assert_eq!(coding(&response), "gzip");
    assert!(!response.body().is_end_stream());
}
