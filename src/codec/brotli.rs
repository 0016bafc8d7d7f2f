//! Brotli (RFC 7932).

mod decoder;

use self::decoder::BrotliDecoder;
use super::{BATCH, Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Levels, Operation, Setup};
use crate::error::Error;
use ::brotli::enc::StandardAlloc;
use ::brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};

/// The row of [`CODECS`](super::CODECS).
#[derive(Debug)]
pub(super) struct Brotli;

/// The library's own default, 11, is for files compressed once; 4 is tower-http's choice for bodies on the
/// fly, and best is what a server can still afford.
const LEVELS: Levels = Levels { lowest: 0, fastest: 0, default: 4, best: 11, highest: 11 };

/// The window for a message of unknown size: 128 KiB, as with zstd.
const STREAM_WINDOW_LOG: u32 = 17;

/// Classes by size, so that a small message does not hold a large window: up to 16 KiB, up to 128 KiB, larger,
/// and unknown.
const CLASS_WINDOW_LOGS: [u32; 4] = [14, 17, 22, STREAM_WINDOW_LOG];
const UNKNOWN: u8 = 3;

impl Codec for Brotli {
    fn name(&self) -> &'static str {
        "br"
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        LEVELS.resolve(level)
    }

    fn size_class(&self, size: Option<u64>) -> u8 {
        match size {
            None => UNKNOWN,
            // A brotli window holds 16 bytes less than its power of two.
            Some(..=0x3ff0) => 0,
            Some(..=0x1_fff0) => 1,
            Some(_) => 2,
        }
    }

    /// The window alone depends on the class, and any message may have a small one.
    fn likely_class(&self, size: u64) -> u8 {
        if self.size_class(Some(size)) == 0 { 0 } else { UNKNOWN }
    }

    /// Up to level 2 each call makes a block of its own, and 4 KiB cost half as much time again and 43 % more output.
    fn batch(&self, level: i32) -> usize {
        if level <= 2 { 32 * 1024 } else { BATCH }
    }

    /// From level 4 on a turn ends a meta-block (see [`Stream::block`]), so this is also the size of a long
    /// message's meta-blocks. Those of 16 KiB cost 2 to 3 % in size, and take 0.3 ms (level 4) to 30 ms (11).
    fn turn(&self, level: i32) -> usize {
        if level <= 2 { 32 * 1024 } else { 16 * 1024 }
    }

    fn memory(&self, setup: Setup) -> usize {
        let window = 1_usize << CLASS_WINDOW_LOGS[usize::from(setup.size_class.min(UNKNOWN))];
        let tables = if setup.level < 5 { 512 * 1024 } else { 2 * 1024 * 1024 };
        4 * window + tables
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Stream {
            state: new_state(setup),
            setup,
            begun: false,
            unflushed: 0,
            block: block(setup.level),
        }))
    }

    fn decoder(&self, _limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(BrotliDecoder::new()))
    }
}

fn block(level: i32) -> usize {
    if level < 4 { usize::MAX } else { Brotli.turn(level) }
}

type State = BrotliEncoderStateStruct<StandardAlloc>;

fn new_state(setup: Setup) -> State {
    let mut state = BrotliEncoderStateStruct::new(StandardAlloc::default());
    let window_log = CLASS_WINDOW_LOGS[usize::from(setup.size_class.min(UNKNOWN))];
    state.set_parameter(
        BrotliEncoderParameter::BROTLI_PARAM_QUALITY,
        LEVELS.clamp(setup.level).unsigned_abs(),
    );
    state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, window_log);
    state
}

struct Stream {
    state: State,
    setup: Setup,
    begun: bool,
    /// Bytes of input that no flush has put out.
    unflushed: usize,
    /// The input after which a meta-block ends. From level 4 on the library would gather 64 KiB or more and
    /// encode them in one call, which at level 11 takes 200 ms.
    block: usize,
}

impl Stream {
    fn run(
        &mut self,
        input: &[u8],
        operation: BrotliEncoderOperation,
        output: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut left = input.len();
        let mut taken = 0;
        loop {
            let start = output.len();
            let mut room = left / 2 + 1024;
            output.resize(start + room, 0);
            let mut written = 0;
            let fine = self.state.compress_stream(
                operation,
                &mut left,
                input,
                &mut taken,
                &mut room,
                &mut output[start..],
                &mut written,
                &mut None,
                &mut |_, _, _, _| (),
            );
            output.truncate(start + written);
            if !fine {
                return Err(Error::encode("brotli"));
            }
            let more = match operation {
                BrotliEncoderOperation::BROTLI_OPERATION_FINISH => !self.state.is_finished(),
                _ => left > 0 || self.state.has_more_output(),
            };
            if !more {
                return Ok(());
            }
        }
    }
}

impl Encoder for Stream {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        let directive = match operation {
            Operation::Encode if input.is_empty() => return Ok(()),
            Operation::Flush if input.is_empty() && self.unflushed == 0 => return Ok(()),
            Operation::Encode if self.unflushed + input.len() < self.block => {
                BrotliEncoderOperation::BROTLI_OPERATION_PROCESS
            }
            Operation::Encode | Operation::Flush => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
            Operation::Finish => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
        };
        self.begun = true;
        let held = matches!(directive, BrotliEncoderOperation::BROTLI_OPERATION_PROCESS);
        self.unflushed = if held { self.unflushed + input.len() } else { 0 };
        self.run(input, directive, output)
    }

    fn pledge(&mut self, size: u64) {
        let hint = u32::try_from(size).unwrap_or(u32::MAX);
        self.state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_SIZE_HINT, hint);
    }

    /// The library cannot reset a state, so a used one is replaced.
    fn reset(&mut self) -> bool {
        if self.begun {
            self.state = new_state(self.setup);
            self.begun = false;
            self.unflushed = 0;
        }
        true
    }
}
