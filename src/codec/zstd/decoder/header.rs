//! What a frame declares (RFC 8878 sections 3.1.1.1 and 3.1.2), read before zstd takes memory for it.

use crate::codec::gather::little_endian;
use crate::error::Error;

/// Magic_Number of a data frame.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// Magic_Number of a skippable frame but for its first byte, whose low four bits are free.
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameHeader {
    Data {
        /// The header's length in bytes.
        length: usize,
        /// Window_Size in bytes; that of a single segment is its content's size.
        window: u64,
        content_size: Option<u64>,
    },
    /// A frame to skip: 8 bytes of header and `size` bytes of anything.
    Skippable { size: u32 },
}

/// The length of a skippable frame's header.
pub(super) const SKIPPABLE_HEADER: usize = 8;

impl FrameHeader {
    /// Reads the header at the front of `bytes`, or says how many bytes are needed to know more.
    pub(super) fn read(bytes: &[u8]) -> Result<Result<Self, usize>, Error> {
        let known = bytes.len().min(4);
        let data = bytes[..known] == MAGIC[..known];
        let skippable = known > 0 && bytes[0] & 0xf0 == 0x50 && bytes[1..known] == SKIPPABLE[..known - 1];
        if known > 0 && !data && !skippable {
            return Err(Error::malformed("zstd: not a frame"));
        }
        match bytes {
            _ if skippable && bytes.len() < SKIPPABLE_HEADER => Ok(Err(SKIPPABLE_HEADER)),
            _ if skippable => Ok(Ok(Self::Skippable { size: little_endian(&bytes[4..8]) as u32 })),
            [_, _, _, _, descriptor, fields @ ..] => Self::read_data(*descriptor, fields),
            // Magic_Number and Frame_Header_Descriptor.
            _ => Ok(Err(5)),
        }
    }

    fn read_data(descriptor: u8, fields: &[u8]) -> Result<Result<Self, usize>, Error> {
        let single_segment = descriptor & (1 << 5) != 0;
        if descriptor & (1 << 3) != 0 {
            return Err(Error::malformed("zstd: reserved bit"));
        }
        let window_len = usize::from(!single_segment);
        let dictionary_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size_len = match descriptor >> 6 {
            0 => usize::from(single_segment),
            flag => 1 << flag,
        };
        let all = window_len + dictionary_len + size_len;
        if fields.len() < all {
            return Ok(Err(5 + all));
        }
        let (window, fields) = fields.split_at(window_len);
        let (dictionary, fields) = fields.split_at(dictionary_len);
        if little_endian(dictionary) != 0 {
            return Err(Error::malformed("zstd: unknown dictionary"));
        }
        let content_size = match size_len {
            0 => None,
            // Section 3.1.1.1.4: the two-byte form starts at 256.
            2 => Some(little_endian(&fields[..2]) + 256),
            len => Some(little_endian(&fields[..len])),
        };
        let window = match window {
            [byte] => window_size(*byte),
            _ => content_size.unwrap_or(0),
        };
        Ok(Ok(Self::Data { length: 5 + all, window, content_size }))
    }
}

/// Section 3.1.1.1.2: an exponent and eighths.
fn window_size(byte: u8) -> u64 {
    let base = 1_u64 << (10 + (byte >> 3));
    base + base / 8 * u64::from(byte & 7)
}
