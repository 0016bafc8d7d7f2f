//! gzip (RFC 1952): one member per message.

mod decoder;

use self::decoder::GzipDecoder;
use super::framed_deflate::{self, FramedDeflate, Framing};
use super::{Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Setup};
use crate::error::Error;

/// The row of [`CODECS`](super::CODECS).
#[derive(Debug)]
pub(super) struct Gzip;

impl Codec for Gzip {
    fn name(&self) -> &'static str {
        "gzip"
    }

    /// RFC 9110 section 8.4.1.3: a recipient treats `x-gzip` as `gzip`.
    fn aliases(&self) -> &'static [&'static str] {
        &["x-gzip"]
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        framed_deflate::level(level)
    }

    fn parks(&self) -> bool {
        true
    }

    fn pads(&self) -> bool {
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
        Ok(Box::new(FramedDeflate::<Member>::new(setup.level)))
    }

    fn decoder(&self, _limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(GzipDecoder::new()))
    }
}

/// A member's header and trailer (RFC 1952 section 2.3).
struct Member {
    checksum: crc32fast::Hasher,
    length: u64,
}

impl Framing for Member {
    fn new() -> Self {
        Self::resumed(0, 0)
    }

    fn resumed(checksum: u32, length: u64) -> Self {
        Self { checksum: crc32fast::Hasher::new_with_initial(checksum), length }
    }

    /// No time and no name: the same input gives the same bytes. Padding goes into the comment, which every
    /// decoder skips (FCOMMENT, RFC 1952 section 2.3.1).
    fn header(level: i32, padding: u16, output: &mut Vec<u8>) {
        const FCOMMENT: u8 = 1 << 4;
        const UNKNOWN_SYSTEM: u8 = 255;
        let flags = if padding > 0 { FCOMMENT } else { 0 };
        let effort = match level {
            9 => 2,
            0..=1 => 4,
            _ => 0,
        };
        output.extend_from_slice(&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, effort, UNKNOWN_SYSTEM]);
        if padding > 0 {
            output.resize(output.len() + usize::from(padding) - 1, b'.');
            output.push(0);
        }
    }

    fn update(&mut self, input: &[u8]) {
        self.checksum.update(input);
        self.length += input.len() as u64;
    }

    fn checksum(&self) -> u32 {
        self.checksum.clone().finalize()
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn trailer(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.checksum().to_le_bytes());
        // ISIZE is the length modulo 2^32.
        output.extend_from_slice(&(self.length as u32).to_le_bytes());
    }
}
