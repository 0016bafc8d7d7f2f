use super::ZstdDecoder;
use crate::codec::{DecodeLimits, Decoder, battery::*};
use std::io::Write;
use zstd::stream::Encoder;

fn new() -> Box<dyn Decoder> {
    with(LIMITS)
}

fn with(limits: DecodeLimits) -> Box<dyn Decoder> {
    Box::new(ZstdDecoder::new(limits).unwrap())
}

/// A frame as a streaming encoder makes it: no content size, a checksum.
fn frame(plain: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A frame of known size, in a single segment.
fn sized(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 3).unwrap()
}

fn skippable(kind: u8, size: usize) -> Vec<u8> {
    let mut frame = vec![0x50 | kind, 0x2a, 0x4d, 0x18];
    frame.extend((size as u32).to_le_bytes());
    frame.resize(8 + size, 0xaa);
    frame
}

/// The header of a frame with this Window_Descriptor, and one raw block of one byte, the last.
fn windowed(descriptor: u8) -> Vec<u8> {
    vec![0x28, 0xb5, 0x2f, 0xfd, 0, descriptor, 0b0000_1001, 0, 0, b'x']
}

fn sequence(frames: &[Vec<u8>], plain: &[u8]) -> Sample {
    let ends = frames.iter().scan(0, |end, frame| {
        *end += frame.len();
        Some(*end)
    });
    Sample { ends: ends.collect(), coded: frames.concat(), plain: plain.to_vec() }
}

#[test]
fn one_frame() {
    for plain in [text(700), Vec::new()] {
        run(&new, &sequence(&[frame(&plain)], &plain));
        run(&new, &sequence(&[sized(&plain)], &plain));
    }
}

#[test]
fn frames_of_all_kinds_one_after_another() {
    let frames = [
        frame(b"foo"),
        frame(b""),
        skippable(0, 0),
        skippable(7, 5),
        sized(b"bar"),
        sized(b""),
        skippable(15, 70),
        frame(b"baz"),
    ];
    run(&new, &sequence(&frames, b"foobarbaz"));
    run(&new, &sequence(&[skippable(3, 5)], b""));
    let large = [frame(b"foo"), skippable(1, 70_000), frame(b"bar")].concat();
    for chunk in [1, 1000, 1 << 20] {
        let (output, end) = decode(&mut *new(), large.chunks(chunk), 1 << 16);
        end.unwrap();
        assert_eq!(output, b"foobar");
    }
}

#[test]
fn large_frames() {
    let plain = text(3_000_000);
    for coded in [frame(&plain), sized(&plain)] {
        for (chunk, room) in [(977, 1000), (1 << 20, 1 << 14), (1 << 24, 1 << 24)] {
            let (output, end) = decode(&mut *new(), coded.chunks(chunk), room);
            end.unwrap();
            assert!(output == plain);
        }
    }
}

#[test]
fn what_was_flushed_is_put_out() {
    let mut encoder = Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(b"an event\n\n").unwrap();
    encoder.flush().unwrap();
    let mut output = Vec::new();
    let mut decoder = new();
    decode_chunk(&mut *decoder, encoder.get_ref(), 1 << 16, &mut output).unwrap();
    assert_eq!(output, b"an event\n\n");
    assert!(decoder.finish().unwrap_err().is_truncated());
}

#[test]
fn windows_above_the_limit_are_refused_before_memory_is_taken() {
    // RFC 8878 section 3.1.1.1.2: 13 << 3 is 8 MiB; then the next step, 128 MiB, 2 GiB, and the most.
    run(&new, &sequence(&[windowed(13 << 3)], b"x"));
    for descriptor in [(13 << 3) | 1, 17 << 3, 21 << 3, 0xff] {
        let mut decoder = with(LIMITS);
        let error = decode(&mut *decoder, windowed(descriptor).chunks(1), 100).1.unwrap_err();
        assert!(error.is_limit());
        assert!(decoder.memory() < 300_000, "{}", decoder.memory());
    }
    // Shows that the limit is plumbed in, also where a frame decodes in one pass.
    let low = DecodeLimits { max_window: 1 << 10, ..LIMITS };
    let (fits, exceeds) = (sized(&text(1024)), sized(&text(1025)));
    decode(&mut *with(low), [&fits[..]], 1 << 16).1.unwrap();
    assert!(refused(with(low), &exceeds).is_limit());
    decode(&mut *new(), [&exceeds[..]], 1 << 16).1.unwrap();
}

#[test]
fn declared_lengths_take_no_memory() {
    // A single segment of 1 GiB, and a window of 1 KiB with 1 GiB declared.
    let single =
        [&[0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000][..], &(1_u32 << 30).to_le_bytes(), &[1, 0, 0]].concat();
    let windowed = [&[0x28, 0xb5, 0x2f, 0xfd, 0b1000_0000, 0][..], &(1_u32 << 30).to_le_bytes(), &[1, 0, 0]];
    for coded in [single, windowed.concat()] {
        let mut decoder = new();
        assert!(decode(&mut *decoder, [&coded[..]], 100).1.unwrap_err().is_limit());
        assert!(decoder.memory() < 300_000);
    }
}

#[test]
fn broken_frames() {
    let good = sequence(&[frame(&text(300))], b"");
    let length = good.coded.len();
    flip(&new, &good, length - 4..length);
    garbage(&new, b"");
    garbage(&new, &good.coded[..9]);
    garbage(&new, &good.coded);
    for broken in [
        b"not zstd at all".to_vec(),
        b"no".to_vec(),
        [frame(b"foo"), b"x".to_vec()].concat(),
        // A reserved bit; Dictionary_ID 5.
        vec![0x28, 0xb5, 0x2f, 0xfd, 0b0000_1000, 0, 1, 0, 0],
        vec![0x28, 0xb5, 0x2f, 0xfd, 0b0000_0001, 0, 5, 1, 0, 0],
    ] {
        assert!(refused(new(), &broken).is_malformed());
    }
}
