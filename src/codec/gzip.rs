//! The `gzip` coding (RFC 1952).
// Until the encoders join, only the tests use the decoders.
#![allow(dead_code, unused_imports)]

mod decoder;

pub(crate) use decoder::GzipDecoder;
