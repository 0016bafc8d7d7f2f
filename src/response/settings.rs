use crate::codec::{Codec, CompressionLevel};
use crate::codings::Codings;
use crate::engine::{Compressor, EncoderPool, Expected, Place, Sizing};
use crate::policy::{Config, Offer, Reason};
use crate::stats::Recorder;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use std::hash::RandomState;

/// What a layer and all its services share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    codings: Codings,
    /// The codings offered, in the server's order; the codecs behind them are those of `codings`.
    pub(crate) offers: Vec<Offer>,
    /// The offer that event streams get among equals: the first whose context can be taken from a stream that waits.
    /// `None` where the user has put the codings in an order.
    pub(crate) first_for_events: Option<usize>,
    /// The names of all offers, for telling our own entity tags.
    pub(crate) names: Vec<&'static str>,
    pub(crate) pool: EncoderPool,
    pub(crate) recorder: Recorder,
    pub(crate) batch_limit: usize,
    pub(crate) sizing: Sizing,
    /// Frames of streams from this size on are encoded on another thread.
    #[cfg(feature = "tokio")]
    pub(crate) offload: usize,
    /// Makes the padding by content unforeseeable.
    pub(crate) padding_key: RandomState,
}

impl Settings {
    /// Changes the configuration and what follows from it.
    pub(crate) fn configure(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        self.codings.enable(self.config.enabled());
        let first = self.config.first_by_star();
        self.offers = self.codings.enabled().iter().map(|codec| offer(*codec, first)).collect();
        let parks = self.codings.enabled().iter().position(|codec| codec.parks());
        self.first_for_events = parks.filter(|_| !self.config.is_ordered());
        self.names = self.codings.names();
    }

    pub(crate) fn add(&mut self, codec: &'static dyn Codec) {
        self.codings.add(codec);
        self.configure(|config| config.enable(codec.name(), true));
    }

    /// The codec behind an offer, with the level that the user set for it.
    pub(crate) fn offered(&self, index: usize) -> (&'static dyn Codec, CompressionLevel) {
        let codec = self.codec(index);
        (codec, self.config.level(codec.name()))
    }

    /// What a message of this route with this head is likely to need. A route and a type together tell more than either;
    /// see "What predicts how large a body is" in DESIGN.md.
    pub(crate) fn expect(&self, route: Place, headers: &HeaderMap) -> Expected {
        let media_type = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        self.sizing.expect(route.of_type(media_type))
    }

    /// The best coding that streams and for which there is memory: beyond the pool's limit only one that parks.
    /// `choose` gives the best of those that are usable.
    pub(crate) fn admit(
        &self,
        size: Option<u64>,
        expected: Expected,
        level: impl Fn(usize) -> CompressionLevel,
        choose: impl Fn(&dyn Fn(usize) -> bool) -> Option<usize>,
    ) -> Result<(usize, Compressor), Reason> {
        let mut refused = 0_u32;
        loop {
            let usable = |index: usize| refused & (1 << index) == 0 && self.codec(index).streams();
            let Some(index) = choose(&usable) else {
                return Err(if refused == 0 { Reason::NotAccepted } else { Reason::Pressure });
            };
            let mut compressor = Compressor::new(&self.pool, self.codec(index), level(index), size);
            compressor.limit_batch(self.batch_limit);
            compressor.learn(&self.sizing, expected);
            if compressor.reserve() {
                return Ok((index, compressor));
            }
            refused |= 1 << index;
        }
    }

    pub(crate) fn codec(&self, index: usize) -> &'static dyn Codec {
        self.codings.enabled()[index]
    }
}

/// `*` never selects a coding without a registered token: nobody who sends it can be expected to know those.
fn offer(codec: &'static dyn Codec, first_by_star: Option<&str>) -> Offer {
    let name = codec.name();
    let registered = matches!(name, "gzip" | "deflate" | "br" | "zstd");
    Offer::new(name, codec.aliases(), registered).first_by_star(first_by_star == Some(name))
}

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Self {
            config: Config::default(),
            codings: Codings::default(),
            offers: Vec::new(),
            first_for_events: None,
            names: Vec::new(),
            pool: EncoderPool::default(),
            recorder: Recorder::default(),
            batch_limit: usize::MAX,
            sizing: Sizing::new(),
            #[cfg(feature = "tokio")]
            offload: usize::MAX,
            padding_key: RandomState::new(),
        };
        settings.configure(|_| ());
        settings
    }
}
