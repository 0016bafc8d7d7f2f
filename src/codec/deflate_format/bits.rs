//! Bits on their way into bytes.

/// Up to 32 bits, the first one lowest: a code, also with the extra bits behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::codec) struct Code {
    pub(in crate::codec) bits: u32,
    pub(in crate::codec) length: u8,
}

impl Code {
    /// With a flag in its first bit.
    pub(in crate::codec) fn with(self, flag: u32) -> Self {
        Self { bits: self.bits | flag, ..self }
    }

    pub(in crate::codec) const fn followed_by(self, extra: u32, length: u8) -> Self {
        Self { bits: self.bits | extra << self.length, length: self.length + length }
    }

    /// Huffman codes go out with their highest bit first (section 3.1.1).
    pub(in crate::codec) const fn huffman(value: u32, length: u8) -> Self {
        Self { bits: value.reverse_bits() >> (32 - length as u32), length }
    }
}

/// The header of a stored block that is not the last one.
const STORED: Code = Code { bits: 0b000, length: 3 };

/// Bits that do not fill a byte yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::codec) struct Bits {
    held: u64,
    count: u32,
}

impl Bits {
    #[inline]
    pub(in crate::codec) fn put(&mut self, code: Code, output: &mut Vec<u8>) {
        self.held |= u64::from(code.bits) << self.count;
        self.count += u32::from(code.length);
        if self.count >= 32 {
            output.extend_from_slice(&(self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.count -= 32;
        }
    }

    /// Bytes that the held bits fill, the last one in part.
    pub(in crate::codec) fn bytes(self) -> usize {
        self.count.div_ceil(8) as usize
    }

    /// Fills the last byte with zeros.
    pub(in crate::codec) fn align(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.held.to_le_bytes()[..self.bytes()]);
        *self = Self::default();
    }

    /// A block of bytes as they are, at most 65,535 of them (section 3.2.4).
    pub(in crate::codec) fn stored(&mut self, input: &[u8], flag: u32, output: &mut Vec<u8>) {
        self.put(STORED.with(flag), output);
        self.align(output);
        let length = input.len() as u16;
        output.extend_from_slice(&length.to_le_bytes());
        output.extend_from_slice(&(!length).to_le_bytes());
        output.extend_from_slice(input);
    }

    /// The bits that [`stored`](Self::stored) adds.
    pub(in crate::codec) fn stored_cost(self, input: usize) -> u32 {
        let header = self.count + u32::from(STORED.length);
        header.next_multiple_of(8) - self.count + 32 + 8 * input as u32
    }

    /// Puts what `write` writes behind `output`: at most `bits` bits.
    pub(in crate::codec) fn write(
        &mut self,
        bits: u32,
        output: &mut Vec<u8>,
        write: impl FnOnce(&mut BitWriter<'_>),
    ) {
        let start = output.len();
        let bytes = (self.count + bits).div_ceil(8) as usize;
        output.resize(start + bytes + size_of::<u64>(), 0);
        let mut writer = BitWriter { output: &mut output[start..], filled: 0, bits: *self };
        writer.spill();
        write(&mut writer);
        writer.spill();
        *self = writer.bits;
        let end = start + writer.filled;
        output.truncate(end);
    }
}

/// Writes into room that was made beforehand, which spares the question whether there is any.
#[derive(Debug)]
pub(in crate::codec) struct BitWriter<'a> {
    output: &'a mut [u8],
    filled: usize,
    bits: Bits,
}

impl BitWriter<'_> {
    /// At most 56 bits between two calls of [`spill`](Self::spill).
    #[inline]
    pub(in crate::codec) fn put(&mut self, bits: u32, length: u8) {
        self.bits.held |= u64::from(bits) << self.bits.count;
        self.bits.count += u32::from(length);
    }

    /// Moves whole bytes out.
    #[inline]
    pub(in crate::codec) fn spill(&mut self) {
        let Bits { held, count } = &mut self.bits;
        *self.output[self.filled..].first_chunk_mut().expect("room was made") = held.to_le_bytes();
        self.filled += (*count / 8) as usize;
        // Never all 64 of them, since put leaves one free.
        *held >>= *count & 56;
        *count %= 8;
    }
}
