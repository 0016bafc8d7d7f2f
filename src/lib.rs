//! Tower middleware that compresses HTTP bodies.
#![forbid(unsafe_code)]

pub mod codec;
mod error;

pub use codec::CompressionLevel;
pub use error::{BoxError, Error};
