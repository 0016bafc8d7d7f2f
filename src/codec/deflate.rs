//! deflate as HTTP means it: the zlib format (RFC 9110 section 8.4.1.2, RFC 1950).

mod decoder;

use self::decoder::DeflateDecoder;
use super::framed_deflate::{self, FramedDeflate, Framing};
use super::{Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Setup};
use crate::error::Error;
use simd_adler32::Adler32;

/// The row of [`CODECS`](super::CODECS).
#[derive(Debug)]
pub(super) struct Deflate;

impl Codec for Deflate {
    fn name(&self) -> &'static str {
        "deflate"
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        framed_deflate::level(level)
    }

    fn parks(&self) -> bool {
        true
    }

    fn turn(&self, level: i32) -> usize {
        framed_deflate::turn(level)
    }

    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        framed_deflate::level_for_batch(level, batch)
    }

    fn level_for_whole(&self, level: i32, length: usize) -> i32 {
        framed_deflate::level_for_whole(level, length)
    }

    fn memory(&self, setup: Setup) -> usize {
        framed_deflate::memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(FramedDeflate::<Zlib>::new(setup.level)))
    }

    fn decoder(&self, _limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(DeflateDecoder::new()))
    }
}

/// A zlib stream's header and trailer (RFC 1950 section 2.2).
struct Zlib {
    checksum: Adler32,
    length: u64,
}

impl Framing for Zlib {
    fn new() -> Self {
        Self { checksum: Adler32::new(), length: 0 }
    }

    fn resumed(checksum: u32, length: u64) -> Self {
        Self { checksum: Adler32::from_checksum(checksum), length }
    }

    fn header(level: i32, _padding: u16, output: &mut Vec<u8>) {
        // CM 8 with a window of 32 KiB, then FLEVEL; FCHECK makes the pair a multiple of 31.
        const CMF: u8 = 0x78;
        let flags = match level {
            0..=1 => 0x01,
            2..=5 => 0x5e,
            7.. => 0xda,
            // 6, and our own.
            _ => 0x9c,
        };
        output.extend_from_slice(&[CMF, flags]);
    }

    fn update(&mut self, input: &[u8]) {
        self.checksum.write(input);
        self.length += input.len() as u64;
    }

    fn checksum(&self) -> u32 {
        self.checksum.finish()
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn trailer(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.checksum().to_be_bytes());
    }
}
