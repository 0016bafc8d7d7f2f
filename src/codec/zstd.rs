//! zstd (RFC 8878): one frame per message, its window never above 8 MiB (RFC 9659).

mod decoder;

use self::decoder::ZstdDecoder;
use super::{Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Levels, Operation, Setup};
use crate::error::{Error, Kind};
use ::zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use ::zstd::zstd_safe::{
    CCtx, CParameter, InBuffer, OutBuffer, ResetDirective, compress_bound, get_error_name,
};

/// The row of [`CODECS`](super::CODECS).
#[derive(Debug)]
pub(super) struct Zstd;

/// The default is zstd's own; see "Which levels, and which coding first" in DESIGN.md. Best is 19: the levels above it want windows that HTTP does not allow, and are clamped to 8 MiB.
const LEVELS: Levels = Levels { lowest: -7, fastest: 1, default: 3, best: 19, highest: 22 };

/// The largest window that a content coding may ask for (RFC 9659).
const MAX_WINDOW_LOG: u32 = 23;

/// Contexts are made for messages of one class, within zstd's own bounds of what its parameters go by. Streams of an
/// unknown size share the contexts of messages up to their window: with its size pledged such a message is encoded as in
/// one of its own (the same bytes at the default level, up to 0.2 % more from level 12 on), and what finds a warm context
/// costs 5 % less CPU time than what finds one that lay idle.
const STREAM: u8 = 1;
const CLASS_BOUNDS: [u64; 4] = [16 << 10, 1 << STREAM_WINDOW_LOG, 256 << 10, u64::MAX];

/// The window for a message of unknown size: 128 KiB costs 0.9 % in output over web files, and a context of
/// 1.1 MB, with the tables below, instead of 3.6 MB.
const STREAM_WINDOW_LOG: u32 = 17;

/// The class up to the first bound, and for an unknown size that is likely to be within it: one, so that they share
/// contexts and find them warm. Its window keeps tables small where the size is not pledged.
const SMALL: u8 = 0;
const SMALL_WINDOW_LOG: u32 = 14;

/// Tables of 128 and 64 KiB, about the default level and up to 256 KiB or a window of 128 KiB. zstd would take 512 and 256
/// for an unknown size, 256 for each from 128 KiB on, 256 and 128 below. Measured on JSON, XML, HTML, CSV, logs, scripts and binaries: 5 to 10 %
/// less CPU time, since they stay in the cache, for 0.3 % more output at the worst, and 576 and 192 KiB less memory.
const SMALL_TABLES: (u32, u32) = (15, 14);

/// For what is longer than 256 KiB: the table of long matches as zstd has it, 512 KiB, since it reaches back the whole
/// window; that of short ones 64 KiB instead of 256. Measured on the same kinds, 0.4 to 10 MB: 5 to 10 % less CPU time,
/// for 0.5 % more output at the worst, and often less.
const LARGE_TABLES: (u32, u32) = (17, 14);

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        "zstd"
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        LEVELS.resolve(level)
    }

    fn size_class(&self, size: Option<u64>) -> u8 {
        size.map_or(STREAM, |size| CLASS_BOUNDS.iter().take_while(|bound| size > **bound).count() as u8)
    }

    fn likely_class(&self, size: u64) -> u8 {
        if size <= CLASS_BOUNDS[0] { SMALL } else { STREAM }
    }

    /// A turn ends a block (see [`Frame::block`]), so this is also the size of a long message's blocks. Beyond
    /// level 4 blocks of 16 KiB cost 2 to 3 % in size, and take 0.2 ms (level 5) to 6 ms (19); smaller ones
    /// would cost twice as much.
    fn turn(&self, level: i32) -> usize {
        if level <= 4 { 64 * 1024 } else { 16 * 1024 }
    }

    fn memory(&self, setup: Setup) -> usize {
        // Measured with `ZSTD_sizeof_CCtx`, in KiB, the most of each band; a test compares.
        let by_class: [usize; CLASS_BOUNDS.len()] = match setup.level {
            ..=-1 | 1 => [260, 960, 1020, 1340],
            0 | 2..=3 => [330, 1090, 1150, 3390],
            4 => [330, 1090, 1600, 4860],
            5..=8 => [330, 1530, 3520, 7930],
            9..=12 => [510, 1710, 5060, 45_820],
            13..=19 => [570, 2690, 5830, 91_650],
            _ => [570, 2690, 5830, 140_810],
        };
        by_class[usize::from(setup.size_class).min(by_class.len() - 1)] * 1024
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Frame::new(setup)?))
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(ZstdDecoder::new(limits)?))
    }
}

/// One frame being made.
struct Frame {
    context: CCtx<'static>,
    pledged: Option<u64>,
    /// Whether the context has seen input.
    begun: bool,
    /// Bytes of input that no flush has put out.
    unflushed: usize,
    /// The input after which a block ends. zstd would gather 128 KiB and encode them in one call, which at level
    /// 19 takes 80 ms.
    block: usize,
}

impl Frame {
    fn new(setup: Setup) -> Result<Self, Error> {
        let mut context = CCtx::try_create().ok_or_else(|| Error::new(Kind::Encode))?;
        let mut set = |parameter| context.set_parameter(parameter).map_err(failed);
        set(CParameter::CompressionLevel(setup.level))?;
        let (window, tables) = logs(setup);
        if let Some(window) = window {
            set(CParameter::WindowLog(window))?;
        }
        if let Some((hash, chain)) = tables {
            set(CParameter::HashLog(hash))?;
            set(CParameter::ChainLog(chain))?;
        }
        Ok(Self { context, pledged: None, begun: false, unflushed: 0, block: Zstd.turn(setup.level) })
    }

    fn stream(
        &mut self,
        input: &[u8],
        directive: ZSTD_EndDirective,
        output: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut source = InBuffer::around(input);
        loop {
            // With room for the worst case zstd writes straight into the output.
            output.reserve_exact(compress_bound(input.len() - source.pos()).max(1024));
            let end = output.len();
            let mut sink = OutBuffer::around_pos(output, end);
            let held = self.context.compress_stream2(&mut sink, &mut source, directive).map_err(failed)?;
            let consumed = source.pos() == input.len();
            if consumed && (held == 0 || directive == ZSTD_EndDirective::ZSTD_e_continue) {
                return Ok(());
            }
        }
    }
}

/// The logarithms of the window and of the two tables, where zstd's own, which go by the size alone, are not the best.
fn logs(setup: Setup) -> (Option<u32>, Option<(u32, u32)>) {
    match (setup.size_class, setup.level) {
        (SMALL, _) => (Some(SMALL_WINDOW_LOG), Some(SMALL_TABLES)),
        (STREAM, 0 | 2..=4) => (Some(STREAM_WINDOW_LOG), Some(SMALL_TABLES)),
        // Without a size zstd would make tables for megabytes, which this window cannot fill.
        (STREAM, 5..) => (Some(STREAM_WINDOW_LOG), Some((STREAM_WINDOW_LOG, STREAM_WINDOW_LOG))),
        (STREAM, _) => (Some(STREAM_WINDOW_LOG), None),
        (2, 0 | 3) => (None, Some(SMALL_TABLES)),
        (3, 0 | 3) => (None, Some(LARGE_TABLES)),
        (_, 20..) => (Some(MAX_WINDOW_LOG), None),
        _ => (None, None),
    }
}

fn failed(code: usize) -> Error {
    Error::encode(get_error_name(code))
}

impl Encoder for Frame {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        let directive = match operation {
            Operation::Encode if input.is_empty() => return Ok(()),
            Operation::Flush if input.is_empty() && self.unflushed == 0 => return Ok(()),
            Operation::Encode if self.unflushed + input.len() < self.block => {
                ZSTD_EndDirective::ZSTD_e_continue
            }
            Operation::Encode | Operation::Flush => ZSTD_EndDirective::ZSTD_e_flush,
            Operation::Finish => ZSTD_EndDirective::ZSTD_e_end,
        };
        if !self.begun {
            self.begun = true;
            if let Some(size) = self.pledged {
                self.context.set_pledged_src_size(Some(size)).map_err(failed)?;
            }
        }
        let held = matches!(directive, ZSTD_EndDirective::ZSTD_e_continue);
        self.unflushed = if held { self.unflushed + input.len() } else { 0 };
        self.stream(input, directive, output)
    }

    fn pledge(&mut self, size: u64) {
        self.pledged = Some(size);
    }

    /// Parameters stay: they are what the pool's key says.
    fn reset(&mut self) -> bool {
        self.pledged = None;
        self.begun = false;
        self.unflushed = 0;
        self.context.reset(ResetDirective::SessionOnly).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that a context holds in the middle of a message.
    fn held(setup: Setup, size: Option<u64>) -> usize {
        let mut frame = Frame::new(setup).unwrap();
        if let Some(size) = size {
            frame.pledge(size);
        }
        frame.encode(b"abc", Operation::Encode, &mut Vec::new()).unwrap();
        frame.context.sizeof()
    }

    #[test]
    fn declared_memory_is_what_a_context_holds() {
        // The pool's limit is only as good as these numbers; zstd's own are the measure.
        let sizes = [Some(10_000), Some(100_000), Some(200_000), Some(3_000_000), Some(1 << 30), None];
        for level in LEVELS.lowest..=LEVELS.highest {
            let classes = sizes.map(|size| (size, Zstd.size_class(size)));
            // Last, an unknown size that is likely to be small.
            for (size, size_class) in classes.into_iter().chain([(None, Zstd.likely_class(10_000))]) {
                let setup = Setup { level, size_class };
                let (held, declared) = (held(setup, size), Zstd.memory(setup));
                assert!(
                    held <= declared + declared / 20,
                    "{level} {size:?}: {held} held, {declared} declared"
                );
                assert!(declared <= 4 * held, "{level} {size:?}: {held} held, {declared} declared");
            }
        }
    }

    #[test]
    fn a_message_within_a_streams_window_shares_its_contexts() {
        let streams = Zstd.size_class(None);
        for (size, shares) in
            [(16 << 10, false), ((16 << 10) + 1, true), (128 << 10, true), ((128 << 10) + 1, false)]
        {
            assert_eq!(Zstd.size_class(Some(size)) == streams, shares, "{size}");
        }
    }
}
