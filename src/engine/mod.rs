//! The engine: what stands between a body and its codecs. Bytes in, bytes out; no HTTP, no polling.

mod decompressor;
mod limits;

pub use decompressor::{DecoderSource, Decompressor, Fresh, Progress};
pub use limits::Limits;
