//! Tower middleware that compresses HTTP bodies.
#![forbid(unsafe_code)]

pub mod codec;
pub mod engine;
mod error;

pub use codec::CompressionLevel;
pub use engine::EncoderPool;
pub use error::{BoxError, Error};
