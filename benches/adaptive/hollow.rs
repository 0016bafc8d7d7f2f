//! Codecs with another batch, and codecs without an encoder inside.

use tower_compress::Error;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, by_name,
};

/// A codec of the registry with something else in its place.
#[derive(Debug)]
pub(crate) struct Altered {
    inner: &'static dyn Codec,
    /// In place of its own batch.
    batch: Option<usize>,
    filling: Filling,
}

/// What does the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filling {
    Real,
    /// Nothing, but as much output as text makes, so that buffers alone are held.
    Hollow,
    /// Nothing, and no output to speak of, so that the write buffer alone is held.
    Silent,
}

impl Altered {
    /// Layers want codecs that last.
    pub(crate) fn new(coding: &str, batch: Option<usize>, filling: Filling) -> &'static Self {
        let inner = by_name(coding).expect("a coding of the registry");
        Box::leak(Box::new(Self { inner, batch, filling }))
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
        self.batch.unwrap_or_else(|| self.inner.batch(level))
    }

    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        self.inner.level_for_batch(level, batch)
    }

    fn level_for_whole(&self, level: i32, length: usize) -> i32 {
        self.inner.level_for_whole(level, length)
    }

    fn memory(&self, setup: Setup) -> usize {
        self.inner.memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        match self.filling {
            Filling::Real => self.inner.encoder(setup),
            filling => Ok(Box::new(Nothing { filling })),
        }
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        self.inner.decoder(limits)
    }
}

struct Nothing {
    filling: Filling,
}

impl Encoder for Nothing {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if self.filling == Filling::Hollow {
            // Room for the worst case, as the real encoders ask for, and a fifth of that as output.
            output.reserve(input.len() + input.len() / 1024 + 64);
            output.resize(output.len() + input.len() / 5, 0);
        }
        if operation != Operation::Encode && !input.is_empty() {
            output.push(0);
        }
        Ok(())
    }

    fn reset(&mut self) -> bool {
        true
    }
}
