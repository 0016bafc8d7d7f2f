use crate::body::WriterOptions;
use crate::response::CompressionLayer;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How [`ContentCoding`](super::ContentCoding) encodes. Hand it to the router as an extension:
///
/// ```
/// use axum::{Extension, Router};
/// use tower_compress::CompressionLayer;
/// use tower_compress::axum::CodingConfig;
///
/// let config = CodingConfig::new().layer(CompressionLayer::new().br(true)).max_blocking(16);
/// let router: Router = Router::new().layer(Extension(config));
/// # let _ = router;
/// ```
#[derive(Debug, Clone)]
#[must_use = "it has no effect before a router has it as an extension"]
pub struct CodingConfig {
    pub(super) layer: CompressionLayer,
    pub(super) options: WriterOptions,
    blocking: Arc<Semaphore>,
    deadline: Duration,
}

/// Closures at work at the same time: an eighth of the threads that tokio's blocking pool has by default.
const MAX_BLOCKING: usize = 64;

/// Long for a client that reads at all: 64 KiB in that time is 2 KiB a second.
const DEADLINE: Duration = Duration::from_secs(30);

impl CodingConfig {
    /// The default layer's settings, 64 closures, 30 seconds.
    pub fn new() -> Self {
        Self {
            layer: CompressionLayer::new(),
            options: WriterOptions::new().deadline(DEADLINE),
            blocking: Arc::new(Semaphore::new(MAX_BLOCKING)),
            deadline: DEADLINE,
        }
    }

    /// Encodes by the settings of this layer, where no layer is around: its codings, levels, pool, counters.
    pub fn layer(self, layer: CompressionLayer) -> Self {
        Self { layer, ..self }
    }

    /// Limits how many closures of [`BlockingWriter`](super::BlockingWriter) run at the same time. More of them
    /// wait, for as long as the [deadline](Self::deadline), and are then answered with 503.
    pub fn max_blocking(self, closures: usize) -> Self {
        Self { blocking: Arc::new(Semaphore::new(closures.min(Semaphore::MAX_PERMITS))), ..self }
    }

    /// Sets how long a closure waits for a reader that stalls, and for its turn.
    ///
    /// A reader that takes less than half of the [capacity](Self::capacity) in this time counts as stalled: the
    /// body is aborted, so that slow clients cannot use the threads up.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { options: self.options.deadline(deadline), deadline, ..self }
    }

    /// Sets how many bytes a closure may be ahead of its reader; 128 KiB by default.
    pub fn capacity(self, bytes: usize) -> Self {
        Self { options: self.options.capacity(bytes), ..self }
    }

    /// A closure's turn; `None` if it did not come before the deadline.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let turn = Arc::clone(&self.blocking).acquire_owned();
        tokio::time::timeout(self.deadline, turn).await.ok()?.ok()
    }

    /// What holds where a router has none.
    pub(super) fn process() -> Self {
        static PROCESS: LazyLock<CodingConfig> = LazyLock::new(CodingConfig::new);
        PROCESS.clone()
    }
}

impl Default for CodingConfig {
    fn default() -> Self {
        Self::new()
    }
}
