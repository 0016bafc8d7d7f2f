//! Waiting on a thread for what is polled.

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Why there was no waiting, or no more of it.
pub(super) enum Denied {
    /// The thread is running an async task, perhaps the very one that is waited for.
    InTask,
    TimedOut,
}

/// Blocks the thread until `poll` is ready, at most for `limit`.
pub(super) fn wait<T>(
    limit: Option<Duration>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Result<T, Denied> {
    if let Poll::Ready(ready) = poll(&mut Context::from_waker(Waker::noop())) {
        return Ok(ready);
    }
    if in_task() {
        return Err(Denied::InTask);
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    loop {
        if let Poll::Ready(ready) = poll(&mut cx) {
            return Ok(ready);
        }
        match until.map(|until| until.saturating_duration_since(Instant::now())) {
            None => thread::park(),
            Some(Duration::ZERO) => return Err(Denied::TimedOut),
            Some(left) => thread::park_timeout(left),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Whether this thread must not block, because it is polling a task.
///
/// tokio has no question for that, but it gives each poll of a task a budget, and none to a thread of the
/// blocking pool, to a thread of one's own, or inside `block_in_place`.
#[cfg(feature = "tokio")]
fn in_task() -> bool {
    /// The budget is a byte, so no more units than this can be spent.
    const MOST: u16 = 256;
    /// Each unit goes back as its guard is dropped, the first one last.
    fn is_spent_within(units: u16, cx: &mut Context<'_>) -> bool {
        use tokio::task::coop;
        if !coop::has_budget_remaining() {
            return true;
        }
        match coop::poll_proceed(cx) {
            Poll::Ready(_unit) => units > 0 && is_spent_within(units - 1, cx),
            Poll::Pending => true,
        }
    }
    is_spent_within(MOST, &mut Context::from_waker(Waker::noop()))
}

/// Without tokio there is no telling.
#[cfg(not(feature = "tokio"))]
fn in_task() -> bool {
    false
}
