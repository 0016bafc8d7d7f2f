//! The client's side of responses: decoding what a service answers.

mod decoded_from;
mod future;
mod layer;
mod service;

pub use decoded_from::DecodedFrom;
pub use future::DecompressionFuture;
pub use layer::DecompressionLayer;
pub use service::Decompression;
