//! What a coded message may amount to when decoded.

use crate::codec::DecodeLimits;

const MIB: u64 = 1 << 20;

/// Bounds on decoding, so that a small message cannot become a large one unasked. All are on by default.
///
/// The decoder itself works in constant memory; the limits protect those who gather what comes out, and
/// those who pay for the work. Each ends the message with an error for which
/// [`Error::is_limit`](crate::Error::is_limit) holds, never with a silent cut.
///
/// ```
/// use tower_compress::Limits;
///
/// let limits = Limits::requests().max_decoded(2 << 20).max_codings(1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    pub(crate) decoded: u64,
    pub(crate) ratio: u64,
    pub(crate) allowance: u64,
    pub(crate) codings: usize,
    pub(crate) window: u64,
}

impl Limits {
    /// The default, meant for requests, whose senders are strangers: 64 MiB decoded.
    ///
    /// That is between what servers elsewhere allow a decoded request (ASP.NET Core 30 MB, Elasticsearch
    /// 100 MB). A framework's own limit, such as axum's 2 MB for what an extractor gathers, counts decoded
    /// bytes too and still applies.
    #[must_use]
    pub const fn requests() -> Self {
        Self { decoded: 64 * MIB, ratio: RATIO, allowance: 16 * MIB, codings: CODINGS, window: WINDOW }
    }

    /// For responses, whose origin the client has chosen and whose downloads may be long: 1 GiB decoded, and 64 MiB
    /// before the ratio counts. The rest is as for [`requests`](Self::requests).
    #[must_use]
    pub const fn responses() -> Self {
        Self::requests().max_decoded(1024 * MIB).ratio_allowance(64 * MIB)
    }

    /// No limits but those of the formats and of the machine. For trusted peers only.
    ///
    /// The window stays limited to 8 MiB, which is all that HTTP allows (RFC 9659 section 3).
    #[must_use]
    pub const fn unlimited() -> Self {
        Self { decoded: u64::MAX, ratio: u64::MAX, allowance: u64::MAX, codings: usize::MAX, window: WINDOW }
    }

    /// The most bytes that a message may decode to. Exactly so many are accepted.
    ///
    /// Of stacked codings, what each of them decodes to counts for itself.
    #[must_use]
    pub const fn max_decoded(mut self, bytes: u64) -> Self {
        self.decoded = bytes;
        self
    }

    /// The most decoded bytes for each byte received: 1000 by default, counted over all stacked codings and
    /// only beyond the first [`ratio_allowance`](Self::ratio_allowance) bytes.
    ///
    /// Deflate cannot exceed 1032:1, and real bodies stay in the low hundreds with it. With zstd and brotli one line
    /// that is repeated for megabytes gives 9000:1, so it is the allowance that such logs live by. What goes beyond
    /// both are bombs: runs of one byte, and codings stacked on codings.
    #[must_use]
    pub const fn max_ratio(mut self, ratio: u64) -> Self {
        self.ratio = ratio;
        self
    }

    /// The decoded bytes to which [`max_ratio`](Self::max_ratio) does not apply, 16 MiB by default and 64 for
    /// [`responses`](Self::responses): messages of that size do no harm, and repetitive logs and zeroed test data
    /// compress beyond all bounds.
    #[must_use]
    pub const fn ratio_allowance(mut self, bytes: u64) -> Self {
        self.allowance = bytes;
        self
    }

    /// The most codings that may be stacked in `Content-Encoding`: 5 by default, as in curl. Each costs a
    /// context.
    #[must_use]
    pub const fn max_codings(mut self, codings: usize) -> Self {
        self.codings = codings;
        self
    }

    /// The largest window, in bytes, that a zstd frame may declare: 8 MiB by default, which every receiver
    /// must cope with and no sender may exceed (RFC 9659 section 3).
    ///
    /// The other formats bound their windows themselves: 32 KiB for gzip and deflate, 16 MiB for brotli. Raw
    /// snappy has none and keeps all it decoded, so that [`max_decoded`](Self::max_decoded) bounds it.
    #[must_use]
    pub const fn max_window(mut self, bytes: u64) -> Self {
        self.window = bytes;
        self
    }

    /// The part of the limits that a decoder enforces on declarations.
    pub(crate) const fn declared(&self) -> DecodeLimits {
        DecodeLimits { max_window: self.window, max_length: self.decoded }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::requests()
    }
}

const RATIO: u64 = 1000;
const CODINGS: usize = 5;
const WINDOW: u64 = 8 * MIB;
