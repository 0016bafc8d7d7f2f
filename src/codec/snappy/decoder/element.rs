//! The elements of a raw snappy block (format_description.txt section 2): literals and copies.

/// An element: a literal's length, or a copy.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Literal(usize),
    Copy { offset: usize, length: usize },
}

impl Element {
    /// Reads a tag from its first byte and the four that follow it, whatever they belong to
    /// (format_description.txt sections 2.1 and 2.2).
    #[inline(always)]
    pub(super) fn read(first: u8, number: u32) -> Self {
        let tag = TAGS[usize::from(first)];
        let number = (number & MASKS[usize::from(tag.extra)]) as usize;
        if first & 3 != 0 {
            Self::Copy { offset: usize::from(tag.offset) | number, length: usize::from(tag.length) }
        } else if tag.extra == 0 {
            Self::Literal(usize::from(tag.length))
        } else {
            // Saturating, for the sake of 32-bit targets: what is too long is refused anyway.
            Self::Literal(number.saturating_add(1))
        }
    }
}

/// The length of the element's tag that starts with `first`, without a literal's data.
#[inline(always)]
pub(super) fn tag_length(first: u8) -> usize {
    1 + usize::from(TAGS[usize::from(first)].extra)
}

/// What a tag's first byte tells.
#[derive(Clone, Copy)]
struct Tag {
    /// The element's length; that of a literal with extra bytes is in those.
    length: u8,
    /// Bytes of a number that follow: a copy's offset, or a literal's length.
    extra: u8,
    /// The offset's upper bits.
    offset: u16,
}

/// A look-up instead of branches, which data that is hard to foresee makes dear: 20 % of the time.
static TAGS: [Tag; 256] = {
    let mut tags = [Tag { length: 0, extra: 0, offset: 0 }; 256];
    let mut first = 0;
    while first < 256 {
        let upper = (first >> 2) as u8;
        tags[first] = match first & 3 {
            0 if upper < 60 => Tag { length: upper + 1, extra: 0, offset: 0 },
            0 => Tag { length: 0, extra: upper - 59, offset: 0 },
            1 => Tag { length: (upper & 7) + 4, extra: 1, offset: (upper as u16 >> 3) << 8 },
            2 => Tag { length: upper + 1, extra: 2, offset: 0 },
            _ => Tag { length: upper + 1, extra: 4, offset: 0 },
        };
        first += 1;
    }
    tags
};

/// What so many extra bytes can hold.
static MASKS: [u32; 5] = [0, 0xff, 0xffff, 0xff_ffff, u32::MAX];

/// Repeats `length` bytes from `offset` before `at`, which may overlap with what they produce.
#[inline(always)]
pub(super) fn repeat(block: &mut [u8], at: usize, offset: usize, length: usize) {
    if offset < STEP {
        return repeat_close(block, at, offset, length);
    }
    let (mut to, end) = (at, at + length);
    while to < end {
        let (from, target) = block.split_at_mut(to);
        target[..STEP].copy_from_slice(&from[to - offset..to - offset + STEP]);
        to += STEP;
    }
}

/// Repeats from less than a step back: what has been repeated has the same period, so that each round can repeat
/// twice as much.
fn repeat_close(block: &mut [u8], at: usize, offset: usize, length: usize) {
    let (from, end) = (at - offset, at + length);
    let mut to = at;
    while to < end {
        let n = (to - from).min(end - to);
        block.copy_within(from..from + n, to);
        to += n;
    }
}

/// A tag and a literal's length or a copy's offset of four bytes.
pub(super) const MAX_TAG: usize = 5;

/// Bytes that are copied at once where an element is short: most are.
pub(super) const STEP: usize = 16;

/// What the block has beyond an element's start at least: the longest copy, in steps.
pub(super) const SLACK: usize = 64 + STEP;
