//! The engine: what stands between many small writes and an encoder's few large calls, and between coded
//! bytes and what they decode to.
//!
//! Like the codecs it knows bytes alone. Bodies and writers drive it; it never waits.

mod compressor;
mod context;
mod decoder_pool;
mod decompressor;
mod limits;
mod per_thread;
mod pool;
mod shelves;
mod sizing;
mod slot;
mod tally;
mod waiting;
mod write_buffer;

pub use compressor::Compressor;
pub use decoder_pool::DecoderPool;
pub use decompressor::{Decompressor, Progress};
pub use limits::Limits;
#[cfg(feature = "http")]
pub(crate) use per_thread::PerThread;
pub use pool::{EncoderPool, PoolStats};
pub use sizing::{Expected, Observed, Place, Sizing};
pub use tally::Tally;
pub use write_buffer::WriteBuffer;
