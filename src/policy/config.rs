//! What a layer's user chose, as plain data.

use super::{EtagPolicy, FlushPolicy};
use crate::codec::CompressionLevel;
use std::ops::RangeInclusive;

/// One coding in the server's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coding {
    pub(crate) name: &'static str,
    pub(crate) enabled: bool,
    /// The coding's own level; `None`: the layer's quality.
    pub(crate) level: Option<CompressionLevel>,
}

/// A compressing layer's settings. The names of codings are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    codings: Vec<Coding>,
    /// Whether their order is the user's.
    ordered: bool,
    /// The level of codings without one of their own.
    pub(crate) quality: CompressionLevel,
    pub(crate) etag: EtagPolicy,
    pub(crate) flush: FlushPolicy,
    /// Whether a request that accepts nothing is answered with 406 before the inner service runs.
    pub(crate) strict: bool,
    /// Whether `Cache-Control: no-transform` is honoured.
    pub(crate) honour_no_transform: bool,
    /// How many bytes of padding a coded response gets, at random; `None`: no padding.
    padding: Option<RangeInclusive<u16>>,
    /// Whether the padding depends on the content, as far as that is known, and not on chance.
    pub(crate) padding_by_content: bool,
    /// Whether coded responses say in `Server-Timing` how long the encoder took.
    pub(crate) server_timing: bool,
    look_ahead: usize,
}

impl Config {
    /// The codings that are enabled, in the server's order of preference.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = &'static str> {
        self.codings.iter().filter(|coding| coding.enabled).map(|coding| coding.name)
    }

    /// Enables or disables a coding. One that the list does not know joins its end.
    pub(crate) fn enable(&mut self, name: &'static str, enabled: bool) {
        self.coding_mut(name).enabled = enabled;
    }

    /// Sets the level of one coding, enabled or not.
    pub(crate) fn set_level(&mut self, name: &'static str, level: CompressionLevel) {
        self.coding_mut(name).level = Some(level);
    }

    /// The level of one coding: its own, or else the layer's quality.
    pub(crate) fn level(&self, name: &str) -> CompressionLevel {
        let coding = self.codings.iter().find(|coding| coding.name == name);
        coding.and_then(|coding| coding.level).unwrap_or(self.quality)
    }

    /// Puts these codings first, in this order. The others follow in the order that they had.
    pub(crate) fn set_order(&mut self, names: &[&str]) {
        let place =
            |coding: &Coding| names.iter().position(|name| *name == coding.name).unwrap_or(names.len());
        // The sort is stable.
        self.codings.sort_by_key(place);
        self.ordered |= !names.is_empty();
    }

    /// The coding that a bare `*` selects before the others: what every client that sends one can read. `None` where
    /// the user has put them in an order.
    pub(crate) fn first_by_star(&self) -> Option<&'static str> {
        (!self.ordered).then_some("gzip")
    }

    /// Whether the user has put the codings in an order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The bytes of padding for a coded response, to choose from at random.
    pub(crate) fn padding(&self) -> Option<&RangeInclusive<u16>> {
        self.padding.as_ref()
    }

    /// Sets the padding, at most [`MAX_PADDING`]. A range that is empty, or zero alone, means none.
    pub(crate) fn set_padding(&mut self, padding: Option<RangeInclusive<u16>>) {
        self.padding = padding
            .filter(|range| !range.is_empty() && *range.end() > 0)
            .map(|range| (*range.start()).min(MAX_PADDING)..=(*range.end()).min(MAX_PADDING));
    }

    /// The bytes of a body that are awaited, while it is ready, before the head goes out.
    pub(crate) fn look_ahead(&self) -> usize {
        self.look_ahead
    }

    /// Sets the look-ahead, at most [`MAX_LOOK_AHEAD`]. Zero: the head goes out at once.
    pub(crate) fn set_look_ahead(&mut self, bytes: usize) {
        self.look_ahead = bytes.min(MAX_LOOK_AHEAD);
    }

    fn coding_mut(&mut self, name: &'static str) -> &mut Coding {
        let index = self.codings.iter().position(|coding| coding.name == name).unwrap_or_else(|| {
            self.codings.push(Coding { name, enabled: false, level: None });
            self.codings.len() - 1
        });
        &mut self.codings[index]
    }
}

impl Config {
    /// For requests: gzip first, since an origin of which nothing is known is more likely to decode that than
    /// anything else.
    pub(crate) fn for_requests() -> Self {
        let mut config = Self { look_ahead: REQUEST_LOOK_AHEAD, ..Self::default() };
        config.set_order(&["gzip"]);
        config
    }
}

impl Default for Config {
    fn default() -> Self {
        let coding = |&(name, enabled)| Coding { name, enabled, level: None };
        Self {
            codings: DEFAULT_CODINGS.iter().map(coding).collect(),
            ordered: false,
            quality: CompressionLevel::Default,
            etag: EtagPolicy::default(),
            flush: FlushPolicy::default(),
            strict: false,
            honour_no_transform: true,
            padding: None,
            padding_by_content: false,
            server_timing: false,
            look_ahead: DEFAULT_LOOK_AHEAD,
        }
    }
}

/// The server's order of preference, and what is offered unasked. Brotli costs most, and the snappy formats
/// have no registered token: these are for those who ask for them.
const DEFAULT_CODINGS: &[(&str, bool)] = &[
    ("zstd", true),
    ("br", false),
    ("gzip", true),
    ("deflate", true),
    ("x-snappy-framed", false),
    ("snappy", false),
];

/// 64 KiB: common API responses fit, and so end before their head is sent.
const DEFAULT_LOOK_AHEAD: usize = 64 * 1024;

/// 256 KiB: requests are held in memory more often than responses are, and a length spares them a 411. One
/// encoder call on so much takes about 4 ms (gzip, level 6).
const REQUEST_LOOK_AHEAD: usize = 256 * 1024;

/// 1 MiB per response is the most that anybody may hold back.
const MAX_LOOK_AHEAD: usize = 1024 * 1024;

/// 4 KiB. Receivers limit a head to 8 KiB or more, and the padding may have to go there.
const MAX_PADDING: u16 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults() {
        let config = Config::default();
        assert_eq!(config.enabled().collect::<Vec<_>>(), ["zstd", "gzip", "deflate"]);
        assert_eq!(config.level("gzip"), CompressionLevel::Default);
        assert_eq!((config.etag, config.flush), (EtagPolicy::Suffix, FlushPolicy::Pause));
        assert!(config.honour_no_transform && !config.strict && !config.server_timing);
        assert_eq!((config.padding(), config.look_ahead()), (None, 64 * 1024));
    }

    #[test]
    fn codings_are_enabled_by_name_and_keep_their_place() {
        let mut config = Config::default();
        config.enable("br", true);
        config.enable("zstd", false);
        config.enable("x-own", true);
        assert_eq!(config.enabled().collect::<Vec<_>>(), ["br", "gzip", "deflate", "x-own"]);
        config.set_order(&["x-own", "gzip", "unknown"]);
        assert_eq!(config.enabled().collect::<Vec<_>>(), ["x-own", "gzip", "br", "deflate"]);
    }

    #[test]
    fn a_bare_star_goes_by_the_users_order_if_there_is_one() {
        let mut config = Config::default();
        config.set_order(&[]);
        assert_eq!(config.first_by_star(), Some("gzip"));
        config.set_order(&["deflate"]);
        assert_eq!(config.first_by_star(), None);
    }

    #[test]
    fn a_coding_has_its_own_level_or_the_layers() {
        let mut config = Config { quality: CompressionLevel::Fastest, ..Config::default() };
        config.set_level("gzip", CompressionLevel::Precise(4));
        assert_eq!(config.level("gzip"), CompressionLevel::Precise(4));
        assert_eq!(config.level("zstd"), CompressionLevel::Fastest);
        assert_eq!(config.level("unknown"), CompressionLevel::Fastest);
        assert_eq!(config.enabled().count(), 3);
    }

    #[test]
    fn bounds_are_clamped() {
        let mut config = Config::default();
        for (set, holds) in [
            (Some(0..=32), Some(0..=32)),
            (Some(10..=u16::MAX), Some(10..=4096)),
            (Some(5000..=6000), Some(4096..=4096)),
            (Some(0..=0), None),
            (Some(RangeInclusive::new(9, 3)), None),
            (Some(RangeInclusive::new(9000, 8000)), None),
            (None, None),
        ] {
            config.set_padding(set.clone());
            assert_eq!(config.padding(), holds.as_ref(), "{set:?}");
        }
        for (set, holds) in [(0, 0), (1000, 1000), (usize::MAX, 1024 * 1024)] {
            config.set_look_ahead(set);
            assert_eq!(config.look_ahead(), holds);
        }
    }
}
