//! For axum: an extractor for what the request negotiated, and what is encoded for it.
//!
//! ```
//! use axum::response::Response;
//! use axum::{Router, routing::get};
//! use tower_compress::axum::{ContentCoding, Json, JsonLines};
//!
//! async fn order(coding: ContentCoding) -> Response {
//!     coding.encode(Json(vec![1, 2, 3])).await
//! }
//!
//! async fn log(coding: ContentCoding) -> Response {
//!     coding.encode(JsonLines::iter(0..1_000_000)).await
//! }
//!
//! let router: Router = Router::new().route("/order", get(order)).route("/log", get(log));
//! # let _ = router;
//! ```
//!
//! Inside a [`CompressionLayer`](crate::CompressionLayer) the answers are not coded but handed to the layer in
//! large frames; without one they are coded as they are serialized, by the same rules. Either way a serializer's
//! error before the first byte is a 500, and after it the body aborts.
//!
//! Server-sent events need nothing of this: axum's own `Sse` inside a layer leaves event by event.

mod blocking_writer;
mod coding;
mod config;
mod csv;
mod encode;
mod json;
mod json_lines;
mod rejection;
mod rows;

pub use blocking_writer::BlockingWriter;
pub use coding::ContentCoding;
pub use config::CodingConfig;
pub use csv::Csv;
pub use encode::Encode;
pub use json::Json;
pub use json_lines::JsonLines;
pub use rejection::NotAcceptable;
