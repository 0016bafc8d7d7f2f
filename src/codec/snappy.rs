//! The snappy codings: `x-snappy-framed` (framing_format.txt) and `snappy` (one raw block).
// Until the encoders join, only the tests use the decoders.
#![allow(dead_code, unused_imports)]

mod decoder;

pub(crate) use decoder::{FramedDecoder, RawDecoder};
