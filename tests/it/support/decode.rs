//! Decoders from the codecs' own crates.

use std::io::{self, Read};

/// Decodes a complete message; an error if it is not complete, or if anything follows it.
pub(crate) fn decode(coding: &str, coded: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    match coding {
        "gzip" => {
            let mut decoder = flate2::bufread::GzDecoder::new(coded);
            decoder.read_to_end(&mut decoded)?;
            nothing_after(decoder.into_inner())?;
        }
        "deflate" => {
            let mut decoder = flate2::bufread::ZlibDecoder::new(coded);
            decoder.read_to_end(&mut decoded)?;
            nothing_after(decoder.into_inner())?;
        }
        "zstd" => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(coded)?.single_frame();
            decoder.window_log_max(23)?;
            decoder.read_to_end(&mut decoded)?;
            nothing_after(decoder.finish())?;
        }
        "br" => {
            brotli::Decompressor::new(coded, 4096).read_to_end(&mut decoded)?;
        }
        "x-snappy-framed" => {
            snap::read::FrameDecoder::new(coded).read_to_end(&mut decoded)?;
        }
        "snappy" => decoded = snap::raw::Decoder::new().decompress_vec(coded)?,
        "identity" => decoded.extend_from_slice(coded),
        other => return Err(io::Error::other(format!("no decoder for {other}"))),
    }
    Ok(decoded)
}

/// What a receiver can decode of a message that has only begun.
pub(crate) fn decode_prefix(coding: &str, coded: &[u8]) -> Vec<u8> {
    let mut decoder: Box<dyn Read + '_> = match coding {
        "gzip" => Box::new(flate2::bufread::GzDecoder::new(coded)),
        "deflate" => Box::new(flate2::bufread::ZlibDecoder::new(coded)),
        "zstd" => Box::new(zstd::stream::read::Decoder::with_buffer(coded).unwrap()),
        "br" => Box::new(brotli::Decompressor::new(coded, 4096)),
        "x-snappy-framed" => Box::new(snap::read::FrameDecoder::new(coded)),
        other => panic!("{other} has no prefixes"),
    };
    let mut decoded = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match decoder.read(&mut piece) {
            Ok(0) | Err(_) => return decoded,
            Ok(read) => decoded.extend_from_slice(&piece[..read]),
        }
    }
}

fn nothing_after(rest: &[u8]) -> io::Result<()> {
    if rest.is_empty() { Ok(()) } else { Err(io::Error::other(format!("{} bytes follow", rest.len()))) }
}
