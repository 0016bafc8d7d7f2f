//! Letting others have their turn.

use std::task::Context;

/// Wakes the task again once the others that are ready have run. To be followed by `Poll::Pending`.
///
/// tokio has a way of its own for that: the task is woken after the other ready ones have had their turn **and** the
/// runtime has looked at its timers and sockets. Waking oneself at once keeps the run queue full, and then it looks
/// at them every 61 turns only, which are 12 milliseconds if each is a batch.
pub(super) fn yield_turn(cx: &mut Context<'_>) {
    #[cfg(feature = "tokio")]
    {
        let turn = std::pin::pin!(tokio::task::yield_now());
        if turn.poll(cx).is_pending() {
            return;
        }
    }
    cx.waker().wake_by_ref();
}
