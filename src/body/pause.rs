//! When a pending producer counts as a pause.

use super::FlushMark;
use super::turn::yield_turn;
use crate::policy::FlushPolicy;
use std::task::{Context, Poll};

#[cfg(feature = "tokio")]
use {std::time::Duration, tokio::time::Instant};

/// Times that a stream yields before it takes a pending producer for one that pauses.
///
/// Others may be about to produce, so it lets them run first. One yield proves nothing: hyper's HTTP/1
/// connection polls a pending body again within the same turn of its task.
const YIELDS: u8 = 2;

/// In a runtime of tokio, the longest that bytes wait for a producer which is pending at every other poll, but never for long enough: one
/// that shares the thread and computes for milliseconds between its events. As long as a person does not notice, and
/// long enough for flushes, which take microseconds, to cost next to nothing.
#[cfg(feature = "tokio")]
const HELD_AT_MOST: Duration = Duration::from_millis(5);

/// Decides, poll by poll, whether to go on waiting or to flush.
#[derive(Debug)]
pub(super) struct Pause {
    policy: FlushPolicy,
    /// A producer that says itself when to flush. As long as there is one, the policy does not count.
    mark: Option<FlushMark>,
    yields: u8,
    /// When the oldest byte came that is not flushed, if that matters.
    #[cfg(feature = "tokio")]
    since: Option<Instant>,
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
            since: None,
            #[cfg(feature = "tokio")]
            clock: super::clock::Clock::default(),
        }
    }

    /// From here on the producer says when to flush, and nothing else does until it is over.
    pub(super) fn obey(&mut self, mark: FlushMark) {
        self.mark = Some(mark);
    }

    /// What counts besides the mark.
    #[inline]
    fn policy(&self) -> FlushPolicy {
        if self.mark.is_some() { FlushPolicy::End } else { self.policy }
    }

    /// The producer gave something.
    pub(super) fn end(&mut self) {
        #[cfg(feature = "tokio")]
        if self.since.is_none() && self.is_timed() {
            self.since = Some(Instant::now());
        }
        self.yields = 0;
    }

    /// Whether it matters how long bytes wait. Without an interval that is only so once the producer has given
    /// something between two yields: an event that comes alone costs no look at the clock.
    #[cfg(feature = "tokio")]
    fn is_timed(&self) -> bool {
        match self.policy() {
            FlushPolicy::Pause => self.yields > 0,
            FlushPolicy::Interval(_) => true,
            FlushPolicy::End => false,
        }
    }

    /// Everything is flushed: the next pause is a new one.
    pub(super) fn flushed(&mut self) {
        self.yields = 0;
        self.clear_mark();
        #[cfg(feature = "tokio")]
        {
            self.since = None;
            if let FlushPolicy::Interval(interval) = self.policy() {
                self.clock.flushed(interval);
            }
        }
    }

    /// Nothing is held back, so a flush that the producer asked for is done.
    pub(super) fn clear_mark(&self) {
        if let Some(mark) = &self.mark {
            mark.clear();
        }
    }

    /// Whether bytes have waited for the whole interval, although the producer never paused.
    #[inline]
    pub(super) fn is_overdue(&self) -> bool {
        #[cfg(feature = "tokio")]
        if let FlushPolicy::Interval(interval) = self.policy() {
            return self.is_held_for(interval);
        }
        false
    }

    #[inline]
    #[cfg(feature = "tokio")]
    fn is_held_for(&self, time: Duration) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= time)
    }

    /// Whether bytes have waited for as long as they may without an interval. Only a runtime's time counts.
    #[inline]
    fn is_late(&self) -> bool {
        #[cfg(feature = "tokio")]
        if self.policy() == FlushPolicy::Pause && self.is_held_for(HELD_AT_MOST) {
            return tokio::runtime::Handle::try_current().is_ok();
        }
        false
    }

    /// The producer is pending while there are unflushed bytes: ready when they must go out.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &self.mark {
            Some(mark) if mark.is_set() => return Poll::Ready(()),
            // Nobody sets it any more.
            Some(mark) if mark.is_over() => self.mark = None,
            _ => {}
        }
        if self.policy() == FlushPolicy::End {
            return Poll::Pending;
        }
        // With its cooperative budget spent, a tokio resource says pending although it is ready.
        #[cfg(feature = "tokio")]
        if !tokio::task::coop::has_budget_remaining() {
            yield_turn(cx);
            return Poll::Pending;
        }
        #[cfg(feature = "tokio")]
        if let FlushPolicy::Interval(_) = self.policy() {
            if std::task::ready!(self.clock.poll(cx)) {
                return Poll::Ready(());
            }
        }
        if self.yields == YIELDS || self.is_late() {
            return Poll::Ready(());
        }
        self.yields += 1;
        yield_turn(cx);
        Poll::Pending
    }
}
