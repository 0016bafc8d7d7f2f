//! What deflate's blocks are made of (RFC 1951), for the encoders of our own.

pub(super) mod bits;
pub(super) mod fixed;
pub(super) mod symbols;

/// In the header of the last block.
pub(super) const LAST: u32 = 1;
