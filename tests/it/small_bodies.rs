//! Small whole bodies of gzip and deflate, which an encoder of our own codes: no larger than zlib's, and always alike.

use crate::support::corpus::{Random, event, json, noise};
use crate::support::decode::decode;
use flate2::{Compress, Compression, FlushCompress};
use std::fmt::Write as _;
use tower_compress::EncoderPool;
use tower_compress::codec::{Codec, CompressionLevel, Setup, by_name};
use tower_compress::engine::Compressor;

/// The longest message that it gets in place of level 6.
const LONGEST: usize = 6 * 1024;

fn whole(pool: &EncoderPool, codec: &'static dyn Codec, level: i32, body: &[u8]) -> Vec<u8> {
    let compressor = Compressor::new(pool, codec, CompressionLevel::Precise(level), None);
    let (coded, _) = compressor.whole(body).unwrap();
    assert!(decode(codec.name(), &coded).unwrap() == body, "{} {level} {}", codec.name(), body.len());
    coded.to_vec()
}

/// What zlib-rs makes of it, with nothing around.
fn zlib(level: u32, body: &[u8]) -> usize {
    let mut coded = Vec::with_capacity(body.len() + 100);
    Compress::new(Compression::new(level), false)
        .compress_vec(body, &mut coded, FlushCompress::Finish)
        .unwrap();
    coded.len()
}

fn words(random: &mut Random, separators: [&str; 3]) -> String {
    const WORDS: [&str; 12] = [
        "order", "paid", "customer", "Lisbon", "shipped", "keyboard", "status", "the", "of", "window",
        "price", "x",
    ];
    let mut text = String::new();
    while text.len() < LONGEST {
        let separator = separators[random.below(3)];
        let digits = 4 + random.below(20);
        let (word, number) = (WORDS[random.below(WORDS.len())], random.below(1 << digits));
        write!(text, "{word}{separator}{number}").unwrap();
    }
    text
}

/// Bodies of many kinds, each [`LONGEST`] bytes long or more.
fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let mut random = Random(3);
    let indented = json(LONGEST).iter().fold(String::new(), |mut text, &byte| {
        text.push(char::from(byte));
        if matches!(byte, b',' | b'{') {
            text.push_str("\n        ");
        }
        text
    });
    let hexadecimal = (0..400).fold(String::new(), |text, _| text + &format!("{:016x}\n", random.next()));
    let binary = (0..LONGEST).map(|_| (random.below(16) * random.below(16)) as u8).collect();
    vec![
        ("json", json(LONGEST)),
        ("indented json", indented.into_bytes()),
        ("events", (0..100).flat_map(event).collect()),
        ("markup", words(&mut random, ["</td><td>", "</td></tr>\n<tr><td class=\"", "\">"]).into_bytes()),
        ("rows", words(&mut random, [",", ";", "\n"]).into_bytes()),
        ("hexadecimal", hexadecimal.into_bytes()),
        ("binary", binary),
        ("noise", noise(LONGEST)),
        ("one byte", vec![b'-'; LONGEST]),
    ]
}

#[test]
fn never_one_per_cent_larger_than_zlib() {
    let pool = EncoderPool::new();
    let gzip = by_name("gzip").unwrap();
    let around = whole(&pool, gzip, 6, b"").len() - 2;
    for (kind, body) in corpus() {
        for length in [300, 400, 800, 1600, 2048, 3000, 4096, 5000, LONGEST] {
            for level in 2..=6 {
                let ours = whole(&pool, gzip, level, &body[..length]).len() as f64;
                let zlib = (zlib(level.unsigned_abs(), &body[..length]) + around) as f64;
                // A single byte is more than a per cent of what is nearly nothing.
                assert!(ours <= 1.01 * zlib + 1.0, "{kind} {length} {level}: {ours} for {zlib}");
            }
        }
    }
}

#[test]
fn what_does_not_shrink_is_stored() {
    for (name, around) in [("gzip", 18), ("deflate", 6)] {
        for length in [1, 2, 10, 300, 1600, LONGEST] {
            let coded = whole(&EncoderPool::new(), by_name(name).unwrap(), 6, &noise(length));
            assert!(coded.len() <= length + 5 + around, "{name} {length}");
        }
    }
}

#[test]
fn no_message_leaves_a_trace_in_another() {
    for name in ["gzip", "deflate"] {
        let codec = by_name(name).unwrap();
        let shared = EncoderPool::new();
        for round in 0..3 {
            for (kind, body) in corpus() {
                for length in [0, 1, 3, 4, 5, 299 + round, 1600, LONGEST - round] {
                    let alone = whole(&EncoderPool::new(), codec, 6, &body[..length]);
                    assert!(whole(&shared, codec, 6, &body[..length]) == alone, "{name} {kind} {length}");
                }
            }
        }
        assert_eq!((shared.stats().misses, shared.stats().idle), (1, 1));
    }
}

#[test]
fn chosen_by_level_and_length() {
    for name in ["gzip", "deflate"] {
        let codec = by_name(name).unwrap();
        let memory = |level| codec.memory(Setup { level, size_class: 0 });
        for level in 0..=9 {
            let longest = match level {
                2..=4 => Some(1024),
                5..=6 => Some(LONGEST),
                _ => None,
            };
            for length in [0, 300, 1024, 1025, LONGEST, LONGEST + 1, 1 << 20] {
                let chosen = codec.level_for_whole(level, length);
                assert_eq!(chosen != level, longest.is_some_and(|longest| length <= longest));
                assert!(chosen == level || memory(chosen) < 80 * 1024);
            }
        }
    }
}
