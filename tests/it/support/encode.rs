//! Encoders from the codecs' own crates.

use std::io::Write;

/// Codes `plain` as one message.
pub(crate) fn encode(coding: &str, plain: &[u8]) -> Vec<u8> {
    fn write(mut writer: impl Write, plain: &[u8]) {
        writer.write_all(plain).unwrap();
        writer.flush().unwrap();
    }
    let mut coded = Vec::new();
    let level = flate2::Compression::fast();
    match coding {
        "gzip" => write(flate2::write::GzEncoder::new(&mut coded, level), plain),
        "deflate" => write(flate2::write::ZlibEncoder::new(&mut coded, level), plain),
        "zstd" => write(zstd::stream::Encoder::new(&mut coded, 1).unwrap().auto_finish(), plain),
        "br" => write(brotli::CompressorWriter::new(&mut coded, 4096, 1, 22), plain),
        "x-snappy-framed" => write(snap::write::FrameEncoder::new(&mut coded), plain),
        "snappy" => coded = snap::raw::Encoder::new().compress_vec(plain).unwrap(),
        other => panic!("no encoder for {other}"),
    }
    coded
}

/// Applies the codings one after another.
pub(crate) fn stack(codings: &[&str], plain: &[u8]) -> Vec<u8> {
    codings.iter().fold(plain.to_vec(), |coded, coding| encode(coding, &coded))
}
