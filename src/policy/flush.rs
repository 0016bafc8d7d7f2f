use std::time::Duration;

/// When a stream's bytes are flushed, so that the receiver can decode all that the producer has released.
///
/// A flush costs a few bytes each time and interrupts the search for matches. How the body was cut into frames
/// is never a reason for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum FlushPolicy {
    /// As the producer pauses: every event leaves as it comes. For server-sent events and anything that a
    /// person or a program waits for.
    ///
    /// Before a pending producer counts as one that pauses, other tasks get two turns. Where they make the next
    /// event in that time, over and over, a byte waits 5 milliseconds at most (with the `tokio` feature, in its
    /// runtime).
    #[default]
    Pause,
    /// As the producer pauses, but at most once in this time. For streams of many tiny events, such as the
    /// tokens of a language model: fewer, larger batches compress better. A byte waits at most this long, and
    /// one that comes later than that after the last flush does not wait for the timer. [`Duration::MAX`] is fine:
    /// the first pause, then the end.
    ///
    /// The timer is tokio's, and must be enabled in its runtime. Without the `tokio` feature, or outside a
    /// runtime, this is [`Pause`](Self::Pause).
    Interval(Duration),
    /// Only at the end, or as the output buffer fills. For batch bodies that nobody reads before they are
    /// complete; a slow producer's bytes stay undecodable until then.
    End,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_leave_as_they_come_by_default() {
        assert_eq!(FlushPolicy::default(), FlushPolicy::Pause);
    }
}
