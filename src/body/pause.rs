//! When a pending producer counts as a pause.

use super::FlushMark;
use super::turn::yield_turn;
use crate::policy::FlushPolicy;
use std::task::{Context, Poll};

/// Times that a stream yields before it takes a pending producer for one that pauses.
///
/// Others may be about to produce, so it lets them run first. One yield proves nothing: hyper's HTTP/1
/// connection polls a pending body again within the same turn of its task.
const YIELDS: u8 = 2;

/// Decides, poll by poll, whether to go on waiting or to flush.
#[derive(Debug)]
pub(super) struct Pause {
    policy: FlushPolicy,
    /// A producer that says itself when to flush.
    mark: Option<FlushMark>,
    yields: u8,
    #[cfg(feature = "tokio")]
    clock: super::clock::Clock,
}

impl Pause {
    pub(super) fn new(policy: FlushPolicy) -> Self {
        Self {
            policy,
            mark: None,
            yields: 0,
            #[cfg(feature = "tokio")]
            clock: super::clock::Clock::default(),
        }
    }

    /// From here on the producer says when to flush, and nothing else does.
    pub(super) fn obey(&mut self, mark: FlushMark) {
        self.policy = FlushPolicy::End;
        self.mark = Some(mark);
    }

    /// The producer gave something.
    pub(super) fn end(&mut self) {
        self.yields = 0;
        #[cfg(feature = "tokio")]
        if let FlushPolicy::Interval(_) = self.policy {
            self.clock.hold();
        }
    }

    /// Everything is flushed: the next pause is a new one.
    pub(super) fn flushed(&mut self) {
        self.yields = 0;
        #[cfg(feature = "tokio")]
        if let FlushPolicy::Interval(interval) = self.policy {
            self.clock.flushed(interval);
        }
    }

    /// Whether bytes have waited for the whole interval, although the producer never paused.
    pub(super) fn is_overdue(&self) -> bool {
        #[cfg(feature = "tokio")]
        if let FlushPolicy::Interval(interval) = self.policy {
            return self.clock.is_overdue(interval);
        }
        false
    }

    /// The producer is pending while there are unflushed bytes: ready when they must go out.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(mark) = &self.mark {
            return if mark.is_set() { Poll::Ready(()) } else { Poll::Pending };
        }
        if self.policy == FlushPolicy::End {
            return Poll::Pending;
        }
        #[cfg(feature = "tokio")]
        if let FlushPolicy::Interval(_) = self.policy {
            if std::task::ready!(self.clock.poll(cx)) {
                return Poll::Ready(());
            }
        }
        // With its cooperative budget spent, a tokio resource says pending although it is ready.
        #[cfg(feature = "tokio")]
        let counts = tokio::task::coop::has_budget_remaining();
        #[cfg(not(feature = "tokio"))]
        let counts = true;
        if counts {
            if self.yields == YIELDS {
                return Poll::Ready(());
            }
            self.yields += 1;
        }
        yield_turn(cx);
        Poll::Pending
    }
}
