//! Snappy, in its two forms: the framing format, which streams, and one raw block, which does not.
//!
//! Neither token is registered with IANA, so neither is ever offered by default.

mod decoder;

use self::decoder::{FramedDecoder, RawDecoder};
use super::{Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, Suspended};
use crate::error::Error;
use snap::raw::{self, max_compress_len};

/// The framing format, under the name that its description recommends (framing_format.txt section 2).
#[derive(Debug)]
pub(super) struct Framed;

/// One raw block, as Prometheus remote write and Loki mean `snappy`.
#[derive(Debug)]
pub(super) struct Raw;

/// The most uncompressed bytes in one chunk of the framing format (section 4.2).
const MAX_CHUNK: usize = 64 * 1024;

/// The stream identifier chunk (section 4.1).
const STREAM_IDENTIFIER: &[u8; 10] = b"\xff\x06\x00\x00sNaPpY";

/// Snappy's hash table: 16,384 entries of two bytes.
const TABLE: usize = 32 * 1024;

impl Codec for Framed {
    fn name(&self) -> &'static str {
        "x-snappy-framed"
    }

    /// Snappy has no levels.
    fn level(&self, _level: CompressionLevel) -> i32 {
        0
    }

    /// Chunks refer to nothing before them, so there is nothing to keep but that the stream has begun.
    fn parks(&self) -> bool {
        true
    }

    /// A whole chunk per call: what one call gets is what one chunk holds.
    fn batch(&self, _level: i32) -> usize {
        MAX_CHUNK
    }

    fn turn(&self, _level: i32) -> usize {
        MAX_CHUNK
    }

    fn memory(&self, _setup: Setup) -> usize {
        TABLE
    }

    fn encoder(&self, _setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Chunks { block: raw::Encoder::new(), begun: false }))
    }

    fn decoder(&self, _limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(FramedDecoder::new()))
    }
}

impl Codec for Raw {
    fn name(&self) -> &'static str {
        "snappy"
    }

    /// Snappy has no levels.
    fn level(&self, _level: CompressionLevel) -> i32 {
        0
    }

    /// The block begins with the length of the whole.
    fn streams(&self) -> bool {
        false
    }

    fn batch(&self, _level: i32) -> usize {
        MAX_CHUNK
    }

    fn turn(&self, _level: i32) -> usize {
        MAX_CHUNK
    }

    fn memory(&self, _setup: Setup) -> usize {
        TABLE
    }

    fn encoder(&self, _setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Block { block: raw::Encoder::new(), input: Vec::new() }))
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(RawDecoder::new(limits)))
    }
}

/// A stream of chunks. Each call puts out all it got, so there is never anything to flush.
struct Chunks {
    block: raw::Encoder,
    begun: bool,
}

impl Chunks {
    fn chunk(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), Error> {
        const COMPRESSED: u8 = 0x00;
        const UNCOMPRESSED: u8 = 0x01;
        const HEADER: usize = 8;
        let start = output.len();
        let room = HEADER + max_compress_len(input.len());
        output.reserve_exact(room);
        output.resize(start + room, 0);
        let mut length = self.block.compress(input, &mut output[start + HEADER..]).map_err(Error::encode)?;
        let mut kind = COMPRESSED;
        if length >= input.len() - input.len() / 8 {
            // Less than an eighth saved does not pay for decoding it.
            kind = UNCOMPRESSED;
            length = input.len();
            output[start + HEADER..start + HEADER + length].copy_from_slice(input);
        }
        output.truncate(start + HEADER + length);
        // The length counts the checksum (section 4.2), and fits in 24 bits.
        let size = ((length + 4) as u32).to_le_bytes();
        output[start..start + 4].copy_from_slice(&[kind, size[0], size[1], size[2]]);
        output[start + 4..start + HEADER].copy_from_slice(&masked_crc(input).to_le_bytes());
        Ok(())
    }
}

/// The masked CRC-32C of section 3.
pub(super) fn masked_crc(input: &[u8]) -> u32 {
    crc32c::crc32c(input).rotate_right(15).wrapping_add(0xa282_ead8)
}

impl Encoder for Chunks {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if !self.begun && (!input.is_empty() || operation == Operation::Finish) {
            self.begun = true;
            output.extend_from_slice(STREAM_IDENTIFIER);
        }
        input.chunks(MAX_CHUNK).try_for_each(|piece| self.chunk(piece, output))
    }

    fn reset(&mut self) -> bool {
        self.begun = false;
        true
    }

    fn suspend(&mut self) -> Option<Suspended> {
        self.begun.then(Suspended::default)
    }

    fn resume(&mut self, _: Suspended) -> bool {
        self.begun = true;
        true
    }
}

/// One block: the input is gathered until the end, since the block says its length first.
struct Block {
    block: raw::Encoder,
    input: Vec<u8>,
}

impl Encoder for Block {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if operation != Operation::Finish {
            self.input.extend_from_slice(input);
            return Ok(());
        }
        let whole = if self.input.is_empty() {
            input
        } else {
            self.input.extend_from_slice(input);
            &self.input
        };
        let start = output.len();
        output.resize(start + max_compress_len(whole.len()), 0);
        let length = self.block.compress(whole, &mut output[start..]).map_err(Error::encode)?;
        output.truncate(start + length);
        Ok(())
    }

    /// Gathered input is freed: a large message must not stay with the pool.
    fn reset(&mut self) -> bool {
        self.input = Vec::new();
        true
    }
}
