//! The server's side of requests: decoding what clients send.

mod answer;
mod future;
mod layer;
mod service;

pub use answer::AnswerBody;
pub use future::RequestDecompressionFuture;
pub use layer::RequestDecompressionLayer;
pub use service::RequestDecompression;
