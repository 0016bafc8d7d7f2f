//! Which symbol stands for a length or a distance, and the extra bits behind it (RFC 1951 section 3.2.5).

pub(in crate::codec) const MIN_MATCH: usize = 3;
pub(in crate::codec) const MAX_MATCH: usize = 258;

/// Literals are their own symbols.
pub(in crate::codec) const END_OF_BLOCK: u16 = 256;

/// A symbol's number, and the extra bits behind it.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec) struct Symbol {
    pub(in crate::codec) number: u16,
    pub(in crate::codec) extra: u16,
    pub(in crate::codec) extra_length: u8,
}

/// The symbol of each length, from [`MIN_MATCH`] up.
pub(in crate::codec) static LENGTHS: [Symbol; MAX_MATCH + 1] = {
    let mut symbols = [Symbol { number: 0, extra: 0, extra_length: 0 }; MAX_MATCH + 1];
    let (mut number, mut length) = (END_OF_BLOCK + 1, MIN_MATCH);
    while length < MAX_MATCH {
        let (mut extra, extra_length) = (0, length_extra(number));
        while extra < 1 << extra_length {
            symbols[length] = Symbol { number, extra, extra_length };
            extra += 1;
            length += 1;
        }
        number += 1;
    }
    // The longest has a symbol of its own.
    symbols[MAX_MATCH] = Symbol { number: 285, extra: 0, extra_length: 0 };
    symbols
};

/// How many extra bits a literal's, a length's or the end's symbol has.
pub(in crate::codec) const fn length_extra(number: u16) -> u8 {
    match number {
        265..=284 => (number - 261) as u8 / 4,
        _ => 0,
    }
}

/// How many extra bits a distance's symbol has.
pub(in crate::codec) const fn distance_extra(number: u16) -> u8 {
    (number as u8 / 2).saturating_sub(1)
}

/// The symbol of a distance.
#[inline]
pub(in crate::codec) fn distance(distance: usize) -> Symbol {
    let distance = distance as u16 - 1;
    if distance < 4 {
        return Symbol { number: distance, extra: 0, extra_length: 0 };
    }
    // Two symbols for each power of two; what is below their leading two bits is extra.
    let high = distance.ilog2() as u16;
    let extra_length = high - 1;
    let number = 2 * high + (distance >> extra_length & 1);
    Symbol { number, extra: distance & ((1 << extra_length) - 1), extra_length: extra_length as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first length or distance of a symbol is one more than the last one of the symbol before.
    #[test]
    fn symbols_follow_one_another() {
        let lengths =
            (MIN_MATCH..MAX_MATCH).map(|length| (LENGTHS[length], length_extra(LENGTHS[length].number)));
        let distances = (1..=32 * 1024).map(distance).map(|symbol| (symbol, distance_extra(symbol.number)));
        for (first, symbols) in [(257, lengths.collect::<Vec<_>>()), (0, distances.collect())] {
            let (mut number, mut extra) = (first, 0);
            for (symbol, extra_length) in symbols {
                assert_eq!((symbol.number, symbol.extra, symbol.extra_length), (number, extra, extra_length));
                extra += 1;
                if extra == 1 << extra_length {
                    (number, extra) = (number + 1, 0);
                }
            }
        }
        assert_eq!(distance(32 * 1024).number, 29);
    }
}
