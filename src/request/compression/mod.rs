//! The client's side of requests: coding what is sent.

mod future;
mod job;
mod layer;
mod origins;
mod service;

pub use future::RequestCompressionFuture;
pub use layer::RequestCompressionLayer;
pub use service::RequestCompression;
