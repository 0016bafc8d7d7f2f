//! The `zstd` coding (RFC 8878, RFC 9659).
// Until the encoders join, only the tests use the decoders.
#![allow(dead_code, unused_imports)]

mod decoder;

pub(crate) use decoder::ZstdDecoder;
