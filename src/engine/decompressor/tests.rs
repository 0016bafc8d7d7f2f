#![cfg(all(feature = "gzip", feature = "deflate", feature = "zstd", feature = "snappy", feature = "brotli"))]

use super::*;
use crate::codec::{CODECS, CompressionLevel, Operation, Setup, battery::text, by_name};
use std::{io::Write, sync::Mutex};

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

fn decompressor<S: DecoderSource>(names: &[&str], limits: Limits, source: S) -> Decompressor<S> {
    Decompressor::new(names.iter().map(|name| codec(name)), limits, source).unwrap()
}

#[derive(Debug, Default)]
struct Outcome {
    plain: Vec<u8>,
    calls: usize,
    memory: usize,
}

/// Decodes `coded` in chunks, holding every call to its bounds.
fn decode<S: DecoderSource>(
    decompressor: &mut Decompressor<S>,
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
            let mut decompressor = decompressor(names, Limits::default(), Fresh);
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
            let mut decompressor = decompressor(&[codec.name()], Limits::default(), Fresh);
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
    let mut decompressor = decompressor(&["gzip", "zstd"], Limits::default(), Fresh);
    let mut plain = Vec::new();
    let progress = decompressor.decode(outer.get_ref(), 1 << 16, &mut plain).unwrap();
    assert!(!progress.more);
    assert_eq!(plain, b"an event\n\n");
    assert!(decompressor.finish().unwrap_err().is_truncated());
}

#[test]
fn messages_without_content_are_empty_and_take_no_decoder() {
    #[derive(Debug)]
    struct None_;
    impl DecoderSource for None_ {
        fn take(&self, _: &'static dyn Codec, _: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
            panic!("a decoder was taken before the first byte");
        }
    }
    for codec in CODECS {
        let mut decompressor = decompressor(&[codec.name(), "gzip", codec.name()], Limits::default(), None_);
        let progress = decompressor.decode(b"", 100, &mut Vec::new()).unwrap();
        assert_eq!(progress, Progress { taken: 0, more: false });
        assert_eq!(decompressor.memory(), 0);
        decompressor.finish().unwrap();
    }
}

#[test]
fn truncated_at_any_byte() {
    for names in [&["gzip"][..], &["gzip", "zstd"], &["snappy", "gzip"]] {
        let coded = stack(names, &text(300));
        for cut in 1..coded.len() {
            let mut decompressor = decompressor(names, Limits::default(), Fresh);
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
        let result = Decompressor::new(codings, Limits::default(), Fresh);
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
            let (outcome, end) =
                decode(&mut decompressor(&[codec.name()], exact, Fresh), &coded, (999, room));
            end.unwrap();
            assert!(outcome.plain == plain);

            let less = Limits::default().max_decoded(39_999);
            let (outcome, end) = decode(&mut decompressor(&[codec.name()], less, Fresh), &coded, (999, room));
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
        let mut decompressor = decompressor(names, limits, Fresh);
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
    // gzip alone stays below 1000:1 with these encoders' fast levels; twice it does not.
    for (names, fits) in
        [(&["gzip"][..], true), (&["x-snappy-framed"], true), (&["gzip", "gzip"], false), (&["zstd"], false)]
    {
        let coded = stack(names, &zeros);
        let mut bounded = decompressor(names, Limits::default(), Fresh);
        let (outcome, end) = decode(&mut bounded, &coded, (1 << 20, 1 << 14));
        assert_eq!(end.is_ok(), fits, "{names:?}: {}", zeros.len() / coded.len());
        assert!(fits || (end.unwrap_err().is_limit() && outcome.plain.len() < (1 << 20) + (1 << 15)));

        let mut unbounded = decompressor(names, Limits::default().max_ratio(u64::MAX), Fresh);
        decode(&mut unbounded, &coded, (1 << 20, 1 << 14)).1.unwrap();
        // Within the allowance no ratio is too high.
        let small = stack(names, &zeros[..1 << 20]);
        decode(&mut decompressor(names, Limits::default(), Fresh), &small, (1 << 20, 1 << 14)).1.unwrap();
    }
}

#[test]
fn what_decodes_to_nothing_is_bounded_too() {
    // 20,000 members and 200,000 skippable frames, alone and blown up by another coding.
    let members = code("gzip", b"").repeat(20_000);
    let frames = b"\x50\x2a\x4d\x18\0\0\0\0".repeat(200_000);
    for (name, coded) in [("gzip", &members), ("zstd", &frames)] {
        let mut alone = decompressor(&[name], Limits::default(), Fresh);
        let (outcome, end) = decode(&mut alone, coded, (1 << 24, 1 << 14));
        end.unwrap();
        assert!(outcome.calls >= coded.len() / (2 * WORK));
    }
    let coded = stack(&["zstd"], &frames);
    let mut stacked = decompressor(&["zstd", "zstd"], Limits::default(), Fresh);
    let (outcome, end) = decode(&mut stacked, &coded, (1 << 24, 1 << 14));
    assert!(end.unwrap_err().is_limit());
    assert!(outcome.calls > 10 && outcome.plain.is_empty());
}

#[test]
fn decoders_go_back_after_a_clean_end_only() {
    #[derive(Default)]
    struct Shelf(Mutex<Vec<(&'static str, Box<dyn Decoder>)>>);
    impl DecoderSource for &Shelf {
        fn take(&self, codec: &'static dyn Codec, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
            let mut shelf = self.0.lock().unwrap();
            let found = shelf.iter().position(|(name, _)| *name == codec.name());
            found.map_or_else(|| codec.decoder(limits), |at| Ok(shelf.remove(at).1))
        }

        fn give_back(&self, codec: &'static dyn Codec, _: DecodeLimits, decoder: Box<dyn Decoder>) {
            self.0.lock().unwrap().push((codec.name(), decoder));
        }
    }
    let (shelf, plain) = (Shelf::default(), text(5000));
    for codec in CODECS {
        let names = [codec.name(), "gzip"];
        let coded = stack(&names, &plain);
        for _ in 0..3 {
            let mut decompressor = decompressor(&names, Limits::default(), &shelf);
            let (outcome, end) = decode(&mut decompressor, &coded, (100, 1000));
            end.unwrap();
            assert!(outcome.plain == plain);
            assert_eq!(decompressor.memory(), 0);
        }
    }
    let count = shelf.0.lock().unwrap().len();
    assert_eq!(count, CODECS.len() + 1);
    let coded = code("gzip", &plain);
    for broken in [&coded[..coded.len() - 1], &[&coded[..], b"x"].concat()] {
        let mut decompressor = decompressor(&["gzip"], Limits::default(), &shelf);
        decode(&mut decompressor, broken, (100, 1000)).1.unwrap_err();
    }
    assert_eq!(shelf.0.lock().unwrap().len(), count - 2);
}

#[test]
fn a_decoder_that_leaves_input_is_an_error() {
    #[derive(Debug)]
    struct Stuck;
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
    impl DecoderSource for Stuck {
        fn take(&self, _: &'static dyn Codec, _: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
            Ok(Box::new(Stuck))
        }
    }
    let mut decompressor = decompressor(&["gzip"], Limits::default(), Stuck);
    assert!(decompressor.decode(b"x", 100, &mut Vec::new()).unwrap_err().is_decode());
}
