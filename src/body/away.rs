//! Encoding on tokio's blocking threads.

use super::Stream;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};

/// A stream that is being encoded on another thread.
///
/// Dropping it ends the work before the next encoder call. The stream is dropped over there, and gives back what
/// it has.
pub(super) struct Away {
    task: JoinHandle<Box<Stream>>,
    stop: Arc<AtomicBool>,
}

impl Away {
    /// Sends a stream away; gives it back outside a runtime.
    pub(super) fn send(mut stream: Box<Stream>) -> Result<Self, Box<Stream>> {
        let Ok(runtime) = Handle::try_current() else { return Err(stream) };
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let task = runtime.spawn_blocking(move || {
            stream.encode_large_frame(|| stopped.load(Ordering::Relaxed));
            stream
        });
        Ok(Self { task, stop })
    }

    /// The stream, once it is back. It is lost if the encoder panicked or the runtime shuts down.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Box<Stream>, JoinError>> {
        Pin::new(&mut self.task).poll(cx)
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // What has not begun will not begin.
        self.task.abort();
    }
}

impl fmt::Debug for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Away").finish_non_exhaustive()
    }
}
