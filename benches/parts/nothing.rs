//! A codec that does nothing, so that what is around an encoder can be seen.

use tower_compress::Error;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, by_name,
};

/// Puts out the first byte of every call.
#[derive(Debug)]
pub(crate) struct Nothing;

impl Codec for Nothing {
    fn name(&self) -> &'static str {
        "x-nothing"
    }

    fn level(&self, _level: CompressionLevel) -> i32 {
        0
    }

    fn memory(&self, _setup: Setup) -> usize {
        1024
    }

    fn encoder(&self, _setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Self))
    }

    /// Never asked for.
    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        by_name("gzip").expect("gzip is compiled in").decoder(limits)
    }
}

impl Encoder for Nothing {
    fn encode(&mut self, input: &[u8], _operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        output.extend(input.first());
        Ok(())
    }

    fn reset(&mut self) -> bool {
        true
    }
}
