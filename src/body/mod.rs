//! Bodies: where polling meets the engine.

mod ahead;
#[cfg(feature = "tokio")]
mod away;
#[cfg(feature = "tokio")]
mod clock;
mod compression;
mod decode;
mod decompression;
mod end;
mod gather;
mod look_ahead;
mod pause;
mod stream;
mod turn;
mod verdict;
mod writer;

pub(crate) use ahead::Ahead;
pub use compression::CompressionBody;
pub use decompression::DecompressionBody;
pub(crate) use end::End;
pub(crate) use look_ahead::LookAhead;
use stream::CHUNK;
pub(crate) use stream::Stream;
pub(crate) use verdict::Verdict;
pub(crate) use writer::FlushMark;
pub use writer::{BodyWriter, BytesWriter, WriterBody, WriterOptions};
