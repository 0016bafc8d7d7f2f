//! What sizes messages have had lately.

/// Which sizes have been seen among recent messages, by eight classes.
///
/// Each class has a byte, whose lower bits say for how many messages more it is remembered. The bytes' highest bits
/// count messages, up to eight, whatever their class. In one word, so that a message is one load and at most one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Recent(u64);

/// Messages for which a size is remembered: with 28 a size that one message in ten has is forgotten before it comes
/// back once in twenty times, one that three in ten have once in 20,000; and after a shift of traffic nothing is left of what was
/// before within 32 messages.
const LIFE: u64 = 28;

/// Classes are numbered from zero; the last one has no upper end.
const LAST: u32 = 7;

/// The lowest bit of each class.
const ONES: u64 = u64::MAX / 255;

/// The bits that count.
const MARKS: u64 = 128 * ONES;

impl Recent {
    /// With one message more.
    #[inline]
    pub(super) fn with(self, class: u32) -> Self {
        let at = 8 * class.min(LAST);
        let own = LIFE << at;
        // Steady traffic.
        if self.0 == own | MARKS {
            return self;
        }
        let lives = self.0 & !MARKS;
        // Adding 31 carries into the next bit of those that are not zero.
        let alive = ((lives + 31 * ONES) >> 5) & ONES;
        let others = (lives - alive) & !(255 << at);
        let marks = ((self.0 & MARKS) << 8) | 128;
        Self(others | own | marks)
    }

    /// Whether there were enough messages to say something about all of them: eight. Of a size that one message in
    /// twelve has one is among them in half of all cases.
    #[inline]
    pub(super) fn is_enough(self) -> bool {
        self.0 >= 1 << 63
    }

    /// The least class among them. Only where there were any.
    #[inline]
    pub(super) fn least(self) -> u32 {
        (self.0 & !MARKS).trailing_zeros() / 8
    }

    /// The largest class among them; without any, the least there is.
    #[inline]
    pub(super) fn largest(self) -> u32 {
        (self.0 & !MARKS | 1).ilog2() / 8
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
            assert_eq!(after(messages(27)).largest(), LAST);
            assert_eq!(after(messages(28)).largest(), class);
            let messages = |count| [class].into_iter().chain((0..count).map(move |_| LAST));
            assert_eq!(after(messages(27)).least(), class);
            assert_eq!(after(messages(28)).least(), LAST);
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
            assert_eq!(recent.largest(), *last.iter().max().unwrap());
            assert_eq!(recent.least(), *last.iter().min().unwrap());
            assert_eq!(recent.is_enough(), classes.len() >= 8);
        }
    }
}
