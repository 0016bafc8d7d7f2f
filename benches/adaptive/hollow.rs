//! A codec without an encoder inside.

use tower_compress::Error;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, by_name,
};

/// A codec of the registry with something else in its place.
#[derive(Debug)]
pub(crate) struct Altered {
    inner: &'static dyn Codec,
    filling: Filling,
}

/// What does the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filling {
    Real,
    /// Nothing, and no output to speak of, so that the write buffer alone is held.
    Silent,
}

impl Altered {
    /// Layers want codecs that last.
    pub(crate) fn new(coding: &str, filling: Filling) -> &'static Self {
        let inner = by_name(coding).expect("a coding of the registry");
        Box::leak(Box::new(Self { inner, filling }))
    }
}

impl Codec for Altered {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        self.inner.level(level)
    }

    fn size_class(&self, size: Option<u64>) -> u8 {
        self.inner.size_class(size)
    }

    fn likely_class(&self, size: u64) -> u8 {
        self.inner.likely_class(size)
    }

    fn parks(&self) -> bool {
        self.inner.parks() && self.filling == Filling::Real
    }

    fn batch(&self, level: i32) -> usize {
        self.inner.batch(level)
    }

    fn turn(&self, level: i32) -> usize {
        self.inner.turn(level)
    }

    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        self.inner.level_for_batch(level, batch)
    }

    fn memory(&self, setup: Setup) -> usize {
        self.inner.memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        match self.filling {
            Filling::Real => self.inner.encoder(setup),
            Filling::Silent => Ok(Box::new(Nothing)),
        }
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        self.inner.decoder(limits)
    }
}

struct Nothing;

impl Encoder for Nothing {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if operation != Operation::Encode && !input.is_empty() {
            output.push(0);
        }
        Ok(())
    }

    fn reset(&mut self) -> bool {
        true
    }
}
