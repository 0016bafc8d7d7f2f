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
    pub(super) fn read(first: u8, number: u32) -> Self {
        let upper = usize::from(first >> 2);
        match first & 3 {
            0 if upper < 60 => Self::Literal(upper + 1),
            0 => {
                let unused = 8 * (63 - upper as u32);
                // Saturating, for the sake of 32-bit targets: what is too long is refused anyway.
                Self::Literal(((number << unused >> unused) as usize).saturating_add(1))
            }
            1 => Self::Copy { offset: (upper >> 3) << 8 | number as usize & 0xff, length: (upper & 7) + 4 },
            2 => Self::Copy { offset: number as usize & 0xffff, length: upper + 1 },
            _ => Self::Copy { offset: number as usize, length: upper + 1 },
        }
    }
}

/// The length of the element's tag that starts with `first`, without a literal's data.
pub(super) fn tag_length(first: u8) -> usize {
    match (first & 3, first >> 2) {
        (0, length @ 60..) => usize::from(length) - 60 + 2,
        (0, _) => 1,
        (1, _) => 2,
        (2, _) => 3,
        _ => 5,
    }
}

/// Repeats `length` bytes from `offset` before `at`, which may overlap with what they produce.
#[inline]
pub(super) fn repeat(block: &mut [u8], at: usize, offset: usize, length: usize) {
    let (mut to, end) = (at, at + length);
    if offset >= STEP {
        while to < end {
            let (from, target) = block.split_at_mut(to);
            target[..STEP].copy_from_slice(&from[to - offset..to - offset + STEP]);
            to += STEP;
        }
        return;
    }
    // What has been repeated has the same period, so that each round can repeat twice as much.
    let from = at - offset;
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
