//! Appending what a foreign decoder writes into a slice.

/// The most that one step appends, so that a large room costs nothing until it is used.
const STEP: usize = 32 * 1024;

/// The least that one step offers, however small its input: the start of a long match is one byte.
const LEAST: usize = 512;

/// Calls `write` with a slice of at most `room` bytes behind `output`, and keeps as many as it says it wrote.
///
/// The slice is zeroed first, which safe code must do. It is sized by the input, so that feeding a stream
/// byte by byte does not clear 32 KiB for each one.
pub(crate) fn append<R>(
    output: &mut Vec<u8>,
    room: usize,
    input: usize,
    write: impl FnOnce(&mut [u8]) -> (usize, R),
) -> R {
    let step = room.min(input.saturating_mul(8).clamp(LEAST, STEP));
    let start = output.len();
    output.resize(start + step, 0);
    let (written, result) = write(&mut output[start..]);
    output.truncate(start + written);
    result
}
