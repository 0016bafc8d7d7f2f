use super::channel::Channel;
use super::sink::{Coder, Sink};
use super::{BodyWriter, BytesWriter, WriterBody};
use crate::codec::{Codec, CompressionLevel};
use crate::engine::{Compressor, EncoderPool};
use std::sync::Arc;
use std::time::Duration;

/// How writers are made.
///
/// ```
/// use std::io::Write;
/// use tower_compress::{WriterOptions, codec};
///
/// let gzip = codec::by_name("gzip").unwrap();
/// let mut writer = WriterOptions::new().coding(gzip, Default::default()).whole();
/// writer.write_all(b"{\"in\": \"memory\"}")?;
/// let response = writer.finish()?.into_response();
/// assert_eq!(response.headers()["content-encoding"], "gzip");
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "options do nothing before a writer is made of them"]
pub struct WriterOptions {
    pub(super) capacity: usize,
    pub(super) deadline: Option<Duration>,
    lazy: bool,
    coding: Option<(&'static dyn Codec, CompressionLevel)>,
    pool: EncoderPool,
}

impl WriterOptions {
    /// The bytes that the queue between a writer and its body holds by default: two large frames.
    pub const DEFAULT_CAPACITY: usize = 128 * 1024;

    /// Not coded, a queue of [`DEFAULT_CAPACITY`](Self::DEFAULT_CAPACITY), no deadline.
    pub fn new() -> Self {
        Self {
            capacity: Self::DEFAULT_CAPACITY,
            deadline: None,
            lazy: false,
            coding: None,
            pool: EncoderPool::default(),
        }
    }

    /// Encodes on the writer's thread. For bodies that pass no layer; the client must accept the coding,
    /// which [`CompressionLayer::negotiate`](crate::CompressionLayer::negotiate) finds out.
    pub fn coding(self, codec: &'static dyn Codec, level: CompressionLevel) -> Self {
        Self { coding: Some((codec, level)), ..self }
    }

    /// Takes encoders from this pool instead of the process's.
    pub fn pool(self, pool: EncoderPool) -> Self {
        Self { pool, ..self }
    }

    /// Sets how many bytes may wait for the reader before writes do. What one encoder call gives may come on
    /// top.
    pub fn capacity(self, bytes: usize) -> Self {
        Self { capacity: bytes.max(1), ..self }
    }

    /// Sets how long a blocking write waits for the reader. After that the write fails with
    /// [`TimedOut`](std::io::ErrorKind::TimedOut) and the body is aborted, so that a reader that stalls does
    /// not hold a thread. The wait ends when half of the capacity is free.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Leaves what ends before any of it was encoded as it is, for whoever makes the head to decide about it.
    pub(crate) fn lazy(self) -> Self {
        Self { lazy: true, ..self }
    }

    /// A writer and the body that it writes.
    #[must_use]
    pub fn channel(&self) -> (BodyWriter, WriterBody) {
        self.channel_with(self.coder())
    }

    /// A writer that keeps what comes out, for answers that are made whole.
    #[must_use]
    pub fn whole(&self) -> BytesWriter {
        self.whole_with(self.coder())
    }

    /// A writer and its body, coded by what the caller chose.
    pub(crate) fn channel_with(&self, coder: Option<Coder>) -> (BodyWriter, WriterBody) {
        let sink = Sink::new(coder, self.lazy);
        let channel = Arc::new(Channel::new(self.capacity));
        let body = WriterBody::new(Arc::clone(&channel), sink.coding());
        (BodyWriter::with(sink, self, channel), body)
    }

    /// A writer that keeps what comes out, coded by what the caller chose.
    pub(crate) fn whole_with(&self, coder: Option<Coder>) -> BytesWriter {
        BytesWriter::new(Sink::new(coder, self.lazy))
    }

    fn coder(&self) -> Option<Coder> {
        let (codec, level) = self.coding?;
        Some((Compressor::new(&self.pool, codec, level, None), None))
    }
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self::new()
    }
}
