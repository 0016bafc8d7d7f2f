//! Codecs whose encoders are looked into, or left out, so that what buffers hold can be told from the rest.

use crate::buffers;
use std::cell::Cell;
use tower_compress::Error;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, Suspended, by_name,
};

/// A codec of the registry with something else for an encoder.
#[derive(Debug)]
pub(crate) struct Altered {
    inner: &'static dyn Codec,
    filling: Filling,
}

/// What does the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filling {
    Real,
    /// The real encoder, and [`held`] leaves out what it holds itself.
    Watched,
    /// Nothing, and no output to speak of, so that the write buffer alone is held.
    Silent,
}

/// Bytes in this thread's buffers, without what its watched encoders hold themselves.
pub(crate) fn held() -> usize {
    buffers::held().saturating_sub(usize::try_from(INSIDE.get()).unwrap_or(0))
}

thread_local! {
    /// What the encoders hold besides their output.
    static INSIDE: Cell<isize> = const { Cell::new(0) };
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
        self.inner.parks() && self.filling != Filling::Silent
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

    fn level_for_whole(&self, level: i32, length: usize) -> i32 {
        self.inner.level_for_whole(level, length)
    }

    fn memory(&self, setup: Setup) -> usize {
        self.inner.memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        match self.filling {
            Filling::Real => self.inner.encoder(setup),
            Filling::Watched => Ok(Box::new(Watched::new(self.inner, setup)?)),
            Filling::Silent => Ok(Box::new(Nothing)),
        }
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        self.inner.decoder(limits)
    }
}

struct Watched {
    inner: Box<dyn Encoder>,
    holds: isize,
}

impl Watched {
    fn new(codec: &dyn Codec, setup: Setup) -> Result<Self, Error> {
        let before = buffers::held();
        let inner = codec.encoder(setup)?;
        let mut watched = Self { inner, holds: 0 };
        watched.add(before, 0);
        Ok(watched)
    }

    /// Counts what is held since `before`, but for `apart`, which is not the encoder's own.
    fn add(&mut self, before: usize, apart: isize) {
        let more = buffers::held().wrapping_sub(before) as isize - apart;
        self.holds += more;
        INSIDE.set(INSIDE.get() + more);
    }
}

impl Encoder for Watched {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        let size = |output: &Vec<u8>| buffers::counted(output.capacity()) as isize;
        let (before, out) = (buffers::held(), size(output));
        let result = self.inner.encode(input, operation, output);
        self.add(before, size(output) - out);
        result
    }

    fn pledge(&mut self, size: u64) {
        self.inner.pledge(size);
    }

    fn reset(&mut self) -> bool {
        let before = buffers::held();
        let reset = self.inner.reset();
        self.add(before, 0);
        reset
    }

    fn set_level(&mut self, level: i32) -> bool {
        let before = buffers::held();
        let set = self.inner.set_level(level);
        self.add(before, 0);
        set
    }

    fn suspend(&mut self) -> Option<Suspended> {
        let before = buffers::held();
        let suspended = self.inner.suspend();
        let tail = suspended.as_ref().map_or(0, |suspended| buffers::counted(suspended.tail.capacity()));
        self.add(before, tail as isize);
        suspended
    }

    fn resume(&mut self, suspended: Suspended) -> bool {
        let before = buffers::held();
        let tail = buffers::counted(suspended.tail.capacity()) as isize;
        let resumed = self.inner.resume(suspended);
        self.add(before, -tail);
        resumed
    }

    fn pad(&mut self, bytes: u16) {
        self.inner.pad(bytes);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - self.holds);
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
