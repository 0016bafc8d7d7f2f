//! Tower middleware that compresses HTTP bodies.
#![forbid(unsafe_code)]

#[cfg(feature = "http")]
pub mod body;
pub mod codec;
pub mod engine;
mod error;
#[cfg(feature = "http")]
pub mod policy;
#[cfg(feature = "http")]
pub mod response;
#[cfg(feature = "http")]
mod stats;

pub use codec::CompressionLevel;
pub use engine::{EncoderPool, Limits};
pub use error::{BoxError, Error};
#[cfg(feature = "http")]
pub use {
    body::{BodyWriter, BytesWriter, CompressionBody, WriterBody, WriterOptions},
    policy::{Compress, EtagPolicy, FlushPolicy, Reason, predicate},
    response::{Compression, CompressionLayer},
    stats::Stats,
};
