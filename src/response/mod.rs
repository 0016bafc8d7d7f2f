//! Responses: compressed by a server, decoded by a client.

mod decompression;
mod future;
mod layer;
mod negotiation;
mod padding;
mod plan;
mod respond;
#[cfg(feature = "axum")]
mod scope;
mod service;
mod settings;

pub use decompression::{DecodedFrom, Decompression, DecompressionFuture, DecompressionLayer};
pub use future::ResponseFuture;
pub use layer::CompressionLayer;
pub use negotiation::Negotiation;
#[cfg(feature = "axum")]
pub(crate) use scope::is_within;
pub use service::Compression;
pub(crate) use settings::Settings;
