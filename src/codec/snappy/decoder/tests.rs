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

/// A block of all kinds of elements at random, and what it decodes to by the letter of the format's description.
/// Its copies come from anywhere in what there is, as no encoder's do.
fn elements(state: &mut u32, length: usize) -> (Vec<u8>, Vec<u8>) {
    let mut below = |bound: usize| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*state >> 8) as usize % bound
    };
    let (mut coded, mut plain) = (Vec::new(), Vec::new());
    while plain.len() < length {
        let longest = [4, 17, 60, 61, 300, 70_000][below(if plain.len() > 100_000 { 6 } else { 5 })];
        let far = [40, 2048, 1 << 16, usize::MAX][below(4)].min(plain.len());
        if far == 0 || below(3) == 0 {
            let n = 1 + below(longest);
            match n - 1 {
                n @ 0..60 => coded.push((n as u8) << 2),
                n @ 60..256 => coded.extend([60 << 2, n as u8]),
                n @ 256..65_536 => coded.extend([61 << 2, n as u8, (n >> 8) as u8]),
                n => coded.extend([62 << 2, n as u8, (n >> 8) as u8, (n >> 16) as u8]),
            }
            let literal: Vec<u8> = (0..n).map(|_| below(256) as u8).collect();
            coded.extend(&literal);
            plain.extend(literal);
        } else {
            let (n, offset) = (1 + below(64), 1 + below(far));
            let wide = (offset as u32).to_le_bytes();
            if offset < 2048 && (4..12).contains(&n) {
                coded.extend([((n - 4) << 2) as u8 | (offset >> 8 << 5) as u8 | 1, offset as u8]);
            } else if offset < 1 << 16 {
                coded.extend([((n - 1) << 2) as u8 | 2, wide[0], wide[1]]);
            } else {
                coded.push(((n - 1) << 2) as u8 | 3);
                coded.extend(wide);
            }
            (0..n).for_each(|_| plain.push(plain[plain.len() - offset]));
        }
    }
    let mut block = Vec::new();
    let mut left = plain.len();
    while left >= 0x80 {
        block.push(left as u8 | 0x80);
        left >>= 7;
    }
    block.push(left as u8);
    block.extend(coded);
    (block, plain)
}

#[test]
fn any_elements_from_anywhere() {
    let (mut state, mut reused) = (1, raw());
    for length in [1, 50, 100, 1000, 65_500, 66_000, 131_100, 300_000, 700_000] {
        for _ in 0..8 {
            let (coded, plain) = elements(&mut state, length);
            assert!(snap::raw::Decoder::new().decompress_vec(&coded).unwrap() == plain);
            for (size, room) in [(coded.len(), 1 << 15), (4096, 1 << 15), (977, 1000), (16, 1 << 20)] {
                let (output, end) = decode(&mut *reused, coded.chunks(size), room);
                end.unwrap();
                assert!(output == plain, "{length} {size} {room}");
                // What is left of it must not show in the next.
                assert!(reused.reset());
            }
        }
    }
}

#[test]
fn copies_from_before_the_start_are_refused_wherever_they_are() {
    // The memory that they would come from may hold another message.
    let mut reused = raw();
    decode(&mut *reused, [&block(&text(500_000))[..]], 1 << 15).1.unwrap();
    for length in [10, 1000, 65_600, 200_000] {
        assert!(reused.reset());
        let plain = text(length);
        let mut coded = block(&plain);
        coded.extend([3 << 2 | 3]);
        coded.extend((length as u32 + 1).to_le_bytes());
        let preamble = coded.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let mut declared = Vec::new();
        let mut left = length + 500;
        while left >= 0x80 {
            declared.push(left as u8 | 0x80);
            left >>= 7;
        }
        declared.push(left as u8);
        coded.splice(..preamble, declared);
        let (output, end) = decode(&mut *reused, [&coded[..], &[0; 100]], 1 << 15);
        assert!(end.unwrap_err().is_malformed());
        assert!(plain.starts_with(&output), "{length}");
    }
}

#[test]
fn raw_lengths_are_checked_before_memory_is_taken() {
    assert!(refused(raw_with(699), &block(&text(700))).is_limit());
    decode(&mut *raw_with(700), [&block(&text(700))[..]], 1 << 16).1.unwrap();
    let mut decoder = raw_with(u64::MAX);
    let (_, end) = decode(&mut *decoder, [&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, b'x'][..]], 100);
    assert!(end.unwrap_err().is_truncated());
    // One window, however much was declared.
    assert!(decoder.memory() <= (64 << 10) + 1000);
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
