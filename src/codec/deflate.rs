//! The `deflate` coding: the zlib format (RFC 9110 section 8.4.1.2, RFC 1950).
// Until the encoders join, only the tests use the decoders.
#![allow(dead_code, unused_imports)]

mod decoder;

pub(crate) use decoder::DeflateDecoder;
