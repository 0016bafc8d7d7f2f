//! Bodies: where polling meets the engine.

#[cfg(feature = "tokio")]
mod clock;
mod compression;
mod end;
mod gather;
mod look_ahead;
mod pause;
mod stream;

pub(crate) use compression::Ahead;
pub use compression::CompressionBody;
pub(crate) use end::End;
pub(crate) use look_ahead::LookAhead;
pub(crate) use stream::Stream;
