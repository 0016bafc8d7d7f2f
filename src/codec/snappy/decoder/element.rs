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

/// Repeats `length` bytes from `offset` before `at`, which may overlap with what they produce: that has the same
/// period, so that each round can repeat twice as much.
///
/// Said to be cold, since it is called from a loop that needs all registers.
#[cold]
#[inline(never)]
pub(super) fn repeat(block: &mut [u8], at: usize, offset: usize, length: usize) {
    let (from, end) = (at - offset, at + length);
    let mut to = at;
    while to < end {
        let n = (to - from).min(end - to);
        block.copy_within(from..from + n, to);
        to += n;
    }
}

/// Carries out elements in the first `N` bytes of `block`, from `at` up to `end`, and returns where it stopped: also
/// at a literal whose length is in extra bytes, at a copy that is not from within `block` or whose offset has four
/// bytes, and close to the end of `input`. `L` is `N` and [`LONGEST`].
///
/// The lengths are constant, so that no access to the block needs a look at its bounds, and most elements are copied
/// in one step of constant size, which may write beyond their end.
#[inline(never)]
pub(super) fn elements<const N: usize, const L: usize>(
    block: &mut [u8],
    mut at: usize,
    end: usize,
    input: &mut &[u8],
) -> usize {
    const { assert!(N + LONGEST == L && N.is_power_of_two()) };
    let Some(block) = block.first_chunk_mut::<L>() else { return at };
    let (end, mut rest) = (end.min(N), *input);
    while at < end {
        let Some(ahead) = rest.first_chunk::<AHEAD>() else { break };
        let first = ahead[0];
        let to = at % N;
        let length;
        if first & 3 == 0 {
            length = usize::from(first >> 2) + 1;
            // The rest of the input is cut off in both places: here it is known to be long enough.
            if length <= SHORT {
                block[to..to + SHORT].copy_from_slice(&ahead[1..]);
                rest = &rest[1 + length..];
            } else {
                let (true, Some(ahead)) = (first < EXTRA_LENGTH, rest.first_chunk::<{ 1 + LONGEST }>())
                else {
                    break;
                };
                block[to..to + LONGEST].copy_from_slice(&ahead[1..]);
                rest = &rest[1 + length..];
            }
        } else {
            let tag = TAGS[usize::from(first)];
            let number = u32::from(u16::from_le_bytes([ahead[1], ahead[2]])) & MASKS[usize::from(tag.extra)];
            let offset = usize::from(tag.offset) | number as usize;
            length = usize::from(tag.length);
            if first & 3 == 3 || offset > at || offset == 0 {
                break;
            }
            if length > offset {
                repeat(block, to, offset, length);
            } else {
                let from = (to - offset) % N;
                block.copy_within(from..from + HALF, to);
                if length > HALF {
                    block.copy_within(from + HALF..from + LONGEST, to + HALF);
                }
            }
            rest = &rest[1 + usize::from(first & 3)..];
        }
        at += length;
    }
    *input = rest;
    at
}

/// The longest copy, and no literal without extra bytes is longer.
pub(super) const LONGEST: usize = 64;

/// Most copies are no longer: 98 % of those in JSON.
const HALF: usize = LONGEST / 2;

/// Nearly all literals are no longer.
const SHORT: usize = 16;

/// What [`elements`] must see of the input.
pub(super) const AHEAD: usize = 1 + SHORT;

/// The first tag of a literal whose length is in extra bytes.
const EXTRA_LENGTH: u8 = 60 << 2;
