//! Raw deflate (RFC 1951) inside a frame of our own: what gzip and deflate share.
//!
//! The frame is ours because only a raw stream accepts a dictionary midway, and that is what lets a stream
//! leave its context and go on in another one.

use super::{CompressionLevel, Encoder, Levels, Operation, Suspended};
use crate::error::Error;
use flate2::{Compress, Compression, FlushCompress, Status};

/// Bytes of plaintext that a suspended stream keeps for the next context to refer back to. Measured on 86-byte
/// JSON events: with 1 KiB the output is 17 % larger than with the context kept, with 2 KiB 8 %, and beyond
/// that priming costs more than it saves.
pub(super) const TAIL: usize = 2048;

/// Heap that zlib-rs takes for one context, whatever the level: window 64 KiB, hash head 128 KiB, chains
/// 64 KiB, pending output 64 KiB.
pub(super) const MEMORY: usize = 320 * 1024;

const LEVELS: Levels = Levels { lowest: 0, fastest: 1, default: 6, best: 9, highest: 9 };

/// The level as zlib numbers it. The default, 6, is that of zlib and of tower-http.
pub(super) fn level(level: CompressionLevel) -> i32 {
    LEVELS.resolve(level)
}

/// About 200 microseconds at the level's speed (100 MB/s at level 6).
pub(super) fn slice(level: i32) -> usize {
    match level {
        ..=3 => 32 * 1024,
        4..=6 => 16 * 1024,
        _ => 8 * 1024,
    }
}

/// zlib-rs level 1 codes a block with the fixed Huffman table: no code is built and none is sent, which for a
/// small flushed batch is both cheaper and smaller.
const QUICK: i32 = 1;

/// The batch size up to which [`QUICK`] is no larger than level 6. Measured on JSON events and log lines.
const QUICK_BATCH: usize = 512;

pub(super) fn level_for_batch(level: i32, batch: usize) -> i32 {
    if batch <= QUICK_BATCH { level.min(QUICK) } else { level }
}

/// The bytes before and after the raw stream, and the checksum that they carry.
pub(super) trait Framing: Send + Sync + 'static {
    /// A message at its start.
    fn new() -> Self;

    /// A message that already holds `length` bytes.
    fn resumed(checksum: u32, length: u64) -> Self;

    fn header(level: i32, padding: u16, output: &mut Vec<u8>);

    fn update(&mut self, input: &[u8]);

    fn checksum(&self) -> u32;

    fn length(&self) -> u64;

    fn trailer(&self, output: &mut Vec<u8>);
}

/// An encoder for one framing.
pub(super) struct FramedDeflate<F> {
    context: Compress,
    level: i32,
    frame: F,
    /// Whether the header is out.
    begun: bool,
    /// Whether there is input that no flush has put out.
    unflushed: bool,
    padding: u16,
    tail: Tail,
}

impl<F: Framing> FramedDeflate<F> {
    pub(super) fn new(level: i32) -> Self {
        Self {
            context: Compress::new(Compression::new(level.unsigned_abs()), false),
            level,
            frame: F::new(),
            begun: false,
            unflushed: false,
            padding: 0,
            tail: Tail::default(),
        }
    }

    fn deflate(&mut self, input: &[u8], flush: FlushCompress, output: &mut Vec<u8>) -> Result<(), Error> {
        let mut rest = input;
        loop {
            output.reserve(room_for(rest.len()));
            let before = self.context.total_in();
            let status = self.context.compress_vec(rest, output, flush).map_err(Error::encode)?;
            let taken = self.context.total_in() - before;
            rest = &rest[usize::try_from(taken).map_or(rest.len(), |taken| taken.min(rest.len()))..];
            let done = match flush {
                FlushCompress::Finish => matches!(status, Status::StreamEnd),
                // zlib's manual: a flush is complete once there is room left in the output.
                _ => rest.is_empty() && output.len() < output.capacity(),
            };
            if done {
                return Ok(());
            }
        }
    }
}

/// Deflate's worst case is stored blocks, 5 bytes for each of at most 64 KiB; a flush adds as much again.
fn room_for(input: usize) -> usize {
    input + input / 1024 + 64
}

impl<F: Framing> Encoder for FramedDeflate<F> {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if input.is_empty()
            && (operation == Operation::Encode || operation == Operation::Flush && !self.unflushed)
        {
            return Ok(());
        }
        if !self.begun {
            self.begun = true;
            F::header(self.level, self.padding, output);
        }
        self.frame.update(input);
        match operation {
            Operation::Encode => {
                self.deflate(input, FlushCompress::None, output)?;
                self.tail.keep(input);
                self.unflushed = true;
            }
            Operation::Flush => {
                self.deflate(input, FlushCompress::Sync, output)?;
                self.tail.keep(input);
                self.unflushed = false;
            }
            Operation::Finish => {
                self.deflate(input, FlushCompress::Finish, output)?;
                self.frame.trailer(output);
            }
        }
        Ok(())
    }

    fn pad(&mut self, bytes: u16) {
        self.padding = bytes;
    }

    fn reset(&mut self) -> bool {
        self.context.reset();
        self.frame = F::new();
        self.begun = false;
        self.unflushed = false;
        self.padding = 0;
        self.tail.clear();
        true
    }

    fn suspend(&mut self) -> Option<Suspended> {
        if self.unflushed || !self.begun {
            return None;
        }
        Some(Suspended {
            checksum: self.frame.checksum(),
            length: self.frame.length(),
            tail: self.tail.take(),
        })
    }

    fn resume(&mut self, suspended: Suspended) -> bool {
        self.frame = F::resumed(suspended.checksum, suspended.length);
        self.begun = true;
        self.unflushed = false;
        self.tail.set(&suspended.tail);
        suspended.tail.is_empty() || self.context.set_dictionary(&suspended.tail).is_ok()
    }
}

/// The last [`TAIL`] bytes of a stream's input, kept without moving them at every write.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn keep(&mut self, input: &[u8]) {
        if input.len() >= TAIL {
            self.0.clear();
            self.0.extend_from_slice(&input[input.len() - TAIL..]);
            return;
        }
        if self.0.len() + input.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - (TAIL - input.len()));
        }
        self.0.extend_from_slice(input);
    }

    fn set(&mut self, tail: &[u8]) {
        self.0.clear();
        self.0.extend_from_slice(tail);
    }

    /// The tail in a vector of exactly its size: an idle stream holds nothing that it does not need.
    fn take(&mut self) -> Vec<u8> {
        let tail = self.0[self.0.len().saturating_sub(TAIL)..].to_vec();
        self.0.clear();
        tail
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_always_the_end_of_the_input() {
        let input: Vec<u8> = (0..20_000_u32).map(|n| (n % 251) as u8).collect();
        for step in [1, 7, 86, TAIL - 1, TAIL, TAIL + 1, 3 * TAIL] {
            let mut tail = Tail::default();
            let mut seen = 0;
            for piece in input.chunks(step) {
                tail.keep(piece);
                seen += piece.len();
                assert!(tail.0.len() <= 2 * TAIL);
                let kept = &tail.0[tail.0.len().saturating_sub(TAIL)..];
                assert_eq!(kept, &input[seen.saturating_sub(TAIL)..seen]);
            }
        }
    }
}
