use super::BrotliDecoder;
use crate::codec::{Decoder, battery::*};
use brotli::{CompressorWriter, enc::BrotliEncoderParams};
use std::io::Write;

fn new() -> Box<dyn Decoder> {
    Box::new(BrotliDecoder::new())
}

fn stream(plain: &[u8]) -> Vec<u8> {
    let mut encoder = CompressorWriter::new(Vec::new(), 4096, 5, 22);
    encoder.write_all(plain).unwrap();
    encoder.into_inner()
}

#[test]
fn one_stream() {
    for plain in [text(700), Vec::new()] {
        run(&new, &Sample { coded: stream(&plain), plain, ends: vec![] });
    }
    let plain = text(3_000_000);
    let coded = stream(&plain);
    for (size, room) in [(1, 1 << 16), (977, 1000), (1 << 24, 1 << 24)] {
        let (output, end) = decode(&mut *new(), coded.chunks(size), room);
        end.unwrap();
        assert!(output == plain);
    }
}

#[test]
fn what_was_flushed_is_put_out() {
    let mut encoder = CompressorWriter::new(Vec::new(), 4096, 5, 22);
    encoder.write_all(b"an event\n\n").unwrap();
    encoder.flush().unwrap();
    let mut output = Vec::new();
    let mut decoder = new();
    decode_chunk(&mut *decoder, encoder.get_ref(), 1 << 16, &mut output).unwrap();
    assert_eq!(output, b"an event\n\n");
    assert!(decoder.finish().unwrap_err().is_truncated());
}

#[test]
fn large_windows_are_refused() {
    let params = BrotliEncoderParams { quality: 5, lgwin: 26, large_window: true, ..Default::default() };
    let mut coded = Vec::new();
    brotli::BrotliCompress(&mut &text(1000)[..], &mut coded, &params).unwrap();
    assert_eq!(coded[0] & 0x7f, 0x11);
    assert!(refused(new(), &coded).is_malformed());
}

#[test]
fn broken_streams() {
    let coded = stream(&text(300));
    flip(&new, &Sample { coded: coded.clone(), plain: vec![], ends: vec![] }, 0..0);
    garbage(&new, b"");
    garbage(&new, &coded);
    for tail in [&b"x"[..], &coded] {
        let broken = [&coded, tail].concat();
        assert!(refused(new(), &broken).is_malformed());
        assert!(decode(&mut *new(), broken.chunks(1), 1).1.unwrap_err().is_malformed());
    }
}
