use crate::codec::{Codec, CompressionLevel};
use crate::codings::Codings;
use crate::engine::EncoderPool;
use crate::policy::{Config, Offer};
use crate::stats::Recorder;
use std::hash::RandomState;

/// What a layer and all its services share.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) config: Config,
    codings: Codings,
    /// The codings offered, in the server's order; the codecs behind them are those of `codings`.
    pub(super) offers: Vec<Offer>,
    /// The names of all offers, for telling our own entity tags.
    pub(super) names: Vec<&'static str>,
    pub(super) pool: EncoderPool,
    pub(super) recorder: Recorder,
    pub(super) batch_limit: usize,
    /// Makes the padding by content unforeseeable.
    pub(super) padding_key: RandomState,
}

impl Settings {
    /// Changes the configuration and what follows from it.
    pub(super) fn configure(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        self.codings.enable(self.config.enabled());
        self.offers = self.codings.enabled().iter().map(|codec| offer(*codec)).collect();
        self.names = self.codings.names();
    }

    pub(super) fn add(&mut self, codec: &'static dyn Codec) {
        self.codings.add(codec);
        self.configure(|config| config.enable(codec.name(), true));
    }

    /// The codec behind an offer, with the level that the user set for it.
    pub(super) fn offered(&self, index: usize) -> (&'static dyn Codec, CompressionLevel) {
        let codec = self.codec(index);
        (codec, self.config.level(codec.name()))
    }

    pub(super) fn codec(&self, index: usize) -> &'static dyn Codec {
        self.codings.enabled()[index]
    }
}

/// `*` never selects a coding without a registered token: nobody who sends it can be expected to know those.
fn offer(codec: &'static dyn Codec) -> Offer {
    let name = codec.name();
    Offer::new(name, codec.aliases(), matches!(name, "gzip" | "deflate" | "br" | "zstd"))
}

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Self {
            config: Config::default(),
            codings: Codings::default(),
            offers: Vec::new(),
            names: Vec::new(),
            pool: EncoderPool::default(),
            recorder: Recorder::default(),
            batch_limit: usize::MAX,
            padding_key: RandomState::new(),
        };
        settings.configure(|_| ());
        settings
    }
}
