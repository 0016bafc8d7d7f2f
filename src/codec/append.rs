//! Appending what a foreign decoder writes.

/// The most that one step makes room for, so that a large room costs nothing until it is used.
const STEP: usize = 32 * 1024;

/// Calls `write`, which fills spare capacity and never allocates, with a vector that has some, but no more than
/// `room`.
///
/// That is `output` itself where its spare capacity fits into the room, as callers in a hurry see to: nothing
/// is cleared or copied then.
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
