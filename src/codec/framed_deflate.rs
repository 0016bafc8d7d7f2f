//! Raw deflate (RFC 1951) inside a frame of our own: what gzip and deflate share.
//!
//! The frame is ours because only a raw stream accepts a dictionary midway, and that is what lets a stream
//! leave its context and go on in another one.

use super::fixed_deflate::{self, FixedDeflate};
use super::small_deflate::{self, SmallDeflate};
use super::{CompressionLevel, Encoder, Levels, Operation, Setup, Suspended};
use crate::error::Error;
use flate2::{Compress, Compression, FlushCompress, Status};

/// Bytes of plaintext that a suspended stream keeps for the next context to refer back to. Measured, as the size
/// of events flushed one by one against a context that is kept: with 1 KiB 5 to 31 % larger, with 2 KiB 3 to
/// 21 %; see "Why 2 KiB of plaintext" in DESIGN.md.
pub(super) const TAIL: usize = 2048;

const LEVELS: Levels = Levels { lowest: 0, fastest: 1, default: 6, best: 9, highest: 9 };

/// The level as zlib numbers it. The default, 6, is that of zlib and of tower-http; for what others would give see
/// "Which levels, and which coding first" in DESIGN.md.
pub(super) fn level(level: CompressionLevel) -> i32 {
    LEVELS.resolve(level)
}

/// About 200 microseconds at the level's speed: 100 MB/s at level 6.
pub(super) fn turn(level: i32) -> usize {
    match level {
        ..=3 => 32 * 1024,
        4..=6 => 16 * 1024,
        _ => 8 * 1024,
    }
}

/// In place of a level: [`FixedDeflate`]. No user can ask for it.
const FIXED: i32 = -1;

/// The largest flushed batch that [`FixedDeflate`] gets. Measured over JSON events, log lines, HTML and XML: up to
/// here it costs a sixth to a third of level 6 and is on average no larger; see DESIGN.md.
const FIXED_BATCH: usize = 256;

/// Level 1 stays: whoever asks for it wants no more work. Level 0 stores.
pub(super) fn level_for_batch(level: i32, batch: usize) -> i32 {
    if level > 1 && batch <= FIXED_BATCH { FIXED } else { level }
}

/// In place of a level: [`SmallDeflate`]. No user can ask for it.
const SMALL: i32 = -2;

/// The longest whole message that [`SmallDeflate`] gets. Measured over 13 kinds of text and protobuf: up to here it is
/// at most 0.5 % larger than level 6, and on average takes 0.4 to 0.8 of its time, never all of it. At 8 KB it can be
/// slower.
const SMALL_WHOLE: usize = 6 * 1024;

/// As much for levels 2 to 4, which are faster: with 3 KB level 2 is faster than ours.
const SMALL_FAST_WHOLE: usize = 1024;

/// Levels 0 and 1 stay: whoever asks for them wants no more work. So do 7 to 9, which are up to 4 % smaller.
pub(super) fn level_for_whole(level: i32, length: usize) -> i32 {
    let longest = match level {
        2..=4 => SMALL_FAST_WHOLE,
        5..=6 => SMALL_WHOLE,
        _ => return level,
    };
    if length <= longest { SMALL } else { level }
}

/// zlib-rs takes the same for every level: window 64 KiB, hash head 128 KiB, chains 64 KiB, pending output 64 KiB.
pub(super) fn memory(setup: Setup) -> usize {
    match setup.level {
        FIXED => fixed_deflate::MEMORY,
        SMALL => small_deflate::MEMORY,
        _ => 320 * 1024,
    }
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
    raw: Raw,
    level: i32,
    frame: F,
    /// Whether the header is out.
    begun: bool,
    /// Whether there is input that no flush has put out.
    unflushed: bool,
    padding: u16,
}

/// What makes the raw stream.
enum Raw {
    Zlib { context: Compress, tail: Tail },
    Fixed(FixedDeflate),
    Small(SmallDeflate),
}

impl<F: Framing> FramedDeflate<F> {
    pub(super) fn new(level: i32) -> Self {
        let raw = match level {
            FIXED => Raw::Fixed(FixedDeflate::new()),
            SMALL => Raw::Small(SmallDeflate::new()),
            _ => {
                let context = Compress::new(Compression::new(LEVELS.clamp(level).unsigned_abs()), false);
                Raw::Zlib { context, tail: Tail::default() }
            }
        };
        Self { raw, level, frame: F::new(), begun: false, unflushed: false, padding: 0 }
    }
}

fn deflate(
    context: &mut Compress,
    input: &[u8],
    operation: Operation,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let flush = match operation {
        Operation::Encode => FlushCompress::None,
        Operation::Flush => FlushCompress::Sync,
        Operation::Finish => FlushCompress::Finish,
    };
    let mut rest = input;
    loop {
        output.reserve_exact(room_for(rest.len()));
        let (before, written) = (context.total_in(), output.len());
        let status = context.compress_vec(rest, output, flush).map_err(Error::encode)?;
        let taken = context.total_in() - before;
        rest = &rest[usize::try_from(taken).map_or(rest.len(), |taken| taken.min(rest.len()))..];
        let done = match operation {
            Operation::Finish => matches!(status, Status::StreamEnd),
            // zlib's manual: a flush is complete once there is room left in the output.
            _ => rest.is_empty() && output.len() < output.capacity(),
        };
        if done {
            return Ok(());
        }
        if taken == 0 && output.len() == written {
            return Err(Error::encode(AFTER_THE_END));
        }
    }
}

/// Ends the block at hand, so that a reset forgets all of it.
fn close_block(context: &mut Compress) -> bool {
    // At most a few hundred bytes, which zlib-rs had not looked at yet.
    let mut unwanted = Vec::new();
    deflate(context, &[], Operation::Flush, &mut unwanted).is_ok()
}

/// zlib-rs's level 1 leaves a block open from call to call, and its reset (0.6.8) does not forget that: without this
/// the next message would begin in the middle of a block that its receiver never saw. No other level does.
const LEAVES_OPEN: i32 = 1;

/// The one reason for a context to take nothing and to give nothing, having room.
const AFTER_THE_END: &str = "the message had ended";

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
        match &mut self.raw {
            Raw::Zlib { context, tail } => {
                deflate(context, input, operation, output)?;
                tail.keep(input);
            }
            Raw::Fixed(encoder) => encoder.encode(input, operation, output),
            Raw::Small(encoder) => encoder.encode(input, operation, output),
        }
        self.unflushed = operation == Operation::Encode;
        if operation == Operation::Finish {
            self.frame.trailer(output);
        }
        Ok(())
    }

    fn pad(&mut self, bytes: u16) {
        self.padding = bytes;
    }

    fn reset(&mut self) -> bool {
        match &mut self.raw {
            Raw::Zlib { context, tail } => {
                if self.unflushed && self.level == LEAVES_OPEN && !close_block(context) {
                    return false;
                }
                context.reset();
                tail.clear();
            }
            Raw::Fixed(encoder) => encoder.reset(),
            Raw::Small(encoder) => encoder.reset(),
        }
        self.frame = F::new();
        self.begun = false;
        self.unflushed = false;
        self.padding = 0;
        true
    }

    fn set_level(&mut self, level: i32) -> bool {
        let Raw::Zlib { context, .. } = &mut self.raw else { return false };
        let set = level >= LEVELS.lowest
            && context.set_level(Compression::new(LEVELS.clamp(level).unsigned_abs())).is_ok();
        if set {
            self.level = level;
        }
        set
    }

    fn suspend(&mut self) -> Option<Suspended> {
        if self.unflushed || !self.begun {
            return None;
        }
        let tail = match &self.raw {
            Raw::Zlib { tail, .. } => tail.as_slice(),
            Raw::Fixed(encoder) => encoder.tail(TAIL),
            // Its blocks know nothing of each other. A message of one call is never suspended anyway.
            Raw::Small(_) => &[],
        };
        let (checksum, length) = (self.frame.checksum(), self.frame.length());
        Some(Suspended { checksum, length, tail: tail.to_vec() })
    }

    fn resume(&mut self, suspended: Suspended) -> bool {
        self.frame = F::resumed(suspended.checksum, suspended.length);
        self.begun = true;
        self.unflushed = false;
        match &mut self.raw {
            Raw::Zlib { context, tail } => {
                tail.set(&suspended.tail);
                suspended.tail.is_empty() || context.set_dictionary(&suspended.tail).is_ok()
            }
            Raw::Fixed(encoder) => {
                encoder.resume(&suspended.tail);
                true
            }
            Raw::Small(_) => true,
        }
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

    fn as_slice(&self) -> &[u8] {
        &self.0[self.0.len().saturating_sub(TAIL)..]
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
                assert_eq!(tail.as_slice(), &input[seen.saturating_sub(TAIL)..seen]);
            }
        }
    }
}
