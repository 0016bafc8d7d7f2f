/// How hard an encoder tries. The names and the meaning are tower-http's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CompressionLevel {
    /// The codec's fastest level.
    Fastest,
    /// The codec's best level that a server can afford at all.
    Best,
    /// This crate's default for the codec, chosen for bodies made on the fly.
    #[default]
    Default,
    /// The codec's own number. Out of its range it is clamped.
    Precise(i32),
}

/// The levels that a codec has, in its own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The least number that the codec takes.
    pub lowest: i32,
    /// What [`CompressionLevel::Fastest`] means.
    pub fastest: i32,
    /// What [`CompressionLevel::Default`] means.
    pub default: i32,
    /// What [`CompressionLevel::Best`] means.
    pub best: i32,
    /// The largest number that the codec takes.
    pub highest: i32,
}

impl Levels {
    /// The number for a level; never outside `lowest..=highest`.
    #[must_use]
    pub fn resolve(&self, level: CompressionLevel) -> i32 {
        match level {
            CompressionLevel::Fastest => self.fastest,
            CompressionLevel::Best => self.best,
            CompressionLevel::Default => self.default,
            CompressionLevel::Precise(number) => self.clamp(number),
        }
    }

    /// The nearest number that the codec takes.
    pub(super) fn clamp(&self, number: i32) -> i32 {
        number.clamp(self.lowest, self.highest)
    }
}
