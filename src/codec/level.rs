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

impl CompressionLevel {
    /// This level as a number of a codec whose levels are `fastest..=best`.
    #[must_use]
    pub fn resolve(self, fastest: i32, default: i32, best: i32) -> i32 {
        match self {
            Self::Fastest => fastest,
            Self::Best => best,
            Self::Default => default,
            Self::Precise(level) => level.clamp(fastest, best),
        }
    }
}
