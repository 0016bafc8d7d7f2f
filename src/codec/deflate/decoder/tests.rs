use super::DeflateDecoder;
use crate::codec::{Decoder, battery::*};
use flate2::{
    Compression,
    write::{DeflateEncoder, ZlibEncoder},
};
use std::io::Write;

fn new() -> Box<dyn Decoder> {
    Box::new(DeflateDecoder::new())
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn raw(plain: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_zlib_format() {
    for plain in [text(700), Vec::new()] {
        run(&new, &Sample { coded: zlib(&plain), plain, ends: vec![] });
    }
}

#[test]
fn raw_deflate_is_tolerated() {
    for level in [0, 1, 6, 9] {
        for plain in [text(700), Vec::new()] {
            run(&new, &Sample { coded: raw(&plain, level), plain, ends: vec![] });
        }
    }
}

#[test]
fn a_raw_stream_whose_first_byte_looks_like_zlib() {
    // A stored block that is not the last, with one padding bit set, then the last one.
    let stored = [0b0000_1000, 3, 0, 0xfc, 0xff, b'f', b'o', b'o', 3, 0];
    run(&new, &Sample { coded: stored.to_vec(), plain: b"foo".to_vec(), ends: vec![] });
}

#[test]
fn broken_streams() {
    let coded = zlib(&text(300));
    let length = coded.len();
    flip(&new, &Sample { coded, plain: vec![], ends: vec![] }, length - 4..length);
    garbage(&new, b"");
    garbage(&new, &[0x78, 0x9c]);
    garbage(&new, &zlib(b"foo"));
    for broken in [
        [zlib(b"foo"), vec![0]].concat(),
        [raw(b"foo", 6), vec![0]].concat(),
        // FDICT, with a right FCHECK.
        vec![0x78, 0xbb, 0, 0, 0, 0],
    ] {
        assert!(refused(new(), &broken).is_malformed());
    }
}
