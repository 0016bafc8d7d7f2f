//! Tower middleware that compresses HTTP bodies.
#![forbid(unsafe_code)]

#[cfg(feature = "http")]
pub mod body;
pub mod codec;
#[cfg(feature = "http")]
mod codings;
#[cfg(feature = "http")]
mod decoding;
pub mod engine;
mod error;
#[cfg(feature = "http")]
pub mod policy;
#[cfg(feature = "http")]
pub mod request;
#[cfg(feature = "http")]
pub mod response;
#[cfg(feature = "http")]
mod stats;

pub use codec::CompressionLevel;
pub use engine::{DecoderPool, EncoderPool, Limits};
pub use error::{BoxError, Error};
#[cfg(feature = "http")]
pub use {
    body::{CompressionBody, DecompressionBody},
    policy::{Compress, EtagPolicy, FlushPolicy, Reason, predicate},
    request::{RequestDecompression, RequestDecompressionLayer},
    response::{Compression, CompressionLayer, Decompression, DecompressionLayer},
    stats::Stats,
};
