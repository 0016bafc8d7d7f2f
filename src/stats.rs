//! What a layer has done, counted.

use crate::engine::{EncoderPool, PerThread, PoolStats, Tally};
use crate::policy::Reason;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A snapshot of what a layer, with all services made from it, has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Messages coded.
    pub coded: u64,
    /// Messages that were coded whole, in one encoder call and with an exact length.
    pub coded_whole: u64,
    /// Bytes that went into encoders.
    pub bytes_in: u64,
    /// Bytes that came out.
    pub bytes_out: u64,
    /// Writes gathered: body frames, or a writer's calls.
    pub writes: u64,
    /// Encoder calls that they became.
    pub encoder_calls: u64,
    /// Flushes because the producer paused.
    pub flushes: u64,
    /// Times that a parked stream went on in another context.
    pub resumed: u64,
    /// The pool that the layer uses, with what other layers do in it.
    pub pool: PoolStats,
    passed: [u64; Reason::ALL.len()],
}

impl Stats {
    /// Messages that passed as they were, for this reason.
    #[must_use]
    pub fn passed(&self, reason: Reason) -> u64 {
        self.passed[reason.index()]
    }

    /// Writes gathered per encoder call; zero before the first.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn writes_per_call(&self) -> f64 {
        if self.encoder_calls == 0 { 0.0 } else { self.writes as f64 / self.encoder_calls as f64 }
    }
}

/// The counters of one layer, for one thread. Each is added to once per message, not per write.
#[derive(Debug, Default)]
struct Counters {
    coded: AtomicU64,
    coded_whole: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    writes: AtomicU64,
    encoder_calls: AtomicU64,
    flushes: AtomicU64,
    resumed: AtomicU64,
    passed: [AtomicU64; Reason::ALL.len()],
}

impl Counters {
    fn message(&self, tally: Tally) {
        add(&self.coded, 1);
        add(&self.bytes_in, tally.bytes_in);
        add(&self.bytes_out, tally.bytes_out);
        add(&self.writes, tally.writes);
        add(&self.encoder_calls, tally.encoder_calls);
        add(&self.flushes, tally.flushes);
        add(&self.resumed, tally.resumed);
    }
}

/// A handle to count with. A thread adds to counters of its own: with one set for all, tiny answers took two threads 15 %
/// longer.
#[derive(Debug, Clone)]
pub(crate) struct Recorder(Arc<PerThread<Counters>>);

impl Default for Recorder {
    fn default() -> Self {
        Self(Arc::new(PerThread::new(Counters::default)))
    }
}

impl Recorder {
    fn own(&self) -> &Counters {
        self.0.get(self.0.own())
    }

    /// A message has ended, one way or another.
    pub(crate) fn message(&self, tally: Tally) {
        self.own().message(tally);
    }

    /// A message was coded in one call.
    pub(crate) fn whole(&self, tally: Tally) {
        let counters = self.own();
        add(&counters.coded_whole, 1);
        counters.message(tally);
    }

    /// A message passed as it was.
    pub(crate) fn passed(&self, reason: Reason) {
        add(&self.own().passed[reason.index()], 1);
    }

    pub(crate) fn snapshot(&self, pool: &EncoderPool) -> Stats {
        let sum = |counter: &dyn Fn(&Counters) -> &AtomicU64| {
            self.0.iter().map(|counters| counter(counters).load(Ordering::Relaxed)).sum()
        };
        Stats {
            coded: sum(&|of| &of.coded),
            coded_whole: sum(&|of| &of.coded_whole),
            bytes_in: sum(&|of| &of.bytes_in),
            bytes_out: sum(&|of| &of.bytes_out),
            writes: sum(&|of| &of.writes),
            encoder_calls: sum(&|of| &of.encoder_calls),
            flushes: sum(&|of| &of.flushes),
            resumed: sum(&|of| &of.resumed),
            pool: pool.stats(),
            passed: std::array::from_fn(|index| sum(&|of| &of.passed[index])),
        }
    }
}

/// Counters carry no other data, so no order is needed; zeros, the common case for some, cost no write.
fn add(counter: &AtomicU64, amount: u64) {
    if amount > 0 {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}
