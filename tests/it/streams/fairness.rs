//! No stream starves its neighbours, and a reader that stops stops its producer.

use super::{ByHand, answered, layer, streaming};
use crate::support::Script;
use crate::support::connection::{VERSIONS, Version, get};
use crate::support::corpus::{json, noise};
use crate::support::counting::Counting;
use crate::support::incremental::Incremental;
use crate::support::serve::text;
use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tower_compress::codec::{Codec, CompressionLevel, Operation, Setup};

/// A body that is always ready, and counts its polls.
struct Endless {
    data: Bytes,
    /// Where the next frame begins in the data, and how long frames are.
    next: usize,
    frame: usize,
    polls: Arc<AtomicUsize>,
}

impl Endless {
    fn new(data: Vec<u8>, frame: usize) -> Self {
        Self { data: data.into(), next: 0, frame, polls: Arc::default() }
    }
}

impl Body for Endless {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        self.polls.fetch_add(1, Ordering::Relaxed);
        if self.next + self.frame > self.data.len() {
            self.next = 0;
        }
        self.next += self.frame;
        let data = self.data.slice(self.next - self.frame..self.next);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

const LEVELS: [CompressionLevel; 2] = [CompressionLevel::Default, CompressionLevel::Fastest];

#[test]
fn between_two_pending_polls_is_one_turn() {
    // At the fastest levels noise fills several frames in one turn.
    for (codec, level) in streaming().flat_map(|codec| LEVELS.map(|level| (codec, level))) {
        for (data, frame) in [(json(200_000), 100), (noise(200_000), 100), (noise(200_000), 200_000)] {
            let counting = Counting::new(codec.name());
            let endless = Endless::new(data, frame);
            let layer = layer().codec(counting).quality(level);
            let mut body = ByHand::new(answered(&layer, codec.name(), text(endless)).into_body());
            let turn = counting.turn(counting.level(level));
            let mut before = counting.bytes();
            let mut turns = 0;
            while turns < 20 {
                let wakes = body.wakes();
                let is_pending = body.poll().is_pending();
                let encoded = counting.bytes() - before;
                assert!(encoded <= 2 * turn, "{} {level:?}: {encoded}", codec.name());
                if is_pending {
                    assert_eq!(body.wakes(), wakes + 1, "{}", codec.name());
                    before = counting.bytes();
                    turns += 1;
                }
            }
        }
    }
}

#[tokio::test]
async fn while_a_connection_compresses_others_get_their_turns() {
    for version in VERSIONS {
        let counting = Counting::new("gzip");
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let neighbour = tokio::spawn(async move {
            std::future::poll_fn::<(), _>(|cx| {
                counted.fetch_add(1, Ordering::Relaxed);
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        });
        // What does not shrink makes a frame of each batch, and a connection polls on while there are frames.
        let body = Full::new(Bytes::from(noise(3_000_000)));
        let response = get(&layer().codec(counting), version, "gzip", text(body)).await;
        let (before, calls) = (turns.load(Ordering::Relaxed), counting.calls().len());
        response.into_body().collect().await.unwrap();
        neighbour.abort();
        let (turns, calls) = (turns.load(Ordering::Relaxed) - before, counting.calls().len() - calls);
        assert!(calls > 150, "{calls}");
        assert!(turns * 3 >= calls, "{version:?}: {turns} turns for {calls} calls");
    }
}

#[test]
fn no_encoder_gathers_more_than_a_call_got_and_encodes_it_later_at_once() {
    for (name, levels) in [("zstd", vec![1, 3, 5, 12, 19]), ("br", vec![4, 5, 9, 11])] {
        let codec = tower_compress::codec::by_name(name).unwrap();
        for level in levels {
            let setup = Setup { level, size_class: codec.size_class(None) };
            let mut encoder = codec.encoder(setup).unwrap();
            let mut receiver = Incremental::new(name);
            for round in 1..=3 {
                let mut coded = Vec::new();
                encoder.encode(&json(codec.turn(level)), Operation::Encode, &mut coded).unwrap();
                // Brotli keeps its last byte until it knows what follows.
                let decoded = receiver.feed(&coded);
                assert_eq!(decoded, round * codec.turn(level), "{name} {level}");
            }
        }
    }
}

#[test]
fn a_huge_frame_is_sliced_at_the_slowest_levels_and_a_drop_ends_the_work() {
    // K07.
    for (name, level) in [("gzip", 9), ("zstd", 19), ("br", 11)] {
        let counting = Counting::new(name);
        let layer = layer().codec(counting).quality(CompressionLevel::Precise(level));
        let response = answered(&layer, name, text(Full::new(Bytes::from(json(32 << 20)))));
        let mut body = ByHand::new(response.into_body());
        for _ in 0..5 {
            let before = counting.bytes();
            let _ = body.poll();
            let encoded = counting.bytes() - before;
            assert!(encoded <= counting.turn(level).min(16 * 1024), "{name}: {encoded}");
        }
        let before = counting.bytes();
        drop(body);
        assert_eq!(counting.bytes(), before);
    }
}

#[tokio::test]
async fn a_reader_that_stops_stops_the_producer_and_memory_stays() {
    for version in VERSIONS {
        for frame in [100, 8192, 500_000] {
            let endless = Endless::new(noise(1 << 20), frame);
            let polls = Arc::clone(&endless.polls);
            let layer = layer();
            let response = get(&layer, version, "gzip", text(endless)).await;
            let settle = async || {
                for _ in 0..5000 {
                    tokio::task::yield_now().await;
                }
                polls.load(Ordering::Relaxed)
            };
            let settled = settle().await;
            assert_eq!(settle().await, settled, "{version:?} {frame}");
            // The connection's own buffers (HTTP/2: hyper's window of 2 MiB), and one frame of the producer's.
            let room = if version == Version::Http2 { 3 << 20 } else { 1 << 20 };
            assert!(settled * frame <= room + frame, "{version:?} {frame}: {settled}");
            assert!(layer.stats().pool.memory <= 320 * 1024);
            let mut body = response.into_body();
            let mut read = 0;
            while read < 2 * room {
                read += body.frame().await.unwrap().unwrap().into_data().unwrap().len();
            }
            assert!(polls.load(Ordering::Relaxed) > settled, "{version:?} {frame}");
        }
    }
}

#[test]
fn a_body_that_ends_is_not_kept_waiting_for_a_turn() {
    // The last frame says that it is the last, or the end follows at the next poll.
    let response = answered(&layer(), "gzip", text(Script::cut(&noise(300_000), 5000)));
    let mut body = ByHand::new(response.into_body());
    loop {
        if let Poll::Ready(item) = body.poll() {
            if item.is_none() || body.body.is_end_stream() {
                break;
            }
        }
    }
    assert!(matches!(body.poll(), Poll::Ready(None)));
}
