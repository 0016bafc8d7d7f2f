use super::GzipDecoder;
use crate::codec::{Decoder, battery::*};
use flate2::{Compression, GzBuilder, write::GzEncoder};
use std::io::Write;

fn new() -> Box<dyn Decoder> {
    Box::new(GzipDecoder::new())
}

fn member(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn sample(plain: &[u8]) -> Sample {
    Sample { coded: member(plain), plain: plain.to_vec(), ends: vec![] }
}

/// A member with all optional fields and a right FHCRC.
fn full_header(plain: &[u8]) -> Vec<u8> {
    let builder = GzBuilder::new().extra(&b"extra"[..]).filename("name").comment("comment");
    let mut encoder = builder.write(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    let mut coded = encoder.finish().unwrap();
    let header = 10 + 2 + 5 + 5 + 8;
    coded[3] |= 2;
    let mut crc = flate2::Crc::new();
    crc.update(&coded[..header]);
    let checksum = (crc.sum() as u16).to_le_bytes();
    coded.splice(header..header, checksum);
    coded
}

#[test]
fn one_member() {
    run(&new, &sample(&text(700)));
    run(&new, &sample(b""));
    run(&new, &Sample { coded: full_header(b"foo"), plain: b"foo".to_vec(), ends: vec![] });
}

#[test]
fn members_one_after_another() {
    let (mut coded, mut ends) = (Vec::new(), Vec::new());
    for plain in ["foo", "bar", "", "baz"] {
        coded.extend(member(plain.as_bytes()));
        ends.push(coded.len());
    }
    run(&new, &Sample { coded, plain: b"foobarbaz".to_vec(), ends });
}

#[test]
fn large_members_and_flush_points() {
    let plain = text(300_000);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for part in plain.chunks(10_000) {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
    }
    let coded = encoder.finish().unwrap();
    let (output, end) = decode(&mut *new(), coded.chunks(977), 1000);
    end.unwrap();
    assert_eq!(output, plain);
}

#[test]
fn what_was_flushed_is_put_out() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"an event\n\n").unwrap();
    encoder.flush().unwrap();
    let mut output = Vec::new();
    let mut decoder = new();
    decode_chunk(&mut *decoder, encoder.get_ref(), 1 << 16, &mut output).unwrap();
    assert_eq!(output, b"an event\n\n");
    assert!(decoder.finish().unwrap_err().is_truncated());
}

#[test]
fn ten_thousand_empty_members() {
    let coded = member(b"").repeat(10_000);
    let (output, end) = decode(&mut *new(), coded.chunks(64), 1);
    end.unwrap();
    assert!(output.is_empty());
}

#[test]
fn broken_members() {
    let good = sample(&text(300));
    let length = good.coded.len();
    flip(&new, &good, length - 8..length);
    flip(&new, &Sample { coded: full_header(b"foo"), ..good }, 0..4);
    garbage(&new, b"");
    garbage(&new, &member(b"x")[..10]);
    garbage(&new, &member(b"x"));
    for broken in [
        [member(b"foo"), b"garbage".to_vec()].concat(),
        [member(b"foo"), vec![0; 512]].concat(),
        b"not gzip at all".to_vec(),
        vec![0x1f, 0x8b, 8, 0x20, 0, 0, 0, 0, 0, 0],
        vec![0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 0],
    ] {
        assert!(refused(new(), &broken).is_malformed());
    }
    let mut wrong_header_crc = full_header(b"foo");
    wrong_header_crc[13] ^= 1;
    assert!(refused(new(), &wrong_header_crc).is_malformed());
}
