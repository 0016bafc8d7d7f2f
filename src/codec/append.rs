//! Appending what a foreign decoder writes.

/// The most that one step makes room for, so that a large room costs nothing until it is used.
const STEP: usize = 32 * 1024;

/// The least that a slice is made to offer, whatever is expected: the start of a long match is one byte.
#[cfg(feature = "brotli")]
const LEAST: usize = 512;

/// Calls `write`, which fills spare capacity and never allocates, with a vector that has some, but no more than
/// `room`.
///
/// That is `output` itself where its spare capacity fits into the room, as callers in a hurry see to: nothing
/// is cleared or copied then.
#[cfg(any(feature = "gzip", feature = "deflate", feature = "zstd"))]
pub(crate) fn fill<R>(output: &mut Vec<u8>, room: usize, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    if output.len() == output.capacity() {
        output.reserve_exact(room.min(STEP));
    }
    if output.capacity() - output.len() <= room {
        return write(output);
    }
    let mut piece = Vec::with_capacity(room);
    let result = write(&mut piece);
    output.extend_from_slice(&piece);
    result
}

/// Calls `write` with a slice of at most `room` bytes behind `output`, and keeps as many as it says it wrote.
///
/// The slice is zeroed first, which safe code must do. It is sized by what is `expected`, so that feeding a
/// stream byte by byte does not clear 32 KiB for each one.
#[cfg(feature = "brotli")]
pub(crate) fn append<R>(
    output: &mut Vec<u8>,
    room: usize,
    expected: usize,
    write: impl FnOnce(&mut [u8]) -> (usize, R),
) -> R {
    let step = room.min(expected.clamp(LEAST, STEP));
    let start = output.len();
    output.resize(start + step, 0);
    let (written, result) = write(&mut output[start..]);
    output.truncate(start + written);
    result
}
