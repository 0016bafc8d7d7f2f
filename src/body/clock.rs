//! The time between two flushes, kept by tokio.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};

/// What is later than this never comes, and would be beyond what some systems' clocks can tell.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Knows when the next flush may happen.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Ends an interval after the last flush. Kept from one to the next: a flush allocates nothing.
    next: Option<Pin<Box<Sleep>>>,
    /// Whether bytes were kept waiting for that.
    waited: bool,
}

impl Clock {
    /// Everything is flushed. Outside a runtime there is no timer to be had, and so no interval.
    pub(super) fn flushed(&mut self, interval: Duration) {
        self.waited = false;
        if Handle::try_current().is_err() {
            self.next = None;
            return;
        }
        let end = Instant::now() + interval.min(NEVER);
        match &mut self.next {
            Some(sleep) => sleep.as_mut().reset(end),
            None => self.next = Some(Box::pin(sleep_until(end))),
        }
    }

    /// Ready once a flush may happen: with `true` if bytes have been kept waiting for that, long enough.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if let Some(sleep) = &mut self.next {
            if sleep.as_mut().poll(cx).is_pending() {
                self.waited = true;
                return Poll::Pending;
            }
        }
        Poll::Ready(self.waited)
    }
}
