//! Decoding the two forms of snappy, which share a name and nothing else: neither is taken for the other.

mod element;
mod framed;
mod raw;

pub(crate) use self::{framed::FramedDecoder, raw::RawDecoder};

#[cfg(test)]
mod tests;
