use super::{FramedDecoder, RawDecoder};
use crate::codec::{DecodeLimits, Decoder, battery::*};
use std::io::Write;

const IDENTIFIER: &[u8] = b"\xff\x06\0\0sNaPpY";

fn framed() -> Box<dyn Decoder> {
    Box::new(FramedDecoder::new())
}

fn raw() -> Box<dyn Decoder> {
    raw_with(LIMITS.max_length)
}

fn raw_with(max_length: u64) -> Box<dyn Decoder> {
    Box::new(RawDecoder::new(DecodeLimits { max_length, ..LIMITS }))
}

fn frames(plain: &[u8]) -> Vec<u8> {
    let mut encoder = snap::write::FrameEncoder::new(Vec::new());
    encoder.write_all(plain).unwrap();
    let coded = encoder.into_inner().unwrap();
    if plain.is_empty() { IDENTIFIER.to_vec() } else { coded }
}

fn block(plain: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(plain).unwrap()
}

fn chunk(kind: u8, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_le_bytes();
    [&[kind], &length[..3], data].concat()
}

#[test]
fn framed_messages() {
    for plain in [text(700), Vec::new(), b"x".to_vec()] {
        run(&framed, &Sample { coded: frames(&plain), plain, ends: vec![10] });
    }
    let plain = text(300_000);
    let coded = frames(&plain);
    for (size, room) in [(1, 1 << 16), (977, 1000), (1 << 20, 1 << 20)] {
        let (output, end) = decode(&mut *framed(), coded.chunks(size), room);
        end.unwrap();
        assert!(output == plain);
    }
}

#[test]
fn framed_chunks_of_all_kinds() {
    let parts = [
        IDENTIFIER.to_vec(),
        chunk(0xfe, &[0; 9]),
        frames(b"x")[10..].to_vec(),
        chunk(0x80, b""),
        chunk(0xfd, b"skipped"),
        IDENTIFIER.to_vec(),
        frames(&text(200))[10..].to_vec(),
    ];
    let ends = parts.iter().scan(0, |end, part| {
        *end += part.len();
        Some(*end)
    });
    let plain = [&b"x"[..], &text(200)].concat();
    run(&framed, &Sample { ends: ends.collect(), coded: parts.concat(), plain });
}

#[test]
fn broken_frames() {
    let coded = frames(&text(300));
    flip(&framed, &Sample { coded: coded.clone(), plain: vec![], ends: vec![] }, 14..coded.len());
    garbage(&framed, b"");
    garbage(&framed, &coded);
    for broken in [
        coded[10..].to_vec(),
        block(b"a raw block"),
        chunk(0xff, b"sNaPpX"),
        [IDENTIFIER, &chunk(0x02, b"unskippable")].concat(),
        [IDENTIFIER, &chunk(0x01, b"abc")].concat(),
        [IDENTIFIER, &chunk(0x01, &[0; 4 + 65_537])].concat(),
        [IDENTIFIER, &chunk(0x00, &[&[0; 4], &block(&[0; 65_537])[..]].concat())].concat(),
    ] {
        assert!(refused(framed(), &broken).is_malformed());
    }
}

#[test]
fn raw_blocks() {
    for plain in [text(700), Vec::new(), b"x".to_vec(), vec![0; 3000], (0..=255).collect()] {
        run(&raw, &Sample { coded: block(&plain), plain, ends: vec![] });
    }
    let plain = text(3_000_000);
    let coded = block(&plain);
    for (size, room) in [(1, 1 << 16), (977, 1000), (1 << 24, 1 << 24)] {
        let (output, end) = decode(&mut *raw(), coded.chunks(size), room);
        end.unwrap();
        assert!(output == plain);
    }
}

#[test]
fn raw_elements_of_all_kinds() {
    // Literals with lengths of two to four bytes, copies with offsets of one, two and four.
    let coded = [
        &[2 + 2 + 2 + 4 + 4 + 5][..],
        &[60 << 2, 1, b'a', b'b', 61 << 2, 1, 0, b'c', b'd', 63 << 2, 1, 0, 0, 0, b'e', b'f'],
        &[1, 6, 3 << 2 | 2, 2, 0, 4 << 2 | 3, 14, 0, 0, 0],
    ];
    run(&raw, &Sample { coded: coded.concat(), plain: b"abcdefabcdcdcdabcde".to_vec(), ends: vec![] });
}

#[test]
fn raw_lengths_are_checked_before_memory_is_taken() {
    assert!(refused(raw_with(699), &block(&text(700))).is_limit());
    decode(&mut *raw_with(700), [&block(&text(700))[..]], 1 << 16).1.unwrap();
    let mut decoder = raw_with(u64::MAX);
    let (_, end) = decode(&mut *decoder, [&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, b'x'][..]], 100);
    assert!(end.unwrap_err().is_truncated());
    assert!(decoder.memory() < 1000);
}

#[test]
fn broken_blocks() {
    let coded = block(&text(300));
    flip(&raw, &Sample { coded: coded.clone(), plain: vec![], ends: vec![] }, 0..0);
    garbage(&raw, b"");
    garbage(&raw, &[0x80, 0x10]);
    for broken in [
        [coded, vec![0]].concat(),
        [IDENTIFIER, b"\x01\x04"].concat(),
        vec![0x80, 0x80, 0x80, 0x80, 0x80, 0],
        vec![0xff, 0xff, 0xff, 0xff, 0x1f],
        // A copy of nothing, and a literal that is longer than declared.
        vec![4, 1, 1],
        vec![1, 1 << 2, b'a', b'b'],
    ] {
        assert!(refused(raw(), &broken).is_malformed());
    }
}
