//! What every decoder must stand, whatever its coding.

use super::{DecodeLimits, Decoder};
use crate::error::Error;

pub(crate) const LIMITS: DecodeLimits = DecodeLimits { max_window: 8 << 20, max_length: 64 << 20 };

/// A coded message and what it decodes to.
pub(crate) struct Sample {
    pub(crate) coded: Vec<u8>,
    pub(crate) plain: Vec<u8>,
    /// Where a cut cannot be told from an end, besides the start and the end.
    pub(crate) ends: Vec<usize>,
}

/// About `length` bytes of text that compresses well but not to nothing.
pub(crate) fn text(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut text = Vec::new();
    while text.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend_from_slice(format!("{{\"id\":{},\"kind\":\"order\"}},", state >> 16).as_bytes());
    }
    text.truncate(length);
    text
}

/// Decodes `chunks`, `room` bytes at a time, holding the decoder to its contract.
pub(crate) fn decode<'a>(
    decoder: &mut dyn Decoder,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    room: usize,
) -> (Vec<u8>, Result<(), Error>) {
    let mut output = Vec::new();
    for chunk in chunks {
        if let Err(error) = decode_chunk(decoder, chunk, room, &mut output) {
            return (output, Err(error));
        }
    }
    let end = decoder.finish();
    (output, end)
}

/// Decodes one chunk as far as it goes.
pub(crate) fn decode_chunk(
    decoder: &mut dyn Decoder,
    mut chunk: &[u8],
    room: usize,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    loop {
        let before = output.len();
        let taken = decoder.decode(chunk, room, output)?;
        chunk = &chunk[taken..];
        let appended = output.len() - before;
        assert!(appended <= room, "{appended} bytes for a room of {room}");
        if appended < room {
            assert!(chunk.is_empty(), "{} bytes were left though there was room", chunk.len());
            return Ok(());
        }
    }
}

/// Runs a sample through everything; small samples only, since all cuts are tried.
pub(crate) fn run(new: &dyn Fn() -> Box<dyn Decoder>, sample: &Sample) {
    let Sample { coded, plain, ends } = sample;
    let decodes = |decoder: &mut dyn Decoder, chunks: &mut dyn Iterator<Item = &[u8]>, room| {
        let (output, end) = decode(decoder, chunks, room);
        end.unwrap();
        assert!(output == *plain, "other bytes came out");
    };
    for room in [1, 2, 7, 1 << 20] {
        decodes(&mut *new(), &mut [&coded[..]].into_iter(), room);
        decodes(&mut *new(), &mut coded.chunks(1), room);
        decodes(&mut *new(), &mut coded.chunks(3), room);
    }
    let mut reused = new();
    for cut in 0..=coded.len() {
        let (head, tail) = coded.split_at(cut);
        decodes(&mut *new(), &mut [head, &[], tail].into_iter(), 1 << 16);

        let (output, end) = decode(&mut *reused, [head], 1 << 16);
        assert!(plain.starts_with(&output));
        let clean = cut == 0 || cut == coded.len() || ends.contains(&cut);
        assert_eq!(end.is_ok(), clean, "a cut at {cut} of {}", coded.len());
        assert!(clean || end.unwrap_err().is_truncated(), "a cut at {cut}");
        assert!(reused.reset());
        decodes(&mut *reused, &mut [&coded[..]].into_iter(), 1 << 16);
        assert!(reused.reset());
    }
}

/// Every bit of a sample flipped: an error or other bytes, never a panic. Bits in `fatal` must be noticed.
pub(crate) fn flip(new: &dyn Fn() -> Box<dyn Decoder>, sample: &Sample, fatal: std::ops::Range<usize>) {
    for at in 0..sample.coded.len() {
        for bit in 0..8 {
            let mut coded = sample.coded.clone();
            coded[at] ^= 1 << bit;
            let (output, end) = decode(&mut *new(), [&coded[..]], 4096);
            assert!(output.len() <= 1 << 24);
            assert!(!fatal.contains(&at) || end.is_err(), "bit {bit} of byte {at} went unnoticed");
        }
    }
}

/// Decodes garbage of all kinds: it may only fail.
pub(crate) fn garbage(new: &dyn Fn() -> Box<dyn Decoder>, start: &[u8]) {
    let mut state = 7_u32;
    for length in 1..400 {
        let mut coded = start.to_vec();
        coded.extend((0..length).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        }));
        let (_, _) = decode(&mut *new(), [&coded[..]], 4096);
    }
}

/// The error with which a message is refused.
pub(crate) fn refused(mut decoder: Box<dyn Decoder>, coded: &[u8]) -> Error {
    decode(&mut *decoder, [coded], 1 << 16).1.unwrap_err()
}
