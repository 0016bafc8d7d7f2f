//! Streams that wait give their contexts up when others need them, and go on as if nothing had been.

use super::{ByHand, answered, events};
use crate::support::channel::channel;
use crate::support::corpus::{Random, event, json};
use crate::support::counting::Counting;
use crate::support::decode::decode;
use crate::support::incremental::Incremental;
use crate::support::serve::{coding, text};
use crate::support::{Script, Step};
use tower_compress::codec::{Codec, CompressionLevel, Setup, by_name};
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLayer, EncoderPool, Reason};

/// One stream, driven as a body drives it.
struct Stream {
    compressor: Compressor,
    coded: Vec<u8>,
    sent: Vec<u8>,
}

impl Stream {
    fn new(pool: &EncoderPool, name: &str) -> Self {
        let codec = by_name(name).unwrap();
        let mut compressor = Compressor::new(pool, codec, CompressionLevel::Default, None);
        assert!(compressor.reserve());
        Self { compressor, coded: Vec::new(), sent: Vec::new() }
    }

    fn write(&mut self, input: &[u8]) {
        let mut rest = input;
        while !rest.is_empty() {
            rest = &rest[self.compressor.write(rest).unwrap()..];
            if self.compressor.must_put_out() {
                self.take();
            }
        }
        self.sent.extend_from_slice(input);
    }

    /// An event, and then nothing for a while.
    fn send(&mut self, event: &[u8]) {
        self.write(event);
        while !self.compressor.flush().unwrap() {
            self.take();
        }
        self.take();
        self.compressor.park();
    }

    fn take(&mut self) {
        self.coded.extend_from_slice(&self.compressor.take_output());
    }

    fn finish(mut self, name: &str) {
        while !self.compressor.finish().unwrap() {
            self.take();
        }
        self.take();
        assert!(decode(name, &self.coded).unwrap() == self.sent);
    }
}

/// A context for what is not small flushed batches.
const LARGE: usize = 320 * 1024;

fn small_context(name: &str) -> usize {
    let codec = by_name(name).unwrap();
    codec.memory(Setup { level: codec.level_for_batch(6, 86), size_class: 0 })
}

#[test]
fn more_streams_than_contexts_all_go_on_and_memory_stays_within_the_limit() {
    for name in ["gzip", "deflate"] {
        let limit = 3 * small_context(name);
        let pool = EncoderPool::with_limit(limit);
        let mut streams: Vec<_> = (0..10).map(|_| Stream::new(&pool, name)).collect();
        for round in 0..30 {
            for (number, stream) in streams.iter_mut().enumerate() {
                stream.send(&event(100 * round + number));
                assert!(pool.stats().memory <= limit);
            }
            // Two keep their contexts; the third goes from hand to hand.
            assert_eq!((pool.stats().parked, pool.stats().idle), (8, 1));
        }
        let stats = pool.stats();
        assert_eq!((stats.transient, stats.reclaimed, stats.misses), (0, 1, 4));
        for stream in streams {
            stream.finish(name);
        }
        assert_eq!((pool.stats().parked, pool.stats().memory), (0, limit));
    }
}

#[test]
fn a_hot_stream_keeps_its_context_beside_any_number_that_come_and_go() {
    let pool = EncoderPool::with_limit(20 * small_context("gzip"));
    let mut hot = Stream::new(&pool, "gzip");
    let mut others: Vec<_> = (0..500).map(|_| Stream::new(&pool, "gzip")).collect();
    for (number, other) in others.iter_mut().enumerate() {
        other.send(&event(number));
        hot.send(&event(number));
    }
    assert_eq!(hot.compressor.tally().resumed, 0);
    assert_eq!(pool.stats().parked, 501 - 19);
}

#[test]
fn streams_that_become_active_pay_twice_and_are_hot_from_then_on() {
    let pool = EncoderPool::with_limit(5 * small_context("gzip"));
    let mut streams: Vec<_> = (0..100).map(|_| Stream::new(&pool, "gzip")).collect();
    streams.iter_mut().for_each(|stream| stream.send(&event(0)));
    for number in 0..50 {
        streams[90..93].iter_mut().for_each(|stream| stream.send(&event(number)));
    }
    for active in &streams[90..93] {
        assert_eq!(active.compressor.tally().resumed, 2);
    }
    assert_eq!(pool.stats().transient, 0);
}

#[test]
fn batches_that_grow_and_shrink_change_the_level_and_decode_as_one_stream() {
    for name in ["gzip", "deflate"] {
        let pool = EncoderPool::new();
        let mut stream = Stream::new(&pool, name);
        let mut random = Random(3);
        for round in 0..60 {
            match round / 10 % 3 {
                0 => stream.send(&event(round)),
                1 => stream.send(&json(2000 + random.below(3000))),
                // More than a batch: encoded without a flush.
                _ => stream.write(&json(20_000 + random.below(30_000))),
            }
        }
        stream.finish(name);
        // One for the small batches, one for the others.
        assert_eq!((pool.stats().misses, pool.stats().idle), (2, 2));
    }
}

#[test]
fn one_odd_batch_does_not_change_the_level() {
    let pool = EncoderPool::new();
    let mut stream = Stream::new(&pool, "gzip");
    for number in 0..20 {
        stream.send(&event(number));
        stream.send(&event(number));
        stream.send(&json(600));
    }
    assert_eq!(pool.stats().misses, 1);
    stream.finish("gzip");
}

#[test]
fn the_users_level_bounds_the_choice() {
    let gzip = by_name("gzip").unwrap();
    for level in 0..=9 {
        for batch in [1, 86, 256, 257, 10_000] {
            let chosen = gzip.level_for_batch(level, batch);
            assert!(chosen <= level);
            assert_eq!(chosen == level, level <= 1 || batch > 256, "{level} {batch}");
        }
    }
}

#[test]
fn beyond_the_limit_a_context_lives_for_one_call() {
    let pool = EncoderPool::with_limit(0);
    let mut stream = Stream::new(&pool, "gzip");
    for number in 0..20 {
        stream.send(&event(number));
        assert_eq!((pool.stats().memory, pool.stats().parked), (0, 1));
    }
    stream.send(&json(100_000));
    assert_eq!(pool.stats().memory, 0);
    assert!(pool.stats().transient >= 20);
    stream.finish("gzip");
    assert_eq!((pool.stats().memory, pool.stats().parked), (0, 0));
}

/// A stream through the layer that has had its first event and waits.
fn waiting(
    layer: &CompressionLayer,
    accept: &str,
) -> (String, ByHand<tower_compress::CompressionBody<Script>>) {
    let script = Script::new([Step::data(event(0)), Step::Stall]);
    let response = answered(layer, accept, text(script));
    let name = coding(&response).to_owned();
    let mut body = ByHand::new(response.into_body());
    if name != "identity" {
        body.data_within(3);
    }
    assert!(body.poll().is_pending() || name == "identity");
    (name, body)
}

#[test]
fn beyond_the_limit_streams_prefer_a_coding_that_parks_or_pass_and_never_queue() {
    let codec = by_name("zstd").unwrap();
    let one = codec.memory(Setup { level: 3, size_class: codec.size_class(None) });
    // Three quarters of it hold three.
    let pool = EncoderPool::with_limit(4 * one);
    let layer = CompressionLayer::new().br(true).pool(pool.clone());
    let mut held: Vec<_> = (0..3).map(|_| waiting(&layer, "zstd")).collect();
    assert!(held.iter().all(|(name, _)| name == "zstd"));
    assert_eq!(pool.stats().memory, 3 * one);

    assert_eq!(waiting(&layer, "zstd, br, gzip;q=0.1").0, "gzip");
    assert_eq!(waiting(&layer, "zstd").0, "identity");
    assert_eq!(layer.stats().passed(Reason::Pressure), 1);
    // What is kept for codings that park is theirs.
    let gzips: Vec<_> = (0..50).map(|_| waiting(&layer, "gzip").1).collect();
    assert_eq!(pool.stats().transient, 0);
    assert!(pool.stats().memory <= 4 * one && pool.stats().parked > 0);

    held.pop();
    assert_eq!(waiting(&layer, "zstd").0, "zstd");
    drop((held, gzips));
    assert_eq!(pool.stats().parked, 0);
}

#[test]
fn a_stream_that_is_refused_memory_takes_nobody_elses() {
    let codec = by_name("zstd").unwrap();
    let one = codec.memory(Setup { level: 3, size_class: codec.size_class(None) });
    let pool = EncoderPool::with_limit(4 * one);
    let layer = CompressionLayer::new().pool(pool.clone());
    let zstds: Vec<_> = (0..3).map(|_| waiting(&layer, "zstd").1).collect();
    let gzips: Vec<_> = (0..5).map(|_| waiting(&layer, "gzip").1).collect();
    drop(waiting(&layer, "gzip"));
    let before = pool.stats();
    assert_eq!((before.idle, before.parked), (1, 0));
    for _ in 0..3 {
        assert_eq!(waiting(&layer, "zstd").0, "identity");
    }
    assert_eq!(pool.stats(), before);
    drop((zstds, gzips));
}

#[test]
fn contexts_of_readers_that_stall_go_to_streams_at_work() {
    for name in ["gzip", "deflate"] {
        let pool = EncoderPool::with_limit(4 * LARGE);
        let mut stalled: Vec<_> = (0..10).map(|_| Stream::new(&pool, name)).collect();
        for stream in &mut stalled {
            // A reader that takes what there is in the middle of a body, and does not come back.
            stream.write(&json(50_000));
            stream.take();
            stream.compressor.park();
            assert!(pool.stats().memory <= 4 * LARGE);
        }
        let mut hot = Stream::new(&pool, name);
        (0..50).for_each(|number| hot.send(&event(number)));
        // It pays once for being new.
        assert_eq!((hot.compressor.tally().resumed, pool.stats().transient), (1, 0), "{name}");
        for mut stream in stalled {
            stream.write(&json(50_000));
            stream.take();
            stream.finish(name);
        }
        hot.finish(name);
        assert_eq!(pool.stats().parked, 0);
    }
}

#[test]
fn a_waiting_zstd_stream_has_a_small_window() {
    let layer = CompressionLayer::new().pool(EncoderPool::new());
    let response = answered(&layer, "zstd", text(Script::new([Step::data(event(0)), Step::Stall])));
    let frame = ByHand::new(response.into_body()).data_within(3);
    // RFC 8878 section 3.1.1.1.2: no single segment, and a window descriptor of 10 + exponent.
    assert_eq!((frame[4] & 0b0010_0000, 10 + (frame[5] >> 3)), (0, 17));
}

#[test]
fn a_parked_stream_is_exact_to_the_byte_at_each_event() {
    for name in ["gzip", "deflate"] {
        let limit = small_context(name);
        let layer = CompressionLayer::new().pool(EncoderPool::with_limit(limit));
        let mut streams: Vec<_> = (0..5)
            .map(|_| {
                let (sender, body) = channel();
                let response = answered(&layer, name, events(body));
                (sender, ByHand::new(response.into_body()), Incremental::new(name))
            })
            .collect();
        for round in 0..100 {
            for (number, (sender, body, receiver)) in streams.iter_mut().enumerate() {
                let event = event(1000 * number + round);
                sender.send(event.clone().into()).unwrap();
                assert_eq!(receiver.feed(&body.data_within(3)), 86 * (round + 1));
                assert!(receiver.decoded().ends_with(&event));
                assert!(body.poll().is_pending());
            }
        }
        assert_eq!(layer.stats().pool.parked, 5);
        drop(streams);
        let pool = layer.stats().pool;
        assert_eq!((pool.parked, pool.memory, pool.idle), (0, limit, 1));
        assert!(layer.stats().resumed >= 5 * 99);
    }
}

#[test]
fn streams_on_two_threads_take_each_others_contexts_without_loss() {
    for name in ["gzip", "deflate"] {
        let pool = EncoderPool::with_limit(2 * small_context(name));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let pool = &pool;
                scope.spawn(move || {
                    let mut streams: Vec<_> = (0..4).map(|_| Stream::new(pool, name)).collect();
                    for round in 0..300 {
                        for stream in &mut streams {
                            stream.send(&event(round * 10 + thread));
                            // Each thread may be in the middle of a call, with a context of the largest kind
                            // that nobody may take.
                            let memory = pool.stats().memory;
                            assert!(memory <= 2 * small_context(name) + 3 * LARGE, "{memory}");
                        }
                        if round % 50 == 49 {
                            // One ends, and one is dropped as it is.
                            streams.pop().unwrap().finish(name);
                            streams.pop();
                            streams.extend((0..2).map(|_| Stream::new(pool, name)));
                        }
                    }
                    streams.into_iter().for_each(|stream| stream.finish(name));
                });
            }
        });
        let stats = pool.stats();
        assert_eq!(stats.parked, 0);
        assert!(stats.memory <= 2 * small_context(name));
        // A stream that ended before its first event was a whole message.
        let codec = by_name(name).unwrap();
        let whole = codec.memory(Setup { level: codec.level_for_whole(6, 0), size_class: 0 });
        let sum = |wholes| wholes * whole + (stats.idle - wholes) * small_context(name);
        assert!((0..=stats.idle).any(|wholes| sum(wholes) == stats.memory), "{stats:?}");
    }
}

#[test]
fn a_context_of_another_level_is_adopted_and_one_of_another_coding_is_freed() {
    let counting = Counting::new("gzip");
    let setup = Setup { level: 6, size_class: 0 };
    let pool = EncoderPool::with_limit(counting.memory(setup));
    let code = |level, codec: &'static dyn Codec| {
        let compressor = Compressor::new(&pool, codec, CompressionLevel::Precise(level), None);
        let (coded, _) = compressor.whole(&json(9000)).unwrap();
        assert!(decode(codec.name(), &coded).unwrap() == json(9000));
        coded
    };
    let sizes = [code(1, counting), code(9, counting), code(1, counting)].map(|coded| coded.len());
    assert_eq!(counting.built(), 1);
    assert!(sizes[0] == sizes[2] && sizes[1] < sizes[0]);
    code(6, by_name("deflate").unwrap());
    assert_eq!((pool.stats().idle, pool.stats().memory), (1, counting.memory(setup)));
    code(6, counting);
    assert_eq!((counting.built(), pool.stats().transient), (2, 0));
}
