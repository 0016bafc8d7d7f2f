//! The server's side of responses: compressing what a service answers.

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

pub use future::ResponseFuture;
pub use layer::CompressionLayer;
pub use negotiation::Negotiation;
#[cfg(feature = "axum")]
pub(crate) use scope::is_within;
pub use service::Compression;
