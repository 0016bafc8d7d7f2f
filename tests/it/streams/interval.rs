//! `FlushPolicy::Interval`: at most one flush in it, and no byte waits longer. On a paused clock.

use super::{ByHand, events, layer};
use crate::support::channel::channel;
use crate::support::connection::{VERSIONS, Version, get};
use crate::support::corpus::{event, json};
use crate::support::counting::Counting;
use crate::support::decode::decode;
use crate::support::incremental::Incremental;
use crate::support::serve::{answer, receive, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, advance, sleep};
use tower_compress::FlushPolicy;
use tower_compress::codec::{CompressionLevel, Operation, Setup};

const INTERVAL: Duration = Duration::from_millis(10);
const POLICY: FlushPolicy = FlushPolicy::Interval(INTERVAL);

/// Sends `pieces`, letting time go by after each, and returns how long each waited for being decodable, how many
/// flushes there were, and the bytes that came out.
async fn drip(pieces: &[&[u8]], gap: Duration) -> (Vec<Duration>, usize, usize) {
    let counting = Counting::new("gzip");
    let (sender, body) = channel();
    let response = answer(&layer().flush(POLICY).codec(counting), "gzip", events(body)).await;
    let (waits, size) = feed(pieces, gap, sender, response.into_body()).await;
    (waits, counting.flushes(), size)
}

/// The same over a connection.
async fn drip_over(version: Version, pieces: &[&[u8]], gap: Duration) -> (Vec<Duration>, usize, usize) {
    let counting = Counting::new("gzip");
    let (sender, body) = channel();
    let response = get(&layer().flush(POLICY).codec(counting), version, "gzip", events(body)).await;
    let (waits, size) = feed(pieces, gap, sender, response.into_body()).await;
    (waits, counting.flushes(), size)
}

async fn feed<B>(
    pieces: &[&[u8]],
    gap: Duration,
    sender: UnboundedSender<Bytes>,
    body: B,
) -> (Vec<Duration>, usize)
where
    B: Body<Data = Bytes, Error: std::fmt::Debug> + Send + 'static,
{
    let reader = tokio::spawn(async move {
        let (mut body, mut receiver) = (Box::pin(body), Incremental::new("gzip"));
        let (mut arrivals, mut size) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            size += data.len();
            arrivals.push((receiver.feed(&data), Instant::now()));
        }
        (arrivals, size)
    });
    let (mut sent, mut sendings) = (0, Vec::new());
    for piece in pieces {
        sent += piece.len();
        sendings.push((sent, Instant::now()));
        sender.send(Bytes::copy_from_slice(piece)).unwrap();
        // The one lets all others run until nothing is left to do, the other lets them have a turn.
        if gap >= Duration::from_millis(1) { sleep(gap).await } else { advance(gap).await }
    }
    drop(sender);
    let (arrivals, size) = reader.await.unwrap();
    let wait = |&(bytes, sent): &(usize, Instant)| {
        arrivals.iter().find(|(decoded, _)| *decoded >= bytes).unwrap().1 - sent
    };
    (sendings.iter().map(wait).collect(), size)
}

#[tokio::test(start_paused = true)]
async fn a_piece_waits_for_the_interval_at_most_and_flushes_are_as_rare() {
    let input = json(32_000);
    let pieces: Vec<_> = input.chunks(16).collect();
    let gap = Duration::from_millis(1);
    let (waits, flushes, _) = drip(&pieces, gap).await;
    assert!(waits.iter().max().unwrap() <= &INTERVAL, "{:?}", waits.iter().max());
    assert!(waits.iter().any(|wait| *wait > INTERVAL / 2));
    let intervals = pieces.len() / 10;
    assert!(flushes > intervals / 2 && flushes <= intervals + 1, "{flushes}");
}

#[tokio::test(start_paused = true)]
async fn over_a_connection_too_a_piece_waits_for_the_interval_at_most() {
    let input = json(16_000);
    let pieces: Vec<_> = input.chunks(16).collect();
    for version in VERSIONS {
        let (waits, flushes, _) = drip_over(version, &pieces, Duration::from_millis(1)).await;
        assert!(waits.iter().max().unwrap() <= &INTERVAL, "{version:?} {:?}", waits.iter().max());
        let intervals = pieces.len() / 10;
        assert!(flushes > intervals / 2 && flushes <= intervals + 1, "{version:?} {flushes}");
    }
}

#[tokio::test(start_paused = true)]
async fn small_pieces_with_a_yield_between_them_grow_by_a_twentieth_at_most() {
    // A05, variant: a piece every 10 microseconds.
    let input = json(640_000);
    let pieces: Vec<_> = input.chunks(16).collect();
    let turn = Duration::from_micros(10);
    let (waits, flushes, size) = drip(&pieces, turn).await;
    let codec = tower_compress::codec::by_name("gzip").unwrap();
    let setup = Setup { level: codec.level(CompressionLevel::Default), size_class: 0 };
    let mut whole = Vec::new();
    codec.encoder(setup).unwrap().encode(&input, Operation::Finish, &mut whole).unwrap();
    assert!(size * 100 <= whole.len() * 105, "{size} {}", whole.len());
    assert!(flushes <= 41, "{flushes}");
    // Timers of the paused clock tick in milliseconds.
    let longest = *waits.iter().max().unwrap();
    assert!(longest <= INTERVAL + Duration::from_millis(1) + turn, "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn an_event_after_a_quiet_time_does_not_wait() {
    let pieces: Vec<_> = (0..20).map(event).collect();
    let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
    let (waits, flushes, _) = drip(&pieces, 2 * INTERVAL).await;
    assert_eq!(waits.iter().max(), Some(&Duration::ZERO));
    assert_eq!(flushes, pieces.len());
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_never_pauses_is_flushed_too_once_its_bytes_have_waited() {
    let counting = Counting::new("gzip");
    let (sender, body) = channel();
    sender.send(event(0).into()).unwrap();
    let response = answer(&layer().flush(POLICY).codec(counting), "gzip", events(body)).await;
    let mut body = ByHand::new(response.into_body());
    // Each poll finds a piece, so none is pending because of the producer.
    for number in 1..10 {
        sender.send(event(number).into()).unwrap();
        let frame = body.poll();
        assert!(frame.is_pending());
        advance(Duration::from_millis(1)).await;
    }
    advance(Duration::from_millis(1)).await;
    sender.send(event(10).into()).unwrap();
    assert!(!body.data().is_empty());
    assert_eq!(counting.flushes(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_is_no_waiting() {
    let counting = Counting::new("gzip");
    let (sender, body) = channel();
    sender.send(event(0).into()).unwrap();
    let response = answer(&layer().flush(POLICY).codec(counting), "gzip", events(body)).await;
    let reader = tokio::spawn(receive(response.into_body()));
    sleep(2 * INTERVAL).await;
    assert_eq!(counting.flushes(), 1);
    // Tokio's budget gives the channel 128 messages in a turn, and then no timer either: that one was not over yet
    // would say that the rest had waited. The messages that follow come in time, each before a third pending poll.
    (1..=200).for_each(|number| sender.send(event(number).into()).unwrap());
    for number in 201..300 {
        tokio::task::yield_now().await;
        sender.send(event(number).into()).unwrap();
    }
    drop(sender);
    let received = reader.await.unwrap();
    assert_eq!(received.decoded("gzip").len(), 300 * 86);
    assert_eq!(counting.flushes(), 1);
}

#[tokio::test]
async fn an_interval_that_never_ends_leaves_the_rest_to_the_end() {
    for interval in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
        let counting = Counting::new("gzip");
        let (sender, body) = channel();
        sender.send(event(0).into()).unwrap();
        let layer = layer().flush(FlushPolicy::Interval(interval)).codec(counting);
        let mut body = ByHand::new(answer(&layer, "gzip", events(body)).await.into_body());
        let mut coded = body.data_within(3).to_vec();
        sender.send(event(1).into()).unwrap();
        assert!((0..10).all(|_| body.poll().is_pending()));
        drop(sender);
        coded.extend_from_slice(&body.data_within(3));
        assert_eq!(decode("gzip", &coded).unwrap(), [event(0), event(1)].concat());
        assert_eq!(counting.flushes(), 1);
    }
}

#[test]
fn without_a_runtime_an_interval_is_a_pause() {
    let counting = Counting::new("gzip");
    let script = Script::new([Step::data(event(0)), Step::Stall]);
    let layer = layer().flush(POLICY).codec(counting);
    let response = super::answered(&layer, "gzip", text(script));
    let mut body = ByHand::new(response.into_body());
    assert!(!body.data_within(3).is_empty());
    assert_eq!(counting.flushes(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_end_does_not_wait_for_the_interval() {
    let start = Instant::now();
    let script = Script::new([Step::data(event(0)), Step::Yield, Step::data(event(1))]);
    let response = answer(&layer().flush(POLICY), "gzip", text(script)).await;
    let received = receive(response.into_body()).await;
    assert_eq!(received.decoded("gzip"), [event(0), event(1)].concat());
    assert_eq!(start.elapsed(), Duration::ZERO);
}
