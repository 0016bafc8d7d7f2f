//! The `br` coding (RFC 7932).
// Until the encoders join, only the tests use the decoders.
#![allow(dead_code, unused_imports)]

mod decoder;

pub(crate) use decoder::BrotliDecoder;
