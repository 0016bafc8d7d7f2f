//! Codecs of the registry with a meter on them: how often the encoder was called, and its CPU time.
//!
//! They go through the crate's public traits, as a codec defined elsewhere does.

use cpu_time::ThreadTime;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, Suspended, by_name,
};
use tower_compress::{CompressionLayer, Error};

/// The default layer with a meter on each of its codecs.
pub(crate) fn layer() -> CompressionLayer {
    METERS.iter().fold(CompressionLayer::new(), |layer, meter| layer.codec(meter))
}

/// What all meters together have counted so far.
pub(crate) fn reading() -> Reading {
    let sum = |counter: fn(&Counters) -> &AtomicU64| {
        METERS.iter().map(|meter| counter(&meter.counters).load(Ordering::Relaxed)).sum::<u64>()
    };
    Reading {
        calls: sum(|counters| &counters.calls),
        cpu: Duration::from_nanos(sum(|counters| &counters.cpu)),
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) calls: u64,
    pub(crate) cpu: Duration,
}

/// A layer's codecs must last as long as the program.
static METERS: LazyLock<Vec<Meter>> =
    LazyLock::new(|| ["zstd", "gzip", "deflate"].into_iter().filter_map(by_name).map(Meter::new).collect());

#[derive(Debug)]
struct Meter {
    inner: &'static dyn Codec,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    calls: AtomicU64,
    /// Nanoseconds.
    cpu: AtomicU64,
}

impl Meter {
    fn new(inner: &'static dyn Codec) -> Self {
        Self { inner, counters: Arc::default() }
    }
}

impl Codec for Meter {
    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Metered { inner: self.inner.encoder(setup)?, counters: Arc::clone(&self.counters) }))
    }

    // All else is as the codec says. The defaults of the trait would not be.

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.inner.aliases()
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        self.inner.level(level)
    }

    fn size_class(&self, size: Option<u64>) -> u8 {
        self.inner.size_class(size)
    }

    fn streams(&self) -> bool {
        self.inner.streams()
    }

    fn parks(&self) -> bool {
        self.inner.parks()
    }

    fn pads(&self) -> bool {
        self.inner.pads()
    }

    fn batch(&self, level: i32) -> usize {
        self.inner.batch(level)
    }

    fn likely_class(&self, size: u64) -> u8 {
        self.inner.likely_class(size)
    }

    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        self.inner.level_for_batch(level, batch)
    }

    fn memory(&self, setup: Setup) -> usize {
        self.inner.memory(setup)
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        self.inner.decoder(limits)
    }
}

struct Metered {
    inner: Box<dyn Encoder>,
    counters: Arc<Counters>,
}

impl Encoder for Metered {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        let start = ThreadTime::now();
        let result = self.inner.encode(input, operation, output);
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counters.cpu.fetch_add(nanoseconds, Ordering::Relaxed);
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        result
    }

    fn pledge(&mut self, size: u64) {
        self.inner.pledge(size);
    }

    fn reset(&mut self) -> bool {
        self.inner.reset()
    }

    fn suspend(&mut self) -> Option<Suspended> {
        self.inner.suspend()
    }

    fn resume(&mut self, suspended: Suspended) -> bool {
        self.inner.resume(suspended)
    }

    fn pad(&mut self, bytes: u16) {
        self.inner.pad(bytes);
    }
}
