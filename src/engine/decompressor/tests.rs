#![cfg(all(feature = "gzip", feature = "deflate", feature = "zstd", feature = "snappy", feature = "brotli"))]

use super::*;
use crate::codec::{
    CODECS, CompressionLevel, DecodeLimits, Encoder, Operation, Setup, battery::text, by_name,
};
use std::io::Write;

fn codec(name: &str) -> &'static dyn Codec {
    by_name(name).unwrap()
}

fn code(name: &str, plain: &[u8]) -> Vec<u8> {
    fn write(mut writer: impl Write, plain: &[u8]) {
        writer.write_all(plain).unwrap();
        writer.flush().unwrap();
    }
    let mut coded = Vec::new();
    let level = flate2::Compression::fast();
    match name {
        "gzip" => write(flate2::write::GzEncoder::new(&mut coded, level), plain),
        "deflate" => write(flate2::write::ZlibEncoder::new(&mut coded, level), plain),
        "zstd" => write(zstd::stream::Encoder::new(&mut coded, 1).unwrap().auto_finish(), plain),
        "x-snappy-framed" => write(snap::write::FrameEncoder::new(&mut coded), plain),
        "snappy" => coded = snap::raw::Encoder::new().compress_vec(plain).unwrap(),
        _ => write(brotli::CompressorWriter::new(&mut coded, 4096, 1, 22), plain),
    }
    coded
}

/// Applies the codings one after another.
fn stack(names: &[&str], plain: &[u8]) -> Vec<u8> {
    names.iter().fold(plain.to_vec(), |coded, name| code(name, &coded))
}

fn decompressor(names: &[&str], limits: Limits) -> Decompressor {
    pooled(names, limits, &DecoderPool::new())
}

fn pooled(names: &[&str], limits: Limits, pool: &DecoderPool) -> Decompressor {
    Decompressor::new(names.iter().map(|name| codec(name)), limits, pool).unwrap()
}

#[derive(Debug, Default)]
struct Outcome {
    plain: Vec<u8>,
    calls: usize,
    memory: usize,
}

/// Decodes `coded` in chunks, holding every call to its bounds.
fn decode(
    decompressor: &mut Decompressor,
    coded: &[u8],
    (chunk, room): (usize, usize),
) -> (Outcome, Result<(), Error>) {
    let mut outcome = Outcome::default();
    for mut chunk in coded.chunks(chunk) {
        loop {
            let before = outcome.plain.len();
            let result = decompressor.decode(chunk, room, &mut outcome.plain);
            assert!(outcome.plain.len() - before <= room);
            outcome.calls += 1;
            outcome.memory = outcome.memory.max(decompressor.memory());
            let progress = match result {
                Ok(progress) => progress,
                Err(error) => return (outcome, Err(error)),
            };
            let passes = decompressor.stages.is_empty();
            assert!(passes || progress.taken <= 2 * WORK, "{} bytes in one call", progress.taken);
            chunk = &chunk[progress.taken..];
            if !progress.more {
                assert!(chunk.is_empty());
                break;
            }
        }
    }
    let end = decompressor.finish();
    (outcome, end)
}

#[test]
fn codings_are_undone_in_reverse_order() {
    let plain = text(50_000);
    let stacks: [&[&str]; 9] = [
        &[],
        &["gzip"],
        &["snappy"],
        &["gzip", "zstd"],
        &["gzip", "gzip"],
        &["snappy", "br"],
        &["deflate", "x-snappy-framed"],
        &["zstd", "gzip", "br"],
        &["gzip", "deflate", "zstd", "x-snappy-framed", "br"],
    ];
    for names in stacks {
        let coded = stack(names, &plain);
        for shape in [(1, 1 << 16), (1000, 7), (977, 1000), (1 << 20, 1 << 14), (1 << 20, 1 << 20)] {
            let mut decompressor = decompressor(names, Limits::default());
            let (outcome, end) = decode(&mut decompressor, &coded, shape);
            end.unwrap();
            assert!(outcome.plain == plain, "{names:?} {shape:?}");
            assert_eq!(decompressor.received(), coded.len() as u64);
            assert_eq!(decompressor.decoded(), plain.len() as u64);
        }
    }
}

#[test]
fn our_own_encoders() {
    let plain = text(100_000);
    for codec in CODECS {
        for level in [CompressionLevel::Fastest, CompressionLevel::Default] {
            let setup = Setup { level: codec.level(level), size_class: codec.size_class(None) };
            let mut encoder = codec.encoder(setup).unwrap();
            let mut coded = Vec::new();
            for part in plain.chunks(30_000) {
                encoder.encode(part, Operation::Flush, &mut coded).unwrap();
            }
            encoder.encode(b"", Operation::Finish, &mut coded).unwrap();
            let mut decompressor = decompressor(&[codec.name()], Limits::default());
            let (outcome, end) = decode(&mut decompressor, &coded, (999, 1 << 14));
            end.unwrap();
            assert!(outcome.plain == plain, "{codec:?}");
        }
    }
}

#[test]
fn what_was_flushed_comes_through_two_codings() {
    let inner = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut inner = inner;
    inner.write_all(b"an event\n\n").unwrap();
    inner.flush().unwrap();
    let mut outer = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    outer.write_all(inner.get_ref()).unwrap();
    outer.flush().unwrap();
    let mut decompressor = decompressor(&["gzip", "zstd"], Limits::default());
    let mut plain = Vec::new();
    let progress = decompressor.decode(outer.get_ref(), 1 << 16, &mut plain).unwrap();
    assert!(!progress.more);
    assert_eq!(plain, b"an event\n\n");
    assert!(decompressor.finish().unwrap_err().is_truncated());
}

#[test]
fn messages_without_content_are_empty_and_take_no_decoder() {
    let pool = DecoderPool::new();
    for codec in CODECS {
        let mut decompressor = pooled(&[codec.name(), "gzip", codec.name()], Limits::default(), &pool);
        let progress = decompressor.decode(b"", 100, &mut Vec::new()).unwrap();
        assert_eq!(progress, Progress { taken: 0, more: false });
        assert_eq!(decompressor.memory(), 0);
        decompressor.finish().unwrap();
        assert_eq!(pool.stats(), Default::default());
    }
}

#[test]
fn truncated_at_any_byte() {
    for names in [&["gzip"][..], &["gzip", "zstd"], &["snappy", "gzip"]] {
        let coded = stack(names, &text(300));
        for cut in 1..coded.len() {
            let mut decompressor = decompressor(names, Limits::default());
            let (outcome, end) = decode(&mut decompressor, &coded[..cut], (1 << 20, 1 << 16));
            assert!(end.unwrap_err().is_truncated(), "{names:?} at {cut}");
            assert!(text(300).starts_with(&outcome.plain));
            assert!(decompressor.finish().unwrap_err().is_decode());
        }
    }
}

#[test]
fn too_many_codings() {
    for (count, fits) in [(5, true), (6, false), (8000, false)] {
        let codings = std::iter::repeat_n(codec("gzip"), count);
        let result = Decompressor::new(codings, Limits::default(), &DecoderPool::new());
        assert_eq!(result.is_ok(), fits);
        assert!(fits || result.unwrap_err().is_limit());
    }
}

#[test]
fn exactly_the_limit_and_one_byte_more() {
    let plain = text(40_000);
    for codec in CODECS {
        let coded = code(codec.name(), &plain);
        for room in [100, 40_000, 1 << 20] {
            let exact = Limits::default().max_decoded(40_000);
            let (outcome, end) = decode(&mut decompressor(&[codec.name()], exact), &coded, (999, room));
            end.unwrap();
            assert!(outcome.plain == plain);

            let less = Limits::default().max_decoded(39_999);
            let (outcome, end) = decode(&mut decompressor(&[codec.name()], less), &coded, (999, room));
            assert!(end.unwrap_err().is_limit());
            assert!(outcome.plain.len() <= 39_999 && plain.starts_with(&outcome.plain));
        }
    }
}

#[test]
fn bombs_end_at_the_limit_in_bounded_memory() {
    const MIB: usize = 1 << 20;
    let zeros = vec![0; 12 * MIB];
    let limits = Limits::default().max_decoded(MIB as u64);
    let stacks: [&[&str]; 8] = [
        &["gzip"],
        &["deflate"],
        &["zstd"],
        &["x-snappy-framed"],
        &["snappy"],
        &["br"],
        &["gzip", "gzip"],
        &["br", "zstd", "gzip"],
    ];
    for names in stacks {
        let coded = stack(names, &zeros);
        let mut decompressor = decompressor(names, limits);
        let (outcome, end) = decode(&mut decompressor, &coded, (1 << 20, 1 << 14));
        assert!(end.unwrap_err().is_limit(), "{names:?}");
        assert!(outcome.plain.len() <= MIB);
        // The windows of zstd and brotli are 512 KiB and 4 MiB at these settings.
        assert!(outcome.memory <= 6 * MIB, "{names:?}: {}", outcome.memory);
        assert_eq!(decompressor.memory(), 0);
    }
}

#[test]
fn the_ratio_counts_over_all_codings() {
    let zeros = vec![0; 4 << 20];
    let limits = Limits::default().ratio_allowance(1 << 20);
    // gzip alone stays below 1000:1 with these encoders' fast levels; twice it does not.
    for (names, fits) in
        [(&["gzip"][..], true), (&["x-snappy-framed"], true), (&["gzip", "gzip"], false), (&["zstd"], false)]
    {
        let coded = stack(names, &zeros);
        let mut bounded = decompressor(names, limits);
        let (outcome, end) = decode(&mut bounded, &coded, (1 << 20, 1 << 14));
        assert_eq!(end.is_ok(), fits, "{names:?}: {}", zeros.len() / coded.len());
        assert!(fits || (end.unwrap_err().is_limit() && outcome.plain.len() < (1 << 20) + (1 << 15)));

        let mut unbounded = decompressor(names, limits.max_ratio(u64::MAX));
        decode(&mut unbounded, &coded, (1 << 20, 1 << 14)).1.unwrap();
        // Within the allowance no ratio is too high.
        let small = stack(names, &zeros[..1 << 20]);
        decode(&mut decompressor(names, limits), &small, (1 << 20, 1 << 14)).1.unwrap();
    }
}

#[test]
fn by_default_the_ratio_counts_from_16_mebibytes_on_and_64_of_responses() {
    for (limits, allowance) in [(Limits::default(), 16 << 20), (Limits::responses(), 64 << 20)] {
        for (length, fits) in [(allowance, true), (allowance + 1, false)] {
            let coded = code("zstd", &vec![0; length]);
            let (_, end) = decode(&mut decompressor(&["zstd"], limits), &coded, (1 << 20, 1 << 16));
            assert_eq!(end.is_ok(), fits, "{length}");
        }
    }
}

#[test]
fn what_decodes_to_nothing_is_bounded_too() {
    // 20,000 members and 200,000 skippable frames, alone and blown up by another coding.
    let members = code("gzip", b"").repeat(20_000);
    let frames = b"\x50\x2a\x4d\x18\0\0\0\0".repeat(200_000);
    for (name, coded) in [("gzip", &members), ("zstd", &frames)] {
        let mut alone = decompressor(&[name], Limits::default());
        let (outcome, end) = decode(&mut alone, coded, (1 << 24, 1 << 14));
        end.unwrap();
        assert!(outcome.calls >= coded.len() / (2 * WORK));
    }
    let coded = stack(&["zstd"], &frames);
    let limits = Limits::default().ratio_allowance(1 << 20);
    let mut stacked = decompressor(&["zstd", "zstd"], limits);
    let (outcome, end) = decode(&mut stacked, &coded, (1 << 24, 1 << 14));
    assert!(end.unwrap_err().is_limit());
    assert!(outcome.calls > 10 && outcome.plain.is_empty());
}

#[test]
fn decoders_go_back_at_the_end_and_when_they_are_dropped() {
    let plain = text(5000);
    for codec in CODECS {
        let (pool, names) = (DecoderPool::new(), [codec.name(), "gzip"]);
        let coded = stack(&names, &plain);
        for round in 0..3 {
            let mut whole = pooled(&names, Limits::default(), &pool);
            let (outcome, end) = decode(&mut whole, &coded, (100, 1000));
            end.unwrap();
            assert!(outcome.plain == plain, "{codec:?} {round}");
            assert_eq!(whole.memory(), 0);
            // Left in the middle: what it has decoded must not show in the next message.
            let mut dropped = pooled(&names, Limits::default(), &pool);
            dropped.decode(&coded[..coded.len() / 2], 1 << 20, &mut Vec::new()).unwrap();
            drop(dropped);
            let stats = pool.stats();
            assert_eq!((stats.idle, stats.misses), (2, 2), "{codec:?} {round}");
        }
    }
}

#[test]
fn decoders_that_saw_an_error_are_freed() {
    for codec in CODECS {
        let (pool, coded) = (DecoderPool::new(), code(codec.name(), &text(5000)));
        for broken in [&coded[..coded.len() - 1], &[&coded[..], b"x"].concat()] {
            decode(&mut pooled(&[codec.name()], Limits::default(), &pool), broken, (100, 1000))
                .1
                .unwrap_err();
            assert_eq!((pool.stats().idle, pool.stats().memory), (0, 0), "{codec:?}");
        }
    }
}

#[test]
fn decoders_with_other_limits_are_not_taken() {
    let (pool, coded) = (DecoderPool::new(), code("zstd", &text(200_000)));
    decode(&mut pooled(&["zstd"], Limits::default(), &pool), &coded, (1 << 20, 1 << 14)).1.unwrap();
    assert_eq!(pool.stats().idle, 1);
    let narrow = Limits::default().max_window(1 << 10);
    let end = decode(&mut pooled(&["zstd"], narrow, &pool), &coded, (1 << 20, 1 << 14)).1;
    assert!(end.unwrap_err().is_limit());
    assert_eq!((pool.stats().idle, pool.stats().hits), (1, 0));
}

#[test]
fn idle_decoders_stay_below_the_limit() {
    let coded = code("gzip", &text(1000));
    let pool = DecoderPool::with_limit(200 << 10);
    let mut live: Vec<_> = (0..10).map(|_| pooled(&["gzip"], Limits::default(), &pool)).collect();
    for decompressor in &mut live {
        decompressor.decode(&coded, 1 << 14, &mut Vec::new()).unwrap();
    }
    drop(live);
    let stats = pool.stats();
    assert!((1..10).contains(&stats.idle) && stats.memory <= 200 << 10, "{stats:?}");
}

#[test]
fn a_decoder_that_leaves_input_is_an_error() {
    #[derive(Debug)]
    struct Stuck;
    impl Codec for Stuck {
        fn name(&self) -> &'static str {
            "stuck"
        }
        fn level(&self, _: CompressionLevel) -> i32 {
            0
        }
        fn memory(&self, _: Setup) -> usize {
            0
        }
        fn encoder(&self, _: Setup) -> Result<Box<dyn Encoder>, Error> {
            unreachable!("it only decodes")
        }
        fn decoder(&self, _: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
            Ok(Box::new(Stuck))
        }
    }
    impl Decoder for Stuck {
        fn decode(&mut self, _: &[u8], _: usize, _: &mut Vec<u8>) -> Result<usize, Error> {
            Ok(0)
        }
        fn finish(&mut self) -> Result<(), Error> {
            Ok(())
        }
        fn reset(&mut self) -> bool {
            true
        }
        fn memory(&self) -> usize {
            0
        }
    }
    let codings: [&'static dyn Codec; 1] = [&Stuck];
    let mut decompressor = Decompressor::new(codings, Limits::default(), &DecoderPool::new()).unwrap();
    assert!(decompressor.decode(b"x", 100, &mut Vec::new()).unwrap_err().is_decode());
}
