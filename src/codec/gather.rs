//! Small fixed pieces of input (headers, checksums), gathered however the input is cut.

/// The longest piece that any coding needs at once: a zstd frame header (RFC 8878 section 3.1.1.1).
const LONGEST: usize = 18;

/// A piece of input being gathered.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Gather {
    /// Moves bytes from the front of `input` until `wanted` are gathered, and says whether they are.
    pub(crate) fn fill(&mut self, input: &mut &[u8], wanted: usize) -> bool {
        let n = wanted.saturating_sub(self.len).min(input.len());
        let (head, rest) = input.split_at(n);
        self.bytes[self.len..self.len + n].copy_from_slice(head);
        self.len += n;
        *input = rest;
        self.len >= wanted
    }

    /// What has been gathered so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Starts the next piece.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }
}

/// The little-endian number in at most eight bytes.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
