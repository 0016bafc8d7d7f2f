use crate::codec::{self, Codec, CompressionLevel};
use crate::engine::{EncoderPool, Sizing};
use crate::policy::{Config, Offer};
use crate::stats::Recorder;
use std::hash::RandomState;

/// What a layer and all its services share.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) config: Config,
    /// Codecs from outside the crate; they go before those of the registry with the same name.
    foreign: Vec<&'static dyn Codec>,
    /// The codings offered, in the server's order, and the codecs behind them.
    pub(super) offers: Vec<Offer>,
    codecs: Vec<&'static dyn Codec>,
    /// The names of all offers, for telling our own entity tags.
    pub(super) names: Vec<&'static str>,
    pub(super) pool: EncoderPool,
    pub(super) recorder: Recorder,
    pub(super) batch_limit: usize,
    pub(super) sizing: Sizing,
    /// Makes the padding by content unforeseeable.
    pub(super) padding_key: RandomState,
}

impl Settings {
    /// Changes the configuration and what follows from it.
    pub(super) fn configure(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        let names: Vec<_> = self.config.enabled().collect();
        // A coding may be configured without being compiled in; it is not offered then.
        self.codecs = names.iter().filter_map(|name| self.find(name)).collect();
        self.offers = self.codecs.iter().map(|codec| offer(*codec)).collect();
        self.names = self.codecs.iter().map(|codec| codec.name()).collect();
    }

    pub(super) fn add(&mut self, codec: &'static dyn Codec) {
        self.foreign.retain(|known| known.name() != codec.name());
        self.foreign.push(codec);
        self.configure(|config| config.enable(codec.name(), true));
    }

    /// The codec behind an offer, with the level that the user set for it.
    pub(super) fn offered(&self, index: usize) -> (&'static dyn Codec, CompressionLevel) {
        let codec = self.codecs[index];
        (codec, self.config.level(codec.name()))
    }

    pub(super) fn codec(&self, index: usize) -> &'static dyn Codec {
        self.codecs[index]
    }

    fn find(&self, name: &str) -> Option<&'static dyn Codec> {
        self.foreign.iter().copied().find(|codec| codec.name() == name).or_else(|| codec::by_name(name))
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
            foreign: Vec::new(),
            offers: Vec::new(),
            codecs: Vec::new(),
            names: Vec::new(),
            pool: EncoderPool::default(),
            recorder: Recorder::default(),
            batch_limit: usize::MAX,
            sizing: Sizing::new(),
            padding_key: RandomState::new(),
        };
        settings.configure(|_| ());
        settings
    }
}
