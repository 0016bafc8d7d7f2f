//! Tower middleware that compresses HTTP bodies.
#![forbid(unsafe_code)]

pub mod codec;
pub mod engine;
mod error;
// Nobody calls the crate-internal half before the layers exist; then the allowance goes.
#[cfg(feature = "http")]
#[allow(dead_code, unused_imports)]
pub mod policy;

pub use codec::CompressionLevel;
pub use engine::EncoderPool;
pub use error::{BoxError, Error};
