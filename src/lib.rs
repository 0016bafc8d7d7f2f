//! Tower middleware that compresses HTTP bodies: adaptively sized write buffers ahead of pooled encoders.
//!
//! Many small writes (a serializer's, server-sent events, a stream's little frames) reach the encoder as few
//! large calls, and encoders are never built per message. A layer is all it takes:
//!
//! ```
//! use axum::{Json, Router, routing::get};
//! use tower_compress::CompressionLayer;
//!
//! let app: Router = Router::new()
//!     .route("/orders", get(async || Json(vec!["keyboard", "monitor"])))
//!     .layer(CompressionLayer::new());
//! ```
//!
//! What it promises:
//!
//! - A body that is ready is coded in one encoder call and keeps an exact `Content-Length`; one that does not
//!   get smaller goes out as it was. A body that trickles is flushed whenever its producer pauses. How it was
//!   cut into frames is never a reason to flush.
//! - An inner body's error ends the coded body with that error, and without a valid end of the coding.
//! - Memory is bounded ([`EncoderPool`]) and so is the work of one poll. Dropping a body in any state gives its
//!   encoder back.
//!
//! The three rooms of the crate, from the bottom up: [`codec`] and [`engine`] know bytes alone and are of use
//! without HTTP; [`policy`] knows HTTP's rules and a codec's name; [`body`], [`response`] and [`request`] join the two.
//! The [`design`] says why.
//!
//! The mechanism by itself, as a tool:
//!
//! ```
//! use tower_compress::EncoderPool;
//! use tower_compress::codec::{self, CompressionLevel};
//! use tower_compress::engine::Compressor;
//!
//! # fn main() -> Result<(), tower_compress::Error> {
//! let gzip = codec::by_name("gzip").expect("the feature is on by default");
//! let compressor = Compressor::new(&EncoderPool::default(), gzip, CompressionLevel::Default, None);
//! let (coded, tally) = compressor.whole("a message, a message, a message".as_bytes())?;
//! assert!(coded.len() < 40 && tally.encoder_calls == 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! `gzip`, `deflate`, `zstd` and `http` are on by default; `brotli`, `snappy`, `tokio`, `axum` and `client` are
//! not. Compiling a coding in never offers it: the layer's builder does.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(feature = "http")]
pub mod body;
#[cfg(feature = "client")]
pub mod client;
pub mod codec;
#[cfg(feature = "http")]
mod codings;
#[cfg(feature = "http")]
mod decoding;
pub mod engine;
mod error;
#[cfg(feature = "http")]
pub mod policy;
#[cfg(feature = "http")]
pub mod request;
#[cfg(feature = "http")]
pub mod response;
#[cfg(feature = "http")]
mod stats;

pub use codec::CompressionLevel;
pub use engine::{DecoderPool, EncoderPool, Limits};
pub use error::{BoxError, Error};
#[cfg(feature = "http")]
pub use {
    body::{BodyWriter, BytesWriter, CompressionBody, DecompressionBody, WriterBody, WriterOptions},
    policy::{Compress, EtagPolicy, FlushPolicy, Reason, predicate},
    predicate::{DefaultPredicate, Predicate},
    request::{RequestCompression, RequestCompressionLayer, RequestDecompression, RequestDecompressionLayer},
    response::{
        Compression, CompressionLayer, Decompression, DecompressionLayer, Negotiation, ResponseFuture,
    },
    stats::Stats,
};

#[doc = include_str!("../DESIGN.md")]
pub mod design {}

/// The front page's examples compile and run.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
struct Readme;
