//! When a pending producer counts as a pause.

use super::FlushMark;
use crate::policy::FlushPolicy;
#[cfg(feature = "tokio")]
use std::future::Future;
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
    /// A producer that says itself when to flush. It overrides the policy.
    mark: Option<FlushMark>,
    yields: u8,
    #[cfg(feature = "tokio")]
    timer: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
}

impl Pause {
    pub(super) fn new(policy: FlushPolicy) -> Self {
        Self {
            policy,
            mark: None,
            yields: 0,
            #[cfg(feature = "tokio")]
            timer: None,
        }
    }

    /// From here on the producer says when to flush.
    pub(super) fn obey(&mut self, mark: FlushMark) {
        self.mark = Some(mark);
    }

    /// The producer gave something.
    pub(super) fn end(&mut self) {
        self.yields = 0;
    }

    /// Everything is flushed: the next pause is a new one.
    pub(super) fn flushed(&mut self) {
        self.yields = 0;
        #[cfg(feature = "tokio")]
        {
            self.timer = None;
        }
    }

    /// The producer is pending while there are unflushed bytes: ready when they must go out.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(mark) = &self.mark {
            return if mark.is_set() { Poll::Ready(()) } else { Poll::Pending };
        }
        match self.policy {
            FlushPolicy::End => Poll::Pending,
            #[cfg(feature = "tokio")]
            FlushPolicy::Interval(interval) => match self.poll_timer(interval, cx) {
                Some(due) => due,
                None => self.poll_yields(cx),
            },
            _ => self.poll_yields(cx),
        }
    }

    fn poll_yields(&mut self, cx: &mut Context<'_>) -> Poll<()> {
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
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// `None` outside a runtime, where there is no timer to be had.
    #[cfg(feature = "tokio")]
    fn poll_timer(&mut self, interval: std::time::Duration, cx: &mut Context<'_>) -> Option<Poll<()>> {
        tokio::runtime::Handle::try_current().ok()?;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(interval)));
        Some(timer.as_mut().poll(cx))
    }
}
