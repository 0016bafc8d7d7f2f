//! Where a message belongs, as far as that is known before it is made.

/// What is known of a message before it is made.
///
/// Messages of one place are taken to be alike. Those of different ones may come to share a record: then the
/// larger is expected of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u64);

/// 32 KiB for a layer. An API has tens of routes, so that few share a place.
pub(super) const PLACES: usize = 512;

impl Place {
    /// Where nothing is known.
    pub const ANY: Self = Self(0);

    /// The place of messages of one route, such as a path: by eight bytes near its beginning, behind what most routes begin
    /// with where it is long enough, and its last eight. Identifiers count for nothing: digits do not, nor do eight bytes
    /// with several of them. `/orders/7` and `/orders/8` are one, and so are paths with UUIDs.
    #[inline]
    #[must_use]
    pub fn of_route(route: &[u8]) -> Self {
        let last = without_identifiers(last(route));
        let first = match (route.get(8..16), route.first_chunk::<8>()) {
            (Some(behind), _) => self::last(behind),
            (None, Some(first)) => u64::from_le_bytes(*first),
            (None, None) => return Self(last),
        };
        Self(mix(without_identifiers(first), last))
    }

    /// The part of this place that has messages of one media type. What is behind its first 16 bytes counts for nothing:
    /// they tell types apart, and leave out most parameters.
    #[inline]
    #[must_use]
    pub fn of_type(self, media_type: &[u8]) -> Self {
        Self(mix(self.0, ends(&media_type[..media_type.len().min(16)])))
    }

    /// The product's upper bits are its best.
    #[inline]
    pub(super) fn index(self) -> usize {
        (self.0.wrapping_mul(FX) >> (64 - PLACES.ilog2())) as usize
    }
}

/// The multiplier of Firefox's and rustc's hash.
const FX: u64 = 0x517c_c1b7_2722_0a95;

/// The turn keeps the order of words.
#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    hash.rotate_left(11) ^ word
}

/// The first and the last eight bytes.
#[inline]
fn ends(text: &[u8]) -> u64 {
    match text.first_chunk::<8>() {
        Some(first) => mix(u64::from_le_bytes(*first), last(text)),
        None => last(text),
    }
}

/// The last eight bytes, or all where there are fewer.
#[inline]
fn last(text: &[u8]) -> u64 {
    match text.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Clears the bytes that are digits, all eight at once, or the whole word if there are several: those with the bit of 16
/// and without that of 64. Punctuation of that kind (`:;<=>?`) goes with them. Of a UUID's words one in 180 has none or one.
#[inline]
fn without_identifiers(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let others = (word >> 6 | !word >> 4) & ONES;
    let digits = others ^ ONES;
    if digits & digits.wrapping_sub(1) != 0 { 0 } else { word & (others * 0xff) }
}
