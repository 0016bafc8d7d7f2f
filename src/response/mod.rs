//! The server's side of responses: compressing what a service answers.

mod future;
mod layer;
mod negotiation;
mod respond;
mod service;
mod settings;

pub use future::ResponseFuture;
pub use layer::CompressionLayer;
pub use negotiation::Negotiation;
pub use service::Compression;
