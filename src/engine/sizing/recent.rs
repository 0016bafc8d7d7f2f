//! What sizes messages have had lately.

/// Which sizes have been seen among recent messages, by eight classes.
///
/// Five bits for each class say for how many messages more it is remembered, and four above them count the messages, as
/// far as that matters. In one word, so that a message is one load and at most one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Recent(u64);

/// Messages for which a size is remembered: with 28 a size that one message in ten has is forgotten before it comes
/// back once in twenty times, one that three in ten have once in 20,000; and after a shift of traffic nothing is left of what was
/// before within 32 messages.
const LIFE: u64 = 28;

/// Messages from which something is concluded about all of them: one that differs shows in half of all cases if it is
/// one in twelve.
pub(super) const ENOUGH: u64 = 8;

/// Classes are numbered from zero; the last one has no upper end.
const LAST: u32 = 7;

/// The lowest bit of each class.
const ONES: u64 = 0x08_4210_8421;
const BITS: u32 = 5;
const LIVES: u64 = (1 << (BITS * (LAST + 1))) - 1;

impl Recent {
    /// With one message more.
    #[inline]
    pub(super) fn with(self, class: u32) -> Self {
        let at = BITS * class.min(LAST);
        let lives = self.0 & LIVES;
        let alive = (lives | lives >> 1 | lives >> 2 | lives >> 3 | lives >> 4) & ONES;
        let others = (lives - alive) & !(31 << at);
        let count = (self.count() + 1).min(ENOUGH);
        Self(others | LIFE << at | count << (BITS * (LAST + 1)))
    }

    /// Whether there were enough messages to say something about all of them.
    #[inline]
    pub(super) fn is_enough(self) -> bool {
        self.count() >= ENOUGH
    }

    /// The least class among them.
    #[inline]
    pub(super) fn least(self) -> Option<u32> {
        let lives = self.0 & LIVES;
        (lives > 0).then(|| lives.trailing_zeros() / BITS)
    }

    /// The largest class among them.
    #[inline]
    pub(super) fn largest(self) -> Option<u32> {
        Some((self.0 & LIVES).checked_ilog2()? / BITS)
    }

    #[inline]
    fn count(self) -> u64 {
        self.0 >> (BITS * (LAST + 1))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn after(classes: impl IntoIterator<Item = u32>) -> Recent {
        classes.into_iter().fold(Recent::default(), Recent::with)
    }

    #[test]
    fn a_size_is_remembered_for_28_messages() {
        for class in 0..LAST {
            let messages = |count| [LAST].into_iter().chain((0..count).map(move |_| class));
            assert_eq!(after(messages(27)).largest(), Some(LAST));
            assert_eq!(after(messages(28)).largest(), Some(class));
            let messages = |count| [class].into_iter().chain((0..count).map(move |_| LAST));
            assert_eq!(after(messages(27)).least(), Some(class));
            assert_eq!(after(messages(28)).least(), Some(LAST));
        }
    }

    #[test]
    fn whatever_comes_the_largest_and_the_least_of_the_last_28_are_known() {
        let mut classes = Vec::new();
        let mut recent = Recent::default();
        let mut state = 1_u32;
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Now the large classes, now the small ones.
            let class = (state >> 30) + 4 * (state >> 20 & 1) * u32::from(classes.len() % 200 < 100);
            classes.push(class);
            recent = recent.with(class);
            let last = &classes[classes.len().saturating_sub(28)..];
            assert_eq!(recent.largest(), last.iter().max().copied());
            assert_eq!(recent.least(), last.iter().min().copied());
            assert_eq!(recent.is_enough(), classes.len() >= 8);
        }
    }
}
