//! A codec whose encoder fails in the middle of a message.

use tower_compress::Error;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, by_name,
};

/// gzip, but the encoder fails once it has taken [`ENOUGH`] bytes.
#[derive(Debug)]
pub(crate) struct Failing;

pub(crate) static FAILING: Failing = Failing;

/// More than what is looked at before the head goes out.
const ENOUGH: usize = 100_000;

fn gzip() -> &'static dyn Codec {
    by_name("gzip").expect("gzip is compiled in")
}

impl Codec for Failing {
    fn name(&self) -> &'static str {
        "gzip"
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        gzip().level(level)
    }

    fn memory(&self, setup: Setup) -> usize {
        gzip().memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Breaking { inner: gzip().encoder(setup)?, taken: 0 }))
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        gzip().decoder(limits)
    }
}

struct Breaking {
    inner: Box<dyn Encoder>,
    taken: usize,
}

impl Encoder for Breaking {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        self.taken += input.len();
        if self.taken >= ENOUGH {
            return Err(Error::encode("the encoder broke"));
        }
        self.inner.encode(input, operation, output)
    }

    fn reset(&mut self) -> bool {
        self.taken = 0;
        self.inner.reset()
    }
}
