//! What sizes messages have had lately.

use super::Observed;

/// Which sizes have been seen among recent messages, by eight classes of each of three kinds.
///
/// Messages are counted in windows. From the lowest bit on: 24 bits for the classes of the window that is being filled, 16
/// for its messages, and 24 for the classes of the window before. In one word, so that a message is one load and at most
/// one store, and in this order, so that one comparison tells whether there were enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Recent(u64);

/// Messages in a window: what one had is remembered for 16 to 32 more. Of a size that one message in ten has, one is among
/// them in 92 of 100 cases, of one that three in ten have in 999 of 1,000; and after a shift of traffic nothing is left of
/// what was before within 32 messages.
const WINDOW: u64 = 16;

/// Messages that say something about all: of a size that one in twelve has, one is among eight in half of all cases.
const ENOUGH: u64 = 8;

/// The classes of the window that is being filled, and those of the one before.
const FILLED: u64 = (1 << 24) - 1;
const BEFORE: u64 = FILLED << TO_BEFORE;
const TO_BEFORE: u32 = 40;

const MESSAGE: u64 = 1 << 24;

/// What of a message is remembered, by where its classes begin.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Gathered = 0,
    Output = 8,
    Length = 16,
}

/// Classes are numbered from zero; the last one has no upper end.
pub(super) const LAST: u32 = 7;

impl Recent {
    /// With one message more.
    #[inline]
    pub(super) fn with(self, observed: Observed) -> Self {
        let seen = classes(observed);
        // Steady traffic.
        if self.0 & (FILLED | BEFORE) == seen | seen << TO_BEFORE {
            return self;
        }
        let next = (self.0 | seen) + MESSAGE;
        if next & (WINDOW * MESSAGE) == 0 { Self(next) } else { Self((next & FILLED) << TO_BEFORE) }
    }

    /// Whether there were enough messages to say something about all of them.
    #[inline]
    pub(super) fn is_enough(self) -> bool {
        self.0 >= ENOUGH * MESSAGE
    }

    /// Whether there was any class.
    #[inline]
    pub(super) fn has(self, kind: Kind) -> bool {
        self.seen(kind) != 0
    }

    /// The least class among them; without any, above the last.
    #[inline]
    pub(super) fn least(self, kind: Kind) -> u32 {
        (self.seen(kind) | 2 << LAST).trailing_zeros()
    }

    /// The largest class among them; without any, the least there is.
    #[inline]
    pub(super) fn largest(self, kind: Kind) -> u32 {
        (self.seen(kind) | 1).ilog2()
    }

    /// A bit for each class.
    #[inline]
    fn seen(self, kind: Kind) -> u64 {
        ((self.0 | self.0 >> TO_BEFORE) >> kind as u32) & 0xff
    }

    #[inline]
    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(super) fn bits(self) -> u64 {
        self.0
    }
}

/// A bit for each class that a message has: powers of two from 512 bytes on, and for its length powers of four from 1 KiB on.
#[inline]
fn classes(observed: Observed) -> u64 {
    let gathered = 1 << power(observed.gathered as u64).min(LAST);
    let output =
        observed.output.map_or(0, |bytes| 1 << (power(bytes as u64).min(LAST) + Kind::Output as u32));
    let length = observed.length.map_or(0, |bytes| 1 << ((power(bytes) / 2).min(LAST) + Kind::Length as u32));
    gathered | output | length
}

/// The power of two that `bytes` fit into: 0 for 512, 1 for 1024, and so on.
#[inline]
fn power(bytes: u64) -> u32 {
    (bytes.saturating_sub(1) >> 8 | 1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After messages of which so many bytes waited in the write buffer.
    fn after(sizes: impl IntoIterator<Item = usize>) -> Recent {
        let observed = |gathered| Observed { gathered, ..Observed::default() };
        sizes.into_iter().fold(Recent::default(), |recent, gathered| recent.with(observed(gathered)))
    }

    fn bytes(class: u32) -> usize {
        512 << class
    }

    #[test]
    fn a_size_is_remembered_for_16_to_32_messages() {
        for before in 0..100 {
            for (once, then) in [(0, LAST), (LAST, 0), (3, 4), (4, 3)] {
                let messages = |count| {
                    let then = |count| std::iter::repeat_n(bytes(then), count);
                    after(then(before).chain([bytes(once)]).chain(then(count)))
                };
                let both = |recent: Recent| [recent.least(Kind::Gathered), recent.largest(Kind::Gathered)];
                assert_eq!(both(messages(15)), [once.min(then), once.max(then)], "{before}");
                assert_eq!(both(messages(32)), [then, then], "{before}");
            }
        }
    }

    #[test]
    fn whatever_comes_what_the_last_16_had_is_known_and_nothing_older_than_32() {
        let (mut sizes, mut recent, mut state) = (Vec::new(), Recent::default(), 1_u32);
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Now the large classes, now the small ones.
            let class = (state >> 30) + 4 * (state >> 20 & 1) * u32::from(sizes.len() % 200 < 100);
            sizes.push(class);
            recent = recent.with(Observed { gathered: bytes(class), ..Observed::default() });
            let last = |count| &sizes[sizes.len().saturating_sub(count)..];
            let (least, largest) = (recent.least(Kind::Gathered), recent.largest(Kind::Gathered));
            assert!(last(16).iter().all(|class| (least..=largest).contains(class)));
            assert!(last(32).contains(&least) && last(32).contains(&largest));
            assert_eq!(recent.is_enough(), sizes.len() >= 8);
        }
    }

    #[test]
    fn steady_traffic_changes_nothing() {
        let steady = after(std::iter::repeat_n(3000, 64));
        assert_eq!(steady.with(Observed { gathered: 4000, ..Observed::default() }), steady);
        assert_ne!(steady.with(Observed { gathered: 5000, ..Observed::default() }), steady);
    }

    #[test]
    fn the_kinds_are_kept_apart() {
        let observed = Observed { gathered: 600, output: Some(3000), length: Some(300_000) };
        let recent = Recent::default().with(observed);
        let classes = [Kind::Gathered, Kind::Output, Kind::Length].map(|kind| recent.largest(kind));
        assert_eq!(classes, [1, 3, 5]);
        assert!(!Recent::default().with(Observed::default()).has(Kind::Length));
    }
}
