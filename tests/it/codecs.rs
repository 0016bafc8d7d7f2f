//! One battery over every codec in the registry.

use crate::support::corpus::{json, noise};
use crate::support::decode::{decode, decode_prefix};
use std::collections::BTreeSet;
use tower_compress::codec::{CODECS, Codec, CompressionLevel, Encoder, Operation, Setup, by_name};

fn setup(codec: &dyn Codec, level: CompressionLevel, size: Option<u64>) -> Setup {
    Setup { level: codec.level(level), size_class: codec.size_class(size) }
}

/// Every codec with every level that it chooses by itself: for most messages, for small batches, for small messages.
fn every() -> impl Iterator<Item = Kind> {
    CODECS.iter().flat_map(|&codec| {
        let usual = codec.level(CompressionLevel::Default);
        let mut levels = vec![usual, codec.level_for_batch(usual, 86), codec.level_for_whole(usual, 1000)];
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().map(move |level| Kind { codec, level })
    })
}

/// Every codec with every level that it can be asked for, and those of its own.
fn every_level() -> impl Iterator<Item = Kind> {
    CODECS.iter().flat_map(|&codec| {
        let own = every().filter(move |kind| kind.codec.name() == codec.name()).map(|kind| kind.level);
        let levels: BTreeSet<_> =
            (-1..=22).map(|level| codec.level(CompressionLevel::Precise(level))).chain(own).collect();
        levels.into_iter().map(move |level| Kind { codec, level })
    })
}

#[derive(Debug, Clone, Copy)]
struct Kind {
    codec: &'static dyn Codec,
    level: i32,
}

impl Kind {
    fn encoder(self) -> Box<dyn Encoder> {
        let size_class = self.codec.size_class(None);
        self.codec.encoder(Setup { level: self.level, size_class }).unwrap()
    }
}

fn encoder(codec: &dyn Codec) -> Box<dyn Encoder> {
    codec.encoder(setup(codec, CompressionLevel::Default, None)).unwrap()
}

fn encode(encoder: &mut dyn Encoder, pieces: &[&[u8]]) -> Vec<u8> {
    let mut output = Vec::new();
    for piece in pieces {
        encoder.encode(piece, Operation::Encode, &mut output).unwrap();
    }
    encoder.encode(&[], Operation::Finish, &mut output).unwrap();
    output
}

#[test]
fn every_codec_is_compiled_in_here() {
    for name in ["zstd", "br", "gzip", "deflate", "x-snappy-framed", "snappy"] {
        assert_eq!(by_name(name).unwrap().name(), name);
        assert_eq!(by_name(&name.to_ascii_uppercase()).unwrap().name(), name);
    }
    assert_eq!(by_name("x-gzip").unwrap().name(), "gzip");
    assert!(by_name("identity").is_none());
    assert_eq!(CODECS.len(), 6);
}

#[test]
fn bodies_of_every_kind_come_back() {
    for kind in every() {
        let codec = kind.codec;
        for input in [vec![], vec![b'x'], json(1), json(1000), json(300_000), noise(100_000)] {
            for cut in [1_000_000, 8192, 4097] {
                let pieces: Vec<&[u8]> = input.chunks(cut).collect();
                let coded = encode(&mut *kind.encoder(), &pieces);
                assert_eq!(decode(codec.name(), &coded).unwrap(), input, "{kind:?} {}", input.len());
            }
        }
    }
}

#[test]
fn sixteen_mebibytes_come_back() {
    let input = json(16 << 20);
    for codec in CODECS {
        let pieces: Vec<&[u8]> = input.chunks(codec.batch(3)).collect();
        let coded = encode(&mut *encoder(*codec), &pieces);
        assert!(coded.len() < input.len() / 2, "{} {}", codec.name(), coded.len());
        assert!(decode(codec.name(), &coded).unwrap() == input, "{}", codec.name());
    }
}

#[test]
fn one_call_is_enough_and_appends() {
    let input = json(30_000);
    for kind in every() {
        let codec = kind.codec;
        let mut output = b"before".to_vec();
        kind.encoder().encode(&input, Operation::Finish, &mut output).unwrap();
        assert_eq!(decode(codec.name(), &output[6..]).unwrap(), input, "{kind:?}");
    }
}

#[test]
fn after_a_flush_everything_so_far_is_decodable() {
    let input = json(50_000);
    for kind in every().filter(|kind| kind.codec.streams()) {
        let codec = kind.codec;
        let mut encoder = kind.encoder();
        let mut output = Vec::new();
        let mut given = 0;
        for piece in [0, 1, 86, 5000, 40_000] {
            encoder.encode(&input[given..given + piece], Operation::Flush, &mut output).unwrap();
            given += piece;
            assert_eq!(decode_prefix(codec.name(), &output), &input[..given], "{kind:?}");
        }
        encoder.encode(&input[given..], Operation::Encode, &mut output).unwrap();
        encoder.encode(&[], Operation::Flush, &mut output).unwrap();
        assert_eq!(decode_prefix(codec.name(), &output), input, "{kind:?}");
        encoder.encode(&[], Operation::Finish, &mut output).unwrap();
        assert_eq!(decode(codec.name(), &output).unwrap(), input, "{kind:?}");
    }
}

#[test]
fn a_flush_with_nothing_new_puts_nothing_out() {
    for kind in every().filter(|kind| kind.codec.streams()) {
        let mut encoder = kind.encoder();
        let mut output = Vec::new();
        encoder.encode(&[], Operation::Flush, &mut output).unwrap();
        assert!(output.is_empty(), "{kind:?}");
        encoder.encode(b"something", Operation::Flush, &mut output).unwrap();
        let length = output.len();
        encoder.encode(&[], Operation::Flush, &mut output).unwrap();
        encoder.encode(&[], Operation::Encode, &mut output).unwrap();
        assert_eq!(output.len(), length, "{kind:?}");
    }
}

#[test]
fn a_reset_encoder_is_as_new_byte_for_byte() {
    let (first, second) = (json(70_000), json(20_000));
    for kind in every() {
        let fresh = encode(&mut *kind.encoder(), &[&second]);
        let mut used = kind.encoder();
        encode(&mut *used, &[&first]);
        assert!(used.reset(), "{kind:?}");
        assert_eq!(encode(&mut *used, &[&second]), fresh, "{kind:?} after an end");

        let mut abandoned = kind.encoder();
        abandoned.encode(&first, Operation::Encode, &mut Vec::new()).unwrap();
        assert!(abandoned.reset(), "{kind:?}");
        assert_eq!(encode(&mut *abandoned, &[&second]), fresh, "{kind:?} after a drop");
    }
}

/// What a client that goes away leaves behind, in every way that a stream can be cut off.
fn abandon(encoder: &mut dyn Encoder, cut: usize) {
    let input = json(20_000);
    let mut output = Vec::new();
    match cut {
        0 => encoder.encode(b"x", Operation::Encode, &mut output).unwrap(),
        1 => encoder.encode(&[b'x'; 5000], Operation::Encode, &mut output).unwrap(),
        2 => input.chunks(4096).for_each(|piece| {
            encoder.encode(piece, Operation::Encode, &mut output).unwrap();
        }),
        _ => {
            encoder.encode(&input, Operation::Flush, &mut output).unwrap();
            encoder.encode(&input[..9000], Operation::Encode, &mut output).unwrap();
        }
    }
}

#[test]
fn abandoned_midway_and_reset_an_encoder_is_as_new_at_every_level() {
    let message = json(3000);
    for kind in every_level() {
        let fresh = encode(&mut *kind.encoder(), &[&message]);
        for cut in 0..4 {
            let mut used = kind.encoder();
            abandon(&mut *used, cut);
            assert!(used.reset(), "{kind:?} {cut}");
            assert_eq!(encode(&mut *used, &[&message]), fresh, "{kind:?} {cut}");
        }
    }
}

#[test]
fn abandoned_midway_an_encoder_can_change_its_level() {
    let message = json(3000);
    for codec in [by_name("gzip").unwrap(), by_name("deflate").unwrap()] {
        for (from, to) in (0..=9).flat_map(|from| (0..=9).map(move |to| (from, to))) {
            let mut used = Kind { codec, level: from }.encoder();
            // Back and forth: what one level left must not lie in wait for its next turn.
            for level in [to, from] {
                abandon(&mut *used, 2);
                assert!(used.reset() && used.set_level(level));
                let coded = encode(&mut *used, &[&message]);
                assert_eq!(decode(codec.name(), &coded).unwrap(), message, "{from} {to}");
                assert!(used.reset());
            }
        }
    }
}

#[test]
fn abandoned_midway_an_encoder_can_go_on_with_another_stream() {
    let (begin, rest) = (json(5000), json(3000));
    for kind in every_level().filter(|kind| kind.codec.parks()) {
        for cut in 0..4 {
            let mut coded = Vec::new();
            let mut first = kind.encoder();
            first.encode(&begin, Operation::Flush, &mut coded).unwrap();
            let stream = first.suspend().unwrap();

            let mut used = kind.encoder();
            abandon(&mut *used, cut);
            assert!(used.reset() && used.resume(stream));
            used.encode(&rest, Operation::Finish, &mut coded).unwrap();
            let both = [&begin[..], &rest].concat();
            assert_eq!(decode(kind.codec.name(), &coded).unwrap(), both, "{kind:?} {cut}");

            // What suspended leaves a context as well as what was abandoned.
            assert!(first.reset());
            let coded = encode(&mut *first, &[&rest]);
            assert_eq!(decode(kind.codec.name(), &coded).unwrap(), rest, "{kind:?} {cut}");
        }
    }
}

#[test]
fn a_broken_promise_is_an_error_and_a_reset_mends_it() {
    let codec = by_name("zstd").unwrap();
    let mut encoder = codec.encoder(setup(codec, CompressionLevel::Default, Some(100))).unwrap();
    encoder.pledge(100);
    let mut output = Vec::new();
    let lie = encoder
        .encode(&[b'a'; 120], Operation::Encode, &mut output)
        .and_then(|()| encoder.encode(&[], Operation::Finish, &mut output));
    assert!(lie.unwrap_err().is_encode());
    assert!(encoder.reset());
    let coded = encode(&mut *encoder, &[b"mended"]);
    assert_eq!(decode("zstd", &coded).unwrap(), b"mended");
}

#[test]
fn after_a_misuse_a_reset_mends_or_says_that_it_cannot() {
    let input = json(20_000);
    for kind in every() {
        let fresh = encode(&mut *kind.encoder(), &[&input]);
        for misuse in [Operation::Encode, Operation::Flush, Operation::Finish] {
            let mut used = kind.encoder();
            encode(&mut *used, &[&input]);
            // The message has ended: what comes of this is not promised, but for the end of it.
            let _ = used.encode(&json(3000), misuse, &mut Vec::new());
            let _ = used.encode(&[], Operation::Finish, &mut Vec::new());
            assert!(!used.reset() || encode(&mut *used, &[&input]) == fresh, "{kind:?} {misuse:?}");
        }
    }
}

#[test]
fn a_level_out_of_range_is_clamped() {
    for codec in CODECS {
        for level in [i32::MIN, -1, 0, 1, 99, i32::MAX] {
            let setup = setup(*codec, CompressionLevel::Precise(level), Some(3));
            let mut output = Vec::new();
            codec.encoder(setup).unwrap().encode(b"abc", Operation::Finish, &mut output).unwrap();
            assert_eq!(decode(codec.name(), &output).unwrap(), b"abc", "{} {level}", codec.name());
        }
    }
}

#[test]
fn a_suspended_stream_goes_on_in_another_encoder_at_any_level() {
    let input = json(100_000);
    for codec in CODECS.iter().filter(|codec| codec.parks()) {
        let (events, small) = (codec.level_for_batch(6, 86), codec.level_for_whole(6, 1000));
        let own = [(6, small), (small, 6), (small, events), (events, small), (small, small)];
        for (from, to) in [(6, 6), (6, 1), (1, 6), (9, 3), (0, 6), (6, 0)].into_iter().chain(own) {
            let at = |level| Kind { codec: *codec, level }.encoder();
            let mut output = Vec::new();
            let mut encoder = at(from);
            for (turn, piece) in input.chunks(9973).enumerate() {
                encoder.encode(piece, Operation::Flush, &mut output).unwrap();
                let suspended = encoder.suspend().unwrap();
                encoder = at(if turn % 2 == 0 { to } else { from });
                assert!(encoder.resume(suspended));
            }
            encoder.encode(&[], Operation::Finish, &mut output).unwrap();
            assert_eq!(decode(codec.name(), &output).unwrap(), input, "{} {from} {to}", codec.name());
        }
    }
}

#[test]
fn unflushed_input_is_never_suspended() {
    for codec in CODECS {
        let mut encoder = encoder(*codec);
        assert!(encoder.suspend().is_none());
        encoder.encode(b"held back", Operation::Encode, &mut Vec::new()).unwrap();
        // Snappy's framing holds nothing back: what a call gets is a chunk.
        let held_back = codec.name() != "x-snappy-framed";
        assert_eq!(encoder.suspend().is_none(), held_back, "{}", codec.name());
    }
}
