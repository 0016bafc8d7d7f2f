use super::FlushPolicy;
use crate::codec::CompressionLevel;

/// What a handler wants done with one response: put it into the response's extensions.
///
/// It overrides the layer's choices for that response, never what HTTP or the client rule out. It never reaches
/// the client. Where layers are nested, the innermost one takes it; [`off`](Self::off) holds for all of them.
///
/// ```
/// use tower_compress::CompressionLevel;
/// use tower_compress::policy::{Compress, FlushPolicy};
///
/// let mut response = http::Response::new("a page with a secret in it");
/// response.extensions_mut().insert(Compress::off());
///
/// let mut report = http::Response::new("a large report");
/// report.extensions_mut().insert(
///     Compress::coding("zstd").level(CompressionLevel::Best).flush(FlushPolicy::End),
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "it has no effect before it is in a response's extensions"]
pub struct Compress {
    on: bool,
    coding: Option<&'static str>,
    level: Option<CompressionLevel>,
    flush: Option<FlushPolicy>,
}

impl Compress {
    /// Everything as the layer is set up; the start for [`level`](Self::level) and [`flush`](Self::flush).
    pub const fn new() -> Self {
        Self { on: true, coding: None, level: None, flush: None }
    }

    /// This response is not coded.
    pub const fn off() -> Self {
        Self { on: false, ..Self::new() }
    }

    /// This response gets the coding of this name (in any case), if the layer offers it and the client accepts
    /// it; else the one that would have been chosen anyway.
    pub const fn coding(name: &'static str) -> Self {
        Self { coding: Some(name), ..Self::new() }
    }

    /// Sets the level, whichever coding is chosen.
    pub const fn level(self, level: CompressionLevel) -> Self {
        Self { level: Some(level), ..self }
    }

    /// Sets when the stream is flushed.
    pub const fn flush(self, flush: FlushPolicy) -> Self {
        Self { flush: Some(flush), ..self }
    }

    /// Whether the response may be coded.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// The coding that the handler prefers.
    pub(crate) fn preferred_coding(&self) -> Option<&'static str> {
        self.coding
    }

    /// The level that the handler set.
    pub(crate) fn chosen_level(&self) -> Option<CompressionLevel> {
        self.level
    }

    /// The flush policy that the handler set.
    pub(crate) fn chosen_flush(&self) -> Option<FlushPolicy> {
        self.flush
    }
}

impl Default for Compress {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_overridden() {
        let nothing = Compress::default();
        assert!(nothing.is_on());
        assert_eq!(nothing.preferred_coding(), None);
        assert_eq!(nothing.chosen_level(), None);
        assert_eq!(nothing.chosen_flush(), None);
        assert!(!Compress::off().level(CompressionLevel::Best).is_on());

        let all = Compress::coding("gzip").level(CompressionLevel::Fastest).flush(FlushPolicy::End);
        assert!(all.is_on());
        assert_eq!(all.preferred_coding(), Some("gzip"));
        assert_eq!(all.chosen_level(), Some(CompressionLevel::Fastest));
        assert_eq!(all.chosen_flush(), Some(FlushPolicy::End));
    }
}
