//! Requests: compressed by a client, decoded by a server.

mod compression;
mod decompression;

pub use compression::{RequestCompression, RequestCompressionFuture, RequestCompressionLayer};
pub use decompression::{
    AnswerBody, RequestDecompression, RequestDecompressionFuture, RequestDecompressionLayer,
};
