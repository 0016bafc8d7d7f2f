//! Huffman codes of bounded length.

use crate::codec::deflate_format::bits::Code;

/// Symbols that are looked at together, first.
const GROUP: usize = 8;

/// Lengths from 0 to 15.
const LENGTHS: usize = 16;

/// The symbols that are used, and their codes.
#[derive(Debug)]
pub(super) struct Huffman<const N: usize> {
    used: usize,
    symbols: [u16; N],
    bits: [u16; N],
    lengths: [u8; N],
}

impl<const N: usize> Huffman<N> {
    /// Codes of at most `limit` bits for symbols that are used so often. At least two get one: not every decoder
    /// takes a code of one symbol.
    pub(super) fn new(counts: &[u16; N], limit: usize) -> Self {
        let mut this = Self { used: 0, symbols: [0; N], bits: [0; N], lengths: [0; N] };
        let mut weights = [0; N];
        for (start, counts) in (0..).step_by(GROUP).zip(counts.chunks(GROUP)) {
            // Text uses few of the upper half.
            if counts == [0; GROUP] {
                continue;
            }
            for (symbol, &count) in (start..).zip(counts) {
                this.symbols[this.used] = symbol;
                weights[this.used] = u32::from(count) << 16 | u32::from(symbol);
                this.used += usize::from(count > 0);
            }
        }
        if this.used < 2 {
            this.pair();
        } else {
            let weights = &mut weights[..this.used];
            weights.sort_unstable();
            let of_length = lengths::<N>(weights, limit);
            // The rarest get the longest.
            let mut rest = weights.iter();
            for length in (1..=limit).rev() {
                for &weight in rest.by_ref().take(usize::from(of_length[length])) {
                    this.lengths[weight as usize & 0xffff] = length as u8;
                }
            }
        }
        this.assign();
        this
    }

    /// Codes of one bit for the one symbol that is used, if any, and for another.
    fn pair(&mut self) {
        let one = if self.used == 1 { self.symbols[0] } else { 0 };
        self.symbols[..2].copy_from_slice(&[0, one.max(1)]);
        self.used = 2;
        for &symbol in &self.symbols[..2] {
            self.lengths[usize::from(symbol)] = 1;
        }
    }

    /// The symbols that have a code, in their order.
    pub(super) fn used(&self) -> impl Iterator<Item = (usize, Code)> {
        self.symbols[..self.used].iter().map(|&symbol| (usize::from(symbol), self.code(usize::from(symbol))))
    }

    /// One more than the last of them.
    pub(super) fn end(&self) -> usize {
        usize::from(self.symbols[self.used - 1]) + 1
    }

    /// Of length zero if the symbol is not used.
    #[inline]
    pub(super) fn code(&self, symbol: usize) -> Code {
        Code { bits: u32::from(self.bits[symbol]), length: self.lengths[symbol] }
    }

    /// Canonical codes (RFC 1951 section 3.2.2).
    fn assign(&mut self) {
        let used = &self.symbols[..self.used];
        // The first code of each length, which the numbers of all shorter ones give.
        let mut next = [0_u32; LENGTHS + 1];
        for &symbol in used {
            next[usize::from(self.lengths[usize::from(symbol)]) % LENGTHS + 1] += 1;
        }
        let mut first = 0;
        for next in &mut next[1..] {
            first = (first + *next) << 1;
            *next = first;
        }
        for &symbol in used {
            let length = self.lengths[usize::from(symbol)];
            let next = &mut next[usize::from(length) % LENGTHS];
            self.bits[usize::from(symbol)] = Code::huffman(*next, length).bits as u16;
            *next += 1;
        }
    }
}

/// How many codes there are of each length, given the weights in the high halves, the least first.
fn lengths<const N: usize>(weights: &[u32], limit: usize) -> [u16; LENGTHS] {
    let parents = join::<N>(weights);
    let root = weights.len() - 2;
    let mut depths = [0_u8; N];
    let mut counts = [0; LENGTHS];
    // The root has two leaves, until one of them turns out to be an inner node.
    counts[1] = 2;
    for node in (0..root).rev() {
        let depth = depths[usize::from(parents[node]) % N] + 1;
        depths[node] = depth;
        let mut depth = usize::from(depth);
        if depth >= limit {
            // What would be too deep goes below the deepest leaf that is not.
            depth = limit - 1;
            while counts[depth] == 0 {
                depth -= 1;
            }
        }
        counts[depth % (LENGTHS - 1)] -= 1;
        counts[depth % (LENGTHS - 1) + 1] += 2;
    }
    counts
}

/// The parents of the inner nodes of a Huffman tree, the root last.
///
/// Inner nodes come into being in the order of their weights, so that the two least are always the next leaves, the
/// next inner nodes or one of each (van Leeuwen). Whichever it is, there is no branch.
fn join<const N: usize>(weights: &[u32]) -> [u16; N] {
    let mut parents = [0; N];
    let mut inner = [u32::MAX; N];
    let (mut leaf, mut taken) = (0, 0);
    for node in 0..weights.len() - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let one = weights.get(leaf).map_or(u32::MAX, |weight| weight >> 16);
            let other = inner[taken];
            parents[taken] = node as u16;
            let is_inner = other < one;
            sum += one.min(other);
            taken += usize::from(is_inner);
            leaf += usize::from(!is_inner);
        }
        inner[node] = sum;
    }
    parents
}
