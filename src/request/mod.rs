//! Requests: compressed by a client, decoded by a server.

mod decompression;

pub use decompression::{
    AnswerBody, RequestDecompression, RequestDecompressionFuture, RequestDecompressionLayer,
};
