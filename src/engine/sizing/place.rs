//! Where a message belongs, as far as that is known before it is made.

/// What is known of a message before it is made.
///
/// Messages of one place are taken to be alike. Those of different ones may come to share a record: then the
/// larger is expected of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u64);

/// 12 KiB for a layer. An API has tens of routes, so that few share a place.
pub(super) const PLACES: usize = 512;

/// So many bytes tell routes apart, and a hostile one costs no more.
const LONGEST_ROUTE: usize = 64;

impl Place {
    /// Where nothing is known.
    pub const ANY: Self = Self(0);

    /// The place of messages of one route, such as a path. Digits in it count for nothing: `/orders/7` and
    /// `/orders/12` are one.
    #[inline]
    #[must_use]
    pub fn of_route(route: &[u8]) -> Self {
        let route = &route[..route.len().min(LONGEST_ROUTE)];
        let mut words = route.chunks_exact(8);
        let mut hash = 0;
        for word in &mut words {
            hash = mix(hash, without_digits(u64::from_le_bytes(word.try_into().expect("eight bytes"))));
        }
        Self(mix(hash, without_digits(rest(route, words.remainder()))))
    }

    /// The part of this place that has messages of one media type.
    #[inline]
    #[must_use]
    pub fn of_type(self, media_type: &[u8]) -> Self {
        Self(mix(self.0, ends(media_type)))
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

/// The first and the last eight bytes: enough to tell media types apart.
#[inline]
fn ends(text: &[u8]) -> u64 {
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => mix(u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => rest(text, text),
    }
}

/// What is left of `text` behind its whole words, with zeros behind it.
#[inline]
fn rest(text: &[u8], rest: &[u8]) -> u64 {
    match text.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        // Reading eight bytes that are there costs less than copying a few.
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Clears the bytes that are digits, all eight at once: those with the bit of 16 and without that of 64. Punctuation
/// of that kind (`:;<=>?`) goes with them.
#[inline]
fn without_digits(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    word & (((word >> 6 | !word >> 4) & ONES) * 0xff)
}
