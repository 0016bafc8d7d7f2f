//! The server's side of responses: compressing what a service answers.

mod future;
mod layer;
mod padding;
mod plan;
mod respond;
mod service;
mod settings;

pub use future::ResponseFuture;
pub use layer::CompressionLayer;
pub use service::Compression;
