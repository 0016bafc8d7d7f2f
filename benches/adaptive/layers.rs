//! The contestants: layers that size their buffers by themselves, and layers with buffers of one size.

use crate::altered::{Altered, Filling};
use crate::replay::{self, Outcome};
use crate::traces::Exchange;
use tower_compress::engine::Sizing;
use tower_compress::predicate::SizeAbove;
use tower_compress::{Compression, CompressionLayer, EncoderPool, Stats};
use tower_layer::Layer as _;

/// A layer for one coding.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) coding: &'static str,
    inner: CompressionLayer<SizeAbove>,
}

impl Layer {
    /// A layer whose buffers have `fixed` bytes; `None`: as they find right.
    ///
    /// A fixed buffer is never larger or smaller, and no more than fits is looked ahead. What all have in common is
    /// that no more than [`LOOK_AHEAD`] is looked ahead, and that the encoder gets no more in one call than takes
    /// about 200 microseconds: both bound the latency, whatever the buffer.
    ///
    /// Layers of one `pool` share their encoders, as the layers of one process do: encoders that lie cold in the
    /// cache while others take their turn would cost more than any buffer does.
    pub(crate) fn new(
        coding: &'static str,
        fixed: Option<usize>,
        filling: Filling,
        pool: &EncoderPool,
    ) -> Self {
        let inner = CompressionLayer::new()
            .codec(Altered::new(coding, filling))
            .pool(pool.clone())
            .compress_when(SizeAbove::new(0));
        let inner = match fixed {
            Some(bytes) => inner.look_ahead(bytes.min(LOOK_AHEAD)).sizing(Sizing::fixed(bytes)),
            None => inner,
        };
        Self { coding, inner }
    }

    /// The same layer, with all that it has learned, on another pool.
    pub(crate) fn on(&self, pool: &EncoderPool) -> Self {
        Self { coding: self.coding, inner: self.inner.clone().pool(pool.clone()) }
    }

    pub(crate) fn run(&self, exchanges: &[Exchange]) -> Vec<Outcome> {
        exchanges.iter().map(|exchange| replay::response(self, exchange)).collect()
    }

    /// Runs until what there is to learn has been learned, and every context is built.
    pub(crate) fn warm_up(&self, exchanges: &[Exchange]) {
        for _ in 0..WARM.div_ceil(exchanges.len()) {
            self.run(exchanges);
        }
    }

    pub(crate) fn service<S>(&self, service: S) -> Compression<S, SizeAbove> {
        self.inner.layer(service)
    }

    pub(crate) fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

/// The layer's default.
const LOOK_AHEAD: usize = 64 * 1024;

/// Twice the 32 messages that learning may take.
pub(crate) const WARM: usize = 64;
