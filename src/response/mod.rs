//! Responses: compressed by a server, decoded by a client.

mod decompression;
mod future;
mod layer;
mod padding;
mod plan;
mod respond;
mod service;
mod settings;

pub use decompression::{DecodedFrom, Decompression, DecompressionFuture, DecompressionLayer};
pub use future::ResponseFuture;
pub use layer::CompressionLayer;
pub use service::Compression;
